//! Equality constraints between bodies: points that meet, frames that are one, distances that stay.

use lanes::constants::MEAN;
use lanes::{ConstraintName, RowWeight};
use multibody::{EqualityKind, Model};
use sap::Law;
use spatial::{Mat3, Pose, Vec3};

use super::sums::Coupling;
use super::{ConstraintSet, Context};
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Motion};

/// A frame of a body.
#[derive(Clone, Copy, Debug)]
struct Frame {
    body: usize,
    /// In the body's node, or in the world.
    pose: Pose<f64>,
}

impl Frame {
    fn new(model: &Model, body: usize, pose: Pose<f64>) -> Self {
        Self { body, pose: model.bodies[body].pose * pose }
    }

    fn in_world(&self, cx: &Context<'_>) -> Pose<f64> {
        cx.node_pose(self.body).map_or(self.pose, |node| node * self.pose)
    }
}

/// What an equality constraint of the model holds, ready for a step.
#[derive(Clone, Debug)]
enum Held {
    Point([Frame; 2]),
    /// With what the turn counts for against the distance where it yields, m.
    Frame([Frame; 2], f64),
    Distance([Frame; 2], f64),
    Coupling(Coupling),
}

/// An equality constraint of the model.
#[derive(Clone, Debug)]
pub(crate) struct Tie {
    /// Its place in [`Model::equalities`].
    index: usize,
    held: Held,
}

impl Tie {
    /// Those of the model, in force or not.
    pub fn of_model(model: &Model, tree_of: &[usize]) -> Vec<Self> {
        let frames = |bodies: &[usize; 2], poses: [Pose<f64>; 2]| {
            [Frame::new(model, bodies[0], poses[0]), Frame::new(model, bodies[1], poses[1])]
        };
        let at = |anchors: &[Vec3<f64>; 2]| anchors.map(|pos| Pose { pos, ..Pose::IDENTITY });
        let tie = |(index, equality): (usize, &multibody::Equality)| {
            let held = match &equality.kind {
                EqualityKind::Connect { bodies, anchors } => Held::Point(frames(bodies, at(anchors))),
                EqualityKind::Weld { bodies, frames: poses, torque_scale } => {
                    Held::Frame(frames(bodies, *poses), *torque_scale)
                }
                EqualityKind::Distance { bodies, anchors, distance } => {
                    Held::Distance(frames(bodies, at(anchors)), *distance)
                }
                EqualityKind::Coupling { y, x, polynomial } => {
                    Held::Coupling(Coupling::new(model, tree_of, *y, *x, *polynomial))
                }
            };
            Self { index, held }
        };
        model.equalities.iter().enumerate().map(tie).collect()
    }

    /// Takes the frames that are fixed in the world from where the model has their bodies now.
    pub fn take_fixed_frames(&mut self, model: &Model) {
        let poses = match &model.equalities[self.index].kind {
            EqualityKind::Connect { anchors, .. } | EqualityKind::Distance { anchors, .. } => {
                anchors.map(|pos| Pose { pos, ..Pose::IDENTITY })
            }
            EqualityKind::Weld { frames, .. } => *frames,
            EqualityKind::Coupling { .. } => return,
        };
        if let Held::Point(frames) | Held::Frame(frames, _) | Held::Distance(frames, _) = &mut self.held {
            for (frame, pose) in frames.iter_mut().zip(poses) {
                *frame = Frame::new(model, frame.body, pose);
            }
        }
    }

    /// The scalars of the configuration that it couples.
    pub fn sums_mut(&mut self) -> impl Iterator<Item = &mut super::sums::Sum> {
        match &mut self.held {
            Held::Coupling(coupling) => Some(coupling.sums_mut()),
            _ => None,
        }
        .into_iter()
        .flatten()
    }

    /// Where the two frames are, the ends, the axes of the rows, and the violation of a distance; none for what is linear
    /// in the coordinates.
    fn place(&self, cx: &Context<'_>) -> Option<Placed> {
        let (frames, distance) = match &self.held {
            Held::Coupling(_) => return None,
            Held::Point(frames) | Held::Frame(frames, _) => (frames, None),
            Held::Distance(frames, distance) => (frames, Some(distance)),
        };
        let [first, second] = [frames[0].in_world(cx), frames[1].in_world(cx)];
        let span = second.pos - first.pos;
        let basis = distance.map_or(Mat3::IDENTITY, |_| {
            // Where the points coincide any direction will do.
            let normal = span.normalized().unwrap_or(Vec3::new(0.0, 0.0, 1.0));
            let (t1, t2) = normal.tangents();
            Mat3::from_columns(t1, t2, normal)
        });
        let ends = [cx.end(frames[0].body, first.pos), cx.end(frames[1].body, second.pos)];
        // The rows are about one point of space: the second body's if it moves, else the first's.
        let shift = if ends[1].is_some() { span } else { Vec3::ZERO };
        let ends = [ends[0].map(|e| ConstraintEnd { arm: e.arm + shift, ..e }), ends[1]];
        Some(Placed { frames: [first, second], ends, basis, along: distance.map(|distance| span.norm() - distance) })
    }

