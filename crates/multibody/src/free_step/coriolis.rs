//! Coriolis and gyroscopic forces between two velocities, and the energy that they carry from one end of a step to the other.
//!
//! These forces are quadratic in the velocity. Their polar form c(q; v, u), with c(q; v, v) = c(q, v), is linear in each of the two
//! velocities. Written in twists alone it does not ask what the joints are: with ω, w the angular and v, u the linear velocities of a node
//! under the two, and r its offset from the parent, classical accelerations at zero joint accelerations are
//!
//! ```text
//! α = α_λ + ½ (ω_λ × w + w_λ × ω)
//! a = a_λ + α_λ × r + ω_λ × (u − u_λ) + w_λ × (v − v_λ) − ½ (ω_λ × (w_λ × r) + w_λ × (ω_λ × r))
//! ```

use spatial::{Real, Twist, Vec3, Wrench};

use super::{FreeStep, State};
use crate::kinematics::vec3;
use crate::wide::{Screw, Wide, cross, narrow, wide};
use crate::{Factor, JointType, Kinematics, NO_PARENT, Node, NodeFrame, Tree};

/// What a step with the inertia at its beginning, q₀, owes its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBalance {
    /// The kinetic energy that the work of forces and constraints leads to, without that of armature, J.
    pub kinetic: f64,
    /// The momentum that their impulses lead to, about the root's origin at q₀.
    pub momentum: Wrench<f64>,
    /// Linear momentum at v₀.
    pub momentum_before: Vec3<f64>,
    /// The force of dt c on all bodies: what linear momentum gains at the velocities v since bodies turn.
    pub drift: Vec3<f64>,
    /// Σ m c at q₀ with centres of mass from the root's origin, kg·m.
    pub moment: Vec3<f64>,
}

impl StepBalance {
    /// The impulse of external forces, N·s.
    pub fn impulse(&self) -> Vec3<f64> {
        self.momentum.lin - self.momentum_before
    }
}

impl FreeStep {
    /// Adds −`scale` c(q; v, x) to the wrenches on the nodes, v the velocities of [`place`](Self::place) and x the last solution of `factor`:
    /// forces c(q, v) become c(q; v, v + x).
    pub fn load_coriolis(&mut self, tree: &Tree<f64>, kin: &Kinematics<f64>, factor: &Factor<f64>, scale: f64) {
        self.world.polar = Screw::ZERO;
        self.world.motion = Screw::ZERO;
        let Self { world, states } = self;
        let n = tree.nodes.len();
        let (states, frames) = (&mut states[..n], &kin.frames[..n]);
        for (i, node) in tree.nodes.iter().enumerate() {
            let (before, here) = states.split_at_mut(i);
            let above = if node.parent == NO_PARENT { &*world } else { &before[node.parent] };
            here[0].motion = factor.motion(i);
            load(above, &mut here[0], &frames[i], scale);
        }
    }

    /// The balance of a step from the velocities of [`place`](Self::place) to `v` (nv) that takes the time `scale` in the field `gravity`:
    ///
    /// ```text
    /// ½ vᵀM v + dt ½ (v₀ + v)·c,      Σ J_bᵀ (I_b J_b v + dt c_b),      M = M(q₀), c = c(q₀; v₀, v)
    /// ```
    ///
    /// where c is what the wrenches on the nodes, weights aside, are the opposite of. Applied wrenches must be taken off
    /// ([`StepBalance`] and [`mean_motion`](Self::mean_motion)).
    pub fn balance(
        &mut self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        v: &[f64],
        gravity: Vec3<f64>,
        scale: f64,
    ) -> StepBalance {
        let n = tree.nodes.len();
        let (states, frames) = (&mut self.states[..n], &kin.frames[..n]);
        let weight = wide(gravity * scale);
        let origin = states[0].frame.pos;
        let (mut twice, mut total, mut moment) = (0.0, Screw::ZERO, Wide::ZERO);
        let (mut momentum_before, mut drift) = (Wide::ZERO, Wide::ZERO);
        for (i, node) in tree.nodes.iter().enumerate() {
            let frame = &frames[i];
            let (before, here) = states.split_at_mut(i);
            let here = &mut here[0];
            let mut motion = joint_motion(node, frame, here, v);
            if node.parent != NO_PARENT {
                let above = before[node.parent].motion;
                motion = motion.plus(above);
                if !here.traits.is_at_parent {
                    motion.lin += cross(above.ang, wide(frame.offset));
                }
            }
            here.motion = motion;
            if here.traits.is_empty {
                // What is applied to it is all there is.
                let mean = here.velocity.plus(motion).scaled(0.5);
                twice += 2.0 * mean.dot(here.bias);
                total = total.plus(here.bias.shifted_back(here.frame.pos - origin));
                drift += here.bias.lin;
                continue;
            }
            let (mass, com) = (Wide::splat(frame.inertia.mass), wide(here.moment));
            let linear = |motion: Screw| mass.mul_add(motion.lin, cross(motion.ang, com));
            let momentum = Screw { ang: here.inertia.times(motion.ang) + cross(com, motion.lin), lin: linear(motion) };
            let mut forces = here.bias;
            forces.ang += cross(com, weight);
            forces.lin = mass.mul_add(weight, forces.lin);
            let arm = here.frame.pos - origin;
            let both = here.velocity.plus(motion);
            twice += motion.dot(momentum) + both.dot(forces);
            total = total.plus(momentum.plus(forces).shifted_back(arm));
            drift += forces.lin;
            momentum_before += linear(here.velocity);
            moment += mass.mul_add(arm, com);
        }
        StepBalance {
            kinetic: 0.5 * twice,
            momentum: total.to_wrench(),
            momentum_before: narrow(momentum_before),
            drift: narrow(drift),
            moment: narrow(moment),
        }
    }

