//! From bodies and joints, as a file lists them, to a model.

use std::ops::Range;

use spatial::{Pose, Quat, RigidInertia, Vec3};

use crate::checks::{check_at_least_zero, check_compliance, check_friction, check_positive, check_references};
use crate::tree::{JointType, NO_PARENT, Node};
use crate::{
    Actuator, Body, BuildError, Camera, Compliance, DefaultView, Equality, Joint, JointKind, JointMotion, Keyframe,
    Material, Medium, Model, PolynomialForces, Sensor, Site, SleepPolicy, Tendon, Tree, Warning,
};

/// A body to be added.
#[derive(Clone, Debug)]
pub struct BodySpec {
    /// Name.
    pub name: String,
    /// Index of the parent; 0 is the world.
    pub parent: usize,
    /// Its frame in the parent's frame.
    pub pose: Pose<f64>,
    /// Mass, centre of mass and inertia about it, in the body's frame.
    pub inertia: RigidInertia<f64>,
    /// See [`Body::axes`].
    pub axes: Option<Quat<f64>>,
    /// The share of its weight that is cancelled.
    pub gravity_compensation: f64,
    /// Whether it is moved from outside: a child of the world on which no joint hangs.
    pub is_mocap: bool,
    /// Whether its tree may sleep.
    pub sleep: SleepPolicy,
}

impl Default for BodySpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            parent: 0,
            pose: Pose::IDENTITY,
            inertia: RigidInertia::ZERO,
            axes: None,
            gravity_compensation: 0.0,
            is_mocap: false,
            sleep: SleepPolicy::Auto,
        }
    }
}

/// A joint to be added. A body with several joints moves by all of them, in the order of addition.
#[derive(Clone, Debug)]
pub struct JointSpec {
    /// Name.
    pub name: String,
    /// Kind of motion, axes in the body's frame.
    pub kind: JointKind,
    /// The joint's point in the body's frame, m. Ignored by free joints.
    pub anchor: Vec3<f64>,
    /// The coordinate in the configuration that the file draws (joints with one coordinate), rad or m.
    pub reference: f64,
    /// The coordinate at which the spring is at rest (joints with one coordinate), rad or m.
    pub spring_reference: f64,
    /// Limits of the coordinate, or (0, greatest angle) of a ball.
    pub range: Option<(f64, f64)>,
    /// How much the limits yield.
    pub limit_compliance: Compliance,
    /// Inertia of the drive, on every degree of freedom.
    pub armature: f64,
    /// Damping, on every degree of freedom.
    pub damping: f64,
    /// Stiffness, on every degree of freedom.
    pub stiffness: f64,
    /// Coulomb friction, on every degree of freedom.
    pub friction_loss: f64,
    /// How much that creeps: near-rigid or a reference, whose spring has no part.
    pub friction_compliance: Compliance,
    /// Least and greatest sum of the forces of its drives.
    pub effort_limit: Option<(f64, f64)>,
    /// Whether gravity compensation at this joint is a force of its actuators, within that limit.
    pub is_lifted_by_actuators: bool,
    /// What spring and damper have beyond the linear parts (joints with one degree of freedom).
    pub polynomial: PolynomialForces,
}

impl JointSpec {
    /// A joint of this kind at the body's origin, without limits, springs, damping or armature.
    pub fn new(kind: JointKind) -> Self {
        Self {
            name: String::new(),
            kind,
            anchor: Vec3::ZERO,
            reference: 0.0,
            spring_reference: 0.0,
            range: None,
            limit_compliance: Compliance::NearRigid,
            armature: 0.0,
            damping: 0.0,
            stiffness: 0.0,
            friction_loss: 0.0,
            friction_compliance: Compliance::NearRigid,
            effort_limit: None,
            is_lifted_by_actuators: false,
            polynomial: PolynomialForces::NONE,
        }
    }
}

