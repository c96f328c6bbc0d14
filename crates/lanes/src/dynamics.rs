//! The articulated-body algorithm about one point, degree of freedom by degree of freedom.

use spatial::{ArticulatedInertia, Real, Twist, Vec3, Wrench};

use super::{Bundle, Dof, Lanes, dofs_of, vec3, wide};
use crate::plan::Plan;
use spatial::masks::positive;

impl<T: Bundle> Lanes<T> {
    /// Factors M + Λ.
    #[inline(always)]
    pub(super) fn factor(&mut self, plan: &Plan) {
        let Self { nodes, dofs, lambda, .. } = self;
        for node in nodes.iter_mut() {
            node.articulated = node.inertia.articulated();
        }
        for (i, node) in plan.nodes.iter().enumerate().rev() {
            let mut whole = nodes[i].articulated;
            for k in dofs_of(node).rev() {
                let dof = &mut dofs[k];
                let axis = dof.axis;
                // A hinge through the tree's origin and a slide have one half of an axis; the compiler does not know, and need not.
                let u = whole.apply(axis);
                dof.u = u;
                dof.d_inv = (axis.dot(u) + lambda[k]).recip();
                if k > node.v || node.parent.is_some() {
                    whole = reduced(&whole, u, -dof.d_inv);
                }
            }
            if let Some(parent) = node.parent {
                nodes[parent].articulated += whole;
            }
        }
    }

    /// Solves (M + Λ) x = r − Σ Jᵀ load with the factor: r is `x` of the degrees of freedom, where the solution is afterwards. The
    /// motions that it gives nodes are added to their `change`; the loads are used up.
    #[inline(always)]
    pub(super) fn solve(&mut self, plan: &Plan) {
        self.bear(plan);
        T::respond(self, plan);
        for node in &mut self.nodes {
            node.change += motion_of(node.load);
        }
    }

    /// The first half of a solve: from r to x less what children bear. Inlined, as all that a phase calls.
    #[inline(always)]
    pub(super) fn bear(&mut self, plan: &Plan) {
        let Self { nodes, dofs, .. } = self;
        for (i, node) in plan.nodes.iter().enumerate().rev() {
            let mut load = nodes[i].load;
            for k in dofs_of(node).rev() {
                let dof = &mut dofs[k];
                dof.x -= dof.axis.dot(load);
                load = load.add_scaled(dof.d_inv * dof.x, dof.u);
            }
            if let Some(parent) = node.parent {
                nodes[parent].load += load;
            }
        }
    }

    /// The second half of a solve, from the roots to the leaves: what each degree of freedom bears becomes its velocity, and the motions of
    /// nodes take the place of their loads.
    #[inline(always)]
    pub(super) fn respond(&mut self, plan: &Plan) {
        let Self { nodes, dofs, .. } = self;
        for (i, node) in plan.nodes.iter().enumerate() {
            let mut motion = match node.parent {
                Some(parent) => motion_of(nodes[parent].load),
                None => Twist::ZERO,
            };
            for k in dofs_of(node) {
                let dof = &mut dofs[k];
                dof.x = dof.d_inv * (dof.x - motion.dot(dof.u));
                motion = moved(motion, dof.x, dof);
            }
            nodes[i].load = Wrench { ang: motion.ang, lin: motion.lin };
        }
    }

    /// Takes the forces of a medium where all others would lead, and then Coriolis forces between v₀ and the end of free motion as it would be
    /// without: they are forces like all others from there on. Drives resist in that motion and do not pull: how far they may is found later.
    #[inline(always)]
    pub(super) fn load_coriolis(&mut self, plan: &Plan) {
        self.add_impedances(plan, false);
        T::factor(self, plan);
        if !plan.drags.is_empty() {
            self.predict(plan);
            T::load_drag(self, plan);
        }
        if plan.is_balanced && self.turns.iter().any(|turns| positive(*turns) != 0) {
            self.predict(plan);
            T::add_polar_coriolis(self, plan);
        }
    }

    /// Finds where the forces so far lead.
    #[inline(always)]
    fn predict(&mut self, plan: &Plan) {
        self.set_impulses(plan, false);
        self.start_free_motion();
        T::solve(self, plan);
    }

    /// Free motion: v*, and what it adds to the motions of nodes.
    #[inline(always)]
    pub(super) fn move_freely(&mut self, plan: &Plan) {
        if self.has_saturated_drives() {
            self.add_impedances(plan, true);
            T::factor(self, plan);
        }
        self.set_impulses(plan, true);
        self.start_free_motion();
        T::solve(self, plan);
        for (v_star, (v, dof)) in self.v_star.iter_mut().zip(self.v_start.iter().zip(&self.dofs)) {
            *v_star = *v + dof.x;
        }
    }

    #[inline(always)]
    fn start_free_motion(&mut self) {
        for node in &mut self.nodes {
            node.change = Twist::ZERO;
            node.load = node.force;
        }
    }

    /// The velocity of the point at `arm` from a tree's origin, of a node that moves with `twist`.
    #[inline(always)]
    pub(super) fn velocity_at(twist: Twist<T>, arm: Vec3<T>) -> Vec3<T> {
        twist.lin + twist.ang.cross(arm)
    }

    /// Positions after dt.
    #[inline(always)]
    pub(super) fn advance(&mut self, plan: &Plan) {
        let Self { q, v_of_q: v, .. } = self;
        let dt = wide::<T>(plan.dt);
        for node in &plan.nodes {
            let (iq, iv) = (node.q, node.v);
            match node.joint.nv() {
                1 => q[iq] = v[iv].mul_add(dt, q[iq]),
                3 => turn(&mut q[iq..iq + 4], vec3(&v[iv..]) * dt),
                _ => {
                    for k in 0..3 {
                        q[iq + k] = v[iv + k].mul_add(dt, q[iq + k]);
                    }
                    turn(&mut q[iq + 3..iq + 7], vec3(&v[iv + 3..]) * dt);
                }
            }
        }
    }
}

/// q ← q exp(θ), unit.
#[inline(always)]
fn turn<T: Real>(q: &mut [T], theta: Vec3<T>) {
    let turned = (super::quaternion(q) * spatial::Quat::from_rotation_vector_in_lanes(theta)).unit();
    (q[0], q[1], q[2], q[3]) = (turned.w, turned.x, turned.y, turned.z);
}

/// I + s u uᵀ.
#[inline(always)]
fn reduced<T: Real>(whole: &ArticulatedInertia<T>, u: Wrench<T>, s: T) -> ArticulatedInertia<T> {
    let (ang, lin) = (u.ang * s, u.lin * s);
    let ArticulatedInertia { a, b, c } = *whole;
    ArticulatedInertia { a: a.plus_product(ang, u.ang), b: b.plus_outer(ang, u.lin), c: c.plus_product(lin, u.lin) }
}

#[inline(always)]
pub(super) fn moved<T: Real>(motion: Twist<T>, x: T, dof: &Dof<T>) -> Twist<T> {
    motion.add_scaled(x, dof.axis)
}

#[inline(always)]
pub(super) fn motion_of<T: Real>(w: Wrench<T>) -> Twist<T> {
    Twist { ang: w.ang, lin: w.lin }
}
