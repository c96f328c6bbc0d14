//! Near pairs of large scenes, by a tree of bounding boxes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use spatial::Vec3;
use support::Interrupt;

use crate::pairs::{Filter, Rows};

/// Changes of the tree after which it is built anew, so that it stays good while things move.
const REBUILD_EVERY: u32 = 256;

/// How much wider on every side than an item's box the tree's is, as a part of the sum of its half extents: what moves less
/// leaves the tree as it is.
const SPARE: f64 = 0.05;

/// Pairs that are proposed between two looks at the request to stop: each takes some 20 ns.
const PAIRS_PER_LOOK: usize = 1 << 16;

/// Pairs of geoms near each other at most, in all: some 300 MB.
pub const MAX_NEAR_PAIRS: usize = 4_000_000;

/// Bounding-volume hierarchies over the items, of those that move and of those that are fixed: no pairs of these are looked for. What comes of
/// them does not depend on the state of the trees: these propose pairs, and the boxes of the step decide.
pub(crate) struct BroadPhase {
    filter: Filter,
    /// Geom and rank of each item.
    items: Vec<(usize, u8)>,
    /// The boxes that the trees have, wider than those of the step.
    wide: Vec<Aabb>,
    moving: BoxTree,
    fixed: BoxTree,
    workspace: BvhWorkspace,
    /// Items without bounds: planes; and whether each item is one.
    unbounded: Vec<u32>,
    is_unbounded: Vec<bool>,
    /// The pairs whose boxes in the tree meet, as they are found, and in order.
    pairs: Vec<[u32; 2]>,
    sorted: Sorted,
}

/// Boxes of items, in a tree.
#[derive(Clone, Default)]
struct BoxTree {
    bvh: Bvh,
    /// How often it changed, and whether it has since it was last put in order.
    changes: u32,
    is_changed: bool,
}

impl BoxTree {
    /// Gives an item this box.
    fn take(&mut self, item: u32, wide: Aabb) {
        self.bvh.insert_or_update_partially(wide, item, 0.0);
        self.is_changed = true;
    }

    /// Puts it in order after changes.
    fn refresh(&mut self, workspace: &mut BvhWorkspace) {
        if std::mem::take(&mut self.is_changed) {
            if self.changes.is_multiple_of(REBUILD_EVERY) {
                self.bvh.rebuild(workspace, BvhBuildStrategy::Binned);
            }
            self.changes = self.changes.wrapping_add(1);
            self.bvh.refit(workspace);
        }
    }
}

/// The box of an item about `centre`, with half its extents in the world.
pub(crate) fn aabb(centre: Vec3<f64>, half: Vec3<f64>) -> Aabb {
    // A geom without a position is put far away, where it meets nothing.
    let centre = if centre.is_finite() { centre } else { Vec3::new(1e30, 1e30, 1e30) };
    let (centre, half) = (Vector::new(centre.x, centre.y, centre.z), Vector::new(half.x, half.y, half.z));
    Aabb::new(centre - half, centre + half)
}

impl BroadPhase {
    /// For items with these geoms and ranks; `unbounded` are planes.
    pub fn new(filter: Filter, items: &[(usize, u8)], unbounded: Vec<u32>) -> Self {
        let mut is_unbounded = vec![false; items.len()];
        unbounded.iter().for_each(|&i| is_unbounded[i as usize] = true);
        Self {
            is_unbounded,
            filter,
            items: items.to_vec(),
            wide: vec![EVERYWHERE; items.len()],
            moving: BoxTree::default(),
            fixed: BoxTree::default(),
            workspace: BvhWorkspace::default(),
            unbounded,
            pairs: vec![],
            sorted: Sorted::default(),
        }
    }

    /// The boxes that the tree has.
    pub fn wide(&self) -> &[Aabb] {
        &self.wide
    }