    /// The mean of the motions of a node at both ends of the step, after [`balance`](Self::balance).
    ///
    /// # Panics
    /// When there is no such node.
    pub fn mean_motion(&self, node: usize) -> Twist<f64> {
        let state = &self.states[node];
        state.velocity.plus(state.motion).scaled(0.5).to_twist()
    }
}

/// A node's part of [`FreeStep::load_coriolis`].
#[inline(always)]
fn load(above: &State, here: &mut State, frame: &NodeFrame<f64>, scale: f64) {
    let half = Wide::splat(0.5);
    let (omega, w) = (above.velocity.ang, above.motion.ang);
    let mut polar = above.polar;
    if !here.traits.is_at_parent {
        let r = wide(frame.offset);
        let (v, u) = (here.velocity.lin - above.velocity.lin, here.motion.lin - above.motion.lin);
        let swung = cross(omega, cross(w, r)) + cross(w, cross(omega, r));
        polar.lin += cross(above.polar.ang, r) + cross(omega, u) + cross(w, v) - half * swung;
    }
    let (above_omega, above_w) = (omega, w);
    let (omega, w) = (here.velocity.ang, here.motion.ang);
    polar.ang += half * (cross(above_omega, w) + cross(above_w, omega));
    here.polar = polar;
    if here.traits.is_empty {
        return;
    }
    let (moment, inertia) = (wide(here.moment), here.inertia);
    let swung = cross(omega, cross(w, moment)) + cross(w, cross(omega, moment));
    let spun = cross(omega, inertia.times(w)) + cross(w, inertia.times(omega));
    let force = Wide::splat(frame.inertia.mass).mul_add(polar.lin, cross(polar.ang, moment)) + half * swung;
    let torque = inertia.times(polar.ang) + cross(moment, polar.lin) + half * spun;
    here.bias = here.bias.plus_scaled(scale, Screw { ang: torque, lin: force });
}

/// What a joint alone does to its node at velocities `v`.
#[inline(always)]
fn joint_motion(node: &Node<f64>, frame: &NodeFrame<f64>, here: &State, v: &[f64]) -> Screw {
    let axis = wide(frame.axis);
    match node.joint {
        JointType::Revolute => Screw { ang: axis * Wide::splat(v[node.v]), lin: Wide::ZERO },
        JointType::Prismatic => Screw { ang: Wide::ZERO, lin: axis * Wide::splat(v[node.v]) },
        JointType::Screw => {
            Screw { ang: axis * Wide::splat(v[node.v]), lin: axis * Wide::splat(v[node.v] * node.pitch) }
        }
        JointType::Ball => Screw { ang: here.frame.rot.times_vec(vec3(&v[node.v..])), lin: Wide::ZERO },
        JointType::Free => {
            Screw { ang: here.frame.rot.times_vec(vec3(&v[node.v + 3..])), lin: wide(vec3(&v[node.v..])) }
        }
    }
}
