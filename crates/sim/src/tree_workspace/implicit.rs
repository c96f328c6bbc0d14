//! Free motion under implicit schemes: Newton's method on the balance of momentum
//!
//! ```text
//! m(v) = M(q^θq) (v − v₀) + dt F(q^θq, v^θv) = 0
//! ```
//!
//! with the whole derivative of m, inertial forces included, factored by recursion ([`multibody::ImplicitFactor`]). The
//! second stage is linearised at what is found here.
//!
//! SAP linearises at free motion v* (Castro, Permenter, Han, 2022). Where constraints push, the step ends O(dt) away from v*, and the
//! terms of ∂m/∂v that A leaves out make an error of first order: a body at rest on the ground would be g dt²/4 below it. So the equation
//! solved is m(v̂) = ŵ, ŵ the generalised impulse of the constraints in the last step, and the second stage A (v − v̂) = Jᵀγ − ŵ:
//! v − v̂ is O(dt²) while forces are smooth. A tree that nothing pushes any more is solved again with ŵ = 0.

use lanes::ConstraintName;
use multibody::{
    ImplicitFactor, JointDerivative, Rates, add_generalized_forces, difference, logarithm_tangent, pd_law, propagate,
    vec3, velocities,
};
use spatial::{Mat3, Vec3, Wrench};

use super::whole::Ends;
use super::{TreeWorkspace, note_drag};
use crate::State;
use crate::scheme::Discretization;

/// Newton steps at most, shortened ones included. Motion that the step resolves takes one to five.
const MAX_NEWTON_STEPS: usize = 16;
/// ‖m‖ over momentum, in the kinetic norm, that is round-off.
const ROUND_OFF: f64 = 1e-15;
/// Where energy is corrected afterwards, Newton's method may leave this share of the error of extrapolated accelerations: of third order
/// in the step, as the scheme's own error, while forces change steadily;
const MISSED: f64 = 1e-3;
/// and no more than these shares of the momentum where they do not: the second times the third power of how far joints turn in the step,
/// as the scheme's own error.
const MAX_MISSED: f64 = 1e-4;
const MAX_OF_TURN: f64 = 0.1;
/// How far constraint impulses may be from what was predicted, relative, before the second stage is linearised anew.
const POORLY: f64 = 0.5;
/// Relative error of a Newton step per radian (metre) that it moves joints: inertia changes by about as much.
const CURVATURE: f64 = 10.0;
/// Relative change of accelerations from step to step up to which they are extrapolated. Beyond it the extrapolation may lead to another
/// solution than the one that continues from v₀.
const STEADY: f64 = 0.3;
/// Where it must arrive.
const TOLERANCE: f64 = 1e-12;

/// Scratch of Newton's method on a tree.
#[derive(Clone, Debug)]
pub(super) struct ImplicitNewton {
    pub factor: ImplicitFactor,
    /// Positions and velocities where forces are taken, and what moves positions.
    pub q: Vec<f64>,
    pub v_theta: Vec<f64>,
    v_position: Vec<f64>,
    acceleration: Vec<f64>,
    /// m(v), and what of it are impulses of drives and loads; whether there are loads.
    residual: Vec<f64>,
    pub impulses: Vec<f64>,
    is_loaded: bool,
    /// q^θq less the target of PD control, and its stiffnesses.
    error: Vec<f64>,
    gains: Vec<f64>,
    /// The last point from where a step was made, the step, and the next.
    base: Vec<f64>,
    delta: Vec<f64>,
    trial: Vec<f64>,
    /// Velocities where the last accelerations lead if they go on as they did; whether there were some.
    expected: Vec<f64>,
    expects: bool,
    /// What joints add to the derivative.
    diagonal: Vec<f64>,
    blocks: Vec<Mat3<f64>>,
    turns: Vec<Mat3<f64>>,
    pub ends: Ends,
}

