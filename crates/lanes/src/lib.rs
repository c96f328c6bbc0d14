//! The step of a model, of one world or of several side by side, one in each lane of vector registers.
//!
//! A [`Plan`] is what a step of a model consists of, [`Lanes`] the scratch of a thread, [`GroupMemory`] what a group of worlds keeps from
//! step to step. The lanes of `Lanes<f64>` are one: the step of a world by itself. Lanes make the default step and symplectic Euler's; a
//! model that asks for something else is [`NotInLanes`]. A lane whose step is not made, since its contact problem does not settle or it
//! asks for smaller steps, [falls back](Lanes::fallback) to the step for all models, as it was.
//!
//! ```
//! use lanes::{Bundle, Lanes, Plan, Setup};
//! # use sapwood_lanes as lanes;
//! # let mut builder = multibody::ModelBuilder::new("falling");
//! # let inertia = spatial::RigidInertia { mass: 2.0, ..spatial::RigidInertia::ZERO };
//! # let body = builder.add_body(multibody::BodySpec { name: "ball".into(), inertia, ..Default::default() })?;
//! # let up = [0.0, 0.0, 1.0].into();
//! # builder.add_joint(body, multibody::JointSpec::new(multibody::JointKind::Prismatic { axis: up }))?;
//! # let (model, scene) = (builder.build()?, geometry::Scene::default());
//! let setup = Setup { dt: 0.01, extents: &[0.0], ..Setup::default() };
//! let plan = Plan::new(&model, &scene, &setup).map_err(|reason| reason.0)?;
//! let mut lanes = Lanes::<f64>::new(&plan, model.nu());
//! Bundle::step(&mut lanes, &plan);
//! assert!(lanes.fallback() == 0 && (lanes.v[0] + 0.0981).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything of a tree is about one point, the origin of its root at the beginning of the step, in world axes: twists, wrenches and
//! inertias of nodes are then sums, without shifts from node to node. A joint with several degrees of freedom is eliminated one by one.
//!
//! A world's bits do not depend on its neighbours: what is computed for a lane never depends on the numbers of another. Code branches on the
//! numbers of lanes only to skip what no lane needs, or where it goes lane by lane.

mod adhesion;
mod balance;
mod choose;
mod collision;
pub mod constants;
mod constrain;
mod contact;
mod contact_space;
mod drag;
mod drives;
mod dynamics;
mod forest;
mod kinematics;
mod laws;
mod limits;
mod name;
mod one_by_one;
mod phases;
mod plan;
mod reports;
mod rule;
mod single_world;
mod solve;
mod step;
mod surfaces;

use std::sync::Arc;

use multibody::{StepBalance, vec3};
use spatial::masks::{lanes_of, select, select3, wide};
use spatial::{ArticulatedInertia, Mat3, PointInertia, Quat, Real, Twist, Vec3, Wrench};

use collision::{NarrowPhase, NearPairs};
pub use constrain::ball_limit;
pub use contact::LaneContact;
use contact_space::ContactSpace;
use drives::Drive;
pub use name::{ConstraintName, WarmStartEntry};
use one_by_one::Solver;
pub use phases::Bundle;
pub use plan::{
    AtRest, ChangingGains, Description, NotInLanes, Numbers, PdGains, Plan, SensorTables, Setup, Table, Variation,
    pair_surface, spring_depth,
};
pub use reports::LaneLoad;
pub use rule::{OneSided, RowLaw, RowWeight, Rule, Slider, Turning, stiff_mobility};
pub use single_world::Summary;
use surfaces::Carrier;

/// What the next step of a group needs beside its state: what constraints met in the last step. Few of all that a model may have did.
#[derive(Clone, Debug)]
pub struct GroupMemory<T: Real> {
    constraints: Vec<(usize, Memory<T>)>,
}

impl<T: Real> Default for GroupMemory<T> {
    /// Nothing is remembered.
    fn default() -> Self {
        Self { constraints: Vec::new() }
    }
}

