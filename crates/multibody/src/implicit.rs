//! Newton's matrix of an implicit step on a tree, factored in O(n).
//!
//! An implicit step solves τ(q(v), v̄(v), a(v)) = f for the velocity v at its end, τ the inverse dynamics, all three
//! arguments functions of v. The derivative of τ along them (the Fréchet derivative of Potra, Gavrea, Anitescu, Trinkle
//! 2006) is no sum of symmetric operators, and one joint's velocity enters every inertia outwards of it. It is a
//! recursion all the same. In spatial vectors about a fixed point, a change δv moves body i by η_i, changes its velocity
//! by η_i × V_i + ν_i and its acceleration by η_i × A_i + α_i − V_i × ν_i, where
//!
//! ```text
//! x_i = (η, ν, α)_i = x_λ + U_i δv_i,    δf_i = η ×* f_i + I_i α + (ν ×* h_i + V_i ×* I_i ν − I_i (V_i × ν))
//! U_i = (S c,  S θ_v + V_λ × S c,  S/dt + A_λ × S c + V_λ × (V_λ × S c) + θ_v (V_λ × S + V_i × S)),    c = dt θ_q θ_vq
//! ```
//!
//! with λ the parent, S the joint's axes, h momentum, f the rate of momentum: what a body feels is a linear map of what
//! its parent does, without a transform between the two. So the joints are eliminated from the leaves down as in the
//! articulated-body algorithm, with a 6×15 matrix in the place of the 6×6 inertia (the linear part of ν changes no force:
//! Galileo). A rotation is moved by T δv, not by c δv: T is the derivative of the map from v to the rotation,
//! [`Retraction::tangent`](crate::Retraction::tangent).
//!
//! About a fixed point velocities and accelerations are sums along the way from the root, and forces sums over the bodies
//! outwards: τ itself costs little more than what its derivative needs anyway, and is computed here too, with the placements. Where
//! there are few joints with one degree of freedom and no others, the derivative is written out instead (`few`).

mod elimination;
mod few;
mod motion;
mod row;

use spatial::{Mat3, Vec3};

use crate::{JointType, Kinematics, NO_PARENT, Tree};
use few::Few;
use motion::{Body, Motion, Moving};
use row::{Narrow, Row};

/// Calls `$body` in a function that is compiled for AVX-512 where the processor has it (twice the registers help narrow lanes
/// too), else as it is. There may be another `$wide` for AVX-512.
macro_rules! best_version {
    ($body:path, ($($name:ident: $t:ty),*)) => {
        best_version!($body, else $body, ($($name: $t),*))
    };
    ($wide:path, else $body:path, ($($name:ident: $t:ty),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if spatial::cpu::has_avx512() {
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
            fn wide($($name: $t),*) {
                $wide($($name),*);
            }
            // SAFETY: the processor has these instructions.
            return unsafe { wide($($name),*) };
        }
        $body($($name),*);
    }};
}

/// How fast positions, velocities and accelerations of the joints change with v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Coordinates with one degree of freedom and positions: c = dt θ_q θ_vq, s.
    pub position: f64,
    /// Velocities: θ_v.
    pub velocity: f64,
    /// Accelerations: 1/dt, 1/s.
    pub acceleration: f64,
}

/// What joints add to the derivative: d is `diagonal` (nv) and, for ball and free joints, all of `blocks` on their
/// rotations, one per node.
#[derive(Clone, Copy, Debug)]
pub struct JointDerivative<'a> {
    /// The diagonal.
    pub diagonal: &'a [f64],
    /// Blocks of rotations; not read for other nodes.
    pub blocks: &'a [Mat3<f64>],
    /// T for every node that rotates about a point; not read for others.
    pub turns: &'a [Mat3<f64>],
}

/// Which degrees of freedom of its joint a stage has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The only one.
    Single,
    /// The translations of a free joint, world axes.
    Shift,
    /// The rotations of a ball or free joint.
    Turn,
}

/// One or three degrees of freedom that are eliminated together.
#[derive(Clone, Copy, Debug)]
struct Stage {
    kind: Kind,
    node: usize,
    /// First degree of freedom.
    dof: usize,
    parent: Option<usize>,
    /// Whether a body moves with it: whether it is the last of its joint.
    has_body: bool,
    /// Whether stages outwards have left their operators in its store, and whether it is the first to do so in its
    /// parent's. Leaves come first.
    gathers: bool,
    puts: bool,
}

/// What the elimination of a stage leaves for solves.
#[derive(Clone, Copy, Debug)]
struct Eliminated {
    /// U
    reach: [Row; 3],
    /// SᵀP + (S ×* F)ᵀ on η; last of the row, what of the right-hand side is left, with the opposite sign.
    pull: [Row; 3],
    /// P U
    push: [[f64; 6]; 3],
    /// (pull U + d)⁻¹
    inverse: [[f64; 3]; 3],
}

/// The factor of ∂τ/∂v + d, and the scratch of its solves.
#[derive(Clone, Debug)]
pub struct ImplicitFactor {
    stages: Vec<Stage>,
    /// Where nodes are.
    placed: Vec<Body>,
    world: Motion,
    /// How stages move.
    moving: Vec<Moving>,
    /// In place of what follows, where there are few joints with one degree of freedom and no others.
    few: Option<Box<Few>>,
    /// P of the bodies, and sums of what is left of P outwards. What is never set is zero.
    bodies: Vec<[Row; 6]>,
    store: Vec<[Row; 6]>,
    eliminated: Vec<Eliminated>,
    x: Vec<Row>,
    p: Vec<[f64; 6]>,
}