impl ImplicitNewton {
    pub fn new(tree: &multibody::Tree<f64>) -> Self {
        let zeros = vec![0.0; tree.nv];
        Self {
            factor: ImplicitFactor::new(tree),
            q: vec![0.0; tree.nq],
            v_theta: zeros.clone(),
            v_position: zeros.clone(),
            acceleration: zeros.clone(),
            residual: zeros.clone(),
            impulses: zeros.clone(),
            is_loaded: false,
            error: zeros.clone(),
            gains: zeros.clone(),
            base: zeros.clone(),
            delta: zeros.clone(),
            trial: zeros.clone(),
            expected: zeros.clone(),
            expects: false,
            diagonal: zeros,
            blocks: vec![Mat3::default(); tree.len()],
            turns: vec![Mat3::default(); tree.len()],
            ends: Ends::new(tree),
        }
    }

    /// Makes a step of what the factor gave for m, and returns its length: mᵀ (∂m/∂v)⁻¹ m is ‖m‖² in the kinetic norm but for
    /// terms of order dt.
    fn error(&mut self, dt: f64) -> f64 {
        let per_impulse = -1.0 / dt;
        self.trial.iter_mut().for_each(|delta| *delta *= per_impulse);
        let work: f64 = self.residual.iter().zip(&self.trial).map(|(m, delta)| m * delta).sum();
        work.abs().sqrt()
    }
}

/// Newton's method on free motion that did not arrive, or arrived at what the step does not resolve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    pub iterations: usize,
    /// ‖m‖ over the momentum, in the kinetic norm.
    pub residual: f64,
}

/// Inputs of free motion.
#[derive(Clone, Copy)]
pub(crate) struct FreeMotion<'a> {
    pub state: &'a State,
    /// Velocities of the model that the step starts from.
    pub v0: &'a [f64],
    /// Forces on the degrees of freedom of the model.
    pub force: &'a [f64],
    pub gravity: Vec3<f64>,
    pub step: &'a Discretization,
    /// Whether nothing constrains it.
    pub is_all: bool,
    /// Whether motion that the step does not resolve is refused.
    pub is_to_resolve: bool,
    /// Whether energy and momentum are corrected.
    pub conserves: bool,
    /// Whether steps are of one size, but for those made in parts.
    pub is_regular: bool,
}

/// diag(k) m
fn rows_scaled(k: Vec3<f64>, m: Mat3<f64>) -> Mat3<f64> {
    let scale = |c: Vec3<f64>| Vec3::new(k.x * c.x, k.y * c.y, k.z * c.z);
    Mat3::from_columns(scale(m.x), scale(m.y), scale(m.z))
}

impl TreeWorkspace {
    /// Readies the search for free motion where nothing else needs forces at the beginning of the step: it starts at v₀, or
    /// where the last accelerations lead if they go on as they did.
    pub fn go_on(&mut self, state: &State, v0: &[f64], step: &Discretization) {
        self.stay(state, v0, step);
        let (last, before) = state.accelerations.split_at(state.accelerations.len() / 2);
        let (Some(last), Some(before)) = (last.get(self.dofs.clone()), before.get(self.dofs.clone())) else { return };
        let Some(newton) = &mut self.newton else { return };
        let (mut change, mut most) = (0.0_f64, 0.0_f64);
        let (v0, accelerations) = (&self.v_star, last.iter().zip(before));
        for ((expected, v0), (last, before)) in newton.expected.iter_mut().zip(v0).zip(accelerations) {
            change = change.max((last - before).abs());
            most = most.max(last.abs());
            *expected = v0 + step.dt * (last + (last - before));
        }
        newton.expects = true;
        if change <= STEADY * most {
            self.v_star.copy_from_slice(&newton.expected);
        }
    }

    /// Starts the search at v₀.
    fn stay(&mut self, state: &State, v0: &[f64], step: &Discretization) {
        let v0 = &v0[self.dofs.clone()];
        self.v_star.copy_from_slice(v0);
        self.impulse.fill(0.0);
        self.gather_drives(state, v0, step);
        self.newton.iter_mut().for_each(|newton| newton.expects = false);
    }

    /// Starts the search where half the step leads, twice as far: on the solution that goes on from v₀.
    fn start_from_half(
        &mut self,
        newton: &mut ImplicitNewton,
        motion: &FreeMotion<'_>,
        scale: f64,
    ) -> Result<usize, Stall> {
        let half = Discretization { dt: 0.5 * motion.step.dt, ..*motion.step };
        self.stay(motion.state, motion.v0, &half);
        let iterations = self.iterate(newton, &FreeMotion { step: &half, ..*motion }, 0.5 * scale);
        self.gather_drives(motion.state, &motion.v0[self.dofs.clone()], motion.step);
        let v0 = &motion.v0[self.dofs.clone()];
        self.v_star.iter_mut().zip(v0).for_each(|(v, v0)| *v += *v - v0);
        iterations
    }