/// Collects bodies and joints, parents first, and builds the model.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    name: String,
    bodies: Vec<BodySpec>,
    joints: Vec<Vec<JointSpec>>,
    joint_count: usize,
    /// Actuators; joint indices refer to the finished model (see [`ModelBuilder::add_joint`]).
    pub actuators: Vec<Actuator>,
    /// Fixed tendons; joint indices refer to the finished model.
    pub tendons: Vec<Tendon>,
    /// Equality constraints; indices refer to the finished model.
    pub equalities: Vec<Equality>,
    /// Sites.
    pub sites: Vec<Site>,
    /// Sensors; indices refer to the finished model, those of geoms to its scene.
    pub sensors: Vec<Sensor>,
    /// Cameras.
    pub cameras: Vec<Camera>,
    /// From where the model is looked at when nothing else is said.
    pub view: DefaultView,
    /// Keyframes, checked against the finished model.
    pub keyframes: Vec<Keyframe>,
    /// Surfaces.
    pub materials: Vec<Material>,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3<f64>,
    /// The magnetic field.
    pub magnetic_field: Vec3<f64>,
    /// What bodies move in; at first, nothing.
    pub medium: Medium,
    /// Suggested time step, s.
    pub timestep: f64,
    /// See [`Model::sleep_speed`].
    pub sleep_speed: Option<f64>,
    /// Whether a body whose inertia no rigid body has is an error. If not, bodies that move as one are checked
    /// together, and only for what dynamics needs: a positive semi-definite inertia.
    pub strict_inertia: bool,
    /// What was read and ignored or approximated.
    pub warnings: Vec<Warning>,
}

impl JointSpec {
    /// What a joint of a model was built from. Springs, damping, armature and friction are those of its first degree of freedom.
    pub fn of(model: &Model, joint: &Joint) -> Self {
        let scalar = joint.kind.nv() == 1;
        let first = |values: &[f64]| if joint.kind.nv() > 0 { values[joint.v] } else { 0.0 };
        Self {
            name: joint.name.clone(),
            kind: joint.kind,
            anchor: joint.anchor,
            reference: if scalar { model.tree.nodes[joint.nodes.start].q_ref } else { 0.0 },
            spring_reference: if scalar { model.spring_reference[joint.q] } else { 0.0 },
            range: joint.range,
            limit_compliance: joint.limit_compliance,
            armature: first(&model.armature),
            damping: first(&model.damping),
            stiffness: first(&model.stiffness),
            friction_loss: first(&model.friction_loss),
            friction_compliance: joint.friction_compliance,
            effort_limit: joint.effort_limit,
            is_lifted_by_actuators: joint.is_lifted_by_actuators,
            polynomial: joint.polynomial,
        }
    }
}

