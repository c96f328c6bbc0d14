//! Scalars of the configuration (sums of joint coordinates, lengths of strings), and couplings of two of them.

use std::ops::Range;

use lanes::{ConstraintName, RowWeight};
use multibody::{Compliance, Coordinate, Kinematics, Model, Route, TendonRow};
use sap::Law;

use super::{ConstraintSet, Context, Start};
use crate::constraint_jacobian::{ConstraintJacobian, Term};

/// One joint's part in a sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointTerm {
    pub tree: usize,
    /// Node and degree of freedom within the tree.
    pub node: usize,
    pub dof: usize,
    /// Coordinate (of what is linear in the coordinates) and degree of freedom of the model.
    pub q: usize,
    pub v: usize,
    pub coefficient: f64,
}

impl JointTerm {
    fn new(model: &Model, tree_of: &[usize], (node, v): (usize, usize), coefficient: f64) -> Self {
        let tree = tree_of[node];
        let first = model.tree.trees[tree].start;
        Self { tree, node: node - first, dof: v - model.tree.nodes[first].v, q: 0, v, coefficient }
    }
}

/// A scalar of the configuration: its row of the Jacobian, ascending in the degrees of freedom.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub terms: Vec<JointTerm>,
    /// Of what has other terms at each configuration, those where it was placed: what it is, and its length there.
    spatial: Option<(Spatial, f64)>,
}

/// What has a row that depends on the configuration.
#[derive(Clone, Debug)]
enum Spatial {
    /// A spatial tendon.
    Tendon(usize, Route),
    /// The sites that an actuator acts on.
    SitesOfActuator(usize),
}

impl Sum {
    /// A weighted sum of joint coordinates.
    fn linear(model: &Model, tree_of: &[usize], terms: &[(usize, f64)]) -> Self {
        let term = |&(joint, coefficient): &(usize, f64)| {
            let joint = &model.joints[joint];
            let term = JointTerm::new(model, tree_of, (joint.nodes.start, joint.v), coefficient);
            JointTerm { q: joint.q, ..term }
        };
        let mut terms: Vec<JointTerm> = terms.iter().map(term).collect();
        terms.sort_by_key(|t| t.v);
        Self { terms, spatial: None }
    }

    /// The coordinate of a joint with one degree of freedom.
    pub fn of_joint(model: &Model, tree_of: &[usize], joint: usize) -> Self {
        Self::linear(model, tree_of, &[(joint, 1.0)])
    }

    pub fn of_tendon(model: &Model, tree_of: &[usize], tendon: usize) -> Self {
        match &model.tendons[tendon] {
            spatial if spatial.is_spatial() => {
                let mut route = Route::default();
                route.set(model, spatial);
                Self { terms: Vec::new(), spatial: Some((Spatial::Tendon(tendon, route), 0.0)) }
            }
            fixed => Self::linear(model, tree_of, fixed.terms()),
        }
    }

    /// The motion of a site along the axes on which an actuator acts.
    pub fn of_site(actuator: usize) -> Self {
        Self { terms: Vec::new(), spatial: Some((Spatial::SitesOfActuator(actuator), 0.0)) }
    }

    fn of(model: &Model, tree_of: &[usize], coordinate: Coordinate) -> Self {
        match coordinate {
            Coordinate::Joint(joint) => Self::of_joint(model, tree_of, joint),
            Coordinate::Tendon(tendon) => Self::of_tendon(model, tree_of, tendon),
        }
    }

    /// Whether its row depends on the configuration, as of the length of a string.
    pub fn is_spatial(&self) -> bool {
        self.spatial.is_some()
    }

    /// Takes the way of a string again: bodies without joints have moved.
    pub fn route_again(&mut self, model: &Model) {
        if let Some((Spatial::Tendon(tendon, route), _)) = &mut self.spatial {
            route.set(model, &model.tendons[*tendon]);
        }
    }

    /// Takes length and row where the trees are, of what depends on that.
    pub fn place(&mut self, model: &Model, tree_of: &[usize], kinematics: &Kinematics<f64>, row: &mut TendonRow) {
        let Some((spatial, length)) = &mut self.spatial else { return };
        match spatial {
            Spatial::Tendon(_, route) => route.write_row(&model.tree, kinematics, row),
            Spatial::SitesOfActuator(actuator) => {
                model.actuators[*actuator].transmission.write_row(model, kinematics, row)
            }
        }
        *length = row.length;
        let are_those = |of: &[JointTerm]| {
            of.len() == row.terms.len() && of.iter().zip(&row.terms).all(|(own, term)| own.v == term.dof)
        };
        if are_those(&self.terms) {
            self.terms.iter_mut().zip(&row.terms).for_each(|(own, term)| own.coefficient = term.coefficient);
            return;
        }
        self.terms.clear();
        let term =
            |term: &multibody::TendonTerm| JointTerm::new(model, tree_of, (term.node, term.dof), term.coefficient);
        self.terms.extend(row.terms.iter().map(term));
    }

