//! How rows of J turn within a step.
//!
//! A scheme that takes J in the middle of a step would hold contacts and joints by J(q^θ) v = 0, where v is the velocity
//! at the end: an error of first order, as J changes in the second half, and constraints would do work. So J(q) v = 0 is held at
//! the end of the step, to first order J(q^θ) v + (1 − θ)/θ (J(q^θ) − J(q₀)) v₀.

use spatial::Vec3;

use super::equalities::Tie;
use super::{Context, Sources};
use crate::constraint_jacobian::Motion;

/// How many places further back in the list a contact point is looked for before a full search.
const MAX_PLACES_BACK: usize = 16;

/// A contact point at the beginning of the step.
#[derive(Clone, Copy, Debug)]
struct Before {
    geoms: [usize; 2],
    ordinal: usize,
    position: Vec3<f64>,
    /// J(q₀) v₀, in the world and along the normal.
    velocity: Vec3<f64>,
    normal_velocity: f64,
}

/// J(q₀) v₀ of what may turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct JacobianDrift {
    contacts: Vec<Before>,
    /// Linear and angular, of every equality; none of those that are linear in the coordinates.
    ties: Vec<[Vec3<f64>; 2]>,
    /// Of every tendon.
    tendons: Vec<f64>,
    /// (1 − θ)/θ; zero when nothing is known.
    weight: f64,
}

impl JacobianDrift {
    /// Whether velocities at the beginning are known.
    pub fn is_known(&self) -> bool {
        self.weight != 0.0
    }

    /// Knows nothing.
    pub fn clear(&mut self) {
        self.weight = 0.0;
    }

    /// Takes the velocities at the beginning, where the trees are.
    pub fn begin(&mut self, cx: &Context<'_>, sources: &Sources, detected: &[geometry::Contact], theta_q: f64) {
        self.contacts.clear();
        for contact in detected {
            let ordinal = self.contacts.last().filter(|b| b.geoms == contact.geoms).map_or(0, |b| b.ordinal + 1);
            let ends = contact.geoms.map(|geom| cx.end(cx.scene.geoms[geom].body, contact.position));
            let velocity = cx.velocities(&ends, Motion::Linear)[0];
            let normal_velocity = velocity.dot(contact.normal);
            self.contacts.push(Before {
                geoms: contact.geoms,
                ordinal,
                position: contact.position,
                velocity,
                normal_velocity,
            });
        }
        self.ties.clear();
        self.ties.extend(sources.ties.iter().map(|tie: &Tie| tie.velocities(cx)));
        self.tendons.clear();
        self.tendons.extend(sources.tendons.iter().map(|tendon| tendon.rate(cx.v)));
        self.weight = (1.0 - theta_q) / theta_q;
    }

    /// What a contact's velocity changes by because its rows turn: in the world, and along the normal. `velocity` is
    /// J(q^θ) v₀; `index` is the point's place among those detected, hardly another one than at the beginning.
    ///
    /// The point must be the same as at the beginning: one that is farther off than the bodies' surfaces move is another.
    pub fn of_contact(
        &self,
        contact: &geometry::Contact,
        ordinal: usize,
        velocity: Vec3<f64>,
        reach: f64,
        index: usize,
    ) -> (Vec3<f64>, f64) {
        let is_same = |b: &&Before| b.geoms == contact.geoms && b.ordinal == ordinal;
        let (earlier, later) = self.contacts.split_at(index.saturating_sub(MAX_PLACES_BACK).min(self.contacts.len()));
        let found = later.iter().find(is_same).or_else(|| earlier.iter().find(is_same));
        let Some(before) = found else { return (Vec3::ZERO, 0.0) };
        if (contact.position - before.position).norm() > reach {
            return (Vec3::ZERO, 0.0);
        }
        let along = velocity.dot(contact.normal) - before.normal_velocity;
        ((velocity - before.velocity) * self.weight, along * self.weight)
    }

    /// The same of an equality between bodies, linear and angular.
    pub fn of_tie(&self, k: usize, velocities: [Vec3<f64>; 2]) -> [Vec3<f64>; 2] {
        if self.weight == 0.0 {
            return [Vec3::ZERO; 2];
        }
        let [linear, angular] = self.ties[k];
        [(velocities[0] - linear) * self.weight, (velocities[1] - angular) * self.weight]
    }

    /// The same of a tendon's length, whose rate of the velocities at the beginning is now `rate`.
    pub fn of_tendon(&self, k: usize, rate: f64) -> f64 {
        if self.weight == 0.0 { 0.0 } else { (rate - self.tendons[k]) * self.weight }
    }
}
