//! The force that a body's parent transmits to it: Newton and Euler from the leaves down, with the accelerations and impulses of the last
//! step.

use geometry::SoftPartner;
use lanes::ConstraintName;
use multibody::{Actuator, Strand, Transmission};
use spatial::{Vec3, Wrench};

use super::Instruments;
use crate::Frame;
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Motion};
use crate::coupled::CliqueSlot;

/// The impulse of a constraint between two bodies that is no contact point's: of what ties them, of friction that resists spinning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndLoad {
    pub key: ConstraintName,
    /// The nodes of the two ends as [`ConstraintEnd`]s, their trees those of the model.
    pub ends: [Option<ConstraintEnd>; 2],
    /// Impulse on the second end, world, N·s or N·m·s; the first has the opposite one.
    pub impulse: Vec3<f64>,
    pub motion: Motion,
}

impl EndLoad {
    /// Of a constraint between two ends; none of one on coordinates. `slots` are those of its island; beyond the model's `trees` are soft
    /// bodies, whose side is left out.
    pub fn new(
        key: ConstraintName,
        jacobian: &ConstraintJacobian,
        impulse: &[f64],
        slots: &[CliqueSlot],
        trees: usize,
    ) -> Option<Self> {
        let ConstraintJacobian::Ends { ends, basis, motion } = jacobian else { return None };
        let along = match *impulse {
            [x, y, z] => Vec3::new(x, y, z),
            // Of one row, which is along the third axis.
            [z] => Vec3::new(0.0, 0.0, z),
            _ => return None,
        };
        let of_model = |end: ConstraintEnd| ConstraintEnd { tree: slots[end.tree].tree, ..end };
        Some(Self {
            key,
            ends: ends.map(|end| end.map(of_model).filter(|end| end.tree < trees)),
            impulse: *basis * along,
            motion: *motion,
        })
    }
}

