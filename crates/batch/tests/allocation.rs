//! After a warm-up a step of a batch does not touch the heap.

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use common::{Loaded, humanoid};
use counting_allocator::allocations;
use sapwood_batch::{Batch, BatchOptions};
use sim::{Pd, Scheme};
use support::SplitMix64;

const WORLDS: usize = 11;

/// All worlds from the beginning, moving in the same way every time, under controls that change.
fn run(loaded: &Loaded, batch: &mut Batch, steps: usize) {
    let (nv, nu) = (loaded.model.nv(), loaded.model.nu());
    let mut random = SplitMix64(1);
    for v in batch.v_mut().chunks_exact_mut(nv) {
        v.iter_mut().for_each(|v| *v = random.symmetric());
    }
    for _ in 0..steps / 10 {
        for ctrl in batch.ctrl_mut().chunks_exact_mut(nu) {
            ctrl.iter_mut().for_each(|u| *u = random.symmetric());
        }
        batch.step(10).unwrap();
    }
}

#[test]
fn steps_after_warm_up_do_not_allocate() {
    // On one thread: on several it matters which thread's scratch has seen which world.
    let loaded = humanoid();
    let all = [true; WORLDS];
    let mut one_by_one = BatchOptions::default();
    one_by_one.simulation.scheme = Scheme::Midpoint;
    for (mut options, controlled) in
        [(BatchOptions::default(), false), (BatchOptions::default(), true), (one_by_one, false)]
    {
        (options.threads, options.contacts) = (Some(1), true);
        let mut batch = Batch::new(loaded.model.clone(), loaded.scene.clone(), WORLDS, options).unwrap();
        let nv = loaded.model.nv();
        if controlled {
            let gains = |gain: f64| (0..nv).map(|i| if i < 6 { 0.0 } else { gain }).collect();
            let pd = Pd {
                kp: gains(100.0),
                kd: gains(5.0),
                target: loaded.model.q0.clone(),
                target_velocity: vec![0.0; nv],
                effort_limit: vec![f64::INFINITY; nv],
            };
            batch.set_pd(Some(pd)).unwrap();
        }
        run(&loaded, &mut batch, 400);
        // The same motion once more: what it needed at its worst is there. Buffers of worlds that are made one by one become as large as the
        // largest so far when their turn comes, those of the first ones in the second round.
        batch.reset(&all, None).unwrap();
        run(&loaded, &mut batch, 400);
        batch.reset(&all, None).unwrap();
        let before = allocations();
        run(&loaded, &mut batch, 400);
        let allocations = allocations() - before;
        assert_eq!(allocations, 0, "alone: {:?}, PD control: {controlled}", batch.alone());
        assert_eq!(batch.stats().steps, 1200 * WORLDS as u64);
    }
}