impl<T: Bundle> GroupMemory<T> {
    /// Forgets what the constraints of a lane met.
    pub fn forget(&mut self, lane: usize) {
        for (_, memory) in &mut self.constraints {
            put(&mut memory.is_remembered, lane, 0.0);
        }
    }
}

/// A world of every lane while they are stepped: states, and the scratch of a step. One for each thread, which groups use in turn.
#[derive(Clone, Debug)]
pub struct Lanes<T: Real> {
    /// Positions, (nq).
    pub q: Vec<T>,
    /// Velocities, (nv).
    pub v: Vec<T>,
    /// Controls, (nu).
    pub ctrl: Vec<T>,
    /// Activations, (na).
    pub act: Vec<T>,
    /// Those at the beginning of the step, and what actuators act by in it, (nu): controls, or activations in their place.
    pub act_start: Vec<T>,
    input: Vec<T>,
    /// Which equality constraints are in force, 1 or 0, (neq).
    pub equality_active: Vec<T>,
    /// Applied forces, (nv).
    pub applied_force: Vec<T>,
    /// Wrenches at the centres of mass, (nbody, 6).
    pub applied_wrench: Vec<T>,
    /// Velocities of geoms' surfaces on their bodies, in the axes of the bodies' nodes, (ngeom).
    surface_velocity: Vec<Vec3<T>>,
    /// Whether any lane has any.
    pub has_surface_velocity: bool,
    /// Bodies that are moved from outside, (nmocap).
    carriers: Vec<Carrier<T>>,
    /// Whether any surface moves otherwise than the nodes do in the step.
    surfaces_move: bool,
    /// How much adhesions pull, N, later of each contact point; and how far beyond the reach of the step these are looked for.
    pulls: Vec<T>,
    adhesion_reach: T,
    /// Whether any lane has applied forces.
    pub has_forces: bool,
    /// Whether any lane has applied wrenches.
    pub has_wrenches: bool,
    /// What worlds may have of their own, of the group that is stepped.
    pub numbers: Arc<Numbers<T>>,
    /// What the constraints met in the step before, of the group that is stepped.
    memory: Vec<Memory<T>>,
    /// That of the constraints that are chosen in the step, as it was when the step began.
    memory_before: Vec<Memory<T>>,
    /// Whether the nodes are placed at `q`.
    is_placed: bool,
    /// See [`Self::of_single_world`].
    is_single_world: bool,
    /// What constraints met in the step before, of a single world.
    warm_start: Vec<WarmStartEntry>,
    /// How far the impulses of the last step are from what the laws ask for, of a single world.
    residual: f64,
    /// Lanes whose next step falls back to a simulation without a trial, a bit each.
    pub untried: u32,
    /// Lanes whose step falls back to a simulation, a bit each, and those of them that ask for smaller steps.
    fallback: u32,
    unresolved: u32,
    /// Lanes whose problem is that of recovery, a bit each.
    recovering: u32,
    nodes: Vec<Node<T>>,
    dofs: Vec<Dof<T>>,
    /// Origins of the trees in the world.
    origins: Vec<Vec3<T>>,
    /// Whether each turns so fast in this step that Coriolis forces between its ends and the balance matter, 1 or 0.
    turns: Vec<T>,
    /// Axes of the degrees of freedom at the beginning of the last step of a single world, (nv).
    axes_at_start: Vec<Twist<T>>,
    /// v₀, v* and forces on the degrees of freedom, (nv).
    v_start: Vec<T>,
    v_star: Vec<T>,
    impulse: Vec<T>,
    /// Λ with the drives that are no constraints, (nv).
    lambda: Vec<T>,
    drives: Vec<Drive<T>>,
    /// What a medium does to bodies in it: the force, and its torque about the centre of mass, world.
    dragged: Vec<Wrench<T>>,
    /// Targets of PD control, (nq).
    pub pd_target: Vec<T>,
    /// Its impulses, (nv).
    pd_impulse: Vec<T>,
    q_start: Vec<T>,
    /// Velocities at the end of the step before energy and momentum are balanced, (nv).
    v_solved: Vec<T>,
    /// Velocities that move positions, (nv).
    v_of_q: Vec<T>,
    geoms: Vec<Geom<T>>,
    balls: Vec<Ball<T>>,
    /// How far each node may turn in the step, rad.
    spins: Vec<T>,
    slots: Vec<ConstraintSlot<T>>,
    narrow: NarrowPhase,
    /// Of a single world.
    near_pairs: NearPairs<T>,
    /// The slots of contact points in reach of any lane in this step.
    near: Vec<usize>,
    space: ContactSpace<T>,
    solver: Solver,
    /// Coefficients of the terms of `plan.constraints`; those of ball limits are set in each step.
    coefficients: Vec<T>,
    /// How easily the heaviest tree in the island of each tree is moved, where trees differ much in mass.
    heaviest: Vec<T>,
    /// Whether anything in its island recovers, 1 or 0, and how fast recovery moves it at most, m/s, by trees.
    recovers: Vec<T>,
    fastest: Vec<T>,
    islands: Vec<usize>,
    /// What the step owes its end, by trees.
    due: Vec<StepBalance<T>>,
    /// Steps that were made with this scratch.
    steps: u64,
    /// Iterations of the contact solver, of the lane that took most, and of all lanes together.
    pub stats: LaneStats,
}

