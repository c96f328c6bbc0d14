//! Directions along which pairs were apart.

use spatial::Vec3;

/// Pairs that are remembered, a power of two: those that share a place take turns.
const PLACES: usize = 256;

/// Of pairs that were too far apart a direction that showed it, in the axes of the first of them. Most are so for many steps, and the gap along
/// the same direction shows it again. That decides nothing: what it does not show is found as if nothing were known.
#[derive(Clone, Debug)]
pub(super) struct Separations {
    known: Box<[Separation]>,
}

#[derive(Clone, Copy, Debug)]
struct Separation {
    geoms: [usize; 2],
    direction: Vec3<f64>,
}

impl Default for Separations {
    fn default() -> Self {
        let nothing = Separation { geoms: [usize::MAX; 2], direction: Vec3::ZERO };
        Self { known: vec![nothing; PLACES].into() }
    }
}

impl Separations {
    /// The direction of a pair, if one is known.
    pub fn of(&self, geoms: [usize; 2]) -> Option<Vec3<f64>> {
        let known = &self.known[place(geoms)];
        (known.geoms == geoms).then_some(known.direction)
    }

    /// Remembers a direction.
    pub fn insert(&mut self, geoms: [usize; 2], direction: Vec3<f64>) {
        self.known[place(geoms)] = Separation { geoms, direction };
    }

    /// Forgets the direction of a pair.
    pub fn remove(&mut self, geoms: [usize; 2]) {
        let known = &mut self.known[place(geoms)];
        if known.geoms == geoms {
            known.geoms = [usize::MAX; 2];
        }
    }
}

/// Neighbouring numbers of either geom have places of their own.
fn place([a, b]: [usize; 2]) -> usize {
    a.wrapping_mul(37).wrapping_add(b) % PLACES
}
