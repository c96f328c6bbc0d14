//! The axis along which two convex bodies are kept apart in a step.
//!
//! Convex bodies do not overlap as long as one axis separates them. The nearest points of the two show an axis that does so now; while
//! the bodies move, another one may do so for longer. What slides over a floor of boxes comes nearest to the edge between the side and
//! the top of the next box, and a constraint along that direction would stop it there, although it passes above. So the axis is taken
//! that is the last to lose its gap at the velocities with which the step begins. If all of them lose it, this is the axis along which
//! the bodies hit each other (D. Eberly, *Intersection of Convex Objects: The Method of Separating Axes*, moving objects).
//!
//! Candidates are the direction of the nearest points and the normals of flat faces; for bodies that move far for their size also the
//! directions of the nearest points on the way (conservative advancement).

use spatial::{Mat3, Quat, Vec3};

use super::convex::Nearest;
use super::placed::{Core, Placed};
use super::spread::spread;
use super::{Convex, Point, Sink, collide};
use crate::contact::Contact;
use crate::movement::Motion;
use crate::solid::{PlacedSolid, Placement, Solid};

/// Bodies that approach by less than this in a step are taken not to approach, m.
const APPROACH: f64 = 1e-8;

/// Bodies that overlap by up to this share of their size along an axis count as separated by it: as if edges had this radius. It is
/// more than what rests sinks in, and less than the step of a floor that should be felt.
const EDGE_RADIUS: f64 = 1e-3;

/// The same as a share of a body's least half extent, for thin bodies.
const THIN_EDGE_RADIUS: f64 = 0.05;

/// Bodies that approach by more than this share of the smaller one's radius move far: where they hit each other has little to do with
/// where they are nearest at the beginning.
pub const FAR: f64 = 0.5;

/// Greatest number of directions that are looked at on the way of bodies that move far.
const MAX_ADVANCES: usize = 32;

/// Bodies are looked at that would meet within this many steps: a contact closes its gap in somewhat more than a step, as it is damped.
const HORIZON: f64 = 1.5;

/// Bodies have arrived when another direction shows no gap for longer by more than this part of the step.
const ARRIVED: f64 = 1e-6;

/// Two unit vectors with a cosine above this are one axis.
const SAME: f64 = 1.0 - 1e-12;

/// The same between polyhedra, a degree: it does not matter which of two faces that rest on each other an axis belongs to, and the contact points
/// of bodies at rest must not change with it.
const SAME_FACE: f64 = 1.0 - 1.5e-4;

/// Polyhedra that approach by less than this share of the smaller one's radius in a step creep: at 5 ms and 0.1 m that is 1 mm/s. What they
/// rest on must not change with the last digits of their velocities.
const CREEP: f64 = 5e-5;

/// Contact points with a cosine above this between their normals are of one axis.
const ALIKE: f64 = 1.0 - 1e-6;

/// A body of a pair, and how it moves in the step.
pub(crate) struct Moving<'a> {
    solid: &'a Solid,
    at: &'a Placement,
    motion: &'a Motion,
    rest_depth: f64,
}

impl<'a> Moving<'a> {
    #[inline(always)]
    pub fn new(solid: &'a Solid, at: &'a Placement, motion: &'a Motion, rest_depth: f64) -> Self {
        Self { solid, at, motion, rest_depth }
    }

    fn centre(&self, t: f64) -> Vec3<f64> {
        self.motion.centre.add_scaled(t, self.motion.translation)
    }

    /// The rotation of its shape in the part `t` of the step. A shape of revolution does not change when it spins about its axis.
    fn turn(&self, t: f64) -> Mat3<f64> {
        let turn = self.motion.rotation * t;
        let turn = match self.solid {
            Solid::Sphere { .. } => return Mat3::IDENTITY,
            Solid::Capsule { .. } | Solid::Cylinder { .. } => turn.add_scaled(-turn.dot(self.at.rot.z), self.at.rot.z),
            _ => turn,
        };
        Quat::from_rotation_vector(turn).to_mat3()
    }