/// What steps did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStats {
    /// Iterations of the contact solver of all lanes.
    pub iterations: u64,
    /// Those of the slowest lane of each step.
    pub group_iterations: u64,
    /// Contacts that pushed.
    pub pushing: u64,
}

impl LaneStats {
    /// Adds what other steps did.
    pub fn add(&mut self, other: &Self) {
        let Self { iterations, group_iterations, pushing } = other;
        self.iterations += iterations;
        self.group_iterations += group_iterations;
        self.pushing += pushing;
    }
}

/// What a constraint met in the step before.
#[derive(Clone, Copy, Debug)]
struct Memory<T: Real> {
    /// The velocity that it would have without impulse (world axes; of limits the first entry).
    free_velocity: Vec3<T>,
    /// Its normal impulse.
    normal: T,
    /// Whether anything is remembered, 1 or 0.
    is_remembered: T,
}

impl<T: Real> Memory<T> {
    const NONE: Self = Self { free_velocity: Vec3::ZERO, normal: T::ZERO, is_remembered: T::ZERO };
}

/// A node in a step; motions are about the tree's origin.
#[derive(Clone, Copy, Debug)]
struct Node<T: Real> {
    rot: Mat3<T>,
    /// Origin from that of the tree.
    pos: Vec3<T>,
    inertia: PointInertia<T>,
    /// At v₀; and of what v* adds, later of all that the step adds.
    twist: Twist<T>,
    change: Twist<T>,
    /// Acceleration at zero joint accelerations: of (v₀, v₀), then of (v₀, v* − v₀).
    acceleration: Twist<T>,
    /// Coriolis forces c.
    coriolis: Wrench<T>,
    /// dt (c − weight).
    force: Wrench<T>,
    /// Impulse that the joint must bear: that of the forces, then what children add.
    load: Wrench<T>,
    articulated: ArticulatedInertia<T>,
}

impl<T: Real> Node<T> {
    const ZERO: Self = Self {
        rot: Mat3::IDENTITY,
        pos: Vec3::ZERO,
        inertia: PointInertia::ZERO,
        twist: Twist::ZERO,
        change: Twist::ZERO,
        acceleration: Twist::ZERO,
        coriolis: Wrench::ZERO,
        force: Wrench::ZERO,
        load: Wrench::ZERO,
        articulated: ArticulatedInertia::ZERO,
    };
}