    /// Finds v* with m(v*) = 0 from the v* that is there; returns the Newton steps.
    pub fn move_implicitly(&mut self, motion: &FreeMotion<'_>) -> Result<usize, Stall> {
        let Some(mut newton) = self.newton.take() else { return Ok(0) };
        // What forces do in the step, in the kinetic norm: at rest they cancel, to their round-off.
        let masses = self.tree.nodes.iter().map(|node| node.inertia.mass);
        let mut scale = motion.gravity.norm() * motion.step.dt * masses.sum::<f64>().sqrt();
        if self.has_prediction() {
            // What is there knows nothing of constraints.
            self.factor.solve(&self.tree, self.tree.all(), &self.kin, &self.predicted, None, &mut self.change);
            self.v_star.iter_mut().zip(&self.change).for_each(|(v, change)| *v += change);
            scale += self.predicted.iter().zip(&self.change).map(|(w, change)| w * change).sum::<f64>().abs().sqrt();
        }
        newton.is_loaded = self.is_loaded(motion.state);
        if self.has_own_loads {
            // Where nothing constrains, forces were not gathered at the beginning of the step.
            self.place(&motion.state.q, motion.v0);
            note_drag(&mut self.loads, &self.kin, None, motion.step.dt);
        }
        let v0 = &motion.v0[self.dofs.clone()];
        let starts_there = self.v_star == v0;
        let mut iterations = self.iterate(&mut newton, motion, scale);
        if let Err(Stall { iterations: spent, .. }) = iterations
            && !starts_there
        {
            // Inertial forces of the beginning lead far off in fast motion.
            self.v_star.copy_from_slice(v0);
            iterations = self.iterate(&mut newton, motion, scale).map(|more| spent + more);
        }
        if let Err(Stall { iterations: spent, .. }) = iterations
            && motion.is_all
            && !self.drives.iter().any(|drive| drive.is_saturated)
        {
            let start = self.start_from_half(&mut newton, motion, scale);
            iterations = start.and_then(|more| Ok(spent + more + self.iterate(&mut newton, motion, scale)?));
        }
        if let Ok(spent) = iterations
            && !self.keep_invariants(&mut newton, motion)
            && motion.is_to_resolve
        {
            iterations = Err(Stall { iterations: spent, residual: 0.0 });
        }
        self.newton = Some(newton);
        iterations
    }

    fn iterate(&mut self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>, impulses: f64) -> Result<usize, Stall> {
        let (mut scale, mut last, mut next, mut fraction) = (0.0, f64::INFINITY, f64::INFINITY, 1.0);
        let (mut is_factored_near, mut may_miss) = (false, 0.0);
        for iteration in 1..=MAX_NEWTON_STEPS {
            self.evaluate(newton, motion);
            let (mut error, mut is_kept) = (f64::INFINITY, false);
            // The last factor is off by what the last step changed, twice what Newton's method left of the error. It is kept where it
            // arrives: one more evaluation would cost more than a factor.
            if is_factored_near {
                newton.factor.solve(&newton.residual, &mut newton.trial);
                error = newton.error(motion.step.dt);
                next = 2.0 * error / last * error;
                is_kept = next <= self.arrival(newton, error, scale, may_miss);
            }
            if !is_kept {
                self.differentiate(newton, motion);
                error = newton.error(motion.step.dt);
                if iteration == 1 {
                    scale = (2.0 * newton.factor.kinetic_energy()).sqrt() + error + impulses;
                    may_miss = if newton.expects { scale * self.may_miss(newton, motion) } else { 0.0 };
                }
                // Its square, times what the last step made of its own.
                next = if last < f64::INFINITY {
                    error / (last * last) * error * error
                } else {
                    let greatest = newton.trial.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                    CURVATURE * motion.step.dt * greatest * error
                };
            }
            if !error.is_finite() {
                return Err(Stall { iterations: iteration, residual: error / scale });
            }
            let has_arrived = error <= TOLERANCE * scale;
            if error > last && !has_arrived {
                // Too far: a shorter step along the same way.
                fraction *= 0.5;
                let way = newton.base.iter().zip(&newton.delta);
                self.v_star.iter_mut().zip(way).for_each(|(v, (base, delta))| *v = base + fraction * delta);
                is_factored_near = false;
                continue;
            }
            let arrival = self.arrival(newton, error, scale, may_miss);
            std::mem::swap(&mut newton.delta, &mut newton.trial);
            newton.base.copy_from_slice(&self.v_star);
            self.v_star.iter_mut().zip(&newton.delta).for_each(|(v, delta)| *v += delta);
            if next <= arrival || (has_arrived && error > 0.5 * last) {
                return Ok(iteration);
            }
            (last, fraction, is_factored_near) = (error, 1.0, true);
        }
        // The last steps may have been short ones on a way that has arrived.
        if last <= TOLERANCE * scale {
            Ok(MAX_NEWTON_STEPS)
        } else {
            Err(Stall { iterations: MAX_NEWTON_STEPS, residual: last / scale })
        }
    }