    /// Where its shape is after the part `t` of the step.
    fn placement(&self, t: f64) -> Placement {
        let turn = self.turn(t);
        Placement { rot: turn * self.at.rot, pos: self.centre(t) + turn * (self.at.pos - self.motion.centre) }
    }

    fn has_faces(&self) -> bool {
        matches!(self.solid, Solid::Cylinder { .. } | Solid::Box { .. } | Solid::Hull(_))
    }

    fn is_polyhedron(&self) -> bool {
        matches!(self.solid, Solid::Box { .. } | Solid::Hull(_))
    }

    /// Visits outward normals of flat faces: of a box and a cylinder those on the side of the unit vector `toward`, of a hull those
    /// around the vertices that are farthest along `facing`, a unit vector in its own frame.
    fn each_face(&self, toward: Vec3<f64>, facing: Vec3<f64>, mut visit: impl FnMut(Vec3<f64>)) {
        let rot = self.at.rot;
        let mut outward = |axis: Vec3<f64>| visit(axis * 1.0_f64.copysign(axis.dot(toward)));
        match self.solid {
            Solid::Box { .. } => [rot.x, rot.y, rot.z].into_iter().for_each(outward),
            Solid::Cylinder { .. } => outward(rot.z),
            Solid::Hull(hull) => hull.each_face_near(facing, |face| visit(rot * hull.normals[face])),
            _ => {}
        }
    }

    /// What counts as the radius of its edges.
    fn tolerance(&self) -> f64 {
        let half = self.solid.half_extents().unwrap_or(Vec3::ZERO);
        (EDGE_RADIUS * self.solid.bounding_radius()).min(THIN_EDGE_RADIUS * half.x.min(half.y).min(half.z))
    }
}

/// Replaces the contact points from index `first` on, which are all that two bodies have, where another axis separates the bodies for
/// longer than theirs.
#[inline(always)]
pub(crate) fn separate(bodies: [Moving; 2], first: usize, workspace: &mut Convex, sink: &mut Sink) {
    let [a, b] = &bodies;
    if matches!(a.solid, Solid::Plane | Solid::HeightField(_)) {
        return;
    }
    let radii = [a.solid.bounding_radius(), b.solid.bounding_radius()];
    let radius = radii[0].min(radii[1]);
    let far = FAR * radius;
    let least = match () {
        () if a.is_polyhedron() && b.is_polyhedron() => CREEP * radius,
        () if a.has_faces() || b.has_faces() => APPROACH,
        () => far,
    };
    // Contact points lie within a body's radius and their gap of its centre: where bodies rest, no point approaches by more than this.
    let turn = |body: &Moving, radius: f64| largest(body.motion.rotation) * 3.0 * (radius + sink.limit.max(0.0));
    let fastest = 3.0 * largest(a.motion.translation - b.motion.translation) + turn(a, radii[0]) + turn(b, radii[1]);
    if fastest <= least {
        return;
    }
    let change = || (b.motion.change - a.motion.change).norm();
    let (mut most, mut is_met) = (0.0_f64, false);
    for i in first..sink.out.count() {
        let contact = sink.out.get(i);
        let approach = approach(&bodies, contact.position, sink.normal(contact));
        if approach > least {
            most = most.max(approach);
            is_met |= contact.gap < HORIZON * (approach + change());
        }
    }
    if is_met {
        find_axis(&bodies, first, most > far, workspace, sink);
    }
}

/// The largest entry.
#[inline(always)]
fn largest(v: Vec3<f64>) -> f64 {
    v.x.abs().max(v.y.abs()).max(v.z.abs())
}

/// By how much a point of the second body approaches the first along `normal`, m.
#[inline(always)]
fn approach([a, b]: &[Moving; 2], position: Vec3<f64>, normal: Vec3<f64>) -> f64 {
    (a.motion.displacement(position) - b.motion.displacement(position)).dot(normal)
}

/// The cosine above which two axes of these bodies are one.
fn same([a, b]: &[Moving; 2]) -> f64 {
    if a.is_polyhedron() && b.is_polyhedron() { SAME_FACE } else { SAME }
}