impl ModelBuilder {
    /// An empty model: a world, Earth's gravity along −z, a time step of 2 ms.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            bodies: vec![BodySpec { name: "world".into(), ..BodySpec::default() }],
            joints: vec![Vec::new()],
            joint_count: 0,
            actuators: Vec::new(),
            tendons: Vec::new(),
            equalities: Vec::new(),
            sites: Vec::new(),
            sensors: Vec::new(),
            cameras: Vec::new(),
            view: DefaultView::default(),
            keyframes: Vec::new(),
            materials: Vec::new(),
            gravity: Vec3::new(0.0, 0.0, -9.81),
            magnetic_field: Vec3::new(0.0, -0.5, 0.0),
            medium: Medium::default(),
            timestep: 0.002,
            sleep_speed: None,
            strict_inertia: true,
            warnings: Vec::new(),
        }
    }

    /// Adds a body and returns its index. Bodies come depth first: the whole of one tree before the next.
    ///
    /// # Errors
    /// When the parent does not exist, a number is not finite, the mass is negative, or the inertia is none.
    pub fn add_body(&mut self, mut spec: BodySpec) -> Result<usize, BuildError> {
        let what = || format!("body {:?}", spec.name);
        if spec.parent >= self.bodies.len() {
            return Err(BuildError::NoSuch { what: what(), kind: "body", index: spec.parent });
        }
        let rot = spec.pose.rot.normalized();
        let Some(rot) = rot.filter(|_| spec.pose.pos.is_finite() && spec.gravity_compensation.is_finite()) else {
            return Err(BuildError::NotFinite { what: what() });
        };
        spec.pose.rot = rot;
        check_inertia(&spec, self.strict_inertia)?;
        self.bodies.push(spec);
        self.joints.push(Vec::new());
        Ok(self.bodies.len() - 1)
    }

    /// Adds a joint to the body added last and returns its index in [`Model::joints`].
    ///
    /// # Errors
    /// When the body is not the one added last, an axis has no direction, or a parameter is out of its domain.
    pub fn add_joint(&mut self, body: usize, mut spec: JointSpec) -> Result<usize, BuildError> {
        let what = format!("joint {:?}", spec.name);
        if body == 0 || body + 1 != self.bodies.len() {
            return Err(BuildError::NoSuch { what, kind: "body", index: body });
        }
        normalize_axes(&mut spec)?;
        check_joint(&spec, &what)?;
        let index = self.joint_count;
        self.joints[body].push(spec);
        self.joint_count += 1;
        Ok(index)
    }

    /// The number of bodies so far, the world included.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// The body as it was added.
    pub fn body(&self, body: usize) -> Option<&BodySpec> {
        self.bodies.get(body)
    }

    /// The body as it was added, for readers that complete it from its geoms.
    pub fn body_mut(&mut self, body: usize) -> Option<&mut BodySpec> {
        self.bodies.get_mut(body)
    }

    /// A joint as it was added, by its body and its place among the body's joints.
    pub fn joint_mut(&mut self, body: usize, place: usize) -> Option<&mut JointSpec> {
        self.joints.get_mut(body)?.get_mut(place)
    }

    /// A joint as it was added, by its index in the model.
    pub fn nth_joint_mut(&mut self, joint: usize) -> Option<&mut JointSpec> {
        self.joints.iter_mut().flatten().nth(joint)
    }

    /// The pose of a body in the world in the default configuration, as the file draws it.
    pub fn default_pose(&self, body: usize) -> Option<Pose<f64>> {
        let (mut at, mut pose) = (body, Pose::IDENTITY);
        while at != 0 {
            let spec = self.bodies.get(at)?;
            (at, pose) = (spec.parent, spec.pose * pose);
        }
        Some(pose)
    }

    /// The first body of those that move as one with this body.
    pub fn rigid_group(&self, body: usize) -> Option<usize> {
        let mut at = body;
        while at != 0 && self.joints.get(at)?.iter().all(|joint| joint.kind.nv() == 0) {
            at = self.bodies.get(at)?.parent;
        }
        Some(at)
    }

    /// Builds the model.
    ///
    /// # Errors
    /// When a free joint is not at a root, a moving body has no inertia, an actuator, tendon or equality constraint
    /// refers to nothing or has numbers out of their domain, or a keyframe does not fit.
    pub fn build(self) -> Result<Model, BuildError> {
        let mut model = Model {
            name: self.name,
            actuators: self.actuators,
            tendons: self.tendons,
            equalities: self.equalities,
            sites: self.sites,
            sensors: self.sensors,
            cameras: self.cameras,
            view: self.view,
            keyframes: self.keyframes,
            materials: self.materials,
            gravity: self.gravity,
            magnetic_field: self.magnetic_field,
            medium: self.medium,
            timestep: self.timestep,
            sleep_speed: self.sleep_speed,
            warnings: self.warnings,
            ..Model::default()
        };
        if !self.gravity.is_finite() {
            return Err(BuildError::NotFinite { what: "gravity".into() });
        }
        let Medium { density, viscosity, wind } = self.medium;
        check_at_least_zero(density, || "density of the medium".into())?;
        check_at_least_zero(viscosity, || "viscosity of the medium".into())?;
        if !wind.is_finite() {
            return Err(BuildError::NotFinite { what: "wind".into() });
        }
        check_positive(self.timestep, || "timestep".into())?;
        check_at_least_zero(self.sleep_speed.unwrap_or(0.0), || "sleep_tolerance".into())?;
        for (index, body) in self.bodies.into_iter().enumerate() {
            check_inertia(&body, self.strict_inertia)?;
            place_body(&mut model, index, body, &self.joints[index])?;
        }
        split_trees(&mut model.tree);
        check_references(&mut model)?;
        check_moving_inertias(&model)?;
        check_movable(&model)?;
        Ok(model)
    }
}

