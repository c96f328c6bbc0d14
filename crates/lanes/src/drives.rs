//! Impulses of springs, dampers and actuators. What opposes motion is implicit, as part of Λ; a drive that is at a limit is a constraint
//! instead ([`crate::plan::Source::Drive`]).

use multibody::{JointType, StepForce, pd_law};
use spatial::{Quat, Real};

use super::{Bundle, Lanes, dofs_of, quaternion, select, vec3, wide};
use crate::plan::{ActuatorNumbers, PdNumbers, Plan, PlanActivation, PlanActuator};
use spatial::masks::{all_lanes, positive};

/// A drive in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive<T> {
    pub force: StepForce<T>,
    /// 1 where it is a constraint, else 0.
    pub is_saturated: T,
}

impl<T: Real> Drive<T> {
    pub const NONE: Self = Self { force: StepForce::ZERO, is_saturated: T::ZERO };
}

impl<T: Bundle> Lanes<T> {
    /// Moves activations to the end of the step, and finds what actuators act by in it.
    #[inline(always)]
    pub(super) fn advance_activations(&mut self, plan: &Plan) {
        self.input.copy_from_slice(&self.ctrl);
        self.act_start.copy_from_slice(&self.act);
        for (activation, act) in plan.activations.iter().zip(&mut self.act) {
            let PlanActivation { ctrl, ctrl_range, gain, leak, range, is_early } = *activation;
            let (u, start) = (self.ctrl[ctrl].max(wide(ctrl_range.0)).min(wide(ctrl_range.1)), *act);
            let next = start + (u - start * wide(leak)) * wide(gain);
            *act = next.max(wide(range.0)).min(wide(range.1));
            self.input[ctrl] = if is_early { *act } else { start };
        }
    }

    /// Impulses at q₀, v₀ and Λ, without drives.
    #[inline(always)]
    pub(super) fn gather_impulses(&mut self, plan: &Plan) {
        let Self { q, v, impulse, numbers, applied_force, .. } = self;
        for (impulse, (resistance, v)) in impulse.iter_mut().zip(numbers.resistance.iter().zip(&*v)) {
            *impulse = *v * *resistance;
        }
        let dt = plan.dt;
        if self.has_forces {
            for (impulse, force) in impulse.iter_mut().zip(&*applied_force) {
                *impulse = force.mul_add(wide(dt), *impulse);
            }
        }
        for (spring, stiffness) in plan.springs.iter().zip(&numbers.springs) {
            if spring.joint.nv() == 1 {
                let stretch = q[spring.q] - wide(spring.reference[0]);
                impulse[spring.v] = stretch.mul_add(stiffness[0], impulse[spring.v]);
                continue;
            }
            let reference = spring.reference.map(wide);
            let stretch = difference(spring.joint, &reference, &q[spring.q..], &[T::ZERO; 6]);
            for (k, stretch) in stretch.into_iter().enumerate().take(spring.joint.nv()) {
                let v = spring.v + k;
                impulse[v] = stretch.mul_add(stiffness[k], impulse[v]);
            }
        }
        for servo in &plan.servos {
            let mut sum = T::ZERO;
            for actuator in &servo.actuators {
                sum += self.actuate(plan, actuator, self.q[servo.q], self.v[servo.v]).as_constant().impulse;
            }
            let (least, most) = servo.effort_limit;
            sum = sum.max(wide(dt * least)).min(wide(dt * most));
            self.impulse[servo.v] += sum;
        }
        for motor in &plan.constraints.tendon_motors {
            let terms = motor.terms.clone();
            let (mut length, mut rate) = (T::ZERO, T::ZERO);
            for term in &plan.constraints.terms[terms.clone()] {
                length = self.q[term.q].mul_add(wide(term.coefficient), length);
                rate = self.v[term.dof].mul_add(wide(term.coefficient), rate);
            }
            let cut = self.actuate(plan, &motor.actuator, length, rate).as_constant().impulse;
            for term in &plan.constraints.terms[terms] {
                self.impulse[term.dof] = cut.mul_add(wide(term.coefficient), self.impulse[term.dof]);
            }
        }
        if !plan.pd.is_empty() {
            self.gather_pd(plan);
        }
        self.gather_drives(plan);
    }

    /// Impulses of PD control, of positions where the present velocity leads. Without limits they are impulses like others.
    #[inline(always)]
    fn gather_pd(&mut self, plan: &Plan) {
        let dt = wide::<T>(plan.dt);
        for node in &plan.nodes {
            let nv = node.joint.nv();
            let mut acts = 0;
            for v in dofs_of(node) {
                self.pd_impulse[v] = T::ZERO;
                acts |= positive(self.numbers.pd[v].impedance);
            }
            if acts == 0 {
                continue;
            }
            let mut ahead = [T::ZERO; 6];
            for (ahead, v) in ahead.iter_mut().zip(&self.v[node.v..node.v + nv]) {
                *ahead = *v * dt;
            }
            let error = difference(node.joint, &self.pd_target[node.q..], &self.q[node.q..], &ahead);
            for (k, error) in error.into_iter().enumerate().take(nv) {
                let v = node.v + k;
                let PdNumbers { kp, kd, target_velocity, impedance, is_limited, .. } = self.numbers.pd[v];
                let lag = self.v[v] - target_velocity;
                let force = pd_law(kp, kd, error, lag);
                // Where nothing is controlled, targets may be anything.
                let impulse = select(T::ZERO.if_less(impedance, T::ONE, T::ZERO), force * dt, T::ZERO);
                self.pd_impulse[v] = select(is_limited, impulse, T::ZERO);
                self.impulse[v] += select(is_limited, T::ZERO, impulse);
            }
        }
    }

