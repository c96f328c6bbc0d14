//! A simulation that follows a motion by PD control.

use std::sync::Arc;

use geometry::Scene;
use multibody::{Model, damps_alone};
use sim::stable_pd::{Method, Solver, pd_force};
use sim::{Options, Pd, Scheme, Simulation};

use super::control::{Control, Gains, Target, Torque, command};
use super::{Error, Reference};

/// What a tracker does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controller {
    /// How it acts.
    pub control: Control,
    /// What it is asked to reach.
    pub target: Target,
    /// Its gains.
    pub gains: Gains,
    /// Greatest force of every degree of freedom but the root's, N or N·m; infinity for none.
    pub effort_limit: f64,
}

impl Controller {
    /// The paper's: its gains, poses at the end of the step and at rest.
    pub fn of_paper(control: Control) -> Self {
        Self { control, target: Target::End, gains: Gains::default(), effort_limit: f64::INFINITY }
    }

    /// Whether all is within its domain.
    ///
    /// # Errors
    /// When a gain or limit is not.
    pub fn check(&self) -> Result<(), Error> {
        let expected = "a finite number, 0 or more";
        let named = ["joint gain kp", "joint gain kd"].into_iter().zip(self.gains.joints);
        let root = ["root gain kp", "root gain kd"].into_iter().zip(self.gains.root.unwrap_or_default());
        for (name, value) in named.chain(root) {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::Option { name, value, expected });
            }
        }
        if self.effort_limit.is_nan() || self.effort_limit < 0.0 {
            return Err(Error::Option { name: "effort limit", value: self.effort_limit, expected: "0 or more" });
        }
        Ok(())
    }
}

/// A simulation that follows a reference, in the step that the paper solves: symplectic Euler, Coriolis forces at its beginning.
pub struct Tracker {
    model: Arc<Model>,
    controller: Controller,
    reference: Reference,
    simulation: Simulation,
    solver: Solver,
    /// Gains, and what to reach in this step.
    pd: Pd,
    /// Where the paper's law is not that of the simulation: K_d is damping of the joints then, and the rest an applied force.
    damped: bool,
    force: Vec<f64>,
    start: Vec<u8>,
}

impl Tracker {
    /// A tracker at the first pose of the reference, moving with it.
    ///
    /// # Errors
    /// When the controller or the time step is refused.
    pub fn new(
        model: &Arc<Model>,
        scene: &Arc<Scene>,
        reference: Reference,
        controller: Controller,
    ) -> Result<Self, Error> {
        controller.check()?;
        let (dt, pd) = (reference.dt, controller.gains.controller(model, controller.effort_limit));
        let alike = pd.kp.iter().zip(&pd.kd).all(|(kp, kd)| damps_alone(*kp, *kd, dt));
        let damped = controller.control == Control::Embedded && !alike;
        if damped && pd.effort_limit.iter().any(|limit| *limit < f64::INFINITY) {
            return Err(Error::Limit);
        }
        let mut simulation = simulation(&if damped { with_damping(model, &pd.kd) } else { model.clone() }, scene, dt)?;
        let state = simulation.state_mut();
        state.q.copy_from_slice(reference.at(0));
        state.v.copy_from_slice(&reference.velocity);
        if matches!(controller.control, Control::Embedded | Control::Unconditional) && !damped {
            state.pd.clone_from(&pd);
        }
        let method = if let Control::TwoPass(method, _) = controller.control { method } else { Method::Maba };
        let force = vec![0.0; model.nv()];
        let (start, solver) = (simulation.state().to_bytes(), Solver::new(model, method));
        Ok(Self { model: model.clone(), controller, reference, simulation, solver, pd, damped, force, start })
    }

