//! The bits of ten scenes: a change of them is to be seen, and to be meant.
//!
//! They are the same on every processor that Sapwood is compiled for: versions of kernels for wider registers, chosen at run time, compute
//! the same. After a change of results that is meant, the test prints the new table.

mod common;

use std::fmt::Write;

use common::simulation;
use models::characters::{self, Character};
use models::scenes;
use sapwood_sim::{Options, Simulation};

const GOLDEN: [(&str, u64); 10] = [
    ("@humanoid", 0x81cb24278640efeb),
    ("@dog", 0x1fd2d6d151406496),
    ("@snake36", 0x2ae2f2ace1455a8e),
    ("@clutter-box-27", 0xc0d8961c15fc338b),
    ("@clutter-sphere-27", 0x264b500a63d9211c),
    ("@tower-50", 0xce060b2858bd9d59),
    ("@arch-11", 0xcd54b00b278d68e3),
    ("@stewart", 0x98b6ece5314ea1cb),
    ("@four-bar", 0x9c04d2163b79455c),
    ("@humanoid, PD", 0x442f0660f0dfa43b),
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