impl Instruments<'_> {
    /// The wrench that a site's body and all that hangs on it get from the parent of that body, about the site, world axes.
    pub(super) fn transmitted_at(&mut self, site: usize) -> Wrench<f64> {
        if !self.has_transmitted {
            self.find_transmitted();
            self.has_transmitted = true;
        }
        let body = self.model().sites[site].body;
        let point = self.now.pose(Frame::Site(site)).pos;
        self.transmitted[body].shifted_back(-point)
    }

    /// Finds the wrench that every body gets from its parent, about the world's origin: what it takes to move the body and all that hangs
    /// on it, less what pushes from outside.
    fn find_transmitted(&mut self) {
        let count = self.model().bodies.len();
        self.transmitted.clear();
        self.transmitted.resize(count, Wrench::ZERO);
        for body in 1..count {
            let needed = self.needed(body);
            self.transmitted[body] += needed;
        }
        self.take_off_contacts();
        self.take_off_ties();
        self.take_off_strings();
        for body in (1..count).rev() {
            let parent = self.model().bodies[body].parent;
            let from_parent = self.transmitted[body];
            self.transmitted[parent] += from_parent;
        }
    }

    /// What it takes to move one body against gravity, less the loads that the user puts on it.
    fn needed(&mut self, index: usize) -> Wrench<f64> {
        let frame = Frame::Body(index);
        let pose = self.now.pose(frame);
        let (twist, acceleration) = (self.now.velocity(frame), self.now.acceleration(frame));
        let (model, state) = (self.model(), self.state());
        let body = &model.bodies[index];
        let (arm, omega) = (pose.rot * body.inertia.com, twist.ang);
        let com = acceleration.lin + acceleration.ang.cross(arm) + omega.cross(omega.cross(arm));
        let weightless = 1.0 - body.gravity_compensation;
        let force = (com - model.gravity * weightless) * body.inertia.mass;
        let inertia = body.inertia.inertia.rotated(pose.rot.to_mat3());
        let torque = inertia * acceleration.ang + omega.cross(inertia * omega);
        let applied = &state.applied_wrench[6 * index..6 * index + 6];
        let given = |k: usize| Vec3::new(applied[k], applied[k + 1], applied[k + 2]);
        let at_com = Wrench { ang: torque - given(0), lin: force - given(3) };
        at_com.shifted_back(pose.pos + arm)
    }

    /// Contact forces are from outside.
    fn take_off_contacts(&mut self) {
        if self.dt == 0.0 {
            return;
        }
        for contact in self.contacts {
            let force = contact.impulse_world() * (1.0 / self.dt);
            for (body, sign) in contact.bodies.into_iter().zip([-1.0, 1.0]) {
                let load = Wrench { ang: Vec3::ZERO, lin: force * sign }.shifted_back(contact.position);
                self.take_off(body, load);
            }
        }
        for contact in self.soft_contacts {
            let SoftPartner::Geom(geom) = contact.partner else { continue };
            let load = Wrench { ang: Vec3::ZERO, lin: contact.impulse_world() * (1.0 / self.dt) };
            self.take_off(self.now.scene.geoms[geom].body, load.shifted_back(contact.position));
        }
    }

    /// So are the forces of what ties bodies, and torques of rolling friction.
    fn take_off_ties(&mut self) {
        if self.dt == 0.0 {
            return;
        }
        for load in self.loads {
            let (model, impulse) = (self.now.model, load.impulse * (1.0 / self.dt));
            let tied = load.key.of_equality().and_then(|index| model.equalities[index].kind.bodies());
            for (side, (end, sign)) in load.ends.iter().zip([-1.0, 1.0]).enumerate() {
                let Some(end) = end else { continue };
                let node = model.tree.trees[end.tree].start + end.node;
                // Bodies without joints between them are one node: torques of rolling friction are on its first body.
                let first_of_node = || model.bodies.iter().position(|body| body.node == Some(node));
                let Some(body) = tied.map(|bodies| bodies[side]).or_else(first_of_node) else { continue };
                let wrench = end.wrench(impulse * sign, load.motion);
                let origin = self.now.node_origin(node);
                self.take_off(body, wrench.shifted_back(origin));
            }
        }
    }

    /// And what strings pull with, at each point that they pass.
    fn take_off_strings(&mut self) {
        for index in 0..self.model().tendons.len() {
            if self.dt == 0.0 || !self.model().tendons[index].is_spatial() {
                continue;
            }
            let tension = -self.force_along(index);
            let strands = self.now.strands(index);
            for Strand { bodies, points: [from, to], weight, .. } in strands.into_iter().filter(|strand| !strand.is_arc)
            {
                let pull = (to - from).normalized().unwrap_or(Vec3::ZERO) * (tension * weight);
                for (body, point, force) in [(bodies[0], from, pull), (bodies[1], to, -pull)] {
                    self.take_off(body, Wrench { ang: Vec3::ZERO, lin: force }.shifted_back(point));
                }
            }
        }
    }

    /// What acts along a tendon, and lengthens it: springs, dampers, actuators, limits, dry friction.
    fn force_along(&self, tendon: usize) -> f64 {
        let acts = |actuator: &&Actuator| matches!(actuator.transmission, Transmission::Tendon { tendon: on, .. } if on == tendon);
        let actuators = self.model().actuators.iter().filter(acts).count();
        let impulse = |part| self.impulse(ConstraintName::tendon(tendon, part));
        let of_constraints = impulse(0) - impulse(1) + impulse(2 + 2 + actuators);
        self.forces.tendons[tendon] + of_constraints / self.dt
    }

    fn take_off(&mut self, body: usize, load: Wrench<f64>) {
        let here = &mut self.transmitted[body];
        (here.ang, here.lin) = (here.ang - load.ang, here.lin - load.lin);
    }

    /// The torque of spinning and rolling friction on the second geom at point `ordinal` of two geoms, world.
    pub(super) fn spin(&self, geoms: [usize; 2], ordinal: usize) -> Vec3<f64> {
        let key = ConstraintName::spin(geoms, ordinal);
        let load = self.loads.iter().find(|load| load.key == key && load.motion == Motion::Angular);
        load.filter(|_| self.dt > 0.0).map_or(Vec3::ZERO, |load| load.impulse * (1.0 / self.dt))
    }
}
