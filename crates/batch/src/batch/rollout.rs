//! Trajectories under sequences of controls.

use std::collections::BTreeMap;

use super::stepping::Rollout;
use super::{Batch, BatchError, check_size};

impl Batch {
    /// Moves every world under its own sequence of controls, and takes down where each control leads.
    ///
    /// `controls` is (worlds, horizon, nu), and each of them holds for `skip` steps. Positions go to `q`, (worlds, horizon, nq), velocities to
    /// `v`, (worlds, horizon, nv): those after the steps of each control. Afterwards the batch is where the last controls lead. The same bits
    /// come of [`ctrl_mut`](Self::ctrl_mut) and [`step`](Self::step) in turn.
    ///
    /// With PD control `targets`, (worlds, horizon, nq), has its targets beside each of the controls, or nothing.
    ///
    /// A world that fails stays where it was before the step that failed; its entries are NaN from there on, and
    /// [`errors`](Self::errors) tells why.
    ///
    /// # Errors
    /// When a slice has another length, or on request ([`Batch::set_interrupt`]).
    pub fn rollout(
        &mut self,
        controls: &[f64],
        targets: &[f64],
        horizon: usize,
        skip: usize,
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<(), BatchError> {
        let per_world = |n: usize| n.saturating_mul(horizon).saturating_mul(self.worlds());
        check_size("controls", controls.len(), per_world(self.model.nu()))?;
        check_size("q", q.len(), per_world(self.model.nq()))?;
        check_size("v", v.len(), per_world(self.model.nv()))?;
        if !targets.is_empty() {
            let expected = if self.pd.is_some() { per_world(self.model.nq()) } else { 0 };
            check_size("targets", targets.len(), expected)?;
        }
        let widths = self.arrays.widths();
        let rollout = Rollout { controls, targets, q, v, horizon, widths: &widths };
        self.drive(rollout, |stepper, rollout| stepper.roll_out(skip, rollout))
    }

    /// [`rollout`](Self::rollout), and what sensors show after the steps of each control, (worlds, horizon,
    /// [`Model::sensor_data_len`](multibody::Model::sensor_data_len)). The steps have the same bits.
    ///
    /// # Errors
    /// As [`rollout`](Self::rollout), and as [`sensor_data`](Self::sensor_data).
    pub fn rollout_with_sensors(
        &mut self,
        controls: &[f64],
        targets: &[f64],
        horizon: usize,
        skip: usize,
        q: &mut [f64],
        v: &mut [f64],
        sensors: &mut [f64],
    ) -> Result<(), BatchError> {
        let (worlds, [nq, nv, nu]) = (self.worlds(), [self.model.nq(), self.model.nv(), self.model.nu()]);
        let n = self.model.sensor_data_len();
        let per_world = |n: usize| n.saturating_mul(horizon).saturating_mul(worlds);
        check_size("controls", controls.len(), per_world(nu))?;
        check_size("q", q.len(), per_world(nq))?;
        check_size("v", v.len(), per_world(nv))?;
        check_size("sensors", sensors.len(), per_world(n))?;
        let mut now = (vec![0.0; worlds * nq], vec![0.0; worlds * nv], vec![0.0; worlds * n]);
        let at = |all: &[f64], k: usize, width: usize| -> Vec<f64> {
            let row = |world: usize| all.get((world * horizon + k) * width..(world * horizon + k + 1) * width);
            (0..worlds).filter_map(row).flatten().copied().collect()
        };
        // Worlds that failed, why, and where they were; later steps start from there again, and do not count.
        let mut failed = BTreeMap::new();
        for k in 0..horizon {
            self.rollout(&at(controls, k, nu), &at(targets, k, nq), 1, skip, &mut now.0, &mut now.1)?;
            self.sensor_data(&mut now.2)?;
            for world in 0..worlds {
                if let (Some(error), false) = (&self.arrays.errors[world], failed.contains_key(&world)) {
                    failed.insert(world, (error.clone(), self.state(world)));
                }
                for (out, now, width) in [(&mut *q, &now.0, nq), (&mut *v, &now.1, nv), (&mut *sensors, &now.2, n)] {
                    let row = &mut out[(world * horizon + k) * width..][..width];
                    row.copy_from_slice(&now[world * width..][..width]);
                    if failed.contains_key(&world) {
                        row.fill(f64::NAN);
                    }
                }
            }
        }
        for (world, (error, mut state)) in failed {
            state.ctrl.copy_from_slice(self.arrays.world(world).ctrl);
            self.set_state(world, &state)?;
            self.arrays.errors[world] = Some(error);
        }
        Ok(())
    }
}
