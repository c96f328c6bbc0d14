//! Impacts, resolved before the step begins.
//!
//! Where positions follow velocities of the beginning in part (the midpoint rule, explicit Euler), or constraints are
//! taken where free motion leads, a body that arrives would pass through: half a step's way at 5 m/s is 25 mm. So bodies
//! that hit something in the step are stopped first, by an impact: v₀⁺ = argmin ½‖v − v₀‖²_M + Σ ℓ_k(J_k v) over the
//! near-rigid constraints, which leaves gaps φ₀ at approach speeds φ₀/dt. Constraints that the step resolves, drives and
//! joint friction need time; they take no part.

use super::Simulation;
use crate::constraint_jacobian::{ConstraintEnd, Motion};
use crate::report::ContactOutcome;
use crate::{ContactPoint, SimulationError, Theta};
use lanes::ConstraintName;

impl Simulation {
    /// Resolves what would be hit in the step, from the constraints in reach at q₀; whether there was anything. The
    /// velocities that the step starts from change, and the trees are as in no step: their forces are to be gathered
    /// again.
    pub(super) fn resolve_impacts(&mut self, dt: f64) -> Result<bool, SimulationError> {
        self.impacts.clear();
        if !self.is_hit(dt) {
            return Ok(false);
        }
        for workspace in self.trees.iter_mut().filter(|workspace| !workspace.asleep) {
            workspace.stand_still(&self.v_start);
        }
        self.stop_soft()?;
        self.jacobian_drift.clear();
        let mut rule = self.rule(dt, 0.0);
        rule.theta = Theta { q: 0.0, v: 1.0, vq: 1.0 };
        (rule.constraint_theta, rule.of_step.recovery_speed) = (1.0, 0.0);
        self.solve(rule, true);
        self.collect_velocities(dt)?;
        self.v_start.copy_from_slice(&self.v_next);
        self.soft.start_from_end();
        self.remember_impacts();
        Ok(true)
    }

    /// Whether a contact point or joint limit in reach is approached so fast that the step would lead through it, and not
    /// by what forces do in the step.
    fn is_hit(&self, dt: f64) -> bool {
        let is_fast =
            |gap: f64, start: f64, free_rate: f64| start < -gap.max(0.0) / dt - (free_rate - start).abs() - NEGLIGIBLE;
        let motion = |body: usize, position| {
            let node = self.model.bodies[body].node?;
            let workspace = &self.trees[self.tree_of[node]];
            let node = node - workspace.nodes.start;
            let end = ConstraintEnd { tree: 0, node, arm: position - workspace.kin.frames[node].pos };
            let start = end.velocity(&workspace.kin.twists, Motion::Linear);
            Some((start, start + end.velocity(&workspace.factor.motions, Motion::Linear)))
        };
        let is_hit = |contact: &geometry::Contact| {
            let bodies = contact.geoms.map(|geom| self.scene.geoms[geom].body);
            let [a, b] = bodies.map(|body| motion(body, contact.position).unwrap_or_default());
            is_fast(contact.gap, contact.normal.dot(b.0 - a.0), contact.normal.dot(b.1 - a.1))
        };
        self.detected.iter().any(is_hit)
            || self.is_soft_hit(dt, is_fast)
            || self
                .sources
                .limit_rates(&self.trees, &self.state.q, &self.v_start)
                .any(|(gap, start, free_rate)| is_fast(gap, start, free_rate))
    }

    /// Keeps the impulses of the contact points for the report of the step.
    fn remember_impacts(&mut self) {
        let Self { impacts, islands, detected, scene, .. } = self;
        let report = |(contact, key, outcome): (u32, ConstraintName, &ContactOutcome)| {
            (key, ContactPoint::new(&detected[contact as usize], scene, outcome))
        };
        impacts.extend(islands.pushing().map(report));
    }

    /// Adds the impulses of impacts to the reported points, as points of their own where the step had none of them.
    pub(super) fn report_impacts(&mut self) {
        let Self { impacts, reports, islands, scene, .. } = self;
        if impacts.is_empty() {
            return;
        }
        let Some(points) = reports.points_mut(scene) else { return };
        for (key, impact) in impacts.iter() {
            match islands.find(*key) {
                Some(report) => add(&mut points[report], impact),
                None => points.push(*impact),
            }
        }
    }
}

/// Speeds of approach below this are none, m/s or rad/s.
const NEGLIGIBLE: f64 = 1e-9;

/// Adds an impact at the same point to a contact point.
fn add(point: &mut ContactPoint, impact: &ContactPoint) {
    let impulse = impact.impulse_world();
    let [t1, t2] = point.tangents;
    for (sum, axis) in point.impulse.iter_mut().zip([t1, t2, point.normal]) {
        *sum += axis.dot(impulse);
    }
}