    /// How much of the error may be left, as a part of the momentum, whatever was expected: none where energy is not mended.
    fn may_miss(&self, newton: &ImplicitNewton, motion: &FreeMotion<'_>) -> f64 {
        let turn = self.turn_of_corrected_step(newton, motion);
        MAX_MISSED.min(MAX_OF_TURN * turn * turn * turn)
    }

    /// How much of the error may be left after the step that is to be tried, of length `error` in the kinetic norm: `may_miss` at most.
    fn arrival(&self, newton: &ImplicitNewton, error: f64, scale: f64, may_miss: f64) -> f64 {
        let round_off = ROUND_OFF * scale;
        if may_miss <= round_off {
            return round_off;
        }
        let (mut missed, mut most) = (0.0_f64, 0.0_f64);
        for (v, (delta, expected)) in self.v_star.iter().zip(newton.trial.iter().zip(&newton.expected)) {
            missed = missed.max((v + delta - expected).abs());
            most = most.max(delta.abs());
        }
        if most == 0.0 {
            return round_off;
        }
        let part = MISSED * missed / most * error;
        part.min(may_miss).max(round_off)
    }

    /// m(v) at v*, placements left at q^θq.
    fn evaluate(&mut self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>) {
        let FreeMotion { state, gravity, step, .. } = *motion;
        let Discretization { dt, theta, .. } = *step;
        let n = self.tree.nv;
        let (v0, v) = (&motion.v0[self.dofs.clone()][..n], &self.v_star[..n]);
        let (v_theta, v_position) = (&mut newton.v_theta[..n], &mut newton.v_position[..n]);
        let (acceleration, per_second) = (&mut newton.acceleration[..n], 1.0 / dt);
        for i in 0..n {
            let change = v[i] - v0[i];
            v_theta[i] = v0[i] + theta.v * change;
            v_position[i] = v0[i] + theta.vq * change;
            acceleration[i] = change * per_second;
        }
        newton.q.copy_from_slice(&state.q[self.qs.clone()]);
        step.retraction.advance(&self.tree, &mut newton.q, v_position, dt, theta.q);
        let (kin, residual) = (&mut self.kin, &mut newton.residual);
        newton.factor.inverse_dynamics(&self.tree, &newton.q, v_theta, acceleration, gravity, kin, residual);
        if self.has_springs {
            difference(&self.tree, &self.spring_reference, &newton.q, &mut self.change);
        }
        let (armature, damping) = (&self.armature[..n], &self.damping[..n]);
        let (residual, force) = (&mut newton.residual[..n], &motion.force[self.dofs.clone()][..n]);
        let predicted = &self.predicted[..n];
        for i in 0..n {
            let spring = if self.has_springs { self.stiffness[i] * self.change[i] } else { 0.0 };
            let own = armature[i] * acceleration[i] + damping[i] * v_theta[i] + spring;
            residual[i] = dt * (residual[i] + own - force[i]) - predicted[i];
        }
        self.push(newton, motion);
        newton.residual.iter_mut().zip(&newton.impulses).for_each(|(m, impulse)| *m -= impulse);
    }

