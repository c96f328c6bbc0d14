//! The kernels compiled for what processors have; the best version is chosen at run time.

use spatial::{F32x8, F32x16, F64x2, F64x4, F64x8, Real, Vec3};

use super::broadcast::{Broadcast, read_vec};
use super::{ForwardDynamics, Impedance, LimbDynamics, PackedTree};

/// Arguments of forward dynamics, indexed by position coordinate or degree of freedom.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a, T> {
    /// Positions, (nq); quaternions unit to about 1e-8, angles below 1e5.
    pub q: &'a [T],
    /// Velocities, (nv).
    pub v: &'a [T],
    /// Joint forces, (nv).
    pub tau: &'a [T],
    /// Λ, (nv); none: zero, which is faster than zeros.
    pub impedance: Option<Impedance<'a, T>>,
    /// The gravitational field, m/s².
    pub gravity: Vec3<T>,
}

/// A scalar or bundle of lanes that the kernels are compiled for.
///
/// # Panics
/// The kernels do when a slice is too short, or the type [is not available](Self::is_available).
pub trait KernelReal: Real {
    /// Scratch of forward dynamics.
    type Work: Clone + std::fmt::Debug;

    /// Whether this processor can.
    fn is_available() -> bool;

    /// Scratch of forward dynamics for a tree.
    fn work(tree: &PackedTree<Self::Scalar>) -> Self::Work;

    /// v̇ = (M + Λ)⁻¹(τ − C): [`ForwardDynamics::aba`] or [`ForwardDynamics::maba`], by the best version for this processor.
    fn forward_dynamics(
        work: &mut Self::Work,
        tree: &PackedTree<Self::Scalar>,
        arguments: &Arguments<'_, Self>,
        acceleration: &mut [Self],
    );
}

/// Calls `$body` in a function that is compiled for AVX-512 where the processor has it (twice the registers help narrow lanes
/// too), else as it is. There may be another `$wide` for AVX-512.
macro_rules! best_version {
    ($base:literal, $body:path, ($($name:ident: $t:ty),*)) => {
        best_version!($base, $body, else $body, ($($name: $t),*))
    };
    ($base:literal, $wide:path, else $body:path, ($($name:ident: $t:ty),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if spatial::cpu::has_avx512() {
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
            fn wide($($name: $t),*) {
                $wide($($name),*);
            }
            // SAFETY: the processor has these instructions.
            return unsafe { wide($($name),*) };
        }
        assert!($base, "lanes of 512 bits need AVX-512");
        if $base {
            $body($($name),*);
        }
    }};
}
pub(crate) use best_version;

#[inline(always)]
fn forward_dynamics<T: Real, I: Broadcast<T>>(
    work: &mut ForwardDynamics<T>,
    tree: &PackedTree<T::Scalar>,
    arguments: &Arguments<'_, I>,
    acceleration: &mut [I],
) where
    T::Scalar: Broadcast<T>,
{
    let Arguments { q, v, tau, impedance, gravity } = *arguments;
    match impedance {
        Some(impedance) => work.maba(tree, q, v, tau, impedance, read_vec(gravity), acceleration),
        None => work.aba(tree, q, v, tau, read_vec(gravity), acceleration),
    }
}

#[inline(always)]
fn forward_dynamics_of_limbs<T: Real>(
    limbs: &mut LimbDynamics<T>,
    arguments: &Arguments<'_, T::Scalar>,
    acceleration: &mut [T::Scalar],
) where
    T::Scalar: Broadcast<T>,
{
    let Arguments { q, v, tau, impedance, gravity } = *arguments;
    match impedance {
        Some(impedance) => limbs.maba(q, v, tau, impedance, read_vec(gravity), acceleration),
        None => limbs.aba(q, v, tau, read_vec(gravity), acceleration),
    }
}

macro_rules! versions {
    ($($t:ty: in $wide:ty, base $base:literal);*) => {$(
        impl KernelReal for $t {
            type Work = ForwardDynamics<$wide>;

            fn is_available() -> bool {
                $base || spatial::cpu::has_avx512()
            }

            fn work(tree: &PackedTree<Self::Scalar>) -> Self::Work {
                ForwardDynamics::new(tree)
            }

            fn forward_dynamics(
                work: &mut Self::Work,
                tree: &PackedTree<Self::Scalar>,
                arguments: &Arguments<'_, Self>,
                acceleration: &mut [Self],
            ) {
                best_version!($base, forward_dynamics, (
                    work: &mut ForwardDynamics<$wide>,
                    tree: &PackedTree<<$t as Real>::Scalar>,
                    arguments: &Arguments<'_, $t>,
                    acceleration: &mut [$t]
                ));
            }
        }
    )*};
}

versions!(
    // One world in both lanes of a register: of scalars the compiler bundles what it finds alike, here at a loss.
    f64: in F64x2, base true;
    f32: in f32, base true;
    F64x4: in F64x4, base true;
    F32x8: in F32x8, base true;
    F64x8: in F64x8, base false;
    F32x16: in F32x16, base false
);

impl LimbDynamics<F64x4> {
    /// v̇ = (M + Λ)⁻¹(τ − C): [`aba`](Self::aba) or [`maba`](Self::maba), by the best version for this processor.
    ///
    /// # Panics
    /// When a slice is too short.
    pub fn forward_dynamics(&mut self, arguments: &Arguments<'_, f64>, acceleration: &mut [f64]) {
        let limbs = self;
        best_version!(true, forward_dynamics_of_limbs, (
            limbs: &mut LimbDynamics<F64x4>,
            arguments: &Arguments<'_, f64>,
            acceleration: &mut [f64]
        ));
    }
}
