//! Errors of targets, their Jacobian, and the searches along it.

use spatial::{Mat3, Pose, Quat, Vec3};
use support::SplitMix64;

use super::least_squares::BoundedStep;
use super::{InverseKinematicsError, InverseKinematicsOptions, InverseKinematicsSolution, PoseTarget};
use crate::{
    JointKind, Kinematics, Model, NO_PARENT, difference, forward_kinematics, integrate, joint_axis, logarithm_tangent,
    normalize,
};

/// μ of the first step, and the factors by which it rises where a step fails and falls where the linear model holds.
const FIRST_DAMPING: f64 = 0.1;
const RISE: f64 = 8.0;
const FALL: f64 = 0.5;
/// λ at least, relative to the mean of the diagonal of JᵀJ: what makes it invertible where targets leave freedom.
const LEAST_DAMPING: f64 = 1e-12;
/// λ of projections onto what targets leave free, relative to the same.
const NULL_SPACE_DAMPING: f64 = 1e-10;
/// A decrease that is foretold, relative to the cost, below which a search has come to a minimum that is no solution.
const LEAST_DECREASE: f64 = 1e-6;
/// Where the reference is as near as it gets: a step towards it, rad or m.
const NEAREST_STEP: f64 = 1e-7;
/// Steps back to the targets after one towards the reference; how often one is halved.
const CORRECTIONS: usize = 8;
const HALVINGS: usize = 6;

/// One degree of freedom that moves a target.
struct Column {
    node: usize,
    /// Which of the joint's degrees of freedom.
    axis: usize,
    dof: usize,
    /// Its coordinate and the limits of it, where it has one of its own.
    limits: Option<(usize, (f64, f64))>,
}

/// A ball with a limit: where its quaternion is, and the largest angle, rad.
struct Cone {
    quaternion: usize,
    angle: f64,
}

/// The targets, and scratch at one configuration.
pub(super) struct Problem<'a> {
    model: &'a Model,
    targets: &'a [PoseTarget],
    tolerance: f64,
    columns: Vec<Column>,
    /// The columns that move each target.
    of_target: Vec<Vec<usize>>,
    /// The nodes that targets hang on, parents first.
    nodes: Vec<usize>,
    cones: Vec<Cone>,
    kinematics: Kinematics<f64>,
    /// r, 6 numbers a target.
    residuals: Vec<f64>,
    /// J, (6 targets, columns).
    jacobian: Vec<f64>,
    step: BoundedStep,
    /// A velocity, (nv).
    velocity: Vec<f64>,
}

/// What [`Problem::place`] found.
#[derive(Clone, Copy)]
struct Misses {
    /// ½‖r‖²
    cost: f64,
    /// The largest distance or angle.
    error: f64,
}