/// A degree of freedom: its axis s, U = I^A s and 1/D of the factor.
#[derive(Clone, Copy, Debug)]
struct Dof<T: Real> {
    axis: Twist<T>,
    u: Wrench<T>,
    d_inv: T,
    /// Right-hand side less what children bear, then the solution.
    x: T,
}

impl<T: Real> Dof<T> {
    const ZERO: Self = Self { axis: Twist::ZERO, u: Wrench::ZERO, d_inv: T::ZERO, x: T::ZERO };
}

/// A geom that moves, in the world.
#[derive(Clone, Copy, Debug)]
struct Geom<T: Real> {
    pos: Vec3<T>,
    rot: Mat3<T>,
}

/// A ball around a geom, and how its centre moves in the step, m.
#[derive(Clone, Copy, Debug)]
struct Ball<T: Real> {
    centre: Vec3<T>,
    /// In free motion, and what forces change of that.
    shift: Vec3<T>,
    change: Vec3<T>,
    /// How far a point of the geom may be from where the shift leads it, and how far it may move at all; as in `geometry`.
    stray: T,
    farthest: T,
    /// The radius of a ball around all points that it may come to.
    reach: T,
    /// The same two as seen from the root of a tree that floats.
    farthest_in_tree: T,
    reach_in_tree: T,
}

impl<T: Real> Ball<T> {
    const NOWHERE: Self = Self {
        centre: Vec3::ZERO,
        shift: Vec3::ZERO,
        change: Vec3::ZERO,
        stray: T::ZERO,
        farthest: T::ZERO,
        reach: T::ZERO,
        farthest_in_tree: T::ZERO,
        reach_in_tree: T::ZERO,
    };
}

/// A constraint of the plan in a step: of a contact point in reach, or of anything else.
#[derive(Clone, Copy, Debug)]
struct ConstraintSlot<T: Real> {
    /// Whether the lane has it, 1 or 0.
    is_present: T,
    /// Where the bodies are pushed, world.
    position: Vec3<T>,
    /// From the first geom to the second.
    normal: Vec3<T>,
    gap: T,
    /// One over [`geometry::Contact::stiffness_share`].
    softness: T,
    /// The velocity of the second geom's surface less that of the first's that is none of the nodes, across the normal and along it; known
    /// where surfaces move.
    sliding: Vec3<T>,
    parting: T,
    /// The law: v̂ for the velocity at the end of the step and for the one that moves positions (of a contact without a law in this step, a
    /// bound of it from above), R_n and the share of the Delassus operator.
    v_hat: T,
    v_hat_recovery: T,
    r_n: T,
    /// R of a contact's friction.
    r_t: T,
    w: T,
    /// The step in which it was last filled, and a contact's impulse on the second body there, world.
    step: u64,
    /// Whether its law has been made in this step.
    has_law: bool,
    impulse: Vec3<T>,
    /// Whether a contact pushes in the step so far, 1 or 0.
    pushes: T,
    /// The velocity of the second body there relative to the first at the velocities found.
    velocity: Vec3<T>,
    /// A contact's normal impulse in the step before, or else that of the contact taken for itself.
    normal_estimate: T,
    /// Bounds of the impulse of a constraint of one row; v̂ of an equality of three rows.
    low: T,
    high: T,
    bias: Vec3<T>,
    /// The impulse of a constraint that is at a bound.
    at_bound: T,
}

impl<T: Real> ConstraintSlot<T> {
    const NONE: Self = Self {
        is_present: T::ZERO,
        position: Vec3::ZERO,
        normal: Vec3::ZERO,
        gap: T::ZERO,
        softness: T::ONE,
        sliding: Vec3::ZERO,
        parting: T::ZERO,
        v_hat: T::ZERO,
        v_hat_recovery: T::ZERO,
        r_n: T::ONE,
        r_t: T::ONE,
        w: T::ONE,
        step: 0,
        has_law: false,
        impulse: Vec3::ZERO,
        pushes: T::ZERO,
        velocity: Vec3::ZERO,
        normal_estimate: T::ZERO,
        low: T::ZERO,
        high: T::ZERO,
        bias: Vec3::ZERO,
        at_bound: T::ZERO,
    };

