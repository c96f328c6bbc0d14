//! The forces that a given acceleration takes, contacts, limits and drives included.

use sap::{Linearization, Structure};

use super::Simulation;
use super::jacobians::{Scratch, first_rows};
use crate::{ContactLaw, SimulationError};

/// Rounds in which what a step adds to velocities to keep energy and momentum is found, of velocities that it leaves: it is of second order in
/// the step.
const CORRECTIONS: usize = 4;

/// Rounds in which forces are found: laws of constraints look at free motion, which the forces change, a little as a rule.
const MAX_ROUNDS: usize = 50;
/// Of the largest force, momenta over the step and impulses of constraints included: where rounds end, and what counts as found.
const TOLERANCE: f64 = 1e-12;
const FOUND: f64 = 1e-6;

impl Simulation {
    /// The forces, (nv), that added to [`State::applied_force`](crate::State::applied_force) give the next step this acceleration
    /// ((v − v₀)/dt, v those of the state at its end): contacts, limits, friction, springs, dampers, actuators and PD control act as they do
    /// at that end. Zero for the acceleration that the step has anyway. The simulation stays as it is.
    ///
    /// Where constraints start violated, the velocities that right them are those of the step without these forces. Costs a step.
    ///
    /// # Errors
    /// Those of [`step`](Self::step), another number of accelerations, and [`SimulationError::NoJacobian`] under the options that
    /// [`step_jacobians`](Self::step_jacobians) refuses and where no forces are found.
    pub fn inverse_dynamics(&mut self, acceleration: &[f64]) -> Result<Vec<f64>, SimulationError> {
        let (found, expected) = (acceleration.len(), self.model.nv());
        if found != expected {
            return Err(SimulationError::Size { name: "acceleration", found, expected });
        }
        self.check_linear()?;
        self.keep_forces();
        let (state, asked) = (self.state.clone(), self.sensing.asked.take());
        let forces = self.with_acting_controls(|simulation| simulation.forces_of(acceleration));
        (self.state, self.sensing.asked) = (state, asked);
        forces
    }

    fn forces_of(&mut self, acceleration: &[f64]) -> Result<Vec<f64>, SimulationError> {
        let dt = self.timestep();
        self.move_mocap(dt);
        self.find_velocities(dt, false)?;
        let ends: Vec<f64> = self.state.v.iter().zip(acceleration).map(|(v, a)| v + dt * a).collect();
        let mut forces = vec![0.0; ends.len()];
        for round in 1..=MAX_ROUNDS {
            self.check_interrupt()?;
            let (missing, scale) = self.missing_forces(&ends, dt)?;
            self.state.applied_force.iter_mut().zip(&missing).for_each(|(applied, force)| *applied += force);
            forces.iter_mut().zip(&missing).for_each(|(all, force)| *all += force);
            let (missing, scale) = (largest(&missing), scale.max(largest(&forces)));
            if missing <= TOLERANCE * scale || round == MAX_ROUNDS && missing <= FOUND * scale {
                return Ok(forces);
            }
        }
        Err(self
            .no_jacobian("the forces of this acceleration change the laws of constraints too much to be found".into()))
    }

    /// What the applied forces lack for the step to leave the velocities `ends`, the laws of constraints being those that they are with these forces;
    /// and the scale of what it is a difference of.
    fn missing_forces(&mut self, ends: &[f64], dt: f64) -> Result<(Vec<f64>, f64), SimulationError> {
        self.gather_forces(dt);
        self.trees.iter_mut().for_each(|workspace| workspace.move_freely(&self.v_start));
        self.v_next.copy_from_slice(ends);
        for _ in 0..CORRECTIONS {
            // What the step does not resolve is taken as it is.
            let _ = self.conserve();
            for workspace in &self.trees {
                let Some(lack) = workspace.lack() else { continue };
                let dofs = workspace.dofs.clone();
                for ((v, end), lack) in self.v_next[dofs.clone()].iter_mut().zip(&ends[dofs]).zip(lack) {
                    *v = end - lack;
                }
            }
        }
        self.saturate_drives();
        self.detect(dt, 0.0);
        self.check_contacts()?;
        self.constrain_all(self.rule(dt, 0.0));
        let v = std::mem::take(&mut self.v_next);
        let (_, rows) = first_rows(&self.set.constraints);
        let (mut scratch, mut balance, mut v_c) = (Scratch::new(self), vec![0.0; v.len()], vec![0.0; rows]);
        scratch.coupled(self).products(&v, &mut balance, &mut v_c);
        let is_coulomb = self.options.contact == ContactLaw::Coulomb;
        let impulses = Linearization::new(&self.set.constraints, &v_c, is_coulomb);
        let scale = largest(&balance).max(largest(impulses.impulses())) / dt;
        scratch.balance(self, &v, impulses.impulses(), &mut balance);
        self.v_next = v;
        balance.iter_mut().for_each(|impulse| *impulse /= dt);
        Ok((balance, scale))
    }
}

fn largest(all: &[f64]) -> f64 {
    all.iter().fold(0.0, |most, x| f64::max(most, x.abs()))
}
