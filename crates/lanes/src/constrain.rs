//! Constraints beside contacts: limits, ties, couplings, tendons, dry friction and drives at their limits, as laws of the step.

use crate::constants::MEAN;
use multibody::{Compliance, NodeMotion, SpringPoint, StepForce, joint_acceleration};
use spatial::{Mat3, Quat, Real, Twist, Vec3};

use super::contact_space::Velocities;
use super::{Bundle, Lanes, dofs_of, get, lanes_of, put, put3, quaternion, select, vec3, wide};
use crate::plan::{Coupling, Home, Plan, PlanFrame, PlanJacobian, Source, Term, Tie, TieKind};
use crate::{RowWeight, Turning};
use spatial::masks::{all_lanes, positive};

impl<T: Bundle> Lanes<T> {
    /// Sets the laws of all constraints but contacts that the step can reach.
    #[inline(always)]
    pub(super) fn constrain(&mut self, plan: &Plan) {
        self.space.reached.clear();
        self.constrain_limits(plan);
        for k in plan.constraints.first_other..plan.constraints.all.len() {
            let is_present = self.constrain_one(plan, k);
            if lanes_of(is_present) != 0 {
                self.slots[k].is_present = is_present;
                self.space.reached.push(k);
            }
        }
    }

    /// The sides of limits of joints with one degree of freedom.
    #[inline(always)]
    fn constrain_limits(&mut self, plan: &Plan) {
        let dt = wide::<T>(2.0 * plan.dt);
        for (l, limit) in plan.limits.iter().enumerate() {
            let (v_start, v_star, q) = (self.v_start[limit.v], self.v_star[limit.v], self.q[limit.q]);
            let reach = (v_start.abs() + v_star.abs()) * dt;
            let [low, high] = self.numbers.ranges[l];
            let gaps = [q - low, high - q];
            if reach.lanes_less(gaps[0].min(gaps[1])) == all_lanes::<T>() {
                continue;
            }
            for (side, (gap, rate)) in gaps.into_iter().zip([v_start, -v_start]).enumerate() {
                let is_present = T::ONE - reach.if_less(gap, T::ONE, T::ZERO);
                if lanes_of(is_present) != 0 {
                    let k = plan.constraints.first_limit + 2 * l + side;
                    let w = self.dofs[limit.v].d_inv;
                    self.regularise_limit(plan, &limit.compliance, k, w, gap, rate);
                    self.slots[k].is_present = is_present;
                    self.space.reached.push(k);
                }
            }
        }
    }

