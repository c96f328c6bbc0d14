//! COLLADA 1.4 and 1.5: the triangles of every geometry that the scene shows, where it shows them.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use spatial::Vec3;

use super::assemble::{Assembler, Looks};
use super::{MeshFileError, TriangleSoup};

mod looks;
mod primitives;
mod transform;

use crate::limits::{MAX_COLLADA_DEPTH, MAX_COLLADA_ELEMENTS, MAX_MESH_TRIANGLES};
use crate::xml::{Document, Element};
use transform::Affine;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    let malformed = |what: String| MeshFileError::malformed(path, what);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| malformed(format!("{error}: expected COLLADA, which is UTF-8 text")))?;
    let mut document = Document::default();
    let root = document.parse(text.trim_end_matches('\0').trim(), "").map_err(|error| {
        let element = if error.element().is_empty() { String::new() } else { format!("<{}>: ", error.element()) };
        malformed(format!("line {}: {element}{}", error.line(), error.message()))
    })?;
    let root = document.element(root);
    if root.name() != "COLLADA" {
        return Err(malformed(format!("<{}>: expected <COLLADA>", root.name())));
    }
    let by_id = root.descendants().filter_map(|element| Some((element.attribute("id")?, element))).collect();
    let (triangles_of, assembler, numbers_read) = (HashMap::new(), Assembler::default(), Cell::new(0));
    let paints = looks::Paints::new(path);
    let mut reader = Reader { by_id, triangles_of, assembler, paints, visited: 0, numbers_read, path };
    reader.scene(root)?;
    reader.assembler.finish_painted(reader.paints.finish(), path)
}

struct Reader<'a> {
    /// Elements by their `id`. Only looked up.
    by_id: HashMap<&'a str, Element<'a>>,
    /// The triangles of a `<geometry>` by its index: it is read once, however often the scene shows it.
    triangles_of: HashMap<usize, Rc<[Triangle<'a>]>>,
    assembler: Assembler,
    paints: looks::Paints,
    /// Elements of nodes that have been looked at, each as often as the scene shows it.
    visited: usize,
    /// Numbers that have been read.
    numbers_read: Cell<usize>,
    path: &'a Path,
}

impl<'a> Reader<'a> {
    /// Adds what the scene shows; without a scene, every geometry at the origin.
    fn scene(&mut self, root: Element<'a>) -> Result<(), MeshFileError> {
        let unit = Affine::scale([self.unit(root)?; 3]);
        let instance = root.child("scene").and_then(|s| s.child("instance_visual_scene"));
        let scene = match instance {
            Some(instance) => Some(self.target(instance, "url")?),
            None => root.descendants().find(|n| n.name() == "visual_scene"),
        };
        if let Some(scene) = scene {
            return self.children(scene, unit, 0);
        }
        for geometry in root.descendants().filter(|n| n.name() == "geometry") {
            self.geometry(geometry, None, unit)?;
        }
        Ok(())
    }

