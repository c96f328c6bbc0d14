//! Near pairs of large scenes, by a tree of bounding boxes.

use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use spatial::Vec3;

use crate::pairs::{Allowed, Filter};

/// Changes of the tree after which it is built anew, so that it stays good while things move.
const REBUILD_EVERY: u32 = 256;

/// How much wider on every side than an item's box the tree's is, as a part of the sum of its half extents: what moves less
/// leaves the tree as it is.
const SPARE: f64 = 0.05;

/// A bounding-volume hierarchy over the items. What it returns does not depend on the state of the tree: that proposes pairs,
/// and the boxes of the step decide.
pub(crate) struct BroadPhase {
    filter: Filter,
    /// Geom of each item.
    geoms: Vec<usize>,
    /// The items' boxes in this step, and those that the tree has, wider.
    boxes: Vec<Aabb>,
    wide: Vec<Aabb>,
    tree: Bvh,
    workspace: BvhWorkspace,
    /// How often the tree changed.
    changes: u32,
    /// Items without bounds: planes.
    unbounded: Vec<u32>,
    /// The pairs whose boxes in the tree meet, as they are found, and in order.
    pairs: Vec<[u32; 2]>,
    sorted: Sorted,
}

impl BroadPhase {
    pub fn new(filter: Filter, geoms: &[usize]) -> Self {
        Self {
            geoms: geoms.to_vec(),
            filter,
            boxes: vec![EVERYWHERE; geoms.len()],
            wide: vec![EVERYWHERE; geoms.len()],
            tree: Bvh::new(),
            workspace: BvhWorkspace::default(),
            changes: 0,
            unbounded: vec![],
            pairs: vec![],
            sorted: Sorted::default(),
        }
    }

    /// Visits the allowed pairs whose boxes meet, in ascending order. `extents(i)` is the centre and half extents of
    /// item i, or `None` when it is unbounded; `near(a)` is for partners of item a a sharper test than that of the boxes.
    pub fn each<N: Fn(usize) -> bool>(
        &mut self,
        extents: impl Fn(usize) -> Option<(Vec3<f64>, Vec3<f64>)>,
        near: impl Fn(usize) -> N,
        visit: &mut impl FnMut(usize, usize, Allowed),
    ) {
        self.update(extents);
        let Self { filter, geoms, boxes, sorted, .. } = self;
        for a in 0..geoms.len() {
            let near = near(a);
            for &b in sorted.partners(a) {
                if near(b as usize)
                    && boxes[a].intersects(&boxes[b as usize])
                    && let Some(allowed) = filter.allowed(geoms[a], geoms[b as usize])
                {
                    visit(a, b as usize, allowed);
                }
            }
        }
    }

    /// Takes the boxes of this step, and finds the pairs anew if one of them has left its box in the tree.
    fn update(&mut self, extents: impl Fn(usize) -> Option<(Vec3<f64>, Vec3<f64>)>) {
        let Self { filter, geoms, boxes, wide, tree, unbounded, .. } = self;
        let is_first = tree.is_empty();
        let mut has_changed = is_first;
        unbounded.clear();
        for i in 0..geoms.len() {
            let Some((centre, half)) = extents(i) else {
                unbounded.push(i as u32);
                continue;
            };
            if !is_first && filter.is_fixed(geoms[i]) {
                continue;
            }
            let spare = SPARE * (half.x + half.y + half.z);
            let half = Vector::new(half.x, half.y, half.z);
            // What is nowhere goes far away, where it meets nothing that is somewhere.
            let centre = if centre.is_finite() { centre } else { Vec3::new(1e30, 1e30, 1e30) };
            let centre = Vector::new(centre.x, centre.y, centre.z);
            boxes[i] = Aabb::new(centre - half, centre + half);
            if is_first || !fits(&boxes[i], &wide[i], spare) {
                wide[i] = boxes[i].loosened(spare);
                tree.insert_or_update_partially(wide[i], i as u32, 0.0);
                has_changed = true;
            }
        }
        if has_changed {
            self.find_pairs();
        }
    }

    /// Finds the pairs whose boxes in the tree meet.
    fn find_pairs(&mut self) {
        let Self { filter, geoms, tree, workspace, changes, unbounded, pairs, sorted, .. } = self;
        pairs.clear();
        if changes.is_multiple_of(REBUILD_EVERY) {
            tree.rebuild(workspace, BvhBuildStrategy::Binned);
        }
        *changes = changes.wrapping_add(1);
        tree.refit(workspace);
        tree.traverse_bvtt_single_tree::<false>(workspace, &mut |a, b| {
            if !(filter.is_fixed(geoms[a as usize]) && filter.is_fixed(geoms[b as usize])) {
                pairs.push(if a < b { [a, b] } else { [b, a] });
            }
        });
        for &a in unbounded.iter() {
            pairs.extend((0..geoms.len() as u32).filter(|b| !unbounded.contains(b)).map(|b| [a.min(b), a.max(b)]));
        }
        sorted.take(pairs, geoms.len());
    }
}

/// Whether the second box contains the first and is not much wider than `spare` makes it, as it may be of something that was
/// fast.
fn fits(inner: &Aabb, outer: &Aabb, spare: f64) -> bool {
    let room = outer.extents() - inner.extents();
    outer.contains(inner) && room.max_element() <= 4.0 * spare
}

/// The box of what has no bounds.
const EVERYWHERE: Aabb = Aabb { mins: Vector::splat(f64::NEG_INFINITY), maxs: Vector::splat(f64::INFINITY) };

/// Pairs in ascending order, by counting: there are few for each first item.
#[derive(Clone, Debug, Default)]
struct Sorted {
    /// Where the partners of each item end.
    ends: Vec<u32>,
    partners: Vec<u32>,
}

impl Sorted {
    /// Sorts `pairs` of `items` items.
    fn take(&mut self, pairs: &[[u32; 2]], items: usize) {
        let Self { ends, partners } = self;
        ends.clear();
        ends.resize(items, 0);
        pairs.iter().for_each(|[a, _]| ends[*a as usize] += 1);
        let mut sum = 0;
        for end in ends.iter_mut() {
            // Where they start, for now.
            sum += std::mem::replace(end, sum);
        }
        partners.resize(pairs.len(), 0);
        for [a, b] in pairs {
            let end = &mut ends[*a as usize];
            partners[*end as usize] = *b;
            *end += 1;
        }
        (0..items).for_each(|a| {
            let range = self.range(a);
            self.partners[range].sort_unstable();
        });
    }

    fn range(&self, a: usize) -> std::ops::Range<usize> {
        let start = if a == 0 { 0 } else { self.ends[a - 1] };
        start as usize..self.ends[a] as usize
    }

    /// The partners of item `a`, ascending.
    fn partners(&self, a: usize) -> &[u32] {
        &self.partners[self.range(a)]
    }
}

impl Clone for BroadPhase {
    fn clone(&self) -> Self {
        Self {
            filter: self.filter.clone(),
            geoms: self.geoms.clone(),
            boxes: self.boxes.clone(),
            wide: self.wide.clone(),
            tree: self.tree.clone(),
            workspace: BvhWorkspace::default(),
            changes: self.changes,
            unbounded: self.unbounded.clone(),
            pairs: Vec::with_capacity(self.pairs.capacity()),
            sorted: self.sorted.clone(),
        }
    }
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase").field("items", &self.geoms.len()).finish_non_exhaustive()
    }
}
