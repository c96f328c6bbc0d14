//! Energy and momentum in a step of the midpoint rule.
//!
//! Kinetic energy T changes by the work of forces. Momentum p changes by external forces alone: all of it in a floating tree, that about
//! the first axis of an arm that stands upright. The rule takes inertia in the middle of the step, and errs by
//!
//! ```text
//! ε = T(q, v) − T(q₀, v₀) − dt Ṫ(q^½, v^½, (v − v₀)/dt),    p(q, v) − p(q₀, v₀) − dt ṗ(q^½, v^½, (v − v₀)/dt),
//! ```
//!
//! of third order in the relative rotation of bodies, and zero where that changes no inertia (a wheel about its axis, a free body). While
//! joints turn little, such errors cancel over time: the rule is symplectic. Where they turn far, they add up. So velocities are corrected
//! at the end of the step: the root gets the momentum, and the internal motion, which has none, is scaled to the energy (the work of
//! weights and springs is exact). The correction is as large as the error of the velocities. With dampers or control that follows motion,
//! energy is not corrected: their work by the rule's own quadrature errs as much, and measured worse. Where ε is a large share of the
//! energy, Newton's method may have found one of several solutions, and the step is refused.
//!
//! This is a projection onto invariants (Hairer, Lubich, Wanner, Geometric Numerical Integration, IV.4), which forces may
//! change.

use multibody::{JointType, LITTLE, Node, NodeFrame, Whole, difference, vec3};
use spatial::{Vec3, Wrench};

use super::TreeWorkspace;
use super::implicit::{FreeMotion, ImplicitNewton};
use super::whole::{Ends, Root, middle};

/// Share of the energy of motion and springs that a step may create where that is corrected,
const MAX_ENERGY_CORRECTED: f64 = 0.03;
/// and where it is not: with 0.1 % a double pendulum at 10 ms is refused, whose energy stays in bounds in equal steps and
/// drifts in others; with 0.5 % the energy of a flung arm is not held.
const MAX_ENERGY_UNCORRECTED: f64 = 1.5e-3;
/// The motion within a tree is scaled by no more than this. Errors are of third order, so that no joint is held where it turns around; a stiff chain at 20 ms
/// takes all of it.
const MAX_SCALING: f64 = 2.0;
/// Where joints turn by less than this, rad, the motion is resolved. With half of it a stiff chain at 5 ms is refused.
const RESOLVED: f64 = 0.1;
/// Where they turn by less than this, what the step makes is lost in round-off.
const HARDLY: f64 = 1e-5;
/// The part of the constraints' greatest force that is a push at the root: the solver's tolerance is none.
const PUSHED: f64 = 1e-4;
/// How far gravity may be off the root's axis, the sine.
const UPRIGHT: f64 = 1e-9;

/// What the end of a step should have.
struct Budget {
    /// Of motion, weights and springs.
    energy: f64,
    /// What there was of motion and springs, as seen from the centre of mass of a tree that hangs on nothing.
    own: f64,
    /// Of bodies, about the fixed point or, in a tree that hangs on nothing, the centre of mass; and of the root's armature.
    momentum: Wrench<f64>,
    spin: [f64; 6],
    origin: Vec3<f64>,
    /// Degrees of freedom of the root, where its motion is told from the motion within.
    apart: usize,
    keeps_momentum: bool,
    keeps_energy: bool,
}

