//! What sensors and tendons refer to, changed.

use geometry::{Geom, Shape};
use multibody::{ContactFilter, GeomsOf, PathPoint, RaySource, SensorFrame, SensorKind, Tendon, TendonPath};

/// New indices of elements.
pub(crate) struct Indices<'a> {
    pub bodies: &'a dyn Fn(usize) -> usize,
    pub joints: &'a dyn Fn(usize) -> usize,
    pub geoms: &'a dyn Fn(usize) -> usize,
    pub sites: &'a dyn Fn(usize) -> usize,
    pub tendons: &'a dyn Fn(usize) -> usize,
    pub actuators: &'a dyn Fn(usize) -> usize,
    pub cameras: &'a dyn Fn(usize) -> usize,
}

impl Indices<'_> {
    /// Obstacles are left where they were: [`place_obstacles`] knows their geoms.
    pub fn map_tendon(&self, tendon: &mut Tendon) {
        match &mut tendon.path {
            TendonPath::Joints(terms) => terms.iter_mut().for_each(|(joint, _)| *joint = (self.joints)(*joint)),
            TendonPath::Spatial(branches) => {
                for point in branches.iter_mut().flat_map(|branch| &mut branch.points) {
                    match point {
                        PathPoint::Site(site) => *site = (self.sites)(*site),
                        PathPoint::Obstacle(obstacle) => {
                            obstacle.geom = (self.geoms)(obstacle.geom);
                            obstacle.body = (self.bodies)(obstacle.body);
                            obstacle.side.iter_mut().for_each(|site| *site = (self.sites)(*site));
                        }
                    }
                }
            }
        }
    }

    pub fn map(&self, kind: &mut SensorKind) {
        match kind {
            SensorKind::Clock | SensorKind::PotentialEnergy | SensorKind::KineticEnergy => {}
            SensorKind::Unsupported { .. } => {}
            SensorKind::Joint { joint, .. } => *joint = (self.joints)(*joint),
            SensorKind::Tendon { tendon, .. } => *tendon = (self.tendons)(*tendon),
            SensorKind::Actuator { actuator, .. } => *actuator = (self.actuators)(*actuator),
            SensorKind::Frame { frame, reference, .. } => {
                self.frame(frame);
                reference.iter_mut().for_each(|frame| self.frame(frame));
            }
            SensorKind::Site { site, .. } | SensorKind::Rangefinder { rays: RaySource::Site(site), .. } => {
                *site = (self.sites)(*site);
            }
            SensorKind::Rangefinder { rays: RaySource::Camera { camera, .. }, .. } => {
                *camera = (self.cameras)(*camera);
            }
            SensorKind::Projection { site, camera } => {
                *site = (self.sites)(*site);
                *camera = (self.cameras)(*camera);
            }
            SensorKind::InsideSite { frame, site } => {
                self.frame(frame);
                *site = (self.sites)(*site);
            }
            SensorKind::Subtree { body, .. } => *body = (self.bodies)(*body),
            SensorKind::Distance { between, .. } => between.iter_mut().for_each(|side| match side {
                GeomsOf::Geom(geom) => *geom = (self.geoms)(*geom),
                GeomsOf::Body(body) => *body = (self.bodies)(*body),
            }),
            SensorKind::Contact(contact) => {
                self.filter(&mut contact.first);
                self.filter(&mut contact.second);
            }
        }
    }

    fn frame(&self, frame: &mut SensorFrame) {
        match frame {
            SensorFrame::Inertial { body, .. } | SensorFrame::Body(body) => *body = (self.bodies)(*body),
            SensorFrame::Geom(geom) => *geom = (self.geoms)(*geom),
            SensorFrame::Site(site) => *site = (self.sites)(*site),
            SensorFrame::Camera(camera) => *camera = (self.cameras)(*camera),
        }
    }

    fn filter(&self, filter: &mut ContactFilter) {
        match filter {
            ContactFilter::Any => {}
            ContactFilter::Geom(geom) => *geom = (self.geoms)(*geom),
            ContactFilter::Body(body) | ContactFilter::Subtree(body) => *body = (self.bodies)(*body),
            ContactFilter::Site(site) => *site = (self.sites)(*site),
        }
    }
}

/// Puts the obstacles of a tendon where their geoms are, with their radii.
pub(crate) fn place_obstacles<'g>(tendon: &mut Tendon, geom: impl Fn(usize) -> &'g Geom) {
    for obstacle in tendon.obstacles_mut() {
        let geom = geom(obstacle.geom);
        (obstacle.body, obstacle.pose) = (geom.body, geom.pose);
        if let Shape::Sphere { radius } | Shape::Cylinder { radius, .. } = geom.shape {
            obstacle.radius = radius;
        }
    }
}
