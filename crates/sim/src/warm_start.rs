//! What the contact solver remembers from one step to the next.

use lanes::{ConstraintName, WarmStartEntry};
use spatial::Vec3;

/// For the constraints of the last step, the velocities they would have met if they had not pushed, and their normal
/// impulses.
///
/// The solver predicts from the velocities which contacts will stick, slide or part; friction is bounded by the normal
/// impulses at first, and under the lagged law to the end. A contact is known again by its two geoms and its place among
/// their points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmStart {
    /// Ascending by name.
    entries: Vec<WarmStartEntry>,
}

impl WarmStart {
    /// Bytes of one entry.
    const ENTRY: usize = 44;

    /// Forgets everything: the next step starts cold.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Becomes `other`, with the memory that there is.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
    }

    /// What is remembered of a constraint; none when the last step had none of this name. `next` is where to look first: behind
    /// the constraint that was asked for before.
    pub(crate) fn of(&self, name: ConstraintName, next: &mut usize) -> Option<WarmStartEntry> {
        let at = match self.entries.get(*next) {
            Some(entry) if entry.name == name => Ok(*next),
            _ => self.entries.binary_search_by_key(&name, |entry| entry.name),
        };
        let found = at.ok()?;
        *next = found + 1;
        Some(self.entries[found])
    }

    /// The entries, to be written in any order, some of them [`WarmStartEntry::NONE`]; [`sort`](Self::sort) comes next.
    pub(crate) fn entries_mut(&mut self) -> &mut Vec<WarmStartEntry> {
        &mut self.entries
    }

    /// Drops the places without an entry and puts the others in order; the first `ordered` are entries and in order.
    pub(crate) fn sort(&mut self, ordered: usize) {
        let entries = &mut self.entries;
        if ordered == 0 {
            entries.retain(|entry| entry.name != WarmStartEntry::NONE.name);
        }
        if !entries[ordered.saturating_sub(1)..].is_sorted_by_key(|entry| entry.name) {
            entries.sort_unstable_by_key(|entry| entry.name);
        }
    }

    /// The entries.
    pub(crate) fn entries(&self) -> &[WarmStartEntry] {
        &self.entries
    }

    pub(crate) fn append_bytes(&self, bytes: &mut Vec<u8>) {
        for WarmStartEntry { name, free_velocity, normal } in &self.entries {
            bytes.extend(name.words().iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend(free_velocity.to_array().iter().chain([normal]).flat_map(|x| x.to_le_bytes()));
        }
    }

    /// Takes over the bytes of [`append_bytes`](Self::append_bytes), a whole number of entries.
    pub(crate) fn restore(&mut self, bytes: &[u8]) {
        self.entries.clear();
        for entry in bytes.as_chunks::<{ Self::ENTRY }>().0 {
            let word = |k: usize| u32::from_le_bytes([entry[k], entry[k + 1], entry[k + 2], entry[k + 3]]);
            let number = |k: usize| {
                let (low, high) = (u64::from(word(k)), u64::from(word(k + 4)));
                f64::from_bits(low | high << 32)
            };
            let free_velocity = Vec3::new(number(12), number(20), number(28));
            self.entries.push(WarmStartEntry {
                name: ConstraintName::of_words([word(0), word(4), word(8)]),
                free_velocity,
                normal: number(36),
            });
        }
        self.sort(0);
    }

    /// Whether `bytes` are those of some warm start.
    pub(crate) fn fits(bytes: usize) -> bool {
        bytes.is_multiple_of(Self::ENTRY)
    }
}