impl TreeWorkspace {
    /// Finds what v*, where Newton's method arrived from v₀, lacks of energy and momentum; whether the step resolves the motion.
    pub(super) fn keep_invariants(&mut self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>) -> bool {
        newton.ends.is_lacking = false;
        // Schemes of first order make or take energy in every step; a body by itself keeps it.
        if !motion.step.is_midpoint() || self.tree.len() < 2 {
            return true;
        }
        let keeps_energy = motion.conserves && !self.takes_energy();
        let is_pushed = !keeps_energy && self.takes_momentum();
        let kept = if motion.conserves && !is_pushed { self.kept_momenta(motion.gravity) } else { 0 };
        let keeps_momentum = kept > 0;
        let apart = if self.floats() && !keeps_momentum { 6 } else { kept };
        let turn = motion.step.dt * self.turning_speed(&newton.v_theta);
        let is_to_correct = keeps_energy || keeps_momentum;
        if turn <= if is_to_correct { HARDLY } else { RESOLVED } {
            return true;
        }
        let budget = Budget { apart, keeps_momentum, keeps_energy, ..self.budget(newton, motion) };
        let made = self.spend(newton, motion, &budget);
        newton.ends.is_lacking &= is_to_correct && (made <= MAX_ENERGY_CORRECTED || !motion.is_to_resolve);
        if keeps_energy {
            return made <= if newton.ends.is_lacking { MAX_ENERGY_CORRECTED } else { MAX_ENERGY_UNCORRECTED };
        }
        turn <= RESOLVED || made <= MAX_ENERGY_UNCORRECTED
    }

    /// How far joints turn in a step whose energy is corrected at its end, rad; zero where it is not, or where they hardly turn.
    pub(super) fn turn_of_corrected_step(&self, newton: &ImplicitNewton, motion: &FreeMotion<'_>) -> f64 {
        let FreeMotion { step, conserves, is_regular, .. } = *motion;
        let may_be = step.is_midpoint() && conserves && is_regular && self.tree.len() > 1 && !self.takes_energy();
        let turn = if may_be { step.dt * self.turning_speed(&newton.v_theta) } else { 0.0 };
        if turn > HARDLY { turn } else { 0.0 }
    }

    /// Whether constraints that pushed in the last step take momentum: those that move the root, not those within the tree. What the step
    /// misses of it is theirs as well.
    fn takes_momentum(&self) -> bool {
        let greatest = |w: &[f64]| w.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
        greatest(&self.predicted[..self.tree.nodes[0].joint.nv()]) > PUSHED * greatest(&self.predicted)
    }

    /// The correction of the tree's velocities at the end of the step.
    pub fn lack(&self) -> Option<&[f64]> {
        let Some(newton) = &self.newton else { return self.energy_lack() };
        (newton.ends.is_lacking && !self.asleep).then_some(&newton.ends.lack)
    }

    /// Energy and momentum that the step should end with: those at its beginning, and what forces in the middle of it add.
    fn budget(&self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>) -> Budget {
        let FreeMotion { state, gravity, step, .. } = *motion;
        let (q0, v0) = (&state.q[self.qs.clone()], &motion.v0[self.dofs.clone()]);
        let ImplicitNewton { ends: Ends { placed, bend, .. }, q: half, impulses, v_theta, .. } = newton;
        let first = placed.whole(&self.tree, q0, v0, None);
        let origin = placed.kin.frames[0].pos;

        let moving = first.kinetic + self.armature_energy(v0) + self.elastic_energy(q0, bend);
        let own = moving - self.carried(&first);
        let mut energy = moving - gravity.dot(first.moment);
        for (i, (v0, v)) in v0.iter().zip(&self.v_star).enumerate() {
            impulses[i] +=
                self.predicted[i] + step.dt * (motion.force[self.dofs.start + i] - self.damping[i] * v_theta[i]);
            energy += impulses[i] * 0.5 * (v0 + v);
        }
        if self.has_springs {
            // Their work is part of the elastic energy; their push at the root is not.
            difference(&self.tree, &self.spring_reference, half, bend);
            let springs = self.stiffness.iter().zip(bend);
            impulses.iter_mut().zip(springs).for_each(|(impulse, (k, bend))| *impulse -= step.dt * k * *bend);
        }
        let push = root_wrench(&self.tree.nodes[0], &self.kin.frames[0], impulses);
        let momentum = if self.floats() {
            let fall = Wrench { ang: Vec3::ZERO, lin: gravity * (first.mass * step.dt) };
            // Forces act where the root is in the middle of the step.
            let arm = middle(&self.kin, self.kin.frames[0].pos);
            first.momentum.shifted_back(-first.center()) + push.shifted_back(-arm) + fall
        } else {
            first.momentum + push
        };
        let spin = |k: usize| self.armature.get(k).map_or(0.0, |armature| armature * v0[k]);
        let spin = std::array::from_fn(spin);
        Budget { energy, own, momentum, spin, origin, apart: 0, keeps_momentum: false, keeps_energy: false }
    }