impl ImplicitFactor {
    /// Storage for a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        let mut stages: Vec<Stage> = Vec::new();
        // The last stage of every node.
        let mut last: Vec<usize> = Vec::new();
        for (i, node) in tree.nodes.iter().enumerate() {
            let parent = (node.parent != NO_PARENT).then(|| last[node.parent]);
            let stage =
                Stage { kind: Kind::Turn, node: i, dof: node.v, parent, has_body: true, gathers: false, puts: false };
            match node.joint {
                JointType::Revolute | JointType::Prismatic | JointType::Screw => {
                    stages.push(Stage { kind: Kind::Single, ..stage });
                }
                JointType::Ball => stages.push(stage),
                JointType::Free => {
                    stages.push(Stage { kind: Kind::Shift, has_body: false, ..stage });
                    let shifted = stages.len() - 1;
                    stages.push(Stage { dof: node.v + 3, parent: Some(shifted), ..stage });
                }
            }
            last.push(stages.len() - 1);
        }
        let n = stages.len();
        for k in (0..n).rev() {
            if let Some(parent) = stages[k].parent {
                stages[k].puts = !stages[parent].gathers;
                stages[parent].gathers = true;
            }
        }
        let are_few = n <= few::MOST && stages.iter().all(|stage| stage.kind == Kind::Single);
        let operators = if are_few { 0 } else { n };
        let rows = [Row::ZERO; 3];
        let eliminated = Eliminated { reach: rows, pull: rows, push: [[0.0; 6]; 3], inverse: [[0.0; 3]; 3] };
        Self {
            stages,
            placed: tree.nodes.iter().map(Body::of).collect(),
            world: Motion::ZERO,
            moving: vec![Moving::NONE; n],
            few: are_few.then(|| Box::new(Few::new())),
            bodies: vec![[Row::ZERO; 6]; operators],
            store: vec![[Row::ZERO; 6]; operators],
            eliminated: vec![eliminated; operators],
            x: vec![Row::ZERO; operators],
            p: vec![[0.0; 6]; operators],
        }
    }

    /// The joint forces τ (nv), without armature, at positions q (nq), velocities v and accelerations a (nv): what
    /// [`rnea`](crate::rnea()) computes, to round-off. The nodes are placed in `kin`, but for their velocities. |Angles| up to 1e5.
    pub fn inverse_dynamics(
        &mut self,
        tree: &Tree<f64>,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        gravity: Vec3<f64>,
        kin: &mut Kinematics<f64>,
        tau: &mut [f64],
    ) {
        let factor = self;
        best_version!(motion::inverse_dynamics, (
            factor: &mut ImplicitFactor,
            tree: &Tree<f64>,
            q: &[f64],
            v: &[f64],
            a: &[f64],
            gravity: Vec3<f64>,
            kin: &mut Kinematics<f64>,
            tau: &mut [f64]
        ));
    }

    /// The bodies' kinetic energy at the velocities of [`inverse_dynamics`](Self::inverse_dynamics), J.
    pub fn kinetic_energy(&self) -> f64 {
        self.moving.iter().map(|m| 0.5 * m.motion.velocity.dot(m.momentum)).sum()
    }

    /// Factors ∂τ/∂v + d where [`inverse_dynamics`](Self::inverse_dynamics) was computed last, and solves
    /// x ← (∂τ/∂v + d)⁻¹ r at once, both (nv).
    pub fn factor(&mut self, rates: Rates, joints: JointDerivative<'_>, r: &[f64], x: &mut [f64]) {
        match self.few.take() {
            Some(mut few) => {
                self.factor_few(&mut few, rates, joints, r, x);
                self.few = Some(few);
            }
            None => self.factor_many(rates, joints, r, x),
        }
    }

    fn factor_few(&self, few: &mut Few, rates: Rates, joints: JointDerivative<'_>, r: &[f64], x: &mut [f64]) {
        let factor = self;
        best_version!(few::factor, (
            factor: &ImplicitFactor,
            few: &mut Few,
            rates: Rates,
            joints: JointDerivative<'_>,
            r: &[f64],
            x: &mut [f64]
        ));
    }

    fn factor_many(&mut self, rates: Rates, joints: JointDerivative<'_>, r: &[f64], x: &mut [f64]) {
        let factor = self;
        best_version!(elimination::factor::<row::Wide>, else elimination::factor::<Narrow>, (
            factor: &mut ImplicitFactor,
            rates: Rates,
            joints: JointDerivative<'_>,
            r: &[f64],
            x: &mut [f64]
        ));
    }

    /// x ← (∂τ/∂v + d)⁻¹ r, both (nv), by the last factor.
    pub fn solve(&mut self, r: &[f64], x: &mut [f64]) {
        if let Some(few) = &self.few {
            return few.solve(r, x);
        }
        let factor = self;
        best_version!(elimination::solve::<row::Wide>, else elimination::solve::<Narrow>, (
            factor: &mut ImplicitFactor,
            r: &[f64],
            x: &mut [f64]
        ));
    }
}
