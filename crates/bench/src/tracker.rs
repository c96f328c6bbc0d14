//! A simulation that follows a motion by PD control.

use std::sync::Arc;

use multibody::Model;
use sim::{Options, Pd, Scheme, Simulation};
use spd::{Command, Method, Solver, pd_force};

use crate::Error;
use crate::subject::{EndEffector, Reference, Subject};

/// The paper's gains for all joints: N·m/rad and N·m·s/rad.
pub const JOINT_GAINS: [f64; 2] = [75_000.0, 4_000.0];
/// The paper's gains for the root, the "hand of God": N/m, N·m/rad and with s.
pub const ROOT_GAINS: [f64; 2] = [20_000.0, 2_000.0];

/// How the force of the controller comes from the acceleration q̈ that a solver found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torque {
    /// τ = M q̈ + C by RNEA.
    InverseDynamics,
    /// τ = Q − dt K_d q̈: the cheapest, but what dt K_d q̈ cancels of Q is lost to the following forward dynamics.
    RoundTrip,
}

/// How the controller acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Stable PD within the step, by MABA: one pass is forward dynamics and control, and contact meets the controlled joints.
    Embedded,
    /// Stable PD before the step: its force by a method of [`spd`], then a step under this force.
    TwoPass(Method, Torque),
    /// PD as of old: τ = −K_p (q ⊟ q̄) − K_d (q̇ − q̇̄) at the beginning of the step, then a step under this force.
    Explicit,
}

impl Control {
    /// The name in tables: MABA, DF, PCG, SF as in the paper.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embedded => "MABA",
            Self::TwoPass(Method::Maba, _) => "MABA, standalone",
            Self::TwoPass(Method::Dense, _) => "DF",
            Self::TwoPass(Method::Sparse, _) => "SF",
            Self::TwoPass(Method::SparseBlocks, _) => "SF, 3×3 blocks",
            Self::TwoPass(Method::Pcg, _) => "PCG",
            Self::Explicit => "explicit PD",
        }
    }

    /// The name in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Embedded => "maba",
            Self::TwoPass(Method::Maba, _) => "maba_standalone",
            Self::TwoPass(Method::Dense, _) => "dense",
            Self::TwoPass(Method::Sparse, _) => "sparse",
            Self::TwoPass(Method::SparseBlocks, _) => "sparse_blocks",
            Self::TwoPass(Method::Pcg, _) => "pcg",
            Self::Explicit => "explicit",
        }
    }
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It ended; the root of the mean square of the error, m.
    Tracked(f64),
    /// The error grew beyond [`LOST`], or a step failed, at this time, s.
    Diverged(f64),
}

/// An end effector that is this far from where it should be, as seen from the root, will not come back, m.
pub const LOST: f64 = 1.0;

/// A simulation that follows a reference. Target of every step is the pose at its end, target velocity 0, as in the paper.
pub struct Tracker {
    control: Control,
    reference: Reference,
    simulation: Simulation,
    solver: Solver,
    /// Gains, and in `target` the pose to reach in this step.
    pd: Pd,
    force: Vec<f64>,
    start: Vec<u8>,
}