impl<'a> Problem<'a> {
    pub fn new(
        model: &'a Model,
        targets: &'a [PoseTarget],
        start: &[f64],
        options: &InverseKinematicsOptions,
    ) -> Result<Self, InverseKinematicsError> {
        check(model, targets, start, options)?;
        let tree = &model.tree;
        let mut may_move = vec![options.joints.is_none(); tree.len()];
        for joint in options.joints.iter().flatten() {
            may_move[model.joints[*joint].nodes.clone()].fill(true);
        }
        let mut carries = vec![false; tree.len()];
        let ancestors = |body: usize| tree.path_to_root(model.bodies[body].node.unwrap_or(NO_PARENT));
        targets.iter().flat_map(|target| ancestors(target.body)).for_each(|node| carries[node] = true);
        let nodes: Vec<usize> = (0..tree.len()).filter(|node| carries[*node]).collect();
        let mut columns = Vec::new();
        for &node in nodes.iter().filter(|node| may_move[**node]) {
            let of = &tree.nodes[node];
            columns.extend((0..of.joint.nv()).map(|axis| Column { node, axis, dof: of.v + axis, limits: None }));
        }
        let mut cones = Vec::new();
        for joint in &model.joints {
            let Some(range) = joint.range else { continue };
            match joint.kind {
                JointKind::Ball => {
                    let moves = columns.iter().any(|column| column.dof == joint.v);
                    cones.extend(moves.then_some(Cone { quaternion: joint.q, angle: range.1 }));
                }
                kind if kind.nv() == 1 => {
                    let column = columns.iter_mut().find(|column| column.dof == joint.v);
                    column.into_iter().for_each(|column| column.limits = Some((joint.q, range)));
                }
                _ => {}
            }
        }
        let mut of_target = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            let mut moves = vec![false; tree.len()];
            ancestors(target.body).for_each(|node| moves[node] = true);
            let own: Vec<usize> = (0..columns.len()).filter(|k| moves[columns[*k].node]).collect();
            if own.is_empty() {
                let body = model.bodies[target.body].name.clone();
                return Err(InverseKinematicsError::NotMovable { target: index, body });
            }
            of_target.push(own);
        }
        let (rows, n) = (6 * targets.len(), columns.len());
        Ok(Self {
            model,
            targets,
            tolerance: options.tolerance,
            columns,
            of_target,
            nodes,
            cones,
            kinematics: Kinematics::new(tree),
            residuals: vec![0.0; rows],
            jacobian: vec![0.0; rows * n],
            step: BoundedStep::new(n),
            velocity: vec![0.0; model.nv()],
        })
    }

    /// The local minimum that `q` leads to.
    pub fn search(&mut self, mut q: Vec<f64>, max_iterations: usize) -> InverseKinematicsSolution {
        normalize(&self.model.tree, &mut q);
        self.keep_limits(&mut q);
        let mut misses = self.place(&q);
        let mut damping = FIRST_DAMPING;
        let mut iterations = 0;
        let mut is_new = true;
        while misses.error > self.tolerance && iterations < max_iterations {
            if is_new {
                self.linearize(&q);
            }
            iterations += 1;
            self.step.solve(damping * misses.cost + LEAST_DAMPING * self.scale());
            let trial = self.moved(&q, 1.0);
            let ahead = self.place(&trial);
            let foretold = self.step.decrease();
            if foretold.abs() < LEAST_DECREASE * misses.cost {
                break;
            }
            // A step that limits have bent may lead upwards: it is shortened as well.
            let ratio = if foretold > 0.0 { (misses.cost - ahead.cost) / foretold } else { 0.0 };
            is_new = ratio > 0.0;
            if is_new {
                (q, misses) = (trial, ahead);
            }
            damping *= match ratio {
                x if x > 0.75 => FALL,
                x if x > 0.25 => 1.0,
                _ => RISE,
            };
        }
        InverseKinematicsSolution { q, error: misses.error, iterations, converged: misses.error <= self.tolerance }
    }

    /// Moves a solution along what the targets leave free to where ‖reference ⊟ q‖ is least; returns how many steps that took.
    pub fn approach(
        &mut self,
        reference: &[f64],
        solution: &mut InverseKinematicsSolution,
        max_iterations: usize,
    ) -> usize {
        let mut iterations = 0;
        let mut distance = self.distance(reference, &solution.q);
        while iterations < max_iterations {
            iterations += 1;
            self.place(&solution.q);
            self.linearize(&solution.q);
            self.step_along_null_space(reference, &solution.q);
            let direction = self.step.step.clone();
            if direction.iter().all(|d| d.abs() < NEAREST_STEP) {
                break;
            }
            let mut scale = 1.0;
            let nearer = (0..HALVINGS).find_map(|_| {
                self.step.step.copy_from_slice(&direction);
                let trial = self.moved(&solution.q, scale);
                scale *= 0.5;
                let found = self.search(trial, CORRECTIONS);
                iterations += found.iterations;
                let ahead = self.distance(reference, &found.q);
                (found.converged && ahead < distance).then_some((found, ahead))
            });
            let Some((found, ahead)) = nearer else { break };
            (*solution, distance) = (found, ahead);
        }
        iterations
    }

    /// Start number `attempt`: joints with limits anywhere within them, hinges without anywhere, what else there is as in `start`.
    pub fn draw(&self, start: &[f64], attempt: usize) -> Vec<f64> {
        let mut q = start.to_vec();
        let mut random = SplitMix64(attempt as u64);
        for column in &self.columns {
            let node = &self.model.tree.nodes[column.node];
            let turns = (-std::f64::consts::PI, std::f64::consts::PI);
            let is_finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
            let range = match column.limits {
                Some((_, limits)) => Some(limits).filter(is_finite),
                None if node.joint.turns_about_axis() => Some(turns),
                None => None,
            };
            if let Some((low, high)) = range {
                q[node.q] = random.uniform(low, high);
            }
        }
        q
    }

    /// Puts the nodes where `q` has them, and compares them with the targets.
    fn place(&mut self, q: &[f64]) -> Misses {
        for &node in &self.nodes {
            forward_kinematics(&self.model.tree, node..node + 1, q, &mut self.kinematics);
        }
        let mut error = 0.0_f64;
        for (k, target) in self.targets.iter().enumerate() {
            let pose = self.pose(target);
            let counted = |miss: Vec3<f64>, weights: Vec3<f64>| {
                let along = |miss: f64, weight: f64| if weight > 0.0 { miss } else { 0.0 };
                let (m, w) = (miss, weights);
                Vec3::new(along(m.x, w.x), along(m.y, w.y), along(m.z, w.z)).norm()
            };
            let shift = target.position.map_or(Vec3::ZERO, |position| pose.pos - position);
            let turn = target.orientation.map_or(Vec3::ZERO, |to| (to.conjugate() * pose.rot).rotation_vector());
            error = error.max(counted(shift, target.position_weights)).max(counted(turn, target.orientation_weights));
            self.residuals[6 * k..6 * k + 3].copy_from_slice(&scaled(shift, target.position_weights).to_array());
            self.residuals[6 * k + 3..6 * k + 6].copy_from_slice(&scaled(turn, target.orientation_weights).to_array());
        }
        Misses { cost: 0.5 * self.residuals.iter().map(|r| r * r).sum::<f64>(), error }
    }

    /// J, JᵀJ, Jᵀr and the limits of a step, after [`Self::place`] at `q`.
    fn linearize(&mut self, q: &[f64]) {
        let n = self.columns.len();
        for (k, target) in self.targets.iter().enumerate() {
            let pose = self.pose(target);
            let turn = target.orientation.map(|to| {
                let miss = (to.conjugate() * pose.rot).rotation_vector();
                logarithm_tangent(miss) * pose.rot.to_mat3().transpose()
            });
            for &c in &self.of_target[k] {
                let column = &self.columns[c];
                let (node, frame) = (&self.model.tree.nodes[column.node], &self.kinematics.frames[column.node]);
                let motion = joint_axis(node, frame, column.axis).shifted(pose.pos - frame.pos);
                let shifts = target.position.map_or(Vec3::ZERO, |_| scaled(motion.lin, target.position_weights));
                let turns = turn.map_or(Vec3::ZERO, |turn: Mat3<f64>| turn * motion.ang);
                let turns = scaled(turns, target.orientation_weights);
                let entries = shifts.to_array().into_iter().chain(turns.to_array());
                entries.enumerate().for_each(|(row, x)| self.jacobian[(6 * k + row) * n + c] = x);
            }
        }
        let BoundedStep { matrix, gradient, bounds, .. } = &mut self.step;
        matrix.fill(0.0);
        gradient.fill(0.0);
        for (row, r) in self.jacobian.chunks_exact(n).zip(&self.residuals) {
            for i in (0..n).filter(|i| row[*i] != 0.0) {
                gradient[i] += row[i] * r;
                matrix[i * n..=i * n + i].iter_mut().zip(row).for_each(|(a, x)| *a += row[i] * x);
            }
        }
        for (bounds, column) in bounds.iter_mut().zip(&self.columns) {
            if let Some((at, (low, high))) = column.limits {
                *bounds = ((low - q[at]).min(0.0), (high - q[at]).max(0.0));
            }
        }
    }

    /// The part of reference ⊟ q that moves no target: (1 − J⁺J)(reference ⊟ q) = δ (JᵀJ + δ 1)⁻¹ (reference ⊟ q), δ → 0.
    fn step_along_null_space(&mut self, reference: &[f64], q: &[f64]) {
        difference(&self.model.tree, q, reference, &mut self.velocity);
        let damping = NULL_SPACE_DAMPING * self.scale();
        let towards = self.columns.iter().map(|column| -damping * self.velocity[column.dof]);
        self.step.gradient.iter_mut().zip(towards).for_each(|(g, x)| *g = x);
        self.step.solve(damping);
    }

    /// The distance to the reference of what may move.
    fn distance(&mut self, reference: &[f64], q: &[f64]) -> f64 {
        difference(&self.model.tree, q, reference, &mut self.velocity);
        self.columns.iter().map(|column| self.velocity[column.dof].powi(2)).sum::<f64>().sqrt()
    }

    /// q ⊞ a fraction of the step, within the limits.
    fn moved(&mut self, q: &[f64], scale: f64) -> Vec<f64> {
        let mut moved = q.to_vec();
        self.velocity.fill(0.0);
        self.columns.iter().zip(&self.step.step).for_each(|(column, d)| self.velocity[column.dof] = *d);
        integrate(&self.model.tree, &mut moved, &self.velocity, scale);
        self.keep_limits(&mut moved);
        moved
    }

    fn keep_limits(&self, q: &mut [f64]) {
        for (at, (low, high)) in self.columns.iter().filter_map(|column| column.limits) {
            // Limits that exclude each other are a file's; the lower one then counts.
            q[at] = q[at].min(high).max(low);
        }
        for Cone { quaternion: at, angle } in &self.cones {
            let turn = Quat::new(q[*at], q[at + 1], q[at + 2], q[at + 3]).rotation_vector();
            if turn.norm() > *angle {
                let kept = Quat::from_rotation_vector(turn * (angle / turn.norm()));
                q[*at..at + 4].copy_from_slice(&kept.to_array());
            }
        }
    }

    fn pose(&self, target: &PoseTarget) -> Pose<f64> {
        self.kinematics.body_pose(self.model, target.body) * target.frame
    }

    /// The mean of the diagonal of JᵀJ.
    fn scale(&self) -> f64 {
        let n = self.columns.len();
        (0..n).map(|i| self.step.matrix[i * n + i]).sum::<f64>() / n as f64
    }
}

