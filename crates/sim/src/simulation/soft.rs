//! Soft bodies in a step of the simulation, and queries of them.

use deformable::{SoftBody, StepError, ThetaStep};
use geometry::SoftPartner;
use multibody::Model;
use spatial::{Sym3, Vec3};

use super::{Simulation, State};
use crate::{ContactLaw, SimulationError, SoftContactPoint, Stats};

/// Solutions of the constraints of a step with soft bodies whose forces are not linear in it.
const MAX_ROUNDS: usize = 12;
/// A step that makes more than this part of a soft body's elastic energy of nothing does not resolve how it is deformed.
const MAX_GAIN: f64 = 0.05;

impl Simulation {
    /// Finds the contact points of soft bodies that the step can reach, where it takes constraints.
    pub(super) fn detect_soft(&mut self, dt: f64) {
        if self.soft.is_empty() {
            return;
        }
        let rest = 1.0 - self.theta_at;
        let theta = (self.theta_at > 0.0).then(|| crate::soft::theta(self.options.scheme, &self.discretization(dt)));
        let Self { soft, trees, extents, tree_of, state, model, .. } = self;
        let movement = |node: usize| trees[tree_of[node]].movement(node, dt, rest);
        // Under the convex law what slides hovers.
        let hovering = if self.options.contact == ContactLaw::Sap {
            let speed = |(node, (tree, extent)): (usize, (&usize, &f64))| {
                let workspace = &trees[*tree];
                let twist = workspace.kin.twists[node - workspace.nodes.start];
                twist.lin.norm() + extent * twist.ang.norm()
            };
            dt * tree_of.iter().zip(&*extents).enumerate().map(speed).fold(soft.fastest(), f64::max)
        } else {
            0.0
        };
        soft.detect(movement, state, model.gravity, dt, hovering, theta);
    }

    /// Soft bodies as they are in an impact, which takes no time: their mass alone, at the velocities that the step starts from.
    pub(super) fn stop_soft(&mut self) -> Result<(), SimulationError> {
        self.soft.forget_free_motion();
        self.move_soft(0.0)
    }

    /// Whether a contact point of a soft body is hit: `is_fast(gap, rate at the beginning, rate under free motion)`.
    pub(super) fn is_soft_hit(&self, dt: f64, is_fast: impl Fn(f64, f64, f64) -> bool) -> bool {
        if self.soft.is_empty() {
            return false;
        }
        let step = self.discretization(dt);
        let cx = self.context(self.rule(dt, 0.0), &step);
        crate::constrain::soft_rates(&cx, &self.soft).any(|(gap, start, free_rate)| is_fast(gap, start, free_rate))
    }

    /// Free motion of soft bodies in a step of `dt`; what touches them is known.
    pub(super) fn move_soft(&mut self, dt: f64) -> Result<(), SimulationError> {
        if self.soft.is_empty() {
            return Ok(());
        }
        let step = self.soft_step(dt);
        let Self { soft, state, model, interrupt, pool, .. } = self;
        let moved = soft.move_freely(state, step, model.gravity, interrupt, pool);
        match moved {
            Ok(iterations) => {
                self.soft_iterations = self.soft_iterations.max(iterations);
                Ok(())
            }
            Err((body, error)) => Err(self.soft_error(body, error, dt)),
        }
    }

    fn soft_step(&self, dt: f64) -> ThetaStep {
        if self.options.scheme.is_linear() {
            return ThetaStep::ringing(dt);
        }
        let theta = crate::soft::theta(self.options.scheme, &self.discretization(dt));
        ThetaStep { dt, lead: theta.q, reach: theta.q * theta.vq, theta_v: theta.v }
    }

