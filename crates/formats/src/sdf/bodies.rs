//! From links and joints to bodies that hang on each other.

use std::collections::BTreeMap;

use multibody::{BodySpec, Compliance, Coordinate, Equality, EqualityKind, JointKind, JointSpec};
use spatial::{Pose, RigidInertia};

use super::joint::{self, Motion};
use super::layout::{Layout, Link, Scope};
use super::link::{self, Mass};
use super::surface::{self, Owner};
use super::{Version, loops, value};
use crate::LoadError;
use crate::assembly::Assembly;
use crate::robot::geoms::{drop_unseen_surfaces, number_repeated_names};
use crate::robot::mesh::Meshes;
use crate::warnings::Warnings;
use crate::xml::Element;

/// Puts a layout into an assembly.
pub(super) struct Reader<'a, 'r> {
    layout: Layout<'a>,
    version: Version,
    meshes: Meshes,
    assembly: &'r mut Assembly,
    warnings: &'r mut Warnings,
    /// The joint that each link hangs on.
    above: Vec<Option<usize>>,
    /// The body of each link that has been added.
    bodies: Vec<Option<usize>>,
    /// Joints of the assembly by model and name.
    joints: BTreeMap<(usize, &'a str), usize>,
    followers: Vec<Follower<'a>>,
}

/// A joint of the assembly that follows another.
struct Follower<'a> {
    mimic: Element<'a>,
    scope: usize,
    joint: usize,
}

impl<'a, 'r> Reader<'a, 'r> {
    /// Nothing read yet.
    pub fn new(
        layout: Layout<'a>,
        version: Version,
        meshes: Meshes,
        assembly: &'r mut Assembly,
        warnings: &'r mut Warnings,
    ) -> Self {
        let count = layout.links.len();
        let (above, bodies) = (vec![None; count], vec![None; count]);
        let (joints, followers) = (BTreeMap::new(), Vec::new());
        Self { layout, version, meshes, assembly, warnings, above, bodies, joints, followers }
    }

    /// Reads all links and joints.
    pub fn read(mut self, sdf: Element<'a>) -> Result<(), LoadError> {
        let closing = self.hang();
        let mut children = vec![Vec::new(); self.layout.links.len()];
        for (link, joint) in self.above.iter().enumerate() {
            if let Some(parent) = joint.and_then(|joint| self.layout.joints[joint].parent) {
                children[parent].push(link);
            }
        }
        let hangs_free =
            |link: &usize| self.above[*link].is_none_or(|joint| self.layout.joints[joint].parent.is_none());
        let mut pending: Vec<usize> = (0..self.layout.links.len()).filter(hangs_free).collect();
        pending.reverse();
        while let Some(link) = pending.pop() {
            self.add_link(link)?;
            pending.extend(children[link].iter().rev());
        }
        if let Some(link) = self.bodies.iter().position(Option::is_none) {
            let Link { element, name, .. } = &self.layout.links[link];
            return Err(element.error(format!(
                "link \"{name}\" hangs on itself by a ring of joints: expected a link that hangs on none"
            )));
        }
        for joint in closing {
            self.close_loop(joint)?;
        }
        self.follow()?;
        self.exclude(sdf)?;
        number_repeated_names(self.assembly.geoms.iter_mut().map(|geom| &mut geom.geom));
        drop_unseen_surfaces(self.assembly.geoms.iter_mut().map(|geom| &mut geom.geom));
        surface::rank_by_friction(self.assembly.geoms.iter_mut());
        Ok(())
    }

    fn is_static(&self, link: usize) -> bool {
        self.layout.scopes[self.layout.links[link].scope].is_static
    }

    /// Hangs each link on the first joint that has it as its child; the others close loops.
    fn hang(&mut self) -> Vec<usize> {
        let mut closing = Vec::new();
        for (index, joint) in self.layout.joints.iter().enumerate() {
            let fixed = |link: usize| self.layout.scopes[self.layout.links[link].scope].is_static;
            match (fixed(joint.child), joint.parent.is_none_or(fixed)) {
                // Both ends are fixed to the world.
                (true, true) => joint.element.skip_all(),
                (true, false) => closing.push(index),
                (false, _) if joint.element.peek("type") == Some("gearbox") || self.above[joint.child].is_some() => {
                    closing.push(index);
                }
                (false, _) => self.above[joint.child] = Some(index),
            }
        }
        closing
    }

