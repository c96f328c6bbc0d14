//! The default configuration of joints that follow others.

use std::collections::BTreeMap;

use multibody::{Coordinate, Equality, EqualityKind, Model};

/// `q[joint] = multiplier · q[leader] + offset`; without a leader the offset alone.
#[derive(Clone, Copy)]
struct Rule {
    leader: Option<usize>,
    multiplier: f64,
    offset: f64,
}

/// Moves the joints that follow others to where the default configuration of these puts them.
pub(crate) fn follow(model: &mut Model) {
    let rule = |equality: &Equality| match equality.kind {
        EqualityKind::Coupling { y: (Coordinate::Joint(joint), y0), x, polynomial: [constant, multiplier, ..] } => {
            let led = x.and_then(|(x, x0)| if let Coordinate::Joint(leader) = x { Some((leader, x0)) } else { None });
            let offset = y0 + constant - multiplier * led.map_or(0.0, |(_, x0)| x0);
            Some((joint, Rule { leader: led.map(|(leader, _)| leader), multiplier, offset }))
        }
        _ => None,
    };
    let rules: BTreeMap<usize, Rule> = model.equalities.iter().filter_map(rule).collect();
    for &joint in rules.keys() {
        if let Some(value) = value(joint, &rules, model) {
            model.q0[model.joints[joint].q] = value;
        }
    }
}

/// The coordinate that a chain of rules gives a joint; `None` when the chain is a ring or leaves the finite numbers.
fn value(joint: usize, rules: &BTreeMap<usize, Rule>, model: &Model) -> Option<f64> {
    let (mut at, mut multiplier, mut offset) = (joint, 1.0, 0.0);
    for _ in 0..=rules.len() {
        let Some(rule) = rules.get(&at) else {
            return Some(multiplier * model.q0[model.joints[at].q] + offset).filter(|q| q.is_finite());
        };
        offset += multiplier * rule.offset;
        multiplier *= rule.multiplier;
        let Some(leader) = rule.leader else { return Some(offset).filter(|q| q.is_finite()) };
        at = leader;
    }
    None
}
