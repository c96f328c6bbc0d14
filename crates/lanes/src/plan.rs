//! What a step of a model consists of, laid out for lanes.

mod constraints;
mod contacts;
mod digits;
mod drag;
mod drives;
mod export;
mod gains;
mod numbers;
mod own;
mod pd;
mod setup;
mod surfaces;

use std::ops::Range;
use std::sync::Arc;

use geometry::Scene;
use multibody::{
    Compliance, EffectiveMass, Freedom, InverseWeights, Joint, JointKind, JointType, Model, NO_PARENT, Node,
};
use sap::FrictionLaw;
use sap::contact_blocks::{self, Limits};
use spatial::{Mat3, Quat, Real, Sym3, Vec3};

use crate::Rule;
use crate::limits::Asked;

pub(crate) use constraints::{Constraints, Coupling, PlanJacobian, Source, Term, Tie, TieKind};
pub(crate) use contacts::{Bounds, Contacts, PairKind, PairsOfGeoms, PlanPair, Shape};
pub use contacts::{pair_surface, spring_depth};
pub(crate) use drag::PlanDrag;
pub(crate) use drives::{PlanActivation, PlanActuator, PlanAdhesion, PlanDrive};
pub use export::{Description, SensorTables, Table};
pub use gains::ChangingGains;
pub use numbers::Numbers;
use numbers::Setting;
pub(crate) use numbers::{ActuatorNumbers, NodeNumbers};
pub use own::{AtRest, Variation};
pub(crate) use pd::PdNumbers;
pub use setup::{PdGains, Setup};
pub(crate) use surfaces::{Home, PlanFrame};

/// Why steps of a model are not made in lanes but by one simulation for each world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInLanes(pub String);

/// A model as lanes see it: constants, and which numbers of a state they work on.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The time step, s.
    pub dt: f64,
    pub(crate) nq: usize,
    pub(crate) nv: usize,
    pub(crate) nodes: Vec<PlanNode>,
    pub(crate) trees: Vec<PlanTree>,
    pub(crate) node_of_dof: Vec<usize>,
    /// The nodes from each node to its root, a bit each, in whole words.
    pub(crate) paths: Vec<u64>,
    /// Whether Coriolis forces are taken between both ends of the step, and energy and momentum balanced at its end.
    pub(crate) is_balanced: bool,
    /// Which equality constraints are in force by default, 1 or 0.
    pub(crate) equality_active: Vec<f64>,
    /// Those of the model; worlds may have [others](Plan::numbers_of).
    pub numbers: Arc<Numbers<f64>>,
    /// What turns the nodes' axes from those of the model.
    pub(crate) turns: Vec<Mat3<f64>>,
    /// The nodes that bodies are fixed in, none for what is fixed in the world.
    pub(crate) node_of_body: Vec<Option<usize>>,
    /// How many bodies are moved from outside.
    pub(crate) carriers: usize,
    pub(crate) springs: Vec<Spring>,
    /// Actuators whose force no motion opposes.
    pub(crate) servos: Vec<PlanDrive>,
    /// All others, which are constraints while they are at their limits.
    pub(crate) drives: Vec<PlanDrive>,
    /// Those that pull a body and what it touches together.
    pub(crate) adhesions: Vec<PlanAdhesion>,
    /// Bodies that a medium acts on.
    pub(crate) drags: Vec<PlanDrag>,
    /// The states that actuators have of their own.
    pub(crate) activations: Vec<PlanActivation>,
    /// The pairs of trees that constraints join.
    pub(crate) joined_trees: Vec<[usize; 2]>,
    /// The constraint of the first of the drives.
    pub(crate) first_drive: usize,
    /// PD control by degrees of freedom, (nv), empty without.
    pub(crate) pd: Vec<PdNumbers<f64>>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) contacts: Contacts,
    pub(crate) rule: Rule,
    /// All that may constrain a step: a slot for every contact point, then all else.
    pub(crate) constraints: Constraints,
    pub(crate) friction: FrictionLaw,
    pub(crate) solver_options: sap::Options,
    pub(crate) recovery_options: sap::Options,
}

