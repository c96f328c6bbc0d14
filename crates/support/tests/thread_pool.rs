//! Every item once, whoever works on it; what is lent comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sapwood_support::ThreadPool;

#[test]
fn every_item_is_worked_on_once() {
    for threads in [0, 1, 2, 3, 5, 20] {
        let mut pool = ThreadPool::new(threads).unwrap();
        assert_eq!(pool.count(), threads.max(1));
        for count in [0, 1, 2, 3, 63, 128, 129, 1000, 12_345] {
            let mut items: Vec<usize> = (0..count).collect();
            pool.parallel_for(&mut items, |thread, item| {
                assert!(thread < threads.max(1));
                *item += 1;
            });
            assert!(items.iter().enumerate().all(|(k, item)| *item == k + 1), "{threads} threads, {count} items");
        }
    }
}

/// Ends only when all threads are at work at the same time.
fn meet(pool: &mut ThreadPool) {
    let barrier = Barrier::new(pool.count());
    let mut places = vec![usize::MAX; pool.count()];
    pool.parallel_for(&mut places, |thread, place| {
        *place = thread;
        barrier.wait();
    });
    // Nobody had to steal work.
    assert!(places.iter().copied().eq(0..pool.count()), "{places:?}");
}

#[test]
fn all_threads_work_side_by_side_on_items_of_their_own() {
    let mut pool = ThreadPool::new(4).unwrap();
    for _ in 0..200 {
        meet(&mut pool);
    }
    // Asleep by now.
    std::thread::sleep(Duration::from_millis(20));
    meet(&mut pool);
}

#[test]
fn idle_threads_steal_work() {
    let mut pool = ThreadPool::new(2).unwrap();
    let done = AtomicUsize::new(0);
    let mut items = [(); 64];
    pool.parallel_for(&mut items, |_, ()| {
        // The first to come waits until more than the other half is done: some of what was to be its own.
        if done.fetch_add(1, Ordering::SeqCst) == 0 {
            while done.load(Ordering::SeqCst) < 50 {
                std::thread::yield_now();
            }
        }
    });
}

#[test]
fn what_is_borrowed_is_whole_after_every_loop() {
    let mut pool = ThreadPool::new(3).unwrap();
    for round in 0..5000_usize {
        // On the heap: lives no longer than the round.
        let mut sums = vec![round; 40];
        let added: Vec<usize> = (0..40).collect();
        let calls = AtomicUsize::new(0);
        pool.parallel_for(&mut sums, |_, sum| {
            *sum += added[*sum - round];
            calls.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(calls.into_inner(), 40);
        assert!(sums.iter().all(|sum| *sum == round));
    }
}

#[test]
fn a_panic_is_the_callers_and_the_pool_goes_on() {
    let mut pool = ThreadPool::new(3).unwrap();
    for bad in 0..30 {
        let mut items: Vec<usize> = (0..30).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.parallel_for(&mut items, |_, item| assert!(*item != bad, "a bad item"));
        }));
        let panic = outcome.expect_err("one item panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bad item"));
        meet(&mut pool);
    }
}
