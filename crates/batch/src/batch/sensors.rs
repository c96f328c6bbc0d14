//! What the sensors of all worlds show.

use std::sync::PoisonError;

use sim::{Simulation, SimulationError};

use super::{Batch, BatchError, SHARES, check_size};

impl Batch {
    /// What all sensors of every world show now, (worlds, [`Model::sensor_data_len`](multibody::Model::sensor_data_len)), as
    /// [`Simulation::sensor_data`]: sensors of positions and velocities look at the present state, those of accelerations and forces at the
    /// last step, with its own impulses. They are zero, but for gravity, before the first step, and after a reset or a failure.
    ///
    /// Nothing is computed before someone asks. Where a model has sensors that look at steps, each call of [`step`](Self::step) notes at its
    /// end what they need.
    ///
    /// # Errors
    /// When `out` has another length, or on request ([`Batch::set_interrupt`]).
    pub fn sensor_data(&mut self, out: &mut [f64]) -> Result<(), BatchError> {
        let (worlds, n) = (self.worlds(), self.model.sensor_data_len());
        check_size("out", out.len(), worlds.saturating_mul(n))?;
        let mut pool = std::mem::take(&mut self.pool);
        let mut traces = std::mem::take(&mut self.arrays.traces);
        let (mut rest, mut of_traces) = (out, &mut traces[..]);
        let mut shares: [_; SHARES] = std::array::from_fn(|k| {
            let (first, end) = (worlds * k / SHARES, worlds * (k + 1) / SHARES);
            let rows = rest.split_off_mut(..(end - first) * n).unwrap_or_default();
            let of_traces = of_traces.split_off_mut(..(end - first).min(of_traces.len())).unwrap_or_default();
            (first, rows, of_traces, Ok(()))
        });
        let batch = &*self;
        pool.parallel_for(&mut shares, |thread, (first, rows, traces, outcome)| {
            let mut one = batch.ones[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let mut none = [sim::StepTrace::default()];
            for (i, row) in rows.chunks_exact_mut(n.max(1)).enumerate().take_while(|_| !batch.interrupt.is_raised()) {
                let trace = traces.get_mut(i).unwrap_or(&mut none[0]);
                if outcome.is_ok() {
                    *outcome = batch.read_sensors(*first + i, &mut one, trace, row);
                }
            }
        });
        let outcome = shares.into_iter().try_for_each(|(.., outcome)| outcome);
        (self.pool, self.arrays.traces) = (pool, traces);
        outcome?;
        self.check_interrupt()
    }

    /// What all sensors of one world show now, [`Model::sensor_data_len`](multibody::Model::sensor_data_len) numbers.
    ///
    /// # Errors
    /// When `out` has another length.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn sensor_data_of(&mut self, world: usize, out: &mut [f64]) -> Result<(), BatchError> {
        check_size("out", out.len(), self.model.sensor_data_len())?;
        let mut traces = std::mem::take(&mut self.arrays.traces);
        let mut none = sim::StepTrace::default();
        let outcome = {
            let mut one = self.ones[0].lock().unwrap_or_else(PoisonError::into_inner);
            self.read_sensors(world, &mut one, traces.get_mut(world).unwrap_or(&mut none), out)
        };
        self.arrays.traces = traces;
        Ok(outcome?)
    }

    fn read_sensors(
        &self,
        world: usize,
        one: &mut Simulation,
        trace: &mut sim::StepTrace,
        row: &mut [f64],
    ) -> Result<(), SimulationError> {
        if !self.own.contains_key(&world) {
            self.take_back(one)?;
        }
        self.write_state(world, one.state_mut());
        let mut none = None;
        let mut own = self.own.get(&world).map(|own| own.queries.lock().unwrap_or_else(PoisonError::into_inner));
        let queries = own.as_deref_mut().unwrap_or(&mut none);
        one.sensor_data_of(self.world_model(world), queries, trace, row)
    }
}
