//! The forces of the last step by their origin, and its accelerations.
//!
//! A step does not gather them, as most programs never ask. It keeps a few vectors of its beginning: these and the workspaces of the trees
//! give every force on request. Code that uses the workspaces for something else between steps calls [`Simulation::keep_forces`] before.

use super::Simulation;
use multibody::Transmission;

use crate::actuation::axis_force;
use crate::constrain::PlacedTendons;
use crate::step_forces::{ActingForces, KnownForces, LastStep, StepForces};

impl Simulation {
    /// The forces of the last step by their origin; zero before the first, and after one that failed.
    pub fn step_forces(&mut self) -> &StepForces {
        self.keep_forces();
        &self.last_step.forces
    }

    /// Those of actuators and constraints among them, which take less to find.
    pub fn acting_forces(&mut self) -> ActingForces<'_> {
        self.keep_acting_forces();
        let StepForces { actuators, actuation, constraint, .. } = &self.last_step.forces;
        ActingForces { actuators, actuation, constraint }
    }

    /// The tendons where the state is; the next step takes them from there. None where no string acts, where one does not, and where bodies are
    /// moved from outside, as these are placed at the beginning of a step.
    pub fn place_tendons(&mut self) -> Option<PlacedTendons<'_>> {
        if !self.mocap.is_empty() {
            return None;
        }
        if self.options.scheme.is_implicit() {
            // They have taken the strings elsewhere in the step.
            self.keep_acting_forces();
        }
        self.sources.place_tendons(&self.model, &self.tree_of, &self.state.q);
        self.sources.placed_tendons(&self.model, &self.state.q)
    }

    /// Finds the forces of the last step while the workspaces know them.
    pub(super) fn keep_forces(&mut self) {
        if self.last_step.known == KnownForces::All {
            return;
        }
        self.keep_acting_forces();
        let mut last = std::mem::take(&mut self.last_step);
        last.known = KnownForces::All;
        if last.dt > 0.0 {
            let (step, is_of_lane) = (self.discretization(last.dt), self.is_of_lane());
            let mut forces = std::mem::take(&mut last.forces);
            for workspace in self.trees.iter_mut().filter(|workspace| !workspace.asleep) {
                if is_of_lane {
                    workspace.place_loads(&last.q);
                }
                workspace.add_passive_forces(&last, &step, &mut forces.passive);
            }
            last.forces = forces;
        }
        self.last_step = last;
    }

    fn keep_acting_forces(&mut self) {
        if self.last_step.known >= KnownForces::Acting {
            return;
        }
        let mut last = std::mem::take(&mut self.last_step);
        last.known = KnownForces::Acting;
        last.forces.clear(&self.model);
        if last.dt > 0.0 {
            self.follow_lane(&mut last);
            self.find_acting_forces(&mut last);
        }
        self.last_step = last;
    }

    fn find_acting_forces(&mut self, last: &mut LastStep) {
        let (step, is_of_lane) = (self.discretization(last.dt), self.is_of_lane());
        let mut forces = std::mem::take(&mut last.forces);
        if !self.options.scheme.is_implicit() {
            self.sources.place_tendons_again(&self.model, &self.tree_of, &last.q);
        }
        for workspace in self.trees.iter_mut().filter(|workspace| !workspace.asleep) {
            if !is_of_lane {
                workspace.write_constraint_forces(last, &mut forces);
            }
            workspace.add_drive_forces(last, &step, &mut forces);
        }
        self.sources.add_tendon_forces(last, &step, &self.trees, &mut forces);
        let StepForces { actuators, actuation, .. } = &mut forces;
        self.sources.write_actuators(last, &step, &self.trees, actuators);
        actuation.iter_mut().zip(&self.adhesion.force).for_each(|(force, pull)| *force += pull);
        self.trees.iter_mut().for_each(|workspace| workspace.write_actuators(last, &step, actuators));
        for (ctrl, actuator) in self.model.actuators.iter().enumerate() {
            if let Transmission::Adhesion { .. } = actuator.transmission {
                actuators[ctrl] = axis_force(actuator, last.inputs[ctrl], 0.0, 0.0, None);
            }
        }
        last.forces = forces;
    }
}
