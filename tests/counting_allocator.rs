//! The system's allocator, counting: for tests of what must not touch the heap. A test takes it by `#[path = …] mod`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

static IN_PROCESS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IN_THREAD: Cell<usize> = const { Cell::new(0) };
}

/// Allocations of this thread so far. Other tests may run beside it.
#[allow(dead_code, reason = "a test needs one of the two")]
pub fn allocations() -> usize {
    IN_THREAD.with(Cell::get)
}

/// Allocations of all threads so far, for what a thread pool does. Only for a test with `harness = false`: the test harness allocates in
/// threads of its own while a test runs.
#[allow(dead_code, reason = "a test needs one of the two")]
pub fn allocations_of_process() -> usize {
    IN_PROCESS.load(Ordering::Relaxed)
}

fn count() {
    IN_PROCESS.fetch_add(1, Ordering::Relaxed);
    IN_THREAD.with(|count| count.set(count.get() + 1));
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