    fn add_link(&mut self, link: usize) -> Result<(), LoadError> {
        let Link { element, scope, pose, .. } = self.layout.links[link];
        let name = self.layout.links[link].name.clone();
        let parent = self.above[link].and_then(|joint| self.layout.joints[joint].parent);
        let (parent_body, parent_pose) = match parent {
            Some(parent) => (self.bodies[parent].unwrap_or(0), self.layout.links[parent].pose),
            None => (0, Pose::IDENTITY),
        };
        let floats_up = value::flag(element, "gravity")?.is_some_and(|has_weight| !has_weight);
        if value::flag(element, "kinematic")?.unwrap_or(false) {
            self.warnings.add(element, "kinematic: moves as other bodies do");
        }
        let mass = link::mass(element, self.warnings)?;
        let inertia = match mass {
            Mass::Given(inertia) => inertia,
            Mass::FromShapes { .. } => RigidInertia::ZERO,
        };
        let spec = BodySpec {
            name: name.clone(),
            parent: parent_body,
            pose: parent_pose.inverse() * pose,
            gravity_compensation: f64::from(u8::from(floats_up)),
            ..BodySpec::default()
        };
        let at = element.child("inertial").unwrap_or(element);
        let body = self.assembly.add_body(spec, None).map_err(|error| at.error(error.to_string()))?;
        // Many files have impossible inertias, most of them at small parts: they are warnings.
        self.assembly.bodies[body].inertia = Some(inertia);
        self.bodies[link] = Some(body);
        let density = if let Mass::FromShapes { density, .. } = mass { Some(density) } else { None };
        let owner = Owner { name: &name, body, density };
        let geoms = surface::read(element, &owner, &mut self.meshes, self.warnings)?;
        self.assembly.geoms.extend(geoms);
        if let Mass::FromShapes { mass, .. } = mass {
            self.weigh(body, mass);
        }
        match self.above[link] {
            Some(joint) => self.add_joints(body, joint),
            None if self.layout.scopes[scope].is_static => Ok(()),
            None => self.add_joint(body, JointSpec { name, ..JointSpec::new(JointKind::Free) }, element).map(|_| ()),
        }
    }

    /// Gives a body the mass of its geoms, scaled to `mass` if there is one.
    fn weigh(&mut self, body: usize, mass: Option<f64>) {
        self.assembly.bodies[body].inertia = None;
        let mut inertia = self.assembly.inertia(body);
        if let Some(mass) = mass.filter(|_| inertia.mass > 0.0) {
            inertia.inertia = inertia.inertia * (mass / inertia.mass);
            inertia.mass = mass;
        }
        self.assembly.bodies[body].inertia = Some(inertia);
    }

    fn add_joints(&mut self, body: usize, index: usize) -> Result<(), LoadError> {
        let Motion::Joints(joints) = joint::read(&mut self.layout, index, self.version, self.warnings)? else {
            return Ok(());
        };
        let (element, scope) = (self.layout.joints[index].element, self.layout.joints[index].scope);
        for (number, axis) in joints.into_iter().enumerate() {
            let joint = self.add_joint(body, axis.spec, element)?;
            if number == 0 {
                self.joints.insert((scope, element.required("name")?), joint);
            }
            self.followers.extend(axis.mimic.map(|mimic| Follower { mimic, scope, joint }));
        }
        Ok(())
    }

    fn add_joint(&mut self, body: usize, spec: JointSpec, element: Element<'a>) -> Result<usize, LoadError> {
        let start = spec.range.map(|(low, high)| 0.0_f64.clamp(low, high)).filter(|start| *start != 0.0);
        let joint = self.assembly.add_joint(body, spec).map_err(|error| element.error(error.to_string()))?;
        self.assembly.joints[joint].start = start;
        Ok(joint)
    }

