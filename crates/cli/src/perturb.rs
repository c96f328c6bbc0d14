//! A random start: the same motion from slightly different beginnings.

use multibody::{JointType, Model, integrate};
use sim::State;
use support::SplitMix64;

/// Largest turn of a joint, rad.
const ANGLE: f64 = 0.05;
/// Largest shift of a sliding joint, m.
const SHIFT: f64 = 0.01;
/// Largest velocity, rad/s or m/s.
const VELOCITY: f64 = 0.1;

/// Moves every joint by a small random amount within its range, and adds small velocities. Free bodies stay where they
/// are, so that none starts inside another.
pub fn perturb(model: &Model, state: &mut State, seed: u64) {
    let mut random = SplitMix64(seed);
    let mut turn = vec![0.0; model.nv()];
    for node in &model.tree.nodes {
        let moves = match node.joint {
            JointType::Prismatic => &[SHIFT][..],
            JointType::Revolute | JointType::Screw => &[ANGLE],
            JointType::Ball => &[ANGLE; 3],
            JointType::Free => &[],
        };
        for (turn, size) in turn[node.v..].iter_mut().zip(moves) {
            *turn = size * random.symmetric();
        }
    }
    integrate(&model.tree, &mut state.q, &turn, 1.0);
    for joint in model.joints.iter().filter(|joint| joint.kind.nq() == 1) {
        if let Some((low, high)) = joint.range {
            state.q[joint.q] = state.q[joint.q].max(low).min(high);
        }
    }
    for v in &mut state.v {
        *v += VELOCITY * random.symmetric();
    }
}
