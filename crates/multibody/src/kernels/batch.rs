//! Many worlds of one tree, a lane for each.

use spatial::{Real, Vec3};

use super::{Arguments, Impedance, KernelReal, PackedTree};
use crate::Tree;

/// Forward dynamics of many worlds, as many at a time as `T` has lanes.
///
/// ```
/// use multibody::kernels::Batch;
/// use multibody::{BodySpec, JointKind, JointSpec, ModelBuilder};
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
    q: Vec<T>,
    v: Vec<T>,
    tau: Vec<T>,
    lambda: Vec<T>,
    acceleration: Vec<T>,
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
            q: zero(tree.nq),
            v: zero(tree.nv),
            tau: zero(tree.nv),
            lambda: zero(tree.nv),
            acceleration: zero(tree.nv),
            tree,
        }
    }

    /// v̇ = (M + Λ)⁻¹(τ − C) of every world: `q` (worlds × nq), `v`, `tau` and `acceleration` (worlds × nv), row-major;
    /// `impedance` (nv) is the same in all, none is zero. The last lanes repeat the last world where they do not come out even.
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
        let (nq, nv) = (self.tree.nq, self.tree.nv);
        let worlds = v.len().checked_div(nv).unwrap_or(0);
        assert!(
            q.len() == worlds * nq && [v.len(), tau.len(), acceleration.len()] == [worlds * nv; 3],
            "expected q, v, tau and acceleration of as many worlds"
        );
        let uniform = impedance.is_some_and(|x| self.tree.is_uniform(x));
        if let Some(impedance) = impedance {
            for (lanes, x) in self.lambda.iter_mut().zip(impedance) {
                *lanes = T::splat(*x);
            }
        }
        for first in (0..worlds).step_by(T::LANES) {
            for k in 0..T::LANES {
                let world = (first + k).min(worlds - 1);
                set_lane(&mut self.q, k, &q[world * nq..(world + 1) * nq]);
                set_lane(&mut self.v, k, &v[world * nv..(world + 1) * nv]);
                set_lane(&mut self.tau, k, &tau[world * nv..(world + 1) * nv]);
            }
            let arguments = Arguments {
                q: &self.q,
                v: &self.v,
                tau: &self.tau,
                impedance: impedance.is_some().then_some(Impedance { diagonal: &self.lambda, uniform }),
                gravity: Vec3::from(gravity.map(T::splat)),
            };
            T::forward_dynamics(&mut self.work, &self.tree, &arguments, &mut self.acceleration);
            for k in 0..T::LANES.min(worlds - first) {
                let world = first + k;
                for (out, lanes) in acceleration[world * nv..(world + 1) * nv].iter_mut().zip(&self.acceleration) {
                    *out = lanes.lane(k);
                }
            }
        }
    }
}

fn set_lane<T: Real>(lanes: &mut [T], k: usize, x: &[T::Scalar]) {
    for (lanes, x) in lanes.iter_mut().zip(x) {
        lanes.set_lane(k, *x);
    }
}
