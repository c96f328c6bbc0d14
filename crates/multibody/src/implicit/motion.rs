//! Motions and forces about a fixed point.

use spatial::{Quad, Real, Vec3};

use super::{ImplicitFactor, Kind, Stage};
use crate::kinematics::{set3, vec3};
use crate::placement::{Placed, Placement, Traits};
use crate::wide::{Matrix, Screw, Wide, cross, dot, wide};
use crate::{JointType, Kinematics, NO_PARENT, Node, NodeFrame, Tree};

/// Velocity and acceleration of a body, about the fixed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub velocity: Screw,
    pub acceleration: Screw,
}

impl Motion {
    /// None.
    pub const ZERO: Self = Self { velocity: Screw::ZERO, acceleration: Screw::ZERO };
}

/// How a stage moves and what its body feels, about the fixed point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub motion: Motion,
    /// S, and V_λ × S of one degree of freedom.
    pub axes: [Screw; 3],
    pub swing: Screw,
    /// Momentum of the body and the force on it, zero without one; the force on all that is outwards.
    pub momentum: Screw,
    pub own_force: Screw,
    pub force: Screw,
}

impl Moving {
    /// Not at all.
    pub const NONE: Self = Self {
        motion: Motion::ZERO,
        axes: [Screw::ZERO; 3],
        swing: Screw::ZERO,
        momentum: Screw::ZERO,
        own_force: Screw::ZERO,
        force: Screw::ZERO,
    };
}

/// A node's bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub frame: Placed,
    traits: Traits,
    axis: Wide,
    /// The node's origin, from the fixed point.
    pub arm: Wide,
    pub mass: f64,
    /// Centre of mass from the fixed point, and the rotational inertia about the former.
    com: Wide,
    inertia: Matrix,
}

impl Body {
    /// Those of a node, not yet placed.
    pub fn of(node: &Node<f64>) -> Self {
        Self {
            frame: Placed::WORLD,
            traits: Traits::of(node),
            axis: Wide::ZERO,
            arm: Wide::ZERO,
            mass: node.inertia.mass,
            com: Wide::ZERO,
            inertia: Matrix::ZERO,
        }
    }

    #[inline(always)]
    fn set(&mut self, placement: &Placement, origin: Wide) {
        let Placement { frame, axis, com, inertia, .. } = *placement;
        let arm = frame.pos - origin;
        (self.frame, self.axis, self.arm) = (frame, axis, arm);
        (self.com, self.inertia) = (com + arm, inertia);
    }

    /// What it has of momentum with a velocity: I V.
    #[inline(always)]
    fn momentum(&self, v: Screw) -> Screw {
        let lin = (v.lin + cross(v.ang, self.com)) * Wide::splat(self.mass);
        Screw { ang: self.inertia.times(v.ang) + cross(self.com, lin), lin }
    }

    /// Mass times centre of mass.
    #[inline(always)]
    pub fn moment(&self) -> Wide {
        self.com * Wide::splat(self.mass)
    }

    /// The rotational inertia about the fixed point.
    #[inline(always)]
    pub fn rotation(&self) -> Matrix {
        let moment = self.moment();
        self.inertia.plus_outer(-moment, self.com).plus_diagonal(dot(moment, self.com))
    }
}

/// Places the nodes: the fixed point is the root's origin.
///
/// This and what follows are loops by themselves: the next node's work fills the time that this one's waits for itself.
#[inline(always)]
fn place(factor: &mut ImplicitFactor, tree: &Tree<f64>, q: &[f64], frames: &mut [NodeFrame<f64>]) {
    let n = tree.nodes.len();
    let (placed, frames) = (&mut factor.placed[..n], &mut frames[..n]);
    let mut origin = Wide::ZERO;
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
    (q, v, a): (&[f64], &[f64], &[f64]),
    gravity: Vec3<f64>,
    kin: &mut Kinematics<f64>,
    tau: &mut [f64],
) {
    place(factor, tree, q, &mut kin.frames);
    // An accelerated world is a world with gravity.
    factor.world.acceleration.lin = wide(-gravity);
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
            let swing = motion_cross(*velocity, axis);
            (here.axes[0], here.swing) = (axis, swing);
            let change = acceleration.plus_scaled(a[stage.dof], axis).plus_scaled(rate, swing);
            Motion { velocity: velocity.plus_scaled(rate, axis), acceleration: change }
        } else {
            here.axes = three_axes(stage, body);
            let rate = along(&here.axes, vec3(&v[stage.dof..]));
            let change = along(&here.axes, vec3(&a[stage.dof..])).plus(motion_cross(*velocity, rate));
            Motion { velocity: velocity.plus(rate), acceleration: acceleration.plus(change) }
        };
    }
    for (stage, here) in stages.iter().zip(moving.iter_mut()) {
        if stage.has_body {
            let (body, Motion { velocity, acceleration }) = (&placed[stage.node], here.motion);
            let h = body.momentum(velocity);
            let force = body.momentum(acceleration).plus(force_cross(velocity, h));
            (here.momentum, here.own_force, here.force) = (h, force, force);
        } else {
            // Momentum and a force of its own are never set.
            here.force = Screw::ZERO;
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
            let sum = &mut before[parent].force;
            *sum = sum.plus(*force);
        }
    }
}

/// S of a joint with one degree of freedom, about the fixed point.
#[inline(always)]
fn single_axis(node: &Node<f64>, body: &Body) -> Screw {
    let (axis, turned) = (body.axis, cross(body.arm, body.axis));
    match node.joint {
        JointType::Prismatic => Screw { ang: Wide::ZERO, lin: axis },
        JointType::Screw => Screw { ang: axis, lin: Wide::splat(node.pitch).mul_add(axis, turned) },
        JointType::Revolute | JointType::Ball | JointType::Free => Screw { ang: axis, lin: turned },
    }
}

/// S of three degrees of freedom, about the fixed point.
#[inline(always)]
fn three_axes(stage: &Stage, body: &Body) -> [Screw; 3] {
    if stage.kind == Kind::Shift {
        let [x, y, z, _] = Wide::UNITS;
        let ang = Wide::ZERO;
        return [Screw { ang, lin: x }, Screw { ang, lin: y }, Screw { ang, lin: z }];
    }
    let Matrix { x, y, z } = body.frame.rot;
    [turn(x, body), turn(y, body), turn(z, body)]
}

/// A rotation about a node's origin.
#[inline(always)]
pub(super) fn turn(ang: Wide, body: &Body) -> Screw {
    Screw { ang, lin: cross(body.arm, ang) }
}

/// S x of three degrees of freedom.
#[inline(always)]
fn along(axes: &[Screw; 3], x: Vec3<f64>) -> Screw {
    axes[0].scaled(x.x).plus_scaled(x.y, axes[1]).plus_scaled(x.z, axes[2])
}

/// The motion's cross product a × b.
#[inline(always)]
pub(super) fn motion_cross(a: Screw, b: Screw) -> Screw {
    Screw { ang: cross(a.ang, b.ang), lin: cross(a.ang, b.lin) + cross(a.lin, b.ang) }
}

/// The force's cross product a ×* f.
#[inline(always)]
pub(super) fn force_cross(a: Screw, f: Screw) -> Screw {
    Screw { ang: cross(a.ang, f.ang) + cross(a.lin, f.lin), lin: cross(a.ang, f.lin) }
}
