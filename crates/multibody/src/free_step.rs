//! The free motion of a step, in one pass down the tree, one up and one down: placements, velocities and bias forces; the factor of
//! M + Λ ([`crate::Factor`]) and the load on the joints; accelerations. One tree in `f64`.

mod coriolis;

pub use coriolis::StepBalance;
use spatial::{Real, Twist, Vec3, Wrench};

use crate::elimination::eliminate;
use crate::kinematics::{add_joint_force, vec3};
use crate::placement::{Placed, Placement, Traits};
use crate::wide::{Articulated, Matrix, Screw, Wide, cross, dot, narrow, wide};
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
    /// What its children leave, and the bias force of that: zero without any.
    inherited: Articulated,
    inherited_bias: Screw,
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
        inherited: Articulated::ZERO,
        inherited_bias: Screw::ZERO,
        motion: Screw::ZERO,
        polar: Screw::ZERO,
        traits: Traits::NONE,
        is_last: false,
    };

    /// The inertia of everything behind the joint.
    #[inline(always)]
    fn whole(&self, mass: f64) -> Articulated {
        let Articulated { a, b, c } = self.inherited;
        if self.traits.is_empty {
            return self.inherited;
        }
        Articulated { a: a.plus(self.inertia), b: b.plus_skew(self.moment), c: c.plus_diagonal(mass) }
    }
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
        let (states, frames, eliminated) = (&mut self.states[..n], &kin.frames[..n], &mut factor.joints_mut()[..n]);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let (frame, out) = (&frames[i], &mut eliminated[i]);
            let (before, here) = states.split_at_mut(i);
            let here = &here[0];
            let left = eliminate(node, frame, &here.whole(frame.inertia.mass), joints, i, out);
            let bias = out.reduce(node, frame, here.inherited_bias.plus(here.bias), r, x);
            if node.parent != NO_PARENT {
                let (mut left, mut bias) = (left, bias);
                if !here.traits.is_at_parent {
                    (left, bias) = (left.shifted_back(frame.offset), bias.shifted_back(wide(frame.offset)));
                }
                let parent = &mut before[node.parent];
                if !here.is_last {
                    (left, bias) = (parent.inherited.plus(&left), parent.inherited_bias.plus(bias));
                }
                (parent.inherited, parent.inherited_bias) = (left, bias);
            }
        }
        factor.expand(tree, 0..n, kin, x);
    }

    /// [`solve`](Self::solve) with the factor that it left last, whatever is on the nodes now.
    pub fn solve_again(
        &self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        r: &[f64],
        x: &mut [f64],
        factor: &mut Factor<f64>,
    ) {
        factor.solve_biased(tree, tree.all(), kin, r, |i| self.states[i].bias, x);
    }
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
