//! Which nodes of a tree are worked on side by side.

use crate::{JointType, NO_PARENT, Tree};

/// Nodes of one joint type in lanes, none where a lane has nothing to do.
pub(super) type Step = Vec<Option<usize>>;

/// From this many nodes on, the next type is chosen without looking ahead, which takes a time cubic in the nodes.
const LOOK_AHEAD: usize = 256;

/// The nodes in few steps, parents in earlier ones than their children: list scheduling, longest paths to a leaf first.
///
/// The child with the longest path goes on in its parent's lane, so that limbs of one shape run down the lanes in step.
/// Where nodes of several joint types are ready, each type is tried, what is left completed by the fullest step next,
/// and the type with the fewest steps taken.
pub(super) fn schedule<T>(tree: &Tree<T>, lanes: usize) -> Vec<Step> {
    let mut order = Order::new(tree, lanes);
    loop {
        let types = order.ready_types(tree);
        let Some(mut best) = order.fullest(tree, &types) else { break };
        if types.len() > 1 && tree.nodes.len() < LOOK_AHEAD {
            let mut fewest = usize::MAX;
            for &joint in &types {
                let steps = order.steps_after(tree, joint);
                if steps < fewest {
                    (best, fewest) = (joint, steps);
                }
            }
        }
        order.take(tree, best);
    }
    order.steps
}

/// A node whose parent has been placed.
#[derive(Clone, Copy, Debug)]
struct Ready {
    node: usize,
    /// The parent's lane.
    lane: usize,
}

/// A schedule being made.
#[derive(Clone, Debug)]
struct Order {
    lanes: usize,
    /// Nodes on the longest path to a leaf, this one included.
    height: Vec<usize>,
    /// Whether it is the child with the longest path, which goes on in the parent's lane.
    heir: Vec<bool>,
    children: Vec<Vec<usize>>,
    ready: Vec<Ready>,
    steps: Vec<Step>,
}

