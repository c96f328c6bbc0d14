//! `trajectory.npz`: the frames as numpy arrays.
//!
//! | array | shape | |
//! | --- | --- | --- |
//! | `time` | (frames) | s |
//! | `q`, `v`, `ctrl` | (frames, nq), (frames, nv), (frames, nu) | state and controls |
//! | `kinetic_energy`, `potential_energy` | (frames) | J |
//! | `contacts` | (frames) | contact points with an impulse |
//! | `newton_iterations` | (frames) | of the step that needed most since the frame before |
//! | `body_positions` | (frames, nbody, 3) | of the bodies' frames in the world, m |
//! | `body_quaternions` | (frames, nbody, 4) | w x y z |
//! | `body_names`, `joint_names`, `actuator_names` | (nbody), (njoint), (nu) | the first body is the world |

use std::io::Write;

use formats::trajectory::{NpzError, NpzWriter};
use multibody::Model;
use replay::Recording;

/// Writes the file to `out`.
///
/// # Errors
/// When it cannot be written.
pub fn write(out: impl Write, model: &Model, recording: &Recording) -> Result<(), NpzError> {
    let frames = recording.len();
    let bodies = model.bodies.len();
    let positions: Vec<f64> = recording.poses.iter().flat_map(|pose| pose.pos.to_array()).collect();
    let quaternions: Vec<f64> = recording.poses.iter().flat_map(|pose| pose.rot.to_array()).collect();
    let body_names: Vec<&str> = model.bodies.iter().map(|body| body.name.as_str()).collect();
    let joint_names: Vec<&str> = model.joints.iter().map(|joint| joint.name.as_str()).collect();
    let actuator_names: Vec<&str> = model.actuators.iter().map(|actuator| actuator.name.as_str()).collect();

    let mut npz = NpzWriter::new(out);
    npz.array_f64("time", &[frames], &recording.time)?;
    npz.array_f64("q", &[frames, model.nq()], &recording.q)?;
    npz.array_f64("v", &[frames, model.nv()], &recording.v)?;
    npz.array_f64("ctrl", &[frames, model.nu()], &recording.ctrl)?;
    npz.array_f64("kinetic_energy", &[frames], &recording.kinetic)?;
    npz.array_f64("potential_energy", &[frames], &recording.potential)?;
    npz.array_u32("contacts", &[frames], &recording.contacts)?;
    npz.array_u32("newton_iterations", &[frames], &recording.iterations)?;
    npz.array_f64("body_positions", &[frames, bodies, 3], &positions)?;
    npz.array_f64("body_quaternions", &[frames, bodies, 4], &quaternions)?;
    npz.array_str("body_names", &body_names)?;
    npz.array_str("joint_names", &joint_names)?;
    npz.array_str("actuator_names", &actuator_names)?;
    npz.finish()?;
    Ok(())
}