    /// J v₀, linear along the rows' axes, and angular.
    pub fn velocities(&self, cx: &Context<'_>) -> [Vec3<f64>; 2] {
        self.place(cx).map_or([Vec3::ZERO; 2], |placed| placed.velocities(cx))
    }

    /// Adds the constraint's rows; `k` is its place among those in force.
    pub fn push(&self, k: usize, cx: &Context<'_>, set: &mut ConstraintSet) {
        if cx.state.equality_active[self.index] == 0.0 {
            return;
        }
        let compliance = cx.model.equalities[self.index].compliance;
        let Some(placed) = self.place(cx) else {
            if let Held::Coupling(coupling) = &self.held {
                coupling.push(self.index, compliance, cx, set);
            }
            return;
        };
        let Placed { frames: [first, second], ends, basis, along } = placed;
        // Trees that are tied sleep together.
        if ends.iter().flatten().any(|end| cx.cliques.trees[end.tree].asleep) {
            return;
        }
        let jacobian_drift = if cx.jacobian_drift.is_known() {
            cx.jacobian_drift.of_tie(k, placed.velocities(cx))
        } else {
            [Vec3::ZERO; 2]
        };
        let span = second.pos - first.pos;
        let turn = match self.held {
            Held::Frame(_, torque_scale) => {
                let turn = (first.rot.conjugate() * second.rot).unit();
                let size = torque_scale * turn.vector().norm();
                Some((first.rot.to_mat3() * compliance.violation_of_turn(turn), size))
            }
            _ => None,
        };
        let size = along.unwrap_or_else(|| span.norm()).hypot(turn.map_or(0.0, |(_, size)| size));
        let law_of = |part: usize, w: f64| {
            let weight = RowWeight { w, inverse: cx.inverse_weights.of_equality(cx.model, self.index, part) };
            cx.rule.compliant(compliance, weight, size)
        };
        // Rows along which nothing moves are none.
        let w = MEAN * ends.iter().flatten().map(|e| cx.mobility(e)).sum::<f64>();
        if w > 0.0 {
            let rule = law_of(0, w);
            let law = match along {
                Some(violation) => {
                    let rates = || cx.velocities(&ends, Motion::Linear).map(|v| v.dot(basis.z));
                    let v_hat = rule.scalar_bias(cx.rule.start(compliance, violation, rates));
                    Law::along_third(rule.of.r, v_hat - jacobian_drift[0].z * rule.turned())
                }
                None => {
                    let start = cx.rule.start(compliance, span, || cx.velocities(&ends, Motion::Linear));
                    Law::equalities(rule.of.r, (rule.bias(start) - jacobian_drift[0] * rule.turned()).to_array())
                }
            };
            let jacobian = ConstraintJacobian::Ends { ends, basis, motion: Motion::Linear };
            set.push(law, w, jacobian, ConstraintName::equality(self.index, 0), cx);
            set.set_rigid(rule.is_rigid());
        }
        let w = MEAN * ends.iter().flatten().map(|e| cx.angular_mobility(e)).sum::<f64>();
        if let Some((turn, _)) = turn.filter(|_| w > 0.0) {
            let rule = law_of(1, w);
            let start = cx.rule.start(compliance, turn, || cx.velocities(&ends, Motion::Angular));
            let law = Law::equalities(rule.of.r, (rule.bias(start) - jacobian_drift[1] * rule.turned()).to_array());
            let jacobian = ConstraintJacobian::Ends { ends, basis, motion: Motion::Angular };
            set.push(law, w, jacobian, ConstraintName::equality(self.index, 1), cx);
            set.set_rigid(rule.is_rigid());
        }
    }
}

/// An equality between bodies where these are.
#[derive(Clone, Copy, Debug)]
struct Placed {
    frames: [Pose<f64>; 2],
    ends: [Option<ConstraintEnd>; 2],
    basis: Mat3<f64>,
    along: Option<f64>,
}

impl Placed {
    /// J v₀, linear along the rows' axes, and angular.
    fn velocities(&self, cx: &Context<'_>) -> [Vec3<f64>; 2] {
        let of = |motion| cx.velocities(&self.ends, motion)[0];
        [self.basis.transpose_mul(of(Motion::Linear)), of(Motion::Angular)]
    }
}