    /// Finds the velocities with the budget's energy and momentum at the end of the step, and keeps their difference from v* if it is small.
    /// Returns the energy that the step creates, or that of the momentum that it creates, relative to the present energy: in a floating tree as
    /// seen from its centre of mass.
    fn spend(&self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>, budget: &Budget) -> f64 {
        let FreeMotion { state, gravity, step, .. } = *motion;
        let (q0, v0) = (&state.q[self.qs.clone()], &motion.v0[self.dofs.clone()]);
        let Ends { placed, q, v, bend, lack, is_lacking } = &mut newton.ends;
        for (half, (v0, v)) in v.iter_mut().zip(v0.iter().zip(&self.v_star)) {
            // To the bit as the state moves.
            *half = v0 + step.theta.vq * (v - v0);
        }
        q.copy_from_slice(q0);
        step.retraction.advance(&self.tree, q, v, step.dt, 1.0);
        let last = placed.whole(&self.tree, q, &self.v_star, Some(budget.origin));
        let elastic = self.elastic_energy(q, bend);
        let (node, frame) = (&self.tree.nodes[0], &placed.kin.frames[0]);
        let root = Root::new(node, frame, budget.apart, &last, budget.origin, &self.armature);

        let arm = if self.floats() { last.center() } else { Vec3::ZERO };
        let (mut p, mut due) = (root.along(last.momentum), root.along(budget.momentum.shifted_back(arm)));
        for k in 0..root.dofs {
            p[k] += self.armature[k] * self.v_star[k];
            due[k] += budget.spin[k];
        }
        // All that moves as the root does, and the rest, which has no momentum there.
        let (rigid, rigid_energy) = root.velocities(p);
        let (rigid_due, rigid_energy_due) = root.velocities(due);
        let (_, change) = root.velocities(std::array::from_fn(|k| due[k] - p[k]));
        let kinetic = last.kinetic + self.armature_energy(&self.v_star);
        let within = kinetic - rigid_energy;
        let energy_due = budget.energy - elastic + gravity.dot(last.moment);
        let made = (within - (energy_due - rigid_energy_due)).abs();
        let (rigid_due, rigid_energy_due) =
            if budget.keeps_momentum { (rigid_due, rigid_energy_due) } else { (rigid, rigid_energy) };
        let is_told = within > LITTLE * kinetic;
        let scale =
            if budget.keeps_energy && is_told { ((energy_due - rigid_energy_due) / within).sqrt() } else { 1.0 };
        // Half before and half after, so that the motion can be reversed.
        let own = 0.5 * (budget.own + kinetic - self.carried(&last) + elastic);
        *is_lacking = (1.0 / MAX_SCALING..=MAX_SCALING).contains(&scale) && change.is_finite();
        for (lack, v) in lack.iter_mut().zip(&self.v_star) {
            *lack = (scale - 1.0) * v;
        }
        for k in 0..root.dofs {
            lack[k] = rigid_due[k] + scale * (self.v_star[k] - rigid[k]) - self.v_star[k];
        }
        let change = if budget.keeps_momentum { change } else { 0.0 };
        made.max(change) / own
    }

    /// Kinetic energy of the centre of mass of a tree that hangs on nothing.
    fn carried(&self, whole: &Whole<f64>) -> f64 {
        let is_carried = self.floats() && whole.mass > 0.0;
        if is_carried { 0.5 * whole.momentum.lin.norm_squared() / whole.mass } else { 0.0 }
    }

