//! Stable PD control within the step.

use std::ops::Range;

use lanes::{ConstraintName, PdGains};
use multibody::{StepForce, Tree, stable_pd_impedance};

use crate::actuation::Drive;
use crate::scheme::Discretization;
use crate::stable_pd::{self, Command};

/// Gains and targets of a PD controller over all degrees of freedom, kept from step to step until changed. Degrees of
/// freedom with zero gains have no controller. Part of the state; empty vectors: no controller.
///
/// Where K_d ≥ 1.5 dt K_p the step is that of Tan, Liu and Turk: K_d implicit, the position error taken where the present
/// velocity leads. With less damping their step is unstable where bodies are light: of one joint of inertia I where
/// K_d < 1.5 dt K_p − 2 I/dt. As much of K_p is implicit then as makes it stable whatever the inertia, so that any gains are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pd {
    /// Stiffness, (nv), ≥ 0: N/m or N·m/rad.
    pub kp: Vec<f64>,
    /// Damping, (nv), ≥ 0: N·s/m or N·m·s/rad.
    pub kd: Vec<f64>,
    /// Target positions, (nq).
    pub target: Vec<f64>,
    /// Target velocities, (nv).
    pub target_velocity: Vec<f64>,
    /// Greatest force, (nv), ≥ 0; infinity for none.
    pub effort_limit: Vec<f64>,
}

impl Pd {
    /// Whether there is a controller.
    pub fn is_active(&self) -> bool {
        !self.kp.is_empty()
    }

    /// Whether it fits a tree; one that is empty fits any.
    ///
    /// # Errors
    /// When a vector has the wrong length or a value outside its domain.
    pub fn check(&self, tree: &Tree<f64>) -> Result<(), stable_pd::Error> {
        if self.numbers().next().is_none() {
            return Ok(());
        }
        self.command(0..usize::MAX, 0..usize::MAX).check(tree)
    }

    /// Becomes `other`, with the memory that there is.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.set_gains(&other.gains());
        self.target.clone_from(&other.target);
    }

    /// Whether both have the same gains, target velocities and limits.
    pub(crate) fn has_gains_of(&self, other: &Self) -> bool {
        self.gains() == other.gains()
    }

    /// All but the targets.
    pub fn gains(&self) -> PdGains<'_> {
        let Self { kp, kd, target_velocity, effort_limit, .. } = self;
        PdGains { kp, kd, target_velocity, effort_limit }
    }

    /// Becomes a controller with gains `gains`, with the memory that there is; its targets stay.
    pub fn set_gains(&mut self, gains: &PdGains<'_>) {
        for (to, from) in self.vectors_mut().into_iter().zip(gains.rows()) {
            to.clear();
            to.extend_from_slice(from);
        }
    }

    /// The gains, in the order of [`PdGains::rows`], then the targets.
    pub(crate) fn vectors_mut(&mut self) -> [&mut Vec<f64>; PdGains::COUNT + 1] {
        [&mut self.kp, &mut self.kd, &mut self.target_velocity, &mut self.effort_limit, &mut self.target]
    }

    /// The lengths of these where there is a controller.
    pub(crate) fn lengths(nq: usize, nv: usize) -> [usize; PdGains::COUNT + 1] {
        std::array::from_fn(|k| if k < PdGains::COUNT { nv } else { nq })
    }

    /// The numbers of these.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = &f64> {
        self.gains().rows().into_iter().flatten().chain(&self.target)
    }

    /// The command to the coordinates and degrees of freedom of one tree, cut to what there is.
    fn command(&self, qs: Range<usize>, dofs: Range<usize>) -> Command<'_> {
        fn part(x: &[f64], range: &Range<usize>) -> Range<usize> {
            range.start.min(x.len())..range.end.min(x.len())
        }
        Command {
            kp: &self.kp[part(&self.kp, &dofs)],
            kd: &self.kd[part(&self.kd, &dofs)],
            target: &self.target[part(&self.target, &qs)],
            target_velocity: Some(&self.target_velocity[part(&self.target_velocity, &dofs)]),
            effort_limit: Some(&self.effort_limit[part(&self.effort_limit, &dofs)]),
        }
    }
}

/// The controller of one tree in a step: τ = Q − Z Δv, see [`stable_pd_impedance`].
#[derive(Clone, Debug)]
pub(crate) struct PdDrive {
    /// dt Q, Q = −K_p (q ⊞ dt v ⊟ q̄) − K_d (v − v̄), and dt Z; zero where there are no gains.
    pub impulse: Vec<f64>,
    pub impedance: Vec<f64>,
}

impl PdDrive {
    pub fn new(tree: &Tree<f64>) -> Self {
        Self { impulse: vec![0.0; tree.nv], impedance: vec![0.0; tree.nv] }
    }

    /// Sets the controller's impulses and impedances in a step; `q` and `v` are the tree's. Returns whether there are effort limits.
    pub fn evaluate(
        &mut self,
        pd: &Pd,
        tree: &Tree<f64>,
        qs: Range<usize>,
        dofs: Range<usize>,
        q: &[f64],
        v: &[f64],
        step: &Discretization,
    ) -> bool {
        let command = pd.command(qs, dofs.clone());
        let Discretization { dt, stable_pd, .. } = *step;
        let lead = if stable_pd { dt } else { dt * step.compliant.q };
        let n = tree.nv;
        let (impulse, impedance) = (&mut self.impulse[..n], &mut self.impedance[..n]);
        stable_pd::pd_force(tree, q, v, &command, lead, impulse);
        let (kp, kd) = (&command.kp[..n], &command.kd[..n]);
        for i in 0..n {
            // Where nothing is controlled, targets may be anything.
            let acts = kp[i] != 0.0 || kd[i] != 0.0;
            impulse[i] = if acts { dt * impulse[i] } else { 0.0 };
            impedance[i] = if stable_pd {
                stable_pd_impedance(kp[i], kd[i], dt)
            } else {
                step.resist_as_scheme(kp[i], kd[i]).impedance
            };
        }
        pd.effort_limit[dofs].iter().fold(false, |found, limit| found | (*limit < f64::INFINITY))
    }

    /// The same as drives, one for every degree of freedom that is controlled, of which those are `dofs` of the model.
    pub fn drives(&self, pd: &Pd, dofs: Range<usize>, dt: f64) -> impl Iterator<Item = Drive> {
        let Self { impulse, impedance } = self;
        let gains = pd.kp[dofs.clone()].iter().zip(&pd.kd[dofs.clone()]);
        let limits = &pd.effort_limit[dofs.clone()];
        gains.zip(limits).enumerate().filter(|(_, ((kp, kd), _))| **kp != 0.0 || **kd != 0.0).map(
            move |(dof, (_, limit))| {
                let (impulse, impedance) = (impulse[dof], impedance[dof]);
                let force = StepForce { impulse, impedance, low: -dt * limit, high: dt * limit };
                Drive { key: ConstraintName::pd(dofs.start + dof), dof, force, is_saturated: false }
            },
        )
    }
}