    /// Takes the boxes of the step that have left those in the tree, and replaces `near` by the allowed pairs whose boxes in
    /// the tree meet; whether that are all, no more than [`MAX_NEAR_PAIRS`]. There are none once `interrupt` is raised.
    /// `is_above(plane, box)` tells whether all of the box is out of reach of a plane that stands still.
    pub fn find_pairs(
        &mut self,
        boxes: &[Aabb],
        is_above: impl Fn(u32, &Aabb) -> bool,
        near: &mut Rows,
        interrupt: &Interrupt,
    ) -> bool {
        let Self { filter, items, moving, fixed, workspace, wide, unbounded, is_unbounded, pairs, sorted } = self;
        let is_fixed = |item: u32| filter.is_fixed(items[item as usize].0);
        for (i, (inner, outer)) in boxes.iter().zip(wide.iter_mut()).enumerate() {
            if !fits(inner, outer) && !is_unbounded[i] {
                *outer = inner.loosened(spare(inner));
                let tree = if is_fixed(i as u32) { &mut *fixed } else { &mut *moving };
                tree.take(i as u32, *outer);
            }
        }
        moving.refresh(workspace);
        fixed.refresh(workspace);
        pairs.clear();
        let mut is_interrupted = interrupt.is_raised();
        let mut take = |a: u32, b: u32| {
            pairs.push(if a < b { [a, b] } else { [b, a] });
            is_interrupted |= pairs.len() % PAIRS_PER_LOOK == 0 && interrupt.is_raised();
            if is_interrupted || pairs.len() > MAX_NEAR_PAIRS {
                // The library's traversal has no other way out: what lies at one place has 5·10⁹ pairs for 100,000 items.
                resume_unwind(Box::new(()));
            }
        };
        let traverse = AssertUnwindSafe(|| {
            moving.bvh.traverse_bvtt_single_tree::<false>(workspace, &mut take);
            for a in (0..items.len() as u32).filter(|a| !is_fixed(*a) && !is_unbounded[*a as usize]) {
                fixed.bvh.intersect_aabb(&wide[a as usize]).for_each(|b| take(a, b));
            }
        });
        let is_ended = catch_unwind(traverse).is_ok();
        for &a in unbounded.iter() {
            let never_meets = |b: u32| is_unbounded[b as usize] || is_fixed(a) && is_fixed(b);
            let meets = |b: &u32| !never_meets(*b) && !is_above(a, &wide[*b as usize]);
            let remaining = (MAX_NEAR_PAIRS + 1).saturating_sub(pairs.len());
            pairs.extend((0..items.len() as u32).filter(meets).take(remaining).map(|b| [a.min(b), a.max(b)]));
        }
        near.clear();
        if pairs.len() > MAX_NEAR_PAIRS || is_interrupted || !is_ended {
            (0..items.len()).for_each(|_| near.end_row());
            return false;
        }
        sorted.take(pairs, items.len());
        let mut looked_at = 0;
        for b in 0..items.len() {
            if near.len() >= looked_at + PAIRS_PER_LOOK {
                looked_at = near.len();
                is_interrupted |= interrupt.is_raised();
            }
            for &a in sorted.partners(b).iter().filter(|_| !is_interrupted) {
                if let Some(allowed) = filter.allowed(items[a as usize].0, items[b].0) {
                    near.push(a as usize, b, items, allowed);
                }
            }
            near.end_row();
        }
        !is_interrupted
    }
}

/// How much wider on every side the box in the tree is made; 0 where bodies are so far off that the box has no size that is a number.
fn spare(inner: &Aabb) -> f64 {
    let half = inner.half_extents();
    f64::max(SPARE * (half.x + half.y + half.z), 0.0)
}

/// Whether the box in the tree contains that of the step and is not much wider than it is made, as it may be of something that
/// was fast.
#[inline]
pub(crate) fn fits(inner: &Aabb, outer: &Aabb) -> bool {
    let room = outer.extents() - inner.extents();
    outer.contains(inner) && room.max_element() <= 4.0 * spare(inner)
}

/// The box of what has no bounds.
pub(crate) const EVERYWHERE: Aabb = Aabb { mins: Vector::splat(f64::NEG_INFINITY), maxs: Vector::splat(f64::INFINITY) };

/// Pairs in ascending order by their later items, by counting: there are few for each.
#[derive(Clone, Debug, Default)]
struct Sorted {
    /// Where the partners of each item end.
    ends: Vec<u32>,
    partners: Vec<u32>,
}

impl Sorted {
    /// Sorts `pairs` of `items` items, the earlier item first in each.
    fn take(&mut self, pairs: &[[u32; 2]], items: usize) {
        let Self { ends, partners } = self;
        ends.clear();
        ends.resize(items, 0);
        pairs.iter().for_each(|[_, b]| ends[*b as usize] += 1);
        let mut sum = 0;
        for end in ends.iter_mut() {
            // Where they start, for now.
            sum += std::mem::replace(end, sum);
        }
        partners.resize(pairs.len(), 0);
        for [a, b] in pairs {
            let end = &mut ends[*b as usize];
            partners[*end as usize] = *a;
            *end += 1;
        }
        (0..items).for_each(|b| {
            let range = self.range(b);
            self.partners[range].sort_unstable();
        });
    }

    fn range(&self, b: usize) -> std::ops::Range<usize> {
        let start = if b == 0 { 0 } else { self.ends[b - 1] };
        start as usize..self.ends[b] as usize
    }

    /// The partners of item `b` that come before it, ascending.
    fn partners(&self, b: usize) -> &[u32] {
        &self.partners[self.range(b)]
    }
}

impl Clone for BroadPhase {
    fn clone(&self) -> Self {
        Self {
            filter: self.filter.clone(),
            items: self.items.clone(),
            wide: self.wide.clone(),
            moving: self.moving.clone(),
            fixed: self.fixed.clone(),
            workspace: BvhWorkspace::default(),
            unbounded: self.unbounded.clone(),
            is_unbounded: self.is_unbounded.clone(),
            pairs: Vec::with_capacity(self.pairs.capacity()),
            sorted: self.sorted.clone(),
        }
    }
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase").field("items", &self.items.len()).finish_non_exhaustive()
    }
}
