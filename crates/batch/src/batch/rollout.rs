//! Trajectories under sequences of controls.

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
}
