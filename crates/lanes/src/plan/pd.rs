//! PD control of the degrees of freedom: numbers of a world, which may change from step to step.

use std::ops::Range;

use multibody::{Model, stable_pd_impedance};

use super::drives::FREE;
use super::{PdGains, PlanDrive};

/// PD control of a degree of freedom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PdNumbers<T> {
    /// Force per error and per velocity.
    pub kp: T,
    pub kd: T,
    pub target_velocity: T,
    /// See [`stable_pd_impedance`].
    pub impedance: T,
    /// The greatest impulse; infinite for none.
    pub most: T,
    /// Whether any force in its tree is limited, 1 or 0: then it is a drive, which may be a constraint.
    pub is_limited: T,
}

impl PdNumbers<f64> {
    pub const NONE: Self =
        Self { kp: 0.0, kd: 0.0, target_velocity: 0.0, impedance: 0.0, most: f64::INFINITY, is_limited: 0.0 };

    /// Those of all degrees of freedom, `dofs` by trees.
    pub fn all(pd: &PdGains<'_>, dofs: &[Range<usize>], dt: f64) -> Vec<Self> {
        let mut all = vec![Self::NONE; pd.kp.len()];
        Self::write(pd, dofs, dt, &mut all);
        all
    }

    /// Writes those of all degrees of freedom.
    pub fn write(pd: &PdGains<'_>, dofs: &[Range<usize>], dt: f64, all: &mut [Self]) {
        for dofs in dofs {
            let is_limited = pd.effort_limit[dofs.clone()].iter().any(|limit| *limit < f64::INFINITY);
            for v in dofs.clone() {
                let (kp, kd) = (pd.kp[v], pd.kd[v]);
                all[v] = Self {
                    kp,
                    kd,
                    target_velocity: pd.target_velocity[v],
                    impedance: stable_pd_impedance(kp, kd, dt),
                    most: dt * pd.effort_limit[v],
                    is_limited: f64::from(u8::from(is_limited)),
                };
            }
        }
    }

    /// The drives of the degrees of freedom that are controlled within limits; with `gains_change` of all that may be.
    pub fn drives<'a>(all: &'a [Self], model: &'a Model, gains_change: bool) -> impl Iterator<Item = PlanDrive> + 'a {
        let of_node = |node: &multibody::Node<f64>| {
            let q = node.q;
            (node.v..node.v + node.joint.nv()).map(move |v| (q, v))
        };
        let is_drive = move |v: usize| gains_change || all[v].is_limited * all[v].impedance > 0.0;
        let dofs = model.tree.nodes.iter().flat_map(of_node).filter(move |(_, v)| !all.is_empty() && is_drive(*v));
        dofs.map(|(q, v)| PlanDrive { q, v, actuators: Vec::new(), effort_limit: FREE })
    }
}
