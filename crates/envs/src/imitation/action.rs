//! From actions to targets of PD control.

use spatial::{Quat, Vec3};

use super::figure::{Figure, Motor, MotorKind};
use super::options::ActionKind;

/// How far a ball's target is moved ahead at most by [`ActionKind::Lead`], rad: at π it would lie behind.
pub const MAX_LEAD: f64 = 2.0;

/// Moves a reference (nq) ahead along its velocities (nv) by what damping holds joints back: see [`ActionKind::Lead`].
pub(crate) fn move_ahead(figure: &Figure, reference: &mut [f64], velocity: &[f64]) {
    for Motor { kind, q, v, kp, kd, .. } in &figure.motors {
        let time = if *kp > 0.0 { kd / kp } else { 0.0 };
        match kind {
            MotorKind::Ball => {
                let ahead = Vec3::new(velocity[*v], velocity[v + 1], velocity[v + 2]) * time;
                let length = ahead.dot(ahead).sqrt();
                let ahead = ahead * (MAX_LEAD / length.max(MAX_LEAD));
                let turn = quaternion(&reference[*q..]) * Quat::from_rotation_vector(ahead);
                reference[*q..q + 4].copy_from_slice(&turn.to_array());
            }
            MotorKind::Single => reference[*q] += velocity[*v] * time,
        }
    }
}

/// Writes the targets (nq) of an action. `reference` (nq) is where the reference will be; of the root nothing is set.
pub(crate) fn write_target(figure: &Figure, kind: ActionKind, action: &[f64], reference: &[f64], target: &mut [f64]) {
    for Motor { kind: motor, q, v, zero, .. } in &figure.motors {
        let at = v - figure.first_dof;
        match motor {
            MotorKind::Ball => {
                let turn = Quat::from_rotation_vector(Vec3::new(action[at], action[at + 1], action[at + 2]));
                let turn = if kind != ActionKind::Target { quaternion(&reference[*q..]) * turn } else { turn };
                target[*q..q + 4].copy_from_slice(&turn.to_array());
            }
            MotorKind::Single => {
                let from = if kind != ActionKind::Target { reference[*q] } else { *zero };
                target[*q] = from + action[at];
            }
        }
    }
}

/// The action (nv − 6) of [`ActionKind::Target`] whose target is a configuration.
pub(crate) fn write_action(figure: &Figure, q: &[f64], action: &mut [f64]) {
    for Motor { kind, q: at, v, zero, .. } in &figure.motors {
        let to = v - figure.first_dof;
        match kind {
            MotorKind::Ball => {
                let turn = quaternion(&q[*at..]).rotation_vector();
                action[to..to + 3].copy_from_slice(&[turn.x, turn.y, turn.z]);
            }
            MotorKind::Single => action[to] = q[*at] - zero,
        }
    }
}

pub(crate) fn quaternion(q: &[f64]) -> Quat<f64> {
    Quat::new(q[0], q[1], q[2], q[3])
}
