//! The derivative of what sensors show.

use super::Simulation;
use crate::{Options, SensorJacobians, SimulationError};

/// Tolerance of the contact problems that are differenced.
const TOLERANCE: f64 = 1e-12;
/// Half the width of differences in q, m or rad, and in v and ctrl, on which readings depend by little more than a polynomial of second degree.
const WIDTH_Q: f64 = 1e-6;
const WIDTH_V: f64 = 1e-5;

impl Simulation {
    /// The derivative of what all sensors show in the present state, with accelerations and forces of the step that comes next
    /// ([`forward`](Self::forward)), with respect to state and controls: central differences. The simulation stays as it is.
    ///
    /// Costs a new simulation and 4 nv + 2 nu steps.
    ///
    /// # Errors
    /// Those of [`step`](Self::step).
    pub fn sensor_jacobians(&mut self) -> Result<SensorJacobians, SimulationError> {
        if !self.state.past_readings.is_empty() {
            let reason = "sensors show later what they measure, which is not differentiated in this version";
            return Err(self.no_jacobian(reason.into()));
        }
        let tolerance = self.options.tolerance.min(TOLERANCE);
        let options = Options { tolerance, threads: 1, ..self.options.clone() };
        let mut other = Self::new(self.model.clone(), self.scene.clone(), options)?;
        other.set_interrupt(self.interrupt.clone());
        let (nv, nu, rows) = (self.model.nv(), self.model.nu(), self.model.sensor_data_len());
        let (mut c, mut d) = (vec![0.0; rows * 2 * nv], vec![0.0; rows * nu]);
        let mut shown = [Vec::new(), Vec::new()];
        for column in 0..2 * nv + nu {
            let width = if column < nv { WIDTH_Q } else { WIDTH_V };
            for (shown, width) in shown.iter_mut().zip([width, -width]) {
                other.state.copy_from(&self.state);
                other.perturb(column, width);
                other.forward()?;
                other.sensor_data(shown);
            }
            let (out, columns, at) = match column.checked_sub(2 * nv) {
                None => (&mut c, 2 * nv, column),
                Some(control) => (&mut d, nu, control),
            };
            for (row, (plus, minus)) in shown[0].iter().zip(&shown[1]).enumerate() {
                out[row * columns + at] = (plus - minus) / (2.0 * width);
            }
        }
        Ok(SensorJacobians { nv, nu, c, d })
    }
}
