//! The free motion of a step, in one pass down the tree, one up and one down: placements, velocities and bias forces; the factor of
//! M + Λ ([`crate::Factor`]) and the load on the joints; accelerations. One tree in `f64`, its vectors and matrices in registers
//! of four lanes.
//!
//! Of the product of a 3×3 matrix and a vector three multiplications are left, of the shift of an inertia to the parent some
//! forty instructions. A hinge takes two thirds of what the compiler makes of scalars, in chains as in limbs.

mod coriolis;

pub use coriolis::StepBalance;
use coriolis::shifted_back;
use spatial::{ArticulatedInertia, Real, Sym3, Twist, Vec3, Wrench};

use crate::aba::{Eliminated, eliminate};
use crate::kinematics::{add_joint_force, set3, vec3};
use crate::placement::{Placed, Placement, Traits, rotated};
use crate::wide::{Block, Matrix, Screw, Wide, cross, dot, narrow, wide};
use crate::{Factor, JointImpedance, JointType, Kinematics, NO_PARENT, Node, NodeFrame, Tree};

/// What the passes leave of a node for each other.
#[derive(Clone, Copy, Debug)]
struct State {
    frame: Placed,
    velocity: Screw,
    /// The acceleration that velocities and gravity cause.
    acceleration: Screw,
    /// The node's own inertia about its origin, and mass times centre of mass.
    inertia: Matrix,
    moment: Vec3<f64>,
    /// What it needs to move so, times the scale, less what is applied.
    bias: Screw,
    /// What its children leave: zero without any.
    inherited: Block,
    reduced: Reduced,
    motion: Screw,
    /// The acceleration that velocities and the last motion cause together.
    polar: Screw,
    traits: Traits,
    /// Whether it is the last of its parent's children: the first on the way up.
    is_last: bool,
}

impl State {
    /// The world's.
    const WORLD: Self = Self {
        frame: Placed::WORLD,
        velocity: Screw::ZERO,
        acceleration: Screw::ZERO,
        inertia: Matrix::ZERO,
        moment: Vec3::ZERO,
        bias: Screw::ZERO,
        inherited: Block::ZERO,
        reduced: Reduced { e: Matrix::ZERO, a: Matrix::ZERO, b: Matrix::ZERO, d_inv: 0.0 },
        motion: Screw::ZERO,
        polar: Screw::ZERO,
        traits: Traits::NONE,
        is_last: false,
    };

    /// The inertia of everything behind the joint, and what it needs.
    #[inline(always)]
    fn whole(&self, mass: f64) -> Block {
        let Block { a, b, c, bias } = self.inherited;
        if self.traits.is_empty {
            return Block { a, b, c, bias: bias.plus(self.bias) };
        }
        Block {
            a: a.plus(self.inertia),
            b: b.plus_skew(self.moment),
            c: c.plus_diagonal(mass),
            bias: bias.plus(self.bias),
        }
    }
}

/// What the elimination of one joint leaves for the way down.
#[derive(Clone, Copy, Debug)]
struct Reduced {
    /// E of a ball joint.
    e: Matrix,
    /// A and B of a ball joint; of one with a single degree of freedom h is in the columns x and y of `a`.
    a: Matrix,
    b: Matrix,
    /// 1/D of a single degree of freedom.
    d_inv: f64,
}

/// Free motion of one tree in a step:
///
/// ```text
/// (M + Λ) x = r + Jᵀw − s C(q, v)
/// ```
///
/// and all that the rest of a step reads: placements, velocities, the factor, J x.
#[derive(Clone, Debug)]
pub struct FreeStep {
    /// What roots hang on.
    world: State,
    states: Vec<State>,
}

