//! One tree of the model in motion: its kinematics, its drives, its free motion.

mod actuated_lift;
mod body_drag;
mod coriolis;
mod ellipsoid_drag;
mod forces;
mod implicit;
mod invariants;
mod whole;

pub(crate) use coriolis::{EndVelocities, StringEnergy};

use std::ops::Range;

use actuated_lift::ActuatedLift;
use body_drag::BodyDrag;
use geometry::{Movement, Scene, Sweep};
pub(crate) use implicit::{FreeMotion, Stall};
use lanes::{Lanes, Plan};
use multibody::{
    Factor, FreeStep, InverseWeights, JointImpedance, Kinematics, Model, Transmission, Tree, difference,
    forward_kinematics, velocities,
};
use spatial::{Pose, Twist, Vec3, Wrench, are_zero};

use crate::actuation::{AxisDrive, Drive, OrientationDrive, Servo};
use crate::pd::PdDrive;
use crate::scheme::Discretization;
use crate::{Scheme, State, WarmStart};

/// Motions of the nodes that need not be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownMotion {
    /// Their twists.
    Start,
    /// Their twists and the factor's motions.
    Free,
}

/// A body's part in the loads of a tree.
#[derive(Clone, Debug)]
struct BodyLoad {
    body: usize,
    node: usize,
    /// Centre of mass in the node's frame.
    com: Vec3<f64>,
    /// Force that cancels (part of) its weight, world.
    lift: Vec3<f64>,
    /// What the medium does to it, and the wrench about its centre of mass at the beginning of the step, world.
    drag: Option<BodyDrag>,
    dragged: Wrench<f64>,
}

/// One tree: constants of the model with indices of the tree, and the scratch of a step.
///
/// A step leaves behind the tree's kinematics at the beginning of the step, the factor of
/// A = M + Λ, Λ = armature + dt D + dt² K (drives included), and the free-motion velocities v*.
#[derive(Clone, Debug)]
pub(crate) struct TreeWorkspace {
    pub tree: Tree<f64>,
    /// The nodes, coordinates and degrees of freedom in the model.
    pub nodes: Range<usize>,
    pub qs: Range<usize>,
    pub dofs: Range<usize>,
    pub kin: Kinematics<f64>,
    pub impedance: JointImpedance<f64>,
    pub factor: Factor<f64>,
    pub v_star: Vec<f64>,
    /// Under implicit schemes, where the second stage is linearised.
    pub v_linearised: Vec<f64>,
    /// Generalised impulse of constraints there.
    pub predicted: Vec<f64>,
    armature: Vec<f64>,
    damping: Vec<f64>,
    stiffness: Vec<f64>,
    /// How easily the degrees of freedom are moved, see [`InverseWeights`].
    mobility: Vec<f64>,
    spring_reference: Vec<f64>,
    has_springs: bool,
    loads: Vec<BodyLoad>,
    /// The bodies from the first of these to the last, and whether there is a load without wrenches applied.
    bodies: Range<usize>,
    has_own_loads: bool,
    lift: Option<ActuatedLift>,
    /// What actuators of tendons and sites do on the degrees of freedom, N or N·m; empty where no joint limits it.
    pub other_actuation: Vec<f64>,
    servos: Vec<Servo>,
    axis_drives: Vec<AxisDrive>,
    orientation_drives: Vec<OrientationDrive>,
    pd: PdDrive,
    /// The drives of the step.
    pub drives: Vec<Drive>,
    /// Impulses of drives without impedance.
    constant: Vec<f64>,
    /// Impulses of the step and Λ, without the drives.
    impulse: Vec<f64>,
    impedance_bare: Vec<f64>,
    /// Λ with the drives.
    pub impedance_all: Vec<f64>,
    free_step: FreeStep,
    rhs: Vec<f64>,
    change: Vec<f64>,
    /// Scratch, one per node.
    momenta: Vec<Wrench<f64>>,
    /// Whether it sleeps: nothing is computed but its placement.
    pub asleep: bool,
    /// Whether the step resolved its motion, under the default scheme.
    pub is_resolved: bool,
    /// Whether there are ball or free joints.
    turns: bool,
    /// The step's length, s.
    dt: f64,
    /// Whether the factor is that of M + `impedance_all` at the present placement.
    is_factored: bool,
    /// Under the default scheme.
    coriolis: Option<Box<coriolis::Coriolis>>,
    /// Under implicit schemes.
    newton: Option<Box<implicit::ImplicitNewton>>,
}

