//! What observations and rewards need of a world: placements, centres of mass, inertias and velocities about them, forces.
//!
//! Conventions are MuJoCo's, whose names the observations carry. A *root* is a body that hangs on the world; `cinert`, `cvel` and `cfrc_ext`
//! of a body are about the centre of mass of all that hangs on its root, in world axes.

use batch::{BatchContact, World};
use geometry::Scene;
use multibody::{Kinematics, Model, RneaWorkspace, Transmission, forward_kinematics, rnea, velocities};
use spatial::{Mat3, Pose, Quat, Twist, Vec3};

/// A placement in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub rot: Mat3<f64>,
    pub pos: Vec3<f64>,
}

/// Memory for the quantities of one world, one for each thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    kinematics: Kinematics<f64>,
    /// Centre of mass of everything below each root; entries of other bodies mean nothing.
    centers: Vec<Vec3<f64>>,
    masses: Vec<f64>,
    /// (nbody, 6): external contact forces, torque first.
    pub(crate) contact_forces: Vec<[f64; 6]>,
    /// (nv): forces of actuators.
    pub(crate) actuator_forces: Vec<f64>,
    /// (nv): accelerations in a time step, the forces that they take, and scratch of inverse dynamics.
    pub(crate) accelerations: Vec<f64>,
    pub(crate) forces: Vec<f64>,
    pub(crate) inverse: RneaWorkspace<f64>,
}

impl Scratch {
    /// Memory for worlds of a model.
    pub fn new(model: &Model) -> Self {
        let bodies = model.bodies.len();
        Self {
            kinematics: Kinematics::new(&model.tree),
            centers: vec![Vec3::ZERO; bodies],
            masses: vec![0.0; bodies],
            contact_forces: vec![[0.0; 6]; bodies],
            actuator_forces: vec![0.0; model.nv()],
            accelerations: vec![0.0; model.nv()],
            forces: vec![0.0; model.nv()],
            inverse: RneaWorkspace::new(&model.tree),
        }
    }
}

/// The body below the world that each body hangs on; the world is its own.
pub(crate) fn roots(model: &Model) -> Vec<usize> {
    let mut roots: Vec<usize> = Vec::with_capacity(model.bodies.len());
    for (index, body) in model.bodies.iter().enumerate() {
        let root = if index == 0 || body.parent == 0 { index } else { roots[body.parent] };
        roots.push(root);
    }
    roots
}

/// A model with what can be told of it beforehand.
pub(crate) struct Quantities<'a> {
    pub model: &'a Model,
    pub scene: &'a Scene,
    pub roots: &'a [usize],
}

