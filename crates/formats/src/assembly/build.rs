//! From an assembly to a model and a scene.

use std::collections::BTreeSet;

use geometry::{PairSpec, Scene};
use multibody::{BodySpec, Keyframe, KeyframeKey, Material, Model, ModelBuilder};
use spatial::RigidInertia;

use super::sensors::{Indices, place_obstacles};
use super::{Assembly, AssemblyError, map_camera, map_equality, map_transmission};
use crate::Loaded;

/// The order of a model: old indices in their new order, and the other way round.
struct Order {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Order {
    fn new(old: Vec<usize>) -> Self {
        let mut new = vec![0; old.len()];
        old.iter().enumerate().for_each(|(to, &from)| new[from] = to);
        Self { old, new }
    }

    /// Things by the new place of their body, otherwise in the order of addition.
    fn by_body(bodies: &Order, count: usize, body: impl Fn(usize) -> usize) -> Self {
        let mut old: Vec<usize> = (0..count).collect();
        old.sort_by_key(|&index| bodies.new[body(index)]);
        Self::new(old)
    }
}

impl Assembly {
    /// No two elements of a kind have one name.
    ///
    /// # Errors
    /// [`AssemblyError::NameTaken`].
    pub fn check_names(&self) -> Result<(), AssemblyError> {
        unique("body", self.bodies.iter().map(|body| &body.spec.name))?;
        unique("joint", self.joints.iter().map(|joint| &joint.spec.name))?;
        unique("geom", self.geoms.iter().map(|geom| &geom.geom.name))?;
        unique("site", self.sites.iter().map(|site| &site.name))?;
        unique("camera", self.cameras.iter().map(|camera| &camera.name))?;
        unique("sensor", self.sensors.iter().map(|sensor| &sensor.name))?;
        unique("actuator", self.actuators.iter().map(|actuator| &actuator.name))?;
        unique("tendon", self.tendons.iter().map(|tendon| &tendon.name))?;
        unique("equality", self.equalities.iter().map(|equality| &equality.name))?;
        unique("soft body", self.soft_bodies.iter().map(|soft| &soft.description.name))?;
        unique("keyframe", self.keyframes.iter().map(|key| &key.name))
    }

    /// The inertia of a body: its own, or the sum of its geoms'.
    pub fn inertia(&self, body: usize) -> RigidInertia<f64> {
        let from_geoms = || {
            let own = self.geoms.iter().filter(|g| g.geom.body == body && g.inertia.mass > 0.0);
            own.fold(RigidInertia::ZERO, |sum, geom| {
                let pose = geom.geom.pose;
                let turned = geom.inertia.rotated(pose.rot.to_mat3());
                sum.combined(&RigidInertia { com: turned.com + pose.pos, ..turned })
            })
        };
        self.bodies[body].inertia.unwrap_or_else(from_geoms)
    }