fn check_inertia(spec: &BodySpec, strict: bool) -> Result<(), BuildError> {
    let RigidInertia { mass, com, inertia } = spec.inertia;
    if !(mass.is_finite() && com.is_finite() && inertia.is_finite()) {
        return Err(BuildError::NotFinite { what: format!("body {:?}: inertia", spec.name) });
    }
    if mass < 0.0 {
        return Err(BuildError::NegativeMass { body: spec.name.clone(), mass });
    }
    match inertia_flaw(&spec.inertia) {
        Some((expected, moments)) if strict => {
            Err(BuildError::BadInertia { body: spec.name.clone(), moments, expected })
        }
        _ => Ok(()),
    }
}

const POSITIVE: &str = "a positive semi-definite matrix";

/// What no rigid body's inertia has: the expectation that it misses, and its principal moments.
pub fn inertia_flaw(body: &RigidInertia<f64>) -> Option<(&'static str, [f64; 3])> {
    // By rotations: the closed form loses half of the digits where two moments are nearly equal, as those of rods are.
    let (_, mut moments) = body.inertia.principal_axes();
    moments.sort_by(f64::total_cmp);
    let scale = moments[2].abs().max(moments[0].abs());
    // Thin rods and points are real; what is printed with a few digits may miss zero or the triangle by those, and
    // what an exporter computed may miss zero by its round-off (1e-15 m² are 30 nm of lever).
    if moments[0] < -1e-9 * scale - 1e-15 * body.mass {
        return Some((POSITIVE, moments));
    }
    if moments[2] > moments[0] + moments[1] + 1e-2 * scale {
        return Some(("the largest not to exceed the sum of the others (no rigid body has such an inertia)", moments));
    }
    None
}

/// What moves as one must not have less than no inertia about any axis.
fn check_moving_inertias(model: &Model) -> Result<(), BuildError> {
    for (index, node) in model.tree.nodes.iter().enumerate() {
        if let Some((POSITIVE, moments)) = inertia_flaw(&node.inertia) {
            let body = model.bodies.iter().find(|b| b.node == Some(index));
            let body = body.map(|b| b.name.clone()).unwrap_or_default();
            return Err(BuildError::BadInertia { body, moments, expected: POSITIVE });
        }
    }
    Ok(())
}

fn check_joint(spec: &JointSpec, what: &str) -> Result<(), BuildError> {
    let all = [spec.reference, spec.spring_reference, spec.anchor.x, spec.anchor.y, spec.anchor.z];
    if all.iter().chain(&spec.polynomial.spring).chain(&spec.polynomial.damper).any(|x| !x.is_finite()) {
        return Err(BuildError::NotFinite { what: what.into() });
    }
    let parameters = [
        ("armature", spec.armature),
        ("damping", spec.damping),
        ("stiffness", spec.stiffness),
        ("friction loss", spec.friction_loss),
    ];
    for (name, value) in parameters {
        check_at_least_zero(value, || format!("{what}: {name}"))?;
    }
    check_compliance(spec.limit_compliance, what)?;
    check_friction(spec.friction_compliance, what)?;
    if let Some((low, high)) = spec.effort_limit
        && (low.is_nan() || high.is_nan() || low > high)
    {
        let what = format!("{what}: greatest effort (the least is {low})");
        return Err(BuildError::OutOfRange { what, value: high, expected: "least effort ≤ greatest effort" });
    }
    if let Some((low, high)) = spec.range
        && (low.is_nan() || high.is_nan() || low > high)
    {
        let what = format!("{what}: upper limit (the lower one is {low})");
        return Err(BuildError::OutOfRange { what, value: high, expected: "lower limit ≤ upper limit" });
    }
    Ok(())
}