impl Order {
    fn new<T>(tree: &Tree<T>, lanes: usize) -> Self {
        let n = tree.nodes.len();
        let (mut height, mut children) = (vec![1; n], vec![Vec::new(); n]);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            if node.parent != NO_PARENT {
                height[node.parent] = height[node.parent].max(height[i] + 1);
                children[node.parent].push(i);
            }
        }
        let mut heir = vec![false; n];
        for siblings in &mut children {
            siblings.reverse();
            // Backwards, for of equals `max_by_key` takes the last.
            if let Some(&i) = siblings.iter().rev().max_by_key(|i| height[**i]) {
                heir[i] = true;
            }
        }
        let roots = (0..n).filter(|i| tree.nodes[*i].parent == NO_PARENT);
        let ready = roots.map(|node| Ready { node, lane: 0 }).collect();
        Self { lanes, height, heir, children, ready, steps: Vec::new() }
    }

    /// The joint types of the nodes that are ready.
    fn ready_types<T>(&self, tree: &Tree<T>) -> Vec<JointType> {
        let mut types = Vec::new();
        for ready in &self.ready {
            let joint = tree.nodes[ready.node].joint;
            if !types.contains(&joint) {
                types.push(joint);
            }
        }
        types
    }

    /// The type that fills most lanes, the longest path to a leaf where several do.
    fn fullest<T>(&self, tree: &Tree<T>, types: &[JointType]) -> Option<JointType> {
        let worth = |joint: JointType| {
            let of_type = self.ready.iter().filter(|r| tree.nodes[r.node].joint == joint);
            let highest = of_type.clone().map(|r| self.height[r.node]).max();
            (of_type.count().min(self.lanes), highest)
        };
        types.iter().copied().max_by_key(|joint| worth(*joint))
    }

    /// How many steps there are in the end if nodes of this type come next.
    fn steps_after<T>(&self, tree: &Tree<T>, joint: JointType) -> usize {
        let mut trial = self.clone();
        trial.take(tree, joint);
        while let Some(next) = trial.fullest(tree, &trial.ready_types(tree)) {
            trial.take(tree, next);
        }
        trial.steps.len()
    }

    /// One more step, of ready nodes of this type.
    fn take<T>(&mut self, tree: &Tree<T>, joint: JointType) {
        let (mut chosen, mut rest): (Vec<Ready>, Vec<Ready>) =
            self.ready.iter().partition(|r| tree.nodes[r.node].joint == joint);
        chosen.sort_by_key(|r| (std::cmp::Reverse((self.height[r.node], self.heir[r.node])), r.node));
        rest.extend(chosen.drain(self.lanes.min(chosen.len())..));
        let step = self.seat(&chosen);
        for (lane, node) in step.iter().enumerate() {
            if let Some(node) = node {
                rest.extend(self.children[*node].iter().map(|&node| Ready { node, lane }));
            }
        }
        self.ready = rest;
        self.steps.push(step);
    }

    /// Lanes for nodes: heirs first, each in the lane of its parent if it is free.
    fn seat(&self, nodes: &[Ready]) -> Step {
        let mut step = vec![None; self.lanes];
        let mut homeless = Vec::new();
        let (heirs, others): (Vec<Ready>, Vec<Ready>) = nodes.iter().partition(|r| self.heir[r.node]);
        for ready in heirs.into_iter().chain(others) {
            if step[ready.lane].is_none() {
                step[ready.lane] = Some(ready.node);
            } else {
                homeless.push(ready.node);
            }
        }
        for node in homeless {
            if let Some(free) = step.iter().position(Option::is_none) {
                step[free] = Some(node);
            }
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;

    fn tree(nodes: &[(usize, JointType)]) -> Tree<f64> {
        let nodes = nodes.iter().map(|&(parent, joint)| Node {
            parent,
            joint,
            q: 0,
            v: 0,
            pos: spatial::Vec3::ZERO,
            rot: spatial::Quat::IDENTITY,
            axis: spatial::Vec3::ZERO,
            pitch: 0.0,
            q_ref: 0.0,
            inertia: spatial::RigidInertia::ZERO,
        });
        Tree { nodes: nodes.collect(), ..Tree::default() }
    }

    /// Root, spine, neck, two arms, two legs.
    fn person() -> Tree<f64> {
        use JointType::{Ball, Free, Revolute};
        tree(&[
            (NO_PARENT, Free),
            (0, Ball),
            (1, Ball),
            (1, Ball),
            (3, Revolute),
            (1, Ball),
            (5, Revolute),
            (0, Ball),
            (7, Revolute),
            (8, Ball),
            (0, Ball),
            (10, Revolute),
            (11, Ball),
        ])
    }

    #[test]
    fn a_person_takes_as_many_steps_as_it_is_high_and_one() {
        let steps = schedule(&person(), 4);
        assert_eq!(steps.len(), 5, "{steps:?}");
        assert_eq!(steps[0], [Some(0), None, None, None]);
        // Elbows and knees together, ankles in the lanes of their knees.
        let hinges: Vec<usize> = (0..4).map(|k| steps[3][k].unwrap()).collect();
        let mut sorted = hinges.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [4, 6, 8, 11]);
        for (ankle, knee) in [(9, 8), (12, 11)] {
            let lane = hinges.iter().position(|i| *i == knee).unwrap();
            assert_eq!(steps[4][lane], Some(ankle));
        }
    }

    #[test]
    fn every_node_comes_once_and_after_its_parent() {
        let tree = person();
        for lanes in 1..9 {
            let steps = schedule(&tree, lanes);
            let step_of = |i: usize| steps.iter().position(|s| s.contains(&Some(i))).unwrap();
            assert_eq!(steps.iter().flatten().flatten().count(), tree.nodes.len());
            for (i, node) in tree.nodes.iter().enumerate() {
                assert!(node.parent == NO_PARENT || step_of(node.parent) < step_of(i));
            }
            for step in &steps {
                let mut types = step.iter().flatten().map(|i| tree.nodes[*i].joint);
                let first = types.next();
                assert!(types.all(|t| Some(t) == first));
            }
        }
    }

    #[test]
    fn a_chain_stays_in_its_lane() {
        let chain: Vec<_> = (0..5).map(|i: usize| (i.wrapping_sub(1), JointType::Ball)).collect();
        let steps = schedule(&tree(&chain), 4);
        assert!(steps.iter().enumerate().all(|(i, s)| s[..] == [Some(i), None, None, None]), "{steps:?}");
    }
}
