//! What a step of a model consists of, laid out for lanes.

mod constraints;
mod contacts;
mod drives;

use std::ops::Range;

use geometry::Scene;
use multibody::{Compliance, JointType, Model, NO_PARENT, Node};
use sim::{ContactLaw, EffectiveMass, Options, Pd, PdLaw, Scheme};
use spatial::{ArticulatedInertia, Mat3, Quat, Sym3, Vec3};

pub(crate) use constraints::{Constraints, Coupling, PlanFrame, Rows, Source, Term, Tie, TieKind};
pub(crate) use contacts::{Bounds, Contacts, PairKind, PlanPair, Shape};
pub(crate) use drives::{PlanActuator, PlanDrive, PlanPd};

/// Why steps of a model are not made in lanes but by one simulation for each world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotInLanes(pub String);

/// A model as lanes see it: constants, and which numbers of a state they work on.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub dt: f64,
    pub gravity: Vec3<f64>,
    pub nq: usize,
    pub nv: usize,
    pub nodes: Vec<PlanNode>,
    pub trees: Vec<PlanTree>,
    pub node_of_dof: Vec<usize>,
    /// The nodes from each node to its root, a bit each, in whole words.
    pub paths: Vec<u64>,
    /// Whether Coriolis forces are taken between both ends of the step, and energy and momentum balanced at its end.
    pub is_balanced: bool,
    /// Λ, (nv): armature, and what is implicit of springs, dampers and servos.
    pub lambda: Vec<f64>,
    pub armature: Vec<f64>,
    /// Impulse per velocity at the beginning of the step, (nv): −dt (d + dt k).
    pub resistance: Vec<f64>,
    pub springs: Vec<Spring>,
    /// Actuators whose force no motion opposes.
    pub servos: Vec<PlanDrive>,
    /// All others, which are constraints while they are at their limits.
    pub drives: Vec<PlanDrive>,
    /// Whether trees differ much in mass, and the pairs of trees that constraints join.
    pub is_uneven: bool,
    pub joined_trees: Vec<[usize; 2]>,
    /// The constraint of the first of the drives.
    pub first_drive: usize,
    pub pd: Option<PlanPd>,
    pub limits: Vec<Limit>,
    pub contacts: Contacts,
    pub rule: Rule,
    /// All that may constrain a step: a slot for every contact point, then all else.
    pub constraints: Constraints,
    /// Whether friction is the convex cone, or bounded by the impulses of the step before.
    pub is_cone: bool,
    pub is_lagged: bool,
    pub solver_options: sap::Options,
    pub recovery_options: sap::Options,
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
    pub mass: f64,
    pub com: Vec3<f64>,
    /// About the centre of mass.
    pub inertia: Sym3<f64>,
    /// Mass and mass moment that gravity acts on.
    pub weight: (f64, Vec3<f64>),
    /// How far the farthest geom reaches from the origin, m.
    pub extent: f64,
    pub mobility: Mobility,
}

/// How easily points of a node are moved, see [`EffectiveMass`], in the node's axes.
#[derive(Clone, Debug)]
pub(crate) struct Mobility {
    pub lin: f64,
    pub mixed: Vec3<f64>,
    pub ang: Sym3<f64>,
    pub least: f64,
    /// How easily the node is turned, see [`EffectiveMass::angular_inverse`].
    pub turn: f64,
    /// Where some points of the node cannot be moved in every direction, how easily the farthest is moved in all, see
    /// [`EffectiveMass::leverage`].
    pub fulcrum: Option<f64>,
    pub bare: ArticulatedInertia<f64>,
}

/// A tree of the forest.
#[derive(Clone, Debug)]
pub(crate) struct PlanTree {
    pub nodes: Range<usize>,
    pub dofs: Range<usize>,
    /// Whether its root moves freely, so that nothing changes its momentum but forces.
    pub floats: bool,
    /// Whether its armature, if it has any, leaves the momentum alone.
    pub keeps_momentum: bool,
    /// How easily it is moved as one body where trees differ much in mass, else infinite: [`EffectiveMass::of_heaviest`].
    pub as_one: f64,
}

/// A joint's spring.
#[derive(Clone, Debug)]
pub(crate) struct Spring {
    pub q: usize,
    pub v: usize,
    pub joint: JointType,
    /// By degrees of freedom and coordinates.
    pub stiffness: [f64; 6],
    pub reference: [f64; 7],
}

