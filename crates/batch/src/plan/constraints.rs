//! What may constrain a step: what the rows act on, and by which law.

use std::ops::Range;

use super::{Contacts, Limit};

/// A constraint.
#[derive(Clone, Debug)]
pub(crate) struct PlanConstraint {
    pub rows: Rows,
    pub source: Source,
}

/// What the rows of a constraint act on.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    /// Three rows: the velocity of a point of the second node relative to the first; none for what is fixed in the world.
    Point([Option<usize>; 2]),
    /// Three rows: the angular velocity of the second node relative to the first.
    Turn([Option<usize>; 2]),
    /// One row: a sum of joint velocities, of these terms.
    Sum(Range<usize>),
}

/// What makes a constraint.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Contact { friction: f64 },
    Limit,
}

/// A joint's part in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub dof: usize,
    pub coefficient: f64,
}

impl Rows {
    /// Whether there are three of them.
    pub fn are_three(&self) -> bool {
        !matches!(self, Self::Sum(_))
    }
}

/// The constraints of a model, and the terms of rows of joints.
pub(super) fn of(contacts: &Contacts, limits: &[Limit]) -> (Vec<PlanConstraint>, Vec<Term>) {
    let of_contact = |ends: &super::contacts::Ends| PlanConstraint {
        rows: Rows::Point(ends.nodes),
        source: Source::Contact { friction: ends.friction },
    };
    let mut constraints: Vec<_> = contacts.ends.iter().map(of_contact).collect();
    let mut terms = Vec::new();
    for limit in limits {
        for coefficient in [1.0, -1.0] {
            let rows = Rows::Sum(terms.len()..terms.len() + 1);
            terms.push(Term { dof: limit.v, coefficient });
            constraints.push(PlanConstraint { rows, source: Source::Limit });
        }
    }
    (constraints, terms)
}
