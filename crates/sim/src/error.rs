//! Why a simulation cannot go on.

use multibody::{Keyframe, KeyframeKey, Model};
use support::{legible, suggest};

use crate::stable_pd;

/// A number for a message.
fn brief(value: f64) -> String {
    legible(&value.to_string())
}

/// An error of [`crate::Simulation`]. The state is as it was before the step that failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// An option outside its domain.
    #[error("{name} = {value}: expected {expected}", value = brief(*value))]
    Option {
        /// The option.
        name: &'static str,
        /// What came.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },
    /// Times of a trajectory that do not ascend.
    #[error("times[{index}] is {time}, after {before}: expected an ascending sequence")]
    Times {
        /// Which.
        index: usize,
        /// It, s.
        time: f64,
        /// The one before, s.
        before: f64,
    },
    /// A trajectory that begins more than a step ago: what was then is not known any more.
    #[error("times[0] is {time}, and the simulation is at {now} s: expected times from there on")]
    Passed {
        /// The first time, s.
        time: f64,
        /// That of the simulation, s.
        now: f64,
    },
    /// A scene that was made for another model.
    #[error("{what} refers to {kind} {index}: the model has {count}")]
    Scene {
        /// The geom or pair.
        what: String,
        /// "body", "geom" or "material".
        kind: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A vector of the state that does not fit the model.
    #[error("{name} has {found} entries: expected {expected}")]
    Size {
        /// The vector.
        name: &'static str,
        /// Entries that came.
        found: usize,
        /// Entries that the model has.
        expected: usize,
    },
    /// NaN or infinity in the state or the inputs.
    #[error(
        "step {step} at {time} s: {name}[{index}] is {value}: expected a finite number",
        time = brief(*time),
        value = brief(*value)
    )]
    NotFinite {
        /// The step that did not start.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// The vector.
        name: &'static str,
        /// The entry.
        index: usize,
        /// What it holds.
        value: f64,
    },
    /// A quaternion in the positions is of no rotation: zero, or too long to be scaled.
    #[error(
        "step {step} at {time} s: q[{index}:{}] is {value:?}: expected a quaternion (w, x, y, z) of length 1",
        index + 4,
        time = brief(*time)
    )]
    NoRotation {
        /// The step that did not start.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// Its first entry in q.
        index: usize,
        /// What it holds.
        value: [f64; 4],
    },
    /// The step would end with a speed that nothing has: above 1e10 m/s or rad/s, or no number.
    #[error(
        "step {step} at {time} s: the motion diverged (joint {joint:?}, degree of freedom {dof}, has velocity {value:e}): \
         try a smaller time step than {timestep} s, or damping", time = brief(*time), timestep = brief(*timestep))]
    Diverged {
        /// The step.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// The time step, s.
        timestep: f64,
        /// The joint that diverged; empty where it has no name.
        joint: String,
        /// The first degree of freedom that did.
        dof: usize,
        /// Its velocity, m/s or rad/s.
        value: f64,
    },
    /// Nothing resists a joint: the mass matrix is singular.
    #[error(
        "step {step} at {time} s: joint {joint:?} (degree of freedom {dof}) moves nothing that has mass, or nothing that the \
         joints before it do not move alike: expected bodies with mass, or an armature of the joint",
        time = brief(*time)
    )]
    Singular {
        /// The step that did not start.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// The joint; empty where it has no name.
        joint: String,
        /// The degree of freedom.
        dof: usize,
    },
    /// Newton's method on the free motion of an implicit scheme did not arrive.
    #[error(
        "step {step} at {time} s: free motion is met to {residual:.1e} only after {iterations} Newton steps: \
         try a smaller time step than {timestep} s", time = brief(*time), timestep = brief(*timestep))]
    FreeMotion {
        /// The step.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// The time step, s.
        timestep: f64,
        /// Newton steps.
        iterations: usize,
        /// ‖m‖ over the momentum, in the kinetic norm.
        residual: f64,
    },
    /// The motion of a soft body cannot be computed.
    #[error(
        "step {step} at {time} s: soft body {body:?}: {source}: try a smaller time step than {timestep} s",
        time = brief(*time),
        timestep = brief(*timestep)
    )]
    Soft {
        /// The step.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// The time step, s.
        timestep: f64,
        /// The name of the soft body.
        body: String,
        /// Why.
        source: deformable::StepError,
    },
    /// The surface of a soft body is not one.
    #[error("{0}")]
    SoftSurface(#[from] geometry::SoftSurfaceError),
    /// A soft body is held at no place.
    #[error("attachment {index} of a soft body is at {point:?}: expected three finite numbers")]
    Attachment {
        /// Its index.
        index: usize,
        /// What came.
        point: [f64; 3],
    },
    /// More touches more than there is memory for: bodies in one place, as a rule.
    #[error("step {step} at {time} s: {source}: expected bodies that are not all in one place", time = brief(*time))]
    TooMany {
        /// The step.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// Of what there are too many.
        source: geometry::TooMany,
    },
    /// More moving bodies than a simulation can hold.
    #[error("the model has {count} {what}: expected at most {limit}")]
    TooLarge {
        /// Of what there are too many.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The contact solver stopped without a solution.
    #[error(
        "step {step} at {time} s: {source}: try a smaller time step than {timestep} s or a larger tolerance",
        time = brief(*time),
        timestep = brief(*timestep)
    )]
    Contact {
        /// The step.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// The time step, s.
        timestep: f64,
        /// What the solver says.
        source: sap::Error,
    },
    /// The step was told to stop ([`Simulation::set_interrupt`](crate::Simulation::set_interrupt)).
    #[error("step {step} at {time} s: interrupted", time = brief(*time))]
    Interrupted {
        /// The step that was not finished.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
    },
    /// The step has no derivative.
    #[error("step {step} at {time} s has no Jacobians: {reason}", time = brief(*time))]
    NoJacobian {
        /// The step.
        step: u64,
        /// The time at its beginning, s.
        time: f64,
        /// Why.
        reason: String,
    },
    /// A PD controller that does not fit the model.
    #[error("pd: {0}")]
    Pd(#[from] stable_pd::Error),
    /// A keyframe that the model does not have.
    #[error("{}", no_keyframe(name, known))]
    Keyframe {
        /// The name or the index that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
}

impl SimulationError {
    /// The keyframe of a model that is meant, or the error that there is none.
    ///
    /// # Errors
    /// When the model has no such keyframe.
    pub fn keyframe(model: &Model, key: KeyframeKey<'_>) -> Result<Keyframe, Self> {
        model.keyframe(key).ok_or_else(|| {
            let known = model.keyframes.iter().map(|keyframe| keyframe.name.clone()).collect();
            Self::Keyframe { name: key.to_string(), known }
        })
    }
}

fn no_keyframe(name: &str, known: &[String]) -> String {
    let count = known.len();
    if name.parse::<i64>().is_ok() {
        return format!("keyframe is {name}: the model has {count} keyframes, expected an index below that");
    }
    let known: Vec<&str> = known.iter().map(String::as_str).filter(|known| !known.is_empty()).collect();
    if count == 0 {
        return format!("there is no keyframe {name:?}: the model has none");
    }
    if known.is_empty() {
        return format!("there is no keyframe {name:?}: the model has {count} keyframes, none with a name");
    }
    let hint = suggest::did_you_mean(name, known.iter().copied()).unwrap_or_else(|| format!("the model has {known:?}"));
    format!("there is no keyframe {name:?}: {hint}")
}