fn scaled(a: Vec3<f64>, b: Vec3<f64>) -> Vec3<f64> {
    Vec3::new(a.x * b.x, a.y * b.y, a.z * b.z)
}

fn check(
    model: &Model,
    targets: &[PoseTarget],
    start: &[f64],
    options: &InverseKinematicsOptions,
) -> Result<(), InverseKinematicsError> {
    let valid =
        |is: bool, what, expected| if is { Ok(()) } else { Err(InverseKinematicsError::Invalid { what, expected }) };
    let is_q = |q: &[f64]| {
        let has_direction = |at: usize| q[at..at + 4].iter().any(|x| *x != 0.0);
        q.len() == model.nq()
            && q.iter().all(|x| x.is_finite())
            && model.tree.nodes.iter().filter_map(|node| node.quaternion()).all(has_direction)
    };
    valid(is_q(start), "start", "a configuration: nq finite numbers, quaternions not 0")?;
    let reference = options.reference.as_ref().is_none_or(|q| is_q(q));
    valid(reference, "reference", "a configuration: nq finite numbers, quaternions not 0")?;
    valid(options.tolerance > 0.0, "tolerance", "a number above 0")?;
    let joints = options.joints.iter().flatten().all(|joint| *joint < model.joints.len());
    valid(joints, "joints", "indices of joints")?;
    if targets.is_empty() {
        return Err(InverseKinematicsError::NoTargets);
    }
    for (index, target) in targets.iter().enumerate() {
        valid(target.body < model.bodies.len(), "body of a target", "the index of a body")?;
        let weights = [target.position_weights, target.orientation_weights].map(|weights| weights.to_array());
        let all = weights.iter().flatten().all(|weight| *weight >= 0.0 && weight.is_finite());
        valid(all, "weights of a target", "finite numbers of 0 or more")?;
        let counts = |asked: bool, weights: [f64; 3]| asked && weights.iter().any(|weight| *weight > 0.0);
        if !counts(target.position.is_some(), weights[0]) && !counts(target.orientation.is_some(), weights[1]) {
            return Err(InverseKinematicsError::EmptyTarget { target: index });
        }
        let Quat { w, x, y, z } = target.orientation.unwrap_or(Quat::IDENTITY);
        let position = target.position.unwrap_or(Vec3::ZERO);
        let numbers = [w, x, y, z].into_iter().chain(position.to_array());
        valid(numbers.clone().all(f64::is_finite), "position or orientation of a target", "finite numbers")?;
        valid(numbers.take(4).any(|x| x != 0.0), "orientation of a target", "a quaternion that is not 0")?;
    }
    Ok(())
}
