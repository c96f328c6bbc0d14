//! The bits of ten scenes: a change of them is to be seen, and to be meant.
//!
//! They are the same on every processor that Sapwood is compiled for: versions of kernels for wider registers, chosen at run time, compute
//! the same. After a change of results that is meant, the test prints the new table.

use std::fmt::Write;

use crate::common::simulation;
use models::characters::{self, Character};
use models::scenes;
use sapwood_sim::{Options, Simulation};

const GOLDEN: [(&str, u64); 10] = [
    ("@humanoid", 0x81cb24278640efeb),
    ("@dog", 0x14823c10519e34b6),
    ("@snake36", 0xa51c778dd221858f),
    ("@clutter-box-27", 0x4b79cd5bf8ff851a),
    ("@clutter-sphere-27", 0x2ea8b8dd83cfedd1),
    ("@tower-50", 0x289dda5976e7cc3f),
    ("@arch-11", 0xe409f057130be62d),
    ("@stewart", 0x60078a7b5352a58c),
    ("@four-bar", 0x9c04d2163b79455c),
    ("@humanoid, PD", 0xeccbd46fdb38f379),
];

/// FNV-1a of positions and velocities.
fn hash(simulation: &Simulation) -> u64 {
    let state = simulation.state();
    let bytes = state.q.iter().chain(&state.v).flat_map(|x| x.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A character or scene by its name.
fn text(name: &str) -> String {
    let name = name.trim_start_matches('@');
    match name.parse::<Character>() {
        Ok(character) => characters::mjcf(character, &characters::Options::default()),
        Err(_) => scenes::mjcf(name.parse().unwrap()),
    }
}

#[test]
fn ten_scenes_have_their_bits() {
    let mut table = String::new();
    let mut are_as_before = true;
    for (name, golden) in GOLDEN {
        let (scene, control) = name.split_once(", ").unwrap_or((name, ""));
        let mut s = simulation(&text(scene), Options { timestep: Some(5e-3), ..Options::default() });
        s.state_mut().v.iter_mut().enumerate().for_each(|(k, v)| *v = 0.1 * libm::sin(1.7 * k as f64));
        if control == "PD" {
            let (nv, target) = (s.model().nv(), s.state().q.clone());
            s.state_mut().pd = sapwood_sim::Pd {
                kp: vec![300.0; nv],
                kd: vec![20.0; nv],
                target,
                target_velocity: vec![0.0; nv],
                effort_limit: vec![100.0; nv],
            };
        }
        (0..100).for_each(|_| s.step().unwrap());
        let found = hash(&s);
        are_as_before &= found == golden;
        writeln!(table, "    ({name:?}, 0x{found:016x}),").unwrap();
    }
    assert!(are_as_before, "the bits are now\n{table}");
}
