//! The sensors of the model, read when someone asks.

use std::sync::Arc;

use geometry::{Scene, SceneQueries};
use multibody::Model;

use super::Simulation;
use crate::observe::Observation;
use crate::sensors::trace::{StepTrace, TraceNeeds};
use crate::sensors::{EndLoad, Instruments, needs_energy, needs_forces};
use crate::{Energy, Options, SimulationError, WarmStart};
use spatial::Wrench;

/// Scratch of readings.
#[derive(Debug, Default)]
pub(crate) struct Sensing {
    loads: Vec<EndLoad>,
    transmitted: Vec<Wrench<f64>>,
    /// Of a step in the lane.
    pub trace: StepTrace,
    /// Impulses of the last step where the state does not remember them, see [`Simulation::forward`].
    pub asked: Option<WarmStart>,
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
        self.read_sensors(0..self.model.sensors.len(), out);
    }

    /// What one sensor shows now: it alone is computed.
    ///
    /// # Panics
    /// When there is no such sensor, or positions or velocities of the state have been given another size.
    pub fn sensor(&mut self, index: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.model.sensors[index].kind.dim(), 0.0);
        self.read_sensors(index..index + 1, out);
    }

    /// What sensors need of the last step, to be shown by [`sensor_data_of`](Self::sensor_data_of) elsewhere.
    pub fn trace(&mut self, needs: TraceNeeds, trace: &mut StepTrace) {
        if self.trace_lane(trace) {
            return;
        }
        if needs.actuators {
            self.keep_forces();
            trace.forces.clone_from(&self.last_step.forces);
        } else {
            trace.forces.ensure(self.model.nu(), self.model.nv());
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
            trace.limits.copy_from(&self.state.warm_start);
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
        trace.forces.ensure(model.nu(), model.nv());
        trace.acceleration.resize(model.nv(), 0.0);
        // What is known of accelerations is of another step.
        self.last_step.serial = self.last_step.serial.wrapping_add(1);
        let Self { state, tree_of, last_step, present, queries, sensing, .. } = self;
        let serial = last_step.serial;
        let queries = if Arc::ptr_eq(scene, &self.scene) { queries } else { others };
        let StepTrace { dt, acceleration, forces, contacts, soft_contacts, loads, limits, .. } = &*trace;
        let now = Observation { model, scene, state, tree_of, acceleration: (acceleration, serial), present, queries };
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
        for sensor in &model.sensors {
            let (own, after) = rest.split_at_mut(sensor.kind.dim());
            instruments.read(sensor, own);
            rest = after;
        }
        // The next step's accelerations are its own.
        self.last_step.serial = serial.wrapping_add(1);
        Ok(())
    }

    /// Reads consecutive sensors.
    fn read_sensors(&mut self, which: std::ops::Range<usize>, out: &mut [f64]) {
        let model = self.model.clone();
        let sensors = &model.sensors[which];
        let energy = if sensors.iter().any(needs_energy) { self.energy() } else { Energy::default() };
        let is_in_lane = self.is_last_in_lane();
        let mut trace = std::mem::take(&mut self.sensing.trace);
        if is_in_lane {
            self.trace_lane(&mut trace);
        } else if sensors.iter().any(needs_forces) {
            self.keep_forces();
        }
        self.last_step.forces.ensure(model.nu(), model.nv());
        let Self {
            scene, state, tree_of, last_step, present, queries, reports, islands, sensing, soft_contacts, ..
        } = self;
        let Sensing { loads, transmitted, asked, .. } = sensing;
        let (forces, contacts, loads, warm_start) = if is_in_lane {
            (&trace.forces, &trace.contacts[..], &trace.loads, &trace.limits)
        } else {
            islands.end_loads(loads);
            (&last_step.forces, reports.points(scene), &*loads, asked.as_ref().unwrap_or(&state.warm_start))
        };
        let now = Observation {
            model: &model,
            scene,
            state,
            tree_of,
            acceleration: (&last_step.acceleration[..], last_step.serial),
            present,
            queries,
        };
        let mut instruments = Instruments {
            now,
            energy,
            dt: last_step.dt,
            forces,
            contacts,
            soft_contacts,
            loads,
            warm_start,
            transmitted,
            has_transmitted: false,
        };
        let mut rest = out;
        for sensor in sensors {
            let (own, after) = rest.split_at_mut(sensor.kind.dim());
            instruments.read(sensor, own);
            rest = after;
        }
        self.sensing.trace = trace;
    }
}
