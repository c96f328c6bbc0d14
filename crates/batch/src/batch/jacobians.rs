//! Derivatives of the next step of every world.

use std::sync::PoisonError;

use sim::{Simulation, StepJacobians};

use super::{Batch, BatchError, SHARES, check_size};

/// What is known of the cost at the end of a step: its gradient with respect to positions (as velocities that lead to them in unit time) and
/// velocities, both (worlds, nv).
#[derive(Clone, Copy, Debug)]
pub struct Cotangents<'a> {
    /// With respect to positions.
    pub q: &'a [f64],
    /// With respect to velocities.
    pub v: &'a [f64],
}

/// Gradients with respect to what a step starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepGradients {
    /// With respect to positions, (worlds, nv), as velocities that lead to them in unit time.
    pub q: Vec<f64>,
    /// With respect to velocities, (worlds, nv).
    pub v: Vec<f64>,
    /// With respect to controls, (worlds, nu).
    pub ctrl: Vec<f64>,
}

/// Derivatives of the steps of all worlds, see [`StepJacobians`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchJacobians {
    /// ∂(q, v)⁺/∂(q, v), (worlds, 2 nv, 2 nv), row-major.
    pub a: Vec<f64>,
    /// ∂(q, v)⁺/∂ctrl, (worlds, 2 nv, nu), row-major.
    pub b: Vec<f64>,
}

impl Batch {
    /// The derivative of the next step of every world with respect to the state and the controls that it starts from; the worlds stay as
    /// they are. See [`Simulation::step_jacobians`].
    ///
    /// Entries of a world whose step has no derivative are NaN, and [`errors`](Self::errors) tells why.
    ///
    /// # Errors
    /// On request ([`Batch::set_interrupt`]).
    pub fn step_jacobians(&mut self) -> Result<BatchJacobians, BatchError> {
        let (nv, nu, worlds) = (self.model.nv(), self.model.nu(), self.worlds());
        let mut jacobians = BatchJacobians { a: nan(worlds, 4 * nv * nv)?, b: nan(worlds, 2 * nv * nu)? };
        let BatchJacobians { a, b } = &mut jacobians;
        self.differentiate([(a, 4 * nv * nv), (b, 2 * nv * nu), (&mut [], 0)], |_, jacobians, [a, b, _]| {
            a.copy_from_slice(&jacobians.a);
            b.copy_from_slice(&jacobians.b);
        })?;
        Ok(jacobians)
    }

    /// Vector–Jacobian products of the next step of every world: the gradient of a cost at its end, carried back to where it starts. The
    /// worlds stay as they are.
    ///
    /// Entries of a world whose step has no derivative are NaN, and [`errors`](Self::errors) tells why.
    ///
    /// # Errors
    /// When a slice has another length, or on request ([`Batch::set_interrupt`]).
    pub fn vjp(&mut self, end: Cotangents<'_>) -> Result<StepGradients, BatchError> {
        let (nv, nu, worlds) = (self.model.nv(), self.model.nu(), self.worlds());
        check_size("q", end.q.len(), worlds * nv)?;
        check_size("v", end.v.len(), worlds * nv)?;
        let mut gradients = StepGradients { q: nan(worlds, nv)?, v: nan(worlds, nv)?, ctrl: nan(worlds, nu)? };
        let StepGradients { q, v, ctrl } = &mut gradients;
        self.differentiate([(q, nv), (v, nv), (ctrl, nu)], |world, jacobians, [q, v, ctrl]| {
            let StepJacobians { a, b, .. } = jacobians;
            [&mut *q, &mut *v, &mut *ctrl].into_iter().for_each(|x| x.fill(0.0));
            let ends = end.q[world * nv..][..nv].iter().chain(&end.v[world * nv..][..nv]);
            for (i, end) in ends.enumerate() {
                let (of_q, of_v) = a[i * 2 * nv..][..2 * nv].split_at(nv);
                add(q, of_q, *end);
                add(v, of_v, *end);
                add(ctrl, &b[i * nu..][..nu], *end);
            }
        })?;
        Ok(gradients)
    }

    /// Hands the Jacobians of every world out, with its rows of the arrays, of which the number of entries for a world is told.
    fn differentiate(
        &mut self,
        arrays: [(&mut [f64], usize); 3],
        out: impl Fn(usize, &StepJacobians, [&mut [f64]; 3]) + Sync,
    ) -> Result<(), BatchError> {
        let worlds = self.worlds();
        let mut errors = std::mem::take(&mut self.arrays.errors);
        let mut pool = std::mem::take(&mut self.pool);
        errors.fill(None);
        let (mut arrays, mut rest) = (arrays, &mut errors[..]);
        let mut shares: [_; SHARES] = std::array::from_fn(|k| {
            let (first, end) = (worlds * k / SHARES, worlds * (k + 1) / SHARES);
            let rows =
                arrays.each_mut().map(|(all, n)| (all.split_off_mut(..(end - first) * *n).unwrap_or_default(), *n));
            (first, rest.split_off_mut(..end - first).unwrap_or_default(), rows)
        });
        let batch = &*self;
        pool.parallel_for(&mut shares, |thread, (first, errors, rows)| {
            let mut one = batch.ones[thread].lock().unwrap_or_else(PoisonError::into_inner);
            for (i, error) in errors.iter_mut().enumerate().take_while(|_| !batch.interrupt.is_raised()) {
                match batch.differentiate_one(*first + i, &mut one) {
                    Ok(jacobians) => {
                        let rows = rows.each_mut().map(|(all, n)| &mut all[i * *n..(i + 1) * *n]);
                        out(*first + i, &jacobians, rows);
                    }
                    Err(reason) => *error = Some(reason),
                }
            }
        });
        (self.arrays.errors, self.pool) = (errors, pool);
        self.check_interrupt()
    }

    fn differentiate_one(&self, world: usize, one: &mut Simulation) -> Result<StepJacobians, sim::SimulationError> {
        if self.own.contains_key(&world) {
            let mut own = self.simulation(world)?;
            own.set_interrupt(self.interrupt.clone());
            return own.step_jacobians();
        }
        self.take_back(one)?;
        self.write_state(world, one.state_mut());
        one.step_jacobians()
    }
}

/// NaN for every world, `per_world` of them, if there is memory.
fn nan(worlds: usize, per_world: usize) -> Result<Vec<f64>, BatchError> {
    let mut all = Vec::new();
    let gigabytes = 1e-9 * worlds as f64 * per_world as f64 * size_of::<f64>() as f64;
    let len = worlds.saturating_mul(per_world);
    all.try_reserve_exact(len).map_err(|_| BatchError::Memory { worlds, gigabytes })?;
    all.resize(len, f64::NAN);
    Ok(all)
}

/// `sum` += `factor` · `x`; where the factor is zero, what is not finite in `x` does not count.
fn add(sum: &mut [f64], x: &[f64], factor: f64) {
    if factor != 0.0 {
        sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += factor * x);
    }
}