impl FreeStep {
    /// Scratch for a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        let mut states = vec![State::WORLD; tree.len()];
        let mut is_parent = vec![false; tree.len()];
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            states[i].traits = Traits::of(node);
            if node.parent != NO_PARENT {
                states[i].is_last = !std::mem::replace(&mut is_parent[node.parent], true);
            }
        }
        Self { world: State::WORLD, states }
    }

    /// Places every node and its velocity at `q` (nq) and `v` (nv). Of wrenches −`scale` times the bias force in the field
    /// `gravity` is on the nodes then, and nothing else. `tree` is the one that this was made for.
    pub fn place(
        &mut self,
        tree: &Tree<f64>,
        (q, v): (&[f64], &[f64]),
        gravity: Vec3<f64>,
        scale: f64,
        kin: &mut Kinematics<f64>,
    ) {
        // An accelerated world is a world with gravity.
        self.world.acceleration.lin = wide(-gravity);
        let Self { world, states } = self;
        let n = tree.nodes.len();
        let (states, frames, twists) = (&mut states[..n], &mut kin.frames[..n], &mut kin.twists[..n]);
        for (i, node) in tree.nodes.iter().enumerate() {
            let (before, here) = states.split_at_mut(i);
            let above = if node.parent == NO_PARENT { &*world } else { &before[node.parent] };
            place(node, above, (q, v), scale, (&mut here[0], &mut frames[i], &mut twists[i]));
        }
    }

    /// Adds a wrench on a node about its origin, after [`place`](Self::place).
    ///
    /// # Panics
    /// When there is no such node.
    pub fn load(&mut self, node: usize, w: Wrench<f64>) {
        let bias = &mut self.states[node].bias;
        *bias = bias.plus_scaled(-1.0, Screw { ang: wide(w.ang), lin: wide(w.lin) });
    }

    /// r + Jᵀw, w what is on the nodes: (M + Λ) x after [`solve`](Self::solve), without a product. `r` and `out` are indexed by dof
    /// (nv), `wrenches` is scratch, one for each node.
    pub fn loads(
        &self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        r: &[f64],
        wrenches: &mut [Wrench<f64>],
        out: &mut [f64],
    ) {
        let n = tree.nodes.len();
        let (states, frames, wrenches) = (&self.states[..n], &kin.frames[..n], &mut wrenches[..n]);
        out[..tree.nv].copy_from_slice(&r[..tree.nv]);
        for (wrench, state) in wrenches.iter_mut().zip(states) {
            *wrench = -state.bias.to_wrench();
        }
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let (frame, wrench) = (&frames[i], wrenches[i]);
            add_joint_force(node, frame, wrench, out);
            if node.parent != NO_PARENT {
                wrenches[node.parent] +=
                    if states[i].traits.is_at_parent { wrench } else { wrench.shifted_back(frame.offset) };
            }
        }
    }

    /// x = (M + Λ)⁻¹ (r + Jᵀw), w what is on the nodes; `r` and `x` are indexed by dof (nv). The factor and J x are left in
    /// `factor`.
    pub fn solve(
        &mut self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        joints: &JointImpedance<f64>,
        r: &[f64],
        x: &mut [f64],
        factor: &mut Factor<f64>,
    ) {
        let (n, nv) = (tree.nodes.len(), tree.nv);
        let (r, x) = (&r[..nv], &mut x[..nv]);
        let (eliminated, motions) = factor.parts_mut();
        let (eliminated, motions) = (&mut eliminated[..n], &mut motions[..n]);
        let (states, frames) = (&mut self.states[..n], &kin.frames[..n]);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let frame = &frames[i];
            let (before, here) = states.split_at_mut(i);
            let here = &mut here[0];
            let whole = here.whole(frame.inertia.mass);
            let (rot, is_last, reduced) = (here.frame.rot, here.is_last, &mut here.reduced);
            let left = match node.joint {
                JointType::Free => {
                    eliminated[i] = eliminate_free(node, frame, &whole, joints, (r, x), i);
                    continue;
                }
                JointType::Ball => {
                    let k = joints.ball_block(node, i);
                    eliminate_ball(node, rot, &whole, k, (r, x), reduced, &mut eliminated[i])
                }
                JointType::Revolute | JointType::Prismatic | JointType::Screw => {
                    let lambda = joints.diagonal[node.v];
                    eliminate_single(node, frame, &whole, lambda, (r, x), reduced, &mut eliminated[i])
                }
            };
            if node.parent != NO_PARENT {
                let inherited = &mut before[node.parent].inherited;
                let shifted = if here.traits.is_at_parent { left } else { left.shifted_back(frame.offset) };
                *inherited = if is_last { shifted } else { inherited.plus(&shifted) };
            }
        }
        expand_all(tree, states, frames, x, (eliminated, motions));
    }

    /// [`solve`](Self::solve) with the factor that it left last, whatever is on the nodes now; `joints` are the same.
    pub fn solve_again(
        &mut self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        joints: &JointImpedance<f64>,
        r: &[f64],
        x: &mut [f64],
        factor: &mut Factor<f64>,
    ) {
        let (n, nv) = (tree.nodes.len(), tree.nv);
        let (r, x) = (&r[..nv], &mut x[..nv]);
        let (eliminated, motions) = factor.parts_mut();
        let (eliminated, motions) = (&mut eliminated[..n], &mut motions[..n]);
        let (states, frames) = (&mut self.states[..n], &kin.frames[..n]);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let frame = &frames[i];
            let (before, here) = states.split_at_mut(i);
            let here = &mut here[0];
            let bias = here.inherited.bias.plus(here.bias);
            let left = match node.joint {
                JointType::Free => {
                    eliminated[i].reduce(node, frame, bias.to_wrench(), r, x);
                    continue;
                }
                JointType::Ball => {
                    let k = joints.ball_block(node, i);
                    reduce_ball(node, here.frame.rot, &here.reduced, k, bias, (r, x))
                }
                JointType::Revolute | JointType::Prismatic | JointType::Screw => {
                    reduce_single(node, frame, &here.reduced, bias, (r, x))
                }
            };
            if node.parent != NO_PARENT {
                let inherited = &mut before[node.parent].inherited.bias;
                let shifted = if here.traits.is_at_parent { left } else { shifted_back(left, wide(frame.offset)) };
                *inherited = if here.is_last { shifted } else { inherited.plus(shifted) };
            }
        }
        expand_all(tree, states, frames, x, (eliminated, motions));
    }
}

