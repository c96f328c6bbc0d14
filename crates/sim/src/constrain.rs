//! What constrains a step: contacts, limits, equalities, tendons, friction and drives of joints, as laws and rows of J.

mod contacts;
mod equalities;
mod jacobian_drift;
mod joints;
mod limits;
mod locks;
mod placed_tendons;
mod pulls;
mod regularization;
mod soft;
mod step_average;
mod string_inertia;
mod sums;
mod tendons;

use geometry::Scene;
use lanes::constants::MEAN;
use lanes::{ConstraintName, RowWeight, Turning, WarmStartEntry};
use multibody::{Compliance, Kinematics, Model, NodeMotion, TendonRow};
use sap::{Constraint, Law};
use spatial::{Mat3, Pose, Twist, Vec3};

use crate::clique::{Clique, Cliques};
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Motion, Term};
use crate::scheme::Discretization;
use crate::step_forces::{LastStep, StepForces};
use crate::tree_workspace::TreeWorkspace;
use crate::warm_start::WarmStart;
use crate::{ContactLaw, Energy, State};
use multibody::{EffectiveMass, InverseWeights};

pub(crate) use contacts::push_contacts;
pub(crate) use jacobian_drift::JacobianDrift;
pub use placed_tendons::PlacedTendons;
pub(crate) use pulls::PullStep;
pub(crate) use regularization::Regularization;
use regularization::{OneSided, Start};
pub(crate) use soft::{push_soft, soft_rates};
pub(crate) use tendons::StringEnd;

/// What a constraint reports to, an index of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    None,
    /// A contact point, among those that the set was made from.
    Contact(usize),
    /// A contact point of a soft body, among all of those.
    Soft(usize),
}

/// Constraints in a fixed order: contacts as the collider sorts them, then what the model has.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstraintSet {
    pub constraints: Vec<Constraint>,
    pub jacobians: Vec<ConstraintJacobian>,
    /// What Jacobians that are sums refer to.
    pub terms: Vec<Term>,
    /// What each constraint reports to.
    pub reports: Vec<Report>,
    /// What each is known by from step to step.
    pub keys: Vec<ConstraintName>,
    /// Which are near-rigid, so that what hits them is stopped in no time.
    rigid: Vec<bool>,
    /// The constraints that start violated and right positions without giving velocities, ascending, each with v̂ for the
    /// velocity that moves positions; v̂ in their own laws is that for the velocity at the end of the step.
    pub recoveries: Vec<(usize, f64)>,
    /// How many are joint or tendon limits.
    pub limits: usize,
    /// Where in the warm start to look for the next key.
    next: usize,
}

impl ConstraintSet {
    pub fn clear(&mut self) {
        self.constraints.clear();
        self.jacobians.clear();
        self.terms.clear();
        self.reports.clear();
        self.keys.clear();
        self.rigid.clear();
        self.recoveries.clear();
        self.limits = 0;
        self.next = 0;
    }

    /// Whether there are near-rigid constraints.
    pub fn has_rigid(&self) -> bool {
        self.rigid.contains(&true)
    }

    /// Appends constraint `k` of `other`.
    pub fn push_from(&mut self, other: &Self, k: usize) {
        self.constraints.push(other.constraints[k]);
        let mut jacobian = other.jacobians[k].clone();
        if let ConstraintJacobian::Sum { terms } = &mut jacobian {
            let start = self.terms.len();
            self.terms.extend_from_slice(&other.terms[terms.clone()]);
            *terms = start..self.terms.len();
        }
        self.jacobians.push(jacobian);
        self.reports.push(other.reports[k]);
        self.keys.push(other.keys[k]);
        self.rigid.push(other.rigid[k]);
        if let Ok(found) = other.recoveries.binary_search_by_key(&k, |(k, _)| *k) {
            self.recoveries.push((self.constraints.len() - 1, other.recoveries[found].1));
        }
    }

    /// Renames all trees.
    pub fn rename_trees(&mut self, rename: impl Fn(usize) -> usize) {
        self.jacobians.iter_mut().for_each(|jacobian| jacobian.rename_trees(&rename));
        self.terms.iter_mut().for_each(|term| term.tree = rename(term.tree));
    }

