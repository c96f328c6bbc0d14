//! A schedule with all that the passes read: numbers in lanes, and where every lane finds its parent and children.

use spatial::{Quat, Real};

use super::schedule::{Step, schedule};
use crate::kernels::packed::Constants;
use crate::kernels::transposed::{MAX_LANES, idle, set_lane};
use crate::{JointType, NO_PARENT, Tree};

/// Children that are summed into one parent at a time.
pub(super) const SUMMED: usize = 3;

/// A lane of a row. Row 0 is the world's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub row: usize,
    pub lane: usize,
}

/// Where the lanes of a row find their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parents {
    /// In the same lanes of one row.
    Row(usize),
    /// All of them in one slot.
    One(Slot),
    /// Each elsewhere.
    Each([Slot; MAX_LANES]),
}

/// What children leave for their parents in the same lanes of a row: 1 in these lanes, 0 in the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heirs<T> {
    pub row: usize,
    pub lanes: T,
}

/// What children in other lanes leave: the sum over these slots (of the world's row: zero), for the one lane with a 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum<T> {
    pub slots: [Slot; SUMMED],
    pub lanes: T,
}

/// What all children of a row leave. Few rows have more than one of each, which are therefore at hand.
#[derive(Clone, Debug)]
pub(super) struct Legacies<T> {
    pub heirs: Option<Heirs<T>>,
    pub sum: Option<Sum<T>>,
    pub other_heirs: Vec<Heirs<T>>,
    pub other_sums: Vec<Sum<T>>,
}

/// Nodes of one joint type, side by side.
#[derive(Clone, Debug)]
pub(super) struct Row<T> {
    pub joint: JointType,
    /// Whether any frame is turned against its parent's at rest.
    pub turned: bool,
    /// A lane that is not used has a unit inertia at its parent's origin, which does no harm.
    pub constants: Constants<T>,
    /// First coordinates; those of another lane where one is not used.
    pub q: [usize; MAX_LANES],
    pub v: [usize; MAX_LANES],
    pub used: [bool; MAX_LANES],
    pub parents: Parents,
    pub legacies: Legacies<T>,
}

/// The rows of a tree, the world's not among them: row k of the slots is `rows[k - 1]`.
#[derive(Clone, Debug)]
pub(super) struct Plan<T> {
    pub rows: Vec<Row<T>>,
    /// Number of position coordinates.
    pub nq: usize,
    /// Number of degrees of freedom.
    pub nv: usize,
}

impl<T: Real> Plan<T> {
    /// Lays out a tree.
    ///
    /// # Panics
    /// When `T` has more than [`MAX_LANES`] lanes.
    pub fn new(tree: &Tree<f64>) -> Self {
        assert!(T::LANES <= MAX_LANES, "limbs are laid across {MAX_LANES} lanes at most");
        let steps = schedule(tree, T::LANES);
        let mut slots = vec![Slot::default(); tree.len()];
        for (k, step) in steps.iter().enumerate() {
            for (lane, node) in step.iter().enumerate() {
                if let Some(node) = node {
                    slots[*node] = Slot { row: k + 1, lane };
                }
            }
        }
        let rows = steps.iter().map(|step| row(tree, step, &slots)).collect();
        let (nq, nv) = (tree.nq, tree.nv);
        for node in &tree.nodes {
            assert!(
                node.q + node.joint.nq() <= nq && node.v + node.joint.nv() <= nv,
                "expected indices within the tree"
            );
        }
        Self { rows, nq, nv }
    }
}

fn row<T: Real>(tree: &Tree<f64>, step: &Step, slots: &[Slot]) -> Row<T> {
    let some = step.iter().flatten().next().map_or(0, |i| *i);
    let mut row = Row {
        joint: tree.nodes[some].joint,
        turned: false,
        constants: idle(),
        q: [tree.nodes[some].q; MAX_LANES],
        v: [tree.nodes[some].v; MAX_LANES],
        used: [false; MAX_LANES],
        parents: parents(tree, step, slots),
        legacies: legacies(tree, step, slots),
    };
    for (lane, node) in step.iter().enumerate() {
        let Some(node) = node.map(|i| &tree.nodes[i]) else { continue };
        row.turned |= node.rot != Quat::IDENTITY;
        set_lane(&mut row.constants, lane, &Constants::new(node));
        (row.q[lane], row.v[lane], row.used[lane]) = (node.q, node.v, true);
    }
    row
}

fn parents(tree: &Tree<f64>, step: &Step, slots: &[Slot]) -> Parents {
    let parent_of = |i: usize| match tree.nodes[i].parent {
        NO_PARENT => Slot::default(),
        parent => slots[parent],
    };
    let used: Vec<(usize, Slot)> =
        step.iter().enumerate().filter_map(|(lane, node)| node.map(|i| (lane, parent_of(i)))).collect();
    let Some(&(_, first)) = used.first() else { return Parents::One(Slot::default()) };
    if used.iter().all(|(_, slot)| *slot == first) {
        Parents::One(first)
    } else if used.iter().all(|(lane, slot)| *slot == Slot { row: first.row, lane: *lane }) {
        Parents::Row(first.row)
    } else {
        let mut each = [first; MAX_LANES];
        for (lane, slot) in used {
            each[lane] = slot;
        }
        Parents::Each(each)
    }
}

fn legacies<T: Real>(tree: &Tree<f64>, step: &Step, slots: &[Slot]) -> Legacies<T> {
    let mut rows: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut apart = vec![Vec::new(); step.len()];
    for (lane, node) in step.iter().enumerate() {
        let Some(node) = *node else { continue };
        for slot in (node + 1..tree.len()).filter(|i| tree.nodes[*i].parent == node).map(|i| slots[i]) {
            if slot.lane != lane {
                apart[lane].push(slot);
            } else if let Some((_, lanes)) = rows.iter_mut().find(|(row, _)| *row == slot.row) {
                lanes.push(lane);
            } else {
                rows.push((slot.row, vec![lane]));
            }
        }
    }
    // One more in a sum that has room costs less than a row for one lane.
    rows.retain(|(row, lanes)| {
        let [lane] = lanes[..] else { return true };
        let has_room = !apart[lane].len().is_multiple_of(SUMMED);
        if has_room {
            apart[lane].push(Slot { row: *row, lane });
        }
        !has_room
    });
    let mut other_sums = Vec::new();
    for (lane, slots) in apart.iter().enumerate() {
        for some in slots.chunks(SUMMED) {
            let mut padded = [Slot::default(); SUMMED];
            padded[..some.len()].copy_from_slice(some);
            other_sums.push(Sum { slots: padded, lanes: ones(&[lane]) });
        }
    }
    rows.sort_by_key(|(_, lanes)| lanes.len());
    let mut other_heirs: Vec<_> = rows.iter().map(|(row, lanes)| Heirs { row: *row, lanes: ones(lanes) }).collect();
    Legacies { heirs: other_heirs.pop(), sum: other_sums.pop(), other_heirs, other_sums }
}

/// 1 in these lanes, 0 in the others.
fn ones<T: Real>(lanes: &[usize]) -> T {
    let mut x = T::ZERO;
    for lane in lanes {
        x.set_lane(*lane, T::Scalar::ONE);
    }
    x
}