impl TreeWorkspace {
    /// The workspaces of all trees, in one pass over the model.
    pub fn of_model(
        model: &Model,
        scene: &Scene,
        weights: &InverseWeights,
        tree_of: &[usize],
        scheme: Scheme,
    ) -> Vec<Self> {
        let mut workspaces: Vec<Self> =
            (0..model.tree.trees.len()).map(|k| Self::new(model, weights, k, scheme)).collect();
        let mut drags = BodyDrag::of_model(model, scene);
        for (body, b) in model.bodies.iter().enumerate() {
            let Some(node) = b.node else { continue };
            let workspace = &mut workspaces[tree_of[node]];
            let lift = model.gravity * -(b.inertia.mass * b.gravity_compensation);
            let (node, com) = (node - workspace.nodes.start, b.pose.transform_point(b.inertia.com));
            workspace.bodies =
                if workspace.loads.is_empty() { body..body + 1 } else { workspace.bodies.start..body + 1 };
            let drag = drags[body].take();
            workspace.has_own_loads |= lift != Vec3::ZERO || drag.is_some();
            workspace.loads.push(BodyLoad { body, node, com, lift, drag, dragged: Wrench::ZERO });
        }
        for (ctrl, actuator) in model.actuators.iter().enumerate() {
            let joint = match actuator.transmission {
                Transmission::Joint { joint, .. }
                | Transmission::JointAxes { joint, .. }
                | Transmission::Orientation { joint, .. } => &model.joints[joint],
                _ => continue,
            };
            let Some(&tree) = tree_of.get(joint.nodes.start) else { continue };
            let workspace = &mut workspaces[tree];
            let first = &model.tree.nodes[workspace.nodes.start];
            Servo::add(model, weights, first, ctrl, &mut workspace.servos);
            workspace.axis_drives.extend(AxisDrive::new(model, weights, first, ctrl));
            let mobility = weights.of_actuator(model, ctrl);
            workspace.orientation_drives.extend(OrientationDrive::new(model, mobility, first, ctrl));
        }
        if model.lifts_by_actuators() {
            for workspace in &mut workspaces {
                let Range { start, end } = workspace.dofs;
                let joints = model.joints.iter().filter(|joint| (start..end).contains(&joint.v));
                workspace.lift = ActuatedLift::new(&workspace.tree, start, joints);
            }
        }
        for joint in model.joints_that_limit_others() {
            let workspace = &mut workspaces[tree_of[joint.nodes.start]];
            workspace.other_actuation.resize(workspace.tree.nv, 0.0);
            let first = &model.tree.nodes[workspace.nodes.start];
            Servo::add_limit(joint, first, &mut workspace.servos);
        }
        workspaces
    }

    /// The tree without bodies and actuators.
    fn new(model: &Model, weights: &InverseWeights, k: usize, scheme: Scheme) -> Self {
        let tree = model.tree.part(k);
        let (nodes, dofs) = (model.tree.trees[k].clone(), model.tree.dofs[k].clone());
        let first_q = model.tree.nodes[nodes.start].q;
        let qs = first_q..first_q + tree.nq;
        let stiffness = model.stiffness[dofs.clone()].to_vec();
        Self {
            kin: Kinematics::new(&tree),
            impedance: JointImpedance::new(&tree),
            factor: Factor::new(&tree),
            v_star: vec![0.0; tree.nv],
            v_linearised: vec![0.0; tree.nv],
            predicted: vec![0.0; tree.nv],
            armature: model.armature[dofs.clone()].to_vec(),
            damping: model.damping[dofs.clone()].to_vec(),
            has_springs: stiffness.iter().any(|&k| k != 0.0),
            stiffness,
            mobility: weights.axes[dofs.clone()].to_vec(),
            spring_reference: model.spring_reference[qs.clone()].to_vec(),
            loads: Vec::new(),
            bodies: 0..0,
            has_own_loads: false,
            lift: None,
            other_actuation: Vec::new(),
            servos: Vec::new(),
            axis_drives: Vec::new(),
            orientation_drives: Vec::new(),
            pd: PdDrive::new(&tree),
            drives: Vec::new(),
            constant: vec![0.0; tree.nv],
            impulse: vec![0.0; tree.nv],
            impedance_bare: vec![0.0; tree.nv],
            impedance_all: vec![0.0; tree.nv],
            free_step: FreeStep::new(&tree),
            rhs: vec![0.0; tree.nv],
            change: vec![0.0; tree.nv],
            momenta: vec![Wrench::ZERO; tree.len()],
            asleep: false,
            is_resolved: true,
            turns: tree.nodes.iter().any(|node| node.joint.rotation_offset().is_some()),
            dt: 0.0,
            is_factored: false,
            coriolis: (scheme == Scheme::Bilinear)
                .then(|| coriolis::Coriolis::new(model, k, &tree))
                .flatten()
                .map(Box::new),
            newton: scheme.is_implicit().then(|| Box::new(implicit::ImplicitNewton::new(&tree))),
            tree,
            nodes,
            qs,
            dofs,
        }
    }