    /// Builds the model and the scene.
    ///
    /// # Errors
    /// When two elements of a kind have one name, and as [`ModelBuilder::build`].
    pub fn build(&self) -> Result<Loaded, AssemblyError> {
        self.check_names()?;
        let bodies = Order::new(self.depth_first());
        let joints = Order::by_body(&bodies, self.joints.len(), |joint| self.joints[joint].body);
        let geoms = Order::by_body(&bodies, self.geoms.len(), |geom| self.geoms[geom].geom.body);
        let (body_of, joint_of, tendon_of) = (|b: usize| bodies.new[b], |j: usize| joints.new[j], |t: usize| t);

        let mut builder = ModelBuilder::new(&self.name);
        builder.gravity = self.gravity;
        (builder.timestep, builder.sleep_speed) = (self.timestep, self.sleep_speed);
        (builder.magnetic_field, builder.medium, builder.view) = (self.magnetic_field, self.medium, self.view);
        builder.warnings.clone_from(&self.warnings);
        builder.strict_inertia = false;
        self.add_bodies(&mut builder, &bodies)?;
        builder.actuators.clone_from(&self.actuators);
        builder.equalities.clone_from(&self.equalities);
        builder.equalities.iter_mut().for_each(|e| map_equality(&mut e.kind, &body_of, &joint_of, &tendon_of));
        let sites = Order::by_body(&bodies, self.sites.len(), |site| self.sites[site].body);
        builder.sites = sites.old.iter().map(|&site| self.sites[site].clone()).collect();
        builder.sites.iter_mut().for_each(|site| site.body = body_of(site.body));
        let site_of = |site: usize| sites.new[site];
        let actuators = builder.actuators.iter_mut();
        actuators.for_each(|a| map_transmission(&mut a.transmission, &joint_of, &tendon_of, &site_of, &body_of));
        let cameras = Order::by_body(&bodies, self.cameras.len(), |camera| self.cameras[camera].body);
        builder.cameras = cameras.old.iter().map(|&camera| self.cameras[camera].clone()).collect();
        for camera in &mut builder.cameras {
            camera.body = body_of(camera.body);
            map_camera(&mut camera.mode, &body_of);
        }
        let indices = Indices {
            bodies: &body_of,
            joints: &joint_of,
            geoms: &|geom| geoms.new[geom],
            sites: &|site| sites.new[site],
            tendons: &tendon_of,
            actuators: &|actuator| actuator,
            cameras: &|camera| cameras.new[camera],
        };
        builder.tendons.clone_from(&self.tendons);
        builder.tendons.iter_mut().for_each(|tendon| indices.map_tendon(tendon));
        builder.sensors.clone_from(&self.sensors);
        builder.sensors.iter_mut().for_each(|sensor| indices.map(&mut sensor.kind));
        let mut scene = self.scene(&mut builder.materials, &bodies, &geoms);
        // Where geoms have been changed, strings wrap around what they are now.
        builder.tendons.iter_mut().for_each(|tendon| place_obstacles(tendon, |geom| &scene.geoms[geom]));
        // Building makes rotations unit quaternions once more: those of a model that has been read keep their bits.
        let equalities = builder.equalities.clone();
        let mut model = builder.build()?;
        for (built, given) in model.equalities.iter_mut().zip(equalities) {
            if kept(&built.kind, &given.kind) {
                built.kind = given.kind;
            }
        }
        for (joint, &from) in model.joints.iter().zip(&joints.old) {
            if let Some(start) = self.joints[from].start {
                model.q0[joint.q] = start;
            }
        }
        rest_strings(&mut model, &self.strings_at_rest);
        self.add_soft_bodies(&mut scene, &model, body_of)?;
        for key in &self.keyframes {
            model.keyframes.push(keyframe(key, &model, &joints, &bodies));
        }
        Ok(Loaded { model, scene })
    }

    /// The bodies in the order of a model: a body, then what hangs from it, child by child.
    fn depth_first(&self) -> Vec<usize> {
        let mut children = vec![Vec::new(); self.bodies.len()];
        for (index, body) in self.bodies.iter().enumerate().skip(1) {
            children[body.spec.parent].push(index);
        }
        let (mut order, mut pending) = (Vec::with_capacity(self.bodies.len()), vec![0]);
        while let Some(body) = pending.pop() {
            order.push(body);
            pending.extend(children[body].iter().rev());
        }
        order
    }

    fn add_bodies(&self, builder: &mut ModelBuilder, bodies: &Order) -> Result<(), AssemblyError> {
        let mut joints = vec![Vec::new(); self.bodies.len()];
        self.joints.iter().for_each(|joint| joints[joint.body].push(&joint.spec));
        if let Some(world) = builder.body_mut(0) {
            world.name.clone_from(&self.bodies[0].spec.name);
        }
        for &from in &bodies.old[1..] {
            let spec = &self.bodies[from].spec;
            let spec = BodySpec { parent: bodies.new[spec.parent], inertia: self.inertia(from), ..spec.clone() };
            let pose = spec.pose;
            let index = builder.add_body(spec)?;
            if let Some(added) = builder.body_mut(index) {
                added.pose = pose;
            }
            for (place, &joint) in joints[from].iter().enumerate() {
                builder.add_joint(index, joint.clone())?;
                if let Some(added) = builder.joint_mut(index, place) {
                    added.clone_from(joint);
                }
            }
        }
        Ok(())
    }