    /// Its value at `q`; that of a spatial tendon where it was placed.
    pub fn value(&self, q: &[f64]) -> f64 {
        match self.spatial {
            Some((_, length)) => length,
            None => self.terms.iter().map(|t| t.coefficient * q[t.q]).sum(),
        }
    }

    pub fn rate(&self, v: &[f64]) -> f64 {
        self.terms.iter().map(|t| t.coefficient * v[t.v]).sum()
    }

    /// Whether its trees sleep: they do together.
    pub fn is_asleep(&self, cx: &Context<'_>) -> bool {
        self.terms.first().is_some_and(|t| cx.cliques.trees[t.tree].asleep)
    }

    /// The rate in free motion.
    pub fn free_rate(&self, cx: &Context<'_>) -> f64 {
        self.terms.iter().map(|t| t.coefficient * cx.cliques.trees[t.tree].v_star[t.dof]).sum()
    }

    /// The rate of the velocities that led to where constraints are taken.
    pub fn rate_led(&self, cx: &Context<'_>) -> f64 {
        self.terms.iter().map(|t| t.coefficient * cx.cliques.trees[t.tree].v_linearised[t.dof]).sum()
    }

    /// The value and the rate at the beginning of the step.
    pub fn start(&self, cx: &Context<'_>) -> Start<f64> {
        let rate = self.rate(cx.v);
        Start { rate, ..cx.rule.start(Compliance::NearRigid, self.value(cx.q), || [rate, self.rate_led(cx)]) }
    }
}

/// Adds `Σ scale · sum` to the terms of `set`, one term for each degree of freedom; returns the Jacobian and an estimate of
/// its w.
pub(super) fn push_terms(
    sums: &[(&Sum, f64)],
    cx: &Context<'_>,
    set: &mut ConstraintSet,
) -> Option<(ConstraintJacobian, f64)> {
    let start = set.terms.len();
    for (sum, scale) in sums {
        let scaled =
            |t: &JointTerm| Term { tree: t.tree, node: t.node, dof: t.dof, coefficient: scale * t.coefficient };
        set.terms.extend(sum.terms.iter().map(scaled));
    }
    let terms = &mut set.terms[start..];
    if sums.len() > 1 {
        terms.sort_unstable_by_key(|t| (t.tree, t.dof));
    }
    let (mut w, mut kept, mut next) = (0.0, 0, 0);
    while let Some(&(mut term)) = terms.get(next) {
        next += 1;
        while let Some(same) = terms.get(next).filter(|t| (t.tree, t.dof) == (term.tree, term.dof)) {
            term.coefficient += same.coefficient;
            next += 1;
        }
        if term.coefficient != 0.0 {
            terms[kept] = term;
            kept += 1;
            let workspace = &cx.cliques.trees[term.tree];
            let within = term.dof - workspace.tree.nodes[term.node].v;
            w += term.coefficient * term.coefficient * workspace.factor.inverse_diagonal_of(term.node, within);
        }
    }
    set.terms.truncate(start + kept);
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

    /// The scalars that it couples.
    pub fn sums_mut(&mut self) -> impl Iterator<Item = &mut Sum> {
        [&mut self.y.0, &mut self.x.0].into_iter()
    }

    /// Calls `f` for the tree of each of its terms.
    pub fn each_tree(&self, f: impl FnMut(usize)) {
        self.y.0.terms.iter().chain(&self.x.0.terms).map(|term| term.tree).for_each(f);
    }

    /// Whether its row depends on the configuration beside the polynomial's slope.
    pub fn is_spatial(&self) -> bool {
        self.y.0.is_spatial() || self.x.0.is_spatial()
    }

    /// Adds the row `ẏ − p'(x − x₀) ẋ`.
    pub fn push(&self, index: usize, compliance: Compliance, cx: &Context<'_>, set: &mut ConstraintSet) {
        if self.y.0.is_asleep(cx) {
            return;
        }
        let of = |(sum, reference): &(Sum, f64)| sum.value(cx.q) - reference;
        let x = of(&self.x);
        let (p, slope) = multibody::polynomial(&self.polynomial, x);
        let violation = of(&self.y) - p;
        let Some((jacobian, w)) = push_terms(&[(&self.y.0, 1.0), (&self.x.0, -slope)], cx, set) else { return };
        let weight = RowWeight { w, inverse: cx.inverse_weights.of_equality(cx.model, index, 0) };
        let rule = cx.rule.compliant(compliance, weight, violation.abs());
        let of = |sum: &Sum| [sum.rate(cx.v), sum.rate_led(cx)];
        let rates = || {
            let ([y, y_led], [x, x_led]) = (of(&self.y.0), of(&self.x.0));
            [y - slope * x, y_led - slope * x_led]
        };
        let law = Law::equality(rule.of.r, rule.scalar_bias(cx.rule.start(compliance, violation, rates)));
        set.push(law, w, jacobian, ConstraintName::equality(index, 0), cx);
        set.set_rigid(rule.is_rigid());
    }
}