    /// Drives, and which of them start the step as constraints.
    #[inline(always)]
    fn gather_drives(&mut self, plan: &Plan) {
        for k in 0..plan.drives.len() {
            let drive = &plan.drives[k];
            let (q, v) = (self.q[drive.q], self.v[drive.v]);
            let mut sum = StepForce::<T>::ZERO;
            for actuator in &drive.actuators {
                let mut of = self.actuate(plan, actuator, q, v);
                if drive.actuators.len() > 1 && !actuator.has_impedance() {
                    of = of.as_constant();
                }
                sum = sum.plus(of);
            }
            let (least, most) = drive.effort_limit;
            let (mut least, mut most) = (wide::<T>(plan.dt * least), wide::<T>(plan.dt * most));
            if drive.actuators.is_empty() {
                let of = &self.numbers.pd[drive.v];
                sum.impulse = self.pd_impulse[drive.v];
                sum.impedance = select(of.is_limited, of.impedance, T::ZERO);
                (sum.low, sum.high, least, most) = (wide(f64::NEG_INFINITY), wide(f64::INFINITY), -of.most, of.most);
            }
            let force = sum.within(least, most);
            let memory = &self.memory[plan.first_drive + k];
            let is_saturated = memory.is_remembered * force.is_near_limit(memory.normal);
            self.drives[k] = Drive { force, is_saturated };
        }
    }

    /// Takes the drives into Λ, all of them or with `leaves_out_saturated` those that are no constraints.
    #[inline(always)]
    pub(super) fn add_impedances(&mut self, plan: &Plan, leaves_out_saturated: bool) {
        self.lambda.copy_from_slice(&self.numbers.lambda);
        for (drive, of) in plan.drives.iter().zip(&self.drives) {
            let is_part = if leaves_out_saturated { T::ONE - of.is_saturated } else { T::ONE };
            self.lambda[drive.v] = of.force.impedance.mul_add(is_part, self.lambda[drive.v]);
        }
    }

    /// Whether any drive is a constraint.
    #[inline(always)]
    pub(super) fn has_saturated_drives(&self) -> bool {
        self.drives.iter().any(|drive| positive(drive.is_saturated) != 0)
    }

    /// Lets impulses move the degrees of freedom, `x`; with `has_drives` also those of drives that are no constraints.
    #[inline(always)]
    pub(super) fn set_impulses(&mut self, plan: &Plan, has_drives: bool) {
        for (dof, impulse) in self.dofs.iter_mut().zip(&self.impulse) {
            dof.x = *impulse;
        }
        if has_drives {
            for (drive, of) in plan.drives.iter().zip(&self.drives) {
                let x = &mut self.dofs[drive.v].x;
                *x = of.force.impulse.mul_add(T::ONE - of.is_saturated, *x);
            }
        }
    }

    /// Makes constraints of the drives that are beyond a limit at the velocities found; the lanes in which there are any.
    #[inline(always)]
    pub(super) fn saturate_drives(&mut self, plan: &Plan) -> u32 {
        let mut saturated = 0;
        for (drive, of) in plan.drives.iter().zip(&mut self.drives) {
            let change = self.v[drive.v] - self.v_start[drive.v];
            let exceeds = of.force.exceeds(of.force.unlimited(change)) * (T::ONE - of.is_saturated);
            saturated |= positive(exceeds);
            of.is_saturated = of.is_saturated.max(exceeds);
        }
        saturated & all_lanes::<T>() & !self.fallback
    }

    /// The force of an actuator over a step, on what it acts on, whose length and velocity are given.
    #[inline(always)]
    pub(super) fn actuate(&self, plan: &Plan, actuator: &PlanActuator, length: T, velocity: T) -> StepForce<T> {
        let PlanActuator { ctrl, ctrl_range, bias, .. } = *actuator;
        let ActuatorNumbers { per_ctrl, constant, per_length, per_velocity, impedance, .. } =
            self.numbers.actuators[ctrl];
        let u = self.input[ctrl].max(wide(ctrl_range.0)).min(wide(ctrl_range.1));
        let mut force = u.mul_add(per_ctrl, constant);
        if bias != [0.0; 2] {
            force += length.mul_add(per_length, velocity * per_velocity);
        }
        let (low, high) = actuator.limits();
        let (low, high) = (wide(plan.dt * low), wide(plan.dt * high));
        StepForce { impulse: force * wide(plan.dt), impedance, low, high }
    }
}

/// q ⊞ `ahead` ⊟ `reference` of a joint, in the frame of the velocity; of rotations the shorter arc.
#[inline(always)]
fn difference<T: Bundle>(joint: JointType, reference: &[T], q: &[T], ahead: &[T; 6]) -> [T; 6] {
    let mut difference = [T::ZERO; 6];
    let rotation = joint.rotation_offset();
    for k in 0..rotation.unwrap_or(joint.nv()) {
        difference[k] = q[k] + ahead[k] - reference[k];
    }
    if let Some(at) = rotation {
        difference[at..at + 3].copy_from_slice(&turn(&reference[at..], &q[at..], &ahead[at..]));
    }
    difference
}

/// The rotation vector from one orientation to another that turns on by `ahead`.
#[inline(always)]
fn turn<T: Bundle>(reference: &[T], q: &[T], ahead: &[T]) -> [T; 3] {
    let turn: Quat<T> = quaternion(reference).conjugate() * quaternion(q);
    (turn * Quat::from_rotation_vector_in_lanes(vec3(ahead))).rotation_vector().to_array()
}
