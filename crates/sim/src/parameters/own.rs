//! Models with parameters of their own: whether one can be stepped in the lanes of a plan, and its numbers.

use std::sync::{Arc, OnceLock};

use geometry::Scene;
use lanes::{NotInLanes, Numbers, Plan, Variation};
use multibody::{Freedom, Model};

use super::{Parameter, ParameterError, Parameters};
use crate::rest_depths;

/// A model with parameters of its own, which is made when someone asks for it.
#[derive(Clone, Debug)]
pub struct OwnModel {
    base: (Arc<Model>, Arc<Scene>),
    parameters: Parameters,
    made: OnceLock<(Arc<Model>, Arc<Scene>)>,
}

impl OwnModel {
    /// A model as it is.
    pub fn of(model: Arc<Model>, scene: Arc<Scene>) -> Self {
        Self { base: (model, scene), parameters: Parameters::default(), made: OnceLock::new() }
    }

    /// A model with parameters that are some of it: [`Parameters::apply`] has been tried.
    pub fn with(model: &Arc<Model>, scene: &Arc<Scene>, parameters: Parameters) -> Self {
        Self { base: (model.clone(), scene.clone()), parameters, made: OnceLock::new() }
    }

    /// A model with parameters, made at once.
    ///
    /// # Errors
    /// As [`Parameters::apply`].
    pub fn made(model: &Arc<Model>, scene: &Arc<Scene>, parameters: Parameters) -> Result<Self, ParameterError> {
        let own = Self::with(model, scene, parameters);
        if !own.parameters.is_empty() {
            let (model, scene) = own.parameters.apply(model, scene)?;
            let _ = own.made.set((model.into(), scene.into()));
        }
        Ok(own)
    }

    /// The model without the parameters.
    pub fn base(&self) -> (&Arc<Model>, &Arc<Scene>) {
        (&self.base.0, &self.base.1)
    }

    /// Empty where it is a model as it is.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Model and scene.
    pub fn get(&self) -> (&Arc<Model>, &Arc<Scene>) {
        let (model, scene) = &self.base;
        if self.parameters.is_empty() {
            return (model, scene);
        }
        let make = || match self.parameters.apply(model, scene) {
            Ok((model, scene)) => (model.into(), scene.into()),
            // They have been checked.
            Err(_) => self.base.clone(),
        };
        let (model, scene) = self.made.get_or_init(make);
        (model, scene)
    }
}

/// The numbers of `own`, the plan's model with these parameters, or why lanes cannot step it: it then has something that the model has
/// not, for instance the friction of a joint that has none, or geoms of other sizes.
///
/// # Errors
/// When lanes would need another plan.
pub fn numbers_of(
    plan: &Plan,
    (base, base_scene): (&Model, &Scene),
    (own, own_scene): (&Model, &Scene),
    parameters: &Parameters,
) -> Result<Numbers<f64>, NotInLanes> {
    check_structure(base, base_scene, own, parameters)?;
    let is_of_surfaces = |(parameter, _)| {
        use Parameter::{Frictions, Gravity, RollingFrictions, TorsionalFrictions};
        matches!(parameter, Gravity | Frictions | RollingFrictions | TorsionalFrictions)
    };
    plan.numbers_of(Variation {
        model: own,
        scene: own_scene,
        rests_alike: rest_depths(base, base_scene) == rest_depths(own, own_scene),
        is_of_surfaces: parameters.iter().all(is_of_surfaces),
    })
}

/// Which of a model's elements have something.
type Pattern = fn(&Model) -> Vec<bool>;

/// Geoms must be where they are, and what has springs, dry friction, limits and gear inertia must be the same.
fn check_structure(base: &Model, base_scene: &Scene, own: &Model, parameters: &Parameters) -> Result<(), NotInLanes> {
    use Parameter as P;
    let fixed = [
        P::BodyPositions,
        P::BodyQuaternions,
        P::Solref,
        P::Solimp,
        P::GeomSizes,
        P::GeomPositions,
        P::GeomQuaternions,
        P::Contypes,
        P::Conaffinities,
        P::EqualityAnchors,
        P::EqualityQuaternions,
    ];
    let is_moved =
        |parameter: &Parameter| parameters.get(*parameter).is_some_and(|own| own != parameter.of(base, base_scene));
    if let Some(parameter) = fixed.iter().find(|parameter| is_moved(parameter)) {
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
