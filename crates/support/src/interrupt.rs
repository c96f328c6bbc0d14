//! A request to stop that long computations look at.
//!
//! Whoever starts a computation hands an [`Interrupt`] down with its data. Loops that may run for more than some
//! milliseconds ask [`Interrupt::is_raised`] now and then, and return early when it is: with an error, or with anything
//! at all where the caller asks again. Once raised it stays so until [`clear`](Interrupt::clear)ed, so that whoever asks
//! last cannot take an unfinished result for a finished one. A computation that is not interrupted does not depend on it.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! let stop = Arc::new(AtomicBool::new(false)); // set by a signal handler, say
//! let seen = stop.clone();
//! let interrupt = sapwood_support::Interrupt::new(move || seen.load(Ordering::Relaxed));
//!
//! let count = (0..).take_while(|n| {
//!     stop.store(*n == 1000, Ordering::Relaxed);
//!     !interrupt.is_raised()
//! });
//! assert_eq!(count.count(), 1000);
//! ```

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop. Clones share it; the default is never raised and costs a comparison.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<Inner>>);

struct Inner {
    is_raised: AtomicBool,
    /// Whether it is to be raised.
    asks: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Interrupt {
    /// A request that `asks` makes, by returning true. Any thread may call it, thousands of times in a second.
    pub fn new(asks: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Inner { is_raised: AtomicBool::new(false), asks: Box::new(asks) })))
    }

    /// Whether to stop.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.look())
    }

    /// Takes the request back.
    pub fn clear(&self) {
        if let Some(inner) = &self.0 {
            inner.is_raised.store(false, Ordering::Relaxed);
        }
    }
}

impl Inner {
    fn look(&self) -> bool {
        if self.is_raised.load(Ordering::Relaxed) {
            return true;
        }
        let is_raised = (self.asks)();
        if is_raised {
            self.is_raised.store(true, Ordering::Relaxed);
        }
        is_raised
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_raised = self.0.as_ref().map(|inner| inner.is_raised.load(Ordering::Relaxed));
        f.debug_tuple("Interrupt").field(&is_raised).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_raised_until_it_is_cleared() {
        let asks = Arc::new(AtomicBool::new(false));
        let seen = asks.clone();
        let interrupt = Interrupt::new(move || seen.load(Ordering::Relaxed));
        let other = interrupt.clone();
        assert!(!other.is_raised());
        asks.store(true, Ordering::Relaxed);
        assert!(interrupt.is_raised());
        asks.store(false, Ordering::Relaxed);
        assert!(other.is_raised());
        interrupt.clear();
        assert!(!other.is_raised() && !Interrupt::default().is_raised());
    }
}
