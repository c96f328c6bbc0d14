//! Whether a step of the midpoint rule resolves the free motion that it found.
//!
//! Kinetic energy T changes by the work of forces, whatever they are. The rule takes inertia where the step is half way, and
//! misses that by
//!
//! ```text
//! ε = T(q, v) − T(q₀, v₀) − dt Ṫ(q^½, v^½, (v − v₀)/dt),
//! ```
//!
//! energy that the step makes from nothing: of third order in how far bodies turn against each other, and zero where
//! that changes no inertia (a wheel about its axis, a free body). Where joints turn by a radian in a step it may be most of T, and
//! Newton's method may have found one of several solutions.
//!
//! Of the motion run backwards it is −ε: but for those near the limit, the same steps are refused. Limits that know of
//! the direction of time (Newton's iterations) or not of inertia (angles) make energy drift.

use multibody::{JointType, Kinematics, Node, Tree, difference, forward_kinematics, vec3, velocities};
use spatial::Vec3;

use super::Part;
use super::implicit::{FreeMotion, Newton};

/// The part of the energy of motion and springs that a step may make from nothing. With 0.1 % a double pendulum at 10 ms is
/// halved, whose energy stays in bounds in equal steps and drifts then; with 0.5 % the energy of a flung arm is not held.
const MADE: f64 = 1.5e-3;
/// Where joints turn by less than this, rad, the motion is resolved. With half of it a stiff chain at 5 ms drifts.
const SLIGHTLY: f64 = 0.1;

/// Scratch: the ends of the step.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    kin: Kinematics<f64>,
    q: Vec<f64>,
    /// Velocities half way.
    v: Vec<f64>,
    /// Deflections of springs.
    bend: Vec<f64>,
}

impl Ends {
    pub fn new(tree: &Tree<f64>) -> Self {
        Self { kin: Kinematics::new(tree), q: vec![0.0; tree.nq], v: vec![0.0; tree.nv], bend: vec![0.0; tree.nv] }
    }
}

impl Part {
    /// Whether the step from v₀ to v*, where Newton's method arrived, makes more energy than a step that resolves the
    /// motion.
    pub(super) fn makes_energy(&self, newton: &mut Newton, motion: &FreeMotion<'_>) -> bool {
        let FreeMotion { state, step, gravity, .. } = *motion;
        let (q0, v0) = (&state.q[self.qs.clone()], &motion.v0[self.dofs.clone()]);
        let Newton { ends: Ends { kin, q, v, bend }, factor, .. } = newton;
        for (half, (v0, v)) in v.iter_mut().zip(v0.iter().zip(&self.v_star)) {
            *half = 0.5 * (v0 + v);
        }
        // Where the root is changes no inertia. Schemes of first order make or take energy in every step.
        let far = |node: &Node<f64>| step.dt * turning_speed(node, v) > SLIGHTLY;
        if !step.is_midpoint() || !self.tree.nodes.iter().skip(1).any(far) {
            return false;
        }
        let first = self.own_energy(q0, v0, kin);
        let mut held = self.elastic_energy(q0, bend);
        q.copy_from_slice(q0);
        step.retraction.advance(&self.tree, q, v, step.dt, 1.0);
        let last = self.own_energy(q, &self.v_star, kin);
        held += self.elastic_energy(q, bend);
        let half = factor.totals();
        let rate = half.power
            + match self.floating_mass() {
                Some(mass) => -half.momentum.dot(half.force) / mass,
                None => gravity.dot(half.momentum),
            };
        for (armature, (v0, v)) in self.armature.iter().zip(v0.iter().zip(&self.v_star)) {
            held += 0.5 * armature * (v0 * v0 + v * v);
        }
        (last - first - step.dt * rate).abs() > MADE * 0.5 * (first + last + held)
    }

    /// What springs hold at `q`, of the tree.
    fn elastic_energy(&self, q: &[f64], bend: &mut [f64]) -> f64 {
        if !self.has_springs {
            return 0.0;
        }
        difference(&self.tree, &self.spring_reference, q, bend);
        self.stiffness.iter().zip(bend).map(|(k, bend)| 0.5 * k * *bend * *bend).sum()
    }

    /// The bodies' kinetic energy at `q` and `v` (of the tree): of a floating tree, as seen from its centre of mass.
    fn own_energy(&self, q: &[f64], v: &[f64], kin: &mut Kinematics<f64>) -> f64 {
        forward_kinematics(&self.tree, self.tree.all(), q, kin);
        velocities(&self.tree, self.tree.all(), v, kin);
        let (mut energy, mut momentum) = (0.0, Vec3::ZERO);
        for (frame, twist) in kin.frames.iter().zip(&kin.twists) {
            let h = frame.inertia.momentum(*twist);
            energy += 0.5 * twist.dot(h);
            momentum += h.lin;
        }
        energy - self.floating_mass().map_or(0.0, |mass| 0.5 * momentum.dot(momentum) / mass)
    }

    /// The mass of a tree that hangs on nothing, kg.
    fn floating_mass(&self) -> Option<f64> {
        let floats = self.tree.nodes.first().is_some_and(|root| root.joint == JointType::Free);
        floats.then(|| self.tree.nodes.iter().map(|node| node.inertia.mass).sum())
    }
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