fn normalize_axes(spec: &mut JointSpec) -> Result<(), BuildError> {
    let name = &spec.name;
    if let JointKind::Screw { pitch, .. } = spec.kind
        && !pitch.is_finite()
    {
        return Err(BuildError::NotFinite { what: format!("joint {name:?}: pitch") });
    }
    for axis in spec.kind.axes_mut() {
        *axis = axis.normalized().ok_or_else(|| BuildError::ZeroAxis { joint: name.clone() })?;
    }
    Ok(())
}

/// Appends a body: its joints as nodes, its inertia to the node that it moves with.
fn place_body(model: &mut Model, index: usize, body: BodySpec, joints: &[JointSpec]) -> Result<(), BuildError> {
    let parent = model.bodies.get(body.parent);
    let parent_node = parent.and_then(|p| p.node);
    let parent_pose = parent.map_or(Pose::IDENTITY, |p| p.pose);
    // The frame at which the next joint starts: in the node that moves so far, with the body's axes.
    let mut node = parent_node;
    let mut pose = parent_pose * body.pose;
    for spec in joints {
        let free = spec.kind == JointKind::Free;
        if free && (parent_node.is_some() || joints.len() > 1) {
            return Err(BuildError::FreeNotAtRoot { joint: spec.name.clone() });
        }
        let anchor = if free { Vec3::ZERO } else { spec.anchor };
        let first = model.tree.nodes.len();
        let (q, v) = (model.tree.nq, model.tree.nv);
        for JointMotion { joint, axis, pitch } in spec.kind.motions() {
            let origin = pose.transform_point(anchor);
            let parent = node.unwrap_or(NO_PARENT);
            push_node(model, spec, Placement { parent, joint, axis, pitch, pos: origin, rot: pose.rot });
            node = Some(model.tree.nodes.len() - 1);
            // From here on the body's frame is seen from the new node, whose origin is the anchor.
            pose = Pose::new(-anchor, Quat::IDENTITY);
        }
        if free {
            let q0 = (parent_pose * body.pose).to_array();
            model.q0[q..].copy_from_slice(&q0);
            model.spring_reference[q..].copy_from_slice(&q0);
        }
        model.joints.push(Joint {
            name: spec.name.clone(),
            kind: spec.kind,
            body: index,
            anchor,
            nodes: first..model.tree.nodes.len(),
            q,
            v,
            range: spec.range,
            limit_compliance: spec.limit_compliance,
            friction_compliance: spec.friction_compliance,
            effort_limit: spec.effort_limit,
            is_lifted_by_actuators: spec.is_lifted_by_actuators,
            polynomial: spec.polynomial,
        });
    }
    if let Some(n) = node {
        let here = placed(&body.inertia, pose);
        model.tree.nodes[n].inertia = model.tree.nodes[n].inertia.combined(&here);
    }
    let moves = joints.iter().any(|j| j.kind.nv() > 0);
    check_mocap(model, &body, moves)?;
    let rigid_group = if moves || index == 0 { index } else { model.bodies[body.parent].rigid_group };
    model.bodies.push(Body {
        name: body.name,
        parent: body.parent,
        node,
        pose,
        pose_in_parent: body.pose,
        inertia: body.inertia,
        axes: body.axes,
        rigid_group,
        gravity_compensation: body.gravity_compensation,
        is_mocap: body.is_mocap,
        sleep: body.sleep,
    });
    Ok(())
}

/// Whether a body may be moved from outside.
fn check_mocap(model: &Model, body: &BodySpec, moves: bool) -> Result<(), BuildError> {
    if body.is_mocap && (moves || body.parent != 0 || model.bodies.is_empty()) {
        return Err(BuildError::MovedFromOutside { body: body.name.clone() });
    }
    Ok(())
}

