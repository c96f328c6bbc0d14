//! Rows of numbers, one for each world, and when the episodes of the worlds end and begin.

use batch::Batch;

use crate::memory::{MemoryError, pack, unpack};

/// When a world whose episode has ended begins the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autoreset {
    /// In the next step, which then does nothing else.
    NextStep,
    /// In the step that ends it; the last observation of the episode is kept beside.
    SameStep,
    /// When the caller resets it.
    Disabled,
}

/// Observations, `info` and whatever else is to be known of the worlds, one row for each; and which of their episodes have ended.
pub(crate) struct Rows {
    /// (worlds, width): observation, info, and the rest.
    pub numbers: Vec<f64>,
    pub width: usize,
    observation: usize,
    info: usize,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
    /// Worlds that the present step resets, or the last one did.
    pub was_reset: Vec<bool>,
    pub autoreset: Autoreset,
    /// Observation and info at the end of the last episode.
    last: Vec<f64>,
}

impl Rows {
    /// Rows of `width` numbers that begin with so many of the observation and so many of `info`.
    pub fn new(worlds: usize, width: usize, observation: usize, info: usize, autoreset: Autoreset) -> Self {
        let last = if autoreset == Autoreset::SameStep { (observation + info) * worlds } else { 0 };
        Self {
            numbers: vec![0.0; width * worlds],
            width,
            observation,
            info,
            terminated: vec![false; worlds],
            truncated: vec![false; worlds],
            was_reset: vec![false; worlds],
            autoreset,
            last: vec![0.0; last],
        }
    }

    pub fn worlds(&self) -> usize {
        self.terminated.len()
    }

    pub fn row(&self, world: usize) -> &[f64] {
        &self.numbers[world * self.width..][..self.width]
    }

    pub fn row_mut(&mut self, world: usize) -> &mut [f64] {
        &mut self.numbers[world * self.width..][..self.width]
    }

    pub fn observation(&self, world: usize) -> &[f64] {
        &self.row(world)[..self.observation]
    }

    pub fn info(&self, world: usize) -> &[f64] {
        &self.row(world)[self.observation..][..self.info]
    }

    /// What follows observation and info.
    pub fn rest(&self, world: usize) -> &[f64] {
        &self.row(world)[self.observation + self.info..]
    }

    pub fn last_observation(&self, world: usize) -> &[f64] {
        &self.last[world * (self.observation + self.info)..][..self.observation]
    }

    pub fn last_info(&self, world: usize) -> &[f64] {
        &self.last[world * (self.observation + self.info) + self.observation..][..self.info]
    }

    /// Rows and flags, and a word for each world, as bytes.
    pub fn pack(&self, words: impl ExactSizeIterator<Item = u64>) -> Vec<u8> {
        pack(&self.numbers, words, [&self.terminated, &self.truncated])
    }

    /// Takes rows, flags and words from bytes.
    ///
    /// # Errors
    /// When they are of others; then nothing has changed.
    pub fn unpack<'a>(
        &mut self,
        bytes: &[u8],
        words: impl ExactSizeIterator<Item = &'a mut u64>,
    ) -> Result<(), MemoryError> {
        unpack(bytes, &mut self.numbers, words, [&mut self.terminated, &mut self.truncated])
    }

    fn has_ended(&self, world: usize) -> bool {
        self.terminated[world] || self.truncated[world]
    }

    /// Which worlds this step resets instead of judging it.
    pub fn expect_resets(&mut self) {
        for world in 0..self.worlds() {
            self.was_reset[world] = self.autoreset == Autoreset::NextStep && self.has_ended(world);
        }
    }

    fn keep_last(&mut self, world: usize) {
        let kept = self.observation + self.info;
        self.last[world * kept..][..kept].copy_from_slice(&self.numbers[world * self.width..][..kept]);
    }
}

/// Episodes whose ends and beginnings are those of [`Rows`]; N numbers of a world outlast the beginning of an episode.
pub(crate) trait Episodic<const N: usize> {
    /// Where, in the rest of a row, is what a world keeps of the step that ended its episode when the next one begins in it.
    const KEPT: [usize; N];

    fn rows(&mut self) -> &mut Rows;

    /// Takes a world to the beginning of an episode, and looks at it.
    fn begin(&mut self, batch: &mut Batch, world: usize);

    /// Counts a step of an episode: whether the episode has ended by itself, and whether it is cut.
    fn count(&mut self, world: usize) -> (bool, bool);

    /// Begins an episode in a world whatever has become of the last one.
    fn begin_anew(&mut self, batch: &mut Batch, world: usize) {
        self.begin(batch, world);
        let rows = self.rows();
        (rows.terminated[world], rows.truncated[world]) = (false, false);
    }

    /// Begins episodes in the worlds where `which` is true.
    ///
    /// # Panics
    /// When there is not one entry for each world.
    fn begin_in(&mut self, batch: &mut Batch, which: &[bool]) {
        assert_eq!(which.len(), self.rows().worlds(), "one entry for each world");
        for (world, &is_reset) in which.iter().enumerate() {
            self.rows().was_reset[world] = is_reset;
            if is_reset {
                self.begin_anew(batch, world);
            }
        }
    }

    /// After a step: ends, and the beginnings that belong to it.
    fn end_step(&mut self, batch: &mut Batch) {
        for world in 0..self.rows().worlds() {
            if self.rows().was_reset[world] {
                self.begin_anew(batch, world);
                continue;
            }
            let (terminated, truncated) = self.count(world);
            let rows = self.rows();
            (rows.terminated[world], rows.truncated[world]) = (terminated, truncated);
            if rows.autoreset == Autoreset::SameStep && rows.has_ended(world) {
                self.begin_after_end(batch, world);
            }
        }
    }

    /// Begins the next episode in the step that ended one, whose reward stays.
    fn begin_after_end(&mut self, batch: &mut Batch, world: usize) {
        let rows = self.rows();
        rows.keep_last(world);
        let mut kept = [0.0; N];
        kept.iter_mut().zip(Self::KEPT).for_each(|(x, k)| *x = rows.rest(world)[k]);
        self.begin(batch, world);
        let rows = self.rows();
        let first = rows.observation + rows.info;
        kept.iter().zip(Self::KEPT).for_each(|(x, k)| rows.row_mut(world)[first + k] = *x);
        rows.was_reset[world] = true;
    }
}
