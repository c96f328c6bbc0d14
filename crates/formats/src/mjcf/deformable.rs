//! `<deformable>`: `<flex>`, whose nodes are fixed in bodies that the file lists. Those of dimension 3 with a Young's modulus are soft bodies; of
//! others the nodes are bodies (`flex_net.rs`).
//!
//! MuJoCo writes a `<flexcomp>` like this, with a body on three slides for each node that moves by itself. Such bodies become nodes of the
//! soft body, and are no bodies of the model; nodes in other bodies are held by them. The mass of the soft body is as if all nodes had the
//! mean mass of those that move by themselves; it is spread by volume, as that of a `<flexcomp>`.

use std::collections::{BTreeMap, BTreeSet};

use deformable::{Material, MaterialModel, SoftBodyDescription};
use geometry::Scene;
use multibody::{JointKind, Model};
use spatial::{Pose, Vec3};

use super::body::Item;
use super::flex::{SoftSurface, young};
use super::flex_mesh::{Mesh, indices};
use super::flex_net::{self, Net};
use super::{Reader, inertia};
use crate::mesh_files::volume::VolumeMesh;
use crate::xml::Element;
use crate::{LoadError, StandingSoftBody};

const NO_BODIES: &str = "its nodes are no bodies of the model: it is missing from the model";
const TOUCH: &str = "its nodes are bodies that touch nothing";

/// The bodies that `<flex>` elements list.
#[derive(Default)]
pub(super) struct FlexBodies<'a> {
    listed: BTreeSet<&'a str>,
    nodes: BTreeMap<&'a str, PointMass>,
}

/// A body that is nothing but a node.
#[derive(Clone, Copy)]
struct PointMass {
    parent: usize,
    /// In the frame of the parent.
    pose: Pose<f64>,
    mass: f64,
}

/// A node of a `<flex>`.
#[derive(Clone, Copy)]
enum Node {
    /// At a place in the frame of a body, from which it moves away freely.
    Free(usize, Vec3<f64>),
    /// At a point of a body, which holds it.
    Held(usize, Vec3<f64>),
}

/// A `<flex>` that waits for the model, which says where its bodies are.
pub(super) struct ListedFlex<'a> {
    element: Element<'a>,
    name: String,
    nodes: Vec<Node>,
    elements: Vec<u32>,
    material: Material,
    surface: SoftSurface,
    mass: f64,
}

impl ListedFlex<'_> {
    /// Its name, and the model of its material.
    pub fn material_model(&mut self) -> (&str, &mut MaterialModel) {
        (&self.name, &mut self.material.model)
    }
}

/// The `<flex>` elements that are soft bodies: of dimension 3, with a Young's modulus.
fn is_soft_body(element: Element<'_>) -> Result<bool, LoadError> {
    Ok(element.attribute("dim").map(str::trim) == Some("3") && young(element)? != 0.0)
}

fn flexes<'a>(root: Element<'a>) -> impl Iterator<Item = Element<'a>> {
    root.children_named("deformable").flat_map(Element::children).filter(|e| e.name() == "flex")
}

