//! Nodes of soft bodies against rigid shapes.

use spatial::Vec3;

use super::body::{Body, share_bits};
use super::{SoftContact, SoftMovement, SoftPartner, SoftPoint};
use crate::movement::{Attachment, Movement};
use crate::narrow::{Convex, Point, signed_distance};
use crate::near::{Ball, Item};
use crate::scene::Geom;
use crate::solid::{PlacedSolid, Placement, Solid};

/// Nodes between two looks at the request to stop.
pub(super) const NODES_PER_LOOK: usize = 256;

/// Shapes whose surface is curved more than a sphere of so many sides of triangles fit between the nodes.
const SIDES: f64 = 3.0;

/// A geom that soft bodies may touch.
#[derive(Clone, Debug)]
pub(super) struct GeomItem {
    item: Item,
    pub group: usize,
    bits: [u32; 2],
    pub margin: f64,
    /// The least radius of curvature of its surface, m; 0 where it has edges.
    pub roundness: f64,
}

/// A geom in a step.
pub(super) struct PlacedGeom<'a> {
    pub of: &'a GeomItem,
    pub at: Placement,
    /// The ball around it.
    pub ball: Ball,
    /// What its centre does in free motion, m.
    pub shift: Vec3<f64>,
}

/// Signed distances of the nodes of a body from a geom, with their gradients.
#[derive(Clone, Debug, Default)]
pub(super) struct SignedDistances {
    /// The round in which each was found.
    rounds: Vec<u32>,
    signed: Vec<(Vec3<f64>, f64)>,
    round: u32,
}

/// Scratch; it holds no state from one pair to the next.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub convex: Convex,
    pub signed_distances: SignedDistances,
    /// Triangles that may be near.
    pub near: Vec<u32>,
}

impl Workspace {
    /// Whether to stop.
    pub fn is_interrupted(&self) -> bool {
        self.convex.interrupt.is_raised()
    }
}

impl SignedDistances {
    /// For bodies of so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self { rounds: vec![0; nodes], signed: vec![(Vec3::ZERO, 0.0); nodes], round: 0 }
    }

    /// Forgets all.
    fn start(&mut self) {
        if self.round == u32::MAX {
            self.rounds.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    fn take(&mut self, node: u32, gradient: Vec3<f64>, distance: f64) {
        self.rounds[node as usize] = self.round;
        self.signed[node as usize] = (gradient, distance);
    }

    /// The signed distance of a node; none where its position is no number.
    pub fn get(
        &mut self,
        node: u32,
        p: Vec3<f64>,
        geom: &PlacedGeom<'_>,
        convex: &mut Convex,
    ) -> Option<(Vec3<f64>, f64)> {
        if self.rounds[node as usize] == self.round {
            return Some(self.signed[node as usize]);
        }
        let signed = signed_distance(geom.solid(), p, f64::MAX, convex)?;
        self.take(node, signed.0, signed.1);
        Some(signed)
    }
}

impl GeomItem {
    /// None of a geom that cannot touch any of the bodies.
    pub fn new(geom: usize, of: &Geom, attachment: &Attachment, bodies: &[Body]) -> Option<Self> {
        let bits = [of.contype, of.conaffinity];
        let solid = bodies.iter().any(|body| share_bits(bits, body.bits)).then(|| Solid::new(&of.shape))??;
        let roundness = match solid {
            Solid::Plane | Solid::HeightField(_) => f64::INFINITY,
            Solid::Sphere { radius } | Solid::Capsule { radius, .. } => radius,
            Solid::Ellipsoid { radii } => {
                let (least, most) = (radii.x.min(radii.y).min(radii.z), radii.x.max(radii.y).max(radii.z));
                least * least / most
            }
            Solid::Cylinder { .. } | Solid::Box { .. } | Solid::Hull(_) => 0.0,
        };
        let item = Item::new(geom, attachment, solid, of.margin);
        Some(Self { item, group: attachment.group, bits, margin: of.margin, roundness })
    }

    pub fn solid(&self) -> &Solid {
        &self.item.solid
    }

    /// Whether a body may touch it.
    pub fn may_touch(&self, body: &Body) -> bool {
        share_bits(self.bits, body.bits)
    }

    /// Where it is in a step.
    pub fn place(&self, movement: &impl Fn(usize) -> Movement) -> PlacedGeom<'_> {
        let (at, ball) = match self.item.frame {
            Some(frame) => self.item.place(&movement(frame)),
            None => self.item.place_at_rest(),
        };
        PlacedGeom { of: self, at, shift: ball.motion.shift(), ball }
    }
}