    /// The impulses of drives and loads where [`evaluate`](Self::evaluate) is.
    fn push(&mut self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>) {
        let FreeMotion { state, step, .. } = *motion;
        newton.impulses.copy_from_slice(&self.constant);
        let q = &state.q[self.qs.clone()];
        for drive in &self.axis_drives {
            drive.add_impulse(state.inputs(), q, &newton.v_theta, step, &mut newton.impulses);
        }
        self.relinearize(newton, motion);
        for drive in self.drives.iter().filter(|drive| !drive.is_saturated) {
            newton.impulses[drive.dof] += drive.force.unlimited(step.dt * newton.acceleration[drive.dof]);
        }
        if !newton.is_loaded {
            return;
        }
        let mut loads = std::mem::take(&mut self.momenta);
        loads.fill(Wrench::ZERO);
        self.load(state, step.dt, &mut loads);
        add_generalized_forces(&self.tree, self.tree.all(), &self.kin, &mut loads, &mut newton.impulses);
        self.momenta = loads;
    }

    /// Makes PD drives exact at v*: on rotations they are linear in no velocity.
    fn relinearize(&mut self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>) {
        let FreeMotion { state, step, .. } = *motion;
        if !self.turns || step.stable_pd || !state.pd.is_active() {
            return;
        }
        let (pd, dt) = (&state.pd, step.dt);
        difference(&self.tree, &pd.target[self.qs.clone()], &newton.q, &mut newton.error);
        newton.gains.fill(0.0);
        for drive in self.drives.iter_mut() {
            let dof = self.dofs.start + drive.dof;
            if drive.key == ConstraintName::pd(dof) {
                newton.gains[drive.dof] = if drive.is_saturated { 0.0 } else { pd.kp[dof] };
                let rate = newton.v_theta[drive.dof] - pd.target_velocity[dof];
                let force = pd_law(pd.kp[dof], pd.kd[dof], newton.error[drive.dof], rate);
                drive.force.impulse = dt * (force + drive.force.impedance * newton.acceleration[drive.dof]);
            }
        }
    }

    /// Factors ∂m/∂v over dt where [`evaluate`](Self::evaluate) was last, and solves for m.
    fn differentiate(&mut self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>) {
        let Discretization { dt, theta, .. } = *motion.step;
        let position = dt * theta.q * theta.vq;
        for (d, lambda) in newton.diagonal.iter_mut().zip(&self.impedance_bare) {
            *d = lambda / dt;
        }
        for drive in self.drives.iter().filter(|drive| !drive.is_saturated) {
            newton.diagonal[drive.dof] += drive.force.impedance / dt;
        }
        if self.turns {
            self.differentiate_turns(newton, motion, position);
        }
        let rates = Rates { position, velocity: theta.v, acceleration: 1.0 / dt };
        let ImplicitNewton { factor, diagonal, blocks, turns, residual, trial, .. } = newton;
        factor.factor(rates, JointDerivative { diagonal, blocks, turns }, residual, trial);
    }

    /// How rotations follow v*, and what that changes in the springs and PD drives on them: of their stiffness k the
    /// diagonal has k c.
    fn differentiate_turns(&self, newton: &mut ImplicitNewton, motion: &FreeMotion<'_>, position: f64) {
        let FreeMotion { state, step, .. } = *motion;
        let Discretization { dt, theta, .. } = *step;
        let has_pd = state.pd.is_active() && !step.stable_pd;
        let linear = Mat3::IDENTITY * position;
        for (i, node) in self.tree.nodes.iter().enumerate() {
            let Some(dof) = node.rotation() else { continue };
            let turn = step.retraction.tangent(vec3(&newton.v_position[dof..]) * dt, theta.q);
            let turn = turn * (dt * theta.vq);
            newton.turns[i] = turn;
            let mut block = Mat3::default();
            if self.has_springs {
                let k = vec3(&self.stiffness[dof..]);
                block = block + rows_scaled(k, logarithm_tangent(vec3(&self.change[dof..])) * turn - linear);
            }
            if has_pd {
                let tangent = logarithm_tangent(vec3(&newton.error[dof..])) * turn - linear;
                block = block + rows_scaled(vec3(&newton.gains[dof..]), tangent);
            }
            newton.blocks[i] = block;
        }
    }

