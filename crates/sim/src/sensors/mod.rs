//! Readings of a model's sensors.
//!
//! Sensors of position and velocity read the present state. Those of accelerations and forces read the last step: the mean over it (impulse
//! over time step), with accelerations by the kinematics of the present state. Before the first step they read zero, except gravity. Of a
//! step that was made in parts, and under error control, they read the last part.

mod contacts;
mod frames;
mod joints;
pub(crate) mod lane_trace;
mod loads;
mod rays;
pub(crate) mod trace;

use geometry::Scene;
pub(crate) use loads::EndLoad;
use multibody::{GeomsOf, Model, Sensor, SensorKind, SensorTarget, SiteShape, SubtreeQuantity};
use spatial::{Pose, Vec3, Wrench};

use crate::step_forces::StepForces;
use crate::{ContactPoint, Energy, Frame, Observation, SimulationError, SoftContactPoint, State, WarmStart};

/// Everything that sensors look at.
pub(crate) struct Instruments<'a> {
    pub now: Observation<'a>,
    pub energy: Energy,
    /// The length of the last step, s; 0 when there was none.
    pub dt: f64,
    /// Of that step.
    pub forces: &'a StepForces,
    pub contacts: &'a [ContactPoint],
    pub soft_contacts: &'a [SoftContactPoint],
    pub loads: &'a [EndLoad],
    pub warm_start: &'a WarmStart,
    /// What each body passes on to its parent, found when the first sensor asks.
    pub transmitted: &'a mut Vec<Wrench<f64>>,
    pub has_transmitted: bool,
}

/// Whether a sensor looks at the forces of the last step by their origin.
pub(crate) fn needs_forces(sensor: &Sensor) -> bool {
    use multibody::{ActuatorQuantity, JointQuantity, TendonQuantity};
    matches!(
        sensor.kind,
        SensorKind::Actuator { quantity: ActuatorQuantity::Force, .. }
            | SensorKind::Joint { quantity: JointQuantity::ActuatorForce, .. }
            | SensorKind::Tendon { quantity: TendonQuantity::ActuatorForce, .. }
    )
}

/// Whether a sensor looks at the energy.
pub(crate) fn needs_energy(sensor: &Sensor) -> bool {
    matches!(sensor.kind, SensorKind::PotentialEnergy | SensorKind::KineticEnergy)
}

/// The geoms that sensors name must be in the scene. (All else was checked when the model was built.)
pub(crate) fn check(model: &Model, scene: &Scene) -> Result<(), SimulationError> {
    let count = scene.geoms.len();
    for (i, sensor) in model.sensors.iter().enumerate() {
        let is_lost = |(of, index): &(SensorTarget, usize)| *of == SensorTarget::Geom && *index >= count;
        if let Some((_, index)) = sensor.kind.targets().into_iter().find(is_lost) {
            let what = format!("sensor {i} {:?}", sensor.name);
            return Err(SimulationError::Scene { what, kind: "geom", index, count });
        }
    }
    Ok(())
}

