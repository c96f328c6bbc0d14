//! Every item once, whoever works on it; what is lent comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sapwood_crew::Crew;

#[test]
fn every_item_is_worked_on_once() {
    for threads in [0, 1, 2, 3, 5, 20] {
        let mut crew = Crew::new(threads).unwrap();
        assert_eq!(crew.count(), threads.max(1));
        for count in [0, 1, 2, 3, 63, 128, 129, 1000, 12_345] {
            let mut items: Vec<usize> = (0..count).collect();
            crew.for_each(&mut items, |thread, item| {
                assert!(thread < threads.max(1));
                *item += 1;
            });
            assert!(items.iter().enumerate().all(|(k, item)| *item == k + 1), "{threads} threads, {count} items");
        }
    }
}

/// Ends only when all threads are at work at the same time.
fn meet(crew: &mut Crew) {
    let barrier = Barrier::new(crew.count());
    let mut places = vec![usize::MAX; crew.count()];
    crew.for_each(&mut places, |thread, place| {
        *place = thread;
        barrier.wait();
    });
    // Nobody had to take over from others.
    assert!(places.iter().copied().eq(0..crew.count()), "{places:?}");
}

#[test]
fn all_threads_work_side_by_side_on_items_of_their_own() {
    let mut crew = Crew::new(4).unwrap();
    for _ in 0..200 {
        meet(&mut crew);
    }
    // Asleep by now.
    std::thread::sleep(Duration::from_millis(20));
    meet(&mut crew);
}

#[test]
fn who_is_done_takes_over_from_others() {
    let mut crew = Crew::new(2).unwrap();
    let done = AtomicUsize::new(0);
    let mut items = [(); 64];
    crew.for_each(&mut items, |_, ()| {
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
    let mut crew = Crew::new(3).unwrap();
    for round in 0..5000_usize {
        // On the heap: lives no longer than the round.
        let mut sums = vec![round; 40];
        let added: Vec<usize> = (0..40).collect();
        let calls = AtomicUsize::new(0);
        crew.for_each(&mut sums, |_, sum| {
            *sum += added[*sum - round];
            calls.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(calls.into_inner(), 40);
        assert!(sums.iter().all(|sum| *sum == round));
    }
}

#[test]
fn a_panic_is_the_callers_and_the_crew_goes_on() {
    let mut crew = Crew::new(3).unwrap();
    for bad in 0..30 {
        let mut items: Vec<usize> = (0..30).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            crew.for_each(&mut items, |_, item| assert!(*item != bad, "a bad item"));
        }));
        let panic = outcome.expect_err("one item panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bad item"));
        meet(&mut crew);
    }
}