impl Quantities<'_> {
    /// Places everything, and finds the centres of mass of what hangs on each root.
    pub fn place(&self, q: &[f64], scratch: &mut Scratch) {
        let tree = &self.model.tree;
        forward_kinematics(tree, tree.all(), q, &mut scratch.kinematics);
        scratch.centers.fill(Vec3::ZERO);
        scratch.masses.fill(0.0);
        for (index, body) in self.model.bodies.iter().enumerate() {
            let (root, mass) = (self.roots[index], body.inertia.mass);
            let com = self.body_com(index, scratch);
            scratch.centers[root] += com * mass;
            scratch.masses[root] += mass;
        }
        for (center, mass) in scratch.centers.iter_mut().zip(&scratch.masses) {
            if *mass > 0.0 {
                *center = *center * (1.0 / mass);
            }
        }
    }

    /// Velocities of everything, after [`place`](Self::place).
    pub fn move_on(&self, v: &[f64], scratch: &mut Scratch) {
        let tree = &self.model.tree;
        velocities(tree, tree.all(), v, &mut scratch.kinematics);
    }

    /// The frame of a body, after [`place`](Self::place).
    pub fn frame(&self, body: usize, scratch: &Scratch) -> Frame {
        let body = &self.model.bodies[body];
        let Pose { rot, pos } = body.pose;
        let Some(node) = body.node else { return Frame { rot: rot.to_mat3(), pos } };
        let node = &scratch.kinematics.frames[node];
        // Most bodies are their node's frame.
        let rot = if rot == Quat::IDENTITY { node.rot } else { (node.quat * rot).to_mat3() };
        Frame { rot, pos: node.pos + node.rot * pos }
    }

    /// The orientation of a body, after [`place`](Self::place).
    pub fn orientation(&self, body: usize, scratch: &Scratch) -> Quat<f64> {
        let body = &self.model.bodies[body];
        body.node.map_or(body.pose.rot, |node| scratch.kinematics.frames[node].quat * body.pose.rot)
    }

    /// The motion of the point of a body that is at `point`, after [`move_on`](Self::move_on); none of what is fixed in the world.
    pub fn twist(&self, body: usize, point: Vec3<f64>, scratch: &Scratch) -> Option<Twist<f64>> {
        let node = self.model.bodies[body].node?;
        let kinematics = &scratch.kinematics;
        Some(kinematics.twists[node].shifted(point - kinematics.frames[node].pos))
    }

    /// The centre of mass of a body, after [`place`](Self::place).
    pub fn body_com(&self, body: usize, scratch: &Scratch) -> Vec3<f64> {
        let Frame { rot, pos } = self.frame(body, scratch);
        pos + rot * self.model.bodies[body].inertia.com
    }

    /// The centre of mass of all bodies, after [`place`](Self::place).
    pub fn center_of_mass(&self, scratch: &Scratch) -> Vec3<f64> {
        let (mut sum, mut mass) = (Vec3::ZERO, 0.0);
        for (index, body) in self.model.bodies.iter().enumerate() {
            sum += self.body_com(index, scratch) * body.inertia.mass;
            mass += body.inertia.mass;
        }
        sum * (1.0 / mass)
    }

    /// `cinert` of a body: xx, yy, zz, xy, xz, yz of its inertia about the centre, mass times offset from it, mass.
    pub fn inertia(&self, body: usize, scratch: &Scratch) -> [f64; 10] {
        let own = &self.model.bodies[body].inertia;
        let Frame { rot, pos } = self.frame(body, scratch);
        let d = pos + rot * own.com - scratch.centers[self.roots[body]];
        let (i, m) = (own.inertia.rotated(rot), own.mass);
        [
            i.xx() + m * (d.y * d.y + d.z * d.z),
            i.yy() + m * (d.x * d.x + d.z * d.z),
            i.zz() + m * (d.x * d.x + d.y * d.y),
            i.xy() - m * d.x * d.y,
            i.xz() - m * d.x * d.z,
            i.yz() - m * d.y * d.z,
            m * d.x,
            m * d.y,
            m * d.z,
            m,
        ]
    }

    /// `cvel` of a body: angular velocity, and the velocity of the point of the body that is at the centre.
    pub fn velocity(&self, body: usize, scratch: &Scratch) -> [f64; 6] {
        let Some(twist) = self.twist(body, scratch.centers[self.roots[body]], scratch) else { return [0.0; 6] };
        let Twist { ang, lin } = twist;
        [ang.x, ang.y, ang.z, lin.x, lin.y, lin.z]
    }

    /// `cfrc_ext` of all bodies but the world: torque about the centre, and force, of their contacts; after [`place`](Self::place).
    pub fn gather_contact_forces(&self, contacts: &[BatchContact], scratch: &mut Scratch) {
        scratch.contact_forces.fill([0.0; 6]);
        for contact in contacts {
            let bodies = contact.geoms.map(|geom| self.scene.geoms[geom].body);
            for (body, sign) in [(bodies[0], -1.0), (bodies[1], 1.0)] {
                if body == 0 {
                    continue;
                }
                let force = contact.force * sign;
                let torque = (contact.position - scratch.centers[self.roots[body]]).cross(force);
                let all = [torque.x, torque.y, torque.z, force.x, force.y, force.z];
                scratch.contact_forces[body].iter_mut().zip(all).for_each(|(sum, x)| *sum += x);
            }
        }
    }

    /// The force that the equation of motion lacks at the first degree of freedom, in a time step of `dt` from (q0, v0) to `world`, N.
    pub fn missing_force(&self, q0: &[f64], v0: &[f64], world: &World<'_>, dt: f64, scratch: &mut Scratch) -> f64 {
        let model = self.model;
        self.gather_actuator_forces(&World { q: q0, v: v0, ..*world }, scratch);
        self.place(q0, scratch);
        self.move_on(v0, scratch);
        let Scratch { kinematics, accelerations: a, forces, inverse, actuator_forces, .. } = scratch;
        a.iter_mut().zip(world.v.iter().zip(v0)).for_each(|(a, (v, v0))| *a = (v - v0) / dt);
        let tree = &model.tree;
        rnea(tree, tree.all(), kinematics, v0, Some(a), model.gravity, inverse, forces);
        forces[0] + model.armature[0] * a[0] + model.damping[0] * world.v[0] - actuator_forces[0]
    }

    /// `qfrc_actuator`, (nv): what actuators of joints exert at a state.
    pub fn gather_actuator_forces(&self, world: &World<'_>, scratch: &mut Scratch) {
        let forces = &mut scratch.actuator_forces;
        forces.fill(0.0);
        for (actuator, ctrl) in self.model.actuators.iter().zip(world.ctrl) {
            // The tasks' models have no others: `Environment::new` sees to it.
            let Transmission::Joint { joint, gear } = actuator.transmission else { continue };
            let joint = &self.model.joints[joint];
            let clamp = |x: f64, range: Option<(f64, f64)>| range.map_or(x, |(low, high)| x.max(low).min(high));
            let (length, velocity) = (gear * world.q[joint.q], gear * world.v[joint.v]);
            let [constant, per_length, per_velocity] = actuator.law.bias;
            let force = actuator.law.gain * clamp(*ctrl, actuator.ctrl_range)
                + constant
                + per_length * length
                + per_velocity * velocity;
            forces[joint.v] += gear * clamp(force, actuator.force_range);
        }
    }
}
