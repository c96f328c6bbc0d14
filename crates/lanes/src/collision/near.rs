//! Pairs that may be near: of some thousand pairs of a robot a few dozen. A pair that is found apart is not looked at again until its geoms
//! have gone as far as they were apart.

use spatial::masks::all_lanes;
use spatial::{Real, Vec3};

use super::super::{Ball, Bundle, Geom, wide};
use crate::plan::{Bounds, Plan, PlanGeom, Shape};

/// How far a geom may go until its pairs are listed anew: as a part of its radius, and in steps of its motion.
const SPARE: f64 = 0.3;
const SPARE_STEPS: f64 = 12.0;

/// Ways, m, beyond which they begin anew at zero, as they lose digits.
const LONGEST_WAY: f64 = 1e3;

/// More than distances and ways err by, m.
const ROUNDING: f64 = 1e-9;

/// How far a geom has gone.
#[derive(Clone, Copy, Debug)]
struct Way<T: Real> {
    /// A bound of how far any of its points has gone from step to step, m.
    gone: T,
    /// The reach up to which the list holds.
    limit: T,
}

impl<T: Real> Way<T> {
    /// At its beginning. What is not followed may be anywhere.
    fn new(geom: &PlanGeom) -> Self {
        let limit = if geom.is_followed { f64::NEG_INFINITY } else { f64::INFINITY };
        Self { gone: T::ZERO, limit: wide(limit) }
    }
}

/// Where a geom was in the last step.
#[derive(Clone, Copy, Debug)]
struct Place<T: Real> {
    centre: Vec3<T>,
    /// The axis of a capsule.
    axis: Vec3<T>,
}

/// How far apart a pair is.
#[derive(Clone, Copy, Debug)]
struct Apart<T: Real> {
    /// The geoms; the same one twice where the other is fixed.
    geoms: [u32; 2],
    /// What the reaches of both together must come to before they can be near.
    least: T,
}

/// The pairs that may be near.
#[derive(Clone, Debug)]
pub(crate) struct NearPairs<T: Real> {
    ways: Vec<Way<T>>,
    /// How far each has gone with what it may go in this step.
    reaches: Vec<T>,
    places: Vec<Place<T>>,
    pairs: Vec<Apart<T>>,
    /// Pairs that may come near within the limits of their geoms, a bit each.
    bits: Vec<u64>,
    /// Geoms that have gone beyond their limits.
    left: Vec<usize>,
    /// The pairs to look at in this step, and how many they are.
    near: Vec<usize>,
    count: usize,
}

impl<T: Bundle> NearPairs<T> {
    pub fn new(plan: &Plan) -> Self {
        let (geoms, bounds) = (&plan.contacts.geoms, &plan.contacts.bounds);
        let pair = |of: &Bounds| Apart { geoms: of.geoms, least: wide(f64::NEG_INFINITY) };
        Self {
            ways: geoms.iter().map(Way::new).collect(),
            reaches: vec![wide(f64::INFINITY); geoms.len()],
            places: vec![Place { centre: Vec3::ZERO, axis: Vec3::ZERO }; geoms.len()],
            pairs: bounds.iter().map(pair).collect(),
            bits: all_of(bounds.len()).collect(),
            left: Vec::with_capacity(geoms.len()),
            near: vec![0; bounds.len()],
            count: 0,
        }
    }

    /// Follows geoms to where they are, and finds the pairs that are to be looked at.
    #[inline(always)]
    pub fn follow(&mut self, plan: &Plan, geoms: &[Geom<T>], balls: &[Ball<T>]) {
        self.left.clear();
        let known = self.places.iter_mut().zip(self.ways.iter_mut().zip(&mut self.reaches));
        let here = plan.contacts.geoms.iter().zip(geoms.iter().zip(balls));
        let mut is_long = false;
        for (k, ((place, (way, reach)), (of_plan, (geom, ball)))) in known.zip(here).enumerate() {
            if !of_plan.is_followed {
                continue;
            }
            let mut moved = (ball.centre - place.centre).norm();
            place.centre = ball.centre;
            if let Shape::Capsule { half_length, .. } = of_plan.shape {
                moved = (geom.rot.z - place.axis).norm().mul_add(wide(half_length), moved);
                place.axis = geom.rot.z;
            }
            way.gone += moved;
            *reach = way.gone + ball.farthest;
            if reach.lanes_less(way.limit) != all_lanes::<T>() {
                is_long |= way.gone.lanes_less(wide(LONGEST_WAY)) != all_lanes::<T>();
                way.limit = ball.farthest.mul_add(wide(SPARE_STEPS), *reach + wide(SPARE * of_plan.radius));
                self.left.push(k);
            }
        }
        if is_long {
            self.begin_anew(plan);
        }
        for n in 0..self.left.len() {
            for &k in plan.contacts.pairs_of(self.left[n]) {
                self.list_pair(k as usize);
            }
        }
        self.find_near();
    }

    /// The pairs to look at in this step.
    #[inline(always)]
    pub fn near(&self) -> &[usize] {
        &self.near[..self.count]
    }

    /// Lists all pairs.
    #[cold]
    fn begin_anew(&mut self, plan: &Plan) {
        for (way, geom) in self.ways.iter_mut().zip(&plan.contacts.geoms) {
            *way = Way::new(geom);
        }
        self.left.clear();
        self.reaches.fill(wide(f64::INFINITY));
        self.pairs.iter_mut().for_each(|pair| pair.least = wide(f64::NEG_INFINITY));
        self.bits.iter_mut().zip(all_of(self.pairs.len())).for_each(|(bits, all)| *bits = all);
    }

    /// Lists a pair unless it is apart within the limits of its geoms.
    #[inline(always)]
    fn list_pair(&mut self, k: usize) {
        let Apart { geoms: [a, b], least } = self.pairs[k];
        let limits = self.ways[a as usize].limit + self.ways[b as usize].limit;
        let is_near = limits.lanes_less(least) != all_lanes::<T>();
        let word = &mut self.bits[k / 64];
        *word = *word & !(1 << (k % 64)) | u64::from(is_near) << (k % 64);
    }

    /// Finds the pairs that may be near in any lane, as their geoms have gone far enough, in the order of pairs.
    #[inline(always)]
    fn find_near(&mut self) {
        let (reaches, near) = (&self.reaches[..], &mut self.near[..]);
        let mut count = 0;
        for (n, (&word, pairs)) in self.bits.iter().zip(self.pairs.chunks(64)).enumerate() {
            let mut bits = word;
            while bits != 0 {
                let k = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let Apart { geoms: [a, b], least } = pairs[k];
                if (reaches[a as usize] + reaches[b as usize]).lanes_less(least) != all_lanes::<T>() {
                    near[count] = 64 * n + k;
                    count += 1;
                }
            }
        }
        self.count = count;
    }

    /// Notes how far apart the geoms of a pair are at least.
    #[inline(always)]
    pub fn set_apart(&mut self, k: usize, bounds: &Bounds, distance: T) {
        let [a, b] = bounds.geoms.map(|geom| self.ways[geom as usize].gone);
        let room = distance - wide(bounds.margin + ROUNDING);
        // What is fixed leaves all of it to the other, which stands twice.
        self.pairs[k].least = a + b + if bounds.are_two { room } else { room + room };
        self.list_pair(k);
    }
}

/// Words in which so many bits are set.
fn all_of(count: usize) -> impl Iterator<Item = u64> {
    (0..count.div_ceil(64)).map(move |word| u64::MAX >> (64 - (count - 64 * word).min(64)))
}
