//! Energy in lanes.

use crate::common::load;
use sapwood_batch::{Batch, BatchOptions};
use sim::Simulation;
use support::SplitMix64;

const WORLDS: usize = 8;

#[test]
fn a_chain_that_tumbles_freely_keeps_its_energy() {
    let link = |k: usize| {
        let joint = if k % 3 == 2 { r#"type="ball""# } else { ["axis=\"0 1 0\"", "axis=\"1 0 0\""][k % 3] };
        format!(r#"<body pos="0 0 -.2"><joint {joint}/><geom type="capsule" fromto="0 0 0 .02 0 -.2" size=".03"/>"#)
    };
    let links: String = (0..5).map(link).collect();
    let loaded = load(&format!(
        r#"<mujoco><option timestep=".004" gravity="0 0 0"><flag contact="disable"/></option><worldbody>
        <body><freejoint/><geom type="box" size=".1 .06 .03"/>{links}{}</body></worldbody></mujoco>"#,
        "</body>".repeat(5)
    ));
    let mut options = BatchOptions::default();
    options.threads = Some(1);
    let mut batch = Batch::new(loaded.model.clone(), loaded.scene.clone(), WORLDS, options).unwrap();
    assert_eq!(batch.alone(), None);
    let mut random = SplitMix64(4);
    batch.v_mut().iter_mut().for_each(|v| *v = 2.0 * random.symmetric());
    let mut one =
        Simulation::without_lane(loaded.model.clone(), loaded.scene.clone(), batch.options().clone()).unwrap();
    let mut energies = |batch: &Batch| -> Vec<f64> {
        let worlds = batch.q().chunks_exact(loaded.model.nq()).zip(batch.v().chunks_exact(loaded.model.nv()));
        let mut energy = |(q, v): (&[f64], &[f64])| {
            one.state_mut().q.copy_from_slice(q);
            one.state_mut().v.copy_from_slice(v);
            one.energy().kinetic
        };
        worlds.map(&mut energy).collect()
    };
    let start = energies(&batch);
    for _ in 0..10 {
        batch.step(50).unwrap();
        for (world, (now, start)) in energies(&batch).iter().zip(&start).enumerate() {
            assert!((now - start).abs() <= 1e-9 * start, "world {world}: {now} J, {start} J at the start");
        }
    }
    assert_eq!(batch.stats().left, 0);
}
