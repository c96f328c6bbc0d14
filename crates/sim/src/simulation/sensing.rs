//! The sensors of the model, read when someone asks.

use std::sync::Arc;

use geometry::{Scene, SceneQueries};
use multibody::{Model, Sensor};

use super::Simulation;
use super::delay::show_past_readings;
use crate::observe::Observation;
use crate::sensors::trace::{StepTrace, TraceNeeds};
use crate::sensors::{Instruments, needs_energy};
use crate::{Energy, Options, SimulationError, WarmStart};
use spatial::Wrench;

/// Scratch of readings.
#[derive(Debug, Default)]
pub(crate) struct Sensing {
    transmitted: Vec<Wrench<f64>>,
    /// Of the last step.
    pub trace: StepTrace,
    /// Impulses of the last step where the state does not remember them, see [`Simulation::forward`].
    pub asked: Option<WarmStart>,
    /// What sensors measured at the beginning of the step that show it later.
    pub noted: Vec<f64>,
    /// A model with bodies that are moved from outside where they begin, and where they are.
    moved: Option<Box<(Arc<Model>, Model)>>,
}

impl Simulation {
    /// What all sensors show now, [`Model::sensor_data_len`](multibody::Model::sensor_data_len) numbers in the order of the model's sensors
    /// (`docs/sensors.md` says what each means). Nothing is computed before someone asks, and nothing in a step depends on it.
    ///
    /// # Panics
    /// When positions or velocities of the state have been given another size.
    pub fn sensor_data(&mut self, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.model.sensor_data_len(), 0.0);
        let all = 0..self.model.sensors.len();
        self.read_sensors(all.clone(), out);
        show_past_readings(&self.model, &self.state, all, out);
    }

    /// What one sensor shows now: it alone is computed.
    ///
    /// # Panics
    /// When there is no such sensor, or positions or velocities of the state have been given another size.
    pub fn sensor(&mut self, index: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.model.sensors[index].kind.dim(), 0.0);
        self.read_sensors(index..index + 1, out);
        show_past_readings(&self.model, &self.state, index..index + 1, out);
    }

    /// What sensors need of the last step, to be shown by [`sensor_data_of`](Self::sensor_data_of) elsewhere.
    pub fn trace(&mut self, needs: TraceNeeds, trace: &mut StepTrace) {
        if self.trace_lane(needs, trace) {
            return;
        }
        if needs.actuators {
            self.keep_forces();
            trace.forces.clone_from(&self.last_step.forces);
        } else {
            trace.forces.ensure(&self.model);
        }
        trace.dt = self.last_step.dt;
        trace.acceleration.clone_from(&self.last_step.acceleration);
        trace.contacts.clear();
        trace.soft_contacts.clear();
        trace.loads.clear();
        trace.limits.clear();
        if needs.contacts {
            trace.contacts.extend_from_slice(self.reports.points(&self.scene));
            trace.soft_contacts.extend_from_slice(&self.soft_contacts);
            self.islands.end_loads(&mut trace.loads);
        }
        if needs.limits {
            trace.limits.copy_from(self.sensing.asked.as_ref().unwrap_or(&self.state.warm_start));
        }
    }

    /// What all sensors show in the present state of this simulation after another step than its own, of `model` and `scene`, which are its
    /// own or have other [parameters](crate::Parameters). `others` keeps, from one call to the next, what rays need of a scene that is another.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    ///
    /// # Panics
    /// When `out` has not [`Model::sensor_data_len`] entries, or the model is none of this simulation's structure.
    pub fn sensor_data_of(
        &mut self,
        (model, scene): (&Arc<Model>, &Arc<Scene>),
        others: &mut Option<Box<SceneQueries>>,
        trace: &mut StepTrace,
        out: &mut [f64],
    ) -> Result<(), SimulationError> {
        let is_own = Arc::ptr_eq(model, &self.model);
        let energy = match model.sensors.iter().any(needs_energy) {
            true if is_own => self.energy(),
            true => {
                let options = Options { threads: 1, ..self.options.clone() };
                let mut other = Self::without_lane(model.clone(), scene.clone(), options)?;
                other.state.clone_from(&self.state);
                other.energy()
            }
            false => Energy::default(),
        };
        trace.forces.ensure(model);
        trace.acceleration.resize(model.nv(), 0.0);
        // What is known of accelerations is of another step, and the next step's are its own.
        self.last_step.serial = self.last_step.serial.wrapping_add(1);
        self.last_step.base_accelerations.clear();
        let others = (!Arc::ptr_eq(scene, &self.scene)).then_some(others);
        let mut moved = self.sensing.moved.take().filter(|moved| Arc::ptr_eq(&moved.0, model));
        if !self.mocap.is_empty() {
            let (rest, here) = &mut **moved.get_or_insert_with(|| Box::new((model.clone(), (**model).clone())));
            here.move_mocap_bodies(rest, &self.state.mocap);
            self.present.forget_all();
        }
        let here = moved.as_ref().map_or(&**model, |moved| &moved.1);
        self.read((here, scene), &model.sensors, energy, others, trace, out);
        show_past_readings(model, &self.state, 0..model.sensors.len(), out);
        if moved.is_some() {
            self.present.forget_all();
        }
        self.sensing.moved = moved;
        self.last_step.serial = self.last_step.serial.wrapping_add(1);
        Ok(())
    }

    /// Reads consecutive sensors.
    pub(super) fn read_sensors(&mut self, which: std::ops::Range<usize>, out: &mut [f64]) {
        let (model, scene) = (self.model.clone(), self.scene.clone());
        let sensors = &model.sensors[which];
        let energy = if sensors.iter().any(needs_energy) { self.energy() } else { Energy::default() };
        let mut trace = std::mem::take(&mut self.sensing.trace);
        self.trace(TraceNeeds::of(&model, sensors), &mut trace);
        self.read((&model, &scene), sensors, energy, None, &trace, out);
        self.sensing.trace = trace;
    }

    /// Reads sensors of `model` and `scene` in the present state, after the last step or another; `others` keeps what rays need of a scene that
    /// is not this simulation's.
    fn read(
        &mut self,
        (model, scene): (&Model, &Arc<Scene>),
        sensors: &[Sensor],
        energy: Energy,
        others: Option<&mut Option<Box<SceneQueries>>>,
        trace: &StepTrace,
        out: &mut [f64],
    ) {
        let Self { state, tree_of, last_step, present, queries, sensing, .. } = self;
        let StepTrace { dt, acceleration, forces, contacts, soft_contacts, loads, limits, .. } = trace;
        let now = Observation {
            model,
            scene,
            state,
            tree_of,
            acceleration: (acceleration, last_step.serial),
            base_accelerations: &last_step.base_accelerations,
            present,
            queries: others.unwrap_or(queries),
        };
        let mut instruments = Instruments {
            now,
            energy,
            dt: *dt,
            forces,
            contacts,
            soft_contacts,
            loads,
            warm_start: limits,
            transmitted: &mut sensing.transmitted,
            has_transmitted: false,
        };
        let mut rest = out;
        for sensor in sensors {
            let (own, after) = rest.split_at_mut(sensor.kind.dim());
            instruments.read(sensor, own);
            rest = after;
        }
    }
}
