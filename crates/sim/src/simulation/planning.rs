//! The plan of a simulation's steps in lanes.

use std::sync::Arc;

use geometry::{Attachment, Collider, Scene};
use lanes::{AtRest, NotInLanes, Numbers, Plan, Setup, Variation};
use multibody::{Compliance, Freedom, Model};

use super::sleeping::time_to_sleep;
use crate::{Options, Parameter, Parameters, Pd, PdLaw, Scheme};

/// The plan of steps in lanes that are those of a [`Simulation`](crate::Simulation) of the model under these options.
///
/// # Errors
/// When lanes cannot make such steps.
pub fn plan(model: &Model, scene: &Scene, options: &Options, pd: Option<&Pd>) -> Result<Plan, NotInLanes> {
    plan_anew(model, scene, options, pd, false)
}

/// [`plan`] of steps whose PD control may have other gains in each world, see [`lanes::ChangingGains`].
///
/// # Errors
/// As [`plan`].
pub fn plan_of_changing_gains(model: &Model, scene: &Scene, options: &Options, pd: &Pd) -> Result<Plan, NotInLanes> {
    plan_anew(model, scene, options, Some(pd), true)
}

fn plan_anew(
    model: &Model,
    scene: &Scene,
    options: &Options,
    pd: Option<&Pd>,
    gains_change: bool,
) -> Result<Plan, NotInLanes> {
    let attachments = attachments(model, scene);
    let extents = Collider::new(Arc::new(scene.clone()), attachments.clone()).extents(model.tree.len());
    plan_with(model, scene, options, (pd, gains_change), (&attachments, &extents), None)
}

/// [`plan`] where it is known what geoms are fixed in, and how far the farthest of each node reaches; `gains_change` says whether PD control
/// may have other gains from step to step. `like` is a plan of a model with the same shapes in the same
/// places, if there is one.
pub(crate) fn plan_with(
    model: &Model,
    scene: &Scene,
    options: &Options,
    (pd, gains_change): (Option<&Pd>, bool),
    (attachments, extents): (&[Attachment], &[f64]),
    like: Option<&Plan>,
) -> Result<Plan, NotInLanes> {
    check(model, options)?;
    let setup = Setup {
        dt: options.timestep.unwrap_or(model.timestep),
        is_balanced: options.scheme == Scheme::Bilinear,
        friction: options.contact,
        tolerance: options.tolerance,
        beta: options.beta,
        sigma: options.sigma,
        impratio: options.impratio,
        recovery_speed: options.recovery_speed,
        attachments,
        rest_depths: &rest_depths(model, scene),
        extents,
        pd: pd.map(Pd::gains),
        gains_change,
    };
    match like {
        Some(plan) => plan.like_this(model, scene, &setup),
        None => Plan::new(model, scene, &setup),
    }
}

/// What lanes cannot do, whatever the rest of the model.
fn check(model: &Model, options: &Options) -> Result<(), NotInLanes> {
    let reason = match () {
        () if !matches!(options.scheme, Scheme::Bilinear | Scheme::SymplecticEuler) => "the scheme is implicit",
        () if options.accuracy.is_some() => "the step size is controlled",
        () if options.sleep_after.is_some_and(f64::is_finite) => "islands may sleep",
        () if model.sleepers().next().is_some() => "bodies start asleep",
        () if time_to_sleep(model, options).is_some() => {
            "islands may sleep, as its file says: sleep_after=math.inf lets none fall asleep"
        }
        () if options.pd_law == PdLaw::Theta => "PD control is that of the scheme",
        () => return Ok(()),
    };
    Err(NotInLanes(reason.into()))
}

/// About how deep each geom is pressed in where it rests, m: under its own weight if it is compliant.
///
/// # Panics
/// When a geom names a body or a material that is not there.
pub fn rest_depths(model: &Model, scene: &Scene) -> Vec<f64> {
    let g = model.gravity.norm();
    let trees = &model.tree.trees;
    let mass_of = |nodes: &std::ops::Range<usize>| model.tree.nodes[nodes.clone()].iter().map(|n| n.inertia.mass).sum();
    let masses: Vec<f64> = trees.iter().map(mass_of).collect();
    let of = |geom: &geometry::Geom| match model.materials[geom.material].compliance {
        Compliance::NearRigid => 0.0,
        Compliance::Reference(reference) => reference.depth(g),
        Compliance::Physical { stiffness, .. } => {
            let tree_of = |node: usize| trees.partition_point(|nodes| nodes.end <= node);
            model.bodies[geom.body].node.map_or(0.0, |node| masses[tree_of(node)]) * g / stiffness
        }
    };
    scene.geoms.iter().map(of).collect()
}

/// How the geoms of a scene move with the nodes of a model.
///
/// # Panics
/// When a geom names a body that is not there.
pub fn attachments(model: &Model, scene: &Scene) -> Vec<Attachment> {
    let attach = |geom: &geometry::Geom| {
        let body = &model.bodies[geom.body];
        Attachment {
            frame: body.node,
            pose: body.pose * geom.pose,
            group: model.contact_group(geom.body),
            parent_group: model.parent_contact_group(geom.body),
        }
    };
    scene.geoms.iter().map(attach).collect()
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
    numbers_at_rest(plan, (base, base_scene), (own, own_scene), parameters, None)
}

/// [`numbers_of`] where `at_rest` is what is known of `own` already.
pub(crate) fn numbers_at_rest(
    plan: &Plan,
    (base, base_scene): (&Model, &Scene),
    (own, own_scene): (&Model, &Scene),
    parameters: &Parameters,
    at_rest: Option<AtRest<'_>>,
) -> Result<Numbers<f64>, NotInLanes> {
    check_structure(base, base_scene, own, parameters)?;
    let is_of_surfaces = |(parameter, _)| {
        use Parameter::{Frictions, Gravity, PairFrictions, RollingFrictions, TorsionalFrictions};
        matches!(parameter, Gravity | Frictions | RollingFrictions | TorsionalFrictions | PairFrictions)
    };
    plan.numbers_of(Variation {
        model: own,
        scene: own_scene,
        rests_alike: rest_depths(base, base_scene) == rest_depths(own, own_scene),
        is_of_surfaces: parameters.iter().all(is_of_surfaces),
        at_rest,
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
        P::JointAxes,
        P::JointAnchors,
        P::JointLocks,
        P::Solref,
        P::Solimp,
        P::PairSolref,
        P::PairSolimp,
        P::LimitSolref,
        P::LimitSolimp,
        P::GeomSizes,
        P::GeomPositions,
        P::GeomQuaternions,
        P::Contypes,
        P::Conaffinities,
        P::Condims,
        P::Disabled,
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
