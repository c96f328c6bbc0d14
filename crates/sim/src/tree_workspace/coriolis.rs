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
//! The inertia is that at q₀ throughout the step, so that energy still errs by the square of the rotation: velocities are corrected at the end
//! of the step ([`multibody::StepEnd`]).

use lanes::constants::MIN_TURN;
use multibody::{BodyInStep, Correction, Freedom, Model, Retraction, StepBalance, StepEnd, Tree, propagate, vec3};
use spatial::{PointInertia, Twist, Vec3, Wrench};

use super::whole::Placed;
use super::{TreeWorkspace, wrenches};
use crate::State;

/// Scratch of a tree.
#[derive(Clone, Debug)]
pub(super) struct Coriolis {
    /// Whether the tree turns so fast in this step that any of it is needed.
    is_active: bool,
    freedom: Freedom,
    /// The motions of nodes with inertia at q₀ and velocities at the end of the step.
    motions: Vec<Twist<f64>>,
    /// The end of the step: positions, (nq), and the nodes there.
    q: Vec<f64>,
    end: Placed,
    /// What is added to velocities at the end of the step, (nv).
    lack: Vec<f64>,
    /// What is added to the root's place, m.
    place: Vec3<f64>,
    /// Of strings with inertia that pass its bodies, if there are any.
    strings: Option<StringEnergy>,
}

/// A tree's share of the kinetic energy of strings with inertia, J.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StringEnergy {
    /// At the beginning of the step.
    pub at_start: f64,
    /// At its end, at the velocities that were solved for.
    pub at_end: f64,
    /// What is due at its end beyond that.
    pub missing: f64,
}

/// The velocities with which a step ends, of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndVelocities<'a> {
    pub v: &'a [f64],
    /// Those that move positions.
    pub v_of_q: &'a [f64],
}

impl Coriolis {
    /// That of a tree of the model, `k`; none where there are no such forces, and no strings with inertia.
    pub fn new(model: &Model, k: usize, tree: &Tree<f64>) -> Option<Self> {
        let turns = |node: &multibody::Node<f64>| node.joint.turns_about_axis() || node.rotation().is_some();
        let is_single = tree.len() == 1;
        let spins = tree.nodes[0].rotation().is_some();
        let is_string = |tendon: &&multibody::Tendon| tendon.is_spatial() && tendon.armature > 0.0;
        let is_own = |body: usize| model.bodies[body].node.is_some_and(|node| model.tree.trees[k].contains(&node));
        let has_strings = model.tendons.iter().filter(is_string).any(|tendon| tendon.bodies(model).any(is_own));
        if !has_strings && (!tree.nodes.iter().any(turns) || (is_single && !spins)) {
            return None;
        }
        Some(Self {
            is_active: false,
            freedom: Freedom::of(model, k),
            motions: vec![Twist::ZERO; tree.len()],
            q: vec![0.0; tree.nq],
            end: Placed::new(tree),
            lack: vec![0.0; tree.nv],
            place: Vec3::ZERO,
            strings: has_strings.then(StringEnergy::default),
        })
    }
}

/// The largest of numbers that are not negative.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, f64::max)
}

impl TreeWorkspace {
    /// Notes how fast the tree turns at the beginning of the step.
    pub(super) fn note_turning(&mut self, dt: f64) {
        let Self { coriolis: Some(coriolis), kin, .. } = self else { return };
        let fastest = largest(kin.twists.iter().map(|twist| twist.ang.norm_squared()));
        coriolis.is_active = fastest * dt * dt > MIN_TURN * MIN_TURN || coriolis.strings.is_some();
    }

    /// Moves the tree's part of the model's positions `q` (nq) to the end of the step, and forgets its strings; returns the step's length, s.
    pub fn begin_string_energy(&mut self, v_of_q: &[f64], retraction: Retraction, q: &mut [f64]) -> f64 {
        retraction.advance(&self.tree, &mut q[self.qs.clone()], v_of_q, self.dt, 1.0);
        if let Some(coriolis) = self.coriolis.as_deref_mut() {
            coriolis.strings = coriolis.strings.map(|_| StringEnergy::default());
        }
        self.dt
    }

    /// Adds the energy of a string, of which there are some.
    pub fn add_string_energy(&mut self, energy: StringEnergy) {
        if let Some(strings) = self.coriolis.as_deref_mut().and_then(|coriolis| coriolis.strings.as_mut()) {
            strings.at_start += energy.at_start;
            strings.at_end += energy.at_end;
            strings.missing += energy.missing;
        }
    }