    /// What is remembered of a constraint from the last step.
    fn recall(&mut self, key: ConstraintName, cx: &Context<'_>) -> Option<WarmStartEntry> {
        cx.warm_start.of(key, &mut self.next)
    }

    /// Adds a constraint; `w` is its share of the Delassus operator.
    fn push(&mut self, law: Law<f64>, w: f64, jacobian: ConstraintJacobian, key: ConstraintName, cx: &Context<'_>) {
        let memory = self.recall(key, cx);
        self.push_recalled(law, w, jacobian, key, memory, Report::None);
    }

    /// Adds a constraint of which something is remembered, along its own rows.
    #[inline(always)]
    fn push_recalled(
        &mut self,
        law: Law<f64>,
        w: f64,
        jacobian: ConstraintJacobian,
        key: ConstraintName,
        memory: Option<WarmStartEntry>,
        report: Report,
    ) {
        let mut constraint = Constraint::from(law).with_delassus(w);
        if let Some(memory) = memory {
            constraint = constraint.with_free_velocity(memory.free_velocity.to_array());
        }
        self.constraints.push(constraint);
        self.jacobians.push(jacobian);
        self.reports.push(report);
        self.keys.push(key);
        self.rigid.push(false);
    }

    /// Adds a limit.
    fn push_limit(
        &mut self,
        law: OneSided,
        w: f64,
        jacobian: ConstraintJacobian,
        key: ConstraintName,
        cx: &Context<'_>,
    ) {
        let memory = self.recall(key, cx);
        let (v_hat, recovery) = law.split(memory.map(|m| m.normal), &cx.rule.of_step);
        self.push_recalled(Law::limit(law.of.r, v_hat), w, jacobian, key, memory, Report::None);
        self.set_rigid(law.is_rigid());
        self.set_recovery(recovery);
        self.limits += 1;
    }

    /// Adds three near-rigid rows along the world's axes, by which the second of two ends is held to the first, from where it is off by
    /// `violation`. What cannot move is not held.
    fn push_hold(
        &mut self,
        ends: [Option<ConstraintEnd>; 2],
        motion: Motion,
        violation: Vec3<f64>,
        key: ConstraintName,
        cx: &Context<'_>,
    ) {
        let w = MEAN * cx.mobility_between(&ends, motion);
        if w <= 0.0 {
            return;
        }
        let rule = cx.rule.compliant(Compliance::NearRigid, RowWeight { w, inverse: w }, violation.norm());
        let start = cx.rule.start(Compliance::NearRigid, violation, || cx.velocities(&ends, motion));
        let v_hat = rule.of.bias3(start.violation, start.rate, Turning::NONE);
        let jacobian = ConstraintJacobian::Ends { ends, basis: Mat3::IDENTITY, motion };
        self.push(Law::equalities(rule.of.r, v_hat.to_array()), w, jacobian, key, cx);
        self.set_rigid(true);
    }

    /// Says with which v̂ the last constraint moves positions, if another one than in its law.
    fn set_recovery(&mut self, v_hat: Option<f64>) {
        if let Some(v_hat) = v_hat {
            self.recoveries.push((self.constraints.len() - 1, v_hat));
        }
    }

    /// Says of the last constraint whether it is near-rigid.
    fn set_rigid(&mut self, is_rigid: bool) {
        if let Some(last) = self.rigid.last_mut() {
            *last = is_rigid;
        }
    }

    /// Leaves out what needs time to stop anything.
    pub fn retain_rigid(&mut self) {
        let Self { constraints, jacobians, reports, keys, rigid, .. } = self;
        let mut kept = 0;
        for k in 0..rigid.len() {
            if rigid[k] {
                constraints.swap(kept, k);
                jacobians.swap(kept, k);
                reports.swap(kept, k);
                keys.swap(kept, k);
                kept += 1;
            }
        }
        constraints.truncate(kept);
        jacobians.truncate(kept);
        reports.truncate(kept);
        keys.truncate(kept);
        rigid.clear();
        rigid.resize(kept, true);
        // Impacts move no positions.
        self.recoveries.clear();
    }
}