    /// Sets the law of a constraint; where there is one, 1 or 0.
    #[inline(always)]
    fn constrain_one(&mut self, plan: &Plan, k: usize) -> T {
        let constraint = &plan.constraints.all[k];
        let terms = match &constraint.jacobian {
            PlanJacobian::Sum(terms) => terms.clone(),
            PlanJacobian::Point(_) | PlanJacobian::Turn(_) | PlanJacobian::Twist(_) => 0..0,
        };
        let of_plan = &plan.constraints.terms[terms.clone()];
        let dt = plan.dt;
        match &constraint.source {
            Source::Contact | Source::Spin { .. } | Source::Limit => T::ZERO,
            Source::BallLimit { limit, q, v, compliance, .. } => {
                let (gap, axis) = ball_limit(quaternion(&self.q[*q..]), self.numbers.ball_ranges[*limit]);
                let (v_start, v_star) = (vec3(&self.v_start[*v..]), vec3(&self.v_star[*v..]));
                let reach = (v_start.norm() + v_star.norm()) * wide(2.0 * dt);
                for (term, axis) in terms.zip(axis.to_array()) {
                    self.coefficients[term] = axis;
                }
                let w = self.inverse_diagonal(plan, *v);
                self.regularise_limit(plan, compliance, k, w, gap, axis.dot(v_start));
                T::ONE - reach.if_less(gap, T::ONE, T::ZERO)
            }
            Source::JointFriction { compliance } => {
                let dof = of_plan[0].dof;
                let w = self.inverse_diagonal(plan, dof);
                self.set_friction(plan, k, compliance, w, self.v_start[dof]);
                self.set_bounds(k, self.numbers.dry_friction[dof]);
                T::ONE
            }
            Source::Coupling { equality, coupling, compliance } => {
                let is_active = self.equality_active[*equality];
                if positive(is_active) == 0 {
                    return T::ZERO;
                }
                self.constrain_coupling(plan, k, coupling, compliance, terms) * is_active
            }
            Source::Tie { equality, tie, compliance } => {
                let is_active = self.equality_active[*equality];
                if positive(is_active) == 0 {
                    return T::ZERO;
                }
                self.constrain_tie(plan, k, tie, compliance) * is_active
            }
            Source::TendonLimit { sign, bound, compliance, .. } => {
                let (length, w) = (self.length(of_plan), self.sum_mobility(plan, of_plan));
                // Terms have the sign of the side, the bound has not.
                let gap = length - wide(sign * bound);
                let start = rate(of_plan, &self.v_start);
                let reach = (start.abs() + rate(of_plan, &self.v_star).abs()) * wide(2.0 * dt);
                self.regularise_limit(plan, compliance, k, w, gap, start);
                T::ONE - reach.if_less(gap, T::ONE, T::ZERO)
            }
            Source::TendonSpring { stiffness, damping, rest: (low, high) } => {
                let length = self.length(of_plan);
                let stretch = multibody::stretch((*low, *high), length);
                let is_slack = T::ZERO.if_less(stretch.abs(), T::ZERO, T::ONE);
                let stiffness = select(is_slack, T::ZERO, wide(*stiffness));
                let rate = rate(of_plan, &self.v_start);
                let damping = wide::<T>(*damping);
                let point = SpringPoint::of(stiffness * self.inverse_weight(plan, k) * wide(dt * dt));
                let impulse = -(stiffness * stretch + (point.ahead(dt, stiffness) + damping) * rate) * wide(dt);
                let impedance = point.impedance(dt, stiffness, damping);
                self.set_force(plan, k, of_plan, (impulse, impedance), None)
            }
            Source::TendonArmature { armature } => self.set_force(plan, k, of_plan, (T::ZERO, wide(*armature)), None),
            Source::TendonFriction { force, compliance } => {
                let w = self.sum_mobility(plan, of_plan);
                self.set_friction(plan, k, compliance, w, rate(of_plan, &self.v_start));
                self.set_bounds(k, wide(dt * force));
                T::ONE
            }
            Source::TendonActuator(actuator) => {
                let (length, rate) = (self.length(of_plan), rate(of_plan, &self.v_start));
                let drive = self.actuate(plan, actuator, length, rate);
                self.set_force(plan, k, of_plan, (drive.impulse, drive.impedance), Some((drive.low, drive.high)))
            }
            Source::Drive { drive } => {
                let of = self.drives[*drive];
                if positive(of.is_saturated) == 0 {
                    return T::ZERO;
                }
                let StepForce { impulse, impedance, low, high } = of.force;
                self.set_force(plan, k, of_plan, (impulse, impedance), Some((low, high))) * of.is_saturated
            }
        }
    }

    /// The law of a force `impulse − impedance (v − v₀)` along a sum of joints, within bounds.
    #[inline(always)]
    fn set_force(
        &mut self,
        plan: &Plan,
        k: usize,
        terms: &[Term],
        (impulse, impedance): (T, T),
        bounds: Option<(T, T)>,
    ) -> T {
        let is_present = T::ZERO.if_less(impedance, T::ONE, T::ZERO);
        let impedance = select(is_present, impedance, T::ONE);
        let w = self.sum_mobility(plan, terms);
        let v_hat = rate(terms, &self.v_start) + impulse / impedance;
        let (low, high) = bounds.unwrap_or((wide(f64::NEG_INFINITY), wide(f64::INFINITY)));
        let slot = &mut self.slots[k];
        (slot.w, slot.r_n, slot.v_hat, slot.v_hat_recovery) = (w, impedance.recip(), v_hat, v_hat);
        (slot.low, slot.high) = (low, high);
        is_present
    }

