//! Touch and contact sensors.

use geometry::SoftPartner;
use multibody::{ContactField, ContactFilter, ContactSensor, Reduction};
use spatial::Vec3;

use super::{Instruments, write};
use crate::ContactPoint;

/// A contact point that a sensor reports, in the sensor's direction.
#[derive(Clone, Copy)]
struct Match {
    point: usize,
    /// Which of the points of its two geoms it is.
    ordinal: usize,
    /// Whether the second geom is the sensor's first side.
    is_flipped: bool,
}

/// What is reported of a contact point.
#[derive(Clone, Copy, Default)]
struct Reported {
    force: Vec3<f64>,
    torque: Vec3<f64>,
    distance: f64,
    position: Vec3<f64>,
    normal: Vec3<f64>,
    tangent: Vec3<f64>,
    linear: Vec3<f64>,
    angular: Vec3<f64>,
}

impl Instruments<'_> {
    /// The normal forces on the site's body whose points, or rays from them along the normal, meet the site's volume.
    pub(super) fn touch(&mut self, site: usize) -> f64 {
        let body = self.model().sites[site].body;
        let (pose, shape) = self.volume(site);
        let inward = |v: Vec3<f64>| pose.rot.conjugate() * v;
        let mut sum = 0.0;
        for contact in self.contacts.iter().filter(|contact| contact.impulse[2] > 0.0) {
            let ray = match contact.bodies {
                // Away from the body.
                [first, _] if first == body => contact.normal,
                [_, second] if second == body => -contact.normal,
                _ => continue,
            };
            if shape.is_hit_by(inward(contact.position - pose.pos), inward(ray)) {
                sum += contact.impulse[2];
            }
        }
        for contact in self.soft_contacts.iter().filter(|contact| contact.impulse[2] > 0.0) {
            let SoftPartner::Geom(geom) = contact.partner else { continue };
            let is_of_body = self.now.scene.geoms[geom].body == body;
            if is_of_body && shape.is_hit_by(inward(contact.position - pose.pos), inward(-contact.normal)) {
                sum += contact.impulse[2];
            }
        }
        if self.dt > 0.0 { sum / self.dt } else { 0.0 }
    }

    /// The contact points that push and match, in the order of the reduction.
    fn matches(&mut self, sensor: &ContactSensor) -> Vec<Match> {
        let mut found = Vec::new();
        let (mut geoms, mut ordinal) = ([usize::MAX; 2], 0);
        for (point, contact) in self.contacts.iter().enumerate() {
            ordinal = if contact.geoms == geoms { ordinal + 1 } else { 0 };
            geoms = contact.geoms;
            if contact.impulse[2] <= 0.0 {
                continue;
            }
            if let Some(is_flipped) = self.direction(sensor, contact) {
                found.push(Match { point, ordinal, is_flipped });
            }
        }
        let force = |m: &Match| -self.contacts[m.point].impulse.iter().map(|x| x * x).sum::<f64>();
        match sensor.reduction {
            Reduction::SmallestDistance => {
                found.sort_by(|a, b| self.contacts[a.point].gap.total_cmp(&self.contacts[b.point].gap));
            }
            Reduction::LargestForce => found.sort_by(|a, b| force(a).total_cmp(&force(b))),
            Reduction::First | Reduction::Net => {}
        }
        found
    }

    /// Whether a contact matches, and whether it is seen from its second geom.
    fn direction(&mut self, sensor: &ContactSensor, contact: &ContactPoint) -> Option<bool> {
        if let ContactFilter::Site(site) = sensor.first
            && !self.is_inside(site, contact.position)
        {
            return None;
        }
        let is = |filter: ContactFilter, side: usize| match filter {
            ContactFilter::Any | ContactFilter::Site(_) => true,
            ContactFilter::Geom(geom) => contact.geoms[side] == geom,
            ContactFilter::Body(body) => contact.bodies[side] == body,
            ContactFilter::Subtree(root) => {
                let mut body = contact.bodies[side];
                // Children come after their parents.
                while body > root {
                    body = self.model().bodies[body].parent;
                }
                body == root
            }
        };
        let ahead = is(sensor.first, 0) && is(sensor.second, 1);
        let back = is(sensor.first, 1) && is(sensor.second, 0);
        (ahead || back).then_some(!ahead)
    }

    /// What a contact point shows, seen from the sensor's first side.
    fn report(&mut self, found: Match) -> Reported {
        let contact = self.contacts[found.point];
        let per_second = if self.dt > 0.0 { 1.0 / self.dt } else { 0.0 };
        let (mut normal, [mut t1, t2]) = (contact.normal, contact.tangents);
        let torque = self.spin(contact.geoms, found.ordinal);
        let [first, second] = contact.bodies.map(|body| self.now.velocity_at(body, contact.position));
        let (linear, angular) = (second.lin - first.lin, second.ang - first.ang);
        // Seen from the other side, the frame is turned about its second tangent, and everything is on the other body.
        let sign = if found.is_flipped { -1.0 } else { 1.0 };
        (normal, t1) = (normal * sign, t1 * sign);
        let seen = |v: Vec3<f64>| Vec3::new(normal.dot(v), t1.dot(v), t2.dot(v)) * sign;
        Reported {
            force: seen(contact.impulse_world() * per_second),
            torque: seen(torque),
            distance: contact.gap,
            position: contact.position,
            normal,
            tangent: t1,
            linear: seen(linear),
            angular: seen(angular),
        }
    }

    /// All matching points as one: the wrench about their force-weighted centroid, in world axes.
    fn net(&mut self, found: &[Match]) -> Reported {
        let mut net =
            Reported { normal: Vec3::new(1.0, 0.0, 0.0), tangent: Vec3::new(0.0, 1.0, 0.0), ..Reported::default() };
        if self.dt == 0.0 {
            return net;
        }
        let force = |m: &Match| {
            let sign = if m.is_flipped { -1.0 } else { 1.0 };
            self.contacts[m.point].impulse_world() * (sign / self.dt)
        };
        let total: f64 = found.iter().map(|m| force(m).norm()).sum();
        if total > 0.0 {
            let weighted =
                |sum: Vec3<f64>, m: &Match| sum + self.contacts[m.point].position * (force(m).norm() / total);
            net.position = found.iter().fold(Vec3::ZERO, weighted);
        }
        for m in found {
            let contact = &self.contacts[m.point];
            let sign = if m.is_flipped { -1.0 } else { 1.0 };
            net.force += force(m);
            net.torque +=
                (contact.position - net.position).cross(force(m)) + self.spin(contact.geoms, m.ordinal) * sign;
        }
        net
    }

    pub(super) fn contact(&mut self, sensor: &ContactSensor, out: &mut [f64]) {
        out.fill(0.0);
        let found = self.matches(sensor);
        let width = sensor.slot_dim();
        let mut slots = out.chunks_exact_mut(width.max(1));
        if sensor.reduction == Reduction::Net {
            let net = self.net(&found);
            if let Some(slot) = slots.next() {
                fill(slot, &sensor.fields, &net, found.len());
            }
            return;
        }
        for (slot, m) in slots.zip(&found) {
            let reported = self.report(*m);
            fill(slot, &sensor.fields, &reported, found.len());
        }
    }
}

/// Writes the fields of a slot.
fn fill(slot: &mut [f64], fields: &[ContactField], reported: &Reported, found: usize) {
    let mut rest = slot;
    for field in fields {
        let (here, after) = rest.split_at_mut(field.dim());
        match field {
            ContactField::Found => here[0] = found as f64,
            ContactField::Distance => here[0] = reported.distance,
            ContactField::Force => write(here, reported.force),
            ContactField::Torque => write(here, reported.torque),
            ContactField::Position => write(here, reported.position),
            ContactField::Normal => write(here, reported.normal),
            ContactField::Tangent => write(here, reported.tangent),
            ContactField::LinearVelocity => write(here, reported.linear),
            ContactField::AngularVelocity => write(here, reported.angular),
        }
        rest = after;
    }
}
