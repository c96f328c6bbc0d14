//! What holds flexible bodies together whose nodes are bodies: edges that keep their lengths, strings along edges, and flat cloth that resists
//! bending.
//!
//! Of two triangles that share an edge and lie in one plane the energy of bending is ½ k ‖Σ cᵢ xᵢ‖², where c are the cotangent weights of their
//! four nodes (Wardetzky et al., Discrete Quadratic Curvature Energies, 2007). Nodes on three slides each have their places as coordinates: along
//! each axis that is the spring of a fixed tendon with the coefficients c, and its damper is the one of the cloth.

use std::collections::BTreeMap;

use multibody::{Branch, Compliance, Equality, EqualityKind, PathPoint, Site, SiteShape, Tendon, TendonPath};
use spatial::{Pose, Quat, Vec3};

use super::Reader;
use super::defaults::at_least_zero;
use super::flex_mesh::Mesh;
use super::tendon::TendonInfo;
use crate::LoadError;
use crate::xml::Element;

/// Two triangles lie in one plane if the sine of the angle between them is at most this: files have six digits.
const FLAT: f64 = 1e-3;

/// Flexible bodies whose nodes are bodies, among the kinds of names.
const NET: &str = "flexible body whose nodes are bodies";

/// A node that is part of a body.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub body: usize,
    /// In the frame of that body.
    pub anchor: Vec3<f64>,
    /// The first of its three joints: slides along axes that all nodes have in common.
    pub slides: Option<usize>,
}

/// A flexible body whose nodes are bodies. Its mesh is in the frame of the parent of these.
pub(super) struct Net<'a> {
    pub element: Element<'a>,
    pub mesh: Mesh,
    pub nodes: Vec<Node>,
}

/// Two nodes that move apart, and their distance.
struct Edge {
    ends: [Node; 2],
    indices: [usize; 2],
    length: f64,
}

/// Two triangles that share an edge.
struct Flap {
    /// The nodes of the edge, and those opposite of it.
    nodes: [u32; 4],
    /// The weights c of the nodes.
    weights: [f64; 4],
    /// Of both triangles.
    area: f64,
    is_flat: bool,
}

/// A spring and damper of a net, which becomes a tendon when those of the file are known.
pub(super) struct NetTendon<'a> {
    element: Element<'a>,
    path: TendonPath,
    rest: f64,
    stiffness: f64,
    damping: f64,
}

impl Flap {
    fn new(nodes: [u32; 4], mesh: &Mesh) -> Self {
        let [a, b, c, d] = nodes.map(|node| mesh.nodes[node as usize]);
        let cotangent =
            |at: Vec3<f64>, x: Vec3<f64>, y: Vec3<f64>| (x - at).dot(y - at) / (x - at).cross(y - at).norm();
        let [a_to_c, a_to_d, b_to_c, b_to_d] =
            [cotangent(a, b, c), cotangent(a, b, d), cotangent(b, a, c), cotangent(b, a, d)];
        let weights = [b_to_c + b_to_d, a_to_c + a_to_d, -(a_to_c + b_to_c), -(a_to_d + b_to_d)];
        let [n, m] = [(b - a).cross(c - a), (d - a).cross(b - a)];
        let area = 0.5 * (n.norm() + m.norm());
        let is_flat = n.dot(m) > 0.0 && n.cross(m).norm() <= FLAT * n.norm() * m.norm();
        Self { nodes, weights, area, is_flat }
    }
}

impl Net<'_> {
    /// The pairs of triangles with an edge in common.
    fn flaps(&self) -> Vec<Flap> {
        let mut opposite: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for &[a, b, c] in self.mesh.elements.as_chunks::<3>().0 {
            for (ends, other) in [([a, b], c), ([b, c], a), ([c, a], b)] {
                opposite.entry([ends[0].min(ends[1]), ends[0].max(ends[1])]).or_default().push(other);
            }
        }
        let pairs = opposite.iter().filter_map(|(&[a, b], others)| match others[..] {
            [c, d] => Some(Flap::new([a, b, c, d], &self.mesh)),
            _ => None,
        });
        // Triangles without an area have no weights.
        pairs.filter(|flap| flap.weights.iter().all(|weight| weight.is_finite())).collect()
    }
}