impl PlacedGeom<'_> {
    pub fn solid(&self) -> PlacedSolid<'_> {
        PlacedSolid { solid: self.of.solid(), at: &self.at }
    }

    /// Whether it may come near a body.
    pub fn may_meet(&self, body: &Body) -> bool {
        let reach = &body.reach;
        let limit = reach.farthest + self.ball.reach + self.of.margin;
        if self.ball.radius == f64::INFINITY {
            let n = self.at.rot.z;
            let lowest = Vec3::new(
                if n.x > 0.0 { reach.low.x } else { reach.high.x },
                if n.y > 0.0 { reach.low.y } else { reach.high.y },
                if n.z > 0.0 { reach.low.z } else { reach.high.z },
            );
            return (lowest - self.at.pos).dot(n) <= limit;
        }
        let touch = self.ball.radius + limit;
        reach.distance_squared(self.ball.centre) <= touch * touch
    }

    /// Half extents of the box around it, along the axes of the world.
    pub fn half_extents(&self) -> Vec3<f64> {
        let half = self.of.solid().half_extents().unwrap_or(Vec3::ZERO);
        let (x, y, z) = (self.at.rot.x * half.x, self.at.rot.y * half.y, self.at.rot.z * half.z);
        Vec3::new(
            x.x.abs() + y.x.abs() + z.x.abs(),
            x.y.abs() + y.y.abs() + z.y.abs(),
            x.z.abs() + y.z.abs() + z.z.abs(),
        )
    }

    /// How far from the nodes of a body this may touch it in the step, whatever they do.
    pub fn steady(&self, body: &Body, soft: &SoftMovement<'_>) -> f64 {
        soft.slack + self.ball.stray + body.shell() + self.of.margin
    }
}

impl Body {
    /// Appends the contact points of the body with a geom.
    pub fn against_geom(
        &mut self,
        geom: &PlacedGeom<'_>,
        soft: &SoftMovement<'_>,
        workspace: &mut Workspace,
        out: &mut Vec<SoftContact>,
    ) {
        workspace.signed_distances.start();
        self.nodes_against_geom(geom, soft, workspace, out);
        if geom.of.roundness < SIDES * self.edge && !workspace.is_interrupted() {
            self.triangles_against_geom(geom, soft, workspace, out);
        }
    }

    /// Appends the contact points of the body's nodes with a geom.
    fn nodes_against_geom(
        &self,
        geom: &PlacedGeom<'_>,
        soft: &SoftMovement<'_>,
        workspace: &mut Workspace,
        out: &mut Vec<SoftContact>,
    ) {
        let topology = &self.topology;
        let steady = geom.steady(self, soft);
        for (k, &node) in topology.nodes.iter().enumerate() {
            if k.is_multiple_of(NODES_PER_LOOK) && workspace.is_interrupted() {
                return;
            }
            let p = topology.node(soft.positions, node);
            let approach = geom.shift - self.displacement(soft, node);
            let limit = steady + approach.norm();
            let touch = geom.ball.radius + limit;
            if (p - geom.ball.centre).norm_squared() > touch * touch || topology.is_exempt(node, geom.of.group) {
                continue;
            }
            let Some((away, distance)) = signed_distance(geom.solid(), p, limit, &mut workspace.convex) else {
                continue;
            };
            workspace.signed_distances.take(node, away, distance);
            // Only what leads towards the surface closes the gap.
            if distance <= steady + approach.dot(away).max(0.0) {
                let area = topology.area(soft.positions, node);
                out.push(self.contact(SoftPoint::node(self.index, node), geom, Point::new(p, -away, distance), area));
            }
        }
    }

    /// The contact of a point of the body, without its radius at `at`, with a geom that is away along the normal.
    pub fn contact(&self, point: SoftPoint, geom: &PlacedGeom<'_>, at: Point, area: f64) -> SoftContact {
        let Point { position, normal, distance, .. } = at;
        let distance = distance - self.radius;
        SoftContact {
            point,
            partner: SoftPartner::Geom(geom.of.geom()),
            position: position.add_scaled(self.radius + 0.5 * distance, normal),
            normal,
            gap: distance - self.margin - geom.of.margin,
            area,
        }
    }
}

impl GeomItem {
    /// Its index in the scene.
    pub fn geom(&self) -> usize {
        self.item.geom
    }
}
