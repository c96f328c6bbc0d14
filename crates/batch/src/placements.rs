//! Where the bodies of all worlds are and how they move.

use multibody::{Kinematics, forward_kinematics, mocap_velocity, velocities};
use spatial::{Pose, Twist, Vec3};

use crate::Batch;

impl Batch {
    /// The placements of all bodies in the present states, (worlds, nbody).
    pub fn body_poses(&self, out: &mut Vec<Pose<f64>>) {
        out.clear();
        self.each_world(|world, kin| self.place_bodies(world, kin, out));
    }

    /// The placements of all sites in the present states, (worlds, nsite).
    pub fn site_poses(&self, out: &mut Vec<Pose<f64>>) {
        out.clear();
        let (sites, mut bodies) = (&self.model().sites, Vec::new());
        self.each_world(|world, kin| {
            bodies.clear();
            self.place_bodies(world, kin, &mut bodies);
            out.extend(sites.iter().map(|site| bodies[site.body] * site.pose));
        });
    }

    /// A row of [`mocap`](Self::mocap).
    fn mocap_of(&self, world: usize) -> &[f64] {
        let all = self.mocap();
        &all[all.len() / self.worlds() * world..][..all.len() / self.worlds()]
    }

    /// Appends the placements of the bodies of a world.
    fn place_bodies(&self, world: usize, kin: &Kinematics<f64>, out: &mut Vec<Pose<f64>>) {
        let (model, start) = (self.model(), out.len());
        out.extend((0..model.bodies.len()).map(|body| kin.body_pose(model, body)));
        model.place_mocap_bodies(self.mocap_of(world), &mut out[start..]);
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

    /// The velocities of all bodies in the present states, (worlds, nbody): angular velocity, and that of the body's origin, world axes; of
    /// bodies that are moved from outside, and of what hangs on them, with the velocity of the last step.
    pub fn body_velocities(&self, out: &mut Vec<Twist<f64>>) {
        out.clear();
        let velocity = |body: &multibody::Body, kin: &Kinematics<f64>| {
            body.node.map_or(Twist::ZERO, |node| kin.twists[node].shifted(kin.frames[node].rot * body.pose.pos))
        };
        let (model, nv) = (self.model(), self.model().nv());
        let (carriers, mut poses) = (model.mocap_carriers(), Vec::new());
        self.each_world(|world, kin| {
            velocities(&model.tree, model.tree.all(), &self.v()[world * nv..(world + 1) * nv], kin);
            let start = out.len();
            out.extend(model.bodies.iter().map(|body| velocity(body, kin)));
            let of_carriers = self.mocap_velocities(world).as_chunks().0;
            if of_carriers.is_empty() {
                return;
            }
            poses.clear();
            self.place_bodies(world, kin, &mut poses);
            let origins = self.mocap_of(world).as_chunks::<7>().0;
            for ((velocity, pose), carrier) in out[start..].iter_mut().zip(&poses).zip(&carriers) {
                let Some(carrier) = *carrier else { continue };
                let [x, y, z, ..] = origins[carrier];
                *velocity += mocap_velocity(&of_carriers[carrier]).shifted(pose.pos - Vec3::new(x, y, z));
            }
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