/// An axis that separates two bodies.
#[derive(Clone, Copy)]
struct Axis {
    /// Unit vector from the first body to the second at the beginning of the step.
    normal: Vec3<f64>,
    origin: Origin,
    /// The gap along it at the end of the step.
    end: f64,
    /// The part of the step after which it is lost: infinite where the bodies do not approach, below zero where there is none.
    time: f64,
}

/// Where an axis comes from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// The contact points at the beginning.
    Found,
    /// The nearest points after this part of the step.
    Way(f64),
    /// A face of the first body or the second, with which it turns.
    Face(usize),
}

impl Axis {
    fn lasts_longer_than(&self, other: &Self) -> bool {
        self.time > other.time
            || self.time == f64::INFINITY && other.time == self.time && self.end > other.end + APPROACH
    }
}

/// Two bodies at the beginning and at the end of a step.
struct Pair<'a> {
    bodies: &'a [Moving<'a>; 2],
    begin: [Placed<'a>; 2],
    end: [Placed<'a>; 2],
    margin: f64,
    tolerance: f64,
}

impl<'a> Pair<'a> {
    fn new(bodies: &'a [Moving<'a>; 2], margin: f64) -> Option<Self> {
        let [a, b] = bodies;
        let origin = a.at.pos;
        let place = |body: &Moving<'a>, at: &Placement| Placed::new(body.solid, at, origin);
        Some(Self {
            bodies,
            begin: [place(a, a.at)?, place(b, b.at)?],
            end: [place(a, &a.placement(1.0))?, place(b, &b.placement(1.0))?],
            margin,
            tolerance: tolerance(bodies),
        })
    }

    fn axis(&self, normal: Vec3<f64>, origin: Origin) -> Axis {
        let normal_at_end = match origin {
            Origin::Face(k) => self.end[k].rot * self.begin[k].rot.transpose_mul(normal),
            _ => normal,
        };
        let begin = separation(&self.begin, normal) - self.margin;
        let end = separation(&self.end, normal_at_end) - self.margin;
        let (room, approach) = (begin + self.tolerance, begin - end);
        let time = match () {
            () if room < 0.0 || room.is_nan() => -1.0,
            () if approach <= APPROACH => f64::INFINITY,
            () => room / approach,
        };
        Axis { normal, origin, end, time }
    }

    /// Takes faces in place of `best` that separate for longer; `normal` is that of the nearest points where the bodies are at `at`.
    fn try_faces(&self, normal: Vec3<f64>, at: &[Placement; 2], best: &mut Axis) {
        let (toward, same) = (self.begin[1].centre - self.begin[0].centre, same(self.bodies));
        for (k, sign) in [(0, 1.0), (1, -1.0)] {
            let facing = at[k].rot.transpose_mul(normal * sign);
            self.bodies[k].each_face(toward * sign, facing, |outward| {
                let normal = outward * sign;
                if normal.dot(best.normal) < same {
                    let axis = self.axis(normal, Origin::Face(k));
                    if axis.lasts_longer_than(best) {
                        *best = axis;
                    }
                }
            });
        }
    }
}

/// The distance of two bodies along an axis.
fn separation([a, b]: &[Placed; 2], normal: Vec3<f64>) -> f64 {
    (b.support(-normal) - a.support(normal)).dot(normal) - a.radius - b.radius
}

