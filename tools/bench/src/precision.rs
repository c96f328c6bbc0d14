//! Tracking without contact, the dynamics in f64 or f32: to see what precision does to a controller's force.
//!
//! Positions, targets and the explicit part Q of the controller are in f64; kinematics, inverse dynamics, factorisation and the
//! forward dynamics that follows are in the scalar.

use motion::tracking::{Gains, LOST, Torque, command};
use multibody::{
    CrbaWorkspace, Factor, JointImpedance, Kinematics, RneaWorkspace, Tree, forward_kinematics, integrate, mass_matrix,
    rnea, velocities,
};
use sim::Pd;
use sim::stable_pd::pd_force;
use spatial::{Real, Vec3};

use crate::{Error, Outcome, Subject};

/// The scalar of the dynamics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    F64,
    F32,
}

impl Scalar {
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
        }
    }
}

/// How (M + dt K_d) q̈ = Q − C is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    Articulated,
    Dense,
}

impl First {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Articulated => "MABA",
            Self::Dense => "DF",
        }
    }

    pub const fn key(self) -> &'static str {
        match self {
            Self::Articulated => "maba",
            Self::Dense => "dense",
        }
    }
}

/// What happens to q̈.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is the acceleration of the step.
    Kept,
    /// It becomes a force, and forward dynamics (ABA) an acceleration again.
    Through(Torque),
}

impl Way {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "q̈ kept",
            Self::Through(Torque::InverseDynamics) => "τ = M q̈ + C, then ABA",
            Self::Through(Torque::RoundTrip) => "τ = Q − dt K_d q̈, then ABA",
        }
    }

    pub const fn key(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Through(Torque::InverseDynamics) => "inverse_dynamics",
            Self::Through(Torque::RoundTrip) => "round_trip",
        }
    }
}

/// Tracks the subject's motion for `steps` of `dt` without gravity's counterpart, the ground.
///
/// # Errors
/// When the motion does not fit the character or has no such body.
pub fn track_in_the_air(
    subject: &Subject,
    effector: &str,
    (first, way, scalar): (First, Way, Scalar),
    dt: f64,
    steps: usize,
) -> Result<Outcome, Error> {
    match scalar {
        Scalar::F64 => Flight::<f64>::new(subject, dt).track(subject, effector, first, way, steps),
        Scalar::F32 => Flight::<f32>::new(subject, dt).track(subject, effector, first, way, steps),
    }
}

/// Dynamics of one model in a scalar.
struct Flight<T: Real + PartialEq> {
    tree: Tree<T>,
    gravity: Vec3<T>,
    dt: f64,
    pd: Pd,
    kin: Kinematics<T>,
    rnea: RneaWorkspace<T>,
    crba: CrbaWorkspace<T>,
    factor: Factor<T>,
    /// dt K_d, and nothing: the characters' joints have no armature of their own.
    impedance: [JointImpedance<T>; 2],
    /// Column-major nv × nv.
    matrix: Vec<T>,
    q: Vec<T>,
    v: Vec<T>,
    bias: Vec<T>,
    force: Vec<T>,
    right: Vec<T>,
    acceleration: Vec<T>,
}

impl<T: Real + PartialEq + Into<f64>> Flight<T> {
    fn new(subject: &Subject, dt: f64) -> Self {
        let tree: Tree<T> = subject.model.tree.cast();
        let pd = Gains::default().controller(&subject.model, f64::INFINITY);
        let mut impedance = [JointImpedance::new(&tree), JointImpedance::new(&tree)];
        for i in 0..tree.nv {
            let armature = subject.model.armature[i];
            impedance[0].diagonal[i] = T::from_f64(armature + dt * pd.kd[i]);
            impedance[1].diagonal[i] = T::from_f64(armature);
        }
        let g = subject.model.gravity;
        let zero = |n: usize| vec![T::ZERO; n];
        Self {
            gravity: Vec3::new(T::from_f64(g.x), T::from_f64(g.y), T::from_f64(g.z)),
            dt,
            pd,
            kin: Kinematics::new(&tree),
            rnea: RneaWorkspace::new(&tree),
            crba: CrbaWorkspace::new(&tree),
            factor: Factor::new(&tree),
            impedance,
            matrix: zero(tree.nv * tree.nv),
            q: zero(tree.nq),
            v: zero(tree.nv),
            bias: zero(tree.nv),
            force: zero(tree.nv),
            right: zero(tree.nv),
            acceleration: zero(tree.nv),
            tree,
        }
    }