/// The way down of a solve: x of every joint, and the motions of the nodes.
#[inline(always)]
fn expand_all(
    tree: &Tree<f64>,
    states: &mut [State],
    frames: &[NodeFrame<f64>],
    x: &mut [f64],
    (eliminated, motions): (&[Eliminated<f64>], &mut [Twist<f64>]),
) {
    for (i, node) in tree.nodes.iter().enumerate() {
        let frame = &frames[i];
        let (before, here) = states.split_at_mut(i);
        let motion = if node.joint == JointType::Free {
            let twist = eliminated[i].expand(node, frame, None, x);
            Screw { ang: wide(twist.ang), lin: wide(twist.lin) }
        } else {
            let above = if node.parent == NO_PARENT { &Screw::ZERO } else { &before[node.parent].motion };
            let mut carried = *above;
            if !here[0].traits.is_at_parent {
                carried.lin += cross(above.ang, wide(frame.offset));
            }
            expand(node, frame, &here[0].reduced, carried, x)
        };
        here[0].motion = motion;
        motions[i] = motion.to_twist();
    }
}

/// The force on a joint of one degree of freedom, and what it leaves to its parent.
#[inline(always)]
fn reduce_single(
    node: &Node<f64>,
    frame: &NodeFrame<f64>,
    reduced: &Reduced,
    bias: Screw,
    (r, x): (&[f64], &mut [f64]),
) -> Screw {
    let s = frame.axis;
    let along = match node.joint {
        JointType::Revolute => dot(wide(s), bias.ang),
        JointType::Prismatic => Screw { ang: wide(s * 0.0), lin: wide(s * 1.0) }.dot(bias),
        JointType::Screw | JointType::Ball | JointType::Free => {
            Screw { ang: wide(s * 1.0), lin: wide(s * node.pitch) }.dot(bias)
        }
    };
    let u = r[node.v] - along;
    x[node.v] = u;
    bias.plus_scaled(u * reduced.d_inv, Screw { ang: reduced.a.x, lin: reduced.a.y })
}

/// The torque on a ball joint, and what it leaves to its parent.
#[inline(always)]
fn reduce_ball(
    node: &Node<f64>,
    rot: Matrix,
    Reduced { e, b, .. }: &Reduced,
    k: Sym3<f64>,
    bias: Screw,
    (r, x): (&[f64], &mut [f64]),
) -> Screw {
    let tau = rot.times_vec(vec3(&r[node.v..]));
    let u = tau - bias.ang;
    set3(&mut x[node.v..], narrow(u));
    let eu = e.times(u);
    let is_uniform = k == Sym3::diagonal(Vec3::new(k.xx, k.xx, k.xx));
    let ang = if is_uniform { Wide::splat(-k.xx).mul_add(eu, tau) } else { tau - rotated(&k, rot).times(eu) };
    Screw { ang, lin: bias.lin + b.transpose().times(eu) }
}