    /// Puts the first node elsewhere: what the tree hangs on has moved.
    pub fn move_root(&mut self, pose: Pose<f64>) {
        if let Some(node) = self.tree.nodes.first_mut() {
            (node.pos, node.rot) = (pose.pos, pose.rot);
        }
        self.free_step.move_root(&self.tree);
    }

    /// Places the nodes and their velocities at positions and velocities of the model.
    pub fn place(&mut self, q: &[f64], v: &[f64]) {
        let all = self.tree.all();
        forward_kinematics(&self.tree, all.clone(), &q[self.qs.clone()], &mut self.kin);
        velocities(&self.tree, all, &v[self.dofs.clone()], &mut self.kin);
    }

    /// Places the nodes and gathers what the step's free motion is made of: impulses at q₀, v₀ less what is implicit of
    /// them, Λ, and the drives.
    ///
    /// `force` has forces on the degrees of freedom of the model, N or N·m.
    pub fn gather_forces(
        &mut self,
        state: &State,
        v: &[f64],
        force: &[f64],
        gravity: Vec3<f64>,
        step: &Discretization,
    ) {
        let dt = step.dt;
        let (q, v) = (&state.q[self.qs.clone()], &v[self.dofs.clone()]);
        self.dt = dt;
        self.free_step.place(&self.tree, q, v, gravity, dt, &mut self.kin);
        self.note_turning(dt);
        if self.has_springs {
            difference(&self.tree, &self.spring_reference, q, &mut self.change);
        }
        let nv = self.tree.nv;
        let (stiffness, damping, change) = (&self.stiffness[..nv], &self.damping[..nv], &self.change[..nv]);
        let (force, v_tree, impulse) = (&force[self.dofs.clone()][..nv], &v[..nv], &mut self.impulse[..nv]);
        for i in 0..nv {
            let (k, mut d) = (stiffness[i], damping[i]);
            let mut spring = 0.0;
            if k != 0.0 {
                spring = k * change[i];
                d += step.resist(k, d, self.mobility[i]).ahead;
            }
            impulse[i] = dt * (force[i] - spring - d * v_tree[i]);
        }
        for drive in &self.axis_drives {
            drive.add_impulse(state.inputs(), q, v, step, &mut self.impulse);
        }
        self.gather_drives(state, v, step);
        self.is_factored = false;
        let Self { loads, bodies, has_own_loads, kin, free_step, .. } = self;
        if *has_own_loads {
            loads.iter_mut().for_each(|load| load.dragged = Wrench::ZERO);
        }
        if *has_own_loads || !are_zero(&state.applied_wrench[6 * bodies.start..6 * bodies.end]) {
            for (node, wrench) in wrenches(loads, state, dt, kin) {
                free_step.load(node, wrench);
            }
        }
        self.load_drag(dt);
        self.load_coriolis();
    }

    /// Adds what the medium does to the bodies in a step of `dt`, in view of where all other forces would lead them.
    fn load_drag(&mut self, dt: f64) {
        if !self.has_own_loads || self.loads.iter().all(|load| load.drag.is_none()) {
            return;
        }
        self.predict();
        note_drag(&mut self.loads, &self.kin, Some(&self.factor.motions), dt);
        for load in &self.loads {
            if let Some(wrench) = load.about_node(load.dragged, &self.kin) {
                self.free_step.load(load.node, wrench * dt);
            }
        }
    }