    fn add_soft_bodies(
        &self,
        scene: &mut Scene,
        model: &multibody::Model,
        body_of: impl Fn(usize) -> usize,
    ) -> Result<(), AssemblyError> {
        if self.soft_bodies.is_empty() {
            return Ok(());
        }
        let poses = crate::overlaps::poses_at_start(model);
        for soft in &self.soft_bodies {
            let mut soft = soft.clone();
            soft.body = body_of(soft.body);
            soft.held.iter_mut().for_each(|(_, body, _)| *body = body_of(*body));
            let name = soft.description.name.clone();
            let added = soft.add_to(scene, model, &poses, None);
            added.map_err(|source| AssemblyError::SoftBody { name, source })?;
        }
        Ok(())
    }

    fn scene(&self, materials: &mut Vec<Material>, bodies: &Order, geoms: &Order) -> Scene {
        let mut index_of = |material: Material| {
            materials.iter().position(|m| *m == material).unwrap_or_else(|| {
                materials.push(material);
                materials.len() - 1
            })
        };
        let mut scene = Scene { parents_touch: self.parents_touch, ..Scene::default() };
        for &from in &geoms.old {
            let mut geom = self.geoms[from].geom.clone();
            geom.body = bodies.new[geom.body];
            geom.material = index_of(self.geoms[from].material);
            scene.geoms.push(geom);
        }
        for pair in &self.pairs {
            let geoms = pair.geoms.map(|geom| geoms.new[geom]);
            scene.pairs.push(PairSpec { geoms, material: index_of(pair.material), margin: pair.margin });
        }
        scene.excluded = self.excluded.iter().map(|pair| pair.map(|body| bodies.new[body])).collect();
        scene
    }
}

/// Whether building changed nothing but round-off of rotations.
fn kept(built: &multibody::EqualityKind, given: &multibody::EqualityKind) -> bool {
    let (multibody::EqualityKind::Weld { frames: a, .. }, multibody::EqualityKind::Weld { frames: b, .. }) =
        (built, given)
    else {
        return false;
    };
    let close = |a: &spatial::Quat<f64>, b: &spatial::Quat<f64>| {
        (a.w - b.w).abs().max((a.vector() - b.vector()).norm()) <= 4.0 * f64::EPSILON
    };
    a.iter().zip(b).all(|(a, b)| close(&a.rot, &b.rot))
}

fn keyframe(key: &super::AssemblyKey, model: &multibody::Model, joints: &Order, bodies: &Order) -> Keyframe {
    let start = model.keyframe(KeyframeKey::Start).unwrap_or_default();
    let mut next = Keyframe { name: key.name.clone(), time: key.time, ..start };
    for (joint, q) in &key.q {
        let at = model.joints[joints.new[*joint]].q;
        next.q[at..at + q.len()].copy_from_slice(q);
    }
    for (joint, v) in &key.v {
        let at = model.joints[joints.new[*joint]].v;
        next.v[at..at + v.len()].copy_from_slice(v);
    }
    for (&actuator, &value) in &key.ctrl {
        next.ctrl[actuator] = value;
    }
    for (&body, pose) in &key.mocap {
        if let Some(place) = model.mocap_bodies().position(|moved| moved == bodies.new[body]) {
            next.mocap[7 * place..][..7].copy_from_slice(pose);
        }
    }
    next
}

fn unique<'a>(kind: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), AssemblyError> {
    let mut seen = BTreeSet::new();
    for name in names.filter(|name| !name.is_empty()) {
        if !seen.insert(name) {
            return Err(AssemblyError::NameTaken { kind, name: name.clone() });
        }
    }
    Ok(())
}

/// Lets the springs of the tendons `at_rest` rest where those of the joints do.
pub(crate) fn rest_strings(model: &mut Model, at_rest: &[usize]) {
    for &index in at_rest {
        let length = model.tendons[index].length(model, &model.spring_reference);
        model.tendons[index].rest = (length, length);
    }
}
