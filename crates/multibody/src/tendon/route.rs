//! The way of a string in the frames of the nodes that move it.

use spatial::{Mat3, Vec3};

use super::path::{Span, each_span};
use super::wrap::{Frame, Round, Wrap};
use super::{Strand, Tendon, TendonPath, TendonRow, TendonTerm};
use crate::{Kinematics, Model, NO_PARENT, Tree, joint_columns};

/// A point that moves with a node; with the world where that is [`NO_PARENT`].
#[derive(Clone, Copy, Debug)]
struct NodePoint {
    node: usize,
    /// In the node's frame, m.
    at: Vec3<f64>,
}

impl NodePoint {
    fn of_site(model: &Model, site: usize) -> Self {
        let site = &model.sites[site];
        let body = &model.bodies[site.body];
        Self { node: body.node.unwrap_or(NO_PARENT), at: body.pose.transform_point(site.pose.pos) }
    }

    fn place(self, kinematics: &Kinematics<f64>) -> Vec3<f64> {
        kinematics.frames.get(self.node).map_or(self.at, |frame| frame.pos + frame.rot * self.at)
    }
}

/// A surface that moves with a node.
#[derive(Clone, Copy, Debug)]
struct NodeObstacle {
    body: usize,
    centre: NodePoint,
    /// Its axes in the node's frame.
    axes: Mat3<f64>,
    round: Round,
    side: Option<NodePoint>,
}

impl NodeObstacle {
    fn wrap(&self, kinematics: &Kinematics<f64>, ends: [Vec3<f64>; 2]) -> Option<Wrap> {
        let axes = kinematics.frames.get(self.centre.node).map_or(self.axes, |frame| frame.rot * self.axes);
        let frame = Frame { axes, origin: self.centre.place(kinematics) };
        self.round.wrap(&frame, ends, self.side.map(|side| side.place(kinematics)))
    }
}

/// The part of a string from one site to the next.
#[derive(Clone, Copy, Debug)]
struct Piece {
    bodies: [usize; 2],
    ends: [NodePoint; 2],
    /// One over the divisor of its branch.
    weight: f64,
    obstacle: Option<NodeObstacle>,
}

impl Piece {
    fn new(model: &Model, span: &Span<'_>, weight: f64) -> Self {
        let obstacle = span.obstacle.map(|obstacle| {
            let body = &model.bodies[obstacle.body];
            let pose = body.pose * obstacle.pose;
            NodeObstacle {
                body: obstacle.body,
                centre: NodePoint { node: body.node.unwrap_or(NO_PARENT), at: pose.pos },
                axes: pose.rot.to_mat3(),
                round: Round { shape: obstacle.shape, radius: obstacle.radius },
                side: obstacle.side.map(|side| NodePoint::of_site(model, side)),
            }
        });
        let ends = span.sites.map(|site| NodePoint::of_site(model, site));
        Self { bodies: span.sites.map(|site| model.sites[site].body), ends, weight, obstacle }
    }

    /// Its length, over the divisor, where that is the same in all configurations.
    fn constant_length(&self) -> Option<f64> {
        let [from, to] = self.ends;
        (self.obstacle.is_none() && from.node == to.node).then(|| self.weight * (to.at - from.at).norm())
    }

