//! Motions and forces about a fixed point.

use spatial::{RigidInertia, Twist, Vec3, Wrench};

use super::{ImplicitFactor, Kind, Stage};
use crate::kinematics::{joint_axis, set3};
use crate::{JointType, Kinematics, Node, NodeFrame, Tree};

/// Velocity and acceleration of a body, about the fixed point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    pub velocity: Twist<f64>,
    pub acceleration: Twist<f64>,
}

impl Motion {
    #[inline(always)]
    pub fn at_rest(gravity: Vec3<f64>) -> Self {
        // An accelerated world is a world with gravity.
        let acceleration = Twist { ang: Vec3::ZERO, lin: -gravity };
        Self { velocity: Twist::ZERO, acceleration }
    }

    /// The child's motion, when a joint adds the velocity `rate` and its rate of change `change` along its axes, which are
    /// carried around by `swing` (V × `rate`).
    #[inline(always)]
    fn add(&self, rate: Twist<f64>, change: Twist<f64>, swing: Twist<f64>) -> Self {
        Self { velocity: self.velocity + rate, acceleration: self.acceleration + change + swing }
    }
}

/// [`ImplicitFactor::inverse_dynamics`]
#[inline(always)]
pub(super) fn inverse_dynamics(
    factor: &mut ImplicitFactor,
    tree: &Tree<f64>,
    kin: &Kinematics<f64>,
    (v, a): (&[f64], &[f64]),
    gravity: Vec3<f64>,
    tau: &mut [f64],
) {
    let Some(root) = kin.frames.first() else { return };
    let origin = root.pos;
    factor.world = Motion::at_rest(gravity);
    for k in 0..factor.stages.len() {
        let stage = factor.stages[k];
        let (node, frame) = (&tree.nodes[stage.node], &kin.frames[stage.node]);
        let arm = origin - frame.pos;
        let before = match stage.parent {
            Some(parent) => factor.motions[parent],
            None => factor.world,
        };
        let axes = axes(&stage, node, frame, arm);
        let motion = if stage.kind == Kind::Single {
            let (axis, rate) = (axes[0], v[stage.dof]);
            let swing = cross(before.velocity, axis);
            (factor.axes[k][0], factor.swings[k]) = (axis, swing);
            before.add(axis * rate, axis * a[stage.dof], swing * rate)
        } else {
            factor.axes[k] = axes;
            let rate = along(&axes, &v[stage.dof..]);
            before.add(rate, along(&axes, &a[stage.dof..]), cross(before.velocity, rate))
        };
        factor.motions[k] = motion;
        if stage.has_body {
            let inertia = about(frame, -arm);
            let h = inertia.momentum(motion.velocity);
            let f = inertia.momentum(motion.acceleration) + cross_force(motion.velocity, h);
            factor.momenta[k] = h;
            factor.own_forces[k] = f;
            factor.forces[k] = f;
        } else {
            factor.forces[k] = Wrench::ZERO;
        }
    }
    for k in (0..factor.stages.len()).rev() {
        let (stage, axes, f) = (factor.stages[k], &factor.axes[k], factor.forces[k]);
        match stage.kind {
            Kind::Single => tau[stage.dof] = axes[0].dot(f),
            _ => set3(&mut tau[stage.dof..], Vec3::new(axes[0].dot(f), axes[1].dot(f), axes[2].dot(f))),
        }
        if let Some(parent) = stage.parent {
            factor.forces[parent] += f;
        }
    }
}

/// S of a stage about the fixed point, which lies at `arm` from the node's origin; the first alone where there is one.
#[inline(always)]
fn axes(stage: &Stage, node: &Node<f64>, frame: &NodeFrame<f64>, arm: Vec3<f64>) -> [Twist<f64>; 3] {
    if stage.kind == Kind::Single {
        return [joint_axis(node, frame, 0).shifted(arm), Twist::ZERO, Twist::ZERO];
    }
    let first = if node.joint == JointType::Free && stage.kind == Kind::Turn { 3 } else { 0 };
    let [x, y, z] =
        [joint_axis(node, frame, first), joint_axis(node, frame, first + 1), joint_axis(node, frame, first + 2)];
    [x.shifted(arm), y.shifted(arm), z.shifted(arm)]
}

/// S x of three degrees of freedom.
#[inline(always)]
fn along(axes: &[Twist<f64>; 3], x: &[f64]) -> Twist<f64> {
    axes[0] * x[0] + axes[1] * x[1] + axes[2] * x[2]
}

/// The inertia of a node's bodies about the fixed point, from which its origin is at `pos`.
#[inline(always)]
pub(super) fn about(frame: &NodeFrame<f64>, pos: Vec3<f64>) -> RigidInertia<f64> {
    RigidInertia { com: frame.inertia.com + pos, ..frame.inertia }
}

/// The motion's cross product a × b.
#[inline(always)]
pub(super) fn cross(a: Twist<f64>, b: Twist<f64>) -> Twist<f64> {
    Twist { ang: a.ang.cross(b.ang), lin: a.ang.cross(b.lin) + a.lin.cross(b.ang) }
}

/// The force's cross product a ×* f.
#[inline(always)]
pub(super) fn cross_force(a: Twist<f64>, f: Wrench<f64>) -> Wrench<f64> {
    Wrench { ang: a.ang.cross(f.ang) + a.lin.cross(f.lin), lin: a.ang.cross(f.lin) }
}
