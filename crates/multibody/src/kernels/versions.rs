//! The kernels compiled for what processors have; the best version is chosen at run time.

use spatial::{F32x8, F32x16, F64x4, F64x8, Real, Vec3};

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
    /// Whether this processor can.
    fn is_available() -> bool;

    /// v̇ = (M + Λ)⁻¹(τ − C): [`ForwardDynamics::aba`] or [`ForwardDynamics::maba`], by the best version for this processor.
    ///
    /// # Panics
    /// When a slice is too short, or the type [is not available](Self::is_available).
    fn forward_dynamics(
        work: &mut ForwardDynamics<Self>,
        tree: &PackedTree<Self::Scalar>,
        arguments: &Arguments<'_, Self>,
        acceleration: &mut [Self],
    );
}

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

macro_rules! versions {
    ($($t:ty: $base:literal),*) => {$(
        impl KernelReal for $t {
            fn is_available() -> bool {
                $base || spatial::cpu::has_avx512()
            }

            fn forward_dynamics(
                work: &mut ForwardDynamics<Self>,
                tree: &PackedTree<Self::Scalar>,
                arguments: &Arguments<'_, Self>,
                acceleration: &mut [Self],
            ) {
                // Twice the registers help narrow lanes too.
                #[cfg(target_arch = "x86_64")]
                if spatial::cpu::has_avx512() {
                    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
                    fn wide(
                        work: &mut ForwardDynamics<$t>,
                        tree: &PackedTree<<$t as Real>::Scalar>,
                        arguments: &Arguments<'_, $t>,
                        acceleration: &mut [$t],
                    ) {
                        call(work, tree, arguments, acceleration);
                    }
                    // SAFETY: the processor has these instructions.
                    return unsafe { wide(work, tree, arguments, acceleration) };
                }
                assert!($base, "lanes of 512 bits need AVX-512");
                if $base {
                    call(work, tree, arguments, acceleration);
                }
            }
        }
    )*};
}

versions!(f64: true, f32: true, F64x4: true, F32x8: true, F64x8: false, F32x16: false);
