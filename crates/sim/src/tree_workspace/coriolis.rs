//! The default step's Coriolis and gyroscopic forces, and its energy.
//!
//! Taken at v₀, the velocity at the beginning of the step, these forces feed energy into bodies that turn fast. They are quadratic in
//! the velocity; their polar form c(q₀; v₀, v), with c(q; v, v) = c(q, v), is linear in the velocity v at the end of the step and takes
//! none (Kahan, *Unconventional Numerical Methods for Trajectory Calculations*, 1993):
//!
//! ```text
//! M (v − v₀) + dt c(q₀; v₀, v) = dt f + Jᵀγ
//! ```
//!
//! Here v in c is predicted by free motion with c(q₀, v₀), not solved for: the matrix stays symmetric and keeps its factor. The difference is
//! of third order in the rotation of a step.
//!
//! The inertia is that at q₀ throughout the step, so that energy still errs by the square of the rotation. At the end of the step the error
//! is known:
//!
//! ```text
//! δ = ½ vᵀ (M(q) − M(q₀)) v − dt ½ (v₀ + v) · c(q₀; v₀, v)
//! ```
//!
//! is zero in exact motion. Velocities are scaled by it at the end of the step, except that of the centre of mass of a floating tree: kinetic
//! energy then changes by the work of forces and constraints alone, however far bodies turn. Positions stay as they are.

use lanes::constants::{LARGEST_ERROR, LITTLE, MIN_TURN, SCALING};
use multibody::{ImplicitFactor, JointType, Kinematics, Retraction, StepBalance, Tree, Whole, joint_axis};
use spatial::{Twist, Vec3};

use super::whole::Root;
use super::{TreeWorkspace, wrenches};
use crate::State;

/// Scratch of a tree.
#[derive(Clone, Debug)]
pub(super) struct Coriolis {
    /// Whether the tree turns so fast in this step that any of it is needed.
    is_active: bool,
    /// Places bodies where the step ends; none of a single body whose M does not depend on q.
    places: Option<ImplicitFactor>,
    /// The end of the step: positions, (nq), and the tree as one body.
    q: Vec<f64>,
    end: Whole,
    /// What is added to velocities at the end of the step, (nv).
    lack: Vec<f64>,
}

impl Coriolis {
    /// None where there are no such forces.
    pub fn new(tree: &Tree<f64>) -> Option<Self> {
        let turns = |node: &multibody::Node<f64>| node.joint.turns_about_axis() || node.rotation().is_some();
        let is_single = tree.len() == 1;
        let first = &tree.nodes[0];
        let spins = first.rotation().is_some();
        if !tree.nodes.iter().any(turns) || (is_single && !spins) {
            return None;
        }
        let varies = !(is_single && (first.joint == JointType::Ball || first.inertia.com == Vec3::ZERO));
        Some(Self {
            is_active: false,
            places: varies.then(|| ImplicitFactor::new(tree)),
            q: vec![0.0; tree.nq],
            end: Whole::default(),
            lack: vec![0.0; tree.nv],
        })
    }
}

impl TreeWorkspace {
    /// Notes how fast the tree turns at the beginning of the step.
    pub(super) fn note_turning(&mut self, dt: f64) {
        let Self { coriolis: Some(coriolis), kin, .. } = self else { return };
        let fastest = kin.twists.iter().fold(0.0, |most, twist| f64::max(most, twist.ang.norm_squared()));
        coriolis.is_active = fastest * dt * dt > MIN_TURN * MIN_TURN;
    }

    /// Adds Coriolis forces to those of the step. They are taken between v₀ and the velocities that free motion would end at without them.
    /// In that motion drives with limits only resist: which of them are at their limits is found later, and Coriolis forces must not depend
    /// on it.
    pub(super) fn load_coriolis(&mut self) {
        let Self { coriolis, tree, kin, impedance, impedance_all, impulse, change, .. } = self;
        let Self { factor, free_step, dt, is_factored, .. } = self;
        *is_factored = false;
        if coriolis.as_ref().is_some_and(|coriolis| coriolis.is_active) {
            impedance.diagonal.copy_from_slice(impedance_all);
            free_step.solve(tree, kin, impedance, impulse, change, factor);
            free_step.load_coriolis(tree, kin, factor, *dt);
            *is_factored = true;
        }
    }

