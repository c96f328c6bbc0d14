//! A world's bits depend on its state alone.

mod common;

use common::{humanoid, robots, run, worlds};
use sapwood_batch::{Batch, BatchOptions, Precision};
use sim::{ContactLaw, Options};
use support::SplitMix64;

#[test]
fn bits_do_not_depend_on_lanes_neighbours_or_threads() {
    let loaded = humanoid();
    let expected = run(&loaded, worlds(&loaded, 16), 1, 1, 300);
    for (lanes, threads) in [(4, 1), (4, 3), (8, 1)] {
        if lanes == 8 && !spatial::cpu::has_avx512() {
            continue;
        }
        let found = run(&loaded, worlds(&loaded, 16), lanes, threads, 300);
        for (world, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "world {world}, {lanes} lanes, {threads} threads");
        }
    }
    // Fewer worlds, in another order.
    let few: Vec<_> = worlds(&loaded, 16).into_iter().rev().take(5).collect();
    let found = run(&loaded, few, 4, 1, 300);
    for (world, found) in found.iter().enumerate() {
        assert_eq!(*found, expected[15 - world], "world {}", 15 - world);
    }
}

#[test]
fn bits_of_robots_that_touch_do_not_depend_on_lanes() {
    // Drives reach their limits, and objects start in each other.
    let loaded = robots();
    let expected = run(&loaded, worlds(&loaded, 16), 1, 1, 400);
    let found = run(&loaded, worlds(&loaded, 16), 4, 1, 400);
    for (world, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "world {world}");
    }
}

/// Worlds, their steps, and how long they go on from one start.
const WORLDS: usize = 64;
const STEPS: usize = 600;
const RUN: usize = 200;

#[test]
fn bits_of_32_bits_do_not_depend_on_lanes_under_any_law() {
    let loaded = humanoid();
    for law in [ContactLaw::Lagged, ContactLaw::Coulomb, ContactLaw::Sap] {
        // Without memory of the last step, and with it.
        for forgets in [true, false] {
            let [mut eight, mut one] = [8, 1].map(|lanes| {
                let mut options = BatchOptions::default();
                options.simulation = Options { contact: law, ..Options::default() };
                (options.lanes, options.threads, options.precision) = (Some(lanes), Some(1), Precision::F32);
                Batch::new(loaded.model.clone(), loaded.scene.clone(), WORLDS, options).unwrap()
            });
            let mut random = SplitMix64(7);
            for step in 0..STEPS {
                let begins = step % RUN == 0;
                if begins {
                    let q = loaded.model.q0.repeat(WORLDS);
                    let v: Vec<f64> = eight.v().iter().map(|_| random.symmetric()).collect();
                    for batch in [&mut eight, &mut one] {
                        batch.q_mut().copy_from_slice(&q);
                        batch.v_mut().copy_from_slice(&v);
                    }
                }
                if step % 20 == 0 {
                    let ctrl: Vec<f64> = eight.ctrl().iter().map(|_| random.symmetric()).collect();
                    eight.ctrl_mut().copy_from_slice(&ctrl);
                    one.ctrl_mut().copy_from_slice(&ctrl);
                }
                for world in (0..WORLDS).filter(|_| begins || forgets) {
                    eight.forget(world);
                    one.forget(world);
                }
                eight.step(1).unwrap();
                one.step(1).unwrap();
                let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
                assert!(bits(eight.q()) == bits(one.q()) && bits(eight.v()) == bits(one.v()), "{law:?}, step {step}");
            }
            assert!(one.stats().pushing > 0);
        }
    }
}
