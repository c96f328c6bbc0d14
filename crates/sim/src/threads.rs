//! Loops that threads share.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The threads of a simulation.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: rayon::ThreadPool,
    /// How many of them stay awake during a step, beside the one that makes it: no more than there are processors.
    awake: usize,
}

impl Pool {
    /// As many threads, if the system grants them.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let awake = threads.min(processors) - 1;
        Ok(Self { threads: rayon::ThreadPoolBuilder::new().num_threads(threads).build()?, awake })
    }

    /// Calls `f` on one of the threads, the others awake: loops within are shared among them.
    ///
    /// Waking a thread takes about 30 µs, as long as a loop over a few hundred bodies, and there are several in a step.
    pub fn run<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.threads.install(|| {
            let step = Step { is_over: AtomicBool::new(false), thread: rayon::current_thread_index() };
            step.run(self.awake, f)
        })
    }
}

/// A step under way.
struct Step {
    is_over: AtomicBool,
    /// The thread that makes it.
    thread: Option<usize>,
}

impl Step {
    fn run<R: Send>(&self, awake: usize, f: impl FnOnce() -> R + Send) -> R {
        if awake == 0 {
            let _end = End(self);
            return f();
        }
        rayon::join(|| self.run(awake - 1, f), || self.stay_awake()).0
    }

    /// Works on what there is to share until the step is over.
    fn stay_awake(&self) {
        // The step's own thread must not wait here for its own end.
        if rayon::current_thread_index() == self.thread {
            return;
        }
        wait_until(|| {
            rayon::yield_now();
            self.is_over.load(Ordering::Acquire)
        });
    }
}

/// Looks between two offers of the processor to others.
const PATIENCE: u32 = 64;

/// Ends a step however it is left.
struct End<'a>(&'a Step);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

/// Whether loops are shared with the other threads of the pool that the caller runs in. What they compute does not depend
/// on it: every item is worked on by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    pub are_many: bool,
}

/// Parts that a loop is cut into at most.
const SHARES: usize = 64;

impl Threads {
    /// Calls `f` for every item.
    ///
    /// Threads work on the same items in every loop as long as they can, so that what belongs to an item stays in a processor's
    /// cache; who is done takes over from others.
    pub fn for_each<T: Send>(self, items: &mut [T], f: impl Fn(&mut T) + Send + Sync) {
        if !self.are_many || items.len() < 2 {
            return items.iter_mut().for_each(f);
        }
        let size = items.len().div_ceil(SHARES);
        let count = items.len().div_ceil(size);
        let mut parts = items.chunks_mut(size);
        let shares: [_; SHARES] = std::array::from_fn(|_| Mutex::new(parts.next()));
        let done = AtomicUsize::new(0);
        on_all(self.count().min(count), &|| {
            let first = self.this() * count / self.count();
            for k in (first..count).chain(0..first) {
                if let Some(share) = shares[k].lock().unwrap_or_else(PoisonError::into_inner).take() {
                    let _done = Done(&done);
                    share.iter_mut().for_each(&f);
                }
            }
            // The last shares of others take less time than going to sleep and being woken.
            wait_until(|| done.load(Ordering::Acquire) == count);
        });
    }

    /// How many threads there are.
    pub fn count(self) -> usize {
        if self.are_many { rayon::current_num_threads() } else { 1 }
    }

    /// The number of the one that asks.
    pub fn this(self) -> usize {
        if self.are_many { rayon::current_thread_index().unwrap_or(0) } else { 0 }
    }
}

/// Counts a share when it is done, however that is.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Waits without going to sleep, but lets others have the processor now and then.
fn wait_until(is_over: impl Fn() -> bool) {
    let mut looks = 0_u32;
    while !is_over() {
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(PATIENCE) {
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

/// Does the same `count` times, on as many threads as have time.
fn on_all(count: usize, work: &(impl Fn() + Sync)) {
    if count > 1 {
        rayon::join(|| on_all(count - 1, work), work);
    } else {
        work();
    }
}
