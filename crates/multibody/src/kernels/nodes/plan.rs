//! Which nodes are side by side, and where every node finds its numbers.

use spatial::{Quat, Real, Vec3};

use super::{NUMBERS, REACH};
use crate::kernels::packed::Constants;
use crate::kernels::transposed::{MAX_LANES, idle, set_lane};
use crate::wide::Wide;
use crate::{JointType, NO_PARENT, Tree};

/// Nodes of one joint type, side by side.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub joint: JointType,
    /// Whether any frame is turned against its parent's at rest.
    pub turned: bool,
    pub constants: Constants<Wide>,
    /// Where the first child hangs that does not slide, in the node's axes.
    pub reach: Vec3<Wide>,
    /// First coordinates; those of another lane where one is not used.
    pub q: [usize; MAX_LANES],
    pub v: [usize; MAX_LANES],
    /// First degrees of freedom of rotations.
    pub rotation: [usize; MAX_LANES],
    pub used: [bool; MAX_LANES],
}

impl Row {
    /// Whether the joints have one degree of freedom.
    pub fn has_axis(&self) -> bool {
        self.joint.nv() == 1
    }
}

/// Where a node's numbers begin, each a row of lanes after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its own.
    pub node: usize,
    /// Its parent's; of a root its own.
    pub parent: usize,
    /// Of its offset: with its parent's reach, or [`apart`](Self::apart).
    pub reach: usize,
    /// Whether the offset is no reach of the parent's: that of a sliding joint, of a second child that does not slide.
    pub apart: bool,
    /// Whether it has children.
    pub inherits: bool,
    /// Whether a sibling has left its inertia before. Leaves come first.
    pub adds: bool,
}

/// A tree in rows.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub rows: Vec<Row>,
    /// Of every node.
    pub places: Vec<Place>,
    /// The number of rows of offsets: those of `rows`, those apart, and the roots', which is nobody's and stays zero.
    pub reaches: usize,
    /// Number of position coordinates.
    pub nq: usize,
    /// Number of degrees of freedom.
    pub nv: usize,
}

/// A row and a lane in it.
type Slot = (usize, usize);

impl Plan {
    /// Lays out a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        let (nq, nv) = (tree.nq, tree.nv);
        for node in &tree.nodes {
            assert!(
                node.q + node.joint.nq() <= nq && node.v + node.joint.nv() <= nv,
                "expected indices within the tree"
            );
            assert!(node.joint != JointType::Free || node.parent == NO_PARENT, "expected free joints at roots");
        }
        let groups = groups(tree);
        let mut slots = vec![(0, 0); tree.len()];
        for (row, group) in groups.iter().enumerate() {
            for (lane, node) in group.iter().enumerate() {
                slots[*node] = (row, lane);
            }
        }
        let (places, reaches) = places(tree, &slots, groups.len());
        let rows = groups.iter().map(|group| row(tree, group, &places)).collect();
        Self { rows, places, reaches, nq, nv }
    }
}

/// Nodes of one joint type, as many as there are lanes, in the order of the tree.
fn groups(tree: &Tree<f64>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // Of every joint type the group that has room.
    let mut open: Vec<usize> = Vec::new();
    for (i, node) in tree.nodes.iter().enumerate() {
        let found = open.iter().position(|g| tree.nodes[groups[*g][0]].joint == node.joint);
        if let Some(k) = found {
            groups[open[k]].push(i);
            if groups[open[k]].len() == Wide::LANES {
                open.swap_remove(k);
            }
        } else {
            open.push(groups.len());
            groups.push(vec![i]);
        }
    }
    groups
}

/// Where nodes find their numbers, and the number of rows of offsets.
fn places(tree: &Tree<f64>, slots: &[Slot], rows: usize) -> (Vec<Place>, usize) {
    let first = |(row, lane): Slot, numbers: usize| row * numbers * Wide::LANES + lane;
    let (mut has_first, mut apart) = (vec![false; tree.len()], 0);
    let mut places: Vec<Place> = Vec::new();
    let mut roots = Vec::new();
    let nothing = Place { node: 0, parent: 0, reach: 0, apart: false, inherits: false, adds: false };
    for (i, (node, slot)) in tree.nodes.iter().zip(slots).enumerate() {
        let own = first(*slot, NUMBERS);
        if node.parent == NO_PARENT {
            roots.push(i);
            places.push(Place { node: own, parent: own, reach: 0, ..nothing });
            continue;
        }
        let parent = first(slots[node.parent], NUMBERS);
        if node.joint.slides() || std::mem::replace(&mut has_first[node.parent], true) {
            let slot = (rows + apart / Wide::LANES, apart % Wide::LANES);
            places.push(Place { node: own, parent, reach: first(slot, REACH), apart: true, ..nothing });
            apart += 1;
        } else {
            places.push(Place { node: own, parent, reach: first(slots[node.parent], REACH), ..nothing });
        }
    }
    let nobodys = rows + apart.div_ceil(Wide::LANES);
    for root in roots {
        places[root].reach = first((nobodys, 0), REACH);
    }
    for i in (0..tree.len()).rev() {
        if tree.nodes[i].parent != NO_PARENT {
            places[i].adds = std::mem::replace(&mut places[tree.nodes[i].parent].inherits, true);
        }
    }
    (places, nobodys + 1)
}

fn row(tree: &Tree<f64>, group: &[usize], places: &[Place]) -> Row {
    let first = &tree.nodes[group[0]];
    let rotation = |i: usize| tree.nodes[i].rotation().unwrap_or(tree.nodes[i].v);
    let mut row = Row {
        joint: first.joint,
        turned: false,
        constants: idle(),
        reach: Vec3::ZERO,
        q: [first.q; MAX_LANES],
        v: [first.v; MAX_LANES],
        rotation: [rotation(group[0]); MAX_LANES],
        used: [false; MAX_LANES],
    };
    for (lane, &i) in group.iter().enumerate() {
        let node = &tree.nodes[i];
        row.turned |= node.rot != Quat::IDENTITY;
        set_lane(&mut row.constants, lane, &Constants::new(node));
        (row.q[lane], row.v[lane], row.used[lane]) = (node.q, node.v, true);
        row.rotation[lane] = rotation(i);
        if let Some(child) = (i + 1..tree.len()).find(|c| tree.nodes[*c].parent == i && !places[*c].apart) {
            let Vec3 { x, y, z } = tree.nodes[child].pos;
            row.reach.x.set_lane(lane, x);
            row.reach.y.set_lane(lane, y);
            row.reach.z.set_lane(lane, z);
        }
    }
    row
}
