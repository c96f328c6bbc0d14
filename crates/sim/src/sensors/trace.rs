//! What sensors need of a step that was not made by a [`Simulation`](crate::Simulation): of worlds in lanes.

use lanes::{ConstraintName, LaneLoad, WarmStartEntry};
use multibody::{Kinematics, Model, Sensor, SensorKind, StepForce, Tendon, Transmission, forward_kinematics};
use spatial::Vec3;

use super::EndLoad;
use crate::actuation::{Leverage, force_law};
use crate::constraint_jacobian::{ConstraintEnd, Motion};
use crate::scheme::Discretization;
use crate::step_forces::StepForces;
use crate::{ContactPoint, Options, SoftContactPoint, WarmStart};

/// What the sensors of accelerations and forces look at: a step's accelerations, and its impulses by their origin.
#[derive(Clone, Debug, Default)]
pub struct StepTrace {
    /// The length of the step, s; 0 when there was none.
    pub(crate) dt: f64,
    /// (velocities at its end − those at its beginning) / dt, (nv).
    pub(crate) acceleration: Vec<f64>,
    pub(crate) forces: StepForces,
    pub(crate) contacts: Vec<ContactPoint>,
    pub(crate) soft_contacts: Vec<SoftContactPoint>,
    pub(crate) loads: Vec<EndLoad>,
    pub(crate) limits: WarmStart,
    /// Scratch: drives of joints with limited effort, (nv); of a step in lanes, and where nodes were at its beginning.
    drives: Vec<Option<StepForce<f64>>>,
    pub(crate) lane: LaneScratch,
    frames: Option<Kinematics<f64>>,
}

/// Vectors of one lane, kept so that a trace allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneScratch {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub ctrl: Vec<f64>,
    pub mobility: Vec<f64>,
    pub v_solved: Vec<f64>,
    pub v_end: Vec<f64>,
}

/// What of a step the sensors of a model look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceNeeds {
    /// Anything at all: accelerations at least.
    pub anything: bool,
    /// Impulses of contacts and of what ties bodies.
    pub contacts: bool,
    /// Impulses of limits.
    pub limits: bool,
    /// Forces of actuators.
    pub actuators: bool,
}

/// The beginning and the end of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepEnds<'a> {
    /// Positions and velocities at its beginning, and controls.
    pub q: &'a [f64],
    /// Velocities at its beginning.
    pub v: &'a [f64],
    /// Controls.
    pub ctrl: &'a [f64],
    /// How easily what actuators act on is moved, see [`multibody::InverseWeights::of_actuator`].
    pub mobility: &'a [f64],
    /// Velocities that the forces of the step lead to.
    pub v_solved: &'a [f64],
    /// Velocities at its end.
    pub v_end: &'a [f64],
    /// Its length, s.
    pub dt: f64,
}

impl TraceNeeds {
    /// What these sensors of a model look at.
    pub fn of(model: &Model, sensors: &[Sensor]) -> Self {
        let mut needs = Self::default();
        let has_strings = model.tendons.iter().any(Tendon::is_spatial);
        sensors.iter().for_each(|sensor| needs.add(sensor, has_strings));
        needs
    }

    fn add(&mut self, sensor: &Sensor, has_strings: bool) {
        use multibody::{FrameQuantity, JointQuantity, SiteQuantity, TendonQuantity};
        let (mut contacts, mut limits, mut acceleration) = (false, false, false);
        let mut actuators = super::needs_forces(sensor);
        match sensor.kind {
            SensorKind::Joint { quantity: JointQuantity::LimitForce, .. }
            | SensorKind::Tendon { quantity: TendonQuantity::LimitForce, .. } => limits = true,
            SensorKind::Frame { quantity, .. } => {
                acceleration =
                    matches!(quantity, FrameQuantity::LinearAcceleration | FrameQuantity::AngularAcceleration);
            }
            SensorKind::Site { quantity, .. } => {
                contacts = matches!(quantity, SiteQuantity::Force | SiteQuantity::Torque | SiteQuantity::Touch);
                acceleration = quantity == SiteQuantity::Acceleration;
                if has_strings && matches!(quantity, SiteQuantity::Force | SiteQuantity::Torque) {
                    (limits, actuators) = (true, true);
                }
            }
            SensorKind::Contact(_) => contacts = true,
            // All by name: of a new kind the compiler asks here what it looks at.
            SensorKind::Clock
            | SensorKind::PotentialEnergy
            | SensorKind::KineticEnergy
            | SensorKind::Joint { .. }
            | SensorKind::Tendon { .. }
            | SensorKind::Actuator { .. }
            | SensorKind::InsideSite { .. }
            | SensorKind::Subtree { .. }
            | SensorKind::Distance { .. }
            | SensorKind::Projection { .. }
            | SensorKind::Rangefinder { .. }
            | SensorKind::Unsupported { .. } => {}
        }
        self.contacts |= contacts;
        self.limits |= limits;
        self.actuators |= actuators;
        self.anything |= contacts | limits | actuators | acceleration;
    }
}

