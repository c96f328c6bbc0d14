//! Inverse dynamics: the recursive Newton–Euler algorithm (RBDA §5.3).
//!
//! In world axes at the nodes' origins, with spatial accelerations.

use std::ops::Range;

use spatial::{Real, Twist, Vec3, Wrench};

use crate::kinematics::{add_joint_force, joint_twist};
use crate::{Kinematics, NO_PARENT, PolarMotion, Tree};

/// Scratch of [`rnea`].
#[derive(Clone, Debug, Default)]
pub struct RneaWorkspace<T: Real> {
    accelerations: Vec<Twist<T>>,
    wrenches: Vec<Wrench<T>>,
}

impl<T: Real> RneaWorkspace<T> {
    /// Scratch for a tree.
    pub fn new(tree: &Tree<T>) -> Self {
        Self { accelerations: vec![Twist::ZERO; tree.len()], wrenches: vec![Wrench::ZERO; tree.len()] }
    }
}

/// Joint forces τ (nv) that give the accelerations `a` (nv; none means zero) at velocities `v` (nv) in the
/// gravitational field `gravity`, after [`crate::forward_kinematics`] and [`crate::velocities`].
///
/// With `a` none this is the bias force: Coriolis, gyroscopic and gravity terms. Armature is not included: it adds
/// `armature · a` on the diagonal.
pub fn rnea<T: Real>(
    tree: &Tree<T>,
    range: Range<usize>,
    kin: &Kinematics<T>,
    v: &[T],
    a: Option<&[T]>,
    gravity: Vec3<T>,
    ws: &mut RneaWorkspace<T>,
    tau: &mut [T],
) {
    for i in range.clone() {
        let acceleration = spatial_acceleration(tree, kin, i, v, a, gravity, &ws.accelerations);
        ws.accelerations[i] = acceleration;
        let here = PolarMotion { start: kin.twists[i], acceleration, ..PolarMotion::ZERO };
        ws.wrenches[i] = here.force_at_start(&kin.frames[i].inertia.about_origin());
    }
    for i in range.rev() {
        let (node, frame, f) = (&tree.nodes[i], &kin.frames[i], ws.wrenches[i]);
        tau[node.v..node.v + node.joint.nv()].fill(T::ZERO);
        add_joint_force(node, frame, f, tau);
        if node.parent != NO_PARENT {
            ws.wrenches[node.parent] += f.shifted_back(frame.offset);
        }
    }
}

/// Classical accelerations of the nodes' origins, and the rates of their angular velocities, at velocities `v` (nv) and joint
/// accelerations `a` (nv), after [`crate::forward_kinematics`] and [`crate::velocities`]. Gravity is not in them: what falls freely
/// accelerates downwards, what stands does not accelerate.
pub fn accelerations<T: Real>(
    tree: &Tree<T>,
    range: Range<usize>,
    kin: &Kinematics<T>,
    v: &[T],
    a: &[T],
    out: &mut [Twist<T>],
) {
    for i in range.clone() {
        let acceleration = spatial_acceleration(tree, kin, i, v, Some(a), Vec3::ZERO, out);
        out[i] = acceleration;
    }
    for i in range {
        let Twist { ang, lin } = kin.twists[i];
        out[i].lin += ang.cross(lin);
    }
}

/// The spatial acceleration of node `i` at its origin.
#[inline(always)]
fn spatial_acceleration<T: Real>(
    tree: &Tree<T>,
    kin: &Kinematics<T>,
    i: usize,
    v: &[T],
    a: Option<&[T]>,
    gravity: Vec3<T>,
    accelerations: &[Twist<T>],
) -> Twist<T> {
    let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
    let above = match node.parent {
        // An accelerated world is a world with gravity.
        NO_PARENT => PolarMotion { acceleration: Twist { ang: Vec3::ZERO, lin: -gravity }, ..PolarMotion::ZERO },
        parent => PolarMotion { start: kin.twists[parent], acceleration: accelerations[parent], ..PolarMotion::ZERO }
            .shifted(frame.offset),
    };
    let acceleration = above.child_acceleration(node.joint, joint_twist(node, frame, v));
    match a {
        Some(a) => acceleration + joint_twist(node, frame, a),
        None => acceleration,
    }
}