    /// Finds what the velocities `v` of the tree lack at the end of the step, or have too much, of the energy and momentum that they should
    /// have where `v_of_q` moves positions. Returns whether that is little.
    pub fn conserve(
        &mut self,
        state: &State,
        (v, v_of_q): (&[f64], &[f64]),
        gravity: Vec3<f64>,
        retraction: Retraction,
    ) -> bool {
        let Self { coriolis, tree, kin, free_step, dt, armature, loads, qs, .. } = self;
        let Some(Coriolis { is_active: true, places, q, end, lack }) = coriolis.as_deref_mut() else {
            return true;
        };
        let mut due = free_step.balance(tree, kin, v, gravity, *dt);
        let origin = kin.frames[0].pos;
        for (node, wrench) in wrenches(loads, state, *dt, kin) {
            due.kinetic += free_step.mean_motion(node).dot(wrench);
            let wrench = wrench.shifted_back(kin.frames[node].pos - origin);
            due.momentum += wrench;
            due.drift += wrench.lin;
        }
        if let Some(places) = places {
            q.copy_from_slice(&state.q[qs.clone()]);
            retraction.advance(tree, q, v_of_q, *dt, 1.0);
            places.whole(tree, (q, v), Some(origin), end);
        } else {
            *end = in_place(tree, kin, v);
        }
        let geared: f64 = armature.iter().zip(v).map(|(armature, v)| 0.5 * armature * v * v).sum();
        let error = (end.kinetic - due.kinetic).abs();

        let floats = tree.nodes[0].joint == JointType::Free && end.mass > 0.0;
        let keeps_momentum = floats && tree.len() > 1 && armature[..6].iter().all(|armature| *armature == 0.0);
        if !(keeps_momentum && conserve_all(tree, v, (end, origin), &due, geared, lack)) {
            scale_motion(v, floats, end, due.kinetic, geared, lack);
        }
        let carried = if floats { 0.5 * end.momentum.lin.norm_squared() / end.mass } else { 0.0 };
        error <= LARGEST_ERROR * (end.kinetic + geared - carried)
    }

    /// What velocities lack at the end of a step that conserves energy, of the tree.
    pub(super) fn energy_lack(&self) -> Option<&[f64]> {
        let coriolis = self.coriolis.as_deref()?;
        (coriolis.is_active && !self.asleep).then_some(&coriolis.lack)
    }
}

/// Mass, momentum and energy of a single body at velocities `v`, the inertia of which does not depend on where it is in its own axes.
fn in_place(tree: &Tree<f64>, kin: &Kinematics<f64>, v: &[f64]) -> Whole {
    let (node, frame) = (&tree.nodes[0], &kin.frames[0]);
    let twist = (0..node.joint.nv()).fold(Twist::ZERO, |sum, k| sum + joint_axis(node, frame, k) * v[k]);
    let momentum = frame.inertia.momentum(twist);
    Whole { mass: frame.inertia.mass, momentum, kinetic: 0.5 * twist.dot(momentum), ..Whole::default() }
}

/// The correction of velocities `v` with which the root has the momentum that is due, and the internal motion, which has none, the rest of
/// the energy. Whether there is such a motion, near `v`.
fn conserve_all(
    tree: &Tree<f64>,
    v: &[f64],
    (end, origin): (&Whole, Vec3<f64>),
    due: &StepBalance,
    geared: f64,
    lack: &mut [f64],
) -> bool {
    let root = Root::new(&tree.nodes[0], 6, (end, origin), &[0.0; 6]);
    // About the centre of mass, which moves on.
    let center = due.moment * (1.0 / end.mass);
    let momentum = due.momentum.shifted_back(-center).shifted_back(end.center());
    let (rigid, rigid_energy) = root.velocities(root.along(end.momentum));
    let (rigid_due, rigid_energy_due) = root.velocities(root.along(momentum));
    // External forces work along the motion of the centre of mass as it is at the end. It has gained what the bodies' turning does to it, half of
    // which is not in the energy of a step with Jacobians at q₀: as much as the internal motion has where a joint turns around.
    let work = 0.5 * due.drift.dot(due.impulse()) / end.mass;
    let kinetic = end.kinetic + geared;
    let (within, within_due) = (kinetic - rigid_energy, due.kinetic + work + geared - rigid_energy_due);
    if within <= LITTLE * kinetic
        || !(within_due * SCALING * SCALING >= within && within_due <= SCALING * SCALING * within)
    {
        return false;
    }
    let scale = (within_due / within).sqrt();
    for (lack, v) in lack.iter_mut().zip(v) {
        *lack = (scale - 1.0) * v;
    }
    for k in 0..6 {
        lack[k] = rigid_due[k] + scale * (v[k] - rigid[k]) - v[k];
    }
    true
}

/// The correction of velocities `v` that scales all motion to the energy that is due, except that of the centre of mass of a tree that `floats`.
fn scale_motion(v: &[f64], floats: bool, end: &Whole, due: f64, geared: f64, lack: &mut [f64]) {
    let shift = if floats { end.momentum.lin * (1.0 / end.mass) } else { Vec3::ZERO };
    let own = end.kinetic + geared - 0.5 * end.mass * shift.norm_squared();
    let scale = if own > 0.0 { (1.0 + (due - end.kinetic) / own).max(0.0).sqrt() } else { 1.0 };
    for (lack, v) in lack.iter_mut().zip(v) {
        *lack = (scale - 1.0) * v;
    }
    if floats {
        lack[..3].iter_mut().zip(shift.to_array()).for_each(|(lack, shift)| *lack += (1.0 - scale) * shift);
    }
}
