//! A loop cut into shares.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Shares that a loop is cut into at most.
const MOST: usize = 128;

/// Blocks of shares, one for each of the first threads, that begin there.
const BLOCKS: usize = 16;

/// Items in shares that threads take.
///
/// A thread takes the shares of its own block from the front, then those of others from the back: memory that only it writes
/// as long as there is enough to do.
pub(crate) struct Shares<'a, T> {
    shares: [Mutex<Option<&'a mut [T]>>; MOST],
    blocks: [Block; BLOCKS],
    /// Blocks in use.
    count: usize,
}

/// The shares from `front` to `back` are left, one number in each half of the word; alone in a line of a processor's cache,
/// and in the one that it fetches beside it.
#[repr(align(128))]
struct Block(AtomicU64);

impl<'a, T> Shares<'a, T> {
    pub fn new(items: &'a mut [T], threads: usize) -> Self {
        let size = items.len().div_ceil(MOST).max(1);
        let shares = items.len().div_ceil(size);
        let count = threads.clamp(1, BLOCKS);
        let start = |block: usize| (shares * block.min(count) / count) as u64;
        let mut parts = items.chunks_mut(size);
        Self {
            shares: std::array::from_fn(|_| Mutex::new(parts.next())),
            blocks: std::array::from_fn(|k| Block(AtomicU64::new(start(k) | start(k + 1) << 32))),
            count,
        }
    }

    /// Calls `f` for shares until all are taken.
    pub fn each(&self, thread: usize, mut f: impl FnMut(&mut [T])) {
        for k in 0..self.count {
            let block = &self.blocks[(thread + k) % self.count];
            while let Some(share) = block.take(k == 0) {
                // Locked for the compiler: nobody else comes here.
                let share = self.shares[share].lock().unwrap_or_else(PoisonError::into_inner).take();
                share.into_iter().for_each(&mut f);
            }
        }
    }
}

impl Block {
    /// The number of a share that nobody else takes, the first or the last.
    fn take(&self, from_front: bool) -> Option<usize> {
        let ends = |word: u64| (word & u64::from(u32::MAX), word >> 32);
        let rest = |word: u64| {
            let (front, back) = ends(word);
            let rest = if from_front { (front + 1, back) } else { (front, back.wrapping_sub(1)) };
            (front < back).then_some(rest.0 | rest.1 << 32)
        };
        // The items come with the lock of their share.
        let (front, back) = ends(self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).ok()?);
        Some(if from_front { front } else { back - 1 } as usize)
    }
}
