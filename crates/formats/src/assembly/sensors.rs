//! What sensors refer to, changed.

use multibody::{ContactFilter, GeomsOf, SensorFrame, SensorKind};

/// New indices of elements.
pub(crate) struct Indices<'a> {
    pub bodies: &'a dyn Fn(usize) -> usize,
    pub joints: &'a dyn Fn(usize) -> usize,
    pub geoms: &'a dyn Fn(usize) -> usize,
    pub sites: &'a dyn Fn(usize) -> usize,
    pub tendons: &'a dyn Fn(usize) -> usize,
    pub actuators: &'a dyn Fn(usize) -> usize,
}

impl Indices<'_> {
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
            SensorKind::Site { site, .. } | SensorKind::Rangefinder { site, .. } => *site = (self.sites)(*site),
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