    /// Adds Coriolis forces to those of the step. They are taken between v₀ and the velocities that free motion would end at without them,
    /// which must not depend on drives at their limits.
    pub(super) fn load_coriolis(&mut self) {
        if self.coriolis.as_ref().is_some_and(|coriolis| coriolis.is_active) {
            self.predict();
            self.free_step.load_coriolis(&self.tree, &self.kin, &self.factor, self.dt);
        }
    }

    /// Finds what the velocities `v` of the tree lack at the end of the step, or have too much, of the energy and momentum that they should
    /// have where `v_of_q` moves positions. Returns whether that is little.
    pub fn conserve(
        &mut self,
        state: &State,
        EndVelocities { v, v_of_q }: EndVelocities<'_>,
        gravity: Vec3<f64>,
        retraction: Retraction,
    ) -> bool {
        let Self { coriolis, tree, kin, free_step, dt, armature, loads, qs, dofs, .. } = self;
        let Some(Coriolis { is_active: true, freedom, motions, q, end, lack, place, strings }) =
            coriolis.as_deref_mut()
        else {
            return true;
        };
        propagate(tree, tree.all(), &kin.frames, v, motions);
        let origin = kin.frames[0].pos;
        let mut due = StepBalance::ZERO;
        let at_node = |i: usize, inertia: PointInertia<f64>, coriolis: Wrench<f64>| {
            let arm = Some(kin.frames[i].pos - origin);
            BodyInStep { inertia, start: kin.twists[i], end: motions[i], coriolis, arm }
        };
        for (i, frame) in kin.frames.iter().enumerate() {
            let load = free_step.weightless_load(i, kin, gravity, *dt);
            due.add(&at_node(i, frame.inertia.about_origin(), load));
        }
        // What is applied is no Coriolis force.
        for (i, wrench) in wrenches(loads, state, *dt, kin) {
            due.add(&at_node(i, PointInertia::ZERO, wrench));
        }
        q.copy_from_slice(&state.q[qs.clone()]);
        retraction.advance(tree, q, v_of_q, *dt, 1.0);
        let whole = end.whole(tree, q, v, None);
        let per_mass = if whole.mass > 0.0 { 1.0 / whole.mass } else { 0.0 };
        let strings = strings.unwrap_or_default();
        due.add_work(strings.missing);
        let geared = |v: &[f64]| -> f64 { armature.iter().zip(v).map(|(armature, v)| 0.5 * armature * v * v).sum() };
        let end_of_step = StepEnd {
            whole: &whole,
            due: &due,
            mass: whole.mass,
            half_mass: 0.5 * whole.mass,
            per_mass,
            geared: geared(v) + strings.at_end,
            geared_at_start: geared(&state.v[dofs.clone()]) + strings.at_start,
            root: if *freedom == Freedom::Bound { Vec3::ZERO } else { vec3(v) },
            recovery: largest(v.iter().zip(v_of_q).map(|(v, v_of_q)| (v - v_of_q).abs())),
            dt: *dt,
            most_turn: largest(end.kin.twists.iter().map(|twist| twist.ang.norm_squared())) * (*dt * *dt),
            weight: gravity * (whole.mass * *dt),
            turns: 1.0,
            freedom: *freedom,
        };
        let correction = end_of_step.correction();
        let Correction { scale, lin, ang, errs, .. } = correction;
        *place = correction.place;
        for (lack, v) in lack.iter_mut().zip(v) {
            *lack = (scale - 1.0) * v;
        }
        if *freedom != Freedom::Bound {
            let ang = end.kin.frames[0].rot.transpose_mul(ang);
            let of_root = lin.to_array().into_iter().chain(ang.to_array());
            lack.iter_mut().zip(of_root).for_each(|(lack, of_root)| *lack += of_root);
        }
        // Energy beyond all numbers is an error of any size.
        errs == 0.0 && whole.kinetic.is_finite()
    }

    /// What the place of a free root lacks at the end of the step, m.
    pub fn lack_of_place(&self) -> Option<Vec3<f64>> {
        let coriolis = self.coriolis.as_deref()?;
        (coriolis.is_active && !self.asleep && coriolis.freedom != Freedom::Bound).then_some(coriolis.place)
    }

    /// What velocities lack at the end of a step that conserves energy, of the tree.
    pub(super) fn energy_lack(&self) -> Option<&[f64]> {
        let coriolis = self.coriolis.as_deref()?;
        (coriolis.is_active && !self.asleep).then_some(&coriolis.lack)
    }
}