/// A joint's limits.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub q: usize,
    pub v: usize,
    pub range: (f64, f64),
    pub compliance: Compliance,
}

/// How compliance becomes regularisation, as in a step of one world at the end of which all constraints are taken.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub dt: f64,
    pub sigma: f64,
    pub recovery_speed: f64,
    /// R of a near-rigid constraint over its share of the Delassus operator, and the time in which it is righted, s.
    pub near_rigid: f64,
    pub near_rigid_time: f64,
}

impl Plan {
    /// The plan of a model, or why there is none.
    pub fn new(model: &Model, scene: &Scene, options: &Options, pd: Option<&Pd>) -> Result<Self, NotInLanes> {
        check(options, model)?;
        let dt = options.timestep.unwrap_or(model.timestep);
        let is_balanced = options.scheme == Scheme::Bilinear;
        let tree_of = |node: usize| model.tree.trees.partition_point(|nodes| nodes.end <= node);
        let mut lambda: Vec<f64> = model.armature.clone();
        let mut resistance = vec![0.0; model.nv()];
        for i in 0..model.nv() {
            let (k, d) = (model.stiffness[i], model.damping[i]);
            lambda[i] += dt * (d + dt * k);
            resistance[i] = -dt * (d + dt * k);
        }
        let (mut drives, servos): (Vec<_>, Vec<_>) =
            PlanDrive::of_model(model)?.into_iter().partition(PlanDrive::has_impedance);
        let attachments = sim::attachments(model, scene);
        let contacts = Contacts::new(model, scene, &attachments)?;
        let mut mass = EffectiveMass::new(model, &contacts.extents);
        let mut implicit = lambda.clone();
        drives.iter().for_each(|drive| implicit[drive.v] += drive.impedance(dt));
        let plan_pd = pd.map(|pd| PlanPd::new(pd, dt));
        if let (Some(plan_pd), Some(pd)) = (&plan_pd, pd) {
            if plan_pd.is_limited {
                drives.extend(plan_pd.drives(model, pd));
            } else {
                lambda.iter_mut().zip(&plan_pd.impedance).for_each(|(lambda, z)| *lambda += z);
            }
            implicit.iter_mut().zip(&plan_pd.impedance).for_each(|(lambda, z)| *lambda += z);
        }
        for (k, dofs) in model.tree.dofs.iter().enumerate() {
            mass.update(k, dofs.clone(), &implicit[dofs.clone()]);
        }
        let turns: Vec<Mat3<f64>> = model.tree.nodes.iter().map(own_axes).collect();
        let contacts = contacts.turned(&turns);
        let weights = weights(model, &turns);
        let node = |(i, node): (usize, &Node<f64>)| {
            let parent = (node.parent != NO_PARENT).then_some(node.parent);
            let above = parent.map_or(Mat3::IDENTITY, |parent| turns[parent]);
            let (turn, back) = (turns[i], turns[i].transpose());
            let rot = above.transpose() * (node.rot.to_mat3() * turn);
            let of = mass.node(i);
            let bare = mass.bare_block(i);
            PlanNode {
                parent,
                tree: tree_of(i),
                joint: node.joint,
                q: node.q,
                v: node.v,
                rot,
                is_turned: rot != Mat3::IDENTITY,
                pos: above.transpose_mul(node.pos),
                q_ref: node.q_ref,
                pitch: node.pitch,
                mass: node.inertia.mass,
                com: turn.transpose_mul(node.inertia.com),
                inertia: node.inertia.inertia.rotated(back),
                weight: weights[i],
                extent: contacts.extents[i],
                mobility: Mobility {
                    lin: of.lin,
                    mixed: turn.transpose_mul(of.mixed),
                    ang: of.ang.rotated(back),
                    least: of.least,
                    turn: mass.angular_inverse(i),
                    fulcrum: mass.has_fulcrum(i).then(|| trace(bare.c) + trace(bare.a) * contacts.extents[i].powi(2)),
                    bare: ArticulatedInertia {
                        a: bare.a.rotated(back),
                        b: back * (bare.b * turn),
                        c: bare.c.rotated(back),
                    },
                },
            }
        };
        let nodes: Vec<PlanNode> = model.tree.nodes.iter().enumerate().map(node).collect();
        let node_of_dof: Vec<usize> =
            nodes.iter().enumerate().flat_map(|(i, node)| [i].repeat(node.joint.nv())).collect();
        let tree = |(k, (nodes, dofs)): (usize, (&Range<usize>, &Range<usize>))| {
            let floats = model.tree.nodes[nodes.start].joint == JointType::Free;
            let keeps_momentum =
                floats && nodes.len() > 1 && model.armature[dofs.clone()][..6].iter().all(|a| *a == 0.0);
            PlanTree {
                nodes: nodes.clone(),
                dofs: dofs.clone(),
                floats,
                keeps_momentum,
                as_one: mass.of_heaviest(std::iter::once(k)),
            }
        };
        let limit = |joint: &multibody::Joint| {
            let range = joint.range.filter(|_| joint.kind.nv() == 1)?;
            Some(Limit { q: joint.q, v: joint.v, range, compliance: joint.limit_compliance })
        };
        let limits: Vec<Limit> = model.joints.iter().filter_map(limit).collect();
        let constraints = Constraints::new(model, &contacts, &limits, &drives, &turns)?;
        let joined_trees = constraints.joined_trees(&tree_of, &node_of_dof);
        let pi = std::f64::consts::PI;
        let solver_options = sap::Options {
            tolerance: options.tolerance,
            max_friction_iterations: if options.contact == ContactLaw::Coulomb { 2 } else { 1 },
            ..sap::Options::default()
        };
        Ok(Self {
            dt,
            gravity: model.gravity,
            nq: model.nq(),
            nv: model.nv(),
            trees: model.tree.trees.iter().zip(&model.tree.dofs).enumerate().map(tree).collect(),
            node_of_dof,
            paths: paths(&model.tree.nodes),
            nodes,
            is_balanced,
            lambda,
            armature: model.armature.clone(),
            resistance,
            springs: springs(model),
            servos,
            pd: plan_pd,
            limits,
            first_drive: constraints.all.len() - drives.len(),
            is_uneven: mass.is_uneven(),
            joined_trees,
            constraints,
            drives,
            is_cone: options.contact == ContactLaw::Sap,
            is_lagged: options.contact == ContactLaw::Lagged,
            recovery_options: sap::Options { max_friction_iterations: 1, ..solver_options },
            solver_options,
            contacts,
            rule: Rule {
                dt,
                sigma: options.sigma,
                recovery_speed: options.recovery_speed,
                near_rigid: options.beta * options.beta / (4.0 * pi * pi),
                near_rigid_time: dt + options.beta * dt / pi,
            },
        })
    }
}

