//! Equality constraints between bodies: points that meet, frames that are one, distances that stay.

use lanes::constants::MEAN;
use lanes::{ConstraintName, RowWeight};
use multibody::{Compliance, Equality, EqualityKind, Model, bias_of_distance};
use sap::Law;
use spatial::{Mat3, Pose, Twist, Vec3};

use super::sums::Coupling;
use super::{ConstraintSet, Context};
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Motion};

/// An equality constraint of the model.
#[derive(Clone, Debug)]
pub(crate) struct Tie {
    /// Its place in [`Model::equalities`].
    index: usize,
    /// What is linear in the coordinates.
    coupling: Option<Coupling>,
}

impl Tie {
    /// Those of the model, in force or not.
    pub fn of_model(model: &Model, tree_of: &[usize]) -> Vec<Self> {
        let coupling = |kind: &EqualityKind| match kind {
            EqualityKind::Coupling { y, x, polynomial } => Some(Coupling::new(model, tree_of, *y, *x, *polynomial)),
            EqualityKind::Connect { .. } | EqualityKind::Weld { .. } | EqualityKind::Distance { .. } => None,
        };
        let all = model.equalities.iter().enumerate();
        all.map(|(index, equality)| Self { index, coupling: coupling(&equality.kind) }).collect()
    }

    /// Its place among the equality constraints of the model.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Calls `f` for the trees that it ties, some of them more than once.
    pub fn each_tree(&self, model: &Model, tree_of: &[usize], mut f: impl FnMut(usize)) {
        let bodies = model.equalities[self.index].kind.bodies().into_iter().flatten();
        bodies.filter_map(|body| model.bodies[body].node).for_each(|node| f(tree_of[node]));
        self.coupling.iter().for_each(|coupling| coupling.each_tree(&mut f));
    }

    /// The scalars of the configuration that it couples.
    pub fn sums_mut(&mut self) -> impl Iterator<Item = &mut super::sums::Sum> {
        self.coupling.iter_mut().flat_map(Coupling::sums_mut)
    }

    /// Whether it couples lengths of strings.
    pub fn is_spatial(&self) -> bool {
        self.coupling.as_ref().is_some_and(Coupling::is_spatial)
    }