    /// The law of dry friction at this rate at the beginning.
    #[inline(always)]
    fn set_friction(&mut self, plan: &Plan, k: usize, compliance: &Compliance, w: T, rate: T) {
        let law = plan.rule.dry_friction(compliance, RowWeight { w, inverse: self.inverse_weight(plan, k) });
        let v_hat = law.v_hat(T::ZERO, rate);
        let slot = &mut self.slots[k];
        (slot.w, slot.r_n, slot.v_hat, slot.v_hat_recovery) = (w, law.r, v_hat, v_hat);
    }

    /// Bounds of an impulse in both directions, N·s or N·m·s.
    #[inline(always)]
    fn set_bounds(&mut self, k: usize, most: T) {
        let slot = &mut self.slots[k];
        (slot.low, slot.high) = (-most, most);
    }

    #[inline(always)]
    fn constrain_coupling(
        &mut self,
        plan: &Plan,
        k: usize,
        coupling: &Coupling,
        compliance: &Compliance,
        terms: std::ops::Range<usize>,
    ) -> T {
        let (mut y, mut x) = (wide::<T>(-coupling.references[0]), wide::<T>(-coupling.references[1]));
        for (terms, sum) in [(&coupling.y, &mut y), (&coupling.x, &mut x)] {
            for (_, t) in terms {
                *sum = self.q[t.q].mul_add(wide(t.coefficient), *sum);
            }
        }
        let (p, slope) = multibody::polynomial(&coupling.polynomial, x);
        self.coefficients[terms.clone()].fill(T::ZERO);
        for (place, term) in &coupling.y {
            self.coefficients[terms.start + place] += wide(term.coefficient);
        }
        for (place, term) in &coupling.x {
            let coefficient = &mut self.coefficients[terms.start + place];
            *coefficient -= slope * wide(term.coefficient);
        }
        let (mut w, mut rate) = (T::ZERO, T::ZERO);
        for term in terms {
            let (coefficient, dof) = (self.coefficients[term], plan.constraints.terms[term].dof);
            w = (coefficient * coefficient).mul_add(self.dofs[dof].d_inv, w);
            rate = coefficient.mul_add(self.v_start[dof], rate);
        }
        let violation = y - p;
        let weight = RowWeight { w, inverse: self.inverse_weight(plan, k) };
        let law = plan.rule.law(compliance, weight, violation.abs(), T::ONE);
        let v_hat = law.bias(violation, rate);
        let slot = &mut self.slots[k];
        (slot.w, slot.r_n, slot.v_hat, slot.v_hat_recovery) = (w, law.r, v_hat, v_hat);
        (slot.low, slot.high) = (wide(f64::NEG_INFINITY), wide(f64::INFINITY));
        T::ZERO.if_less(w, T::ONE, T::ZERO)
    }

