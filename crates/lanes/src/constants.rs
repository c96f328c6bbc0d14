//! Numbers of a step that lanes and the step for all models have in common.

use sap::SolverParameters;

/// Speeds beyond this are of no motion, m/s or rad/s: light makes 3e8 m/s, and nothing turns so fast that a step resolves. What
/// gets there runs away, and would be beyond all numbers a few steps later.
pub const FASTEST: f64 = 1e10;

/// ‖v₀‖ / ‖v* − v₀‖ up to which bodies are quasi-static, of an island (`sim`) or of a world (`Lanes::is_calm`): where the solver begins is
/// often the solution then.
pub const CALM: f64 = 0.1;

/// The turn of a body in a step below which Coriolis forces are taken at v₀ and energy is left as it is, rad: its error is less than the
/// square of this, relative.
pub const MIN_TURN: f64 = 1e-4;

/// Rounds of one solve in contact space: in each, constraints that push although they were not chosen join in.
pub const MAX_ROUNDS: usize = 4;

/// How often a step is made again because drives exceed their limits.
pub const MAX_DRIVE_ROUNDS: usize = 8;

/// Bodies that turn farther in a step than this, rad, are for a simulation.
pub const LARGEST_TURN: f64 = 3.0;

/// Recovery slower than this share of the recovery speed stays in the velocities, of whose kinetic energy it is 1e-4: the
/// last micrometres are not worth a second solve.
pub const LEFT_IN_VELOCITIES: f64 = 0.01;

/// By how much a near-rigid contact may sink in at most, of what it does under its own weight.
pub const OVERLOAD: f64 = 100.0;

/// How many times its own mobility a contact may have for its regularisation, where drives and dampers resist less.
pub const FREEST: f64 = 2.5;

/// The least share of a contact's own mobility that its regularisation is taken from: below, factors would lose their digits.
pub const STIFFEST: f64 = 1e-6;

/// How much faster than a contact that is righted other points of its body may become.
pub const LONGEST_LEVER: f64 = 10.0;

/// Surfaces that are no farther apart touch, m: bodies that an adhesion holds hang by contacts that hardly overlap.
pub const TOUCHING: f64 = 1e-3;

/// From the mobility tr W/(3√3) to the mean of W's diagonal: what three rows with a stiffness per mass must weigh for
/// bodies to swing at its rate.
pub const MEAN: f64 = 1.732_050_807_568_877_2;

/// Rows for every velocity up to which a world by itself is solved in contact space: of more, a matrix of all velocities is much smaller than W.
pub const ROWS_OF_JAMS: usize = SolverParameters::STANDARD.convex.rows_of_jams;
