//! Energy and momentum at the end of a step, as in `sim` under the default scheme: velocities are corrected so that both
//! change by what forces and constraints do, however far bodies turn in the step.

use crate::constants::{LARGEST_ERROR, LITTLE, SCALING};
use spatial::{Real, Sym3, Twist, Vec3, Wrench};

use super::{Bundle, Lanes, by_precision, dofs_of, lanes_of, select, vec3, wide};
use crate::plan::{Plan, PlanTree};

const SINGLE_LITTLE: f64 = 1e-3;

/// A tree as one body: kinetic energy, momentum and mass moment about its origin, rotational inertia there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums<T> {
    kinetic: T,
    momentum: Wrench<T>,
    moment: Vec3<T>,
    rotational: Sym3<T>,
}

/// What a step owes its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due<T> {
    /// The tree as one body, with the kinetic energy and momentum that are due.
    sums: Sums<T>,
    /// The impulse of external forces.
    impulse: Vec3<T>,
    /// What linear momentum gains since bodies turn.
    drift: Vec3<T>,
}

/// How a rigid body with some momentum moves: angular velocity, velocity of its centre of mass, energy.
struct Rigid<T> {
    ang: Vec3<T>,
    lin: Vec3<T>,
    energy: T,
}

impl<T: Bundle> Lanes<T> {
    /// Notes what the step owes its end, by trees.
    #[inline(always)]
    pub(super) fn note_due(&mut self, plan: &Plan) {
        self.due.clear();
        for tree in plan.trees.iter().filter(|_| plan.is_balanced) {
            let due = self.due(plan, tree);
            self.due.push(due);
        }
    }

    /// Corrects velocities where nodes are placed at the end of the step; lanes in which the step errs by too much fall back.
    #[inline(always)]
    pub(super) fn balance_all(&mut self, plan: &Plan) {
        for k in 0..self.due.len() {
            let due = self.due[k];
            self.unresolved |= self.balance(plan, &plan.trees[k], &due) & !self.fallback;
        }
        self.fallback |= self.unresolved;
    }

    /// What forces and constraints lead to in the step from v₀ to `v`, with inertia at its beginning:
    /// ½ vᵀM v + dt ½ (v₀ + v)·c and Σ Jᵀ (I J v + dt c).
    #[inline(always)]
    fn due(&mut self, plan: &Plan, tree: &PlanTree) -> Due<T> {
        self.set_motions(plan, tree);
        let dt = wide::<T>(plan.dt);
        let mut due = Due { sums: Sums::none(), impulse: Vec3::ZERO, drift: Vec3::ZERO };
        for i in tree.nodes.clone() {
            let (node, start) = (&self.nodes[i], self.nodes[i].twist);
            let motion = node.change;
            let force = node.coriolis * dt;
            due.sums.add(node, motion);
            due.sums.kinetic += (start + motion).dot(force) * wide(0.5);
            due.sums.momentum += force;
            due.drift += force.lin;
            due.impulse += node.inertia.linear_momentum(motion + -start) + force.lin;
        }
        due
    }

    /// The motions of nodes at `v`, as their `change`.
    #[inline(always)]
    pub(super) fn set_motions(&mut self, plan: &Plan, tree: &PlanTree) {
        let Self { nodes, dofs, v, .. } = self;
        for i in tree.nodes.clone() {
            let node = &plan.nodes[i];
            let mut motion = node.parent.map_or(Twist::ZERO, |parent| nodes[parent].change);
            for k in dofs_of(node) {
                let axis = dofs[k].axis;
                motion =
                    Twist { ang: motion.ang.add_scaled(v[k], axis.ang), lin: motion.lin.add_scaled(v[k], axis.lin) };
            }
            nodes[i].change = motion;
        }
    }

