//! Where the bodies of all worlds are and how they move.

use multibody::{Kinematics, forward_kinematics, velocities};
use spatial::{Pose, Twist};

use crate::Batch;

impl Batch {
    /// The placements of all bodies in the present states, (worlds, nbody).
    pub fn body_poses(&self, out: &mut Vec<Pose<f64>>) {
        out.clear();
        self.each_world(false, |body, kin| {
            out.push(match body.node.map(|node| &kin.frames[node]) {
                Some(frame) => Pose::new(frame.pos, frame.quat) * body.pose,
                None => body.pose,
            });
        });
    }

    /// The velocities of all bodies in the present states, (worlds, nbody): angular velocity, and that of the body's origin, world axes.
    pub fn body_velocities(&self, out: &mut Vec<Twist<f64>>) {
        out.clear();
        self.each_world(true, |body, kin| {
            out.push(
                body.node.map_or(Twist::ZERO, |node| kin.twists[node].shifted(kin.frames[node].rot * body.pose.pos)),
            );
        });
    }

    /// Calls `each` for all bodies of one world after the other, with the kinematics of that world.
    fn each_world(&self, moving: bool, mut each: impl FnMut(&multibody::Body, &Kinematics<f64>)) {
        let model = self.model();
        let (tree, mut kin) = (&model.tree, Kinematics::new(&model.tree));
        let (nq, nv) = (tree.nq, tree.nv);
        for world in 0..self.worlds() {
            forward_kinematics(tree, tree.all(), &self.q()[world * nq..(world + 1) * nq], &mut kin);
            if moving {
                velocities(tree, tree.all(), &self.v()[world * nv..(world + 1) * nv], &mut kin);
            }
            model.bodies.iter().for_each(|body| each(body, &kin));
        }
    }
}