    /// Where the two frames are, the ends, the axes of the rows, and the violation of a distance; none for what is linear
    /// in the coordinates.
    fn place(&self, cx: &Context<'_>) -> Option<Placed> {
        let at = |pos| Pose { pos, ..Pose::IDENTITY };
        let (bodies, frames, distance) = match &cx.model.equalities[self.index].kind {
            EqualityKind::Coupling { .. } => return None,
            EqualityKind::Connect { bodies, anchors } => (bodies, anchors.map(at), None),
            EqualityKind::Weld { bodies, frames, .. } => (bodies, *frames, None),
            EqualityKind::Distance { bodies, anchors, distance } => (bodies, anchors.map(at), Some(distance)),
        };
        let in_world = |k: usize| {
            let in_node = cx.model.bodies[bodies[k]].pose * frames[k];
            cx.node_pose(bodies[k]).map_or(in_node, |node| node * in_node)
        };
        let [first, second] = [in_world(0), in_world(1)];
        let span = second.pos - first.pos;
        let basis = distance.map_or(Mat3::IDENTITY, |_| {
            // Where the points coincide any direction will do.
            let normal = span.normalized().unwrap_or(Vec3::new(0.0, 0.0, 1.0));
            let (t1, t2) = normal.tangents();
            Mat3::from_columns(t1, t2, normal)
        });
        let ends = [cx.end(bodies[0], first.pos), cx.end(bodies[1], second.pos)];
        // The rows are about one point of space: the second body's if it moves, else the first's.
        let shift = if ends[1].is_some() { span } else { Vec3::ZERO };
        let ends = [ends[0].map(|e| ConstraintEnd { arm: e.arm + shift, ..e }), ends[1]];
        let carried = cx.carried_ends(*bodies, first.pos + shift);
        let along = distance.map(|distance| span.norm() - distance);
        Some(Placed { frames: [first, second], ends, basis, along, carried })
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
        let Equality { kind, compliance, .. } = &cx.model.equalities[self.index];
        let compliance = *compliance;
        let Some(placed) = self.place(cx) else {
            self.coupling.iter().for_each(|coupling| coupling.push(self.index, compliance, cx, set));
            return;
        };
        let Placed { frames: [first, second], ends, basis, along, carried } = placed;
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
        let turn = match kind {
            EqualityKind::Weld { torque_scale, .. } => {
                let turn = (first.rot.conjugate() * second.rot).unit();
                let size = torque_scale * turn.vector().norm();
                Some((first.rot.to_mat3() * compliance.violation_of_turn(turn), size))
            }
            _ => None,
        };
        let size = along.unwrap_or_else(|| span.norm()).hypot(turn.map_or(0.0, |(_, size)| size));
        let is_reference = matches!(compliance, Compliance::Reference(_));
        let acceleration = if is_reference { placed.bias_acceleration(cx) } else { [Vec3::ZERO; 2] };
        let up = Vec3::new(0.0, 0.0, 1.0);
        let mut add = |part: usize, motion: Motion, violation: Vec3<f64>| {
            let w = MEAN * cx.mobility_between(&ends, motion);
            if w <= 0.0 {
                // Rows along which nothing moves are none.
                return;
            }
            let weight = RowWeight { w, inverse: cx.inverse_weights.of_equality(cx.model, self.index, part) };
            let rule = cx.rule.compliant(compliance, weight, size);
            let drift = jacobian_drift[part] * rule.turned();
            // Frames are where the step takes what carries them: as the step begins it has that way before it.
            let carried = carried.map(|Twist { ang, lin }| if part == 0 { basis.transpose_mul(lin) } else { ang });
            let way = carried.map(|v| along.map_or(v, |_| up * v.z) * cx.rule.of_step.dt);
            let violation = way.map_or(violation, |way| violation - way);
            let velocities = || {
                let along_rows = cx.velocities(&ends, motion).map(|v| along.map_or(v, |_| up * v.dot(basis.z)));
                carried.map_or(along_rows, |carried| along_rows.map(|v| v + carried))
            };
            let start = cx.rule.start(compliance, violation, velocities);
            let mut v_hat = rule.of.bias3(start.violation, start.rate, cx.rule.turning(acceleration[part])) - drift;
            if let Some(carried) = carried {
                v_hat -= carried;
            }
            let law = match along {
                Some(_) => Law::along_third(rule.of.r, v_hat.z),
                None => Law::equalities(rule.of.r, v_hat.to_array()),
            };
            let jacobian = ConstraintJacobian::Ends { ends, basis, motion };
            set.push(law, w, jacobian, ConstraintName::equality(self.index, part), cx);
            set.set_rigid(rule.is_rigid());
        };
        add(0, Motion::Linear, along.map_or(span, |violation| up * violation));
        if let Some((turn, _)) = turn {
            add(1, Motion::Angular, turn);
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
    /// The velocity that the second end has from what its tree hangs on, less the first end's, world; none where neither moves.
    carried: Option<Twist<f64>>,
}

impl Placed {
    /// J v₀, linear along the rows' axes, and angular.
    fn velocities(&self, cx: &Context<'_>) -> [Vec3<f64>; 2] {
        let of = |motion| cx.velocities(&self.ends, motion)[0];
        [self.basis.transpose_mul(of(Motion::Linear)), of(Motion::Angular)]
    }

    /// J̇ v₀, linear along the rows' axes, and angular.
    fn bias_acceleration(&self, cx: &Context<'_>) -> [Vec3<f64>; 2] {
        let Twist { ang, lin } = cx.bias_acceleration(&self.ends);
        if self.along.is_none() {
            return [lin, ang];
        }
        let (velocity, length) = (cx.velocities(&self.ends, Motion::Linear)[0], self.length());
        [Vec3::new(0.0, 0.0, bias_of_distance(lin, velocity, self.basis.z, length)), Vec3::ZERO]
    }

    fn length(&self) -> f64 {
        (self.frames[1].pos - self.frames[0].pos).norm()
    }
}