    fn unit(&self, root: Element<'a>) -> Result<f64, MeshFileError> {
        let unit = root.child("asset").and_then(|a| a.child("unit"));
        let Some((unit, meter)) = unit.and_then(|u| Some((u, u.attribute("meter")?))) else {
            return Ok(1.0);
        };
        let value = meter.trim().parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite());
        value.ok_or_else(|| self.error(unit, format!("meter={meter:?}: expected a number above 0")))
    }

    /// Adds the nodes in a node or a scene that is placed at `at`.
    fn children(&mut self, parent: Element<'a>, at: Affine, depth: usize) -> Result<(), MeshFileError> {
        for node in parent.children_named("node") {
            self.node(node, at, depth + 1)?;
        }
        Ok(())
    }

    fn node(&mut self, node: Element<'a>, parent: Affine, depth: usize) -> Result<(), MeshFileError> {
        if depth > MAX_COLLADA_DEPTH {
            let what = format!("nodes more than {MAX_COLLADA_DEPTH} deep: expected no node to contain itself");
            return Err(self.error(node, what));
        }
        self.visited += 1 + node.children().len();
        if self.visited > MAX_COLLADA_ELEMENTS {
            let what =
                format!("nodes with more than {MAX_COLLADA_ELEMENTS} elements, each counted as often as it is shown");
            return Err(self.error(node, what));
        }
        let mut at = parent;
        for element in node.children() {
            if let Some(step) = Affine::from_element(element).map_err(|what| self.error(element, what))? {
                at = at * step;
            }
        }
        for element in node.children() {
            match element.name() {
                "instance_geometry" => self.geometry(self.target(element, "url")?, Some(element), at)?,
                "instance_node" => self.node(self.target(element, "url")?, at, depth + 1)?,
                "instance_controller" => {
                    return Err(self.error(element, "a skinned mesh: expected rigid geometry"));
                }
                _ => {}
            }
        }
        self.children(node, at, depth)
    }

    /// Adds a `<geometry>` as an instance shows it.
    fn geometry(
        &mut self,
        geometry: Element<'a>,
        instance: Option<Element<'a>>,
        at: Affine,
    ) -> Result<(), MeshFileError> {
        let triangles = match self.triangles_of.get(&geometry.index()) {
            Some(triangles) => triangles.clone(),
            None => {
                let triangles: Rc<[Triangle<'a>]> = self.triangles_in(geometry)?.into();
                self.triangles_of.insert(geometry.index(), triangles.clone());
                triangles
            }
        };
        let bound = instance.map(looks::bindings).unwrap_or_default();
        // Instances of one node read them again and again.
        self.visited += bound.len();
        let mut last = None;
        for triangle in &*triangles {
            let paint = match last {
                Some((symbol, paint)) if symbol == triangle.material => paint,
                _ => self.paints.index(triangle.material, &bound, &self.by_id),
            };
            last = Some((triangle.material, paint));
            let (mut corners, mut texcoords) = (triangle.corners.map(|corner| at.apply(corner)), triangle.texcoords);
            // A mirror image turns triangles inside out.
            if at.mirrors() {
                corners.swap(1, 2);
                texcoords.iter_mut().for_each(|uv| uv.swap(1, 2));
            }
            self.assembler.push_with(corners, Looks { texcoords, paint }, self.path)?;
        }
        Ok(())
    }

    /// The triangles of a `<geometry>`, in its own frame.
    fn triangles_in(&self, geometry: Element<'a>) -> Result<Vec<Triangle<'a>>, MeshFileError> {
        let Some(mesh) = geometry.child("mesh") else {
            return Err(self.error(geometry, "expected a <mesh> in it (splines and solids are not read)"));
        };
        let mut triangles = Vec::new();
        for primitive in mesh.children() {
            triangles.extend(self.triangles(primitive)?);
            if triangles.len() > MAX_MESH_TRIANGLES {
                return Err(MeshFileError::TooLarge { path: self.path.into() });
            }
        }
        Ok(triangles)
    }

    /// The element that the address in `attribute` names.
    fn target(&self, element: Element<'a>, attribute: &str) -> Result<Element<'a>, MeshFileError> {
        let url = element.attribute(attribute).unwrap_or_default();
        let id = url.strip_prefix('#').unwrap_or_default();
        let target = self.by_id.get(id).copied();
        target
            .ok_or_else(|| self.error(element, format!("{attribute}={url:?}: expected #id of an element in this file")))
    }

    fn error(&self, at: Element<'_>, what: impl Into<String>) -> MeshFileError {
        MeshFileError::malformed(self.path, format!("line {}: <{}>: {}", at.line(), at.name(), what.into()))
    }
}

fn numbers<T: std::str::FromStr>(element: Element<'_>) -> Result<Vec<T>, String> {
    let word = |w: &str| w.parse().map_err(|_| format!("{w:?}: expected numbers"));
    element.text().split_ascii_whitespace().map(word).collect()
}

/// A triangle of a `<geometry>`.
#[derive(Clone, Copy, Debug)]
struct Triangle<'a> {
    corners: [Vec3<f64>; 3],
    texcoords: Option<[[f32; 2]; 3]>,
    /// The symbol that instances bind to a material.
    material: Option<&'a str>,
}
