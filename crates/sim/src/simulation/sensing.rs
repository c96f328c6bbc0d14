//! The sensors of the model, read when someone asks.

use super::Simulation;
use crate::observe::Observation;
use crate::sensors::{EndLoad, Instruments, needs_energy, needs_forces};
use crate::{Energy, State};
use spatial::Wrench;

/// Scratch of readings.
#[derive(Debug, Default)]
pub(crate) struct Sensing {
    loads: Vec<EndLoad>,
    transmitted: Vec<Wrench<f64>>,
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

    /// Reads consecutive sensors.
    fn read_sensors(&mut self, which: std::ops::Range<usize>, out: &mut [f64]) {
        let model = self.model.clone();
        let sensors = &model.sensors[which];
        let energy = if sensors.iter().any(needs_energy) { self.energy() } else { Energy::default() };
        if sensors.iter().any(needs_forces) {
            self.keep_forces();
        }
        self.last_step.forces.ensure(model.nu(), model.nv());
        self.reports.points(&self.scene);
        let Self { scene, state, tree_of, last_step, present, queries, reports, islands, sensing, .. } = self;
        let Sensing { loads, transmitted } = sensing;
        islands.end_loads(loads);
        let State { warm_start, .. } = &*state;
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
            forces: &last_step.forces,
            contacts: reports.points(scene),
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
    }
}