    /// Finds where forces lead the tree without constraints, as far as they are gathered. Drives with limits only resist: which of them are at
    /// their limits is found later.
    fn predict(&mut self) {
        let Self { tree, kin, impedance, impedance_all, impulse, change, factor, free_step, .. } = self;
        if std::mem::replace(&mut self.is_factored, true) {
            free_step.solve_again(tree, kin, impulse, change, factor);
        } else {
            impedance.diagonal.copy_from_slice(impedance_all);
            free_step.solve(tree, kin, impedance, impulse, change, factor);
        }
    }

    /// Λ and the drives of the step; what pushes without impedance goes to the impulses. `v` is the tree's.
    fn gather_drives(&mut self, state: &State, v: &[f64], step: &Discretization) {
        let q = &state.q[self.qs.clone()];
        let constants = self.armature.iter().zip(self.stiffness.iter().zip(&self.damping));
        for ((lambda, mobility), (armature, (k, d))) in
            self.impedance_bare.iter_mut().zip(&self.mobility).zip(constants)
        {
            *lambda = armature + step.resist(*k, *d, *mobility).impedance;
        }
        if let Some(lift) = &mut self.lift {
            lift.find(&self.tree, &self.kin, &self.loads);
        }
        self.drives.clear();
        let (lift, others) = (self.lift.as_ref(), &self.other_actuation);
        let beside = |servo: &Servo| {
            let dof = servo.dof();
            lift.map_or(0.0, |lift| lift.on(dof)) + others.get(dof).copied().unwrap_or_default()
        };
        self.drives.extend(self.servos.iter().map(|servo| servo.drive(state.inputs(), q, v, beside(servo), step)));
        for drive in &self.orientation_drives {
            self.drives.extend(drive.drives(state.inputs(), q, v, step));
        }
        if state.pd.is_active() {
            let Self { pd, tree, qs, dofs, .. } = self;
            let is_limited = pd.evaluate(&state.pd, tree, qs.clone(), dofs.clone(), q, v, step);
            if is_limited || self.newton.is_some() {
                self.drives.extend(pd.drives(&state.pd, dofs.clone(), step.dt));
            } else {
                // Drives without limits are never constraints: they are part of A and of the impulses.
                add(&mut self.impulse, &pd.impulse);
                add(&mut self.impedance_bare, &pd.impedance);
            }
        }
        self.settle_drives(&state.warm_start);
    }

    /// Takes those drives for saturated that were near their limits in the last step; those without impedance are impulses at once.
    fn settle_drives(&mut self, warm_start: &WarmStart) {
        let mut next = 0;
        let (impulses, impedance, constant) = (&mut self.impulse, &mut self.impedance_all, &mut self.constant);
        impedance.copy_from_slice(&self.impedance_bare);
        constant.fill(0.0);
        self.drives.retain_mut(|drive| {
            if drive.force.impedance <= 0.0 {
                let impulse = drive.force.over(0.0);
                impulses[drive.dof] += impulse;
                constant[drive.dof] += impulse;
                return false;
            }
            impedance[drive.dof] += drive.force.impedance;
            drive.is_saturated = drive.force.is_limited()
                && warm_start.of(drive.key, &mut next).is_some_and(|m| drive.force.is_near_limit(m.normal) > 0.0);
            true
        });
    }

    /// Free motion: (M + Λ)(v* − v₀) = dt (forces at q₀, v₀ − dt K v₀), the parts of the forces that oppose motion taken
    /// at the end of the step; saturated drives do not push.
    pub fn move_freely(&mut self, v: &[f64]) {
        self.rhs.copy_from_slice(&self.impulse);
        self.impedance.diagonal.copy_from_slice(&self.impedance_bare);
        for drive in self.drives.iter().filter(|drive| !drive.is_saturated) {
            self.rhs[drive.dof] += drive.force.impulse;
            self.impedance.diagonal[drive.dof] += drive.force.impedance;
        }
        let Self { tree, kin, impedance, rhs, change, factor, free_step, impedance_all, is_factored, .. } = self;
        // Drives at their limits are the only ones that change Λ.
        if std::mem::take(is_factored) && impedance.diagonal == *impedance_all {
            free_step.solve_again(tree, kin, rhs, change, factor);
        } else {
            free_step.solve(tree, kin, impedance, rhs, change, factor);
        }
        for (v_star, (v, change)) in self.v_star.iter_mut().zip(v[self.dofs.clone()].iter().zip(&self.change)) {
            *v_star = v + change;
        }
    }

