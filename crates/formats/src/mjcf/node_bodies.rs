//! `<flexcomp>` whose nodes are bodies, as in MuJoCo: cables, cloth, and volumes without a Young's modulus. Every node has the same mass, on two or
//! three slides; what holds them together is in `flex_net.rs`.

use geometry::{Geom, Shape};
use multibody::{BodySpec, BuildError, JointKind, JointSpec};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

use super::body::Item;
use super::compliance::compliance;
use super::defaults::Attributes;
use super::flex::young;
use super::flex_mesh::{Inside, pins};
use super::flex_net::{Net, Node};
use super::joint::JointInfo;
use super::{Reader, surface};
use crate::LoadError;
use crate::xml::Element;

const TOUCH: &str = "its nodes touch as spheres that pass through each other, its faces and edges do not";

/// Along which axes a node moves.
#[derive(Clone, Copy, PartialEq)]
enum Freedom {
    Full,
    /// x and y.
    Flat,
    /// From the origin of the parent body, where the first node is.
    Radial,
}

impl Freedom {
    fn of(element: Element<'_>) -> Self {
        match element.attribute("dof") {
            Some("2d") => Self::Flat,
            Some("radial") => Self::Radial,
            _ => Self::Full,
        }
    }

    /// The axes of a node at this place.
    fn axes(self, at: Vec3<f64>) -> Vec<Vec3<f64>> {
        let [x, y, z] = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        match self {
            Self::Full => vec![x, y, z],
            Self::Flat => vec![x, y],
            Self::Radial => vec![at.normalized().unwrap_or(z)],
        }
    }
}

