//! What sensors and tendons refer to, changed.

use geometry::{Geom, Shape};
use multibody::{PathPoint, SensorKind, SensorTarget, Tendon, TendonPath};

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
        kind.each_target(|of, index| {
            let new = match of {
                SensorTarget::Body => self.bodies,
                SensorTarget::Joint => self.joints,
                SensorTarget::Geom => self.geoms,
                SensorTarget::Site => self.sites,
                SensorTarget::Tendon => self.tendons,
                SensorTarget::Actuator => self.actuators,
                SensorTarget::Camera => self.cameras,
            };
            *index = new(*index);
        });
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
