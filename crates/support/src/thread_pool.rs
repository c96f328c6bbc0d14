//! A thread pool whose threads stay awake between loops.
//!
//! A step of a simulation has several loops of 10 to 500 µs with serial code between them, and the next step follows at once.
//! To wake a thread takes 30 to 100 µs, so the workers of a [`ThreadPool`] spin for a while before they fall asleep,
//! and the calling thread works too. To start a parallel loop then costs less than a microsecond, and no memory.
//!
//! ```
//! let mut pool = sapwood_support::ThreadPool::new(2)?;
//! let mut numbers: Vec<u64> = (0..1000).collect();
//! pool.parallel_for(&mut numbers, |_, n| *n *= *n);
//! assert_eq!(numbers[30], 900);
//! # Ok::<(), std::io::Error>(())
//! ```

mod shares;

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;
use shares::Shares;

/// Workers spin for so long before they fall asleep: longer than what lies between the loops of a step, and between steps, where those
/// are short enough that waking would be felt.
const SPIN_TIME: Duration = Duration::from_micros(200);

/// Spins between two offers of the processor to others.
const SPINS_PER_YIELD: u32 = 64;

/// Work that threads do side by side; the argument is the number of the thread.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// The calling thread and its workers; no workers by default.
#[derive(Debug, Default)]
pub struct ThreadPool {
    workers: Vec<JoinHandle<()>>,
    /// None without workers: such a pool costs nothing.
    shared: Option<Arc<Shared>>,
    interrupt: Interrupt,
}

/// What the threads of a pool know of one another.
#[derive(Debug, Default)]
struct Shared {
    board: Mutex<Board>,
    /// Wakes sleepers.
    bell: Condvar,
    /// How often there was something new on the board: what workers look at.
    news: AtomicU64,
    /// Workers in a loop. It grows under the board's lock alone, while there is work.
    busy: AtomicUsize,
}

/// What workers are to do.
#[derive(Default)]
struct Board {
    /// `'static` to the workers: see [`Shared::work`].
    work: Option<&'static Work<'static>>,
    sleepers: usize,
    is_over: bool,
    /// What a worker panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").field("has_work", &self.work.is_some()).finish_non_exhaustive()
    }
}

impl ThreadPool {
    /// A pool of `threads`, the calling one among them.
    ///
    /// # Errors
    /// When the system grants fewer.
    pub fn new(threads: usize) -> io::Result<Self> {
        let mut pool = Self::default();
        for number in 1..threads {
            let shared = pool.shared.get_or_insert_default().clone();
            let worker = std::thread::Builder::new().name(format!("sapwood-{number}"));
            pool.workers.push(worker.spawn(move || shared.run_worker(number))?);
        }
        Ok(pool)
    }

    /// How many threads there are, the calling one among them.
    pub fn count(&self) -> usize {
        self.workers.len() + 1
    }

    /// Lets the calling thread look at `interrupt` while it waits for its workers: it may be the only thread that sees a request to stop,
    /// as it is with Python's signals, and workers that look at it as well then stop.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Calls `f` for every item, with the number of the thread that does.
    ///
    /// Threads begin with the same items in every loop over as many, so that what belongs to an item stays in a processor's
    /// cache; idle threads steal work.
    ///
    /// # Panics
    /// When `f` does.
    pub fn parallel_for<T: Send>(&mut self, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        let threads = self.count();
        match &self.shared {
            Some(shared) if items.len() > 1 => {
                let shares = Shares::new(items, threads);
                let work = |thread| shares.each(thread, |share| share.iter_mut().for_each(|item| f(thread, item)));
                shared.work(&work, &self.interrupt);
            }
            _ => items.iter_mut().for_each(|item| f(0, item)),
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let Some(shared) = &self.shared else { return };
        let mut board = shared.board();
        board.is_over = true;
        shared.news.fetch_add(1, Ordering::Release);
        drop(board);
        shared.bell.notify_all();
        for worker in self.workers.drain(..) {
            // Panics of work were caught, and there is nothing else to fail.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// Does the same on every thread that comes before the calling one is done with it. One call at a time: `ThreadPool` is borrowed
    /// mutably.
    fn work(&self, work: &Work<'_>, interrupt: &Interrupt) {
        // SAFETY: workers take the reference from the board, under its lock, and count themselves as busy under the same
        // lock. `Shift` takes it off the board and waits until none is busy before this function is left, by a panic too, so
        // that none of them has it when what it borrows ends.
        let lent = unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
        let shift = Shift { shared: self, interrupt };
        self.post(lent);
        work(0);
        drop(shift);
        let panic = self.board().panic.take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        // No code that may panic runs under the lock.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn post(&self, work: &'static Work<'static>) {
        let mut board = self.board();
        // Left there when the caller panicked, too.
        board.panic = None;
        board.work = Some(work);
        self.news.fetch_add(1, Ordering::Release);
        if board.sleepers > 0 {
            board.sleepers = 0;
            drop(board);
            self.bell.notify_all();
        }
    }

    /// The loop of a worker.
    fn run_worker(&self, number: usize) {
        let mut seen = 0;
        while let Some(work) = self.next(&mut seen) {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(number)));
            if let Err(panic) = outcome {
                self.board().panic = Some(panic);
            }
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }

    /// Waits for work that is not the one `seen` last, and counts the thread as busy; none when it is all over.
    fn next(&self, seen: &mut u64) -> Option<&'static Work<'static>> {
        loop {
            self.spin(*seen);
            let mut board = self.board();
            while self.news.load(Ordering::Relaxed) == *seen {
                board.sleepers += 1;
                board = self.bell.wait(board).unwrap_or_else(PoisonError::into_inner);
            }
            *seen = self.news.load(Ordering::Relaxed);
            if board.is_over {
                return None;
            }
            if let Some(work) = board.work {
                self.busy.fetch_add(1, Ordering::Relaxed);
                return Some(work);
            }
        }
    }

    /// Spins for a while until there are news.
    fn spin(&self, seen: u64) {
        let start = Instant::now();
        let is_long = || start.elapsed() > SPIN_TIME;
        let mut looks = 0_u32;
        wait_until(|| {
            looks = looks.wrapping_add(1);
            self.news.load(Ordering::Acquire) != seen || looks.is_multiple_of(SPINS_PER_YIELD) && is_long()
        });
    }
}

/// While it lives, workers may have borrowed work.
struct Shift<'a> {
    shared: &'a Shared,
    interrupt: &'a Interrupt,
}

impl Drop for Shift<'_> {
    fn drop(&mut self) {
        let Self { shared, interrupt } = self;
        shared.board().work = None;
        let mut looks = 0_u32;
        wait_until(|| {
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(SPINS_PER_YIELD) {
                // What comes of it is the workers' business.
                interrupt.is_raised();
            }
            shared.busy.load(Ordering::Acquire) == 0
        });
    }
}

/// Waits without going to sleep, but lets others have the processor now and then.
fn wait_until(mut is_over: impl FnMut() -> bool) {
    let mut looks = 0_u32;
    while !is_over() {
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(SPINS_PER_YIELD) {
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}
