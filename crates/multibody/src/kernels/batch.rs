//! Many worlds of one tree, a lane for each.

use spatial::{Real, Vec3};

use super::{Arguments, Impedance, InverseDynamics, KernelReal, MassMatrix, PackedTree, Placements};
use crate::Tree;

/// Dynamics of many worlds, as many at a time as `T` has lanes.
///
/// Arrays hold one world after the other. Where worlds do not come out even, the last lanes repeat the last world.
///
/// ```
/// use sapwood_multibody::kernels::Batch;
/// use sapwood_multibody::{BodySpec, JointKind, JointSpec, ModelBuilder};
/// use spatial::{F64x4, RigidInertia, Sym3, Vec3};
///
/// let mut builder = ModelBuilder::new("pendulum");
/// let inertia = RigidInertia { mass: 1.0, com: Vec3::new(0.0, 0.0, -0.5), inertia: Sym3::ZERO };
/// let rod = builder.add_body(BodySpec { name: "rod".into(), inertia, ..BodySpec::default() })?;
/// let axis = Vec3::new(0.0, 1.0, 0.0);
/// builder.add_joint(rod, JointSpec { name: "pivot".into(), ..JointSpec::new(JointKind::Revolute { axis }) })?;
/// let model = builder.build()?;
///
/// let mut batch = Batch::<F64x4>::new(&model.tree);
/// let (q, v, tau) = ([0.0, 0.5, 1.0, 1.5, 2.0], [0.0; 5], [0.0; 5]);
/// let mut acceleration = [0.0; 5];
/// batch.forward_dynamics(&q, &v, &tau, None, [0.0, 0.0, -9.81], &mut acceleration);
/// assert!((acceleration[1] + 9.81 / 0.5 * 0.5_f64.sin()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batch<T: KernelReal> {
    tree: PackedTree<T::Scalar>,
    work: T::Work,
    inverse: InverseDynamics<T::Wide>,
    matrix: MassMatrix<T::Wide>,
    placements: Placements<T::Wide>,
    q: Vec<T>,
    v: Vec<T>,
    tau: Vec<T>,
    lambda: Vec<T>,
    acceleration: Vec<T>,
    /// (nv, nv), empty until it is wanted.
    m: Vec<T>,
}

impl<T: KernelReal> Batch<T> {
    /// Scratch for worlds of one tree.
    ///
    /// # Panics
    /// When this processor [lacks the instructions](KernelReal::is_available) that `T` needs.
    pub fn new(tree: &Tree<f64>) -> Self {
        assert!(T::is_available(), "lanes of 512 bits need AVX-512");
        let tree = PackedTree::new(tree);
        let zero = |n| vec![T::ZERO; n];
        Self {
            work: T::work(&tree),
            inverse: InverseDynamics::new(&tree),
            matrix: MassMatrix::new(&tree),
            placements: Placements::new(&tree),
            q: zero(tree.nq),
            v: zero(tree.nv),
            tau: zero(tree.nv),
            lambda: zero(tree.nv),
            acceleration: zero(tree.nv),
            m: Vec::new(),
            tree,
        }
    }

    /// v̇ = (M + Λ)⁻¹(τ − C) of every world: `q` (worlds × nq), `v`, `tau` and `acceleration` (worlds × nv);
    /// `impedance` (nv) is the same in all, none is zero.
    ///
    /// # Panics
    /// When the lengths are not those of a whole number of worlds.
    pub fn forward_dynamics(
        &mut self,
        q: &[T::Scalar],
        v: &[T::Scalar],
        tau: &[T::Scalar],
        impedance: Option<&[T::Scalar]>,
        gravity: [T::Scalar; 3],
        acceleration: &mut [T::Scalar],
    ) {
        let worlds = self.count(q, &[v.len(), tau.len(), acceleration.len()]);
        let uniform = impedance.is_some_and(|x| self.tree.is_uniform(x));
        if let Some(impedance) = impedance {
            for (lanes, x) in self.lambda.iter_mut().zip(impedance) {
                *lanes = T::splat(*x);
            }
        }
        for first in (0..worlds).step_by(T::LANES) {
            load(&mut self.q, q, first, worlds);
            load(&mut self.v, v, first, worlds);
            load(&mut self.tau, tau, first, worlds);
            let arguments = Arguments {
                q: &self.q,
                v: &self.v,
                tau: &self.tau,
                impedance: impedance.is_some().then_some(Impedance { diagonal: &self.lambda, uniform }),
                gravity: Vec3::from(gravity.map(T::splat)),
            };
            T::forward_dynamics(&mut self.work, &self.tree, &arguments, &mut self.acceleration);
            store(&self.acceleration, acceleration, first);
        }
    }

