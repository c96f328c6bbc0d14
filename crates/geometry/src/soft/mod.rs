//! The points in which soft bodies touch rigid shapes, each other and themselves.
//!
//! What touches of a soft body is a point of its surface that moves with up to three of its nodes: the contact's Jacobian is those nodes'
//! weights. Nodes are tested against the signed distance of rigid shapes, whose gradient is the normal.

mod surface;

use std::sync::Arc;

use interrupt::Interrupt;
use spatial::Vec3;

use self::surface::Topology;
pub use self::surface::{Exemption, SoftSurface, SoftSurfaceError, quadratic_triangles};
use crate::collider::{Attachment, MAX_CONTACTS, Movement, Sweep, TooMany};
use crate::narrow::{Convex, signed_distance};
use crate::near::Item;
use crate::scene::Scene;
use crate::solid::{Placement, Solid};

/// A point of the surface of a soft body, Σ weights · nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftPoint {
    /// The soft body.
    pub body: u32,
    /// Nodes of the body; those without weight repeat the first.
    pub nodes: [u32; 3],
    /// Their weights, which sum to 1 and are not negative.
    pub weights: [f64; 3],
}

impl SoftPoint {
    /// A node.
    #[must_use]
    pub fn node(body: u32, node: u32) -> Self {
        Self { body, nodes: [node; 3], weights: [1.0, 0.0, 0.0] }
    }

    /// The nodes that have a weight, with it.
    pub fn parts(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.nodes.into_iter().zip(self.weights).filter(|(_, weight)| *weight != 0.0)
    }
}

/// What a soft body touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SoftPartner {
    /// A geom, an index into the scene; that may be fixed in the world.
    Geom(usize),
    /// A point of another soft body, or of the same.
    Soft(SoftPoint),
}

/// A contact point of a soft body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftContact {
    /// The point of the soft body that touches.
    pub point: SoftPoint,
    /// What it touches.
    pub partner: SoftPartner,
    /// Midway between the two surfaces, in the world, m.
    pub position: Vec3<f64>,
    /// Unit vector from the soft body towards its partner.
    pub normal: Vec3<f64>,
    /// Distance of the surfaces along the normal less the margins, m; negative in penetration.
    pub gap: f64,
    /// The point's share of the soft body's surface, m².
    pub area: f64,
}

/// Where the nodes of soft bodies are in a step and how they may move: three coordinates a node, all bodies one after the other.
#[derive(Clone, Copy, Debug)]
pub struct SoftMovement<'a> {
    /// Where they are, m.
    pub positions: &'a [f64],
    /// What they do in the step at the velocities with which it begins, m; may be empty: nothing.
    pub displacements: &'a [f64],
    /// The farthest that a node may stray from that, m.
    pub slack: f64,
}

impl SoftMovement<'_> {
    /// The displacement of a node among all.
    #[inline(always)]
    fn displacement(&self, node: usize) -> Vec3<f64> {
        match self.displacements.get(3 * node..3 * node + 3) {
            Some(d) => Vec3::new(d[0], d[1], d[2]),
            None => Vec3::ZERO,
        }
    }
}

/// Nodes between two looks at the request to stop.
const NODES_PER_LOOK: usize = 256;

/// Finds the contact points of the soft bodies of a scene.
///
/// The result is a function of the arguments alone, in the order of the bodies, then of what they touch; nothing carries over from one call
/// to the next but buffers.
#[derive(Clone, Debug)]
pub struct SoftCollider {
    bodies: Vec<Body>,
    items: Vec<GeomItem>,
    workspace: Convex,
    has_too_many: bool,
}

/// A soft body.
#[derive(Clone, Debug)]
struct Body {
    topology: Topology,
    contype: u32,
    conaffinity: u32,
    margin: f64,
    radius: f64,
}

/// A geom that soft bodies may touch.
#[derive(Clone, Debug)]
struct GeomItem {
    item: Item,
    group: usize,
    contype: u32,
    conaffinity: u32,
    margin: f64,
}