    /// Whether the constraints of the step are to be solved again, for the `round`th time: the forces of a soft body that something touches
    /// are not those that the last solution took it to have at these velocities.
    pub(super) fn refine_soft(&mut self, dt: f64, round: usize, is_to_resolve: bool) -> Result<bool, SimulationError> {
        self.soft_residual = 0.0;
        if !self.soft.are_refined() {
            return Ok(false);
        }
        let step = self.soft_step(dt);
        let mut is_needed = false;
        for body in 0..self.soft.parts.len() {
            let Self { soft, state, islands, trees, interrupt, pool, .. } = self;
            if soft.parts[body].touched.is_empty() {
                // Its free motion is solved.
                continue;
            }
            let touched = islands.velocities_of(trees.len() + body).map(|(v, _)| v);
            let refined = soft.refine(body, touched, state, &step, interrupt, pool);
            let refinement = refined.map_err(|error| self.soft_error(body, error, dt))?;
            is_needed |= refinement.is_needed;
            self.soft_residual = self.soft_residual.max(refinement.residual);
        }
        if is_needed && round < MAX_ROUNDS {
            self.soft_iterations += 1;
            return Ok(true);
        }
        if is_to_resolve && (is_needed || self.soft.energy_gain() > MAX_GAIN) {
            let error = StepError::NotConverged { iterations: round, residual: self.soft_residual };
            return Err(self.soft_error(0, error, dt));
        }
        // The best that was found; statistics tell.
        Ok(false)
    }

    /// Keeps what the solution of the constraints was: the next one in this step is near it.
    pub(super) fn remember_round(&mut self) {
        let Self { islands, pool, contact_outcomes, last_round, .. } = self;
        let mut stats = Stats::default();
        islands.collect(pool, &mut stats, contact_outcomes, last_round);
        self.earlier_iterations += stats.iterations;
        self.is_again = true;
    }

    fn soft_error(&self, body: usize, source: StepError, timestep: f64) -> SimulationError {
        let State { step, time, .. } = self.state;
        match source {
            StepError::Interrupted => SimulationError::Interrupted { step, time },
            StepError::NotConverged { iterations, residual } => {
                SimulationError::FreeMotion { step, time, timestep, iterations, residual }
            }
            source => SimulationError::Soft { step, time, timestep, body: self.soft.body(body).name.clone(), source },
        }
    }

    /// Finds the velocities of soft bodies at the end of the step from those of the nodes that constraints know of.
    pub(super) fn collect_soft_velocities(&mut self, dt: f64) -> Result<(), SimulationError> {
        let Self { soft, islands, trees, .. } = self;
        for body in 0..soft.parts.len() {
            let slot = trees.len() + body;
            let v = soft.follow(body, islands.velocities_of(slot).map(|(v, _)| v), false);
            let is_fast = |v: f64| v.is_nan() || v.abs() > lanes::constants::FASTEST;
            let runs_away = v.iter().copied().enumerate().find(|(_, v)| is_fast(*v));
            let Some((dof, value)) = runs_away else {
                if let Some(v) = islands.recovery_velocities_of(slot) {
                    soft.follow(body, Some(v), true);
                }
                continue;
            };
            let joint = format!("node {} of soft body {}", dof / 3, soft.body(body).name);
            let State { step, time, .. } = self.state;
            return Err(SimulationError::Diverged { step, time, timestep: dt, joint, dof, value });
        }
        Ok(())
    }

    /// Moves soft bodies to the end of the step.
    pub(super) fn advance_soft(&mut self, dt: f64) {
        if self.soft.is_empty() {
            return;
        }
        let vq = crate::soft::theta(self.options.scheme, &self.discretization(dt)).vq;
        let Self { soft, islands, trees, state, .. } = self;
        for body in 0..soft.parts.len() {
            let recovers = islands.recovery_velocities_of(trees.len() + body).is_some();
            soft.advance(body, recovers, dt, vq, state);
        }
    }

    /// Wakes what soft bodies touch; whether it slept.
    pub(super) fn soft_touches_sleeper(&self) -> Option<usize> {
        let tree = |geom: usize| {
            let node = self.model.bodies[self.scene.geoms[geom].body].node?;
            Some(self.tree_of[node]).filter(|tree| self.trees[*tree].asleep)
        };
        let touched = self.soft.contacts.iter().find_map(|contact| match contact.partner {
            SoftPartner::Geom(geom) => tree(geom),
            SoftPartner::Soft(_) => None,
        });
        let held = || {
            let tree = |body: usize| Some(self.tree_of[self.model.bodies[body].node?]);
            self.soft.holds.iter().filter_map(|hold| tree(hold.body)).find(|tree| self.trees[*tree].asleep)
        };
        touched.or_else(held)
    }