/// A node, its axes turned so that a joint's axis is z.
#[derive(Clone, Debug)]
pub(crate) struct PlanNode {
    pub parent: Option<usize>,
    pub tree: usize,
    pub joint: JointType,
    pub q: usize,
    pub v: usize,
    /// Axes and origin at rest, in the parent's frame.
    pub rot: Mat3<f64>,
    pub is_turned: bool,
    pub pos: Vec3<f64>,
    pub q_ref: f64,
    pub pitch: f64,
    /// Whether it has no inertia of its own.
    pub is_massless: bool,
    /// How far the farthest geom reaches from the origin, m.
    pub extent: f64,
    /// Whether some points of the node cannot be moved in every direction, see [`multibody::NodeMobility::leverage`].
    pub has_fulcrum: bool,
}

/// A tree of the forest.
#[derive(Clone, Debug)]
pub(crate) struct PlanTree {
    pub nodes: Range<usize>,
    pub dofs: Range<usize>,
    /// Whether its root moves freely.
    pub floats: bool,
    pub freedom: Freedom,
}

/// A joint's spring.
#[derive(Clone, Debug)]
pub(crate) struct Spring {
    pub q: usize,
    pub v: usize,
    pub joint: JointType,
    /// By coordinates.
    pub reference: [f64; 7],
}

/// A joint's limits.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub q: usize,
    pub v: usize,
    /// Its place among the joints with limits, balls included.
    pub place: usize,
    pub compliance: Compliance,
}

impl Plan {
    /// How many constraints may ever push.
    pub fn constraint_count(&self) -> usize {
        self.constraints.all.len()
    }

    /// The tree of the first node that a constraint acts on.
    #[inline(always)]
    pub(crate) fn tree_of(&self, k: usize) -> usize {
        let mut first = None;
        self.constraints.each_node(k, &self.node_of_dof, |node| first = first.or(Some(self.nodes[node].tree)));
        first.unwrap_or_default()
    }

    /// What is asked of a problem's solution, by which normal impulses bound its friction.
    pub(crate) fn limits<T: Real>(&self, bounds: contact_blocks::Bounds) -> Limits {
        let has_spin = self.contacts.slots < self.constraints.first_limit;
        Asked { tolerance: self.solver_options.tolerance, bounds, has_spin }.limits::<T>()
    }

    /// The plan of a model.
    ///
    /// # Errors
    /// When lanes cannot step such a model.
    pub fn new(model: &Model, scene: &Scene, setup: &Setup<'_>) -> Result<Self, NotInLanes> {
        check(model, scene)?;
        let turns = turns_of(model);
        let contacts = Contacts::new(model, scene, setup)?.turned(&turns);
        Self::with_contacts(model, scene, setup, contacts, turns)
    }

    /// The plan of a model and a scene that have the same shapes in the same places, see [`Scene::has_shapes_of`]: for steps of another
    /// length, or with other numbers. Finding out what may touch, which this leaves out, is most of what [`Plan::new`] takes.
    ///
    /// # Errors
    /// When lanes cannot make such steps.
    pub fn like_this(&self, model: &Model, scene: &Scene, setup: &Setup<'_>) -> Result<Self, NotInLanes> {
        let turns = turns_of(model);
        if turns != self.turns {
            return Self::new(model, scene, setup);
        }
        check(model, scene)?;
        let contacts = self.contacts.with_surfaces(model, scene, setup.rest_depths);
        Self::with_contacts(model, scene, setup, contacts, turns)
    }