    /// Readies the second stage at v̂, where the first one arrived: velocities of the nodes at v₀ and v̂, the factor of
    /// A, and v* = v̂ − A⁻¹ŵ, so that A (v − v*) = A (v − v̂) + ŵ.
    pub fn linearize(&mut self, motion: &FreeMotion<'_>) {
        let v0 = &motion.v0[self.dofs.clone()];
        self.v_linearised.copy_from_slice(&self.v_star);
        self.impedance.diagonal.copy_from_slice(&self.impedance_bare);
        for drive in self.drives.iter().filter(|drive| !drive.is_saturated) {
            self.impedance.diagonal[drive.dof] += drive.force.impedance;
        }
        let all = self.tree.all();
        velocities(&self.tree, all.clone(), v0, &mut self.kin);
        self.factor.factor(&self.tree, all.clone(), &self.kin, &self.impedance, None);
        if self.has_prediction() {
            self.factor.solve(&self.tree, all.clone(), &self.kin, &self.predicted, None, &mut self.change);
            self.v_star.iter_mut().zip(&self.change).for_each(|(v, change)| *v -= change);
        }
        for (change, (v, v0)) in self.change.iter_mut().zip(self.v_linearised.iter().zip(v0)) {
            *change = v - v0;
        }
        propagate(&self.tree, all, &self.kin.frames, &self.change, &mut self.factor.motions);
    }

    /// x ← (M + τ D)⁻¹ M x, D of dampers and PD control: what is left on average, over a time τ, of a difference x of velocities.
    /// `x` and `kd` (none without control) are the tree's. The factor and scratch are used up.
    pub fn damp(&mut self, x: &mut [f64], kd: Option<&[f64]>, tau: f64) {
        let all = self.tree.all();
        self.impedance.diagonal.copy_from_slice(&self.armature);
        let Self { tree, kin, impedance, factor, momenta, rhs, .. } = self;
        multibody::apply(tree, all.clone(), kin, impedance, x, &mut factor.motions, momenta, rhs);
        for (i, diagonal) in self.impedance.diagonal.iter_mut().enumerate() {
            *diagonal += tau * (self.damping[i] + kd.map_or(0.0, |kd| kd[i]));
        }
        self.factor.factor(&self.tree, all.clone(), &self.kin, &self.impedance, None);
        self.factor.solve(&self.tree, all, &self.kin, &self.rhs, None, x);
    }

    /// Whether an impulse of constraints is predicted.
    pub fn has_prediction(&self) -> bool {
        self.predicted.iter().any(|w| *w != 0.0)
    }

    /// Whether constraints push quite otherwise than predicted.
    pub fn mispredicts(&self, force: &[f64], dt: f64) -> bool {
        let (mut apart, mut most) = (0.0_f64, 0.0_f64);
        for (w, force) in self.predicted.iter().zip(force) {
            apart = apart.max((dt * force - w).abs());
            most = most.max((dt * force).abs());
        }
        apart > POORLY * most
    }

    /// A (v − v*) / dt, the generalised force of constraints where the tree ends with `v`; whether there is any.
    pub fn constraint_force(&mut self, v: &[f64], dt: f64, force: &mut [f64]) -> bool {
        if v == self.v_star {
            force.fill(0.0);
            return false;
        }
        for (change, (v, v_star)) in self.change.iter_mut().zip(v.iter().zip(&self.v_star)) {
            *change = (v - v_star) / dt;
        }
        let Self { tree, kin, impedance, change, factor, momenta, .. } = self;
        multibody::apply(tree, tree.all(), kin, impedance, change, &mut factor.motions, momenta, force);
        // The solver's tolerance is no push.
        let greatest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        dt * greatest(force) > 1e-4 * greatest(&self.predicted)
    }

    /// Where the scheme takes positions, of the tree: those of the step's beginning unless free motion is implicit.
    pub fn positions<'a>(&'a self, state: &'a State) -> &'a [f64] {
        self.newton.as_ref().map_or(&state.q[self.qs.clone()], |newton| &newton.q)
    }
}