    fn close_loop(&mut self, index: usize) -> Result<(), LoadError> {
        let Motion::Joints(motion) = joint::read(&mut self.layout, index, self.version, self.warnings)? else {
            return Ok(());
        };
        let joint = &self.layout.joints[index];
        let body = |link: usize| self.bodies[link].unwrap_or(0);
        let frame = |link: Option<usize>| loops::End {
            body: link.map_or(0, body),
            joint: link.map_or(joint.pose, |link| self.layout.links[link].pose.inverse() * joint.pose),
        };
        let ends = [frame(joint.parent), frame(Some(joint.child))];
        let message = match loops::constraints(&joint.name, ends, &motion) {
            Some(constraints) => {
                self.assembly.equalities.extend(constraints);
                "closes a loop: an equality constraint, without its limits, damping and friction"
            }
            None => "closes a loop, and is not fixed, a ball or revolute joint: not simulated, ignored",
        };
        self.warnings.add(joint.element, message);
        Ok(())
    }

    /// Couples joints that follow others: q = multiplier (q' − reference) + offset.
    fn follow(&mut self) -> Result<(), LoadError> {
        for Follower { mimic, scope, joint } in &self.followers {
            let name = mimic.required("joint")?;
            if mimic.attribute("axis").is_some_and(|axis| axis.trim() != "axis") {
                return Err(mimic.error("follows a second axis: expected axis=\"axis\""));
            }
            let has_one_axis = |joint: &usize| self.assembly.joints[*joint].spec.kind.nq() == 1;
            let leader =
                self.joints.get(&(*scope, name)).copied().filter(|leader| has_one_axis(leader) && leader != joint);
            let expected = "expected the name of another joint of its model that has an axis";
            let leader = leader.ok_or_else(|| mimic.error(format!("joint=\"{name}\": {expected}")))?;
            let number =
                |name: &str, default: f64| Ok::<f64, LoadError>(value::number(*mimic, name)?.unwrap_or(default));
            let polynomial = [number("offset", 0.0)?, number("multiplier", 1.0)?, 0.0, 0.0, 0.0];
            let kind = EqualityKind::Coupling {
                y: (Coordinate::Joint(*joint), 0.0),
                x: Some((Coordinate::Joint(leader), number("reference", 0.0)?)),
                polynomial,
            };
            let name = self.assembly.joints[*joint].spec.name.clone();
            self.assembly.equalities.push(Equality { name, kind, compliance: Compliance::NearRigid, active: true });
        }
        Ok(())
    }

    /// Links of one model do not touch each other, but where `self_collide` says so and no joint is between them.
    fn exclude(&mut self, sdf: Element<'a>) -> Result<(), LoadError> {
        let mut models: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut collides = vec![false; self.layout.links.len()];
        for (index, link) in self.layout.links.iter().enumerate() {
            let Scope { element, outermost, .. } = self.layout.scopes[link.scope];
            let of_model = value::flag(element, "self_collide")?.unwrap_or(false);
            collides[index] = value::flag(link.element, "self_collide")?.unwrap_or(of_model);
            let touches = link.element.children_of("collision").next().is_some();
            if touches && !self.is_static(index) {
                models.entry(outermost).or_default().push(index);
            }
        }
        let joined = |a: usize, b: usize| {
            let hangs =
                |a: usize, b: usize| self.above[a].is_some_and(|joint| self.layout.joints[joint].parent == Some(b));
            hangs(a, b) || hangs(b, a)
        };
        let body = |link: usize| self.bodies[link].unwrap_or(0);
        let mut excluded = Vec::new();
        for links in models.values() {
            for (position, &a) in links.iter().enumerate() {
                let others = links[position + 1..].iter().filter(|&&b| !(collides[a] || collides[b]) || joined(a, b));
                excluded.extend(others.map(|&b| [body(a), body(b)]));
                if excluded.len() > geometry::MAX_NEAR_PAIRS {
                    let limit = geometry::MAX_NEAR_PAIRS;
                    return Err(sdf.error(format!(
                        "over {limit} pairs of links that do not touch: expected fewer links in a model"
                    )));
                }
            }
        }
        self.assembly.excluded = excluded;
        Ok(())
    }
}