    /// The normal impulse that bounds a contact's friction where positions are righted: the estimate, if it pushes.
    #[inline(always)]
    fn bound_of_recovery(&self) -> T {
        self.normal_estimate * self.pushes
    }
}

impl<T: Bundle> Lanes<T> {
    /// The scratch of steps of a world by itself: it falls back where it hardly moves, its islands are solved one after another, and the
    /// velocities of contact points are noted.
    pub fn of_single_world(plan: &Plan, nu: usize) -> Self {
        Self { is_single_world: true, ..Self::with_space(plan, nu, ContactSpace::of_single_world(plan)) }
    }

    /// The scratch of steps of this plan, with `nu` controls.
    pub fn new(plan: &Plan, nu: usize) -> Self {
        Self::with_space(plan, nu, ContactSpace::new(plan))
    }

    fn with_space(plan: &Plan, nu: usize, space: ContactSpace<T>) -> Self {
        let constraints = plan.constraints.all.len();
        Self {
            q: vec![T::ZERO; plan.nq],
            v: vec![T::ZERO; plan.nv],
            ctrl: vec![T::ZERO; nu],
            act: vec![T::ZERO; plan.activations.len()],
            equality_active: plan.equality_active.iter().map(|is_active| wide(*is_active)).collect(),
            act_start: vec![T::ZERO; plan.activations.len()],
            input: vec![T::ZERO; nu],
            applied_force: vec![T::ZERO; plan.nv],
            applied_wrench: vec![T::ZERO; 6 * plan.node_of_body.len()],
            surface_velocity: vec![Vec3::ZERO; plan.contacts.surfaces.frames.len()],
            has_surface_velocity: false,
            carriers: vec![Carrier::AT_ORIGIN; plan.carriers],
            surfaces_move: false,
            pulls: vec![T::ZERO; plan.adhesions.len()],
            adhesion_reach: T::ZERO,
            has_forces: false,
            has_wrenches: false,
            numbers: Arc::new(plan.numbers.map(&mut wide)),
            memory: vec![Memory::NONE; constraints],
            memory_before: vec![Memory::NONE; constraints],
            is_placed: false,
            is_single_world: false,
            warm_start: Vec::with_capacity(constraints),
            residual: 0.0,
            untried: 0,
            fallback: 0,
            unresolved: 0,
            recovering: 0,
            nodes: vec![Node::ZERO; plan.nodes.len()],
            dofs: vec![Dof::ZERO; plan.nv],
            origins: vec![Vec3::ZERO; plan.trees.len()],
            turns: vec![T::ZERO; plan.trees.len()],
            axes_at_start: vec![Twist::ZERO; plan.nv],
            v_start: vec![T::ZERO; plan.nv],
            v_star: vec![T::ZERO; plan.nv],
            impulse: vec![T::ZERO; plan.nv],
            lambda: vec![T::ZERO; plan.nv],
            drives: vec![Drive::NONE; plan.drives.len()],
            dragged: vec![Wrench::ZERO; plan.drags.len()],
            pd_target: vec![T::ZERO; if plan.pd.is_empty() { 0 } else { plan.nq }],
            pd_impulse: vec![T::ZERO; plan.nv],
            q_start: vec![T::ZERO; plan.nq],
            v_solved: vec![T::ZERO; plan.nv],
            v_of_q: vec![T::ZERO; plan.nv],
            geoms: vec![Geom { pos: Vec3::ZERO, rot: Mat3::IDENTITY }; plan.contacts.geoms.len()],
            balls: vec![Ball::NOWHERE; plan.contacts.geoms.len()],
            spins: vec![T::ZERO; plan.nodes.len()],
            slots: vec![ConstraintSlot::NONE; constraints],
            narrow: NarrowPhase::new(plan),
            near_pairs: NearPairs::new(plan),
            near: Vec::with_capacity(constraints),
            space,
            solver: Solver::default(),
            heaviest: vec![T::ZERO; plan.trees.len()],
            recovers: vec![T::ZERO; plan.trees.len()],
            fastest: vec![T::ZERO; plan.trees.len()],
            islands: Vec::with_capacity(plan.trees.len()),
            coefficients: plan.constraints.terms.iter().map(|term| wide(term.coefficient)).collect(),
            due: Vec::with_capacity(plan.trees.len()),
            steps: 0,
            stats: LaneStats::default(),
        }
    }

