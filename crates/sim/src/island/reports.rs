//! What became of contact points and constraints, gathered from the islands.

use crew::Crew;
use geometry::Scene;

use super::Islands;
use crate::ContactPoint;
use crate::warm_start::{Entry, Key};

/// Parts that contact points are gathered in.
const POINT_SHARES: usize = 16;

impl Islands {
    /// Whether there are near-rigid constraints.
    pub fn have_rigid(&self) -> bool {
        self.active().iter().any(|island| island.has_rigid)
    }

    /// The contact points with an impulse, and the keys of their constraints.
    pub fn pushing(&self, detected: &[geometry::Contact], scene: &Scene) -> impl Iterator<Item = (Key, ContactPoint)> {
        let all = self.active().iter().flat_map(|island| island.contacts.iter().zip(&island.touches));
        let pushing = all.filter(|(_, touch)| touch.impulse != [0.0; 3]);
        pushing.map(|(c, touch)| (touch.memory.key, touch.at(&detected[*c as usize], scene)))
    }

    /// Among all contact points, the one of which the constraint is known by `key`.
    pub fn find(&self, key: Key) -> Option<usize> {
        self.active().iter().find_map(|island| {
            let k = island.touches.iter().position(|touch| touch.memory.key == key)?;
            Some(island.contacts[k] as usize)
        })
    }

    /// Gathers the contact points in the order in which they were detected, with room for `more`, and what the next step
    /// remembers, in any order.
    pub fn collect(
        &mut self,
        crew: &mut Crew,
        (detected, scene): (&[geometry::Contact], &Scene),
        more: usize,
        points: &mut Vec<ContactPoint>,
        memories: &mut Vec<Entry>,
    ) {
        let count = detected.len();
        let all = count + self.active().iter().map(|island| island.other_memories.len()).sum::<usize>();
        // Buffers take turns: none must find out later that there was more than ever.
        self.most_points = (count + more).max(self.most_points);
        self.most_memories = all.max(self.most_memories);
        points.truncate(count);
        points.reserve(self.most_points - points.len());
        points.resize(count, ContactPoint::default());
        memories.truncate(count);
        memories.reserve(self.most_memories - memories.len());
        memories.resize(count, Entry::NONE);
        self.gather_points(crew, (detected, scene), points, memories);
        self.active().iter().for_each(|island| memories.extend_from_slice(&island.other_memories));
    }

    fn gather_points(
        &self,
        crew: &mut Crew,
        (detected, scene): (&[geometry::Contact], &Scene),
        points: &mut [ContactPoint],
        memories: &mut [Entry],
    ) {
        let size = detected.len().div_ceil(POINT_SHARES).max(1);
        let (mut points, mut memories) = (points.chunks_mut(size), memories.chunks_mut(size));
        let mut sources = detected.chunks(size).zip(self.place_of.chunks(size));
        let mut shares: [_; POINT_SHARES] = std::array::from_fn(|_| (sources.next(), points.next(), memories.next()));
        crew.for_each(&mut shares, |_, share| {
            let (Some((detected, places)), Some(points), Some(memories)) = share else { return };
            let out = points.iter_mut().zip(memories.iter_mut());
            for ((contact, place), (point, memory)) in detected.iter().zip(*places).zip(out) {
                let touch = &self.islands[place.0 as usize].touches[place.1 as usize];
                (*point, *memory) = (touch.at(contact, scene), touch.memory);
            }
        });
    }
}
