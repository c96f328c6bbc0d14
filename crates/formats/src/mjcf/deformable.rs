//! `<deformable>`: `<flex>` of dimension 3, whose nodes are fixed in bodies that the file lists.
//!
//! MuJoCo writes a `<flexcomp>` like this, with a body on three slides for each node that moves by itself. Such bodies become nodes of the
//! soft body, and are no bodies of the model; nodes in other bodies are held by them. The mass of the soft body is as if all nodes had the
//! mean mass of those that move by themselves; it is spread by volume, as that of a `<flexcomp>`.

use std::collections::{BTreeMap, BTreeSet};

use deformable::{Material, MaterialModel, SoftBodyDescription};
use geometry::Scene;
use multibody::Model;
use spatial::{Pose, Vec3};

use super::body::Item;
use super::flex::{SoftSurface, WITHOUT_YOUNG, young};
use super::flex_mesh::indices;
use super::{Reader, inertia};
use crate::mesh_files::volume::VolumeMesh;
use crate::xml::Element;
use crate::{LoadError, StandingSoftBody};

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

/// The `<flex>` elements that are simulated: of dimension 3, with a Young's modulus.
fn is_simulated(element: Element<'_>) -> Result<bool, LoadError> {
    Ok(element.attribute("dim").map(str::trim) == Some("3") && young(element)? != 0.0)
}

fn flexes<'a>(root: Element<'a>) -> impl Iterator<Item = Element<'a>> {
    root.children_named("deformable").flat_map(Element::children).filter(|e| e.name() == "flex")
}

impl<'a> Reader<'_, 'a> {
    /// Notes which bodies may be nodes, before bodies are read.
    pub(super) fn list_flex_bodies(&mut self, root: Element<'a>) -> Result<(), LoadError> {
        for element in flexes(root) {
            if is_simulated(element)? {
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
        for element in flexes(root) {
            let reason = match element.attribute("dim").map(str::trim) {
                Some("3") => (young(element)? == 0.0).then_some(WITHOUT_YOUNG),
                _ => Some("only bodies of dimension 3 are simulated, cables and cloth are not"),
            };
            if let Some(reason) = reason {
                self.warnings.add(element, &format!("{reason}; it is missing from the model, its bodies are not"));
                element.skip_all();
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
