//! Numbers of a world whose model has other parameters than the plan's.

use geometry::Scene;
use multibody::{EffectiveMass, InverseWeights, Model};

use super::contacts::PairSurface;
use super::numbers::{Numbers, Setting};
use super::{NotInLanes, Plan, PlanActuator, PlanDrag, PlanDrive, PlanPair};

/// A model that differs from a plan's in parameters alone. Geoms must have the same sizes and places.
#[derive(Clone, Copy, Debug)]
pub struct Variation<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its scene.
    pub scene: &'a Scene,
    /// Whether compliant geoms are pressed in as those of the plan's model where they rest.
    pub rests_alike: bool,
    /// Whether no more than frictions and gravity differ.
    pub is_of_surfaces: bool,
    /// What is known of the model already.
    pub at_rest: Option<AtRest<'a>>,
}

/// What follows from a model's default configuration.
#[derive(Clone, Copy, Debug)]
pub struct AtRest<'a> {
    /// How easily its bodies, joints and tendons are moved.
    pub weights: &'a InverseWeights,
    /// How easily points of its nodes are, with Λ the armature alone, by the extents of the plan.
    pub mass: &'a EffectiveMass,
}

impl Plan {
    /// The numbers of such a model, or why lanes cannot step it: it then has something that the plan's model has not, for instance the
    /// friction of a joint that has none.
    ///
    /// # Errors
    /// When lanes would need another plan.
    pub fn numbers_of(&self, own: Variation<'_>) -> Result<Numbers<f64>, NotInLanes> {
        let Variation { model: own, scene: own_scene, rests_alike, is_of_surfaces, at_rest } = own;
        let surfaces = self.contacts.surfaces(own, own_scene);
        let has_same_spin = |(pair, surface): (&PlanPair, &PairSurface)| {
            surface.spin.is_any() == self.contacts.ends[pair.first].spin.is_any()
        };
        if !self.contacts.pairs.iter().zip(&surfaces).all(has_same_spin) {
            return Err(NotInLanes("torsional or rolling friction where the model has none".into()));
        }
        let are_elliptic = surfaces.iter().map(|surface| surface.material.second_friction.is_some());
        if self.contacts.pairs.iter().map(|pair| pair.is_elliptic).ne(are_elliptic) {
            return Err(NotInLanes("friction of two directions where the model has one".into()));
        }
        let has_open = self.contacts.pairs.iter().any(|pair| !pair.is_closed);
        if has_open && !rests_alike {
            return Err(NotInLanes("masses or gravity of its own that press compliant geoms in otherwise".into()));
        }
        if is_of_surfaces {
            return Ok(self.numbers.with_surfaces(own, &self.contacts, &surfaces));
        }
        let made;
        let AtRest { weights, mass } = match at_rest {
            Some(known) => known,
            None => {
                made = (InverseWeights::new(own), EffectiveMass::new(own, &self.contacts.extents));
                AtRest { weights: &made.0, mass: &made.1 }
            }
        };
        let all = PlanDrive::of_model(own)?;
        // A drive of several actuators takes together what has impedance, and what has none.
        let impedances =
            |drive: &PlanDrive| drive.actuators.iter().map(PlanActuator::has_impedance).collect::<Vec<_>>();
        let of_plan = |drive: &PlanDrive| {
            let of_own = self.drives.iter().filter(|of| !of.actuators.is_empty());
            of_own.clone().find(|of| of.actuators[0].ctrl == drive.actuators[0].ctrl)
        };
        let is_mixed = |drive: &PlanDrive| {
            let of_plan = of_plan(drive).filter(|of| of.actuators.len() > 1);
            of_plan.is_some_and(|of| impedances(of) != impedances(drive))
        };
        if all.iter().any(is_mixed) {
            return Err(NotInLanes("kp or kv of one of several actuators of a joint with limited effort".into()));
        }
        // A servo that is disabled stays a drive, which gives no force.
        let is_drive = |drive: &PlanDrive| drive.has_impedance() || drive.is_idle(own) && of_plan(drive).is_some();
        let (drives, servos): (Vec<_>, Vec<_>) = all.into_iter().partition(is_drive);
        let places = |drives: &[PlanDrive]| -> Vec<_> { drives.iter().map(|drive| drive.v).collect() };
        // PD control adds drives at the end.
        let resisting = self.drives.iter().filter(|drive| !drive.actuators.is_empty());
        if resisting.map(|drive| drive.v).ne(drives.iter().map(|drive| drive.v))
            || places(&servos) != places(&self.servos)
        {
            return Err(NotInLanes("kp or kv where the model has neither, or neither where it has one".into()));
        }
        let setting = Setting {
            dt: self.dt,
            contacts: &self.contacts,
            constraints: &self.constraints,
            turns: &self.turns,
            pd: &self.pd,
            drives: &drives,
            weights,
            mass,
            surfaces: &surfaces,
        };
        let (numbers, fulcrums) = Numbers::new(own, own_scene, &setting);
        let masses = |numbers: &Numbers<f64>| numbers.trees.iter().map(|tree| tree.mass > 0.0).collect::<Vec<_>>();
        let is_dragged_alike = PlanDrag::of_model(own, &self.turns).map(|(of, _)| of).eq(self.drags.iter().copied());
        if self.nodes.iter().map(|node| node.has_fulcrum).ne(fulcrums)
            || masses(&numbers) != masses(&self.numbers)
            || !is_dragged_alike
        {
            return Err(NotInLanes("masses that let its bodies move otherwise than the model's".into()));
        }
        Ok(numbers)
    }
}
