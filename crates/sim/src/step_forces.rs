//! What is kept of a step for its forces, and these.

use multibody::Model;

use spatial::Twist;

use crate::State;

/// Forces of the last step by their origin, N or N·m: impulses over the step's length.
///
/// With M (armature included) and the bias forces c as the scheme takes them, M (v − v₀)/dt + c = `actuation` + `pd` + `passive` +
/// `constraint` + applied forces. Of a step that was made in parts, and under error control, these are the forces of the last part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepForces {
    /// Of each actuator, before its gear and within its own limits, (nu).
    pub actuators: Vec<f64>,
    /// Of all actuators on the degrees of freedom, within the joints' effort limits, with the gravity compensation that is theirs, (nv).
    pub actuation: Vec<f64>,
    /// Of the PD controller, (nv).
    pub pd: Vec<f64>,
    /// Of springs and dampers of joints and tendons, of other gravity compensation and of the medium, (nv).
    pub passive: Vec<f64>,
    /// Of contacts, limits, equalities and dry friction, (nv).
    pub constraint: Vec<f64>,
    /// Of springs, dampers and actuators along each tendon, (ntendon); those that shorten it are negative.
    pub tendons: Vec<f64>,
}

impl StepForces {
    /// Zero, where there are none yet.
    pub(crate) fn ensure(&mut self, model: &Model) {
        let Self { actuators, actuation, tendons, .. } = self;
        if (actuators.len(), actuation.len(), tendons.len()) != (model.nu(), model.nv(), model.tendons.len()) {
            self.clear(model);
        }
    }

    pub(crate) fn clear(&mut self, model: &Model) {
        let (nu, nv) = (model.nu(), model.nv());
        let Self { actuators, actuation, pd, passive, constraint, tendons } = self;
        let of_dofs = [actuation, pd, passive, constraint].map(|x| (x, nv));
        for (x, n) in of_dofs.into_iter().chain([(actuators, nu), (tendons, model.tendons.len())]) {
            x.clear();
            x.resize(n, 0.0);
        }
    }

    /// As there is no step.
    pub(crate) fn fill_zero(&mut self) {
        let Self { actuators, actuation, pd, passive, constraint, tendons } = self;
        for x in [actuators, actuation, pd, passive, constraint, tendons] {
            x.fill(0.0);
        }
    }
}

/// What a step started from and led to.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastStep {
    /// Its length, s; 0 when there was none.
    pub dt: f64,
    /// The same of the last step that succeeded.
    pub length: f64,
    /// Positions at its beginning, (nq).
    pub q: Vec<f64>,
    /// Velocities of the state at its beginning, those after impacts, and those at its end, (nv).
    pub v_before: Vec<f64>,
    pub v0: Vec<f64>,
    pub v: Vec<f64>,
    /// Controls, in their place activations of the step, (nu).
    pub inputs: Vec<f64>,
    /// Activations at its beginning, (na).
    pub act: Vec<f64>,
    /// Limits of the PD controller, (nv); empty without one.
    pub pd_limits: Vec<f64>,
    /// (velocities of the state at its end − those at its beginning) / dt, (nv).
    pub acceleration: Vec<f64>,
    /// Of the bodies that are moved from outside, (nmocap); empty where none is known.
    pub base_accelerations: Vec<Twist<f64>>,
    /// Changes with the step.
    pub serial: u64,
    pub forces: StepForces,
    /// Which of `forces` are this step's.
    pub known: KnownForces,
}

/// Which of a step's forces have been found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KnownForces {
    #[default]
    None,
    /// All but those of springs and dampers of joints, gravity compensation and the medium.
    Acting,
    All,
}

/// Those of the [`StepForces`] that actuators and constraints exert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActingForces<'a> {
    /// Of each actuator, before its gear and within its own limits, (nu).
    pub actuators: &'a [f64],
    /// Of all actuators on the degrees of freedom, within the joints' effort limits, (nv).
    pub actuation: &'a [f64],
    /// Of contacts, limits, equalities and dry friction, (nv).
    pub constraint: &'a [f64],
}

impl LastStep {
    /// Notes what a step from `state` led to.
    pub fn begin(&mut self, state: &State, v0: &[f64], v: &[f64], dt: f64) {
        (self.dt, self.length, self.known) = (dt, dt, KnownForces::None);
        self.serial = self.serial.wrapping_add(1);
        self.pd_limits.clear();
        if state.pd.is_active() {
            self.pd_limits.extend_from_slice(&state.pd.effort_limit);
        }
        let vectors = [
            (&mut self.q, &state.q[..]),
            (&mut self.v_before, &state.v),
            (&mut self.inputs, &state.ctrl),
            (&mut self.act, &state.act),
            (&mut self.v0, v0),
            (&mut self.v, v),
        ];
        for (to, from) in vectors {
            to.clear();
            to.extend_from_slice(from);
        }
    }

    /// Whether it was one of `dt` with the positions and controls that a state has.
    pub fn is_of(&self, state: &State, dt: f64) -> bool {
        self.dt == dt && self.q == state.q && self.inputs == state.ctrl
    }

    /// Notes the velocities that the step left in the state.
    pub fn end(&mut self, v: &[f64]) {
        let per_second = 1.0 / self.dt;
        self.acceleration.clear();
        self.acceleration.extend(v.iter().zip(&self.v_before).map(|(v, v0)| (v - v0) * per_second));
    }

    /// The workspaces will be those of another step: forces that nobody asked for until now are lost, if that step fails.
    pub fn forget_workspaces(&mut self) {
        if self.known != KnownForces::All {
            (self.dt, self.known) = (0.0, KnownForces::None);
        }
    }

    /// There was no step.
    pub fn clear(&mut self) {
        (self.dt, self.length, self.known) = (0.0, 0.0, KnownForces::None);
        self.serial = self.serial.wrapping_add(1);
        self.acceleration.fill(0.0);
        self.base_accelerations.clear();
    }
}