/// What constraints are made from in a step.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub model: &'a Model,
    pub scene: &'a Scene,
    pub state: &'a State,
    /// What is remembered of constraints from their last solution.
    pub warm_start: &'a WarmStart,
    /// Positions where the scheme takes constraints, (nq), and velocities that the step starts from, (nv).
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub step: &'a Discretization,
    pub cliques: Cliques<'a>,
    pub tree_of: &'a [usize],
    pub effective_mass: &'a EffectiveMass,
    pub inverse_weights: &'a InverseWeights,
    /// Of the heaviest tree in the island of each tree, see [`EffectiveMass::of_heaviest`]; none where all are about as heavy.
    pub heaviest: &'a [f64],
    pub jacobian_drift: &'a JacobianDrift,
    /// The farthest point of any geom from the origin of its node, one per node, m.
    pub extents: &'a [f64],
    /// How bodies move that are moved from outside, one per body; empty where none moves.
    pub carriers: &'a [Carrier],
    pub rule: Regularization,
    pub law: ContactLaw,
}

/// A body that is moved from outside, as it moves in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carrier {
    /// Its velocity, that of its origin, in world axes.
    pub velocity: Twist<f64>,
    /// Where its origin is.
    pub origin: Vec3<f64>,
}

impl Context<'_> {
    /// The tree and the node there that a body moves with, and the node's origin; none for a body that is fixed in the world.
    #[inline(always)]
    fn home(&self, body: usize) -> Option<(usize, usize, Vec3<f64>)> {
        let node = self.model.bodies[body].node?;
        let tree = self.tree_of[node];
        let workspace = &self.cliques.trees[tree];
        let node = node - workspace.nodes.start;
        Some((tree, node, workspace.kin.frames[node].pos))
    }

    /// The point as an end on the body's tree; none for a body that is fixed in the world.
    fn end(&self, body: usize, position: Vec3<f64>) -> Option<ConstraintEnd> {
        let (tree, node, origin) = self.home(body)?;
        Some(ConstraintEnd { tree, node, arm: position - origin })
    }

    /// The placement of the node that a body moves with.
    fn node_pose(&self, body: usize) -> Option<Pose<f64>> {
        let node = self.model.bodies[body].node?;
        let workspace = &self.cliques.trees[self.tree_of[node]];
        let frame = &workspace.kin.frames[node - workspace.nodes.start];
        Some(Pose::new(frame.pos, frame.quat))
    }

    /// How easily an end is moved, 1/kg. Inlined: a call for every end of every contact is 5 % of a settled stack's step.
    #[inline(always)]
    fn mobility(&self, end: &ConstraintEnd) -> f64 {
        match self.cliques.get(end.tree) {
            Clique::Tree(workspace) => {
                let node = self.effective_mass.node(workspace.nodes.start + end.node);
                node.inverse(&workspace.kin.frames[end.node].rot, end.arm)
            }
            Clique::Soft(soft) => soft.mobility(end.node),
        }
    }

    /// How much more easily it would be moved if drives and dampers did not resist, 1/kg.
    #[inline(always)]
    fn slack(&self, end: &ConstraintEnd) -> f64 {
        match self.cliques.get(end.tree) {
            Clique::Tree(workspace) => {
                let node = self.effective_mass.node(workspace.nodes.start + end.node);
                node.slack(&workspace.kin.frames[end.node].rot, end.arm)
            }
            Clique::Soft(_) => 0.0,
        }
    }

    /// What the regularisation of a contact is taken from, see [`lanes::stiff_mobility`].
    #[inline(always)]
    fn stiff_mobility(&self, ends: &[Option<ConstraintEnd>; 2], w: f64) -> f64 {
        let slack = ends.iter().flatten().fold(0.0, |sum, end| sum + self.slack(end));
        let heaviest = ends[0].or(ends[1]).and_then(|end| self.heaviest.get(end.tree));
        lanes::stiff_mobility(w, slack, heaviest.copied().unwrap_or(f64::INFINITY))
    }

    /// Up to which speed a near-rigid contact that starts violated is righted, m/s.
    fn recovery_speed(&self, ends: &[Option<ConstraintEnd>; 2], normal: Vec3<f64>) -> f64 {
        let leverage = |end: &ConstraintEnd| {
            let Clique::Tree(workspace) = self.cliques.get(end.tree) else { return 1.0 };
            let (i, rot) = (workspace.nodes.start + end.node, &workspace.kin.frames[end.node].rot);
            if self.effective_mass.has_fulcrum(i) {
                self.effective_mass.node(i).leverage(rot, end.arm, normal)
            } else {
                1.0
            }
        };
        let most = ends.iter().flatten().map(leverage).fold(0.0, f64::max);
        self.rule.of_step.recovery_speed_of(most)
    }

    /// How easily two ends are moved or turned against each other.
    #[inline(always)]
    fn mobility_between(&self, ends: &[Option<ConstraintEnd>; 2], motion: Motion) -> f64 {
        ends.iter().flatten().fold(0.0, |sum, end| match motion {
            Motion::Linear => sum + self.mobility(end),
            Motion::Angular => sum + self.angular_mobility(end),
        })
    }

    /// How easily the body of an end is turned, 1/(kg·m²).
    fn angular_mobility(&self, end: &ConstraintEnd) -> f64 {
        match self.cliques.get(end.tree) {
            Clique::Tree(workspace) => self.effective_mass.node(workspace.nodes.start + end.node).turn,
            // A point does not turn.
            Clique::Soft(_) => 0.0,
        }
    }

    /// The velocities of the second end relative to the first, at the beginning and where the second stage is linearised
    /// (free motion, but for the constraint forces of the last step), world.
    fn velocities(&self, ends: &[Option<ConstraintEnd>; 2], motion: Motion) -> [Vec3<f64>; 2] {
        let of = |end: &Option<ConstraintEnd>| {
            end.map_or([Vec3::ZERO; 2], |end| {
                let clique = self.cliques.get(end.tree);
                let start = end.velocity(clique.twists(), motion);
                [start, start + end.velocity(clique.changes(), motion)]
            })
        };
        let [[start_a, free_a], [start_b, free_b]] = [of(&ends[0]), of(&ends[1])];
        [start_b - start_a, free_b - free_a]
    }

    /// J̇ v₀ of the second end relative to the first at the second, or at the first if the second does not move, world.
    fn bias_acceleration(&self, ends: &[Option<ConstraintEnd>; 2]) -> Twist<f64> {
        let of = |end: &Option<ConstraintEnd>| {
            end.map_or(NodeMotion::ZERO, |end| self.cliques.get(end.tree).motion_about(end.node, end.arm))
        };
        let [first, second] = [of(&ends[0]), of(&ends[1])];
        if ends[1].is_some() { second.bias_seen_from(&first) } else { -first.bias_seen_from(&second) }
    }

    /// How fast the material points of a contact move about their nodes at v₀, m/s.
    fn spin(&self, ends: &[Option<ConstraintEnd>; 2]) -> f64 {
        let of = |end: &ConstraintEnd| self.cliques.get(end.tree).twists()[end.node].ang.norm() * end.arm.norm();
        ends.iter().flatten().map(of).sum()
    }

    /// The velocity of a body's point, world, where it is moved from outside.
    fn carried(&self, body: usize, point: Vec3<f64>) -> Vec3<f64> {
        let of = |&Carrier { velocity, origin }: &Carrier| velocity.lin + velocity.ang.cross(point - origin);
        self.carriers.get(body).map_or(Vec3::ZERO, of)
    }

    /// The velocity at a point that the second of two bodies has from what its tree hangs on, less the first's; none where neither moves. Bodies that
    /// are moved from outside themselves pull at what is tied to them by the distance alone, as in MuJoCo.
    fn carried_ends(&self, bodies: [usize; 2], point: Vec3<f64>) -> Option<Twist<f64>> {
        let of = |body: usize| {
            let hangs = self.model.bodies[body].node.is_some();
            let Carrier { velocity, origin } = self.carriers.get(body).copied().filter(|_| hangs).unwrap_or_default();
            velocity.shifted(point - origin)
        };
        (!self.carriers.is_empty()).then(|| of(bodies[1]) - of(bodies[0])).filter(|twist| *twist != Twist::ZERO)
    }

    /// The velocity of the second geom's surface on its body, less that of the first's.
    fn surface_velocity(&self, geoms: [usize; 2]) -> Vec3<f64> {
        let all = &self.state.surface_velocity;
        if all.is_empty() {
            return Vec3::ZERO;
        }
        self.surface_velocity_of(geoms[1]) - self.surface_velocity_of(geoms[0])
    }

    /// The velocity at a point, world, by which the second geom's surface turns on its body, less that of the first's.
    fn surface_turning(&self, geoms: [usize; 2], point: Vec3<f64>) -> Vec3<f64> {
        self.surface_turning_of(geoms[1], point) - self.surface_turning_of(geoms[0], point)
    }

    /// The velocity at a point, world, by which a geom's surface turns on its body.
    fn surface_turning_of(&self, geom: usize, point: Vec3<f64>) -> Vec3<f64> {
        let geom = &self.scene.geoms[geom];
        let Some(motion) = geom.surface_motion else { return Vec3::ZERO };
        let body = &self.model.bodies[geom.body];
        let pose = self.node_pose(geom.body).unwrap_or(Pose::IDENTITY) * body.pose * geom.pose;
        (pose.rot * motion.angular).cross(point - pose.pos)
    }

    /// The velocity of a geom's surface on its body, world, but for what turns.
    fn surface_velocity_of(&self, geom: usize) -> Vec3<f64> {
        let Some(v) = self.state.surface_velocity.get(3 * geom..3 * geom + 3) else { return Vec3::ZERO };
        let v = Vec3::new(v[0], v[1], v[2]);
        self.node_pose(self.scene.geoms[geom].body).map_or(v, |pose| pose.rot.to_mat3() * v)
    }
}

