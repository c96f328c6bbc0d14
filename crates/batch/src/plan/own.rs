//! Whether a world with parameters of its own can be stepped in the lanes of a plan, and its numbers.

use geometry::Scene;
use multibody::Model;
use sim::{Parameter, Parameters};

use super::contacts::surface;
use super::numbers::{Numbers, Setting};
use super::{NotInLanes, Plan, PlanDrive, keeps_momentum};

impl Plan {
    /// The numbers of `own`, the plan's model with these parameters, or why lanes cannot step it: it then has something that the model has
    /// not, for instance the friction of a joint that has none, or geoms of other sizes.
    pub fn numbers_of(
        &self,
        (base, base_scene): (&Model, &Scene),
        (own, own_scene): (&Model, &Scene),
        parameters: &Parameters,
    ) -> Result<Numbers<f64>, NotInLanes> {
        check_structure((base, base_scene), own, parameters)?;
        let (drives, servos): (Vec<_>, Vec<_>) =
            PlanDrive::of_model(own)?.into_iter().partition(PlanDrive::has_impedance);
        let places = |drives: &[PlanDrive]| -> Vec<_> { drives.iter().map(|drive| drive.v).collect() };
        // Limited PD control adds drives at the end.
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
        if has_open && sim::rest_depths(base, base_scene) != sim::rest_depths(own, own_scene) {
            return Err(NotInLanes("masses or gravity of its own that press compliant geoms in otherwise".into()));
        }
        let setting = Setting {
            dt: self.dt,
            contacts: &self.contacts,
            turns: &self.turns,
            pd: self.pd.as_ref(),
            drives: &drives,
        };
        let (numbers, fulcrums) = Numbers::new(own, own_scene, &setting);
        let masses = |numbers: &Numbers<f64>| numbers.trees.iter().map(|tree| tree.mass > 0.0).collect::<Vec<_>>();
        if self.nodes.iter().map(|node| node.has_fulcrum).ne(fulcrums) || masses(&numbers) != masses(&self.numbers) {
            return Err(NotInLanes("masses that let its bodies move otherwise than the model's".into()));
        }
        Ok(numbers)
    }
}

/// Which of a model's elements have something.
type Pattern = fn(&Model) -> Vec<bool>;

/// Geoms must be where they are, and what has springs, dry friction, limits and gear inertia must be the same.
fn check_structure(
    (base, base_scene): (&Model, &Scene),
    own: &Model,
    parameters: &Parameters,
) -> Result<(), NotInLanes> {
    let shapes = [Parameter::GeomSizes, Parameter::GeomPositions, Parameter::GeomQuaternions];
    let is_moved =
        |parameter: &Parameter| parameters.get(*parameter).is_some_and(|own| own != parameter.of(base, base_scene));
    if let Some(parameter) = shapes.iter().find(|parameter| is_moved(parameter)) {
        return Err(NotInLanes(format!("{} of its own", parameter.name())));
    }
    let patterns: [(Parameter, Pattern); 4] = [
        (Parameter::Stiffness, |model| model.stiffness.iter().map(|k| *k != 0.0).collect()),
        (Parameter::Frictionloss, |model| model.friction_loss.iter().map(|force| *force > 0.0).collect()),
        (Parameter::JointRanges, |model| model.joints.iter().map(|joint| joint.range.is_some()).collect()),
        (Parameter::Armature, |model| (0..model.tree.trees.len()).map(|tree| keeps_momentum(model, tree)).collect()),
    ];
    for (parameter, of) in patterns {
        if of(base) != of(own) {
            return Err(NotInLanes(format!("{} where the model has none", parameter.name())));
        }
    }
    Ok(())
}
