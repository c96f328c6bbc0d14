//! Numbers of a world whose model has other parameters than the plan's.

use geometry::Scene;
use multibody::{InverseWeights, Model};

use super::contacts::surface;
use super::numbers::{Numbers, Setting};
use super::{NotInLanes, Plan, PlanDrive};

impl Plan {
    /// The numbers of `own`, which differs from the plan's model `base` in parameters alone, or why lanes cannot step it: it then has
    /// something that the model has not, for instance the friction of a joint that has none. Geoms must have the same sizes and places.
    ///
    /// `rest_alike` says whether compliant geoms are pressed in alike at rest.
    ///
    /// # Errors
    /// When lanes would need another plan.
    pub fn numbers_of(
        &self,
        (base, base_scene): (&Model, &Scene),
        (own, own_scene): (&Model, &Scene),
        rest_alike: bool,
    ) -> Result<Numbers<f64>, NotInLanes> {
        let weights = InverseWeights::new(own);
        let (drives, servos): (Vec<_>, Vec<_>) =
            PlanDrive::of_model(own)?.into_iter().partition(PlanDrive::has_impedance);
        let places = |drives: &[PlanDrive]| -> Vec<_> { drives.iter().map(|drive| drive.v).collect() };
        // PD control adds drives at the end.
        let resisting = self.drives.iter().filter(|drive| !drive.actuators.is_empty());
        if resisting.map(|drive| drive.v).ne(drives.iter().map(|drive| drive.v))
            || places(&servos) != places(&self.servos)
        {
            return Err(NotInLanes("kv where the model has none".into()));
        }
        let spins = |model: &Model, scene: &Scene| -> Vec<bool> {
            self.contacts.pairs.iter().map(|pair| surface(model, scene, &pair.pair).1.is_any()).collect()
        };
        if spins(base, base_scene) != spins(own, own_scene) {
            return Err(NotInLanes("torsional or rolling friction where the model has none".into()));
        }
        let has_open = self.contacts.pairs.iter().any(|pair| !pair.is_closed);
        if has_open && !rest_alike {
            return Err(NotInLanes("masses or gravity of its own that press compliant geoms in otherwise".into()));
        }
        let setting = Setting {
            dt: self.dt,
            contacts: &self.contacts,
            constraints: &self.constraints,
            turns: &self.turns,
            pd: &self.pd,
            drives: &drives,
            weights: &weights,
        };
        let (numbers, fulcrums) = Numbers::new(own, own_scene, &setting);
        let masses = |numbers: &Numbers<f64>| numbers.trees.iter().map(|tree| tree.mass > 0.0).collect::<Vec<_>>();
        if self.nodes.iter().map(|node| node.has_fulcrum).ne(fulcrums) || masses(&numbers) != masses(&self.numbers) {
            return Err(NotInLanes("masses that let its bodies move otherwise than the model's".into()));
        }
        Ok(numbers)
    }
}