    /// τ = M v̇ + C of every world: `q` (worlds × nq), `v`, `acceleration` and `tau` (worlds × nv).
    ///
    /// # Panics
    /// When the lengths are not those of a whole number of worlds.
    pub fn inverse_dynamics(
        &mut self,
        q: &[T::Scalar],
        v: &[T::Scalar],
        acceleration: &[T::Scalar],
        gravity: [T::Scalar; 3],
        tau: &mut [T::Scalar],
    ) {
        let worlds = self.count(q, &[v.len(), acceleration.len(), tau.len()]);
        for first in (0..worlds).step_by(T::LANES) {
            load(&mut self.q, q, first, worlds);
            load(&mut self.v, v, first, worlds);
            load(&mut self.acceleration, acceleration, first, worlds);
            let (state, gravity) = ((&self.q[..], &self.v[..]), Vec3::from(gravity.map(T::splat)));
            T::inverse_dynamics(&mut self.inverse, &self.tree, state, &self.acceleration, gravity, &mut self.tau);
            store(&self.tau, tau, first);
        }
    }

    /// The mass matrix of every world: `q` (worlds × nq), `m` (worlds × nv × nv).
    ///
    /// # Panics
    /// When the lengths are not those of a whole number of worlds.
    pub fn mass_matrix(&mut self, q: &[T::Scalar], m: &mut [T::Scalar]) {
        let nv = self.tree.nv;
        let worlds = self.count(q, &[m.len().checked_div(nv).unwrap_or(0)]);
        self.m.resize(nv * nv, T::ZERO);
        for first in (0..worlds).step_by(T::LANES) {
            load(&mut self.q, q, first, worlds);
            T::mass_matrix(&mut self.matrix, &self.tree, &self.q, &mut self.m);
            for row in 0..nv {
                for column in 0..row {
                    self.m[column * nv + row] = self.m[row * nv + column];
                }
            }
            store(&self.m, m, first);
        }
    }

    /// Where every node of every world is: `q` (worlds × nq), `origins` (worlds × nodes × 3), `orientations` (worlds ×
    /// nodes × 4, quaternions w x y z).
    ///
    /// # Panics
    /// When the lengths are not those of a whole number of worlds.
    pub fn place(&mut self, q: &[T::Scalar], origins: &mut [T::Scalar], orientations: &mut [T::Scalar]) {
        let (nodes, nq) = (self.tree.len(), self.tree.nq);
        let worlds = q.len().checked_div(nq).unwrap_or(0);
        assert!(
            q.len() == worlds * nq && origins.len() == worlds * nodes * 3 && orientations.len() == worlds * nodes * 4,
            "expected q, origins and orientations of as many worlds"
        );
        for first in (0..worlds).step_by(T::LANES) {
            load(&mut self.q, q, first, worlds);
            T::place(&mut self.placements, &self.tree, &self.q);
            for k in 0..T::LANES.min(worlds - first) {
                for i in 0..nodes {
                    let at = (first + k) * nodes + i;
                    let (p, o) = (self.placements.origins[i], self.placements.orientations[i]);
                    origins[at * 3..][..3].copy_from_slice(&[p.x.lane(k), p.y.lane(k), p.z.lane(k)]);
                    orientations[at * 4..][..4].copy_from_slice(&[o.w.lane(k), o.x.lane(k), o.y.lane(k), o.z.lane(k)]);
                }
            }
        }
    }

    /// The number of worlds, after a look at lengths that should be worlds × nv.
    fn count(&self, q: &[T::Scalar], lengths: &[usize]) -> usize {
        let worlds = q.len().checked_div(self.tree.nq).unwrap_or(0);
        assert!(
            q.len() == worlds * self.tree.nq && lengths.iter().all(|n| *n == worlds * self.tree.nv),
            "expected arguments of as many worlds"
        );
        worlds
    }
}

/// The worlds from `first` on, one in each lane, of an array of as many numbers for each.
fn load<T: Real>(lanes: &mut [T], all: &[T::Scalar], first: usize, worlds: usize) {
    let n = lanes.len();
    for k in 0..T::LANES {
        let world = (first + k).min(worlds - 1);
        for (lanes, x) in lanes.iter_mut().zip(&all[world * n..(world + 1) * n]) {
            lanes.set_lane(k, *x);
        }
    }
}

/// The worlds from `first` on, as many as there are.
fn store<T: Real>(lanes: &[T], all: &mut [T::Scalar], first: usize) {
    let n = lanes.len();
    for (k, world) in all.chunks_exact_mut(n).skip(first).take(T::LANES).enumerate() {
        for (out, lanes) in world.iter_mut().zip(lanes) {
            *out = lanes.lane(k);
        }
    }
}