    /// Keeps what became of the contact points of soft bodies.
    pub(super) fn report_soft(&mut self) {
        let Self { soft, soft_contacts, islands, stats, .. } = self;
        soft_contacts.clear();
        if soft.is_empty() {
            return;
        }
        soft_contacts.extend(soft.contacts.iter().map(SoftContactPoint::new));
        for (point, gap) in soft_contacts.iter_mut().zip(&soft.gaps) {
            point.gap = *gap;
        }
        for (index, outcome) in islands.soft_outcomes() {
            let point = &mut soft_contacts[index];
            (point.impulse, point.velocity) = (outcome.impulse, outcome.velocity);
            if outcome.impulse[2] > 0.0 {
                stats.active_contacts += 1;
                stats.penetration = stats.penetration.max(-point.gap);
            }
        }
        stats.contacts += soft.contacts.len();
        stats.free_iterations = stats.free_iterations.max(self.soft_iterations);
        stats.soft_residual = self.soft_residual;
        stats.iterations += self.earlier_iterations;
        self.soft_iterations = 0;
    }

    /// Where the contact points of soft bodies were in the last step, and what pushed there.
    pub fn soft_contacts(&self) -> &[SoftContactPoint] {
        &self.soft_contacts
    }

    /// Energies of one soft body in the present state, J.
    ///
    /// # Panics
    /// When there is no such soft body, or positions or velocities of the state have been given another size.
    pub fn soft_energy(&mut self, body: usize) -> deformable::Energy {
        self.soft.energy_of(body, &self.state, self.model.gravity)
    }

    /// Cauchy stress at the nodes of a soft body in the present state, world axes, Pa, into `stresses`, one a node: the mean over the
    /// elements of a node by volume.
    ///
    /// # Panics
    /// When there is no such soft body, or `stresses` or the state's positions have another size.
    pub fn soft_stresses(&mut self, body: usize, stresses: &mut [Sym3<f64>]) {
        self.soft.node_stresses_of(body, &self.state, stresses);
    }

    /// The von Mises stress at the nodes of a soft body in the present state, Pa, into `out`, one a node.
    ///
    /// # Panics
    /// When there is no such soft body, or `out` or the state's positions have another size.
    pub fn soft_von_mises(&mut self, body: usize, out: &mut [f64]) {
        self.soft.von_mises_of(body, &self.state, out);
    }

    /// The coordinates of a soft body's nodes among [`State::soft_positions`] and [`State::soft_velocities`], three a node.
    ///
    /// # Panics
    /// When there is no such soft body.
    pub fn soft_coordinates_of(&self, body: usize) -> std::ops::Range<usize> {
        self.soft.range(body)
    }
}

/// Every index of soft bodies must be one of the model and the scene.
pub(super) fn check_holds(model: &Model, scene: &geometry::Scene) -> Result<(), SimulationError> {
    for (i, hold) in scene.soft_attachments.iter().enumerate() {
        let what = || format!("attachment {i} of a soft body");
        let nodes = scene.soft_bodies.get(hold.soft).map_or(0, |body: &std::sync::Arc<SoftBody>| body.node_count());
        let indices = [
            ("soft body", hold.soft, scene.soft_bodies.len()),
            ("node", hold.node as usize, nodes),
            ("body", hold.body, model.bodies.len()),
        ];
        for (kind, index, count) in indices {
            if index >= count {
                return Err(SimulationError::Scene { what: what(), kind, index, count });
            }
        }
        if !hold.point.is_finite() {
            let Vec3 { x, y, z, .. } = hold.point;
            return Err(SimulationError::Attachment { index: i, point: [x, y, z] });
        }
    }
    Ok(())
}