/// A geom in a step.
struct PlacedGeom<'a> {
    of: &'a GeomItem,
    at: Placement,
    sweep: Sweep,
    centre: Vec3<f64>,
    radius: f64,
}

impl SoftCollider {
    /// A collider for soft bodies with these surfaces, and the geoms of `scene`, geom i moving as `attachments[i]` says.
    ///
    /// # Errors
    /// When a surface names a node that is not there, or has a number that is not finite or is negative.
    ///
    /// # Panics
    /// When there is not one attachment for each geom.
    pub fn new(
        scene: &Arc<Scene>,
        attachments: &[Attachment],
        surfaces: &[SoftSurface],
    ) -> Result<Self, SoftSurfaceError> {
        assert_eq!(scene.geoms.len(), attachments.len(), "one attachment for each geom");
        surface::check(surfaces)?;
        let mut first = 0;
        let mut bodies = Vec::with_capacity(surfaces.len());
        for surface in surfaces {
            bodies.push(Body {
                topology: Topology::new(surface, first),
                contype: surface.contype,
                conaffinity: surface.conaffinity,
                margin: surface.margin,
                radius: surface.radius,
            });
            first += surface.nodes.len();
        }
        let geoms = scene.geoms.iter().zip(attachments).enumerate();
        let item = |(geom, (of, a)): (usize, (&crate::Geom, &Attachment))| {
            let touches = |body: &Body| may_touch([of.contype, of.conaffinity], [body.contype, body.conaffinity]);
            let solid = Solid::new(&of.shape).filter(|_| bodies.iter().any(touches))?;
            Some(GeomItem {
                item: Item::new(geom, a, solid, of.margin),
                group: a.group,
                contype: of.contype,
                conaffinity: of.conaffinity,
                margin: of.margin,
            })
        };
        let items: Vec<_> = geoms.filter_map(item).collect();
        let workspace = Convex::for_solids(items.iter().map(|of| &of.item.solid));
        Ok(Self { bodies, items, workspace, has_too_many: false })
    }

    /// Lets the search end early once `interrupt` is raised. What it found is void then: it is for the caller to ask `interrupt` afterwards.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.workspace.interrupt = interrupt.clone();
    }

    /// Whether there is no soft body.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Why the contact points of the last call are not all, where they are not.
    pub fn overflow(&self) -> Option<TooMany> {
        self.has_too_many.then_some(TooMany::Contacts)
    }

    /// Replaces `out` by the contact points whose gap can close in the step. `movement(i)` says where moving frame i is and how the surfaces
    /// of its geoms may move, `soft` the same of the nodes. Nodes whose place is not finite touch nothing.
    ///
    /// # Panics
    /// When `soft` has not three positions for each node.
    pub fn contacts(
        &mut self,
        movement: impl Fn(usize) -> Movement,
        soft: &SoftMovement<'_>,
        out: &mut Vec<SoftContact>,
    ) {
        let Self { bodies, items, workspace, has_too_many } = self;
        let nodes: usize = bodies.iter().map(|body| body.topology.count).sum();
        assert_eq!(soft.positions.len(), 3 * nodes, "three coordinates for each node");
        out.clear();
        for (index, body) in bodies.iter().enumerate() {
            let reach = Reach::new(body, soft);
            for of in items.iter() {
                let allowed = may_touch([of.contype, of.conaffinity], [body.contype, body.conaffinity]);
                if !allowed || out.len() > MAX_CONTACTS || workspace.interrupt.is_raised() {
                    continue;
                }
                let geom = of.place(&movement);
                if !reach.may_meet(body, &geom) {
                    continue;
                }
                body.nodes_against(index as u32, &geom, soft, workspace, out);
            }
        }
        *has_too_many = out.len() > MAX_CONTACTS;
    }
}

/// Whether a `contype` shares a bit with the other's `conaffinity`.
fn may_touch([contype, conaffinity]: [u32; 2], other: [u32; 2]) -> bool {
    (contype & other[1]) | (conaffinity & other[0]) != 0
}