impl StepTrace {
    /// There was no step: sensors of accelerations and forces show zero, but for gravity.
    pub fn clear(&mut self) {
        self.dt = 0.0;
        self.acceleration.fill(0.0);
        self.contacts.clear();
        self.soft_contacts.clear();
        self.loads.clear();
        self.forces.fill_zero();
    }

    /// Begins the trace of a step of `model`: its accelerations, and the forces of actuators where they are needed.
    pub(crate) fn begin(&mut self, model: &Model, options: &Options, needs: TraceNeeds, ends: &StepEnds<'_>) {
        self.dt = ends.dt;
        self.acceleration.clear();
        let per_second = 1.0 / ends.dt;
        self.acceleration.extend(ends.v_end.iter().zip(ends.v).map(|(v, v0)| (v - v0) * per_second));
        self.contacts.clear();
        self.soft_contacts.clear();
        self.loads.clear();
        self.limits.clear();
        self.forces.clear(model);
        if needs.actuators {
            let step = Discretization::new(options.scheme, ends.dt, options.pd_law);
            self.find_forces(model, ends, &step);
        }
    }

    /// Adds the points that pushed, each pair's one after the other; [`finish`](Self::finish) puts pairs in order.
    pub(crate) fn push_contact(&mut self, point: ContactPoint) {
        self.contacts.push(point);
    }

    /// Adds the impulse of a side of a limit.
    pub(crate) fn push_limit(&mut self, key: ConstraintName, normal: f64) {
        self.limits.entries_mut().push(WarmStartEntry { name: key, free_velocity: Vec3::ZERO, normal });
    }

    /// Adds an impulse between two bodies of a step that began at `q`; `is_placed` says whether nodes are known to be there.
    pub(crate) fn push_load(&mut self, model: &Model, q: &[f64], is_placed: &mut bool, load: &LaneLoad) {
        let kin = self.frames.get_or_insert_with(|| Kinematics::new(&model.tree));
        if !std::mem::replace(is_placed, true) {
            forward_kinematics(&model.tree, model.tree.all(), q, kin);
        }
        let end = |node: usize| {
            let tree = model.tree.trees.partition_point(|nodes| nodes.end <= node);
            let arm = load.point - kin.frames[node].pos;
            ConstraintEnd { tree, node: node - model.tree.trees[tree].start, arm }
        };
        let motion = if load.is_torque { Motion::Angular } else { Motion::Linear };
        let ends = load.nodes.map(|node| node.map(end));
        self.loads.push(EndLoad { key: load.name, ends, impulse: load.impulse, motion });
    }

    /// Ends the trace: contact points are put in the order of a [`Simulation`](crate::Simulation).
    pub(crate) fn finish(&mut self) {
        self.contacts.sort_by_key(|point| ConstraintName::contact(point.geoms, 0));
        self.limits.sort(0);
    }

    /// As in a step of one world whose actuators act on joints with one degree of freedom and on tendons.
    fn find_forces(&mut self, model: &Model, ends: &StepEnds<'_>, step: &Discretization) {
        let Self { forces: StepForces { actuators, actuation, .. }, drives, .. } = self;
        drives.clear();
        drives.resize(model.nv(), None);
        for (k, actuator) in model.actuators.iter().enumerate() {
            let mut along = |terms: &[(usize, f64)], gear: f64| {
                let sum = |x: &[f64], first: fn(&multibody::Joint) -> usize| -> f64 {
                    terms.iter().map(|(joint, c)| c * x[first(&model.joints[*joint])]).sum()
                };
                let length = gear * sum(ends.q, |joint| joint.q);
                let [start, end] = [ends.v, ends.v_solved].map(|v| gear * sum(v, |joint| joint.v));
                let leverage = Leverage { mobility: ends.mobility[k], turn: None };
                let force = force_law(actuator, ends.ctrl[k], length, start, leverage, step);
                actuators[k] = force.over(end - start) / step.dt;
                (force.geared(gear), actuators[k])
            };
            match actuator.transmission {
                Transmission::Joint { joint, gear } if model.joints[joint].kind.nv() == 1 => {
                    let (drive, force) = along(&[(joint, 1.0)], gear);
                    let (v, has_limit) = (model.joints[joint].v, model.joints[joint].effort_limit.is_some());
                    if has_limit {
                        // Those of a limited joint are one drive.
                        drives[v] = Some(drives[v].map_or(drive, |other| other.and(drive)));
                    } else {
                        actuation[v] += gear * force;
                    }
                }
                Transmission::Tendon { tendon, gear } => {
                    let terms = model.tendons[tendon].terms();
                    let (_, force) = along(terms, gear);
                    for (joint, coefficient) in terms {
                        actuation[model.joints[*joint].v] += coefficient * gear * force;
                    }
                }
                _ => {}
            }
        }
        for joint in model.joints.iter().filter(|joint| joint.kind.nv() == 1) {
            let Some((least, most)) = joint.effort_limit else { continue };
            let drive = drives[joint.v].unwrap_or(StepForce::ZERO);
            let force = drive.over(ends.v_solved[joint.v] - ends.v[joint.v]) / step.dt;
            actuation[joint.v] += force.max(least).min(most);
        }
    }
}
