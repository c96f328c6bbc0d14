//! Where nodes are, and how they move.

use crate::constants::MIN_TURN;
use multibody::JointType;
use spatial::{Mat3, Real, Sym3, Twist, Vec3, Wrench, sin_cos_in_lanes};

use super::{Bundle, Inertia, Lanes, Node, dofs_of, quaternion, vec3, wide, wide_mat, wide3};
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
            let spin = |axis: Vec3<T>| Twist { ang: axis, lin: pos.cross(axis) };
            let slide = |axis: Vec3<T>| Twist { ang: Vec3::ZERO, lin: axis };
            let Mat3 { x, y, z } = Mat3::<T>::IDENTITY;
            match node.joint {
                JointType::Revolute => dofs[node.v].axis = spin(turned.z),
                JointType::Prismatic => dofs[node.v].axis = slide(turned.z),
                JointType::Screw => {
                    let Twist { ang, lin } = spin(turned.z);
                    dofs[node.v].axis = Twist { ang, lin: lin.add_scaled(wide(node.pitch), turned.z) };
                }
                JointType::Ball => {
                    for (k, axis) in [turned.x, turned.y, turned.z].into_iter().enumerate() {
                        dofs[node.v + k].axis = spin(axis);
                    }
                }
                JointType::Free => {
                    for (k, axis) in [x, y, z].into_iter().enumerate() {
                        dofs[node.v + k].axis = slide(axis);
                    }
                    for (k, axis) in [turned.x, turned.y, turned.z].into_iter().enumerate() {
                        dofs[node.v + 3 + k].axis = Twist { ang: axis, lin: Vec3::ZERO };
                    }
                }
            }
        }
        self.is_placed = true;
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
            let (swing, acceleration) = match node.parent {
                Some(parent) => (above[parent].twist, above[parent].acceleration),
                None => (Twist::ZERO, Twist::ZERO),
            };
            here.twist = swing + own;
            // A free root's origin moves evenly at zero joint accelerations, not the point of the body that passes there.
            here.acceleration = acceleration
                + if node.joint == JointType::Free {
                    Twist { ang: Vec3::ZERO, lin: -own.ang.cross(own.lin) }
                } else {
                    cross_twist(swing, own)
                };
            let momentum = here.inertia.momentum(here.twist);
            here.coriolis = here.inertia.momentum(here.acceleration) + cross_wrench(here.twist, momentum);
            let (mass, moment) = numbers.nodes[i].weight;
            let about_origin = here.pos * mass + here.rot * moment;
            let weight = Wrench { ang: about_origin.cross(gravity), lin: gravity * mass };
            here.force = (here.coriolis + -weight) * dt;
            turns[node.tree] = turns[node.tree].max(here.twist.ang.norm_squared());
        }
        let least = MIN_TURN / plan.dt;
        for turns in turns {
            *turns = wide::<T>(least * least).if_less(*turns, T::ONE, T::ZERO);
        }
    }

    /// Adds applied wrenches to what moves the nodes.
    pub(super) fn apply_wrenches(&mut self, plan: &Plan) {
        let dt = wide::<T>(plan.dt);
        for (k, node) in plan.node_of_body.iter().enumerate() {
            let Some(node) = *node else { continue };
            let here = &mut self.nodes[node];
            let [ang, lin] = [0, 3].map(|first| vec3(&self.applied_wrench[6 * k + first..]) * dt);
            let com = here.pos + here.rot * self.numbers.coms[k];
            here.force += -Wrench { ang: ang + com.cross(lin), lin };
        }
    }

    /// Adds to the Coriolis forces what they become between v₀ and v₀ + x, the polar form c(v₀, x), x the last solution, whose motions are
    /// the nodes' `change`; dt times that are added to what moves them.
    #[inline(always)]
    pub(super) fn add_polar_coriolis(&mut self, plan: &Plan) {
        let Self { nodes, turns, .. } = self;
        let (dt, half) = (wide(plan.dt), wide::<T>(0.5));
        for (i, node) in plan.nodes.iter().enumerate() {
            let (above, here) = nodes.split_at_mut(i);
            let here = &mut here[0];
            let (swing, swing_change, mut acceleration) = match node.parent {
                Some(parent) => (above[parent].twist, above[parent].change, above[parent].acceleration),
                None => (Twist::ZERO, Twist::ZERO, Twist::ZERO),
            };
            let (own, change) = (here.twist + -swing, here.change + -swing_change);
            let both = if node.joint == JointType::Free {
                Twist { ang: Vec3::ZERO, lin: -(own.ang.cross(change.lin) + change.ang.cross(own.lin)) }
            } else {
                cross_twist(swing, change) + cross_twist(swing_change, own)
            };
            acceleration += both * half;
            here.acceleration = acceleration;
            let spun = cross_wrench(here.twist, here.inertia.momentum(here.change))
                + cross_wrench(here.change, here.inertia.momentum(here.twist));
            let force = (here.inertia.momentum(acceleration) + spun * half) * turns[node.tree];
            here.coriolis += force;
            here.force += force * dt;
        }
    }
}

/// The motion of a node against its parent at joint velocities `v`.
#[inline(always)]
fn motion<T: Real>(node: &PlanNode, dofs: &[super::Dof<T>], v: &[T]) -> Twist<T> {
    let mut sum = Twist::ZERO;
    for k in dofs_of(node) {
        let axis = dofs[k].axis;
        sum = Twist { ang: sum.ang.add_scaled(v[k], axis.ang), lin: sum.lin.add_scaled(v[k], axis.lin) };
    }
    sum
}

/// A body about the tree's origin.
#[inline(always)]
fn inertia<T: Real>(node: &PlanNode, numbers: &NodeNumbers<T>, here: &Node<T>) -> Inertia<T> {
    if node.is_massless {
        return Inertia { mass: T::ZERO, moment: Vec3::ZERO, rotational: Sym3::ZERO };
    }
    let com = here.pos + here.rot * numbers.com;
    let (mass, own) = (numbers.mass, numbers.inertia);
    let moment = com * mass;
    let d = moment.dot(com);
    let rotational = own.rotated(here.rot) + Sym3::diagonal(Vec3::new(d, d, d)) - Sym3::outer(mass, com);
    Inertia { mass, moment, rotational }
}

/// v × u: how a motion that is fixed in a body changes as the body moves.
#[inline(always)]
fn cross_twist<T: Real>(v: Twist<T>, u: Twist<T>) -> Twist<T> {
    Twist { ang: v.ang.cross(u.ang), lin: v.ang.cross(u.lin) + v.lin.cross(u.ang) }
}

/// v ×* w: how a wrench that is fixed in a body changes as the body moves.
#[inline(always)]
pub(super) fn cross_wrench<T: Real>(v: Twist<T>, w: Wrench<T>) -> Wrench<T> {
    Wrench { ang: v.ang.cross(w.ang) + v.lin.cross(w.lin), lin: v.ang.cross(w.lin) }
}