/// What a model has that may constrain a step, with indices of its trees.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    limits: Vec<limits::JointLimit>,
    friction: Vec<joints::JointFriction>,
    ties: Vec<equalities::Tie>,
    locks: Vec<locks::Lock>,
    tendons: Vec<tendons::TendonForces>,
    /// Scratch of spatial tendons: placements of the model's nodes without inertias, velocities (nv), and a row.
    kinematics: Kinematics<f64>,
    v: Vec<f64>,
    row: TendonRow,
    /// Where spatial tendons are placed, (nq): nowhere while it is empty.
    placed_at: Vec<f64>,
    /// Whether bodies without joints have moved since the ways of strings were gathered.
    have_bases_moved: bool,
    /// Of each obstacle of the spatial tendons that act, where the string comes to it and leaves it: see [`TendonRow::touches`].
    touches: Vec<Option<[Vec3<f64>; 2]>>,
}

impl Sources {
    pub fn of_model(model: &Model, tree_of: &[usize], weights: &InverseWeights) -> Self {
        Self {
            limits: limits::JointLimit::of_model(model),
            friction: joints::JointFriction::of_model(model, tree_of, weights),
            ties: equalities::Tie::of_model(model, tree_of),
            locks: locks::Lock::of_model(model, tree_of),
            tendons: tendons::TendonForces::of_model(model, tree_of, weights),
            kinematics: Kinematics::new(&model.tree),
            v: Vec::with_capacity(model.nv()),
            row: TendonRow::default(),
            placed_at: Vec::with_capacity(model.tree.nq),
            have_bases_moved: false,
            touches: Vec::new(),
        }
    }