    fn with_contacts(
        model: &Model,
        scene: &Scene,
        setup: &Setup<'_>,
        contacts: Contacts,
        turns: Vec<Mat3<f64>>,
    ) -> Result<Self, NotInLanes> {
        let Setup { dt, is_balanced, friction, .. } = *setup;
        let weights = InverseWeights::new(model);
        let (mut drives, servos): (Vec<_>, Vec<_>) =
            PlanDrive::of_model(model)?.into_iter().partition(PlanDrive::has_impedance);
        let pd = setup.pd.as_ref().map_or_else(Vec::new, |pd| PdNumbers::all(pd, &model.tree.dofs, dt));
        let actuated = drives.len();
        drives.extend(PdNumbers::drives(&pd, model, setup.gains_change));
        let limits: Vec<Limit> = limits(model).map(|(limit, _)| limit).collect();
        let constraints = Constraints::new(model, &contacts, &limits, &drives);
        let of_model = Setting {
            dt,
            contacts: &contacts,
            constraints: &constraints,
            turns: &turns,
            pd: &pd,
            drives: &drives[..actuated],
            weights: &weights,
            mass: &EffectiveMass::new(model, &contacts.extents),
            surfaces: &contacts.surfaces(model, scene),
        };
        let (numbers, fulcrums) = Numbers::new(model, scene, &of_model);
        let nodes = plan_nodes(model, &turns, &contacts.extents, &fulcrums);
        let node_of_dof: Vec<usize> =
            nodes.iter().enumerate().flat_map(|(i, node)| [i].repeat(node.joint.nv())).collect();
        let tree = |(k, (nodes, dofs)): (usize, (&Range<usize>, &Range<usize>))| PlanTree {
            nodes: nodes.clone(),
            dofs: dofs.clone(),
            floats: floats(model, k),
            freedom: Freedom::of(model, k),
        };
        let joined_trees = constraints.joined_trees(&|node| tree_of(model, node), &node_of_dof);
        // Problems of a few rows: every method has a limit of its own.
        let factorization_budget = None;
        let solver_options =
            sap::Options { tolerance: setup.tolerance, factorization_budget, friction, ..sap::Options::default() };
        Ok(Self {
            dt,
            nq: model.nq(),
            nv: model.nv(),
            trees: model.tree.trees.iter().zip(&model.tree.dofs).enumerate().map(tree).collect(),
            node_of_dof,
            paths: paths(&model.tree.nodes),
            nodes,
            is_balanced,
            equality_active: model.equality_active(),
            numbers: Arc::new(numbers),
            node_of_body: model.bodies.iter().map(|body| body.node).collect(),
            carriers: model.mocap_bodies().count(),
            springs: springs(model).map(|(spring, _)| spring).collect(),
            servos,
            adhesions: PlanAdhesion::of_model(model, scene, &contacts),
            drags: PlanDrag::of_model(model, &turns).map(|(of, _)| of).collect(),
            activations: PlanActivation::of_model(model, dt).collect(),
            pd,
            limits,
            first_drive: constraints.all.len() - drives.len(),
            joined_trees,
            constraints,
            drives,
            friction,
            recovery_options: sap::Options { friction: FrictionLaw::Lagged, ..solver_options },
            solver_options,
            contacts,
            turns,
            rule: Rule { impratio: setup.impratio, ..Rule::new(dt, setup.beta, setup.sigma, setup.recovery_speed) },
        })
    }
}

/// The nodes of a model with their axes turned.
fn plan_nodes(model: &Model, turns: &[Mat3<f64>], extents: &[f64], fulcrums: &[bool]) -> Vec<PlanNode> {
    let node = |(i, node): (usize, &Node<f64>)| {
        let parent = (node.parent != NO_PARENT).then_some(node.parent);
        let above = parent.map_or(Mat3::IDENTITY, |parent| turns[parent]);
        let rot = above.transpose() * (node.rot.to_mat3() * turns[i]);
        PlanNode {
            parent,
            tree: tree_of(model, i),
            joint: node.joint,
            q: node.q,
            v: node.v,
            rot,
            is_turned: rot != Mat3::IDENTITY,
            pos: above.transpose_mul(node.pos),
            q_ref: node.q_ref,
            pitch: node.pitch,
            is_massless: node.inertia.mass == 0.0 && node.inertia.inertia == Sym3::ZERO,
            extent: extents[i],
            has_fulcrum: fulcrums[i],
        }
    };
    model.tree.nodes.iter().enumerate().map(node).collect()
}