impl<'a> Reader<'_, 'a> {
    fn edges(&self, net: &Net<'a>) -> Vec<Edge> {
        let edge = |ends: [u32; 2]| {
            let indices = ends.map(|node| node as usize);
            let length = (net.mesh.nodes[indices[0]] - net.mesh.nodes[indices[1]]).norm();
            Edge { ends: indices.map(|node| net.nodes[node]), indices, length }
        };
        let moves = |edge: &Edge| {
            let [a, b] = edge.ends.map(|node| self.builder.rigid_group(node.body));
            a != b && edge.length > 0.0
        };
        net.mesh.edges().into_iter().map(edge).filter(moves).collect()
    }

    /// Adds constraints by which edges keep their lengths.
    pub(super) fn keep_lengths(&mut self, net: &Net<'a>, compliance: Compliance, active: bool) {
        for Edge { ends, length: distance, .. } in self.edges(net) {
            let (bodies, anchors) = (ends.map(|node| node.body), ends.map(|node| node.anchor));
            let kind = EqualityKind::Distance { bodies, anchors, distance };
            self.equalities.push(net.element);
            self.builder.equalities.push(Equality { name: String::new(), kind, compliance, active });
        }
    }

    /// Reads `<flex>` in `<equality>`.
    pub(super) fn flex_equality(
        &mut self,
        element: Element<'a>,
        compliance: Compliance,
        active: bool,
    ) -> Result<(), LoadError> {
        let name = element.required("flex")?;
        if self.names.has(NET, name) {
            let nets = std::mem::take(&mut self.nets);
            let net = &nets[self.names.get(element, "flex", NET, name)?];
            self.count_copies(element, net.mesh.elements.len())?;
            self.keep_lengths(net, compliance, active);
            self.nets = nets;
        } else {
            self.warnings.add(element, "of a flexible body whose nodes are no bodies: not simulated");
        }
        element.skip_all();
        Ok(())
    }

    /// Keeps a net for constraints that refer to it.
    pub(super) fn keep_net(&mut self, name: &str, net: Net<'a>) {
        self.names.reserve(NET, name, self.nets.len());
        self.nets.push(net);
    }

    /// Adds what `<edge>` says of springs and dampers. Whether springs hold the nodes together.
    pub(super) fn edge_strings(&mut self, net: &Net<'a>) -> Result<bool, LoadError> {
        let Some(edge) = net.element.child("edge") else { return Ok(false) };
        let number = |name| Ok::<_, LoadError>(at_least_zero(edge, name)?.unwrap_or(0.0));
        let (stiffness, damping) = (number("stiffness")?, number("damping")?);
        if stiffness == 0.0 && damping == 0.0 {
            return Ok(false);
        }
        let mut sites = vec![None; net.nodes.len()];
        for Edge { ends, indices, length: rest } in self.edges(net) {
            let points = [0, 1].map(|end| {
                let Node { body, anchor, .. } = ends[end];
                PathPoint::Site(*sites[indices[end]].get_or_insert_with(|| {
                    let pose = Pose::new(anchor, Quat::IDENTITY);
                    self.builder.sites.push(Site { name: String::new(), body, pose, shape: SiteShape::default() });
                    self.builder.sites.len() - 1
                }))
            });
            let path = TendonPath::Spatial(vec![Branch { divisor: 1.0, points: points.to_vec() }]);
            self.net_tendons.push(NetTendon { element: net.element, path, rest, stiffness, damping });
        }
        Ok(stiffness > 0.0)
    }

    /// Adds what `<elasticity>` says of bending.
    pub(super) fn bending(&mut self, net: &Net<'a>) -> Result<(), LoadError> {
        let Some(elasticity) = net.element.child("elasticity") else { return Ok(()) };
        let number = |name| Ok::<_, LoadError>(at_least_zero(elasticity, name)?.unwrap_or(0.0));
        let (young, poisson, damping) = (number("young")?, number("poisson")?, number("damping")?);
        let thickness = elasticity.number("thickness")?.unwrap_or(0.0).max(0.0);
        let kind = elasticity.attribute("elastic2d").unwrap_or("none");
        if poisson >= 0.5 {
            return Err(elasticity.error(format!("poisson=\"{poisson}\": expected less than 0.5")));
        }
        // Of a plate.
        let flexural_rigidity = young * thickness.powi(3) / (12.0 * (1.0 - poisson * poisson));
        let bends = net.mesh.corners == 3 && matches!(kind, "bend" | "both") && flexural_rigidity > 0.0;
        let flaps = if bends { net.flaps() } else { Vec::new() };
        for flap in flaps.iter().filter(|flap| flap.is_flat) {
            let stiffness = flexural_rigidity / flap.area;
            self.resist_bending(net, flap, stiffness, damping * stiffness);
        }
        let is_curved = flaps.iter().any(|flap| !flap.is_flat);
        if is_curved {
            self.warnings.add(elasticity, "edges at which cloth is not flat do not resist bending");
        } else if !bends || kind == "both" {
            self.warnings.add(elasticity, "only the bending of cloth with a `thickness` is simulated: ignored");
        }
        elasticity.skip_all();
        Ok(())
    }

    fn resist_bending(&mut self, net: &Net<'a>, flap: &Flap, stiffness: f64, damping: f64) {
        let nodes = flap.nodes.map(|node| net.nodes[node as usize]);
        for axis in 0..3 {
            // A body may have several nodes.
            let mut terms: BTreeMap<usize, f64> = BTreeMap::new();
            for (node, weight) in nodes.iter().zip(flap.weights) {
                let joint = node.slides.map(|first| first + axis);
                joint.into_iter().for_each(|joint| *terms.entry(joint).or_default() += weight);
            }
            if terms.is_empty() {
                continue;
            }
            let rest = terms.iter().map(|(&joint, weight)| weight * self.joints[joint].reference).sum();
            let path = TendonPath::Joints(terms.into_iter().collect());
            self.net_tendons.push(NetTendon { element: net.element, path, rest, stiffness, damping });
        }
    }

    /// Adds the tendons of nets, after those of the file.
    pub(super) fn net_tendons(&mut self) {
        let flags = self.options.flags;
        for NetTendon { element, path, rest, stiffness, damping } in std::mem::take(&mut self.net_tendons) {
            let index = self.builder.tendons.len();
            self.tendons.push(TendonInfo { element, index, reference: rest, range: None, effort_limit: None });
            self.builder.tendons.push(Tendon {
                path,
                stiffness: if flags.spring { stiffness } else { 0.0 },
                damping: if flags.damper { damping } else { 0.0 },
                rest: (rest, rest),
                ..Tendon::default()
            });
        }
    }
}