    /// Whether nothing but contacts constrains a step.
    pub fn are_none(&self) -> bool {
        let of_joints = self.limits.is_empty() && self.friction.is_empty() && self.locks.is_empty();
        of_joints && self.ties.is_empty() && !self.have_tendons()
    }

    /// Adds the constraints of a step that are no contacts; `has_drives` tells whether there are drives at all.
    pub fn push(&self, cx: &Context<'_>, has_drives: bool, set: &mut ConstraintSet) {
        let is_awake = |tree: usize| !cx.cliques.trees[tree].asleep;
        let mut first = 0;
        for of_tree in self.limits.chunk_by(|a, b| a.tree == b.tree) {
            limits::JointLimit::push_all(of_tree, first, cx, set);
            first += of_tree.len();
        }
        self.ties.iter().enumerate().for_each(|(k, tie)| tie.push(k, cx, set));
        self.locks.iter().for_each(|lock| lock.push(cx, set));
        self.acting_tendons().for_each(|(k, tendon)| tendon.push(k, cx, set));
        self.friction.iter().filter(|friction| is_awake(friction.tree)).for_each(|friction| friction.push(cx, set));
        if has_drives {
            joints::push_drives(cx, set);
        }
    }

    /// Whether there are tendons that do anything.
    pub fn have_tendons(&self) -> bool {
        self.acting_tendons().next().is_some()
    }

