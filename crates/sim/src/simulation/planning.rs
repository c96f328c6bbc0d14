//! The plan of a simulation's steps in lanes.

use std::sync::Arc;

use geometry::{Attachment, Collider, Scene};
use lanes::{NotInLanes, Plan, Setup};
use multibody::{Compliance, Model};

use crate::{Options, Pd, PdLaw, Scheme};

/// The plan of steps in lanes that are those of a [`Simulation`](crate::Simulation) of the model under these options.
///
/// # Errors
/// When lanes cannot make such steps.
pub fn plan(model: &Model, scene: &Scene, options: &Options, pd: Option<&Pd>) -> Result<Plan, NotInLanes> {
    let attachments = attachments(model, scene);
    let extents = Collider::new(Arc::new(scene.clone()), attachments.clone()).extents(model.tree.len());
    plan_with(model, scene, options, (pd, false), (&attachments, &extents), None)
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
    check(options)?;
    let setup = Setup {
        dt: options.timestep.unwrap_or(model.timestep),
        is_balanced: options.scheme == Scheme::Bilinear,
        friction: options.contact,
        tolerance: options.tolerance,
        beta: options.beta,
        sigma: options.sigma,
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

/// What lanes cannot do, whatever the model.
fn check(options: &Options) -> Result<(), NotInLanes> {
    let reason = match () {
        () if !matches!(options.scheme, Scheme::Bilinear | Scheme::SymplecticEuler) => "the scheme is implicit",
        () if options.accuracy.is_some() => "the step size is controlled",
        () if options.sleep_after.is_some() => "islands may sleep",
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
        // The parent of the whole rigid group: what its first body hangs on.
        let parent = model.bodies[body.rigid_group].parent;
        Attachment {
            frame: body.node,
            pose: body.pose * geom.pose,
            group: body.rigid_group,
            parent_group: model.bodies[parent].rigid_group,
        }
    };
    scene.geoms.iter().map(attach).collect()
}