/// The box around a body, and how far its nodes may move.
struct Reach {
    low: Vec3<f64>,
    high: Vec3<f64>,
    farthest: f64,
}

impl Reach {
    fn new(body: &Body, soft: &SoftMovement<'_>) -> Self {
        let infinity = Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let (mut low, mut high, mut farthest) = (infinity, -infinity, 0.0);
        for &node in &body.topology.nodes {
            let p = body.topology.node(soft.positions, node);
            // `min` and `max` drop what is not a number.
            low = Vec3::new(low.x.min(p.x), low.y.min(p.y), low.z.min(p.z));
            high = Vec3::new(high.x.max(p.x), high.y.max(p.y), high.z.max(p.z));
            farthest = f64::max(farthest, soft.displacement(body.topology.first + node as usize).norm_squared());
        }
        Self { low, high, farthest: farthest.sqrt() + soft.slack }
    }

    /// Whether the geom may come near the body's box.
    fn may_meet(&self, body: &Body, geom: &PlacedGeom<'_>) -> bool {
        let limit = self.farthest + geom.sweep.farthest() + body.margin + body.radius + geom.of.margin;
        if geom.radius == f64::INFINITY {
            let n = geom.at.rot.z;
            let lowest = Vec3::new(
                if n.x > 0.0 { self.low.x } else { self.high.x },
                if n.y > 0.0 { self.low.y } else { self.high.y },
                if n.z > 0.0 { self.low.z } else { self.high.z },
            );
            return (lowest - geom.at.pos).dot(n) <= limit;
        }
        let c = geom.centre;
        let beyond = |c: f64, low: f64, high: f64| f64::max(low - c, c - high).max(0.0);
        let apart = Vec3::new(
            beyond(c.x, self.low.x, self.high.x),
            beyond(c.y, self.low.y, self.high.y),
            beyond(c.z, self.low.z, self.high.z),
        );
        let touch = geom.radius + limit;
        apart.norm_squared() <= touch * touch
    }
}

impl GeomItem {
    fn place(&self, movement: &impl Fn(usize) -> Movement) -> PlacedGeom<'_> {
        let (at, sweep) = match self.item.frame {
            Some(frame) => {
                let movement = movement(frame);
                (self.item.place(&movement).0, movement.sweep)
            }
            None => (self.item.local, Sweep::default()),
        };
        PlacedGeom { of: self, centre: at.point(self.item.centre), radius: self.item.radius, at, sweep }
    }
}

impl Body {
    /// Appends the contact points of the body's nodes with a geom.
    fn nodes_against(
        &self,
        index: u32,
        geom: &PlacedGeom<'_>,
        soft: &SoftMovement<'_>,
        workspace: &mut Convex,
        out: &mut Vec<SoftContact>,
    ) {
        let topology = &self.topology;
        let thickness = self.radius + self.margin + geom.of.margin;
        let steady = soft.slack + geom.sweep.slack + thickness;
        for (k, &node) in topology.nodes.iter().enumerate() {
            if k.is_multiple_of(NODES_PER_LOOK) && workspace.interrupt.is_raised() {
                return;
            }
            let p = topology.node(soft.positions, node);
            let approach = geom.sweep.shift - soft.displacement(topology.first + node as usize);
            let limit = steady + approach.norm();
            let touch = geom.radius + limit;
            if (p - geom.centre).norm_squared() > touch * touch || topology.is_exempt(node, geom.of.group) {
                continue;
            }
            let Some((away, distance)) = signed_distance((&geom.of.item.solid, &geom.at), p, limit, workspace) else {
                continue;
            };
            // Only what leads towards the surface closes the gap.
            if distance > steady + approach.dot(away).max(0.0) {
                continue;
            }
            let distance = distance - self.radius;
            out.push(SoftContact {
                point: SoftPoint::node(index, node),
                partner: SoftPartner::Geom(geom.of.item.geom),
                position: p.add_scaled(-self.radius - 0.5 * distance, away),
                normal: -away,
                gap: distance - self.margin - geom.of.margin,
                area: topology.area(soft.positions, node),
            });
        }
    }
}