/// The rotation to a node's frame from one whose z is the joint's axis.
fn own_axes(node: &Node<f64>) -> Mat3<f64> {
    match node.joint {
        JointType::Revolute | JointType::Prismatic | JointType::Screw => {
            Quat::between(Vec3::new(0.0, 0.0, 1.0), node.axis).to_mat3()
        }
        JointType::Ball | JointType::Free => Mat3::IDENTITY,
    }
}

fn trace(m: Sym3<f64>) -> f64 {
    m.xx + m.yy + m.zz
}

/// What lanes cannot do.
fn check(options: &Options, model: &Model) -> Result<(), NotInLanes> {
    let reason = match () {
        () if model.medium.is_there() => "bodies move in a medium",
        () if !matches!(options.scheme, Scheme::Bilinear | Scheme::SymplecticEuler) => "the scheme is implicit",
        () if options.accuracy.is_some() => "the step size is controlled",
        () if options.sleep_after.is_some() => "islands may sleep",
        () if options.pd_law == PdLaw::Theta => "PD control is that of the scheme",
        () => return Ok(()),
    };
    Err(NotInLanes(reason.into()))
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

/// The springs of joints.
fn springs(model: &Model) -> Vec<Spring> {
    let of = |node: &Node<f64>| {
        let (nq, nv) = (node.joint.nq(), node.joint.nv());
        let own = &model.stiffness[node.v..node.v + nv];
        let (mut stiffness, mut reference) = ([0.0; 6], [0.0; 7]);
        stiffness[..nv].copy_from_slice(own);
        reference[..nq].copy_from_slice(&model.spring_reference[node.q..node.q + nq]);
        let has_any = own.iter().any(|k| *k != 0.0);
        has_any.then_some(Spring { q: node.q, v: node.v, joint: node.joint, stiffness, reference })
    };
    model.tree.nodes.iter().filter_map(of).collect()
}
