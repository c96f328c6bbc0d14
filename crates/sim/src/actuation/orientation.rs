//! Actuators that turn a ball joint to an orientation: a torque against the rotation that is left, and against the angular velocity.

use lanes::ConstraintName;
use multibody::{Actuator, Joint, Model, Node, OrientationInput, StepForce, Transmission};
use spatial::{Quat, Vec3};

use super::{Drive, Inputs, clamp};
use crate::scheme::{Discretization, SpringDamper};

/// Such an actuator, with indices of its tree.
#[derive(Clone, Debug)]
pub(crate) struct OrientationDrive {
    ctrl: usize,
    actuator: Actuator,
    input: OrientationInput,
    ranges: [Option<(f64, f64)>; 4],
    /// Coordinate and degree of freedom of the ball.
    q: usize,
    dof: usize,
    /// How easily it turns about its axes, see [`multibody::InverseWeights`].
    mobility: f64,
}

impl OrientationDrive {
    /// That of actuator `ctrl`, if it is one; `first` is the first node of its tree.
    pub fn new(model: &Model, mobility: f64, first: &Node<f64>, ctrl: usize) -> Option<Self> {
        let actuator = model.actuators[ctrl].clone();
        let Transmission::Orientation { joint, input } = actuator.transmission else { return None };
        let Joint { q, v, .. } = model.joints[joint];
        let ranges = super::motors::control_ranges(model, ctrl);
        Some(Self { ctrl, actuator, input, ranges, q: q - first.q, dof: v - first.v, mobility })
    }

    /// Its three torques over a step, as drives; `q` and `v` are the tree's at the beginning.
    pub fn drives(&self, inputs: Inputs<'_>, q: &[f64], v: &[f64], step: &Discretization) -> [Drive; 3] {
        let torques = self.torques(inputs, q, v, step);
        std::array::from_fn(|k| Drive {
            key: ConstraintName::servo(self.ctrl + k),
            dof: self.dof + k,
            force: torques[k],
            is_saturated: false,
        })
    }

    /// Sets the torques of a step, one for each of the first three controls; `q` and `start` are the tree's at the beginning, `end` its velocities
    /// after.
    pub fn write_torques(
        &self,
        inputs: Inputs<'_>,
        q: &[f64],
        [start, end]: [&[f64]; 2],
        step: &Discretization,
        actuators: &mut [f64],
    ) {
        for (k, torque) in self.torques(inputs, q, start, step).iter().enumerate() {
            let dof = self.dof + k;
            actuators[self.ctrl + k] = torque.over(end[dof] - start[dof]) / step.dt;
        }
    }

    fn torques(&self, inputs: Inputs<'_>, q: &[f64], v: &[f64], step: &Discretization) -> [StepForce<f64>; 3] {
        let v = [v[self.dof], v[self.dof + 1], v[self.dof + 2]];
        let given = inputs.controls(self.ctrl);
        let control = |k: usize| given.get(k).map_or(0.0, |u| clamp(*u, self.ranges[k]));
        let target = target(self.input, std::array::from_fn(control));
        torques(&self.actuator, left(&q[self.q..], target), v, self.mobility, step)
    }
}

/// The orientation that controls say.
fn target(input: OrientationInput, [a, b, c, d]: [f64; 4]) -> Quat<f64> {
    match input {
        OrientationInput::RotationVector => Quat::from_rotation_vector(Vec3::new(a, b, c)),
        OrientationInput::Quaternion => Quat::new(a, b, c, d).normalized().unwrap_or(Quat::IDENTITY),
    }
}

/// The rotation vector that leads from a ball's coordinates to a target, in the frame of the body.
fn left(q: &[f64], target: Quat<f64>) -> Vec3<f64> {
    let now = Quat::new(q[0], q[1], q[2], q[3]).unit();
    (now.conjugate() * target).unit().rotation_vector()
}

/// A torque beyond the limit, which holds its length, keeps its direction.
fn torques(
    actuator: &Actuator,
    left: Vec3<f64>,
    velocity: [f64; 3],
    mobility: f64,
    step: &Discretization,
) -> [StepForce<f64>; 3] {
    let (law, dt) = (&actuator.law, step.dt);
    let [constant, by_length, by_velocity] = law.bias;
    let errors = left.to_array();
    let torque: [f64; 3] = std::array::from_fn(|k| law.gain * errors[k] + constant + by_velocity * velocity[k]);
    let SpringDamper { ahead, impedance } = step.resist((-by_length).max(0.0), (-by_velocity).max(0.0), mobility);
    let most = actuator.force_range.map_or(f64::INFINITY, |(_, most)| most);
    let norm = Vec3::from(torque).norm();
    std::array::from_fn(|k| {
        let bound = dt * if norm > most { most * torque[k].abs() / norm } else { most };
        let impulse = dt * (torque[k] - ahead * velocity[k]);
        StepForce { impulse, impedance, low: -bound, high: bound }
    })
}
