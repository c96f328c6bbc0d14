//! Where the bodies of all worlds are and how they move.

use multibody::{Kinematics, forward_kinematics, velocities};
use spatial::{Pose, Twist, Vec3};

use crate::Batch;

impl Batch {
    /// The placements of all bodies in the present states, (worlds, nbody).
    pub fn body_poses(&self, out: &mut Vec<Pose<f64>>) {
        out.clear();
        self.each_world(|_, kin| out.extend(self.model().bodies.iter().map(|body| pose_of(body, kin))));
    }

    /// The placements of all sites in the present states, (worlds, nsite).
    pub fn site_poses(&self, out: &mut Vec<Pose<f64>>) {
        out.clear();
        let model = self.model();
        let place = |site: &multibody::Site, kin: &Kinematics<f64>| pose_of(&model.bodies[site.body], kin) * site.pose;
        self.each_world(|_, kin| out.extend(model.sites.iter().map(|site| place(site, kin))));
    }

    /// The sum of the forces of contacts on every body in the last step, (worlds, nbody), N, world axes: zero for what touches nothing.
    ///
    /// # Panics
    /// When contacts [are not recorded](Self::records_contacts).
    pub fn contact_forces_of_bodies(&self, out: &mut Vec<Vec3<f64>>) {
        let bodies = self.model().bodies.len();
        out.clear();
        out.resize(self.worlds() * bodies, Vec3::ZERO);
        for (world, forces) in out.chunks_exact_mut(bodies).enumerate() {
            let (_, scene) = self.world_model(world);
            for contact in self.contacts(world) {
                let [first, second] = contact.geoms.map(|geom| scene.geoms[geom].body);
                forces[second] += contact.force;
                forces[first] -= contact.force;
            }
        }
    }

    /// The velocities of all bodies in the present states, (worlds, nbody): angular velocity, and that of the body's origin, world axes.
    pub fn body_velocities(&self, out: &mut Vec<Twist<f64>>) {
        out.clear();
        let velocity = |body: &multibody::Body, kin: &Kinematics<f64>| {
            body.node.map_or(Twist::ZERO, |node| kin.twists[node].shifted(kin.frames[node].rot * body.pose.pos))
        };
        let (tree, nv) = (&self.model().tree, self.model().tree.nv);
        self.each_world(|world, kin| {
            velocities(tree, tree.all(), &self.v()[world * nv..(world + 1) * nv], kin);
            out.extend(self.model().bodies.iter().map(|body| velocity(body, kin)));
        });
    }

    /// Calls `each` for one world after the other, with the placements of that world's nodes.
    fn each_world(&self, mut each: impl FnMut(usize, &mut Kinematics<f64>)) {
        let tree = &self.model().tree;
        let (nq, mut kin) = (tree.nq, Kinematics::new(tree));
        for world in 0..self.worlds() {
            forward_kinematics(tree, tree.all(), &self.q()[world * nq..(world + 1) * nq], &mut kin);
            each(world, &mut kin);
        }
    }
}

fn pose_of(body: &multibody::Body, kin: &Kinematics<f64>) -> Pose<f64> {
    match body.node.map(|node| &kin.frames[node]) {
        Some(frame) => Pose::new(frame.pos, frame.quat) * body.pose,
        None => body.pose,
    }
}