/// Finds the axis that separates the bodies for longest; where it is not that of their contact points, replaces these.
#[inline(never)]
fn find_axis(bodies: &[Moving; 2], first: usize, is_far: bool, workspace: &mut Convex, sink: &mut Sink) {
    let [a, b] = bodies;
    if !is_far && !may_be_separated_otherwise(bodies, first, sink) {
        return;
    }
    let Some(pair) = Pair::new(bodies, sink.margin) else { return };
    let mut best = pair.axis(sink.normal(sink.out.get(first)), Origin::Found);
    for i in first + 1..sink.out.count() {
        let normal = sink.normal(sink.out.get(i));
        if normal.dot(best.normal) < same(bodies) {
            let axis = pair.axis(normal, Origin::Found);
            if axis.lasts_longer_than(&best) {
                best = axis;
            }
        }
    }
    if best.time < 0.0 {
        return;
    }
    pair.try_faces(best.normal, &[*a.at, *b.at], &mut best);
    if is_far {
        advance(&pair, &mut best, workspace, sink);
    }
    match best.origin {
        Origin::Found if best.time >= HORIZON => keep_along(bodies, best.normal, first, sink),
        Origin::Found => {}
        Origin::Way(t) => {
            sink.out.truncate(first);
            collide_at(bodies, t, workspace, sink);
            for i in first..sink.out.count() {
                let contact = *sink.out.get(i);
                let (position, change) = pull_back(bodies, t, contact.position, sink.normal(&contact));
                *sink.out.get_mut(i) = Contact { position, gap: contact.gap + change, ..contact };
            }
        }
        Origin::Face(k) => {
            sink.out.truncate(first);
            report_face(bodies, k, &best, workspace, sink);
        }
    }
}

/// Whether more than one axis separates the bodies at the beginning of the step. As a rule none does but the one of the contact points,
/// and it takes little to see it.
fn may_be_separated_otherwise(bodies: &[Moving; 2], first: usize, sink: &Sink) -> bool {
    let [a, b] = bodies;
    let (normal, same) = (sink.normal(sink.out.get(first)), same(bodies));
    if (first + 1..sink.out.count()).any(|i| sink.normal(sink.out.get(i)).dot(normal) < same) {
        return true;
    }
    let place = |k: usize| Placed::new(bodies[k].solid, bodies[k].at, a.at.pos);
    let (Some(pa), Some(pb)) = (place(0), place(1)) else { return false };
    let (placed, least) = ([pa, pb], sink.margin - tolerance(bodies));
    let toward = placed[1].centre - placed[0].centre;
    let mut found = false;
    for (body, sign) in [(a, 1.0), (b, -1.0)] {
        let facing = body.at.rot.transpose_mul(normal * sign);
        body.each_face(toward * sign, facing, |outward| {
            let face = outward * sign;
            found = found || face.dot(normal) < same && separation(&placed, face) >= least;
        });
    }
    found
}

/// By how much the bodies may overlap along an axis that counts as separating.
fn tolerance([a, b]: &[Moving; 2]) -> f64 {
    a.tolerance().min(b.tolerance()) + a.rest_depth + b.rest_depth
}

/// Drops the points that would be met, from index `first` on, but those along an axis that separates the bodies.
fn keep_along(bodies: &[Moving; 2], axis: Vec3<f64>, first: usize, sink: &mut Sink) {
    let mut kept = first;
    for i in first..sink.out.count() {
        let contact = *sink.out.get(i);
        let normal = sink.normal(&contact);
        let is_met = contact.gap < HORIZON * approach(bodies, contact.position, normal);
        if !is_met || normal.dot(axis) > ALIKE {
            *sink.out.get_mut(kept) = contact;
            kept += 1;
        }
    }
    sink.out.truncate(kept);
}

/// Looks for axes where the centres come nearest to each other, as of bodies that pass, and then where the best one so far is lost.
fn advance(pair: &Pair, best: &mut Axis, workspace: &mut Convex, sink: &mut Sink) {
    let [a, b] = pair.bodies;
    let (apart, way) = (b.motion.centre - a.motion.centre, b.motion.translation - a.motion.translation);
    let passing = -apart.dot(way) / way.norm_squared();
    if passing > 0.0 && passing < HORIZON {
        try_way(pair, passing, best, workspace, sink);
    }
    for _ in 0..MAX_ADVANCES {
        let t = best.time;
        if t >= HORIZON || !try_way(pair, t, best, workspace, sink) || best.time <= t + ARRIVED {
            return;
        }
    }
}

