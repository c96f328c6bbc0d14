//! Near pairs of large scenes, by a tree of bounding boxes.

use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use spatial::Vec3;

use crate::pairs::{Allowed, Filter};

/// Calls after which the tree is built anew, so that it stays good while things move.
const REBUILD_EVERY: u32 = 256;

/// A bounding-volume hierarchy over the items. What it returns does not depend on the state of the tree.
pub(crate) struct BroadPhase {
    filter: Filter,
    /// Geom of each item.
    geoms: Vec<usize>,
    tree: Bvh,
    workspace: BvhWorkspace,
    calls: u32,
    /// Items without bounds: planes.
    unbounded: Vec<u32>,
    /// The pairs of this step whose boxes meet, as they are found, and in order.
    pairs: Vec<[u32; 2]>,
    sorted: Sorted,
}

impl BroadPhase {
    pub fn new(filter: Filter, geoms: &[usize]) -> Self {
        Self {
            geoms: geoms.to_vec(),
            filter,
            tree: Bvh::new(),
            workspace: BvhWorkspace::default(),
            calls: 0,
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
        let Self { filter, geoms, tree, workspace, calls, unbounded, pairs, sorted } = self;
        unbounded.clear();
        pairs.clear();
        let first = tree.is_empty();
        for i in 0..geoms.len() {
            let Some((centre, half)) = extents(i) else {
                unbounded.push(i as u32);
                continue;
            };
            if !first && filter.is_fixed(geoms[i]) {
                continue;
            }
            let half = Vector::new(half.x, half.y, half.z);
            // What is nowhere goes far away, where it meets nothing that is somewhere.
            let centre = if centre.is_finite() { centre } else { Vec3::new(1e30, 1e30, 1e30) };
            let centre = Vector::new(centre.x, centre.y, centre.z);
            tree.insert_or_update_partially(Aabb::new(centre - half, centre + half), i as u32, 0.0);
        }
        if *calls % REBUILD_EVERY == 0 {
            tree.rebuild(workspace, BvhBuildStrategy::Binned);
        }
        *calls = calls.wrapping_add(1);
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
        for a in 0..geoms.len() {
            let near = near(a);
            for &b in sorted.partners(a) {
                if near(b as usize)
                    && let Some(allowed) = filter.allowed(geoms[a], geoms[b as usize])
                {
                    visit(a, b as usize, allowed);
                }
            }
        }
    }
}

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
            tree: self.tree.clone(),
            workspace: BvhWorkspace::default(),
            calls: self.calls,
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
