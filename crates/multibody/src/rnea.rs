//! Inverse dynamics: the recursive Newton–Euler algorithm (RBDA §5.3).
//!
//! In world axes at the nodes' origins, with classical accelerations: the acceleration of the origin and the rate
//! of the angular velocity. Linear velocities then never appear (Galilean invariance).

use std::ops::Range;

use spatial::{Real, RigidInertia, Twist, Vec3, Wrench};

use crate::kinematics::{add_joint_force, joint_twist, vec3};
use crate::{JointType, Kinematics, NO_PARENT, Tree};

/// Scratch of [`rnea`].
#[derive(Clone, Debug, Default)]
pub struct RneaWorkspace<T> {
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
        let acceleration = classical_acceleration(tree, kin, i, v, a, gravity, &ws.accelerations);
        ws.accelerations[i] = acceleration;
        ws.wrenches[i] = inertial_wrench(&kin.frames[i].inertia, kin.twists[i].ang, acceleration);
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
    for i in range {
        let acceleration = classical_acceleration(tree, kin, i, v, Some(a), Vec3::ZERO, out);
        out[i] = acceleration;
    }
}

/// Newton and Euler at the centre of mass, the moment taken about the origin.
#[inline(always)]
fn inertial_wrench<T: Real>(body: &RigidInertia<T>, omega: Vec3<T>, acceleration: Twist<T>) -> Wrench<T> {
    let com_acceleration = acceleration.lin + acceleration.ang.cross(body.com) + omega.cross(omega.cross(body.com));
    let lin = com_acceleration * body.mass;
    let ang = body.inertia * acceleration.ang + omega.cross(body.inertia * omega) + body.com.cross(lin);
    Wrench { ang, lin }
}

#[inline(always)]
fn classical_acceleration<T: Real>(
    tree: &Tree<T>,
    kin: &Kinematics<T>,
    i: usize,
    v: &[T],
    a: Option<&[T]>,
    gravity: Vec3<T>,
    accelerations: &[Twist<T>],
) -> Twist<T> {
    let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
    let mut acceleration = if node.parent == NO_PARENT {
        // An accelerated world is a world with gravity.
        Twist { ang: Vec3::ZERO, lin: -gravity }
    } else {
        let omega_p = kin.twists[node.parent].ang;
        let of_parent = accelerations[node.parent];
        let mut here = of_parent.shifted(frame.offset);
        here.lin += omega_p.cross(omega_p.cross(frame.offset));
        match node.joint {
            JointType::Revolute => here.ang += omega_p.cross(frame.axis) * v[node.v],
            JointType::Prismatic => here.lin += omega_p.cross(frame.axis) * (v[node.v] + v[node.v]),
            JointType::Screw => {
                let turn = omega_p.cross(frame.axis) * v[node.v];
                here.ang += turn;
                here.lin += turn * (node.pitch + node.pitch);
            }
            JointType::Ball => here.ang += omega_p.cross(frame.rot * vec3(&v[node.v..])),
            JointType::Free => {}
        }
        here
    };
    if let Some(a) = a {
        acceleration += joint_twist(node, frame, a);
    }
    acceleration
}