/// Whether the root of a tree moves freely.
fn floats(model: &Model, tree: usize) -> bool {
    model.tree.nodes[model.tree.trees[tree].start].joint == JointType::Free
}

fn tree_of(model: &Model, node: usize) -> usize {
    model.tree.trees.partition_point(|nodes| nodes.end <= node)
}

/// [`own_axes`] of all nodes.
fn turns_of(model: &Model) -> Vec<Mat3<f64>> {
    model.tree.nodes.iter().map(own_axes).collect()
}

/// The rotation to a node's frame from one whose z is the joint's axis.
fn own_axes(node: &Node<f64>) -> Mat3<f64> {
    // Joints that rotate about a point have no axis.
    match node.joint.rotation_offset() {
        None => Quat::between(Vec3::new(0.0, 0.0, 1.0), node.axis).to_mat3(),
        Some(_) => Mat3::IDENTITY,
    }
}

/// What lanes cannot do.
fn check(model: &Model, scene: &Scene) -> Result<(), NotInLanes> {
    let reason = match () {
        () if !scene.soft_bodies.is_empty() => "it has soft bodies",
        () if digits::are_lost(model) => {
            "small bodies turn far from the root of their tree, about which lanes would lose their digits"
        }
        () if PlanDrag::has_ellipsoids(model, scene) => "a medium acts on ellipsoids in place of geoms",
        () if !model.joint_locks.is_empty() => "balls or free joints are locked",
        () if model.has_joints_on_mocap() => "joints hang on a body that is moved from outside",
        () if model.actuators.iter().any(|actuator| actuator.law.gain_slopes != [0.0; 2]) => {
            "gains of actuators depend on their motion"
        }
        () if model.actuators.iter().any(|actuator| actuator.delay.is_some()) => "controls act with a delay",
        () if model.sensors.iter().any(|sensor| sensor.delay.is_some()) => "sensors show later what they measure",
        () if model.lifts_by_actuators() => "actuators compensate gravity",
        () if model.joints_that_limit_others().next().is_some() => "joints limit the forces of tendons' actuators",
        () if model.actuators.iter().any(|actuator| actuator.motor.is_some()) => "motors have controllers on board",
        () if model.actuators.iter().any(is_muscle) => "it has muscles",
        () if (0..model.tendons.len()).any(|tendon| pulls_as_string(model, tendon)) => "it has spatial tendons",
        () if polynomials(model).any(|law| law.is_any()) => "forces of springs or dampers are polynomials",
        () if model.tendons.iter().any(|tendon| tendon.effort_limit.is_some()) => {
            "the sum of several actuators' forces along a tendon is limited"
        }
        () => return Ok(()),
    };
    Err(NotInLanes(reason.into()))
}

/// What springs and dampers have beyond their linear parts.
fn polynomials(model: &Model) -> impl Iterator<Item = multibody::PolynomialForces> {
    let of_joints = model.joints.iter().map(|joint| joint.polynomial);
    of_joints.chain(model.tendons.iter().map(|tendon| tendon.polynomial))
}

/// Whether its force or its activation is that of a muscle, neither of which is linear.
fn is_muscle(actuator: &multibody::Actuator) -> bool {
    let is_linear = actuator.activation.is_none_or(|activation| activation.change(1.0, 0.0).is_some());
    actuator.law.muscle.is_some() || !is_linear
}

