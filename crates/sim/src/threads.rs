//! Loops that threads share.

use std::io;

use crew::Crew;

/// The threads of a simulation. What they compute does not depend on how many they are: every item is worked on by itself.
#[derive(Debug, Default)]
pub(crate) struct Threads(Option<Crew>);

impl Threads {
    /// As many threads, if the system grants them.
    pub fn new(count: usize) -> io::Result<Self> {
        Ok(Self((count > 1).then(|| Crew::new(count)).transpose()?))
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, Crew::count)
    }

    /// Calls `f` for every item, with the number of the thread that does.
    pub fn for_each<T: Send>(&mut self, items: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        match &mut self.0 {
            Some(crew) if items.len() > 1 => crew.for_each(items, f),
            _ => items.iter_mut().for_each(|item| f(0, item)),
        }
    }
}