    fn track(
        mut self,
        subject: &Subject,
        effector: &str,
        first: First,
        way: Way,
        steps: usize,
    ) -> Result<Outcome, Error> {
        let (model, reference) = (&subject.model, subject.reference(self.dt, steps)?);
        let mut effector = subject.effector(effector)?;
        let (mut distance, mut squares) = (Vec::new(), 0.0);
        let (mut q, mut v) = (reference.at(0).to_vec(), reference.velocity.clone());
        let mut force = v.clone();
        for k in 1..=steps {
            self.pd.target.copy_from_slice(reference.at(k));
            pd_force(&model.tree, &q, &v, &command(&self.pd), self.dt, &mut force);
            let cast =
                |to: &mut [T], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to = T::from_f64(*from));
            cast(&mut self.q, &q);
            cast(&mut self.v, &v);
            cast(&mut self.force, &force);
            self.accelerate(first, way);
            for (v, a) in v.iter_mut().zip(&self.acceleration) {
                *v += self.dt * (*a).into();
            }
            let finite = v.iter().all(|x| x.is_finite());
            integrate(&model.tree, &mut q, &v, self.dt);
            // Not a number is not within reach either.
            effector.compare(model, &q, reference.at(k), &mut distance);
            let within = finite && distance[0] <= LOST;
            if !within {
                return Ok(Outcome::Diverged(k as f64 * self.dt));
            }
            squares += distance[0] * distance[0];
        }
        Ok(Outcome::Tracked((squares / steps as f64).sqrt()))
    }

    /// q̈ at q and v under Q.
    fn accelerate(&mut self, first: First, way: Way) {
        let all = self.tree.all();
        forward_kinematics(&self.tree, all.clone(), &self.q, &mut self.kin);
        velocities(&self.tree, all.clone(), &self.v, &mut self.kin);
        rnea(&self.tree, all.clone(), &self.kin, &self.v, None, self.gravity, &mut self.rnea, &mut self.bias);
        match first {
            First::Articulated => self.articulated(0),
            First::Dense => self.dense(),
        }
        let Way::Through(torque) = way else { return };
        match torque {
            Torque::RoundTrip => {
                for i in 0..self.tree.nv {
                    self.force[i] -= T::from_f64(self.dt * self.pd.kd[i]) * self.acceleration[i];
                }
            }
            Torque::InverseDynamics => {
                let Self { tree, kin, v, acceleration, rnea: ws, force, gravity, .. } = self;
                rnea(tree, all, kin, v, Some(acceleration), *gravity, ws, force);
                for i in 0..tree.nv {
                    force[i] += self.impedance[1].diagonal[i] * acceleration[i];
                }
            }
        }
        self.articulated(1);
    }

    fn set_right(&mut self) {
        for i in 0..self.tree.nv {
            self.right[i] = self.force[i] - self.bias[i];
        }
    }

    fn articulated(&mut self, impedance: usize) {
        self.set_right();
        let Self { tree, kin, factor, right, acceleration, .. } = self;
        factor.factor(tree, tree.all(), kin, &self.impedance[impedance], None);
        factor.solve(tree, tree.all(), kin, right, None, acceleration);
    }

    fn dense(&mut self) {
        self.set_right();
        let n = self.tree.nv;
        self.matrix.fill(T::ZERO);
        mass_matrix(&self.tree, self.tree.all(), &self.kin, None, &mut self.crba, &mut self.matrix, n, 0);
        for i in 0..n {
            self.matrix[i * n + i] += self.impedance[0].diagonal[i];
        }
        cholesky_solve(&mut self.matrix, &mut self.right);
        self.acceleration.copy_from_slice(&self.right);
    }
}

/// Solves A x = b in place by A = L Lᵀ, the textbook's way: no Cholesky of the workspace is written over the scalar. `a` is
/// column-major; its lower triangle is used.
fn cholesky_solve<T: Real>(a: &mut [T], b: &mut [T]) {
    let n = b.len();
    for j in 0..n {
        for k in 0..j {
            let factor = a[j + k * n];
            for i in j..n {
                let entry = a[i + k * n];
                a[i + j * n] -= entry * factor;
            }
        }
        let inverse = a[j + j * n].sqrt().recip();
        for i in j..n {
            a[i + j * n] *= inverse;
        }
    }
    for j in 0..n {
        b[j] = b[j] / a[j + j * n];
        for i in j + 1..n {
            let (entry, known) = (a[i + j * n], b[j]);
            b[i] -= entry * known;
        }
    }
    for j in (0..n).rev() {
        for i in j + 1..n {
            let (entry, known) = (a[i + j * n], b[i]);
            b[j] -= entry * known;
        }
        b[j] = b[j] / a[j + j * n];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_solves() {
        // A = [4 2 0; 2 5 3; 0 3 6], x = (1, −2, 3).
        let mut a = [4.0, 2.0, 0.0, 2.0, 5.0, 3.0, 0.0, 3.0, 6.0];
        let mut b = [0.0, 1.0, 12.0];
        cholesky_solve::<f64>(&mut a, &mut b);
        for (x, expected) in b.iter().zip([1.0, -2.0, 3.0]) {
            assert!((x - expected).abs() < 1e-14, "{b:?}");
        }
    }
}