impl Tracker {
    /// A tracker at the first pose of the reference, moving with it. Contact with the ground is on if the subject has one.
    ///
    /// # Errors
    /// When the motion does not fit the character.
    pub fn new(subject: &Subject, control: Control, dt: f64, steps: usize) -> Result<Self, Error> {
        let reference = subject.reference(dt, steps)?;
        let mut simulation = simulation(&subject.model, subject, dt)?;
        let pd = gains(&subject.model);
        let state = simulation.state_mut();
        state.q.copy_from_slice(reference.at(0));
        state.v.copy_from_slice(&reference.velocity);
        if control == Control::Embedded {
            state.pd.clone_from(&pd);
        }
        let method = if let Control::TwoPass(method, _) = control { method } else { Method::Maba };
        let force = vec![0.0; subject.model.nv()];
        let (start, solver) = (simulation.state().to_bytes(), Solver::new(&subject.model, method));
        Ok(Self { control, reference, simulation, solver, pd, force, start })
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The reference.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Goes back to the beginning.
    ///
    /// # Errors
    /// None, as the state is its own.
    pub fn restart(&mut self) -> Result<(), Error> {
        Ok(self.simulation.state_mut().restore(&self.start)?)
    }

    /// One step towards the next pose of the reference.
    ///
    /// # Errors
    /// When the motion has diverged.
    pub fn step(&mut self) -> Result<(), Error> {
        match self.control {
            Control::Embedded => {
                let state = self.simulation.state_mut();
                state.pd.target.copy_from_slice(self.reference.aim(state.step));
            }
            Control::TwoPass(_, torque) => {
                self.aim();
                self.solve(torque)?;
                self.simulation.state_mut().applied_force.copy_from_slice(&self.force);
            }
            Control::Explicit => {
                self.aim();
                self.pd_force(0.0);
                self.simulation.state_mut().applied_force.copy_from_slice(&self.force);
            }
        }
        Ok(self.simulation.step()?)
    }

    /// Puts the state where it is said to be, time and the contact solver's memory left as they are.
    pub fn place(&mut self, q: &[f64], v: &[f64]) {
        place(&mut self.simulation, q, v);
    }

    /// The part of the force of the next step that can be replayed: −K_p (q ⊞ dt v ⊟ q̄) of embedded control, τ of the others,
    /// (nv).
    ///
    /// # Errors
    /// When the system is singular.
    fn replayable_force(&mut self) -> Result<&[f64], Error> {
        self.aim();
        match self.control {
            Control::Embedded => {
                self.pd_force(self.reference.dt);
                for ((force, kd), v) in self.force.iter_mut().zip(&self.pd.kd).zip(&self.simulation.state().v) {
                    *force += kd * v;
                }
            }
            Control::TwoPass(_, torque) => self.solve(torque)?,
            Control::Explicit => self.pd_force(0.0),
        }
        Ok(&self.force)
    }

    /// The pose of the end of this step.
    fn aim(&mut self) {
        self.pd.target.copy_from_slice(self.reference.aim(self.simulation.state().step));
    }

    fn pd_force(&mut self, dt: f64) {
        let (state, tree) = (self.simulation.state(), &self.simulation.model().tree);
        pd_force(tree, &state.q, &state.v, &command(&self.pd), dt, &mut self.force);
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

    /// Runs along the whole reference and compares an end effector after every step.
    ///
    /// # Errors
    /// Those of [`Tracker::restart`]; a motion that diverges is an outcome.
    pub fn run(&mut self, mut effector: EndEffector) -> Result<Outcome, Error> {
        self.restart()?;
        for k in 1..=self.reference.steps() {
            let stepped = self.step().is_ok();
            let (model, q) = (self.simulation.model(), &self.simulation.state().q);
            // What is not a number is not within reach either.
            let within = stepped && effector.compare(model, q, self.reference.at(k)) <= LOST;
            if !within {
                return Ok(Outcome::Diverged(k as f64 * self.reference.dt));
            }
        }
        Ok(Outcome::Tracked(effector.root_mean_square()))
    }
}

/// The methods of stable PD are compared in the step that the paper solves, with Coriolis forces at its beginning.
fn simulation(model: &Arc<Model>, subject: &Subject, dt: f64) -> Result<Simulation, Error> {
    let options = Options { timestep: Some(dt), scheme: Scheme::SymplecticEuler, ..Options::default() };
    Ok(Simulation::new(model.clone(), subject.scene.clone(), options)?)
}

/// The paper's gains on every degree of freedom; the first six are the root's.
pub fn gains(model: &Model) -> Pd {
    let nv = model.nv();
    let of = |which: usize| (0..nv).map(|i| if i < 6 { ROOT_GAINS[which] } else { JOINT_GAINS[which] }).collect();
    Pd {
        kp: of(0),
        kd: of(1),
        target: model.q0.clone(),
        target_velocity: vec![0.0; nv],
        effort_limit: vec![f64::INFINITY; nv],
    }
}

/// The controller as a command; its target velocity is 0.
pub(crate) fn command(pd: &Pd) -> Command<'_> {
    Command { kp: &pd.kp, kd: &pd.kd, target: &pd.target, target_velocity: None, effort_limit: None }
}

fn place(simulation: &mut Simulation, q: &[f64], v: &[f64]) {
    let state = simulation.state_mut();
    state.q.copy_from_slice(q);
    state.v.copy_from_slice(v);
}

/// The states from which a run's steps start.
#[derive(Clone, Debug, Default)]
pub struct States {
    q: Vec<f64>,
    v: Vec<f64>,
}

impl States {
    /// Those of a tracker along its reference.
    ///
    /// # Errors
    /// When the motion diverges.
    pub fn of(tracker: &mut Tracker) -> Result<Self, Error> {
        tracker.restart()?;
        let mut states = Self::default();
        for _ in 0..tracker.reference.steps() {
            states.q.extend_from_slice(&tracker.simulation.state().q);
            states.v.extend_from_slice(&tracker.simulation.state().v);
            tracker.step()?;
        }
        Ok(states)
    }