impl<'a> Reader<'_, 'a> {
    /// Notes which bodies may be nodes, before bodies are read.
    pub(super) fn list_flex_bodies(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        for element in flexes(root) {
            if is_soft_body(element)? {
                self.flex_bodies.listed.extend(element.required("body")?.split_whitespace());
            }
        }
        Ok(())
    }

    /// Whether a body is nothing but a node of a `<flex>`: listed, with a mass, on three slides along different axes.
    pub(super) fn is_flex_node(&mut self, item: &Item<'a>, parent: usize, pose: Pose<f64>) -> Result<bool, LoadError> {
        let element = item.element;
        let listed = |name: &&str| item.suffix.is_empty() && self.flex_bodies.listed.contains(name);
        let Some(name) = element.attribute("name").filter(listed) else { return Ok(false) };
        let (mut mass, mut axes) = (0.0, Vec::new());
        for child in element.children() {
            let attributes = self.defaults.attributes(child, item.class)?;
            match child.name() {
                "inertial" => mass = inertia::inertial(&attributes, &self.compiler, Pose::IDENTITY)?.0.mass,
                "joint" => {
                    let is_tied = attributes.has(&["range", "stiffness", "damping", "armature", "frictionloss", "ref"]);
                    if is_tied || attributes.keyword("type", &[("slide", true)]).ok().flatten() != Some(true) {
                        return Ok(false);
                    }
                    axes.push(Vec3::from(attributes.array("axis")?.unwrap_or([0.0, 0.0, 1.0])));
                }
                _ => return Ok(false),
            }
        }
        let [a, b, c] = axes[..] else { return Ok(false) };
        if a.cross(b).dot(c).abs() < 1e-6 || mass <= 0.0 {
            return Ok(false);
        }
        element.skip_all();
        self.flex_bodies.nodes.insert(name, PointMass { parent, pose, mass });
        Ok(true)
    }

    /// Reads every `<flex>`. Bodies must be known.
    pub(super) fn flexes_of_bodies(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        let slides = if flexes(root).next().is_some() { self.bodies_on_slides() } else { BTreeMap::new() };
        for element in flexes(root) {
            if !is_soft_body(element)? {
                self.net_of_bodies(element, &slides)?;
                continue;
            }
            let (nodes, mass) = self.nodes_of(element)?;
            let Some(mass) = mass else {
                self.warnings.add(element, "bodies hold all its nodes: it is missing from the model");
                element.skip_all();
                continue;
            };
            let attributes = &self.defaults.attributes(element, 0)?;
            let (material, surface) = self.material_and_surface(attributes, young(element)?)?;
            attributes.skip(&["dim", "group", "flatskin", "texcoord", "elemtexcoord"]);
            let index = self.flexes.len() + self.listed_flexes.len();
            let name = self.names.claim(element, "flex", "", index)?;
            let elements = indices(element, "element")?;
            self.listed_flexes.push(ListedFlex { element, name, nodes, elements, material, surface, mass });
        }
        Ok(())
    }

    /// Adds what holds the bodies together that are the nodes of a `<flex>`.
    fn net_of_bodies(&mut self, element: Element<'a>, slides: &BTreeMap<String, usize>) -> Result<(), LoadError> {
        let nodes = if element.attribute("body").is_some() { self.nodes_of(element)?.0 } else { Vec::new() };
        let held = |node: &Node| match *node {
            Node::Held(body, anchor) => Some((body, anchor)),
            Node::Free(..) => None,
        };
        // Those of a soft body are no bodies of the model.
        let Some(nodes) = nodes.iter().map(held).collect::<Option<Vec<_>>>().filter(|nodes| !nodes.is_empty()) else {
            self.warnings.add(element, NO_BODIES);
            element.skip_all();
            return Ok(());
        };
        let attributes = &self.defaults.attributes(element, 0)?;
        let corners = match attributes.integer("dim")?.unwrap_or(2) {
            dim @ 1..=3 => dim as usize + 1,
            dim => return Err(element.error(format!("dim=\"{dim}\": expected 1, 2 or 3"))),
        };
        let elements = indices(element, "element")?;
        if elements.len() % corners != 0 || elements.iter().any(|node| *node as usize >= nodes.len()) {
            let message = format!("element: expected {corners} indices below {} for each", nodes.len());
            return Err(element.error(message));
        }
        let place = |&(body, anchor): &(usize, Vec3<f64>)| {
            self.builder.default_pose(body).unwrap_or_default().transform_point(anchor)
        };
        let mesh = Mesh { nodes: nodes.iter().map(place).collect(), elements, corners, counts: None };
        let mut frame = None;
        let node = |&(body, anchor): &(usize, Vec3<f64>)| {
            let spec = self.builder.body(body);
            let first = spec.and_then(|spec| Some((spec, *slides.get(&spec.name)?)));
            // Their axes must be those of all others.
            let slides = first.filter(|(spec, _)| {
                let (parent, rotation) = *frame.get_or_insert((spec.parent, spec.pose.rot));
                spec.parent == parent && (rotation.conjugate() * spec.pose.rot).w.abs() > 1.0 - 1e-15
            });
            flex_net::Node { body, anchor, slides: slides.map(|(_, first)| first) }
        };
        let nodes = nodes.iter().map(node).collect();
        let net = Net { element, mesh, nodes };
        self.edge_strings(&net)?;
        self.bending(&net)?;
        self.warnings.add(element, TOUCH);
        element.skip_all();
        self.keep_net(element.attribute("name").unwrap_or_default(), net);
        Ok(())
    }

    /// The bodies whose joints are slides along their x, y and z, with the first of these.
    fn bodies_on_slides(&self) -> BTreeMap<String, usize> {
        let mut joints: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, joint) in self.joints.iter().enumerate() {
            joints.entry(&joint.body_name).or_default().push(index);
        }
        let is_along = |joint: usize, along: [f64; 3]| match self.joints[joint].kind {
            JointKind::Prismatic { axis } => (axis - Vec3::from(along)).norm() < 1e-9,
            _ => false,
        };
        let found = joints.into_iter().filter_map(|(body, joints)| {
            let [x, y, z] = joints[..] else { return None };
            let along = is_along(x, [1.0, 0.0, 0.0]) && is_along(y, [0.0, 1.0, 0.0]) && is_along(z, [0.0, 0.0, 1.0]);
            (along && !body.is_empty()).then(|| (body.to_owned(), x))
        });
        found.collect()
    }

    /// The nodes of a `<flex>`, and the mass of it all; none where no node moves by itself.
    fn nodes_of(&self, element: Element<'a>) -> Result<(Vec<Node>, Option<f64>), LoadError> {
        let bodies: Vec<&str> = element.required("body")?.split_whitespace().collect();
        let points = element.numbers("vertex")?;
        let points: Vec<Vec3<f64>> = match points {
            Some(numbers) if numbers.len() % 3 != 0 => {
                let message = format!("vertex: {} numbers: expected three for each node", numbers.len());
                return Err(element.error(message));
            }
            Some(numbers) => numbers.as_chunks::<3>().0.iter().map(|x| Vec3::from(*x)).collect(),
            None => vec![Vec3::ZERO; bodies.len()],
        };
        if bodies.len() != 1 && bodies.len() != points.len() {
            let message =
                format!("body: {} names: expected one, or one for each of {} nodes", bodies.len(), points.len());
            return Err(element.error(message));
        }
        let (mut masses, mut nodes) = (Vec::new(), Vec::with_capacity(points.len()));
        for (name, point) in bodies.iter().cycle().zip(points) {
            nodes.push(match self.flex_bodies.nodes.get(name) {
                Some(PointMass { parent, pose, mass }) => {
                    masses.push(*mass);
                    Node::Free(*parent, pose.transform_point(point))
                }
                None => Node::Held(self.names.get(element, "body", "body", name)?, point),
            });
        }
        let mean = masses.iter().sum::<f64>() / masses.len() as f64;
        let mass = (!masses.is_empty()).then_some(mean * nodes.len() as f64);
        Ok((nodes, mass))
    }
}

/// Adds the soft bodies to the scene.
pub(super) fn attach(flexes: Vec<ListedFlex<'_>>, model: &Model, scene: &mut Scene) -> Result<(), LoadError> {
    if flexes.is_empty() {
        return Ok(());
    }
    let poses = crate::overlaps::poses_at_start(model);
    for ListedFlex { element, name, nodes, elements, material, surface, mass } in flexes {
        let place = |node: &Node| match node {
            Node::Free(body, point) | Node::Held(body, point) => poses[*body].transform_point(*point),
        };
        let mesh = VolumeMesh { nodes: nodes.iter().map(place).collect(), nodes_per_element: 4, elements }.into_mesh();
        let mesh = mesh.map_err(|error| element.error(error.to_string()))?;
        let held = (0..).zip(&nodes).filter_map(|(index, node)| match *node {
            Node::Held(body, point) => Some((index, body, point)),
            Node::Free(..) => None,
        });
        let standing = StandingSoftBody {
            body: 0,
            description: SoftBodyDescription { pinned: Vec::new(), ..surface.of(name, mesh, material) },
            held: held.collect(),
        };
        standing.add_to(scene, model, &poses, Some(mass)).map_err(|error| element.error(error.to_string()))?;
    }
    Ok(())
}
