//! A loop cut into shares.

use std::sync::{Mutex, PoisonError};

/// Blocks of items, one for each of the first threads, that begin there.
const BLOCKS: usize = 16;

/// A share is this part of what is left of a block: the first are large, the last small, so that threads end together.
const PART: usize = 8;

/// Items in shares that threads take.
///
/// A thread takes shares of its own block from the front, then of others from the back.
pub(crate) struct Shares<'a, T> {
    blocks: [Block<'a, T>; BLOCKS],
    /// Blocks in use.
    count: usize,
}

/// The items that are left; alone in a line of a processor's cache, and in the one that is fetched with it.
#[repr(align(128))]
struct Block<'a, T>(Mutex<&'a mut [T]>);

impl<'a, T> Shares<'a, T> {
    pub fn new(mut items: &'a mut [T], threads: usize) -> Self {
        let count = threads.clamp(1, BLOCKS);
        let block = |k: usize| {
            // The last block in use takes all that is left.
            let size = items.len() / (count - k.min(count - 1));
            let (block, rest) = std::mem::take(&mut items).split_at_mut(size);
            items = rest;
            Block(Mutex::new(block))
        };
        Self { blocks: std::array::from_fn(block), count }
    }

    /// Calls `f` for shares until all are taken.
    pub fn each(&self, thread: usize, mut f: impl FnMut(&mut [T])) {
        for k in 0..self.count {
            let block = &self.blocks[(thread + k) % self.count];
            while let Some(share) = block.take(k == 0) {
                f(share);
            }
        }
    }
}

impl<'a, T> Block<'a, T> {
    /// A share that nobody else takes, the first or the last.
    fn take(&self, from_front: bool) -> Option<&'a mut [T]> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut *left);
        let count = all.len();
        let size = count.div_ceil(PART);
        let (share, rest) = if from_front {
            all.split_at_mut(size)
        } else {
            let (rest, share) = all.split_at_mut(count - size);
            (share, rest)
        };
        *left = rest;
        (size > 0).then_some(share)
    }
}
