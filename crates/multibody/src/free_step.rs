//! The free motion of a step, in one pass down the tree, one up and one down: placements, velocities and bias forces; the factor of
//! M + Λ ([`crate::Factor`]) and the load on the joints; accelerations. One tree in `f64`.

use spatial::{PointInertia, RigidInertia, Twist, Vec3, Wrench};

use crate::aba::FactorInput;
use crate::elimination::Articulated;
use crate::kinematics::{add_generalized_forces, vec3};
use crate::placement::{Placed, Placement, Traits};
use crate::{Factor, JointImpedance, JointType, Kinematics, NO_PARENT, Node, NodeFrame, PolarMotion, Tree};

/// What the passes leave of a node for each other.
#[derive(Clone, Copy, Debug)]
struct State {
    frame: Placed,
    velocity: Twist<f64>,
    /// The acceleration that velocities and gravity cause.
    acceleration: Twist<f64>,
    /// The node's own inertia about its origin.
    inertia: PointInertia<f64>,
    /// What it needs to move so, times the scale, less what is applied.
    bias: Wrench<f64>,
    traits: Traits,
}

impl State {
    /// The world's.
    const WORLD: Self = Self {
        frame: Placed::WORLD,
        velocity: Twist::ZERO,
        acceleration: Twist::ZERO,
        inertia: PointInertia::ZERO,
        bias: Wrench::ZERO,
        traits: Traits::NONE,
    };
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

    /// Goes on with the first node elsewhere in the world.
    pub fn move_root(&mut self, tree: &Tree<f64>) {
        if let (Some(state), Some(node)) = (self.states.first_mut(), tree.nodes.first()) {
            state.traits = Traits::of(node);
        }
    }

    /// Places every node and its velocity at `q` (nq) and `v` (nv). Of wrenches −`scale` times the bias force in the field
    /// `gravity` is on the nodes then, and nothing else. `tree` is the one that this was made for.
    pub fn place(
        &mut self,
        tree: &Tree<f64>,
        q: &[f64],
        v: &[f64],
        gravity: Vec3<f64>,
        scale: f64,
        kin: &mut Kinematics<f64>,
    ) {
        // An accelerated world is a world with gravity.
        self.world.acceleration.lin = -gravity;
        let Self { world, states, .. } = self;
        let n = tree.nodes.len();
        let (states, frames, twists) = (&mut states[..n], &mut kin.frames[..n], &mut kin.twists[..n]);
        for (i, node) in tree.nodes.iter().enumerate() {
            let (before, here) = states.split_at_mut(i);
            let above = if node.parent == NO_PARENT { &*world } else { &before[node.parent] };
            place(node, above, q, v, scale, &mut here[0], &mut frames[i], &mut twists[i]);
        }
    }

    /// Adds a wrench on a node about its origin, after [`place`](Self::place).
    ///
    /// # Panics
    /// When there is no such node.
    pub fn load(&mut self, node: usize, w: Wrench<f64>) {
        self.states[node].bias += -w;
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
        self.states[node].bias + Wrench { ang: com.cross(lin), lin }
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
            *wrench = -state.bias;
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
        let inertia = |i: usize| Articulated::new(&self.states[i].inertia.articulated());
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
    q: &[f64],
    v: &[f64],
    scale: f64,
    state: &mut State,
    frame: &mut NodeFrame<f64>,
    twist: &mut Twist<f64>,
) {
    let placement = Placement::new(node, &above.frame, state.traits, q);
    let Placement { frame: Placed { rot, .. }, offset, axis, .. } = placement;
    let (mut own, mut slide) = (Vec3::ZERO, Vec3::ZERO);
    match node.joint {
        JointType::Revolute => own = axis * v[node.v],
        JointType::Prismatic => slide = axis * v[node.v],
        JointType::Screw => {
            slide = axis * (v[node.v] * node.pitch);
            own = axis * v[node.v];
        }
        JointType::Ball => own = rot * vec3(&v[node.v..]),
        JointType::Free => {
            slide = vec3(&v[node.v..]);
            own = rot * vec3(&v[node.v + 3..]);
        }
    }
    let (swing, turn) = (above.velocity.ang, above.acceleration.ang);
    let (mut velocity, mut acceleration) = (above.velocity, above.acceleration);
    velocity.ang += own;
    acceleration.ang += swing.cross(own);
    if !state.traits.is_at_parent {
        let swung = swing.cross(offset);
        velocity.lin += swung + slide;
        acceleration.lin += turn.cross(offset) + swing.cross(swung + slide + slide);
    }
    state.frame = placement.frame;
    (state.velocity, state.acceleration) = (velocity, acceleration);
    *twist = velocity;
    placement.store(node, frame);
    if state.traits.is_empty {
        (state.inertia, state.bias) = (PointInertia::ZERO, Wrench::ZERO);
        return;
    }
    // Newton and Euler at the centre of mass, the moment taken about the origin.
    let (omega, alpha) = (velocity.ang, acceleration.ang);
    let RigidInertia { mass, com, inertia } = frame.inertia;
    let com_acceleration = acceleration.lin + alpha.cross(com) + omega.cross(omega.cross(com));
    let force = com_acceleration * (mass * scale);
    let moment = (inertia * alpha + omega.cross(inertia * omega)) * scale + com.cross(force);
    state.inertia = frame.inertia.about_origin();
    state.bias = Wrench { ang: moment, lin: force };
}