struct Placement {
    parent: usize,
    joint: JointType,
    axis: Vec3<f64>,
    pitch: f64,
    pos: Vec3<f64>,
    rot: Quat<f64>,
}

fn push_node(model: &mut Model, spec: &JointSpec, at: Placement) {
    let Placement { parent, joint, axis, pitch, pos, rot } = at;
    let (pos, rot) = if joint == JointType::Free { (Vec3::ZERO, Quat::IDENTITY) } else { (pos, rot) };
    let tree = &mut model.tree;
    let (q, v, q_ref) = (tree.nq, tree.nv, spec.reference);
    let inertia = RigidInertia::ZERO;
    tree.nodes.push(Node { parent, joint, q, v, pos, rot, axis, pitch, q_ref, inertia });
    tree.nq += joint.nq();
    tree.nv += joint.nv();
    match joint {
        JointType::Ball => {
            model.q0.extend([1.0, 0.0, 0.0, 0.0]);
            model.spring_reference.extend([1.0, 0.0, 0.0, 0.0]);
        }
        // The caller writes the placement of the body.
        JointType::Free => {
            model.q0.extend([0.0; 7]);
            model.spring_reference.extend([0.0; 7]);
        }
        JointType::Revolute | JointType::Prismatic | JointType::Screw => {
            model.q0.push(spec.reference);
            model.spring_reference.push(spec.spring_reference);
        }
    }
    let n = joint.nv();
    model.armature.extend(std::iter::repeat_n(spec.armature, n));
    model.damping.extend(std::iter::repeat_n(spec.damping, n));
    model.stiffness.extend(std::iter::repeat_n(spec.stiffness, n));
    model.friction_loss.extend(std::iter::repeat_n(spec.friction_loss, n));
}

/// Finds the connected ranges of nodes and of degrees of freedom.
pub(crate) fn split_trees(tree: &mut Tree<f64>) {
    let starts: Vec<usize> = (0..tree.nodes.len()).filter(|&i| tree.nodes[i].parent == NO_PARENT).collect();
    let end = |k: usize| starts.get(k + 1).copied().unwrap_or(tree.nodes.len());
    tree.trees = (0..starts.len()).map(|k| starts[k]..end(k)).collect();
    let dof = |node: usize| tree.nodes.get(node).map_or(tree.nv, |n| n.v);
    tree.dofs = tree.trees.iter().map(|r: &Range<usize>| dof(r.start)..dof(r.end)).collect();
}

/// A body in the frame that it is placed in.
pub(crate) fn placed(body: &RigidInertia<f64>, pose: Pose<f64>) -> RigidInertia<f64> {
    let rigid = body.rotated(pose.rot.to_mat3());
    RigidInertia { com: rigid.com + pose.pos, ..rigid }
}

/// Every joint must have something to move: mass behind it, inertia about it, or armature.
fn check_movable(model: &Model) -> Result<(), BuildError> {
    let nodes = &model.tree.nodes;
    let mut mass: Vec<f64> = nodes.iter().map(|n| n.inertia.mass).collect();
    let mut spin: Vec<f64> = nodes.iter().map(|n| n.inertia.inertia.eigenvalues()[2]).collect();
    for i in (0..nodes.len()).rev() {
        if nodes[i].parent != NO_PARENT {
            mass[nodes[i].parent] += mass[i];
            spin[nodes[i].parent] += spin[i];
        }
    }
    for joint in &model.joints {
        for i in joint.nodes.clone() {
            let driven = model.armature[nodes[i].v] > 0.0;
            let enough = match nodes[i].joint {
                JointType::Prismatic | JointType::Free => mass[i] > 0.0,
                JointType::Revolute | JointType::Screw | JointType::Ball => mass[i] > 0.0 || spin[i] > 0.0,
            };
            if !(driven || enough) {
                let body = model.bodies[joint.body].name.clone();
                return Err(BuildError::Massless { body, joint: joint.name.clone() });
            }
        }
    }
    Ok(())
}