    /// Takes over the forces of a step that was made in lanes, from the state on: drives, and which of them were constraints, and what the medium
    /// did.
    pub fn follow(&mut self, state: &State, step: &Discretization, lanes: &Lanes<f64>, plan: &Plan) {
        self.impulse.fill(0.0);
        self.gather_drives(state, &state.v[self.dofs.clone()], step);
        self.drives.iter_mut().for_each(|drive| drive.is_saturated = lanes.is_saturated(plan, 0, drive.key));
        if self.has_own_loads {
            self.loads.iter_mut().for_each(|load| load.dragged = lanes.dragged(plan, 0, load.body));
        }
    }

    /// Takes no part in the step.
    pub fn sleep(&mut self) {
        self.v_star.fill(0.0);
        self.v_linearised.fill(0.0);
        self.predicted.fill(0.0);
        self.drives.clear();
        self.factor.motions.fill(Twist::ZERO);
    }

    /// Whether a wrench on any of its bodies is not zero; `wrenches` are the model's.
    pub fn is_loaded_by(&self, wrenches: &[f64]) -> bool {
        let is_blown = |load: &BodyLoad| load.drag.as_ref().is_some_and(BodyDrag::is_windy);
        let is_pulled = |load: &BodyLoad| wrenches[6 * load.body..6 * load.body + 6].iter().any(|w| *w != 0.0);
        self.loads.iter().any(|load| is_pulled(load) || is_blown(load))
    }

    /// Whether no point within `extents` of the nodes' origins moves faster than `speed` when the tree moves with `v`.
    pub fn is_slower_than(&mut self, speed: f64, extents: &[f64], v: &[f64]) -> bool {
        velocities(&self.tree, self.tree.all(), v, &mut self.kin);
        let mut points = self.kin.twists.iter().zip(extents);
        points.all(|(twist, extent)| twist.lin.norm() + extent * twist.ang.norm() <= speed)
    }

    /// What is known of how the nodes move under the tree's velocities `v`, but for implicit schemes; `v0` are the model's that the
    /// step starts from.
    pub fn known_motions_of(&self, v: &[f64], v0: &[f64]) -> Option<KnownMotion> {
        match () {
            () if self.newton.is_some() => None,
            () if v == self.v_star => Some(KnownMotion::Free),
            () if *v == v0[self.dofs.clone()] => Some(KnownMotion::Start),
            () => None,
        }
    }

    /// A (v₀ − v*), of the tree's degrees of freedom; `wrenches` is scratch, one for each node.
    pub fn momentum_to_start(&self, wrenches: &mut [Wrench<f64>], out: &mut [f64]) {
        let Self { tree, kin, rhs, free_step, .. } = self;
        free_step.loads(tree, kin, rhs, wrenches, out);
        out[..tree.nv].iter_mut().for_each(|x| *x = -*x);
    }

    /// No force for no time: v* = `v`, the model's, and A = M, armature included.
    pub fn stand_still(&mut self, v: &[f64]) {
        self.impedance.diagonal.copy_from_slice(&self.armature);
        self.factor.factor(&self.tree, self.tree.all(), &self.kin, &self.impedance, None);
        self.factor.motions.fill(Twist::ZERO);
        self.v_star.copy_from_slice(&v[self.dofs.clone()]);
    }

    /// Marks those drives saturated that are beyond a limit where the tree ends with `v`, from `v₀`; returns whether there are
    /// any.
    pub fn saturate_drives(&mut self, v: &[f64], v0: &[f64]) -> bool {
        let mut is_any_saturated = false;
        for drive in self.drives.iter_mut().filter(|drive| !drive.is_saturated) {
            let Drive { dof, force, .. } = *drive;
            if force.exceeds(force.unlimited(v[dof] - v0[dof])) > 0.0 {
                drive.is_saturated = true;
                is_any_saturated = true;
            }
        }
        is_any_saturated
    }

    /// Adds the impulses of applied wrenches, gravity compensation and the medium on the nodes.
    fn load(&self, state: &State, dt: f64, loaded: &mut [Wrench<f64>]) {
        for (node, wrench) in wrenches(&self.loads, state, dt, &self.kin) {
            loaded[node] += wrench;
        }
    }