    /// Forgets where nodes are, after positions have changed.
    pub fn disturb(&mut self) {
        self.is_placed = false;
    }

    /// Begins steps of a group that remembers this.
    pub fn take_memory(&mut self, of_group: &GroupMemory<T>) {
        let remembered = of_group.constraints.iter();
        self.space.remembered.extend(remembered.map(|(k, memory)| {
            self.memory[*k] = *memory;
            k
        }));
        self.is_placed = false;
    }

    /// Ends steps of a group, which remembers what its constraints met.
    pub fn give_memory(&mut self, of_group: &mut GroupMemory<T>) {
        of_group.constraints.clear();
        let remembered = self.space.remembered.drain(..);
        of_group.constraints.extend(remembered.map(|k| (k, std::mem::replace(&mut self.memory[k], Memory::NONE))));
    }

    /// Lanes whose last step is for a simulation to make, a bit each: their states are as before.
    pub fn fallback(&self) -> u32 {
        self.fallback
    }

    /// Those of the [lanes that fall back](Self::fallback) whose step errs by so much that it is to be made in halves, a bit each.
    pub fn unresolved(&self) -> u32 {
        self.unresolved
    }

    /// Lets all lanes fall back, which are [`untried`](Self::untried) if they have a world, instead of a step.
    pub fn fall_back_in_all(&mut self) {
        (self.fallback, self.unresolved) = (self.untried, 0);
    }
}

/// The number in one lane.
#[inline(always)]
pub fn get<T: Bundle>(x: &T, lane: usize) -> f64 {
    T::scalars(std::slice::from_ref(x))[lane].into()
}

/// Replaces the number in one lane.
#[inline(always)]
pub fn put<T: Bundle>(x: &mut T, lane: usize, value: f64) {
    T::scalars_mut(std::slice::from_mut(x))[lane] = T::Scalar::from_f64(value);
}

/// The vector in one lane.
#[inline(always)]
fn get3<T: Bundle>(v: &Vec3<T>, lane: usize) -> Vec3<f64> {
    Vec3::new(get(&v.x, lane), get(&v.y, lane), get(&v.z, lane))
}

/// Replaces the vector in one lane.
#[inline(always)]
fn put3<T: Bundle>(v: &mut Vec3<T>, lane: usize, value: Vec3<f64>) {
    put(&mut v.x, lane, value.x);
    put(&mut v.y, lane, value.y);
    put(&mut v.z, lane, value.z);
}

/// One of two constants, as numbers have 64 or 32 bits.
#[inline(always)]
fn by_precision<T: Bundle>(double: f64, single: f64) -> f64 {
    if T::IS_SINGLE { single } else { double }
}

#[inline(always)]
fn wide3<T: Real>(v: Vec3<f64>) -> Vec3<T> {
    Vec3::new(wide(v.x), wide(v.y), wide(v.z))
}

#[inline(always)]
fn wide_mat<T: Real>(m: &Mat3<f64>) -> Mat3<T> {
    Mat3::from_columns(wide3(m.x), wide3(m.y), wide3(m.z))
}

#[inline(always)]
fn quaternion<T: Real>(x: &[T]) -> Quat<T> {
    Quat::new(x[0], x[1], x[2], x[3])
}

/// Where the dofs of a node start, and how many they are.
#[inline(always)]
fn dofs_of(node: &crate::plan::PlanNode) -> std::ops::Range<usize> {
    node.v..node.v + node.joint.nv()
}
