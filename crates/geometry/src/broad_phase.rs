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
const SPARE: f64 = 0.1;

/// Items for each of which one may have changed for pairs to be found of these alone.
const ITEMS_PER_CHANGE: usize = 2;

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
    /// The items that have new boxes in the tree, and whether each has one.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// The pairs whose boxes in the tree meet, as they are found, and in order.
    pairs: Vec<[u32; 2]>,
    sorted: Sorted,
    /// The pairs before.
    before: Rows,
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

    /// Puts it in order after the boxes of these items have changed, those of other trees among them.
    fn refresh(&mut self, changed: &[u32], workspace: &mut BvhWorkspace) {
        if !std::mem::take(&mut self.is_changed) {
            return;
        }
        let is_old = self.changes.is_multiple_of(REBUILD_EVERY);
        self.changes = self.changes.wrapping_add(1);
        if is_old {
            self.bvh.rebuild(workspace, BvhBuildStrategy::Binned);
        }
        if is_old || changed.len() > self.bvh.leaf_count() as usize / ITEMS_PER_CHANGE {
            self.bvh.refit(workspace);
        } else {
            self.bvh.refit_partial(&[], changed);
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
            changed: vec![],
            is_changed: vec![false; items.len()],
            before: Rows::default(),
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
    /// `is_above(plane, box)` tells whether all of the box is out of reach of a plane that stands still; `is_known` whether `near` are
    /// the pairs of the last call, since which nothing fixed has moved.
    pub fn find_pairs(
        &mut self,
        boxes: &[Aabb],
        is_above: impl Fn(u32, &Aabb) -> bool,
        is_known: bool,
        near: &mut Rows,
        interrupt: &Interrupt,
    ) -> bool {
        let is_fixed_changed = self.take_boxes(boxes);
        self.moving.refresh(&self.changed, &mut self.workspace);
        self.fixed.refresh(&self.changed, &mut self.workspace);
        let are_few = ITEMS_PER_CHANGE * self.changed.len() < self.items.len() && near.len() <= MAX_NEAR_PAIRS / 2;
        let keeps = is_known && near.count() == self.items.len() && !is_fixed_changed && are_few;
        self.before.swap(near);
        let is_ended = self.propose(keeps, is_above, interrupt);
        if !is_ended || self.pairs.len() > MAX_NEAR_PAIRS || interrupt.is_raised() {
            (0..self.items.len()).for_each(|_| near.end_row());
            return false;
        }
        self.sorted.take(&self.pairs, self.items.len());
        self.allow(keeps, near, interrupt)
    }

    /// Notes which items need new boxes in the trees, and gives them; whether one that is fixed does.
    fn take_boxes(&mut self, boxes: &[Aabb]) -> bool {
        self.changed.iter().for_each(|&i| self.is_changed[i as usize] = false);
        self.changed.clear();
        let mut is_fixed_changed = false;
        for (i, (inner, outer)) in boxes.iter().zip(self.wide.iter_mut()).enumerate() {
            if fits(inner, outer) || self.is_unbounded[i] {
                continue;
            }
            *outer = inner.loosened(spare(inner));
            let is_fixed = self.filter.is_fixed(self.items[i].0);
            is_fixed_changed |= is_fixed;
            let tree = if is_fixed { &mut self.fixed } else { &mut self.moving };
            tree.take(i as u32, *outer);
            self.changed.push(i as u32);
            self.is_changed[i] = true;
        }
        is_fixed_changed
    }

    /// Lists the pairs whose boxes in the trees meet, with `keeps` those of items with new boxes alone; false where there are too many or
    /// `interrupt` is raised.
    fn propose(&mut self, keeps: bool, is_above: impl Fn(u32, &Aabb) -> bool, interrupt: &Interrupt) -> bool {
        let Self { filter, items, moving, fixed, workspace, wide, unbounded, is_unbounded, pairs, .. } = self;
        let (changed, is_changed) = (&*self.changed, &*self.is_changed);
        let is_fixed = |item: u32| filter.is_fixed(items[item as usize].0);
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
            if keeps {
                for &a in changed {
                    // Of two that have changed the earlier one finds the pair.
                    let finds = |b: &u32| *b > a || *b < a && !is_changed[*b as usize];
                    moving.bvh.intersect_aabb(&wide[a as usize]).filter(finds).for_each(|b| take(a, b));
                    fixed.bvh.intersect_aabb(&wide[a as usize]).for_each(|b| take(a, b));
                }
                return;
            }
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
            let ordered = |b: u32| [a.min(b), a.max(b)];
            if keeps {
                pairs.extend(changed.iter().copied().filter(meets).take(remaining).map(ordered));
            } else {
                pairs.extend((0..items.len() as u32).filter(meets).take(remaining).map(ordered));
            }
        }
        is_ended && !is_interrupted
    }

    /// Replaces `near` by those of the pairs in order that are allowed, with `keeps` beside the pairs before of items whose boxes have stayed;
    /// false once `interrupt` is raised.
    fn allow(&mut self, keeps: bool, near: &mut Rows, interrupt: &Interrupt) -> bool {
        let Self { filter, items, sorted, before, is_changed, .. } = self;
        let (mut looked_at, mut is_interrupted) = (0, false);
        near.reserve_as(before);
        for b in 0..items.len() {
            if near.len() >= looked_at + PAIRS_PER_LOOK {
                looked_at = near.len();
                is_interrupted |= interrupt.is_raised();
            }
            if is_interrupted {
                near.end_row();
                continue;
            }
            let kept = if keeps && !is_changed[b] { before.row(b) } else { &[] };
            let mut kept = kept.iter().filter(|partner| !is_changed[partner.item as usize]).peekable();
            for &a in sorted.partners(b) {
                while let Some(partner) = kept.next_if(|partner| partner.item < a) {
                    near.push_again(partner);
                }
                if let Some(allowed) = filter.allowed(items[a as usize].0, items[b].0) {
                    near.push(a as usize, b, items, allowed);
                }
            }
            kept.for_each(|partner| near.push_again(partner));
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
            changed: self.changed.clone(),
            is_changed: self.is_changed.clone(),
            pairs: Vec::with_capacity(self.pairs.capacity()),
            sorted: self.sorted.clone(),
            before: self.before.clone(),
        }
    }
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase").field("items", &self.items.len()).finish_non_exhaustive()
    }
}
