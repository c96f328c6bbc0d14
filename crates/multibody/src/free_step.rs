//! The free motion of a step, in one pass down the tree, one up and one down: placements, velocities and bias forces; the factor of
//! M + Λ ([`crate::Factor`]) and the load on the joints; accelerations. One tree in `f64`.

use spatial::{Real, RigidInertia, Twist, Vec3, Wrench};

use crate::aba::FactorInput;
use crate::kinematics::{add_generalized_forces, vec3};
use crate::placement::{Placed, Placement, Traits};
use crate::wide::{Articulated, Matrix, Screw, Wide, cross, dot, narrow, wide};
use crate::{Factor, JointImpedance, JointType, Kinematics, NO_PARENT, Node, NodeFrame, PolarMotion, Tree};

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
    traits: Traits,
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
        traits: Traits::NONE,
    };

    /// The node's inertia.
    #[inline(always)]
    fn articulated(&self, mass: f64) -> Articulated {
        if self.traits.is_empty {
            return Articulated::ZERO;
        }
        let (b, c) = (Matrix::ZERO.plus_skew(self.moment), Matrix::ZERO.plus_diagonal(mass));
        Articulated { a: self.inertia, b, c }
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
    /// Scratch of [`load_coriolis`](Self::load_coriolis).
    polar: Vec<PolarMotion<f64>>,
}

impl FreeStep {
    /// Scratch for a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        let states = tree.nodes.iter().map(|node| State { traits: Traits::of(node), ..State::WORLD }).collect();
        Self { world: State::WORLD, states, polar: vec![PolarMotion::ZERO; tree.len()] }
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
        let Self { world, states, .. } = self;
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

    /// Adds −`scale` c(q; v, x) to the wrenches on the nodes, v the velocities of [`place`](Self::place) and x the last solution of `factor`:
    /// forces c(q, v) become c(q; v, v + x).
    pub fn load_coriolis(&mut self, tree: &Tree<f64>, kin: &Kinematics<f64>, factor: &Factor<f64>, scale: f64) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let frame = &kin.frames[i];
            let above = match node.parent {
                NO_PARENT => PolarMotion::ZERO,
                parent => self.polar[parent].shifted(frame.offset),
            };
            let here = above.child(node.joint, kin.twists[i], factor.motions[i]);
            self.polar[i] = here;
            self.load(i, here.force(&frame.inertia.about_origin()) * -scale);
        }
    }

    /// The opposite of the wrench on a node about its origin, weight aside.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn weightless_load(&self, node: usize, kin: &Kinematics<f64>, gravity: Vec3<f64>, scale: f64) -> Wrench<f64> {
        let RigidInertia { mass, com, .. } = kin.frames[node].inertia;
        let lin = gravity * (mass * scale);
        self.states[node].bias.to_wrench() + Wrench { ang: com.cross(lin), lin }
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
        out[..tree.nv].copy_from_slice(&r[..tree.nv]);
        for (wrench, state) in wrenches.iter_mut().zip(&self.states) {
            *wrench = -state.bias.to_wrench();
        }
        add_generalized_forces(tree, tree.all(), kin, wrenches, out);
    }

    /// x = (M + Λ)⁻¹ (r + Jᵀw), w what is on the nodes; `r` and `x` are indexed by dof (nv). The factor and J x are left in
    /// `factor`.
    pub fn solve(
        &self,
        tree: &Tree<f64>,
        kin: &Kinematics<f64>,
        joints: &JointImpedance<f64>,
        r: &[f64],
        x: &mut [f64],
        factor: &mut Factor<f64>,
    ) {
        let inertia = |i: usize| self.states[i].articulated(kin.frames[i].inertia.mass);
        let bias = |i: usize| self.states[i].bias;
        factor.factor_and_solve(tree, kin, joints, FactorInput { inertia, bias, r }, x);
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
