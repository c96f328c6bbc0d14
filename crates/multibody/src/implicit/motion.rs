//! Motions and forces about a fixed point.

use spatial::{Mat3, RigidInertia, Sym3, Twist, Vec3, Wrench};

use super::{ImplicitFactor, Kind, Stage};
use crate::kinematics::{set3, vec3};
use crate::placement::{Placed, Placement, Traits};
use crate::{JointType, Kinematics, NO_PARENT, Node, NodeFrame, Tree};

/// Velocity and acceleration of a body, about the fixed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub velocity: Twist<f64>,
    pub acceleration: Twist<f64>,
}

impl Motion {
    /// None.
    pub const ZERO: Self = Self { velocity: Twist::ZERO, acceleration: Twist::ZERO };
}

/// How a stage moves and what its body feels, about the fixed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub motion: Motion,
    /// S, and V_λ × S of one degree of freedom.
    pub axes: [Twist<f64>; 3],
    pub swing: Twist<f64>,
    /// Momentum of the body and the force on it, zero without one; the force on all that is outwards.
    pub momentum: Wrench<f64>,
    pub own_force: Wrench<f64>,
    pub force: Wrench<f64>,
}

impl Moving {
    /// Not at all.
    pub const NONE: Self = Self {
        motion: Motion::ZERO,
        axes: [Twist::ZERO; 3],
        swing: Twist::ZERO,
        momentum: Wrench::ZERO,
        own_force: Wrench::ZERO,
        force: Wrench::ZERO,
    };
}

/// A node's bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub frame: Placed,
    traits: Traits,
    axis: Vec3<f64>,
    /// The node's origin, from the fixed point.
    pub arm: Vec3<f64>,
    pub mass: f64,
    /// Centre of mass from the fixed point, and the rotational inertia about the former.
    com: Vec3<f64>,
    inertia: Sym3<f64>,
}

impl Body {
    /// Those of a node, not yet placed.
    pub fn of(node: &Node<f64>) -> Self {
        Self {
            frame: Placed::WORLD,
            traits: Traits::of(node),
            axis: Vec3::ZERO,
            arm: Vec3::ZERO,
            mass: node.inertia.mass,
            com: Vec3::ZERO,
            inertia: Sym3::ZERO,
        }
    }

    #[inline(always)]
    fn set(&mut self, placement: &Placement, origin: Vec3<f64>) {
        let Placement { frame, axis, com, inertia, .. } = *placement;
        let arm = frame.pos - origin;
        (self.frame, self.axis, self.arm) = (frame, axis, arm);
        (self.com, self.inertia) = (com + arm, inertia);
    }

    /// What it has of momentum with a velocity: I V.
    #[inline(always)]
    fn momentum(&self, v: Twist<f64>) -> Wrench<f64> {
        RigidInertia { mass: self.mass, com: self.com, inertia: self.inertia }.momentum(v)
    }

    /// Mass times centre of mass.
    #[inline(always)]
    pub fn moment(&self) -> Vec3<f64> {
        self.com * self.mass
    }

    /// The rotational inertia about the fixed point.
    #[inline(always)]
    pub fn rotation(&self) -> Mat3<f64> {
        let moment = self.moment();
        self.inertia.to_mat3().plus_outer(-moment, self.com).plus_diagonal(moment.dot(self.com))
    }
}

/// Places the nodes: the fixed point is the root's origin.
///
/// This and what follows are loops by themselves: the next node's work fills the time that this one's waits for itself.
#[inline(always)]
fn place(factor: &mut ImplicitFactor, tree: &Tree<f64>, q: &[f64], frames: &mut [NodeFrame<f64>]) {
    let n = tree.nodes.len();
    let (placed, frames) = (&mut factor.placed[..n], &mut frames[..n]);
    let mut origin = Vec3::ZERO;
    for (i, node) in tree.nodes.iter().enumerate() {
        let (before, here) = placed.split_at_mut(i);
        let above = if node.parent == NO_PARENT { &Placed::WORLD } else { &before[node.parent].frame };
        let here = &mut here[0];
        let placement = Placement::new(node, above, here.traits, q);
        if i == 0 {
            origin = placement.frame.pos;
        }
        here.set(&placement, origin);
        placement.store(node, &mut frames[i]);
    }
}

