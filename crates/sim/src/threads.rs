//! Loops that threads share.

use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

/// Whether loops are shared with the other threads of the pool that the caller runs in. What they compute does not depend
/// on it: every item is worked on by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads {
    pub are_many: bool,
}

impl Threads {
    /// Calls `f` for every item.
    pub fn for_each<T: Send>(self, items: &mut [T], f: impl Fn(&mut T) + Send + Sync) {
        if self.are_many && items.len() > 1 {
            items.par_iter_mut().for_each(f);
        } else {
            items.iter_mut().for_each(f);
        }
    }

    /// How many threads there are.
    pub fn count(self) -> usize {
        if self.are_many { rayon::current_num_threads() } else { 1 }
    }

    /// The number of the one that asks.
    pub fn this(self) -> usize {
        if self.are_many { rayon::current_thread_index().unwrap_or(0) } else { 0 }
    }

    /// Does both.
    pub fn join(self, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        if self.are_many {
            rayon::join(a, b);
        } else {
            a();
            b();
        }
    }
}