    /// What it does.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Gains, and what was to be reached in the last step.
    pub fn pd(&self) -> &Pd {
        &self.pd
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The simulation, to be looked at and recorded.
    pub fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// The reference.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Puts the state where it is said to be; time and the contact solver's memory stay as they are.
    pub fn place(&mut self, q: &[f64], v: &[f64]) {
        let state = self.simulation.state_mut();
        state.q.copy_from_slice(q);
        state.v.copy_from_slice(v);
    }

    /// Goes back to the beginning.
    pub fn restart(&mut self) {
        // Its own bytes fit.
        let restored = self.simulation.state_mut().restore(&self.start);
        debug_assert!(restored.is_ok());
    }

    /// One step towards the next pose of the reference.
    ///
    /// # Errors
    /// When the motion has diverged.
    pub fn step(&mut self) -> Result<(), Error> {
        self.control()?;
        Ok(self.simulation.step()?)
    }

    /// What comes before the simulation's step: the controller's target, or its force. Alone it is the cost of control.
    ///
    /// # Errors
    /// When the system is singular.
    pub fn control(&mut self) -> Result<(), Error> {
        let step = self.simulation.state().step;
        if self.is_within() {
            let pd = &mut self.simulation.state_mut().pd;
            aim(&self.model, &self.reference, self.controller.target, step, pd);
            return Ok(());
        }
        self.find_force()?;
        self.simulation.state_mut().applied_force.copy_from_slice(&self.force);
        Ok(())
    }

    /// The part of the force of the next step that does not depend on its end, (nv): τ of control before the step, and
    /// −K_p (q ⊞ dt v ⊟ q̄) + K_d v̄ of control within it, to which K_d as damping of the joints belongs.
    ///
    /// # Errors
    /// When the system is singular.
    pub fn find_force(&mut self) -> Result<&[f64], Error> {
        let step = self.simulation.state().step;
        aim(&self.model, &self.reference, self.controller.target, step, &mut self.pd);
        let dt = self.reference.dt;
        match self.controller.control {
            Control::Embedded | Control::Unconditional => {
                self.pd_force(dt);
                for ((force, kd), v) in self.force.iter_mut().zip(&self.pd.kd).zip(&self.simulation.state().v) {
                    *force += kd * v;
                }
            }
            Control::TwoPass(_, torque) => self.solve(torque)?,
            Control::Explicit => {
                self.pd_force(0.0);
                for (force, limit) in self.force.iter_mut().zip(&self.pd.effort_limit) {
                    *force = force.clamp(-limit, *limit);
                }
            }
        }
        Ok(&self.force)
    }

    /// Whether the simulation has the controller.
    fn is_within(&self) -> bool {
        matches!(self.controller.control, Control::Embedded | Control::Unconditional) && !self.damped
    }

    fn pd_force(&mut self, dt: f64) {
        let state = self.simulation.state();
        pd_force(&self.model.tree, &state.q, &state.v, &command(&self.pd), dt, &mut self.force);
    }

    fn solve(&mut self, torque: Torque) -> Result<(), Error> {
        let (state, command, dt) = (self.simulation.state(), command(&self.pd), self.reference.dt);
        self.solver.solve(&state.q, &state.v, &command, dt)?;
        match torque {
            Torque::InverseDynamics => {
                self.force.copy_from_slice(self.solver.torque(&state.q, &state.v, &command));
            }
            Torque::RoundTrip => {
                let (force, acceleration) = (self.solver.explicit_force(), self.solver.acceleration());
                for (i, tau) in self.force.iter_mut().enumerate() {
                    *tau = force[i] - dt * command.kd[i] * acceleration[i];
                }
            }
        }
        Ok(())
    }
}

/// Sets what is to be reached in a step.
fn aim(model: &Model, reference: &Reference, target: Target, step: u64, pd: &mut Pd) {
    let pose = match target {
        Target::Start => reference.at(usize::try_from(step).unwrap_or(usize::MAX)),
        Target::End | Target::EndWithVelocity => reference.aim(step),
    };
    pd.target.copy_from_slice(pose);
    if target == Target::EndWithVelocity {
        reference.velocity_in(model, step, &mut pd.target_velocity);
    }
}

/// The model with this damping of its joints added.
pub fn with_damping(model: &Arc<Model>, kd: &[f64]) -> Arc<Model> {
    let mut model = model.clone();
    for (damping, kd) in Arc::make_mut(&mut model).damping.iter_mut().zip(kd) {
        *damping += kd;
    }
    model
}

/// A simulation in the step that the paper solves.
///
/// # Errors
/// When the time step or the scene is refused.
pub fn simulation(model: &Arc<Model>, scene: &Arc<Scene>, dt: f64) -> Result<Simulation, Error> {
    let options = Options { timestep: Some(dt), scheme: Scheme::SymplecticEuler, ..Options::default() };
    Ok(Simulation::new(model.clone(), scene.clone(), options)?)
}
