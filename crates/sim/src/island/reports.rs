//! Outcomes of a step's contact points, gathered from its islands in the order of detection.

use lanes::{ConstraintName, WarmStartEntry};
use support::ThreadPool;

use super::{Island, Islands};
use crate::report::ContactOutcome;
use crate::sensors::EndLoad;
use crate::{Stats, WarmStart};

/// Parts that contact points and islands are cut into, whatever the number of threads: sums are the same.
const SHARES: usize = 16;

/// A part of what is gathered.
struct Share<'a> {
    islands: &'a [Island],
    /// Of the contact points, where they are, and what became of them.
    places: &'a [(u32, u32)],
    contact_outcomes: &'a mut [ContactOutcome],
    entries: &'a mut [WarmStartEntry],
    sums: Sums,
}

/// What islands add up to.
#[derive(Clone, Copy, Default)]
struct Sums {
    stats: Stats,
    /// How much there is to remember beside contact points.
    others: usize,
    /// Whether there is nothing to remember of some contact point.
    has_gaps: bool,
}

impl Islands {
    /// Whether there are near-rigid constraints.
    pub fn have_rigid(&self) -> bool {
        self.active().iter().any(|island| island.has_rigid)
    }

    /// The contact points with an impulse, their keys, and what became of them.
    pub fn pushing(&self) -> impl Iterator<Item = (u32, ConstraintName, &ContactOutcome)> {
        let all = self.active().iter().flat_map(|island| {
            let points = island.contacts.iter().zip(&island.memories).zip(&island.contact_outcomes);
            points.map(|((contact, memory), outcome)| (*contact, memory.name, outcome))
        });
        all.filter(|(_, _, outcome)| outcome.impulse != [0.0; 3])
    }

    /// Replaces `out` by the impulses between bodies beside those at contact points.
    pub fn end_loads(&self, out: &mut Vec<EndLoad>) {
        out.clear();
        self.active().iter().for_each(|island| out.extend_from_slice(&island.end_loads));
    }

    /// What became of the contact points of soft bodies, with their indices among all.
    pub fn soft_outcomes(&self) -> impl Iterator<Item = (usize, &ContactOutcome)> {
        self.active().iter().flat_map(|island| island.soft_outcomes.iter().map(|(index, outcome)| (*index, outcome)))
    }

    /// Among all contact points, the one of which the constraint is known by `key`.
    pub fn find(&self, key: ConstraintName) -> Option<usize> {
        self.active().iter().find_map(|island| {
            let k = island.memories.iter().position(|memory| memory.name == key)?;
            Some(island.contacts[k] as usize)
        })
    }

    /// Adds the islands' reports to `stats`; gathers the outcome of contact points in the order of their detection, and the warm start.
    pub fn collect(
        &mut self,
        pool: &mut ThreadPool,
        stats: &mut Stats,
        contact_outcomes: &mut Vec<ContactOutcome>,
        memory: &mut WarmStart,
    ) {
        let count = self.place_of.len();
        let entries = memory.entries_mut();
        // Swapped buffers: reserve the largest size yet, so that later steps do not allocate.
        self.most_points = count.max(self.most_points);
        contact_outcomes.truncate(count);
        contact_outcomes.reserve(self.most_points - contact_outcomes.len());
        contact_outcomes.resize(count, ContactOutcome::default());
        entries.truncate(count);
        entries.reserve(self.most_memories.max(count) - entries.len());
        entries.resize(count, WarmStartEntry::NONE);
        let Sums { stats: found, others, has_gaps } = self.gather(pool, contact_outcomes, entries);
        *stats = stats.plus(&found);
        self.most_memories = (count + others).max(self.most_memories);
        entries.reserve(self.most_memories - count);
        if others > 0 {
            self.active().iter().for_each(|island| entries.extend_from_slice(&island.other_memories));
        }
        memory.sort(if has_gaps { 0 } else { count });
    }

    /// Gathers points and sums.
    fn gather(
        &self,
        pool: &mut ThreadPool,
        mut contact_outcomes: &mut [ContactOutcome],
        mut entries: &mut [WarmStartEntry],
    ) -> Sums {
        if self.active <= SHARES {
            let (islands, places) = (self.active(), &self.place_of[..]);
            let mut all = Share { islands, places, contact_outcomes, entries, sums: Sums::default() };
            all.gather(&self.islands);
            return all.sums;
        }
        let part = |k: usize, all: usize| all * k / SHARES..all * (k + 1) / SHARES;
        let mut shares: [_; SHARES] = std::array::from_fn(|k| {
            let places = &self.place_of[part(k, self.place_of.len())];
            Share {
                islands: &self.active()[part(k, self.active)],
                contact_outcomes: contact_outcomes.split_off_mut(..places.len()).unwrap_or_default(),
                entries: entries.split_off_mut(..places.len()).unwrap_or_default(),
                places,
                sums: Sums::default(),
            }
        });
        pool.parallel_for(&mut shares, |_, share| share.gather(&self.islands));
        shares.iter().fold(Sums::default(), |sum, share| sum.plus(&share.sums))
    }
}

impl Sums {
    fn plus(self, more: &Self) -> Self {
        Self {
            stats: self.stats.plus(&more.stats),
            others: self.others + more.others,
            has_gaps: self.has_gaps || more.has_gaps,
        }
    }
}

impl Share<'_> {
    fn gather(&mut self, all: &[Island]) {
        for island in self.islands {
            island.add_to(&mut self.sums.stats);
            self.sums.others += island.other_memories.len();
        }
        let out = self.contact_outcomes.iter_mut().zip(self.entries.iter_mut());
        for (&(island, k), (outcome, entry)) in self.places.iter().zip(out) {
            let (island, k) = (&all[island as usize], k as usize);
            (*outcome, *entry) = (island.contact_outcomes[k], island.memories[k]);
            self.sums.has_gaps |= entry.name == WarmStartEntry::NONE.name;
        }
    }
}