/// Where a joint puts its node, and what the node needs to move as its velocity and gravity make it.
#[inline(always)]
fn place(
    node: &Node<f64>,
    above: &State,
    (q, v): (&[f64], &[f64]),
    scale: f64,
    (state, frame, twist): (&mut State, &mut NodeFrame<f64>, &mut Twist<f64>),
) {
    let placement = Placement::new(node, &above.frame, state.traits, q);
    let Placement { frame: Placed { rot, .. }, offset, axis, com, inertia, .. } = placement;
    let (mut own, mut slide) = (Wide::ZERO, Wide::ZERO);
    match node.joint {
        JointType::Revolute => own = axis * Wide::splat(v[node.v]),
        JointType::Prismatic => slide = axis * Wide::splat(v[node.v]),
        JointType::Screw => {
            slide = axis * Wide::splat(v[node.v] * node.pitch);
            own = axis * Wide::splat(v[node.v]);
        }
        JointType::Ball => own = rot.times_vec(vec3(&v[node.v..])),
        JointType::Free => {
            slide = wide(vec3(&v[node.v..]));
            own = rot.times_vec(vec3(&v[node.v + 3..]));
        }
    }
    let (swing, turn) = (above.velocity.ang, above.acceleration.ang);
    let (mut velocity, mut acceleration) = (above.velocity, above.acceleration);
    velocity.ang += own;
    acceleration.ang += cross(swing, own);
    if !state.traits.is_at_parent {
        let swung = cross(swing, offset);
        velocity.lin += swung + slide;
        acceleration.lin += cross(turn, offset) + cross(swing, swung + slide + slide);
    }
    state.frame = placement.frame;
    (state.velocity, state.acceleration) = (velocity, acceleration);
    *twist = velocity.to_twist();
    placement.store(node, frame);
    if state.traits.is_empty {
        state.bias = Screw::ZERO;
        return;
    }
    let body = &node.inertia;
    // Newton and Euler at the centre of mass, the moment taken about the origin.
    let (omega, alpha) = (velocity.ang, acceleration.ang);
    let com_acceleration = acceleration.lin + cross(alpha, com) + cross(omega, cross(omega, com));
    let force = com_acceleration * Wide::splat(body.mass * scale);
    let moment = (inertia.times(alpha) + cross(omega, inertia.times(omega))) * Wide::splat(scale) + cross(com, force);
    let mc = com * Wide::splat(body.mass);
    state.inertia = inertia.plus_outer(-mc, com).plus_diagonal(dot(mc, com));
    state.moment = narrow(mc);
    state.bias = Screw { ang: moment, lin: force };
}

#[inline(always)]
fn eliminate_single(
    node: &Node<f64>,
    frame: &NodeFrame<f64>,
    whole: &Block,
    lambda: f64,
    (r, x): (&[f64], &mut [f64]),
    reduced: &mut Reduced,
    eliminated: &mut Eliminated<f64>,
) -> Block {
    let Block { a, b, c, bias } = *whole;
    let s = frame.axis;
    let (h, d) = match node.joint {
        JointType::Revolute => {
            let h = Screw { ang: a.times_vec(s), lin: b.transpose().times_vec(s) };
            (h, dot(wide(s), h.ang))
        }
        JointType::Prismatic | JointType::Screw | JointType::Ball | JointType::Free => {
            let (turn, slide) = if node.joint == JointType::Prismatic { (0.0, 1.0) } else { (1.0, node.pitch) };
            let (turn, slide) = (s * turn, s * slide);
            let h = Screw {
                ang: a.times_vec(turn) + b.times_vec(slide),
                lin: b.transpose().times_vec(turn) + c.times_vec(slide),
            };
            (h, Screw { ang: wide(turn), lin: wide(slide) }.dot(h))
        }
    };
    let d_inv = 1.0 / (d + lambda);
    (reduced.a.x, reduced.a.y, reduced.d_inv) = (h.ang, h.lin, d_inv);
    *eliminated = Eliminated::Single { h: h.to_wrench(), d_inv };
    let minus = Wide::splat(-d_inv);
    let (ha, hl) = (h.ang * minus, h.lin * minus);
    Block {
        a: a.plus_outer(ha, h.ang),
        b: b.plus_outer(ha, h.lin),
        c: c.plus_outer(hl, h.lin),
        bias: reduce_single(node, frame, reduced, bias, (r, x)),
    }
}