    #[inline(always)]
    fn constrain_tie(&mut self, plan: &Plan, k: usize, tie: &Tie, compliance: &Compliance) -> T {
        let [own, other] = self.numbers.ties[tie.place];
        let (first, first_rot) = self.place_frame(plan, tie.homes[0], own);
        let (second, second_rot) = self.place_frame(plan, tie.homes[1], other);
        let span = second - first;
        // Rows are about one point of space, the second body's if it moves, else the first's.
        let point = if tie.homes[1].node.is_some() { second } else { first };
        let mut w = T::ZERO;
        let nodes = tie.homes.map(|home| home.node);
        for node in nodes.into_iter().flatten() {
            w += match tie.kind {
                TieKind::Turn => self.numbers.nodes[node].mobility.turn,
                TieKind::Point | TieKind::Distance(_) => {
                    let here = self.origins[plan.nodes[node].tree] + self.nodes[node].pos;
                    self.mobility(node, point - here)
                }
            };
        }
        w *= wide(MEAN);
        let needs_turn =
            matches!(tie.kind, TieKind::Turn) || tie.weld.is_some() && matches!(compliance, Compliance::Reference(_));
        let (turn, half_sine) =
            if needs_turn { turn_between(&first_rot, &second_rot, compliance) } else { (Vec3::ZERO, T::ZERO) };
        let up = Vec3::new(T::ZERO, T::ZERO, T::ONE);
        let (normal, violation, rate) = match tie.kind {
            TieKind::Point => (up, span, self.relative(plan, &nodes, point, Velocities::Start)),
            TieKind::Turn => (up, turn, self.relative_turn(&nodes, Velocities::Start)),
            TieKind::Distance(distance) => {
                let length = span.norm();
                let is_apart = T::ZERO.if_less(length, T::ONE, T::ZERO);
                let normal = super::select3(is_apart, span * length.recip(), up);
                (
                    normal,
                    up * (length - wide(distance)),
                    up * normal.dot(self.relative(plan, &nodes, point, Velocities::Start)),
                )
            }
        };
        let apart = if matches!(tie.kind, TieKind::Distance(_)) { violation } else { span };
        let turned = half_sine * wide(tie.weld.unwrap_or(0.0));
        let size = turned.mul_add(turned, apart.norm_squared()).sqrt();
        let weight = RowWeight { w, inverse: self.inverse_weight(plan, k) };
        let law = plan.rule.law(compliance, weight, size, T::ONE);
        let mut turning = Turning::NONE;
        if let Compliance::Reference(_) = compliance {
            let bias = self.bias_acceleration(plan, nodes, point);
            let acceleration = match tie.kind {
                TieKind::Point => bias.lin,
                TieKind::Turn => bias.ang,
                TieKind::Distance(_) => {
                    let velocity = self.relative(plan, &nodes, point, Velocities::Start);
                    up * multibody::bias_of_distance(bias.lin, velocity, normal, span.norm())
                }
            };
            turning.drift = acceleration * wide(plan.dt);
        }
        let bias = law.bias3(violation, rate, turning);
        let slot = &mut self.slots[k];
        (slot.position, slot.normal, slot.bias) = (point, normal, bias);
        (slot.w, slot.r_n, slot.v_hat, slot.v_hat_recovery) = (w, law.r, T::ZERO, T::ZERO);
        T::ZERO.if_less(w, T::ONE, T::ZERO)
    }

    /// J̇ v₀ of the second node relative to the first at a point of the second, or of the first if the second does not move.
    #[inline(always)]
    fn bias_acceleration(&self, plan: &Plan, nodes: [Option<usize>; 2], point: Vec3<T>) -> Twist<T> {
        let first = self.motion_at(plan, nodes[0], point);
        let second = self.motion_at(plan, nodes[1], point);
        if nodes[1].is_some() { second.bias_seen_from(&first) } else { -first.bias_seen_from(&second) }
    }

    /// How a node moves at a point at v₀, with its acceleration J̇ v₀.
    #[inline(always)]
    fn motion_at(&self, plan: &Plan, node: Option<usize>, point: Vec3<T>) -> NodeMotion<T> {
        let Some(node) = node else { return NodeMotion::ZERO };
        let arm = point - self.origins[plan.nodes[node].tree];
        let (twist, mut acceleration) = (self.nodes[node].twist, Twist::ZERO);
        let mut next = Some(node);
        while let Some(here) = next {
            let of_plan = &plan.nodes[here];
            let above = if let Some(parent) = of_plan.parent { self.nodes[parent].twist } else { Twist::ZERO };
            acceleration += joint_acceleration(of_plan.joint, above, self.nodes[here].twist - above);
            next = of_plan.parent;
        }
        NodeMotion { twist: twist.shifted(arm), acceleration: acceleration.shifted(arm) }
    }

