//! Where nodes are, and how they move.

use crate::constants::MIN_TURN;
use multibody::{JointType, PolarMotion};
use spatial::{Mat3, PointInertia, Real, RigidInertia, Twist, Vec3, Wrench, sin_cos_in_lanes};

use super::dynamics::moved;
use super::{Bundle, Lanes, Node, by_precision, dofs_of, quaternion, vec3, wide, wide_mat, wide3};
use crate::plan::{NodeNumbers, Plan, PlanNode};

impl<T: Bundle> Lanes<T> {
    /// Places nodes, the axes of their joints and their inertias at `q`.
    #[inline(always)]
    pub(super) fn place(&mut self, plan: &Plan) {
        for (tree, origin) in plan.trees.iter().zip(&mut self.origins) {
            let root = &plan.nodes[tree.nodes.start];
            *origin = if tree.floats { vec3(&self.q[root.q..]) } else { wide3(root.pos) };
        }
        let Self { nodes, dofs, q, numbers, .. } = self;
        for (i, node) in plan.nodes.iter().enumerate() {
            let (above, here) = nodes.split_at_mut(i);
            let here = &mut here[0];
            let (base, offset) = match node.parent {
                None => (if node.is_turned { wide_mat(&node.rot) } else { Mat3::IDENTITY }, Vec3::ZERO),
                Some(parent) => {
                    let parent = &above[parent];
                    let base = if node.is_turned { parent.rot * wide_mat(&node.rot) } else { parent.rot };
                    (base, parent.pos + parent.rot * wide3(node.pos))
                }
            };
            let mut pos = offset;
            let mut turned = base;
            match node.joint {
                JointType::Revolute | JointType::Screw => {
                    let (sin, cos) = sin_cos_in_lanes(q[node.q] - wide(node.q_ref));
                    turned.x = (base.x * cos).add_scaled(sin, base.y);
                    turned.y = (base.y * cos).add_scaled(-sin, base.x);
                }
                JointType::Prismatic => {}
                JointType::Ball => turned = base * quaternion(&q[node.q..]).to_mat3(),
                JointType::Free => turned = quaternion(&q[node.q + 3..]).to_mat3(),
            }
            if node.joint.slides() {
                let pitch = if node.joint == JointType::Screw { node.pitch } else { 1.0 };
                pos = pos.add_scaled((q[node.q] - wide(node.q_ref)) * wide(pitch), turned.z);
            }
            (here.rot, here.pos) = (turned, pos);
            here.inertia = inertia(node, &numbers.nodes[i], here);
            let Mat3 { x, y, z } = Mat3::<T>::IDENTITY;
            match node.joint {
                JointType::Revolute => dofs[node.v].axis = turn_about(turned.z, pos),
                JointType::Prismatic => dofs[node.v].axis = slide_along(turned.z),
                JointType::Screw => {
                    let Twist { ang, lin } = turn_about(turned.z, pos);
                    dofs[node.v].axis = Twist { ang, lin: lin.add_scaled(wide(node.pitch), turned.z) };
                }
                JointType::Ball => {
                    for (k, axis) in [turned.x, turned.y, turned.z].into_iter().enumerate() {
                        dofs[node.v + k].axis = turn_about(axis, pos);
                    }
                }
                JointType::Free => {
                    for (k, axis) in [x, y, z].into_iter().enumerate() {
                        dofs[node.v + k].axis = slide_along(axis);
                    }
                    for (k, axis) in [turned.x, turned.y, turned.z].into_iter().enumerate() {
                        dofs[node.v + 3 + k].axis = Twist { ang: axis, lin: Vec3::ZERO };
                    }
                }
            }
        }
        self.is_placed = true;
    }

    /// Quaternions that were written may have any length. Those of steps are unit but for rounding, and keep their bits.
    #[inline(always)]
    pub(super) fn make_quaternions_unit(&mut self, plan: &Plan) {
        let tolerance: T = wide(by_precision::<T>(1e-14, 1e-5));
        for node in &plan.nodes {
            let at = match node.joint {
                JointType::Ball => node.q,
                JointType::Free => node.q + 3,
                JointType::Revolute | JointType::Prismatic | JointType::Screw => continue,
            };
            let q = quaternion(&self.q[at..]);
            let square = q.w.mul_add(q.w, q.vector().norm_squared());
            let scale = tolerance.if_less((square - T::ONE).abs(), square.sqrt().recip(), T::ONE);
            self.q[at..at + 4].iter_mut().for_each(|x| *x *= scale);
        }
    }

