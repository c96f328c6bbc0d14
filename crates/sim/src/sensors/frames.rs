//! Frames, and instruments mounted at sites.

use multibody::{FrameQuantity, Model, SensorFrame, SiteQuantity};
use spatial::{Pose, Twist, Vec3};

use super::{Instruments, write};
use crate::Frame;

/// A point of a body: the frame that it is given in, and where it is there.
fn home(frame: SensorFrame, model: &Model) -> (Frame, Pose<f64>) {
    match frame {
        SensorFrame::Inertial { body, axes } => (Frame::Body(body), Pose::new(model.bodies[body].inertia.com, axes)),
        SensorFrame::Camera(camera) => {
            let camera = &model.cameras[camera];
            (Frame::Body(camera.body), camera.pose)
        }
        SensorFrame::Body(body) => (Frame::Body(body), Pose::IDENTITY),
        SensorFrame::Geom(geom) => (Frame::Geom(geom), Pose::IDENTITY),
        SensorFrame::Site(site) => (Frame::Site(site), Pose::IDENTITY),
    }
}

impl Instruments<'_> {
    fn home(&self, frame: SensorFrame) -> (Frame, Pose<f64>) {
        home(frame, self.model())
    }

    pub(super) fn frame_pose(&mut self, frame: SensorFrame) -> Pose<f64> {
        let (frame, offset) = self.home(frame);
        self.now.pose(frame) * offset
    }

    fn frame_velocity(&mut self, frame: SensorFrame) -> Twist<f64> {
        let (frame, offset) = self.home(frame);
        let arm = self.now.pose(frame).rot * offset.pos;
        self.now.velocity(frame).shifted(arm)
    }

    /// The acceleration in the last step less gravity.
    fn frame_acceleration(&mut self, frame: SensorFrame) -> Twist<f64> {
        let (frame, offset) = self.home(frame);
        let arm = self.now.pose(frame).rot * offset.pos;
        let omega = self.now.velocity(frame).ang;
        let mut acceleration = self.now.acceleration(frame).shifted(arm);
        acceleration.lin += omega.cross(omega.cross(arm)) - self.model().gravity;
        acceleration
    }

    pub(super) fn frame(
        &mut self,
        frame: SensorFrame,
        reference: Option<SensorFrame>,
        quantity: FrameQuantity,
        out: &mut [f64],
    ) {
        use FrameQuantity::{
            AngularAcceleration, AngularVelocity, LinearAcceleration, LinearVelocity, Position, Quaternion, XAxis,
            YAxis, ZAxis,
        };
        let pose = self.frame_pose(frame);
        let from = reference.map_or(Pose::IDENTITY, |reference| self.frame_pose(reference));
        let (axes, rot) = (pose.rot.to_mat3(), from.rot.to_mat3());
        let seen = |v: Vec3<f64>| if reference.is_some() { rot.transpose_mul(v) } else { v };
        match quantity {
            Position => write(out, seen(pose.pos - from.pos)),
            Quaternion => {
                let turn = if reference.is_some() { from.rot.conjugate() * pose.rot } else { pose.rot };
                out.copy_from_slice(&turn.to_array());
            }
            XAxis => write(out, seen(axes.x)),
            YAxis => write(out, seen(axes.y)),
            ZAxis => write(out, seen(axes.z)),
            LinearVelocity | AngularVelocity => {
                let velocity = self.frame_velocity(frame);
                // The reference carries the point along.
                let carried = reference
                    .map_or(Twist::ZERO, |reference| self.frame_velocity(reference).shifted(pose.pos - from.pos));
                let is_linear = quantity == LinearVelocity;
                write(out, seen(if is_linear { velocity.lin - carried.lin } else { velocity.ang - carried.ang }));
            }
            LinearAcceleration => write(out, self.frame_acceleration(frame).lin),
            AngularAcceleration => write(out, self.frame_acceleration(frame).ang),
        }
    }

    pub(super) fn site(&mut self, site: usize, quantity: SiteQuantity, out: &mut [f64]) {
        let frame = SensorFrame::Site(site);
        let measured = match quantity {
            SiteQuantity::Acceleration => self.frame_acceleration(frame).lin,
            SiteQuantity::Velocity => self.frame_velocity(frame).lin,
            SiteQuantity::AngularVelocity => self.frame_velocity(frame).ang,
            SiteQuantity::MagneticField => self.model().magnetic_field,
            SiteQuantity::Force => self.transmitted_at(site).lin,
            SiteQuantity::Torque => self.transmitted_at(site).ang,
            SiteQuantity::Touch => {
                out[0] = self.touch(site);
                return;
            }
        };
        let axes = self.now.pose(Frame::Site(site)).rot.to_mat3();
        write(out, axes.transpose_mul(measured));
    }
}