    /// Calls `f` with its straight pieces and with where it lies on its obstacle, and returns its length over the divisor.
    fn place(&self, kinematics: &Kinematics<f64>, mut f: impl FnMut(Placed<'_>)) -> f64 {
        let [from, to] =
            [0, 1].map(|k| End { body: self.bodies[k], node: self.ends[k].node, at: self.ends[k].place(kinematics) });
        let mut straight = |from: End, to: End, is_arc: bool| {
            let strand = Strand {
                bodies: [from.body, to.body],
                nodes: [from.node, to.node],
                points: [from.at, to.at],
                length: (to.at - from.at).norm(),
                weight: self.weight,
                is_arc,
            };
            f(Placed::Strand(&strand));
            strand.length
        };
        let wrap = self.obstacle.as_ref().and_then(|obstacle| {
            let wrap = obstacle.wrap(kinematics, [from.at, to.at])?;
            Some((wrap, wrap.points.map(|at| End { body: obstacle.body, node: obstacle.centre.node, at })))
        });
        let length = match wrap {
            Some((wrap, [first, second])) => {
                let before = straight(from, first, false);
                straight(first, second, true);
                before + wrap.length + straight(second, to, false)
            }
            None => straight(from, to, false),
        };
        if self.obstacle.is_some() {
            f(Placed::Touch(wrap.map(|(wrap, _)| wrap.points)));
        }
        self.weight * length
    }

    /// Adds its length and its derivative to `row`.
    fn add_to(&self, tree: &Tree<f64>, kinematics: &Kinematics<f64>, row: &mut TendonRow) {
        let length = self.place(kinematics, |placed| match placed {
            Placed::Strand(strand) => add_terms(tree, kinematics, strand, row),
            Placed::Touch(points) => row.touches.push(points),
        });
        row.length += length;
    }
}

/// The end of a straight piece, in the world.
#[derive(Clone, Copy)]
struct End {
    body: usize,
    node: usize,
    at: Vec3<f64>,
}

/// A part of a string where it is.
enum Placed<'a> {
    Strand(&'a Strand),
    /// Where it comes to an obstacle and leaves it; none where it passes by.
    Touch(Option<[Vec3<f64>; 2]>),
}

impl Tendon {
    fn each_piece(&self, model: &Model, mut f: impl FnMut(Piece)) {
        let branches = match &self.path {
            TendonPath::Joints(_) => &[][..],
            TendonPath::Spatial(branches) => branches,
        };
        for branch in branches {
            each_span(branch, |span| f(Piece::new(model, &span, 1.0 / branch.divisor)));
        }
    }

    /// Calls `f` with the straight pieces of a spatial tendon, after [`forward_kinematics`](crate::forward_kinematics), and returns its length; a
    /// fixed one has none.
    pub fn each_strand(&self, model: &Model, kinematics: &Kinematics<f64>, mut f: impl FnMut(&Strand)) -> f64 {
        let mut length = 0.0;
        self.each_piece(model, |piece| {
            length += piece.place(kinematics, |placed| match placed {
                Placed::Strand(strand) => f(strand),
                Placed::Touch(_) => {}
            });
        });
        length
    }

    /// Adds the length of a spatial tendon and its derivative to `row`.
    pub(super) fn add_pieces(&self, model: &Model, kinematics: &Kinematics<f64>, row: &mut TendonRow) {
        self.each_piece(model, |piece| piece.add_to(&model.tree, kinematics, row));
    }
}

/// The way of a spatial tendon of a model, gathered once for many configurations.
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// What changes with the configuration.
    pieces: Vec<Piece>,
    /// The length of all else, m.
    constant_length: f64,
}

impl Route {
    /// Takes the way of a tendon; a fixed one has none.
    pub fn set(&mut self, model: &Model, tendon: &Tendon) {
        self.pieces.clear();
        self.constant_length = 0.0;
        tendon.each_piece(model, |piece| match piece.constant_length() {
            Some(length) => self.constant_length += length,
            None => self.pieces.push(piece),
        });
    }

    /// Sets `row` to the length and its derivative, after [`forward_kinematics`](crate::forward_kinematics).
    pub fn write_row(&self, tree: &Tree<f64>, kinematics: &Kinematics<f64>, row: &mut TendonRow) {
        row.clear();
        row.length = self.constant_length;
        self.pieces.iter().for_each(|piece| piece.add_to(tree, kinematics, row));
        row.complete();
    }
}

/// Adds what the two ends of a straight piece do to the rate of the length: the velocity of the second end relative to the first, along it.
fn add_terms(tree: &Tree<f64>, kinematics: &Kinematics<f64>, strand: &Strand, row: &mut TendonRow) {
    if strand.is_arc || strand.nodes[0] == strand.nodes[1] {
        return;
    }
    let [from, to] = strand.points;
    let is_unit = strand.length > 0.0 && strand.length.is_finite();
    // Where the ends meet any direction will do.
    let along =
        if is_unit { (to - from) * (strand.weight / strand.length) } else { Vec3::new(strand.weight, 0.0, 0.0) };
    for (node, side) in tree.path_between(strand.nodes) {
        let along = along * [-1.0, 1.0][side];
        // Along the strand, all points of it move alike with one body.
        for (dof, motion) in joint_columns(tree, kinematics, node, from) {
            row.add(TendonTerm { node, dof, coefficient: along.dot(motion.lin) });
        }
    }
}
