//! COLLADA 1.4 and 1.5: the triangles of every geometry that the scene shows, where it shows them.
//!
//! Read with an XML library rather than the mesh loader, which places a geometry that occurs twice only once, ignores
//! `<instance_node>`, and panics on indices that point to nothing.

use std::collections::HashMap;
use std::path::Path;

use roxmltree::{Document, Node};
use spatial::Vec3;

use super::assemble::Assembler;
use super::{MeshFileError, TriangleSoup};

mod primitives;
mod transform;

use transform::Affine;

/// Nodes that refer to nodes deeper than this refer to themselves.
const MAX_DEPTH: usize = 100;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    let malformed = |what: String| MeshFileError::malformed(path, what);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| malformed(format!("{error}: expected COLLADA, which is UTF-8 text")))?;
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let xml = Document::parse_with_options(text.trim_end_matches('\0').trim(), options)
        .map_err(|error| malformed(format!("{error}: expected COLLADA, which is well-formed XML")))?;
    if xml.root_element().tag_name().name() != "COLLADA" {
        return Err(malformed(format!("<{}>: expected <COLLADA>", xml.root_element().tag_name().name())));
    }
    let mut reader = Reader { by_id: index(&xml), assembler: Assembler::default(), path };
    reader.scene(&xml)?;
    reader.assembler.finish(path)
}

fn index<'a>(xml: &'a Document<'_>) -> HashMap<&'a str, Node<'a, 'a>> {
    xml.descendants().filter_map(|node| Some((node.attribute("id")?, node))).collect()
}

struct Reader<'a> {
    /// Elements by their `id`. Only looked up.
    by_id: HashMap<&'a str, Node<'a, 'a>>,
    assembler: Assembler,
    path: &'a Path,
}

impl<'a> Reader<'a> {
    /// Adds what the scene shows; without a scene, every geometry at the origin.
    fn scene(&mut self, xml: &'a Document<'a>) -> Result<(), MeshFileError> {
        let root = xml.root_element();
        let unit = Affine::scale([self.unit(root)?; 3]);
        let instance = child(root, "scene").and_then(|s| child(s, "instance_visual_scene"));
        let scene = match instance {
            Some(instance) => Some(self.target(instance, "url")?),
            None => root.descendants().find(|n| n.has_tag_name_in("visual_scene")),
        };
        if let Some(scene) = scene {
            return self.children(scene, unit, 0);
        }
        for geometry in root.descendants().filter(|n| n.has_tag_name_in("geometry")) {
            self.geometry(geometry, unit)?;
        }
        Ok(())
    }

    fn unit(&self, root: Node<'a, 'a>) -> Result<f64, MeshFileError> {
        let unit = child(root, "asset").and_then(|a| child(a, "unit"));
        let Some((unit, meter)) = unit.and_then(|u| Some((u, u.attribute("meter")?))) else {
            return Ok(1.0);
        };
        let value = meter.trim().parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite());
        value.ok_or_else(|| self.error(unit, format!("meter={meter:?}: expected a number above 0")))
    }

    /// Adds the nodes in a node or a scene that is placed at `at`.
    fn children(&mut self, parent: Node<'a, 'a>, at: Affine, depth: usize) -> Result<(), MeshFileError> {
        for node in parent.children().filter(|n| n.has_tag_name_in("node")) {
            self.node(node, at, depth + 1)?;
        }
        Ok(())
    }

    fn node(&mut self, node: Node<'a, 'a>, parent: Affine, depth: usize) -> Result<(), MeshFileError> {
        if depth > MAX_DEPTH {
            let what = format!("nodes more than {MAX_DEPTH} deep: expected no node to contain itself");
            return Err(self.error(node, what));
        }
        let mut at = parent;
        for element in node.children().filter(Node::is_element) {
            if let Some(step) = Affine::from_element(element).map_err(|what| self.error(element, what))? {
                at = at * step;
            }
        }
        for element in node.children().filter(Node::is_element) {
            match element.tag_name().name() {
                "instance_geometry" => self.geometry(self.target(element, "url")?, at)?,
                "instance_node" => self.node(self.target(element, "url")?, at, depth + 1)?,
                "instance_controller" => {
                    return Err(self.error(element, "a skinned mesh: expected rigid geometry"));
                }
                _ => {}
            }
        }
        self.children(node, at, depth)
    }

    fn geometry(&mut self, geometry: Node<'a, 'a>, at: Affine) -> Result<(), MeshFileError> {
        let Some(mesh) = child(geometry, "mesh") else {
            return Err(self.error(geometry, "expected a <mesh> in it (splines and solids are not read)"));
        };
        for primitive in mesh.children().filter(Node::is_element) {
            for triangle in self.triangles(primitive)? {
                let [a, b, c] = triangle.map(|corner| at.apply(corner));
                // A mirror image turns triangles inside out.
                let corners = if at.mirrors() { [a, c, b] } else { [a, b, c] };
                self.assembler.push(corners, self.path)?;
            }
        }
        Ok(())
    }

    /// The element that the address in `attribute` names.
    fn target(&self, element: Node<'a, 'a>, attribute: &str) -> Result<Node<'a, 'a>, MeshFileError> {
        let url = element.attribute(attribute).unwrap_or_default();
        let id = url.strip_prefix('#').unwrap_or_default();
        let target = self.by_id.get(id).copied();
        target
            .ok_or_else(|| self.error(element, format!("{attribute}={url:?}: expected #id of an element in this file")))
    }

    fn error(&self, at: Node<'_, '_>, what: impl Into<String>) -> MeshFileError {
        let line = at.document().text_pos_at(at.range().start).row;
        MeshFileError::malformed(self.path, format!("line {line}: <{}>: {}", at.tag_name().name(), what.into()))
    }
}

/// Names are compared without their namespace: files declare COLLADA's under several addresses, or none.
trait HasTagName {
    fn has_tag_name_in(&self, name: &str) -> bool;
}

impl HasTagName for Node<'_, '_> {
    fn has_tag_name_in(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|n| n.has_tag_name_in(name))
}

fn numbers<T: std::str::FromStr>(node: Node<'_, '_>) -> Result<Vec<T>, String> {
    let word = |w: &str| w.parse().map_err(|_| format!("{w:?}: expected numbers"));
    node.text().unwrap_or_default().split_ascii_whitespace().map(word).collect()
}

type Corners = [Vec3<f64>; 3];
