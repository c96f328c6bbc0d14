//! Gains of PD control that change from step to step.

use multibody::{EffectiveMass, InverseWeights, Model};
use spatial::Mat3;

use super::numbers::{drive_impedance, passive_impedance};
use super::{Numbers, PdGains, PdNumbers, Plan};

/// Lets a world by itself have other gains from step to step, with the memory that there is. Its plan is one whose gains
/// [change](super::Setup::gains_change).
#[derive(Clone, Debug)]
pub struct ChangingGains {
    mass: EffectiveMass,
    /// Λ without any drive and with those of actuators, (nv), and what it is with PD control.
    passive: Vec<f64>,
    driven: Vec<f64>,
    implicit: Vec<f64>,
}

impl ChangingGains {
    /// For steps of this plan with the numbers of the model.
    pub fn new(plan: &Plan, model: &Model, numbers: &Numbers<f64>) -> Self {
        let passive = passive_impedance(model, &InverseWeights::new(model), plan.dt);
        let mut driven = passive.clone();
        plan.drives.iter().for_each(|drive| driven[drive.v] += drive_impedance(drive, &numbers.actuators));
        let mut implicit = driven.clone();
        implicit.iter_mut().zip(&plan.pd).for_each(|(lambda, of)| *lambda += of.impedance);
        let mut mass = EffectiveMass::new(model, &plan.contacts.extents);
        for (k, dofs) in model.tree.dofs.iter().enumerate() {
            mass.update(k, dofs.clone(), &implicit[dofs.clone()]);
        }
        Self { mass, passive, driven, implicit }
    }

    /// Sets the gains of the numbers, `None` for no control.
    pub fn set(&mut self, plan: &Plan, model: &Model, pd: Option<&PdGains<'_>>, numbers: &mut Numbers<f64>) {
        match pd {
            Some(pd) => PdNumbers::write(pd, &model.tree.dofs, plan.dt, &mut numbers.pd),
            None => numbers.pd.fill(PdNumbers::NONE),
        }
        for (v, of) in numbers.pd.iter().enumerate() {
            self.implicit[v] = self.driven[v] + of.impedance;
            let is_part = of.is_limited == 0.0;
            numbers.lambda[v] = if is_part { self.passive[v] + of.impedance } else { self.passive[v] };
        }
        for (k, (dofs, nodes)) in model.tree.dofs.iter().zip(&model.tree.trees).enumerate() {
            let implicit = &self.implicit[dofs.clone()];
            if self.mass.is_of(dofs.clone(), implicit) {
                continue;
            }
            self.mass.update(k, dofs.clone(), implicit);
            for i in nodes.clone() {
                let turn: Mat3<f64> = plan.turns[i];
                numbers.nodes[i].mobility = self.mass.node(i).turned(&turn);
            }
        }
    }
}
