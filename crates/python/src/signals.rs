//! Python's signals (Ctrl-C) while the interpreter's lock is released.
//!
//! Python runs signal handlers in its main thread alone, and with the lock held, which computations release. So the thread that
//! called has to look at signals itself. A [`Watch`] does so from within a computation that asks it now and then; one that never
//! asks runs [`in_background`].

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use sim::SimulationError;
use support::Interrupt;

use crate::errors::simulation_error;

/// Time between two looks at signals, ms: a look takes the lock, and other threads of Python may hold it for a while.
const UNWATCHED: u64 = 50;

/// Stack of a thread in the background, bytes: no less than a main thread has, as readers of files are recursive.
const STACK: usize = 16 << 20;

/// Looks at signals for the computations of one object.
pub struct Watch {
    interrupt: Interrupt,
    seen: Arc<Seen>,
}

/// What looks leave behind.
#[derive(Default)]
struct Seen {
    /// When the next look is due, ms.
    due: AtomicU64,
    /// The thread that called.
    caller: Mutex<Option<ThreadId>>,
    /// What a handler raised.
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    pub fn new() -> Self {
        let seen = Arc::new(Seen::default());
        let looks = seen.clone();
        Self { interrupt: Interrupt::new(move || looks.look()), seen }
    }

    /// What computations are to ask: raised once a handler has raised an exception.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Begins a computation of the present thread.
    pub fn begin(&self) {
        let Seen { due, caller, raised } = &*self.seen;
        due.store(milliseconds() + UNWATCHED, Ordering::Relaxed);
        *caller.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current().id());
        *raised.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.interrupt.clear();
    }

    /// The exception for an error of a computation: what a handler raised, if that was it.
    pub fn error(&self, py: Python<'_>, error: &SimulationError) -> PyErr {
        if !matches!(error, SimulationError::Interrupted { .. }) {
            return simulation_error(py, error);
        }
        self.interrupted()
    }

    /// The exception for a computation that was told to stop.
    pub fn interrupted(&self) -> PyErr {
        let raised = self.seen.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err("interrupted"))
    }
}

impl Seen {
    /// Whether a signal has raised an exception; often asked, seldom looked at.
    fn look(&self) -> bool {
        let now = milliseconds();
        if now < self.due.load(Ordering::Relaxed) {
            return false;
        }
        // In a thread of ours Python would say that there is no signal.
        if *self.caller.lock().unwrap_or_else(PoisonError::into_inner) != Some(std::thread::current().id()) {
            return false;
        }
        self.due.store(now + UNWATCHED, Ordering::Relaxed);
        let raised = Python::attach(|py| py.check_signals()).err();
        let is_raised = raised.is_some();
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = raised;
        is_raised
    }
}

/// A clock that is read thousands of times in a second: a few nanoseconds, and a few milliseconds coarse.
#[cfg(target_os = "linux")]
fn milliseconds() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

#[cfg(not(target_os = "linux"))]
fn milliseconds() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_millis() as u64
}

/// Waits for `work` in a thread of its own. Where a signal raises an exception meanwhile, the work is left to come to its end there, and
/// its result is dropped.
pub fn in_background<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name("sapwood-background".into()).stack_size(STACK);
    // Nobody may be left to receive it.
    let thread = thread.spawn(move || drop(sender.send(work())))?;
    loop {
        let outcome;
        (receiver, outcome) = py.detach(move || {
            let outcome = receiver.recv_timeout(Duration::from_millis(UNWATCHED));
            (receiver, outcome)
        });
        match outcome {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("a thread that ended has sent its result"),
            },
        }
    }
}
