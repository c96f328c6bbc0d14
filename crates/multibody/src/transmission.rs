//! Lengths and rows of actuators between sites, gears on the axes of joints.

use spatial::{Pose, Vec3};

use crate::{
    Actuator, GearFrame, JointKind, Kinematics, Model, NO_PARENT, TendonRow, TendonTerm, Transmission, joint_columns,
};

/// A force at a point of a body, and a torque.
struct Load {
    body: usize,
    point: Vec3<f64>,
    force: Vec3<f64>,
    torque: Vec3<f64>,
}

impl Transmission {
    /// Sets `row` to the length of what acts on sites and to its row, gear included, after [`crate::forward_kinematics`]; of what does not, to
    /// nothing.
    pub fn write_row(&self, model: &Model, kinematics: &Kinematics<f64>, row: &mut TendonRow) {
        row.clear();
        let place = |site: usize| {
            let site = &model.sites[site];
            (site.body, kinematics.body_pose(model, site.body) * site.pose)
        };
        let push = |loads: [Load; 2], row: &mut TendonRow| push_loads(model, kinematics, loads, row);
        match *self {
            Self::Site { site, reference, gear } => {
                let (body, pose) = place(site);
                let (linear, angular) = (Vec3::new(gear[0], gear[1], gear[2]), Vec3::new(gear[3], gear[4], gear[5]));
                let (base, frame) = reference.map_or((0, pose), place);
                let (force, torque) = (frame.rot * linear, frame.rot * angular);
                if reference.is_some() {
                    let Pose { pos, rot } = frame.inverse() * pose;
                    row.length = linear.dot(pos) + angular.dot(rot.unit().rotation_vector());
                }
                let back = Load { body: base, point: frame.pos, force: -force, torque: -torque };
                push([Load { body, point: pose.pos, force, torque }, back], row);
            }
            Self::SliderCrank { crank, slider, rod, gear } => {
                let ((body, pin), (base, guide)) = (place(crank), place(slider));
                let (axis, arm) = (guide.rot * Vec3::new(0.0, 0.0, 1.0), pin.pos - guide.pos);
                let along = arm.dot(axis);
                let square = along * along + rod * rod - arm.dot(arm);
                // Where the rod does not reach the axis, the length is that of the nearest point.
                let root = square.max(0.0).sqrt();
                let (by_arm, by_axis) = match square > 0.0 {
                    true => (axis * (1.0 - along / root) + arm * (1.0 / root), arm * (1.0 - along / root)),
                    false => (axis, arm),
                };
                row.length = gear * (along - root);
                let (force, torque) = (by_arm * gear, axis.cross(by_axis) * gear);
                let back = Load { body: base, point: guide.pos, force: -force, torque };
                push([Load { body, point: pin.pos, force, torque: Vec3::ZERO }, back], row);
            }
            Self::Joint { .. }
            | Self::JointAxes { .. }
            | Self::Tendon { .. }
            | Self::Orientation { .. }
            | Self::Input
            | Self::Unsupported
            | Self::Adhesion { .. } => {}
        }
    }
}

impl Model {
    /// The length of a joint with one degree of freedom or of a fixed tendon that an actuator acts on and its rate, gear included; none of what
    /// else it may act on.
    pub fn motion_of_actuator(&self, actuator: usize, q: &[f64], v: &[f64]) -> Option<[f64; 2]> {
        let sum = |terms: &[(usize, f64)], gear: f64| {
            let joint = |joint: &usize| &self.joints[*joint];
            let length: f64 = terms.iter().map(|(of, c)| c * q[joint(of).q]).sum();
            let rate: f64 = terms.iter().map(|(of, c)| c * v[joint(of).v]).sum();
            [gear * length, gear * rate]
        };
        match self.actuators[actuator].transmission {
            Transmission::Joint { joint, gear } if self.joints[joint].kind.nv() == 1 => {
                Some(sum(&[(joint, 1.0)], gear))
            }
            Transmission::Tendon { tendon, gear } if !self.tendons[tendon].is_spatial() => {
                Some(sum(self.tendons[tendon].terms(), gear))
            }
            _ => None,
        }
    }

    /// How much of its length a whole turn is, of a servo that turns a ball joint or a site against another about axes.
    ///
    /// Source: MuJoCo 4, whose `position` and `intvelocity` take setpoints so there.
    pub fn turn_of_servo(&self, actuator: usize) -> Option<f64> {
        let Actuator { transmission, law, .. } = &self.actuators[actuator];
        let is_ball = |joint: usize| self.joints[joint].kind == JointKind::Ball;
        let (linear, angular) = match transmission {
            Transmission::Site { reference: Some(_), gear, .. } => (&gear[..3], &gear[3..]),
            Transmission::JointAxes { joint, gear, .. } if is_ball(*joint) => (&[][..], &gear[..3]),
            _ => return None,
        };
        let is_servo =
            law.gain != 0.0 && law.gain == -law.bias[1] && law.gain_slopes == [0.0; 2] && law.muscle.is_none();
        let square: f64 = angular.iter().map(|x| x * x).sum();
        let turns = is_servo && square > 0.0 && linear.iter().all(|x| *x == 0.0);
        turns.then(|| std::f64::consts::TAU * square.sqrt())
    }
}

/// Adds what the loads do on the degrees of freedom that move one of their bodies against the other.
fn push_loads(model: &Model, kinematics: &Kinematics<f64>, loads: [Load; 2], row: &mut TendonRow) {
    let nodes = [&loads[0], &loads[1]].map(|load| model.bodies[load.body].node.unwrap_or(NO_PARENT));
    for (node, side) in model.tree.path_between(nodes) {
        let Load { point, force, torque, .. } = loads[side];
        for (dof, motion) in joint_columns(&model.tree, kinematics, node, point) {
            let coefficient = force.dot(motion.lin) + torque.dot(motion.ang);
            row.terms.push(TendonTerm { node, dof, coefficient });
        }
    }
    row.terms.sort_unstable_by_key(|term| term.dof);
}

/// A gear vector on the degrees of freedom of a ball or free joint whose coordinates are `q`.
pub fn gear_of_axes(gear: [f64; 6], frame: GearFrame, q: &[f64]) -> [f64; 6] {
    let mut turned = gear;
    let (first, at) = if q.len() == 4 { (0, 0) } else { (3, 3) };
    if let (GearFrame::Parent, Some([w, x, y, z])) = (frame, q.get(at..at + 4)) {
        let rotation = spatial::Quat::new(*w, *x, *y, *z).unit();
        let torque = rotation.conjugate() * Vec3::new(gear[first], gear[first + 1], gear[first + 2]);
        turned[first..first + 3].copy_from_slice(&torque.to_array());
    }
    turned
}

/// The length of a ball joint along a gear vector; a free joint, with seven coordinates, has none.
pub fn length_of_axes(gear: [f64; 6], q: &[f64]) -> f64 {
    let &[w, x, y, z] = q else { return 0.0 };
    let turn = spatial::Quat::new(w, x, y, z).unit().rotation_vector().to_array();
    gear.iter().zip(turn).map(|(gear, turn)| gear * turn).sum()
}
