//! After a warm-up a step that threads share does not touch the heap. Without the test harness, whose threads would be counted as well.

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use common::{run, simulation, towers};
use counting_allocator::allocations_of_process;
use sapwood_sim::{Options, Simulation};

fn main() {
    // Towers alike, so that it does not matter which thread's scratch has seen which.
    let mut s = simulation(&towers(8), Options { timestep: Some(0.01), threads: 2, ..Options::default() });
    run(&mut s, 600);
    // The same motion once more: what it needed at its worst is there. On a busy machine one thread may have done all until then, and the
    // other's scratch grows in the next motion.
    let grew: Vec<_> = (0..4).map(|_| allocations_of_a_fall(&mut s)).collect();
    assert_eq!(grew.last(), Some(&0), "{grew:?}");
    assert!(s.stats().contacts > 0);
}

fn allocations_of_a_fall(s: &mut Simulation) -> usize {
    s.reset(None).unwrap();
    run(s, 1);
    let before = allocations_of_process();
    assert!(before > 0, "the counter counts");
    run(s, 599);
    allocations_of_process() - before
}