    /// Twists at v₀, Coriolis forces there, and dt (c − weight) as the loads of the nodes.
    #[inline(always)]
    pub(super) fn move_nodes(&mut self, plan: &Plan) {
        let Self { nodes, dofs, v, turns, numbers, .. } = self;
        turns.fill(T::ZERO);
        let (dt, gravity) = (wide(plan.dt), numbers.gravity);
        for (i, node) in plan.nodes.iter().enumerate() {
            let (above, here) = nodes.split_at_mut(i);
            let here = &mut here[0];
            let own = motion(node, dofs, v);
            let above = motion_above(node, above);
            let acceleration = above.child_acceleration(node.joint, own);
            let motion = PolarMotion { start: above.start + own, acceleration, ..PolarMotion::ZERO };
            (here.twist, here.acceleration) = (motion.start, acceleration);
            (here.coriolis, here.force) = (Wrench::ZERO, Wrench::ZERO);
            if !node.is_massless {
                here.coriolis = motion.force_at_start(&here.inertia);
                let (mass, moment) = numbers.nodes[i].weight;
                let about_origin = here.pos * mass + here.rot * moment;
                let weight = Wrench { ang: about_origin.cross(gravity), lin: gravity * mass };
                here.force = (here.coriolis + -weight) * dt;
            }
            turns[node.tree] = turns[node.tree].max(here.twist.ang.norm_squared());
        }
        let least = MIN_TURN / plan.dt;
        for turns in turns {
            *turns = wide::<T>(least * least).if_less(*turns, T::ONE, T::ZERO);
        }
    }

    /// Adds applied wrenches to what moves the nodes.
    #[inline(always)]
    pub(super) fn apply_wrenches(&mut self, plan: &Plan) {
        let dt = wide::<T>(plan.dt);
        for (k, node) in plan.node_of_body.iter().enumerate() {
            let Some(node) = *node else { continue };
            let here = &mut self.nodes[node];
            let (ang, lin) = self.applied_wrench[6 * k..6 * k + 6].split_at(3);
            let (ang, lin) = (vec3(ang) * dt, vec3(lin) * dt);
            let com = here.pos + here.rot * self.numbers.coms[k];
            here.force += -Wrench { ang: ang + com.cross(lin), lin };
        }
    }

    /// Adds to the Coriolis forces what they become between v₀ and v₀ + x, the polar form c(v₀, x), x the last solution, whose motions are
    /// the nodes' `change`; dt times that are added to what moves them.
    #[inline(always)]
    pub(super) fn add_polar_coriolis(&mut self, plan: &Plan) {
        let Self { nodes, turns, .. } = self;
        let dt = wide(plan.dt);
        for (i, node) in plan.nodes.iter().enumerate() {
            let (above, here) = nodes.split_at_mut(i);
            let here = &mut here[0];
            let motion = motion_above(node, above).child(node.joint, here.twist, here.change);
            here.acceleration = motion.acceleration;
            if !node.is_massless {
                let force = motion.force(&here.inertia) * turns[node.tree];
                here.coriolis += force;
                here.force += force * dt;
            }
        }
    }
}

/// The motion about an axis through a point.
#[inline(always)]
fn turn_about<T: Real>(axis: Vec3<T>, pos: Vec3<T>) -> Twist<T> {
    Twist { ang: axis, lin: pos.cross(axis) }
}

/// The motion along an axis.
#[inline(always)]
fn slide_along<T: Real>(axis: Vec3<T>) -> Twist<T> {
    Twist { ang: Vec3::ZERO, lin: axis }
}

/// How the parent of a node moves.
#[inline(always)]
fn motion_above<T: Real>(node: &PlanNode, nodes: &[Node<T>]) -> PolarMotion<T> {
    match node.parent {
        Some(parent) => {
            let Node { twist: start, change, acceleration, .. } = nodes[parent];
            PolarMotion { start, change, acceleration }
        }
        None => PolarMotion::ZERO,
    }
}

/// The motion of a node against its parent at joint velocities `v`.
#[inline(always)]
fn motion<T: Real>(node: &PlanNode, dofs: &[super::Dof<T>], v: &[T]) -> Twist<T> {
    let mut sum = Twist::ZERO;
    for k in dofs_of(node) {
        sum = moved(sum, v[k], &dofs[k]);
    }
    sum
}

/// A body about the tree's origin.
#[inline(always)]
fn inertia<T: Real>(node: &PlanNode, numbers: &NodeNumbers<T>, here: &Node<T>) -> PointInertia<T> {
    if node.is_massless {
        return PointInertia::ZERO;
    }
    let com = here.pos + here.rot * numbers.com;
    RigidInertia { mass: numbers.mass, com, inertia: numbers.inertia.rotated(here.rot) }.about_origin()
}
