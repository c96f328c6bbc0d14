//! Sums of joint coordinates, and couplings of two of them.

use std::ops::Range;

use multibody::{Compliance, Coordinate, Model};
use sap::Equality;

use super::{ConstraintSet, Context, Start};
use crate::constraint_jacobian::{ConstraintJacobian, Term};
use crate::warm_start::Key;

/// One joint's part in a sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointTerm {
    pub tree: usize,
    /// Node and degree of freedom within the tree.
    pub node: usize,
    pub dof: usize,
    /// Coordinate and degree of freedom of the model.
    pub q: usize,
    pub v: usize,
    pub coefficient: f64,
}

/// A weighted sum of joint coordinates, ascending in the degrees of freedom.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum(pub Vec<JointTerm>);

impl Sum {
    pub fn new(model: &Model, tree_of: &[usize], terms: &[(usize, f64)]) -> Self {
        let term = |&(joint, coefficient): &(usize, f64)| {
            let joint = &model.joints[joint];
            let node = joint.nodes.start;
            let tree = tree_of[node];
            let first = model.tree.trees[tree].start;
            let dof = joint.v - model.tree.nodes[first].v;
            JointTerm { tree, node: node - first, dof, q: joint.q, v: joint.v, coefficient }
        };
        let mut sum = Self(terms.iter().map(term).collect());
        sum.0.sort_by_key(|t| t.q);
        sum
    }

    fn of(model: &Model, tree_of: &[usize], coordinate: Coordinate) -> Self {
        match coordinate {
            Coordinate::Joint(joint) => Self::new(model, tree_of, &[(joint, 1.0)]),
            Coordinate::Tendon(tendon) => Self::new(model, tree_of, &model.tendons[tendon].terms),
        }
    }

    pub fn value(&self, q: &[f64]) -> f64 {
        self.0.iter().map(|t| t.coefficient * q[t.q]).sum()
    }

    pub fn rate(&self, v: &[f64]) -> f64 {
        self.0.iter().map(|t| t.coefficient * v[t.v]).sum()
    }

    /// Whether its trees sleep: they do together.
    pub fn is_asleep(&self, cx: &Context<'_>) -> bool {
        self.0.first().is_some_and(|t| cx.parts.trees[t.tree].asleep)
    }

    /// The rate in free motion.
    pub fn free_rate(&self, cx: &Context<'_>) -> f64 {
        self.0.iter().map(|t| t.coefficient * cx.parts.trees[t.tree].v_star[t.dof]).sum()
    }

    /// The rate of the velocities that led to where constraints are taken.
    pub fn rate_led(&self, cx: &Context<'_>) -> f64 {
        self.0.iter().map(|t| t.coefficient * cx.parts.trees[t.tree].v_hat[t.dof]).sum()
    }

    /// The value and the rate at the beginning of the step.
    pub fn start(&self, cx: &Context<'_>) -> Start<f64> {
        let rate = self.rate(cx.v);
        Start { rate, ..cx.rule.start(self.value(cx.q), || [rate, self.rate_led(cx)]) }
    }
}

/// Adds `Σ scale · sum` to the terms of `set`, one term for each degree of freedom; returns the link and an estimate of
/// its w.
pub(super) fn push_terms(
    sums: &[(&Sum, f64)],
    cx: &Context<'_>,
    set: &mut ConstraintSet,
) -> Option<(ConstraintJacobian, f64)> {
    let start = set.terms.len();
    let mut w = 0.0;
    let mut next = [0; 2];
    loop {
        // The least degree of freedom that is left in any of the sums.
        let heads = sums.iter().zip(next).filter_map(|((sum, _), i)| sum.0.get(i));
        let Some(head) = heads.min_by_key(|t| t.q).copied() else { break };
        let mut coefficient = 0.0;
        for ((sum, scale), i) in sums.iter().zip(&mut next) {
            while let Some(term) = sum.0.get(*i).filter(|t| t.q == head.q) {
                coefficient += scale * term.coefficient;
                *i += 1;
            }
        }
        if coefficient != 0.0 {
            set.terms.push(Term { tree: head.tree, node: head.node, dof: head.dof, coefficient });
            w += coefficient * coefficient * cx.parts.trees[head.tree].factor.inverse_diagonal(head.node);
        }
    }
    let terms = start..set.terms.len();
    (w > 0.0).then(|| (single(&terms, set).unwrap_or(ConstraintJacobian::Sum { terms }), w))
}

/// A sum of one term is a row on a joint, which the recursive factor can take.
fn single(terms: &Range<usize>, set: &mut ConstraintSet) -> Option<ConstraintJacobian> {
    if terms.len() != 1 {
        return None;
    }
    let Term { tree, node, dof, coefficient } = set.terms.pop()?;
    Some(ConstraintJacobian::Joint { tree, node, dof, width: 1, axis: [coefficient, 0.0, 0.0] })
}

/// `y − y₀ = p(x − x₀)`.
#[derive(Clone, Debug)]
pub(crate) struct Coupling {
    y: (Sum, f64),
    x: (Sum, f64),
    polynomial: [f64; 5],
}

impl Coupling {
    pub fn new(
        model: &Model,
        tree_of: &[usize],
        y: (Coordinate, f64),
        x: Option<(Coordinate, f64)>,
        polynomial: [f64; 5],
    ) -> Self {
        let of = |(coordinate, reference)| (Sum::of(model, tree_of, coordinate), reference);
        Self { y: of(y), x: x.map_or_else(Default::default, of), polynomial }
    }

    /// Adds the row `ẏ − p'(x − x₀) ẋ`.
    pub fn push(&self, index: usize, compliance: Compliance, cx: &Context<'_>, set: &mut ConstraintSet) {
        if self.y.0.is_asleep(cx) {
            return;
        }
        let of = |(sum, reference): &(Sum, f64)| sum.value(cx.q) - reference;
        let x = of(&self.x);
        let (mut p, mut slope) = (0.0, 0.0);
        for &c in self.polynomial.iter().rev() {
            slope = slope * x + p;
            p = p * x + c;
        }
        let violation = of(&self.y) - p;
        let Some((link, w)) = push_terms(&[(&self.y.0, 1.0), (&self.x.0, -slope)], cx, set) else { return };
        let rule = cx.rule.compliant(compliance, w);
        let of = |sum: &Sum| [sum.rate(cx.v), sum.rate_led(cx)];
        let rates = || {
            let ([y, y_led], [x, x_led]) = (of(&self.y.0), of(&self.x.0));
            [y - slope * x, y_led - slope * x_led]
        };
        let law = Equality::scalar(rule.r, rule.scalar_bias(cx.rule.start(violation, rates)));
        set.push(law, w, link, Key::equality(index, 0), cx);
        set.set_rigid(rule.is_rigid());
    }
}