    /// Positions and velocities, one pair a step.
    pub fn iter(&self, model: &Model) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.q.chunks_exact(model.nq()).zip(self.v.chunks_exact(model.nv()))
    }
}

/// A simulation whose controller's forces are known beforehand: steps without control.
pub struct Replay {
    simulation: Simulation,
    start: Vec<u8>,
    nv: usize,
    forces: Vec<f64>,
}

impl Replay {
    /// The forces of a tracker at these states. Of embedded control it is −K_p (q ⊞ dt v ⊟ q̄); K_d is damping of the model's
    /// joints, which the step has in its factor anyway: the same equations, so that contact has the same work to do.
    ///
    /// # Errors
    /// When a controller's system is singular.
    pub fn of(tracker: &mut Tracker, subject: &Subject, states: &States) -> Result<Self, Error> {
        tracker.restart()?;
        let (nv, dt) = (subject.model.nv(), tracker.reference.dt);
        let mut forces = Vec::with_capacity(states.v.len());
        for (k, (q, v)) in states.iter(&subject.model).enumerate() {
            tracker.place(q, v);
            tracker.simulation.state_mut().step = k as u64;
            forces.extend_from_slice(tracker.replayable_force()?);
        }
        let mut model = subject.model.clone();
        if tracker.control == Control::Embedded {
            for (damping, kd) in Arc::make_mut(&mut model).damping.iter_mut().zip(&tracker.pd.kd) {
                *damping += kd;
            }
        }
        let simulation = simulation(&model, subject, dt)?;
        let start = simulation.state().to_bytes();
        Ok(Self { simulation, start, nv, forces })
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Goes back to the beginning.
    ///
    /// # Errors
    /// None, as the state is its own.
    pub fn restart(&mut self) -> Result<(), Error> {
        Ok(self.simulation.state_mut().restore(&self.start)?)
    }

    /// Puts the state where it is said to be.
    pub fn place(&mut self, q: &[f64], v: &[f64]) {
        place(&mut self.simulation, q, v);
    }

    /// One step.
    ///
    /// # Errors
    /// When it fails, which it does not where the tracker's did not.
    pub fn step(&mut self) -> Result<(), Error> {
        let state = self.simulation.state_mut();
        let k = state.step as usize * self.nv;
        if let Some(force) = self.forces.get(k..k + self.nv) {
            state.applied_force.copy_from_slice(force);
        }
        Ok(self.simulation.step()?)
    }
}