impl<'a> Reader<'_, 'a> {
    /// Whether the nodes of a `<flexcomp>` are bodies: free to move on their own, and held by nothing but their edges.
    pub(super) fn has_node_bodies(&self, element: Element<'a>) -> Result<bool, LoadError> {
        let attributes = self.defaults.attributes(element, 0)?;
        let is_rigid = attributes.flag("rigid")? == Some(true);
        let is_free = matches!(element.attribute("dof").unwrap_or("full"), "full" | "2d" | "radial");
        let edge = element.child("edge").and_then(|edge| edge.attribute("equality")).unwrap_or("false");
        let is_solid = attributes.integer("dim")? == Some(3);
        let is_elastic = young(element)? != 0.0;
        Ok(!is_rigid && is_free && matches!(edge, "true" | "false") && (!is_elastic || (edge == "true" && !is_solid)))
    }

    /// Adds the bodies, the constraints and the strings of a `<flexcomp>`.
    pub(super) fn node_bodies(&mut self, item: &Item<'a>, parent: usize) -> Result<(), LoadError> {
        let element = item.element;
        let attributes = &self.defaults.attributes(element, 0)?;
        let pose = item.frame * self.compiler.angles.pose(attributes)?;
        let mesh = self.flex_mesh(attributes, pose, Inside::Middle)?;
        let freedom = Freedom::of(element);
        let mut pinned = pins(element, &mesh)?;
        if freedom == Freedom::Radial && pinned.first() != Some(&0) {
            pinned.insert(0, 0);
        }
        let (mesh, pinned) = mesh.without_loose_nodes(pinned);
        self.count_copies(element, mesh.nodes.len())?;
        let inertia = node_inertia(attributes, mesh.nodes.len())?;
        let mut nodes = Vec::with_capacity(mesh.nodes.len());
        for (index, &at) in mesh.nodes.iter().enumerate() {
            nodes.push(match pinned.binary_search(&(index as u32)) {
                Ok(_) => Node { body: parent, anchor: at, slides: None },
                Err(_) => {
                    let name = element.attribute("name").map(|name| format!("{name}_{index}{}", item.suffix));
                    let (name, pose) = (name.unwrap_or_default(), Pose::new(at, Quat::IDENTITY));
                    let spec = BodySpec { name, parent, pose, inertia, ..BodySpec::default() };
                    let slides = (freedom == Freedom::Full).then_some(self.joints.len());
                    Node { body: self.node_body(element, spec, &freedom.axes(at))?, anchor: Vec3::ZERO, slides }
                }
            });
        }
        self.node_geoms(attributes, &nodes, parent)?;
        let net = Net { element, mesh, nodes };
        self.hold_together(&net)?;
        self.keep_net(&format!("{}{}", element.attribute("name").unwrap_or_default(), item.suffix), net);
        attributes.skip(&["dim", "group", "flatskin", "texcoord", "origin", "dof", "rgba", "material", "rigid"]);
        Ok(())
    }

    /// Adds the body of a node, on slides along these axes.
    fn node_body(&mut self, element: Element<'a>, spec: BodySpec, axes: &[Vec3<f64>]) -> Result<usize, LoadError> {
        let failed = |error: BuildError| element.error(error.to_string());
        let (body, name) = (self.builder.body_count(), spec.name.clone());
        self.names.add(element, "body", &name, body)?;
        self.builder.add_body(spec).map_err(failed)?;
        for &axis in axes {
            let (kind, body_name) = (JointKind::Prismatic { axis }, name.clone());
            self.builder.add_joint(body, JointSpec::new(kind)).map_err(failed)?;
            let (name, range) = (String::new(), None);
            self.joints.push(JointInfo {
                element,
                name,
                body_name,
                kind,
                range,
                reference: 0.0,
                spring_reference: 0.0,
            });
        }
        Ok(body)
    }

    /// Adds spheres with which nodes touch all but other nodes: neighbours may be nearer to each other than their radii.
    fn node_geoms(&mut self, attributes: &Attributes<'_, 'a>, nodes: &[Node], parent: usize) -> Result<(), LoadError> {
        let element = attributes.element();
        let radius = attributes.number("radius")?.unwrap_or(0.005);
        let rgba = self.assets.rgba(attributes)?;
        let contact = element.child("contact");
        let surface = &self.defaults.attributes(contact.unwrap_or(element), 0)?;
        let friction = surface::geom_friction(surface)?;
        let mut material = surface::material(surface, friction, &self.options, &mut self.warnings)?;
        material.priority = surface.integer("priority")?.unwrap_or(0);
        let bits = |name| Ok::<_, LoadError>(surface.integer(name)?.unwrap_or(1) as u32);
        let contype = bits("contype")? | bits("conaffinity")?;
        let margin = surface.number("margin")?.unwrap_or(0.0);
        if let Some(contact) = contact {
            contact.skip(&["internal", "selfcollide", "activelayers", "vertcollide", "passive", "gap"]);
        }
        if radius <= 0.0 {
            return Ok(());
        }
        let material = self.surfaces.index(material);
        for node in nodes.iter().filter(|node| node.body != parent) {
            self.geoms.push(element);
            self.scene.geoms.push(Geom {
                contype: if self.options.flags.contact { contype } else { 0 },
                conaffinity: 0,
                material,
                margin,
                rgba,
                ..Geom::new(node.body, Shape::Sphere { radius })
            });
        }
        Ok(())
    }

    /// Adds what holds the nodes together.
    fn hold_together(&mut self, net: &Net<'a>) -> Result<(), LoadError> {
        let element = net.element;
        let edge = element.child("edge");
        let attributes = &self.defaults.attributes(edge.unwrap_or(element), 0)?;
        let compliance = compliance(attributes, ["solref", "solimp"], &self.options, &mut self.warnings)?;
        let keeps_lengths = edge.is_some_and(|edge| edge.attribute("equality") == Some("true"));
        if keeps_lengths {
            self.keep_lengths(net, compliance, self.options.flags.equality);
        }
        let has_springs = self.edge_strings(net)?;
        if !keeps_lengths && !has_springs {
            self.warnings.add(element, "neither constraints nor springs hold its nodes together");
        }
        self.warnings.add(element, TOUCH);
        self.bending(net)
    }
}

/// The mass of a node, and a moment of inertia that has no part in its motion.
fn node_inertia(attributes: &Attributes<'_, '_>, count: usize) -> Result<RigidInertia<f64>, LoadError> {
    let whole = attributes.number("mass")?.unwrap_or(1.0);
    if !(whole > 0.0 && whole.is_finite()) {
        return Err(attributes.source("mass").error(format!("mass=\"{whole}\": expected a number above 0, kg")));
    }
    let half = attributes.number("inertiabox")?.unwrap_or(0.005);
    let mass = whole / count as f64;
    let moment = mass * 2.0 * half * half / 3.0;
    Ok(RigidInertia { mass, com: Vec3::ZERO, inertia: Sym3::diagonal(Vec3::new(moment, moment, moment)) })
}
