//! Newton's method from every combination of what a few constraints may do.
//!
//! Semismooth Newton is at the solution in one step, or in a few where contacts slide, once each constraint sticks, slides, parts or is at a
//! bound as it does there. From elsewhere it may cycle, and so may the proximal point method: Coulomb's friction is not monotone. A leg
//! between the ground and the limit of its knee is such a problem. Of few constraints all combinations can be tried.

use crate::Law;
use crate::parameters::{ModesParameters, SolverParameters};
use crate::semismooth::dense_w::DenseW;
use crate::semismooth::{BlockRows, Limits, newton};

const PARAMETERS: ModesParameters = SolverParameters::STANDARD.modes;

/// Scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    units: Vec<Unit>,
    /// The z that the rows had.
    first: Vec<[f64; 3]>,
}

/// What is in one mode or another by itself.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// A contact of bounded friction, a block: it sticks, slides as it would without friction or against that, or parts.
    Contact(usize),
    /// A row with different bounds: within them, at the lower one, at the upper one where it has one.
    Row { block: usize, row: usize },
}

impl Modes {
    /// Looks for the solution of the problem of `rows`; returns the steps of Newton's method, and whether it was found. Else z is as it was.
    /// Nothing is tried where there are too many combinations.
    pub fn solve(
        &mut self,
        rows: &mut [BlockRows<f64>],
        backend: &mut DenseW<'_, f64>,
        limits: &Limits,
    ) -> (usize, bool) {
        let Self { units, first } = self;
        units.clear();
        units.extend((0..rows.len()).flat_map(|block| units_of(&rows[block].law, block)));
        let count = units.iter().map(|unit| unit.modes(rows)).try_fold(1, usize::checked_mul);
        let Some(count) = count.filter(|count| *count <= PARAMETERS.max_combinations) else { return (0, false) };
        first.clear();
        first.extend(rows.iter().map(|block| block.z));
        let mut spent = 0;
        for combination in 0..count {
            let mut rest = combination;
            for unit in &*units {
                let modes = unit.modes(rows);
                unit.place(rows, rest % modes);
                rest /= modes;
            }
            let limits = Limits { steps: PARAMETERS.max_steps.min(limits.steps.saturating_sub(spent)), ..*limits };
            let outcome = newton(rows, backend, 1, &limits);
            spent += outcome.slowest as usize;
            if outcome.solved != 0 {
                return (spent, true);
            }
        }
        rows.iter_mut().zip(first).for_each(|(block, z)| block.z = *z);
        (spent, false)
    }
}

fn units_of(law: &Law<f64>, block: usize) -> impl Iterator<Item = Unit> + use<> {
    // In lanes neighbours may have a contact there.
    let is_contact = law.is_contact() && law.contact_lanes != 0;
    let rows = if is_contact || law.is_spin() { 0 } else { 3 };
    let differ = [0, 1, 2].map(|row| law.low[row] < law.high[row]);
    let contact = is_contact.then_some(Unit::Contact(block));
    contact.into_iter().chain((0..rows).filter(move |row| differ[*row]).map(move |row| Unit::Row { block, row }))
}

impl Unit {
    fn modes(self, rows: &[BlockRows<f64>]) -> usize {
        match self {
            Self::Contact(block) if rows[block].law.friction[0] > 0.0 => 4,
            Self::Contact(_) => 2,
            Self::Row { block, row } => {
                let law = &rows[block].law;
                1 + usize::from(law.low[row].is_finite()) + usize::from(law.high[row].is_finite())
            }
        }
    }

    /// Sets z where the constraint is in the mode. How far beyond the border makes no difference where it neither slides nor changes.
    fn place(self, rows: &mut [BlockRows<f64>], mode: usize) {
        match self {
            Self::Contact(block) => {
                let BlockRows { law, w, v_free, z, .. } = &mut rows[block];
                let reach = distance(v_free[2], law.v_hat[2]);
                let slip = [v_free[0] - law.v_hat[0], v_free[1] - law.v_hat[1]];
                let speed = slip[0].hypot(slip[1]);
                let parts = mode == if law.friction[0] > 0.0 { 3 } else { 1 };
                let sign = [0.0, 1.0, -1.0, 0.0][mode];
                // Twice as fast as what still sticks at this normal impulse.
                let least = law.friction[0] * reach * (w[0] + law.r[0]) / (w[2] + law.r[2]);
                let stretch = if speed > 0.0 { sign * 2.0 * least / speed } else { 0.0 };
                z[0] = law.v_hat[0] + stretch * slip[0];
                z[1] = law.v_hat[1] + stretch * slip[1];
                z[2] = law.v_hat[2] + if parts { reach } else { -reach };
            }
            Self::Row { block, row } => {
                let BlockRows { law, w, v_free, z, .. } = &mut rows[block];
                let (low, high, v_hat, own) = (law.low[row], law.high[row], law.v_hat[row], w[row] + law.r[row]);
                let reach = distance(v_free[row], v_hat);
                z[row] = match (mode, low.is_finite(), high.is_finite()) {
                    (0, true, true) => v_hat - 0.5 * (low + high) * own,
                    (0, true, false) => v_hat - low * own - reach,
                    (0, false, true) => v_hat - high * own + reach,
                    (0, false, false) => v_hat,
                    (1, true, _) => v_hat - low * own + reach,
                    _ => v_hat - high * own - reach,
                };
            }
        }
    }
}

/// A distance between velocities that is not round-off of either.
fn distance(v: f64, v_hat: f64) -> f64 {
    let sum = v.abs() + v_hat.abs();
    if sum > 0.0 { sum } else { 1.0 }
}
