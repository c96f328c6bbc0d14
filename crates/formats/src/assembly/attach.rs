//! A whole model below a body.

use geometry::Scene;
use multibody::{BodySpec, JointKind, JointSpec, Material, Model, SensorKind, SiteQuantity, mocap_pose};
use spatial::{Pose, RigidInertia};

use super::sensors::{Indices, place_obstacles};
use super::{Assembly, AssemblyBody, AssemblyError, AssemblyGeom, AssemblyJoint, AssemblyKey, AssemblyPair};
use super::{map_camera, map_equality, map_transmission};
use crate::StandingSoftBody;

/// Where the elements of an attached model begin among those of the assembly, and which body its world has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attached {
    /// What stands for the attached model's world.
    pub world: usize,
    /// Its body 1, 2, … has become this, this + 1, …
    pub bodies: usize,
    /// Its joint 0.
    pub joints: usize,
    /// Its geom 0.
    pub geoms: usize,
    /// Its site 0.
    pub sites: usize,
    /// Its actuator 0.
    pub actuators: usize,
}

impl Assembly {
    /// A model and its scene, to be changed.
    pub fn from_model(model: &Model, scene: &Scene) -> Self {
        let mut assembly = Self::new(&model.name);
        assembly.gravity = model.gravity;
        assembly.parents_touch = scene.parents_touch;
        (assembly.timestep, assembly.sleep_speed) = (model.timestep, model.sleep_speed);
        (assembly.magnetic_field, assembly.medium, assembly.view) = (model.magnetic_field, model.medium, model.view);
        // Without a prefix and a pose, into a world with nothing in it, there is nothing to collide with.
        assembly.append(model, scene, 0, Pose::IDENTITY, "");
        assembly.bodies[0].spec.name.clone_from(&model.bodies[0].name);
        assembly
    }

    /// Attaches a whole model: what stands in its world comes to stand in `body`, at `pose`, all names with `prefix`
    /// before them. Gravity, magnetic field, medium, view, time step and sleep stay those of the assembly ([`Assembly::differences`]).
    ///
    /// # Errors
    /// When there is no such body, or a name is taken.
    pub fn attach(
        &mut self,
        model: &Model,
        scene: &Scene,
        body: usize,
        pose: Pose<f64>,
        prefix: &str,
    ) -> Result<Attached, AssemblyError> {
        self.check("body", body, self.bodies.len())?;
        let mut next = self.clone();
        let attached = next.append(model, scene, body, pose, prefix);
        next.check_names()?;
        *self = next;
        Ok(attached)
    }

    /// What a model that is attached loses, because there is one of it for all: a medium that the assembly does not have, and
    /// a magnetic field that is measured. Each is a sentence.
    pub fn differences(&self, model: &Model) -> Vec<String> {
        let mut lost = Vec::new();
        if model.medium.is_there() && model.medium != self.medium {
            lost.push(
                "its medium (density, viscosity, wind) is left out: bodies move in that of the model built".to_owned(),
            );
        }
        let measures =
            |kind: &SensorKind| matches!(kind, SensorKind::Site { quantity: SiteQuantity::MagneticField, .. });
        if model.magnetic_field != self.magnetic_field && model.sensors.iter().any(|sensor| measures(&sensor.kind)) {
            lost.push("its magnetic field is left out: magnetometers measure that of the model built".to_owned());
        }
        lost
    }

    fn append(&mut self, model: &Model, scene: &Scene, body: usize, pose: Pose<f64>, prefix: &str) -> Attached {
        let at = Attached {
            world: body,
            bodies: self.bodies.len(),
            joints: self.joints.len(),
            geoms: self.geoms.len(),
            sites: self.sites.len(),
            actuators: self.actuators.len(),
        };
        let (first_tendon, first_camera) = (self.tendons.len(), self.cameras.len());
        let body_of = |index: usize| if index == 0 { body } else { at.bodies + index - 1 };
        // What stands in the attached world moves to the pose; all else stays where it is in its body.
        let placed = |index: usize, own: Pose<f64>| {
            if index == 0 && pose != Pose::IDENTITY { pose * own } else { own }
        };
        let named = |name: &str| if name.is_empty() { String::new() } else { format!("{prefix}{name}") };
        for spec in &model.bodies[1..] {
            self.bodies.push(AssemblyBody {
                spec: BodySpec {
                    name: named(&spec.name),
                    parent: body_of(spec.parent),
                    pose: placed(spec.parent, spec.pose_in_parent),
                    inertia: RigidInertia::ZERO,
                    axes: spec.axes,
                    gravity_compensation: spec.gravity_compensation,
                    is_mocap: spec.is_mocap && body_of(spec.parent) == 0,
                    sleep: spec.sleep,
                },
                inertia: Some(spec.inertia),
            });
        }
        for joint in &model.joints {
            let spec = JointSpec { name: named(&joint.name), ..JointSpec::of(model, joint) };
            let start = (joint.kind.nv() == 1 && model.q0[joint.q] != spec.reference).then(|| model.q0[joint.q]);
            self.joints.push(AssemblyJoint { body: body_of(joint.body), spec, start });
        }
        let material = |index: usize| model.materials.get(index).copied().unwrap_or(Material::default());
        for geom in &scene.geoms {
            let mut next = geom.clone();
            next.name = named(&geom.name);
            next.body = body_of(geom.body);
            next.pose = placed(geom.body, geom.pose);
            let inertia = RigidInertia::ZERO;
            self.geoms.push(AssemblyGeom { geom: next, material: material(geom.material), inertia });
        }
        for pair in &scene.pairs {
            let geoms = pair.geoms.map(|geom| at.geoms + geom);
            self.pairs.push(AssemblyPair { geoms, material: material(pair.material), margin: pair.margin });
        }
        self.excluded.extend(scene.excluded.iter().map(|pair| pair.map(body_of)));
        for site in &model.sites {
            let mut next = site.clone();
            (next.name, next.body, next.pose) = (named(&site.name), body_of(site.body), placed(site.body, site.pose));
            self.sites.push(next);
        }
        for camera in &model.cameras {
            let mut next = camera.clone();
            (next.name, next.body) = (named(&camera.name), body_of(camera.body));
            next.pose = placed(camera.body, camera.pose);
            map_camera(&mut next.mode, &body_of);
            self.cameras.push(next);
        }
        let (joints, tendons) = (|joint| at.joints + joint, |tendon| first_tendon + tendon);
        for actuator in &model.actuators {
            let mut next = actuator.clone();
            next.name = named(&actuator.name);
            map_transmission(&mut next.transmission, &joints, &tendons, &|site| at.sites + site, &body_of);
            self.actuators.push(next);
        }
        for equality in &model.equalities {
            let mut next = equality.clone();
            next.name = named(&equality.name);
            place_ends(&mut next.kind, pose);
            map_equality(&mut next.kind, &body_of, &joints, &tendons);
            self.equalities.push(next);
        }
        let indices = Indices {
            bodies: &body_of,
            joints: &joints,
            geoms: &|geom| at.geoms + geom,
            sites: &|site| at.sites + site,
            tendons: &tendons,
            actuators: &|actuator| at.actuators + actuator,
            cameras: &|camera| first_camera + camera,
        };
        for tendon in &model.tendons {
            let mut next = tendon.clone();
            next.name = named(&tendon.name);
            indices.map_tendon(&mut next);
            place_obstacles(&mut next, |geom| &self.geoms[geom].geom);
            self.tendons.push(next);
        }
        for sensor in &model.sensors {
            let mut next = sensor.clone();
            next.name = named(&sensor.name);
            indices.map(&mut next.kind);
            self.sensors.push(next);
        }
        self.append_soft_bodies(scene, body, pose, body_of, named);
        self.append_keyframes(model, at, pose, prefix);
        self.warnings.extend(model.warnings.iter().cloned());
        at
    }

