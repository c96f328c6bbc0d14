//! Joints, tendons and actuators.

use lanes::{ConstraintName, ball_limit};
use multibody::{
    ActuatorQuantity, JointKind, JointQuantity, TendonQuantity, Transmission, gear_of_axes, length_of_axes, vec3,
};
use spatial::Quat;

use super::Instruments;

/// How far a limit is violated, and the rate of that; both 0 where none is.
fn violation(sides: [(f64, f64); 2]) -> (f64, f64) {
    sides.into_iter().find(|(gap, _)| *gap < 0.0).unwrap_or_default()
}

impl Instruments<'_> {
    pub(super) fn joint(&self, index: usize, quantity: JointQuantity, out: &mut [f64]) {
        let (state, joint) = (self.state(), &self.model().joints[index]);
        let (q, v) = (&state.q[joint.q..][..joint.kind.nq()], &state.v[joint.v..][..joint.kind.nv()]);
        match quantity {
            JointQuantity::Position => out[0] = q[0],
            JointQuantity::Velocity => out[0] = v[0],
            JointQuantity::ActuatorForce => out[0] = self.forces.actuation[joint.v],
            JointQuantity::Quaternion => {
                out.copy_from_slice(&Quat::new(q[0], q[1], q[2], q[3]).unit().to_array());
            }
            JointQuantity::AngularVelocity => out.copy_from_slice(v),
            JointQuantity::LimitDistance => out[0] = self.joint_violation(index).0,
            JointQuantity::LimitVelocity => out[0] = self.joint_violation(index).1,
            JointQuantity::LimitForce => {
                // Limits are known by their place among those of joints with one coordinate and of balls.
                let is_limit = |joint: &&multibody::Joint| joint.range.is_some() && joint.kind.can_have_limits();
                let place = self.model().joints[..index].iter().filter(is_limit).count();
                out[0] =
                    if is_limit(&joint) { self.limit_force(|side| ConstraintName::limit(place, side)) } else { 0.0 };
            }
        }
    }

    /// The force of the two sides of a limit in the last step.
    fn limit_force(&self, key: impl Fn(usize) -> ConstraintName) -> f64 {
        if self.dt == 0.0 {
            return 0.0;
        }
        (self.impulse(key(0)) + self.impulse(key(1))) / self.dt
    }

    /// The impulse of a constraint of one row in the last step, N·s or N·m·s; 0 where it did not act.
    pub(super) fn impulse(&self, name: ConstraintName) -> f64 {
        self.warm_start.of(name, &mut 0).map_or(0.0, |memory| memory.normal)
    }

    fn joint_violation(&self, index: usize) -> (f64, f64) {
        let (state, joint) = (self.state(), &self.model().joints[index]);
        let Some((low, high)) = joint.range else { return (0.0, 0.0) };
        let (q, v) = (&state.q[joint.q..], &state.v[joint.v..]);
        if joint.kind == JointKind::Ball {
            let (gap, axis) = ball_limit(Quat::new(q[0], q[1], q[2], q[3]), high);
            return violation([(0.0, 0.0), (gap, axis.dot(vec3(v)))]);
        }
        violation([(q[0] - low, v[0]), (high - q[0], -v[0])])
    }

    pub(super) fn tendon(&mut self, index: usize, quantity: TendonQuantity) -> f64 {
        let (length, rate) = match quantity {
            TendonQuantity::LimitForce | TendonQuantity::ActuatorForce => (0.0, 0.0),
            _ => self.now.tendon_motion(index),
        };
        let model = self.model();
        let tendon = &model.tendons[index];
        let violated = || {
            let Some((low, high)) = tendon.range else { return (0.0, 0.0) };
            violation([(length - low, rate), (high - length, -rate)])
        };
        match quantity {
            TendonQuantity::Position => length,
            TendonQuantity::Velocity => rate,
            TendonQuantity::LimitDistance => violated().0,
            TendonQuantity::LimitVelocity => violated().1,
            TendonQuantity::LimitForce if tendon.range.is_some() => {
                self.limit_force(|side| ConstraintName::tendon(index, side))
            }
            TendonQuantity::LimitForce => 0.0,
            TendonQuantity::ActuatorForce => {
                let acts = |(k, actuator): (usize, &multibody::Actuator)| match actuator.transmission {
                    Transmission::Tendon { tendon, .. } if tendon == index => self.forces.actuators[k],
                    _ => 0.0,
                };
                model.actuators.iter().enumerate().map(acts).sum()
            }
        }
    }

    pub(super) fn actuator(&mut self, index: usize, quantity: ActuatorQuantity) -> f64 {
        if quantity == ActuatorQuantity::Force {
            return self.forces.actuators[index];
        }
        let is_length = quantity == ActuatorQuantity::Position;
        if let Transmission::Tendon { tendon, gear } = self.model().actuators[index].transmission {
            let quantity = if is_length { TendonQuantity::Position } else { TendonQuantity::Velocity };
            return gear * self.tendon(tendon, quantity);
        }
        let model = self.model();
        let state = self.state();
        match &model.actuators[index].transmission {
            Transmission::Joint { joint, gear } => {
                let joint = &model.joints[*joint];
                gear * if is_length { state.q[joint.q] } else { state.v[joint.v] }
            }
            Transmission::JointAxes { joint, gear, frame } => {
                let joint = &model.joints[*joint];
                let q = &state.q[joint.q..][..joint.kind.nq()];
                if is_length {
                    return length_of_axes(*gear, q);
                }
                let v = &state.v[joint.v..][..joint.kind.nv()];
                gear_of_axes(*gear, *frame, q).iter().zip(v).map(|(gear, v)| gear * v).sum()
            }
            Transmission::Site { .. } | Transmission::SliderCrank { .. } => {
                let (length, rate) = self.now.site_motion(index);
                if is_length { length } else { rate }
            }
            Transmission::Tendon { .. }
            | Transmission::Orientation { .. }
            | Transmission::Input
            | Transmission::Unsupported
            | Transmission::Adhesion { .. } => 0.0,
        }
    }
}