    /// Of how many of the root's degrees of freedom, from the first on, nothing takes up momentum but forces that are given.
    fn kept_momenta(&self, gravity: Vec3<f64>) -> usize {
        let (root, frame) = (&self.tree.nodes[0], &self.kin.frames[0]);
        let dofs = 0..root.joint.nv();
        let is_held = self.drives.iter().any(|drive| dofs.contains(&drive.dof) && drive.force.impedance != 0.0);
        let (damping, stiffness) = (&self.damping[dofs.clone()], &self.stiffness[dofs.clone()]);
        if is_held || damping.iter().chain(stiffness).any(|k| *k != 0.0) {
            return 0;
        }
        // Nothing keeps the momentum of armature about axes that turn in the step.
        let is_geared = self.armature[dofs.clone()].iter().any(|armature| *armature != 0.0);
        let least = UPRIGHT * gravity.norm();
        let is_kept = match root.joint {
            JointType::Free if is_geared => return 3,
            JointType::Free => true,
            JointType::Revolute => frame.axis.cross(gravity).norm() <= least,
            JointType::Prismatic => frame.axis.dot(gravity).abs() <= least,
            JointType::Ball => gravity.norm() == 0.0 && !is_geared,
            JointType::Screw => false,
        };
        if is_kept { dofs.end } else { 0 }
    }

    /// Whether the tree hangs on nothing.
    fn floats(&self) -> bool {
        self.tree.nodes[0].joint == JointType::Free
    }

    /// Whether dampers or control take energy.
    fn takes_energy(&self) -> bool {
        let is_controlled =
            !self.axis_drives.is_empty() || self.drives.iter().any(|drive| drive.force.impedance != 0.0);
        is_controlled || self.damping.iter().any(|damping| *damping != 0.0)
    }

    /// How fast joints turn at the tree's velocities `v`, rad/s.
    fn turning_speed(&self, v: &[f64]) -> f64 {
        self.tree.nodes.iter().fold(0.0, |most: f64, node| most.max(turning_speed(node, v)))
    }

    /// What springs hold at `q`, of the tree.
    fn elastic_energy(&self, q: &[f64], bend: &mut [f64]) -> f64 {
        if !self.has_springs {
            return 0.0;
        }
        difference(&self.tree, &self.spring_reference, q, bend);
        self.stiffness.iter().zip(bend).map(|(k, bend)| 0.5 * k * *bend * *bend).sum()
    }

    /// What armatures have of kinetic energy at `v`, of the tree.
    fn armature_energy(&self, v: &[f64]) -> f64 {
        self.armature.iter().zip(v).map(|(armature, v)| 0.5 * armature * v * v).sum()
    }
}

/// The wrench at the root's origin that its joint feels as `u`: a Screw's is left out, its momentum is not asked for.
fn root_wrench(root: &Node<f64>, frame: &NodeFrame<f64>, u: &[f64]) -> Wrench<f64> {
    let (ang, lin) = match root.joint {
        JointType::Revolute => (frame.axis * u[0], Vec3::ZERO),
        JointType::Prismatic => (Vec3::ZERO, frame.axis * u[0]),
        JointType::Screw => (Vec3::ZERO, Vec3::ZERO),
        JointType::Ball => (frame.rot * vec3(u), Vec3::ZERO),
        JointType::Free => (frame.rot * vec3(&u[3..]), vec3(u)),
    };
    Wrench { ang, lin }
}

/// How fast a joint turns at the tree's velocities `v`, rad/s.
fn turning_speed(node: &Node<f64>, v: &[f64]) -> f64 {
    match node.joint {
        JointType::Revolute | JointType::Screw => v[node.v].abs(),
        JointType::Prismatic => 0.0,
        JointType::Ball => vec3(&v[node.v..]).norm(),
        JointType::Free => vec3(&v[node.v + 3..]).norm(),
    }
}