/// Whether something acts along a spatial tendon.
fn pulls_as_string(model: &Model, index: usize) -> bool {
    let tendon = &model.tendons[index];
    let is_driven = |actuator: &multibody::Actuator| matches!(actuator.transmission, multibody::Transmission::Tendon { tendon, .. } if tendon == index);
    let is_held = |equality: &multibody::Equality| match &equality.kind {
        multibody::EqualityKind::Coupling { y, x, .. } => {
            let this = multibody::Coordinate::Tendon(index);
            equality.active && (y.0 == this || x.is_some_and(|(x, _)| x == this))
        }
        _ => false,
    };
    tendon.is_spatial()
        && (tendon.acts() || model.actuators.iter().any(is_driven) || model.equalities.iter().any(is_held))
}

/// Mass and mass moment of every node that gravity acts on: without the part of its bodies that is compensated.
fn weights(model: &Model, turns: &[Mat3<f64>]) -> Vec<(f64, Vec3<f64>)> {
    let own = |(node, turn): (&Node<f64>, &Mat3<f64>)| {
        (node.inertia.mass, turn.transpose_mul(node.inertia.com) * node.inertia.mass)
    };
    let mut weights: Vec<_> = model.tree.nodes.iter().zip(turns).map(own).collect();
    for body in &model.bodies {
        let Some(node) = body.node.filter(|_| body.gravity_compensation != 0.0) else { continue };
        let lift = body.inertia.mass * body.gravity_compensation;
        let com = turns[node].transpose_mul(body.pose.transform_point(body.inertia.com));
        weights[node].0 -= lift;
        weights[node].1 -= com * lift;
    }
    weights
}

/// The nodes from each node to its root, a bit each, in whole words.
fn paths(nodes: &[Node<f64>]) -> Vec<u64> {
    let words = nodes.len().div_ceil(64);
    let mut paths = vec![0; nodes.len() * words];
    for (i, node) in nodes.iter().enumerate() {
        if node.parent != NO_PARENT {
            paths.copy_within(node.parent * words..(node.parent + 1) * words, i * words);
        }
        paths[i * words + i / 64] |= 1 << (i % 64);
    }
    paths
}

/// The springs of joints, and their stiffness by degrees of freedom.
fn springs(model: &Model) -> impl Iterator<Item = (Spring, [f64; 6])> + '_ {
    let of = |node: &Node<f64>| {
        let (nq, nv) = (node.joint.nq(), node.joint.nv());
        let own = &model.stiffness[node.v..node.v + nv];
        let (mut stiffness, mut reference) = ([0.0; 6], [0.0; 7]);
        stiffness[..nv].copy_from_slice(own);
        reference[..nq].copy_from_slice(&model.spring_reference[node.q..node.q + nq]);
        let has_any = own.iter().any(|k| *k != 0.0);
        has_any.then_some((Spring { q: node.q, v: node.v, joint: node.joint, reference }, stiffness))
    };
    model.tree.nodes.iter().filter_map(of)
}

/// The limits of joints with one degree of freedom, and their ends.
fn limits(model: &Model) -> impl Iterator<Item = (Limit, (f64, f64))> + '_ {
    let limited = limited(model).enumerate().filter(|(_, (joint, _))| joint.kind.nv() == 1);
    limited.map(|(place, (joint, range))| {
        (Limit { q: joint.q, v: joint.v, place, compliance: joint.limit_compliance }, range)
    })
}

/// The joints that may have limits and have them.
fn limited(model: &Model) -> impl Iterator<Item = (&Joint, (f64, f64))> + '_ {
    let limited = model.joints.iter().filter(|joint| joint.kind.can_have_limits());
    limited.filter_map(|joint| Some((joint, joint.range?)))
}

/// The ball joints with limits, their places among the joints with limits, and how far they may turn.
fn ball_limits(model: &Model) -> impl Iterator<Item = (&Joint, usize, f64)> + '_ {
    let balls = limited(model).enumerate().filter(|(_, (joint, _))| joint.kind == JointKind::Ball);
    balls.map(|(place, (joint, (_, most)))| (joint, place, most))
}
