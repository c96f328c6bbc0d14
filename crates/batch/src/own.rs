//! Whether a world with parameters of its own can be stepped in the lanes of a plan, and its numbers.

use geometry::Scene;
use lanes::{NotInLanes, Numbers, Plan};
use multibody::{Freedom, Model};
use sim::{Parameter, Parameters};

/// The numbers of `own`, the plan's model with these parameters, or why lanes cannot step it: it then has something that the model has
/// not, for instance the friction of a joint that has none, or geoms of other sizes.
pub(crate) fn numbers_of(
    plan: &Plan,
    base: &Model,
    base_scene: &Scene,
    own: &Model,
    own_scene: &Scene,
    parameters: &Parameters,
) -> Result<Numbers<f64>, NotInLanes> {
    check_structure(base, base_scene, own, parameters)?;
    let rest_alike = sim::rest_depths(base, base_scene) == sim::rest_depths(own, own_scene);
    plan.numbers_of((base, base_scene), (own, own_scene), rest_alike)
}

/// Which of a model's elements have something.
type Pattern = fn(&Model) -> Vec<bool>;

/// Geoms must be where they are, and what has springs, dry friction, limits and gear inertia must be the same.
fn check_structure(base: &Model, base_scene: &Scene, own: &Model, parameters: &Parameters) -> Result<(), NotInLanes> {
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
        (Parameter::Armature, |model| {
            (0..model.tree.trees.len()).map(|tree| Freedom::of(model, tree) == Freedom::KeepsMomentum).collect()
        }),
    ];
    for (parameter, of) in patterns {
        if of(base) != of(own) {
            return Err(NotInLanes(format!("{} where the model has none", parameter.name())));
        }
    }
    Ok(())
}