    /// The tendons that do anything, with their places among all.
    fn acting_tendons(&self) -> impl Iterator<Item = (usize, &tendons::TendonForces)> {
        self.tendons.iter().enumerate().filter(|(_, tendon)| tendon.acts())
    }

    /// Whether a tendon, or an actuator between sites, acts on trees of which some are `chosen` and some are not, one flag a tree.
    pub fn join(&self, chosen: &[bool]) -> bool {
        self.acting_tendons().any(|(_, tendon)| tendon.joins(chosen))
    }

    /// Adds the explicit forces of tendons; `force` is on the model's degrees of freedom.
    pub fn add_explicit_forces(&self, state: &State, v: &[f64], step: &Discretization, force: &mut [f64]) {
        self.acting_tendons().for_each(|(_, tendon)| tendon.add_explicit(state.inputs(), &state.q, v, step, force));
    }

    /// Adds what actuators of tendons and sites do at the beginning of a step; `force` is on the model's degrees of freedom.
    pub fn add_actuation(&self, state: &State, v: &[f64], step: &Discretization, force: &mut [f64]) {
        self.tendons.iter().for_each(|tendon| tendon.add_actuation(state, v, step, force));
    }

    /// Adds the forces of tendons in the last step, and takes off the constraints those that were some.
    pub fn add_tendon_forces(
        &self,
        last: &LastStep,
        step: &Discretization,
        trees: &[TreeWorkspace],
        out: &mut StepForces,
    ) {
        self.acting_tendons().for_each(|(index, tendon)| tendon.add_step_forces(index, last, step, trees, out));
    }

    /// Sets the forces in the last step of actuators on tendons and sites, before their gears, (nu).
    pub fn write_actuators(
        &self,
        last: &LastStep,
        step: &Discretization,
        trees: &[TreeWorkspace],
        actuators: &mut [f64],
    ) {
        self.acting_tendons().for_each(|(_, tendon)| tendon.write_actuators(last, step, trees, actuators));
    }

    /// Gap, rate at the beginning and rate in free motion of both sides of every joint limit; `q` and `v` are the model's.
    pub fn limit_rates<'a>(
        &'a self,
        trees: &'a [TreeWorkspace],
        q: &'a [f64],
        v: &'a [f64],
    ) -> impl Iterator<Item = (f64, f64, f64)> {
        self.limits.iter().flat_map(move |limit| limit.rates(&trees[limit.tree], q, v)).flatten()
    }

    /// Adds the energy of the tendons, and what springs of joints have beyond the linear part; all trees of `now` are placed at the state.
    pub fn add_energy(&mut self, model: &Model, now: &Kinematics<f64>, state: &State, energy: &mut Energy) {
        for tendon in &model.tendons {
            tendon.write_row(model, now, &state.q, &mut self.row);
            tendons::add_energy(tendon, &self.row, state, energy);
        }
        for joint in model.joints.iter().filter(|joint| joint.polynomial.is_any()) {
            energy.potential += joint.polynomial.energy_at(0.0, state.q[joint.q] - model.spring_reference[joint.q]);
        }
    }
}