/// A' = K E A, B' = K E B, C' = C − Bᵀ E B, n' = τ − K E u, f' = f + Bᵀ E u, as in [`Factor`]. `k` is in the node's axes.
#[inline(always)]
fn eliminate_ball(
    node: &Node<f64>,
    rot: Matrix,
    whole: &Block,
    k: Sym3<f64>,
    (r, x): (&[f64], &mut [f64]),
    reduced: &mut Reduced,
    eliminated: &mut Eliminated<f64>,
) -> Block {
    let Block { a, b, c, bias } = *whole;
    let is_uniform = k == Sym3::diagonal(Vec3::new(k.xx, k.xx, k.xx));
    let e = if is_uniform { a.plus_diagonal(k.xx) } else { a.plus(rotated(&k, rot)) }.inverse();
    let (ea, eb) = (e.product(a), e.product(b));
    let bt = b.transpose();
    (reduced.e, reduced.a, reduced.b) = (e, a, b);
    *eliminated = Eliminated::Ball { e: e.to_sym3(), a: a.to_sym3(), b: b.to_mat3() };
    // The inverse takes `a` to be symmetric: along a straight chain it makes what `c` misses of that twice as much at every joint.
    let c = c.minus(bt.product(eb)).symmetric();
    let bias = reduce_ball(node, rot, reduced, k, bias, (r, x));
    if is_uniform {
        return Block { a: ea.scaled(k.xx), b: eb.scaled(k.xx), c, bias };
    }
    let k = rotated(&k, rot);
    Block { a: k.product(ea), b: k.product(eb), c, bias }
}

/// Of the root alone, in scalars.
#[inline(always)]
fn eliminate_free(
    node: &Node<f64>,
    frame: &NodeFrame<f64>,
    whole: &Block,
    joints: &JointImpedance<f64>,
    (r, x): (&[f64], &mut [f64]),
    i: usize,
) -> Eliminated<f64> {
    let inertia = ArticulatedInertia { a: whole.a.to_sym3(), b: whole.b.to_mat3(), c: whole.c.to_sym3() };
    let (eliminated, _) = eliminate(node, frame, inertia, joints, i);
    eliminated.reduce(node, frame, whole.bias.to_wrench(), r, x);
    eliminated
}

/// x of a joint, and the node's motion.
#[inline(always)]
fn expand(node: &Node<f64>, frame: &NodeFrame<f64>, reduced: &Reduced, carried: Screw, x: &mut [f64]) -> Screw {
    match node.joint {
        JointType::Revolute | JointType::Prismatic | JointType::Screw => {
            let h = Screw { ang: reduced.a.x, lin: reduced.a.y };
            let step = (x[node.v] - carried.dot(h)) * reduced.d_inv;
            x[node.v] = step;
            let s = wide(frame.axis);
            match node.joint {
                JointType::Prismatic => Screw { lin: Wide::splat(step).mul_add(s, carried.lin), ..carried },
                JointType::Screw => {
                    let ang = Wide::splat(step).mul_add(s, carried.ang);
                    Screw { ang, lin: Wide::splat(step * node.pitch).mul_add(s, carried.lin) }
                }
                JointType::Revolute | JointType::Ball | JointType::Free => {
                    Screw { ang: Wide::splat(step).mul_add(s, carried.ang), ..carried }
                }
            }
        }
        JointType::Ball | JointType::Free => {
            let u = wide(vec3(&x[node.v..])) - reduced.a.times(carried.ang) - reduced.b.times(carried.lin);
            let turn = reduced.e.times(u);
            set3(&mut x[node.v..], frame.rot.transpose_mul(narrow(turn)));
            Screw { ang: carried.ang + turn, ..carried }
        }
    }
}
