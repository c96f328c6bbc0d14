//! A world's bits depend on its state alone.

mod common;

use common::{humanoid, robots, run, worlds};

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
