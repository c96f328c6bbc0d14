//! Motions and forces about a fixed point.

use spatial::{Real, Vec3};

use super::{ImplicitFactor, Kind, Stage, Whole};
use crate::kinematics::{set3, vec3};
use crate::placement::{Placed, Placement};
use crate::wide::{Matrix, Screw, Wide, cross, dot, narrow, wide};
use crate::{JointType, Kinematics, NO_PARENT, Node, Tree};

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

/// A node's bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub frame: Placed,
    axis: Wide,
    /// The node's origin, from the fixed point.
    pub arm: Wide,
    pub mass: f64,
    /// Centre of mass from the fixed point, and the rotational inertia about the former.
    com: Wide,
    inertia: Matrix,
}

impl Body {
    /// Nothing, nowhere.
    pub const NONE: Self = Self {
        frame: Placed::WORLD,
        axis: Wide::ZERO,
        arm: Wide::ZERO,
        mass: 0.0,
        com: Wide::ZERO,
        inertia: Matrix::ZERO,
    };

    #[inline(always)]
    fn new(node: &Node<f64>, placement: &Placement, origin: Wide) -> Self {
        let Placement { frame, axis, com, inertia, .. } = *placement;
        let arm = frame.pos - origin;
        Self { frame, axis, arm, mass: node.inertia.mass, com: com + arm, inertia }
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

/// Where a tree is placed, if the stage is the first of its joint: the fixed point is the root's origin, unless it is given.
#[inline(always)]
fn place(factor: &mut ImplicitFactor, tree: &Tree<f64>, k: usize, q: &[f64], origin: &mut Option<Wide>) -> Placement {
    let stage = factor.stages[k];
    let node = &tree.nodes[stage.node];
    let above = if node.parent == NO_PARENT { Placed::WORLD } else { factor.placed[node.parent].frame };
    let placement = Placement::new(node, &above, stage.is_turned, q);
    let origin = *origin.get_or_insert(placement.frame.pos);
    factor.placed[stage.node] = Body::new(node, &placement, origin);
    placement
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
    // An accelerated world is a world with gravity.
    factor.world.acceleration.lin = wide(-gravity);
    let mut origin = None;
    for k in 0..factor.stages.len() {
        let stage = factor.stages[k];
        if stage.is_first {
            let placement = place(factor, tree, k, q, &mut origin);
            placement.store(&tree.nodes[stage.node], &mut kin.frames[stage.node]);
        }
        let Motion { velocity, acceleration } = match stage.parent {
            Some(parent) => factor.motions[parent],
            None => factor.world,
        };
        let body = &factor.placed[stage.node];
        let motion = if stage.kind == Kind::Single {
            let (axis, rate) = (single_axis(&tree.nodes[stage.node], body), v[stage.dof]);
            let swing = motion_cross(velocity, axis);
            (factor.axes[k][0], factor.swings[k]) = (axis, swing);
            let change = acceleration.plus_scaled(a[stage.dof], axis).plus_scaled(rate, swing);
            Motion { velocity: velocity.plus_scaled(rate, axis), acceleration: change }
        } else {
            let axes = three_axes(&stage, body);
            factor.axes[k] = axes;
            let rate = along(&axes, vec3(&v[stage.dof..]));
            let change = along(&axes, vec3(&a[stage.dof..])).plus(motion_cross(velocity, rate));
            Motion { velocity: velocity.plus(rate), acceleration: acceleration.plus(change) }
        };
        factor.motions[k] = motion;
        (factor.momenta[k], factor.own_forces[k]) = (Screw::ZERO, Screw::ZERO);
        if stage.has_body {
            let h = body.momentum(motion.velocity);
            factor.momenta[k] = h;
            factor.own_forces[k] = body.momentum(motion.acceleration).plus(force_cross(motion.velocity, h));
        }
        factor.forces[k] = factor.own_forces[k];
    }
    for k in (0..factor.stages.len()).rev() {
        let (stage, axes, f) = (factor.stages[k], &factor.axes[k], factor.forces[k]);
        match stage.kind {
            Kind::Single => tau[stage.dof] = axes[0].dot(f),
            _ => set3(&mut tau[stage.dof..], Vec3::new(axes[0].dot(f), axes[1].dot(f), axes[2].dot(f))),
        }
        if let Some(parent) = stage.parent {
            factor.forces[parent] = factor.forces[parent].plus(f);
        }
    }
}

/// [`ImplicitFactor::whole`]
#[inline(always)]
pub(super) fn whole(
    factor: &mut ImplicitFactor,
    tree: &Tree<f64>,
    (q, v): (&[f64], &[f64]),
    origin: Option<Vec3<f64>>,
    whole: &mut Whole,
) {
    let mut origin = match origin {
        Some(origin) => Some(wide(origin)),
        None => None,
    };
    let (mut mass, mut moment, mut rotation) = (0.0, Wide::ZERO, Matrix::ZERO);
    let (mut momentum, mut twice) = (Screw::ZERO, 0.0);
    for k in 0..factor.stages.len() {
        let stage = factor.stages[k];
        if stage.is_first {
            let placement = place(factor, tree, k, q, &mut origin);
            if k == 0 {
                placement.store(&tree.nodes[stage.node], &mut whole.root);
            }
        }
        let before = match stage.parent {
            Some(parent) => factor.motions[parent].velocity,
            None => Screw::ZERO,
        };
        let body = &factor.placed[stage.node];
        let velocity = if stage.kind == Kind::Single {
            before.plus_scaled(v[stage.dof], single_axis(&tree.nodes[stage.node], body))
        } else {
            before.plus(along(&three_axes(&stage, body), vec3(&v[stage.dof..])))
        };
        factor.motions[k].velocity = velocity;
        if stage.has_body {
            let h = body.momentum(velocity);
            momentum = momentum.plus(h);
            twice += velocity.dot(h);
            mass += body.mass;
            moment += body.moment();
            rotation = rotation.plus(body.rotation());
        }
    }
    (whole.mass, whole.moment, whole.rotation) = (mass, narrow(moment), rotation.to_sym3());
    (whole.momentum, whole.kinetic) = (momentum.to_wrench(), 0.5 * twice);
}

/// S of a joint with one degree of freedom, about the fixed point.
#[inline(always)]
fn single_axis(node: &Node<f64>, body: &Body) -> Screw {
    let (axis, turned) = (body.axis, cross(body.arm, body.axis));
    match node.joint {
        JointType::Prismatic => Screw { ang: Wide::ZERO, lin: axis },
        JointType::Screw => Screw { ang: axis, lin: Wide::splat(node.pitch).mul_add(axis, turned) },
        _ => Screw { ang: axis, lin: turned },
    }
}

/// S of three degrees of freedom, about the fixed point.
#[inline(always)]
fn three_axes(stage: &Stage, body: &Body) -> [Screw; 3] {
    if stage.kind == Kind::Shift {
        let Matrix { x, y, z } = Matrix::IDENTITY;
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
