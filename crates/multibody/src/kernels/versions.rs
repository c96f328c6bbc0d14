//! The kernels compiled for what processors have; the best version is chosen at run time.

use spatial::{F32x8, F32x16, F64x2, F64x4, F64x8, Real, Vec3};

use super::{ForwardDynamics, Impedance, PackedTree};

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
pub trait KernelReal: Real {
    /// Scratch.
    type Work: Clone + std::fmt::Debug;

    /// Whether this processor can.
    fn is_available() -> bool;

    /// Scratch for a tree.
    fn work(tree: &PackedTree<Self::Scalar>) -> Self::Work;

    /// v̇ = (M + Λ)⁻¹(τ − C): [`ForwardDynamics::aba`] or [`ForwardDynamics::maba`], by the best version for this processor.
    ///
    /// # Panics
    /// When a slice is too short, or the type [is not available](Self::is_available).
    fn forward_dynamics(
        work: &mut Self::Work,
        tree: &PackedTree<Self::Scalar>,
        arguments: &Arguments<'_, Self>,
        acceleration: &mut [Self],
    );
}

/// With impedance and without.
#[inline(always)]
fn call<T: Real>(
    work: &mut ForwardDynamics<T>,
    tree: &PackedTree<T::Scalar>,
    arguments: &Arguments<'_, T>,
    acceleration: &mut [T],
) {
    let Arguments { q, v, tau, impedance, gravity } = *arguments;
    match impedance {
        Some(impedance) => work.maba(tree, q, v, tau, impedance, gravity, acceleration),
        None => work.aba(tree, q, v, tau, gravity, acceleration),
    }
}

/// Calls `$body` in a function that is compiled for AVX-512 where the processor has it (twice the registers help narrow lanes
/// too), else as it is.
macro_rules! best_version {
    ($t:ty, $base:literal, $body:path, $work:ident, $tree:ident, $arguments:ident, $acceleration:ident) => {{
        #[cfg(target_arch = "x86_64")]
        if spatial::cpu::has_avx512() {
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
            fn wide(
                work: &mut <$t as KernelReal>::Work,
                tree: &PackedTree<<$t as Real>::Scalar>,
                arguments: &Arguments<'_, $t>,
                acceleration: &mut [$t],
            ) {
                $body(work, tree, arguments, acceleration);
            }
            // SAFETY: the processor has these instructions.
            return unsafe { wide($work, $tree, $arguments, $acceleration) };
        }
        assert!($base, "lanes of 512 bits need AVX-512");
        if $base {
            $body($work, $tree, $arguments, $acceleration);
        }
    }};
}

macro_rules! versions {
    ($($t:ty: $base:literal),*) => {$(
        impl KernelReal for $t {
            type Work = ForwardDynamics<$t>;

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
                best_version!($t, $base, call, work, tree, arguments, acceleration);
            }
        }
    )*};
}

versions!(f32: true, F64x4: true, F32x8: true, F64x8: false, F32x16: false);

/// One world, in both lanes of a register: of scalars the compiler bundles what it finds alike, here at a loss.
impl KernelReal for f64 {
    type Work = ForwardDynamics<F64x2>;

    fn is_available() -> bool {
        true
    }

    fn work(tree: &PackedTree<f64>) -> Self::Work {
        ForwardDynamics::new(tree)
    }

    fn forward_dynamics(
        work: &mut ForwardDynamics<F64x2>,
        tree: &PackedTree<f64>,
        arguments: &Arguments<'_, f64>,
        acceleration: &mut [f64],
    ) {
        best_version!(f64, true, call_scalar, work, tree, arguments, acceleration);
    }
}

#[inline(always)]
fn call_scalar(
    work: &mut ForwardDynamics<F64x2>,
    tree: &PackedTree<f64>,
    arguments: &Arguments<'_, f64>,
    acceleration: &mut [f64],
) {
    let Arguments { q, v, tau, impedance, gravity } = *arguments;
    let gravity = Vec3::new(F64x2::splat(gravity.x), F64x2::splat(gravity.y), F64x2::splat(gravity.z));
    match impedance {
        Some(impedance) => work.maba(tree, q, v, tau, impedance, gravity, acceleration),
        None => work.aba(tree, q, v, tau, gravity, acceleration),
    }
}