/// [`ImplicitFactor::inverse_dynamics`]
#[inline(always)]
pub(super) fn inverse_dynamics(
    factor: &mut ImplicitFactor,
    tree: &Tree<f64>,
    q: &[f64],
    v: &[f64],
    a: &[f64],
    gravity: Vec3<f64>,
    kin: &mut Kinematics<f64>,
    tau: &mut [f64],
) {
    place(factor, tree, q, &mut kin.frames);
    // An accelerated world is a world with gravity.
    factor.world.acceleration.lin = -gravity;
    let ImplicitFactor { stages, placed, world, moving, .. } = factor;
    let moving = &mut moving[..stages.len()];
    for (k, stage) in stages.iter().enumerate() {
        let (before, here) = moving.split_at_mut(k);
        let Motion { velocity, acceleration } = match stage.parent {
            Some(parent) => &before[parent].motion,
            None => &*world,
        };
        let (body, here) = (&placed[stage.node], &mut here[0]);
        here.motion = if stage.kind == Kind::Single {
            let (axis, rate) = (single_axis(&tree.nodes[stage.node], body), v[stage.dof]);
            let swing = velocity.cross_motion(axis);
            (here.axes[0], here.swing) = (axis, swing);
            let change = acceleration.add_scaled(a[stage.dof], axis).add_scaled(rate, swing);
            Motion { velocity: velocity.add_scaled(rate, axis), acceleration: change }
        } else {
            here.axes = three_axes(stage, body);
            let rate = along(&here.axes, vec3(&v[stage.dof..]));
            let change = along(&here.axes, vec3(&a[stage.dof..])) + velocity.cross_motion(rate);
            Motion { velocity: *velocity + rate, acceleration: *acceleration + change }
        };
    }
    for (stage, here) in stages.iter().zip(moving.iter_mut()) {
        if stage.has_body {
            let (body, Motion { velocity, acceleration }) = (&placed[stage.node], here.motion);
            let h = body.momentum(velocity);
            let force = body.momentum(acceleration) + velocity.cross_force(h);
            (here.momentum, here.own_force, here.force) = (h, force, force);
        } else {
            // Momentum and a force of its own are never set.
            here.force = Wrench::ZERO;
        }
    }
    for (k, stage) in stages.iter().enumerate().rev() {
        let (before, here) = moving.split_at_mut(k);
        let Moving { axes, force, .. } = &here[0];
        match stage.kind {
            Kind::Single => tau[stage.dof] = axes[0].dot(*force),
            _ => set3(&mut tau[stage.dof..], Vec3::new(axes[0].dot(*force), axes[1].dot(*force), axes[2].dot(*force))),
        }
        if let Some(parent) = stage.parent {
            before[parent].force += *force;
        }
    }
}

/// S of a joint with one degree of freedom, about the fixed point.
#[inline(always)]
fn single_axis(node: &Node<f64>, body: &Body) -> Twist<f64> {
    let (axis, turned) = (body.axis, body.arm.cross(body.axis));
    match node.joint {
        JointType::Prismatic => Twist { ang: Vec3::ZERO, lin: axis },
        JointType::Screw => Twist { ang: axis, lin: turned.add_scaled(node.pitch, axis) },
        JointType::Revolute | JointType::Ball | JointType::Free => Twist { ang: axis, lin: turned },
    }
}

/// S of three degrees of freedom, about the fixed point.
#[inline(always)]
fn three_axes(stage: &Stage, body: &Body) -> [Twist<f64>; 3] {
    if stage.kind == Kind::Shift {
        let Mat3 { x, y, z } = Mat3::IDENTITY;
        let ang = Vec3::ZERO;
        return [Twist { ang, lin: x }, Twist { ang, lin: y }, Twist { ang, lin: z }];
    }
    let Mat3 { x, y, z } = body.frame.rot;
    [turn(x, body), turn(y, body), turn(z, body)]
}

/// A rotation about a node's origin.
#[inline(always)]
pub(super) fn turn(ang: Vec3<f64>, body: &Body) -> Twist<f64> {
    Twist { ang, lin: body.arm.cross(ang) }
}

/// S x of three degrees of freedom.
#[inline(always)]
fn along(axes: &[Twist<f64>; 3], x: Vec3<f64>) -> Twist<f64> {
    (axes[0] * x.x).add_scaled(x.y, axes[1]).add_scaled(x.z, axes[2])
}