    /// Soft bodies stand in what has become of their world, which holds the nodes that were pinned.
    fn append_soft_bodies(
        &mut self,
        scene: &Scene,
        world: usize,
        pose: Pose<f64>,
        body_of: impl Fn(usize) -> usize,
        named: impl Fn(&str) -> String,
    ) {
        for (index, body) in scene.soft_bodies.iter().enumerate() {
            let mut description = body.description().clone();
            description.name = named(&body.name);
            if pose != Pose::IDENTITY {
                // A rigid motion leaves elements as they are; if not, building says so.
                let moved = description.mesh.clone().transformed(|x| pose.transform_point(x));
                description.mesh = moved.unwrap_or(description.mesh);
            }
            let of_this = scene.soft_attachments.iter().filter(|hold| hold.soft == index);
            let held = of_this.map(|hold| {
                let point = if hold.body == 0 { pose.transform_point(hold.point) } else { hold.point };
                (hold.node, body_of(hold.body), point)
            });
            self.soft_bodies.push(StandingSoftBody { body: world, description, held: held.collect() });
        }
    }

    /// Keyframes of the attached model; what it knows nothing of stays at its default in them.
    fn append_keyframes(&mut self, model: &Model, at: Attached, pose: Pose<f64>, prefix: &str) {
        for key in &model.keyframes {
            let mut next =
                AssemblyKey { name: format!("{prefix}{}", key.name), time: key.time, ..AssemblyKey::default() };
            if key.name.is_empty() {
                next.name.clear();
            }
            for (index, joint) in model.joints.iter().enumerate() {
                let mut q = key.q[joint.q..joint.q + joint.kind.nq()].to_vec();
                let mut v = key.v[joint.v..joint.v + joint.kind.nv()].to_vec();
                if joint.kind == JointKind::Free && pose != Pose::IDENTITY {
                    let own = Pose::new([q[0], q[1], q[2]].into(), spatial::Quat::new(q[3], q[4], q[5], q[6]));
                    let moved = pose * own;
                    q = moved.to_array().to_vec();
                    let linear = pose.rot * spatial::Vec3::new(v[0], v[1], v[2]);
                    v[..3].copy_from_slice(&linear.to_array());
                }
                next.q.insert(at.joints + index, q);
                next.v.insert(at.joints + index, v);
            }
            next.ctrl.extend(key.ctrl.iter().enumerate().map(|(index, &value)| (at.actuators + index, value)));
            for (own, body) in key.mocap.as_chunks().0.iter().zip(model.mocap_bodies()) {
                next.mocap.insert(at.bodies + body - 1, (pose * mocap_pose(own)).to_array());
            }
            self.keyframes.push(next);
        }
    }
}

/// Ends of constraints that lie in the attached model's world move to the pose.
fn place_ends(kind: &mut multibody::EqualityKind, pose: Pose<f64>) {
    use multibody::EqualityKind::{Connect, Coupling, Distance, Weld};
    if pose == Pose::IDENTITY {
        return;
    }
    match kind {
        Connect { bodies, anchors } | Distance { bodies, anchors, .. } => {
            for (_, anchor) in bodies.iter().zip(anchors).filter(|(body, _)| **body == 0) {
                *anchor = pose.transform_point(*anchor);
            }
        }
        Weld { bodies, frames, .. } => {
            for (_, frame) in bodies.iter().zip(frames).filter(|(body, _)| **body == 0) {
                *frame = pose * *frame;
            }
        }
        Coupling { .. } => {}
    }
}