impl Instruments<'_> {
    fn model(&self) -> &Model {
        self.now.model
    }

    fn state(&self) -> &State {
        self.now.state
    }

    /// Writes what a sensor shows.
    ///
    /// # Panics
    /// When `out` has not as many entries as the sensor has numbers.
    pub fn read(&mut self, sensor: &Sensor, out: &mut [f64]) {
        match &sensor.kind {
            SensorKind::Clock => out[0] = self.state().time,
            SensorKind::PotentialEnergy => out[0] = self.energy.potential,
            SensorKind::KineticEnergy => out[0] = self.energy.kinetic,
            SensorKind::Joint { joint, quantity } => self.joint(*joint, *quantity, out),
            SensorKind::Tendon { tendon, quantity } => out[0] = self.tendon(*tendon, *quantity),
            SensorKind::Actuator { actuator, quantity } => out[0] = self.actuator(*actuator, *quantity),
            SensorKind::Frame { frame, reference, quantity } => self.frame(*frame, *reference, *quantity, out),
            SensorKind::Site { site, quantity } => self.site(*site, *quantity, out),
            SensorKind::InsideSite { frame, site } => {
                let point = self.frame_pose(*frame).pos;
                out[0] = f64::from(u8::from(self.is_inside(*site, point)));
            }
            SensorKind::Subtree { body, quantity } => write(out, self.subtree(*body, *quantity)),
            SensorKind::Distance { between, quantity } => self.distance(*between, *quantity, sensor.cutoff, out),
            SensorKind::Contact(contact) => self.contact(contact, out),
            SensorKind::Projection { site, camera } => self.projection(*site, *camera, out),
            SensorKind::Rangefinder { rays, fields } => self.rays(*rays, fields, out),
            SensorKind::Unsupported { .. } => out.fill(0.0),
        }
        if sensor.cutoff > 0.0 && sensor.kind.is_clamped() {
            let low = if sensor.kind.is_positive() { f64::NEG_INFINITY } else { -sensor.cutoff };
            out.iter_mut().for_each(|x| *x = x.max(low).min(sensor.cutoff));
        }
    }

    /// A site's frame and its volume.
    fn volume(&mut self, site: usize) -> (Pose<f64>, SiteShape) {
        (self.now.pose(Frame::Site(site)), self.model().sites[site].shape)
    }

    /// Whether a point of the world is inside a site's volume.
    fn is_inside(&mut self, site: usize, point: Vec3<f64>) -> bool {
        let (pose, shape) = self.volume(site);
        shape.contains(pose.rot.conjugate() * (point - pose.pos))
    }

    fn subtree(&mut self, body: usize, quantity: SubtreeQuantity) -> Vec3<f64> {
        match quantity {
            SubtreeQuantity::CenterOfMass => self.now.center_of_mass(body),
            SubtreeQuantity::AngularMomentum => self.now.momentum(body).ang,
            SubtreeQuantity::LinearVelocity => {
                let mass = self.now.subtree_mass(body);
                let momentum = self.now.momentum(body).lin;
                if mass > 0.0 { momentum * (1.0 / mass) } else { Vec3::ZERO }
            }
        }
    }

    /// The nearest two of the geoms of either side, no farther apart than `reach`.
    fn distance(&mut self, between: [GeomsOf; 2], quantity: multibody::DistanceQuantity, reach: f64, out: &mut [f64]) {
        use multibody::DistanceQuantity::{Distance, FromTo, Normal};
        let geoms = self.now.scene.geoms.len();
        let is_of = |scene: &Scene, of: GeomsOf, geom: usize| match of {
            GeomsOf::Geom(one) => one == geom,
            GeomsOf::Body(body) => scene.geoms[geom].body == body,
        };
        let (mut nearest, mut least) = (None, reach);
        for first in (0..geoms).filter(|geom| is_of(self.now.scene, between[0], *geom)).collect::<Vec<_>>() {
            for second in (0..geoms).filter(|geom| is_of(self.now.scene, between[1], *geom)).collect::<Vec<_>>() {
                if first == second {
                    continue;
                }
                if let Some(found) = self.now.separation([first, second]).filter(|found| found.distance < least) {
                    (nearest, least) = (Some(found), found.distance);
                }
            }
        }
        match quantity {
            Distance => out[0] = least,
            Normal => write(out, nearest.map_or(Vec3::ZERO, |found| toward(found.points, found.normal))),
            FromTo => {
                let points = nearest.map_or([Vec3::ZERO; 2], |found| found.points);
                write(&mut out[..3], points[0]);
                write(&mut out[3..], points[1]);
            }
        }
    }
}

/// The direction from the first point to the second: in penetration it is against the normal.
fn toward([from, to]: [Vec3<f64>; 2], normal: Vec3<f64>) -> Vec3<f64> {
    if normal.dot(to - from) < 0.0 { -normal } else { normal }
}

fn write(out: &mut [f64], v: Vec3<f64>) {
    out.copy_from_slice(&v.to_array());
}