    /// Whether there are any of these.
    fn is_loaded(&self, state: &State) -> bool {
        self.has_own_loads || self.is_loaded_by(&state.applied_wrench)
    }

    /// How a node of the model moves in the step, of which the part `rest` lies ahead.
    pub fn movement(&self, node: usize, dt: f64, rest: f64) -> Movement {
        let i = node - self.nodes.start;
        let (frame, now, change) = (&self.kin.frames[i], self.kin.twists[i], self.factor.motions[i]);
        let ahead = dt * rest;
        let sweep = Sweep {
            translation: now.lin * ahead,
            rotation: now.ang * ahead,
            change: change.lin * dt,
            turn: change.ang * dt,
            slack: 0.0,
            tree: Some(self.nodes.start),
            rests: self.asleep,
        };
        Movement { rot: frame.rot, pos: frame.pos, sweep }
    }

    /// Kinetic and potential energy where the model's nodes are placed as in `kin`; `v` and `q` are the model's.
    pub fn energy(&mut self, kin: &Kinematics<f64>, q: &[f64], v: &[f64], gravity: Vec3<f64>) -> crate::Energy {
        let mut energy = crate::Energy::default();
        let (frames, twists) = (&kin.frames[self.nodes.clone()], &kin.twists[self.nodes.clone()]);
        for (frame, twist) in frames.iter().zip(twists) {
            energy.kinetic += 0.5 * twist.dot(frame.inertia.momentum(*twist));
            energy.potential -= frame.inertia.mass * gravity.dot(frame.pos + frame.inertia.com);
        }
        for load in &self.loads {
            let frame = &frames[load.node];
            energy.potential -= load.lift.dot(frame.pos + frame.rot * load.com);
        }
        difference(&self.tree, &self.spring_reference, &q[self.qs.clone()], &mut self.change);
        for i in 0..self.tree.nv {
            let v = v[self.dofs.start + i];
            energy.kinetic += 0.5 * self.armature[i] * v * v;
            energy.potential += 0.5 * self.stiffness[i] * self.change[i] * self.change[i];
        }
        energy
    }
}

fn add(sum: &mut [f64], x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
}

/// The impulses of applied wrenches, gravity compensation and the medium that are not zero, about the origins of the nodes that they
/// are on.
fn wrenches(
    loads: &[BodyLoad],
    state: &State,
    dt: f64,
    kin: &Kinematics<f64>,
) -> impl Iterator<Item = (usize, Wrench<f64>)> {
    loads.iter().filter_map(move |load| {
        let w = &state.applied_wrench[6 * load.body..6 * load.body + 6];
        let applied = Wrench { ang: Vec3::new(w[0], w[1], w[2]), lin: Vec3::new(w[3], w[4], w[5]) };
        let wrench = load.about_node(applied + load.own(), kin)?;
        Some((load.node, wrench * dt))
    })
}

/// Notes what the medium does to the bodies at the present placement and velocities, for a step of `dt`; `changes` of the nodes' velocities are
/// those without it, where they are known.
fn note_drag(loads: &mut [BodyLoad], kin: &Kinematics<f64>, changes: Option<&[Twist<f64>]>, dt: f64) {
    for load in loads {
        if let Some(drag) = &load.drag {
            let (rot, start) = (kin.frames[load.node].rot, kin.twists[load.node]);
            let at_centre = |twist: Twist<f64>| twist.shifted(rot * load.com);
            let led = changes.map(|changes| at_centre(start + changes[load.node]));
            load.dragged = drag.wrench(rot, at_centre(start), led, dt);
        }
    }
}

impl BodyLoad {
    /// Gravity compensation and the force of the medium, about the centre of mass.
    fn own(&self) -> Wrench<f64> {
        Wrench { ang: Vec3::ZERO, lin: self.lift } + self.dragged
    }

    /// A wrench about the centre of mass as one about the origin of the node, unless it is zero.
    fn about_node(&self, Wrench { ang, lin }: Wrench<f64>, kin: &Kinematics<f64>) -> Option<Wrench<f64>> {
        let arm = kin.frames[self.node].rot * self.com;
        (ang != Vec3::ZERO || lin != Vec3::ZERO).then(|| Wrench { ang: ang + arm.cross(lin), lin })
    }
}