    /// Position and axes of a frame in the world.
    #[inline(always)]
    pub(super) fn place_frame(&self, plan: &Plan, home: Home, frame: PlanFrame<T>) -> (Vec3<T>, Mat3<T>) {
        let PlanFrame { pos, rot } = frame;
        let Some(node) = home.node else {
            let Some(carrier) = home.carrier else { return (pos, rot) };
            let here = &self.carriers[carrier];
            return (here.pos + here.rot * pos, here.rot * rot);
        };
        let here = &self.nodes[node];
        (self.origins[plan.nodes[node].tree] + here.pos + here.rot * pos, here.rot * rot)
    }

    /// The length of a sum of joint coordinates.
    #[inline(always)]
    fn length(&self, terms: &[Term]) -> T {
        let mut sum = T::ZERO;
        for t in terms {
            sum = self.q[t.q].mul_add(wide(t.coefficient), sum);
        }
        sum
    }

    /// The share of the Delassus operator of a sum of joint velocities, those of the joints taken alone.
    #[inline(always)]
    fn sum_mobility(&self, plan: &Plan, terms: &[Term]) -> T {
        let mut sum = T::ZERO;
        for t in terms {
            let own = self.inverse_diagonal(plan, t.dof);
            sum = own.mul_add(wide(t.coefficient * t.coefficient), sum);
        }
        sum
    }

    /// The mean of the diagonal of (Sᵀ I^A S + Λ)⁻¹ of a joint, over those of its degrees of freedom that turn as `dof` does, or shift as
    /// it does.
    #[inline(always)]
    fn inverse_diagonal(&self, plan: &Plan, dof: usize) -> T {
        let dofs = dofs_of(&plan.nodes[plan.node_of_dof[dof]]);
        if dofs.len() == 1 {
            return self.dofs[dof].d_inv;
        }
        let first = if dof < dofs.end - 3 { dofs.start } else { dofs.end - 3 };
        // The last degree of freedom is eliminated first, so that the rotations of a free joint have given way when its translations do.
        let (a, b, c) = (&self.dofs[first], &self.dofs[first + 1], &self.dofs[first + 2]);
        let (ab, ac, bc) = (a.axis.dot(b.u) * b.d_inv, a.axis.dot(c.u) * c.d_inv, b.axis.dot(c.u) * c.d_inv);
        let last = ac - ab * bc;
        let sum = a.d_inv + b.d_inv + ab * ab * a.d_inv + c.d_inv + bc * bc * b.d_inv + last * last * a.d_inv;
        sum * wide(1.0 / 3.0)
    }
}

/// How much farther a ball joint may turn, and the axis, in its own frame, about which it gets farther from its limit.
#[inline(always)]
pub fn ball_limit<T: Real>(q: Quat<T>, most: T) -> (T, Vec3<T>) {
    let turn = q.unit().rotation_vector();
    let angle = turn.norm();
    let towards = -select(T::ZERO.if_less(angle, T::ONE, T::ZERO), angle, T::ONE).recip();
    (most - angle, turn * towards)
}

/// The rate of a sum of joint coordinates.
#[inline(always)]
fn rate<T: Real>(terms: &[Term], v: &[T]) -> T {
    let mut sum = T::ZERO;
    for t in terms {
        sum = v[t.dof].mul_add(wide(t.coefficient), sum);
    }
    sum
}

/// What a weld makes of the turn from the first axes to the second, world, and the sine of half the angle; lane by lane.
#[inline(always)]
fn turn_between<T: Bundle>(first: &Mat3<T>, second: &Mat3<T>, compliance: &Compliance) -> (Vec3<T>, T) {
    let (mut turn, mut half_sine) = (Vec3::ZERO, T::ZERO);
    for lane in 0..T::LANES {
        let [a, b] = [first, second].map(|rot| rot.map(|x| get(&x, lane)));
        let of_lane = Quat::from_mat3(&(a.transpose() * b));
        put3(&mut turn, lane, a * compliance.violation_of_turn(of_lane));
        put(&mut half_sine, lane, of_lane.vector().norm());
    }
    (turn, half_sine)
}