/// Tries the direction of the nearest points, and faces, where the bodies are after the part `t` of the step; whether there are any
/// points within reach.
fn try_way(pair: &Pair, t: f64, best: &mut Axis, workspace: &mut Convex, sink: &mut Sink) -> bool {
    let before = sink.out.count();
    let at = collide_at(pair.bodies, t, workspace, sink);
    let found = (before..sink.out.count()).map(|i| sink.out.get(i));
    let nearest = found.min_by(|x, y| x.gap.total_cmp(&y.gap)).map(|contact| sink.normal(contact));
    sink.out.truncate(before);
    let Some(normal) = nearest else { return false };
    let axis = pair.axis(normal, Origin::Way(t));
    if axis.lasts_longer_than(best) {
        *best = axis;
    }
    pair.try_faces(normal, &at, best);
    true
}

/// Adds the contact points of the bodies where they are after the part `t` of the step, and returns where that is.
#[inline(never)]
fn collide_at([a, b]: &[Moving; 2], t: f64, workspace: &mut Convex, sink: &mut Sink) -> [Placement; 2] {
    let at = [a.placement(t), b.placement(t)];
    collide(PlacedSolid { solid: a.solid, at: &at[0] }, PlacedSolid { solid: b.solid, at: &at[1] }, workspace, sink);
    at
}

/// Adds the contact points of the bodies along the normal of a face of body `k`, where they lie when its gap is lost, or at the end of
/// the step.
fn report_face(bodies: &[Moving; 2], k: usize, axis: &Axis, workspace: &mut Convex, sink: &mut Sink) {
    let [a, b] = bodies;
    let (t, origin) = (axis.time.min(1.0), a.at.pos);
    let at = [a.placement(t), b.placement(t)];
    let (Some(pa), Some(pb)) = (Placed::new(a.solid, &at[0], origin), Placed::new(b.solid, &at[1], origin)) else {
        return;
    };
    let normal = at[k].rot * bodies[k].at.rot.transpose_mul(axis.normal);
    let (on_a, on_b) =
        (pa.support(normal).add_scaled(pa.radius, normal), pb.support(-normal).add_scaled(-pb.radius, normal));
    let distance = (on_b - on_a).dot(normal);
    // The point of the body whose face it is not.
    let position =
        if k == 0 { on_b.add_scaled(-0.5 * distance, normal) } else { on_a.add_scaled(0.5 * distance, normal) };
    workspace.points.clear();
    workspace.faces(&pa, &pb, &Nearest { normal, position, distance }, f64::INFINITY);
    let is_round = matches!(if k == 0 { &pb.core } else { &pa.core }, Core::Cylinder { .. });
    let is_deeper = |p: &Point| p.distance > distance + APPROACH;
    if workspace.points.is_empty() || is_round && workspace.points.iter().all(is_deeper) {
        workspace.points.push(Point::new(position, normal, distance));
    }
    spread(&mut workspace.points, normal);
    let first = sink.out.count();
    for p in &workspace.points {
        let (position, change) = pull_back(bodies, t, p.position + origin, normal);
        sink.push_point(Point { position, normal, distance: p.distance + change, ..*p });
    }
    sink.add_middle(first, [a.solid, b.solid]);
}

/// Where at the beginning of the step a contact point is that is at `position` after the part `t` of it, and by how much its gap is larger
/// there, so that a constraint on velocities has that gap at `t`.
///
/// The material points of the two bodies that meet at `t` are apart at the beginning, not only along the normal. The place is midway
/// along the normal, beside the point of the body that moves more.
fn pull_back(bodies: &[Moving; 2], t: f64, position: Vec3<f64>, normal: Vec3<f64>) -> (Vec3<f64>, f64) {
    let [(p, dp), (q, dq)] = [&bodies[0], &bodies[1]].map(|body| {
        let p = body.motion.centre + body.turn(t).transpose_mul(position - body.centre(t));
        (p, body.motion.displacement(p) * t)
    });
    let (moves, other) = (dq.norm(), dp.norm());
    let share = if moves + other > 0.0 { moves / (moves + other) } else { 0.5 };
    let change = (dp - dq).dot(normal);
    let (p, q) = (p.add_scaled(0.5 * change, normal), q.add_scaled(-0.5 * change, normal));
    (p.add_scaled(share, q - p), change)
}
