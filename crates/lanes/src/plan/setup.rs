//! Settings of a plan.

use geometry::Attachment;
use sap::FrictionLaw;

/// Gains of a PD controller over all degrees of freedom, (nv) each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdGains<'a> {
    /// Stiffness, N/m or N·m/rad.
    pub kp: &'a [f64],
    /// Damping, N·s/m or N·m·s/rad.
    pub kd: &'a [f64],
    /// Target velocities, m/s or rad/s.
    pub target_velocity: &'a [f64],
    /// Greatest force, N or N·m; infinity for none.
    pub effort_limit: &'a [f64],
}

impl<'a> PdGains<'a> {
    /// How many a degree of freedom has.
    pub const COUNT: usize = 4;

    /// All of them, one after the other.
    pub fn rows(&self) -> [&'a [f64]; PdGains::COUNT] {
        [self.kp, self.kd, self.target_velocity, self.effort_limit]
    }

    /// Those that [`rows`](Self::rows) one after the other are, (4, nv); none of nothing.
    pub fn of_rows(rows: &'a [f64]) -> Option<Self> {
        let nv = rows.len() / Self::COUNT;
        let row = |k: usize| &rows[k * nv..(k + 1) * nv];
        (nv > 0).then(|| Self { kp: row(0), kd: row(1), target_velocity: row(2), effort_limit: row(3) })
    }
}

/// What a plan is made from beside the model and the scene.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The time step, s.
    pub dt: f64,
    /// Whether Coriolis forces are taken between both ends of the step, and energy and momentum balanced at its end.
    pub is_balanced: bool,
    /// The law of friction.
    pub friction: FrictionLaw,
    /// Relative tolerance of the contact solver.
    pub tolerance: f64,
    /// Regularisation of near-rigid constraints: their period over the time step is at least π/β.
    pub beta: f64,
    /// Regularisation of friction, relative to the effective mass.
    pub sigma: f64,
    /// How friction of contacts with a reference yields, see [`Rule::impratio`](crate::Rule::impratio).
    pub impratio: Option<f64>,
    /// The greatest speed of recovery from penetration, m/s.
    pub recovery_speed: f64,
    /// What every geom is fixed in.
    pub attachments: &'a [Attachment],
    /// How deep compliant geoms are pressed in at rest, m.
    pub rest_depths: &'a [f64],
    /// How far the farthest geom of each node reaches from its origin, m.
    pub extents: &'a [f64],
    /// PD control.
    pub pd: Option<PdGains<'a>>,
    /// Whether its gains may change from step to step, see [`ChangingGains`](super::ChangingGains).
    pub gains_change: bool,
}

impl Default for Setup<'_> {
    /// The default step of 2 ms, of a scene without geoms.
    fn default() -> Self {
        Self {
            dt: 2e-3,
            is_balanced: true,
            friction: FrictionLaw::Coulomb,
            tolerance: 1e-6,
            beta: 0.1,
            sigma: 1e-5,
            impratio: None,
            recovery_speed: 1.0,
            attachments: &[],
            rest_depths: &[],
            extents: &[],
            pd: None,
            gains_change: false,
        }
    }
}