    /// Corrects the velocities of a tree that is placed at the end of the step; the lanes in which the step errs by too much.
    #[inline(always)]
    fn balance(&mut self, plan: &Plan, tree: &PlanTree, due: &Due<T>) -> u32 {
        self.set_motions(plan, tree);
        let Due { sums: due, impulse, drift } = due;
        let of = self.numbers.trees[plan.nodes[tree.nodes.start].tree];
        let mut end = Sums::none();
        for i in tree.nodes.clone() {
            let node = &self.nodes[i];
            end.add(node, node.change);
            end.rotational += node.inertia.rotational;
        }
        let dofs = plan.nodes[tree.nodes.start].v..dofs_of(&plan.nodes[tree.nodes.end - 1]).end;
        let mut geared = T::ZERO;
        for k in dofs.clone() {
            geared = (self.v[k] * self.v[k]).mul_add(self.numbers.half_armature[k], geared);
        }
        let shift = if tree.floats && tree.has_mass { end.momentum.lin * of.per_mass } else { Vec3::ZERO };
        let carried = shift.norm_squared() * of.half_mass;
        let own = end.kinetic + geared - carried;
        let error = (end.kinetic - due.kinetic).abs();
        let errs = (own * wide(LARGEST_ERROR)).if_less(error, T::ONE, T::ZERO);

        // All motion is scaled, but for that of the centre of mass.
        let turns = self.turns[plan.nodes[tree.nodes.start].tree];
        let moves = turns * T::ZERO.if_less(own, T::ONE, T::ZERO);
        let ratio = (due.kinetic - end.kinetic) / select(moves, own, T::ONE) + T::ONE;
        let scale = select(moves, ratio.max(T::ZERO).sqrt(), T::ONE);
        let rest = shift * (T::ONE - scale);
        if !(tree.keeps_momentum && tree.has_mass) {
            self.scale(dofs.clone(), scale);
            if tree.floats {
                self.add_to_root(dofs.start, rest);
            }
            return lanes_of(errs * turns);
        }
        // The root takes the momentum that is due, and the motion within, which has none, is scaled to the rest of the energy.
        let centre = end.moment * of.per_mass;
        let inverse = about(end.rotational, of.mass, centre).inverse();
        let (rigid, rigid_due) = (end.as_one(inverse, of.per_mass), due.as_one(inverse, of.per_mass));
        // External forces work along the motion of the centre of mass as it is at the end (`conserve_all` in `sim` says why).
        let work = drift.dot(*impulse) * of.per_mass * wide(0.5);
        let kinetic = end.kinetic + geared;
        let (within, within_due) = (kinetic - rigid.energy, due.kinetic + work + geared - rigid_due.energy);
        let most = wide::<T>(SCALING * SCALING);
        let is_scaled = turns
            * (kinetic * wide(by_precision::<T>(LITTLE, SINGLE_LITTLE))).if_less(within, T::ONE, T::ZERO)
            * (T::ONE - (within_due * most).if_less(within, T::ONE, T::ZERO))
            * (T::ONE - (within * most).if_less(within_due, T::ONE, T::ZERO));
        let inner = (within_due / select(is_scaled, within, T::ONE)).max(T::ZERO).sqrt();
        let factor = select(is_scaled, inner, scale);
        self.scale(dofs.clone(), factor);
        let (ang, lin) = (rigid_due.ang - rigid.ang * factor, rigid_due.lin - rigid.lin * factor);
        let lin = lin - ang.cross(centre);
        let ang = self.nodes[tree.nodes.start].rot.transpose_mul(ang);
        self.add_to_root(dofs.start, super::select3(is_scaled, lin, rest));
        let zero = Vec3::ZERO;
        self.add_to_root(dofs.start + 3, super::select3(is_scaled, ang, zero));
        lanes_of(errs * turns)
    }

    #[inline(always)]
    fn scale(&mut self, dofs: std::ops::Range<usize>, factor: T) {
        for v in &mut self.v[dofs] {
            *v *= factor;
        }
    }

    #[inline(always)]
    fn add_to_root(&mut self, first: usize, change: Vec3<T>) {
        let sum = vec3(&self.v[first..]) + change;
        self.v[first..first + 3].copy_from_slice(&sum.to_array());
    }
}

impl<T: Real> Sums<T> {
    fn none() -> Self {
        Self { kinetic: T::ZERO, momentum: Wrench::ZERO, moment: Vec3::ZERO, rotational: Sym3::ZERO }
    }

    /// Adds a node that moves with `motion`.
    #[inline(always)]
    fn add(&mut self, node: &super::Node<T>, motion: Twist<T>) {
        let momentum = node.inertia.momentum(motion);
        self.kinetic += motion.dot(momentum) * wide(0.5);
        self.momentum += momentum;
        self.moment += node.inertia.moment;
    }

    /// The motion of one rigid body with this momentum and the rotational inertia, given inverse, about its centre of mass.
    #[inline(always)]
    fn as_one(&self, inverse: Sym3<T>, per_mass: T) -> Rigid<T> {
        let spin = self.momentum.ang - (self.moment * per_mass).cross(self.momentum.lin);
        let (ang, lin) = (inverse * spin, self.momentum.lin * per_mass);
        Rigid { ang, lin, energy: (ang.dot(spin) + lin.dot(self.momentum.lin)) * wide(0.5) }
    }
}

/// Rotational inertia about the centre of mass from that about the origin.
#[inline(always)]
fn about<T: Real>(rotational: Sym3<T>, mass: T, centre: Vec3<T>) -> Sym3<T> {
    let d = mass * centre.norm_squared();
    rotational - Sym3::diagonal(Vec3::new(d, d, d)) + Sym3::outer(mass, centre)
}
