//! The phases of a step as functions, one for each kind of register.

use spatial::{F32x8, F32x16, F64x4, F64x8, Real};

use crate::Lanes;
use crate::plan::Plan;

/// A phase of a step, as a function compiled with these features.
///
/// What it calls is compiled with them only if it is inlined: hence `inline(always)` on all methods of [`Lanes`], and no closure that
/// computes with lanes, which the compiler may leave outside: there every operation of AVX-512 becomes a call.
macro_rules! phase {
    // As the program is compiled; with AVX2 and FMA where the processor has these and the program is compiled for any.
    (avx2, $t:ty, $name:ident) => {
        #[inline(always)]
        fn $name(lanes: &mut Lanes<Self>, plan: &Plan) {
            #[cfg(all(target_arch = "x86_64", not(all(target_feature = "avx2", target_feature = "fma"))))]
            if spatial::cpu::has_avx2() {
                #[inline(never)]
                #[target_feature(enable = "avx2,fma")]
                fn phase(lanes: &mut Lanes<$t>, plan: &Plan) {
                    lanes.$name(plan);
                }
                // SAFETY: the processor has the instructions that the function is compiled for.
                return unsafe { phase(lanes, plan) };
            }
            #[inline(never)]
            fn phase(lanes: &mut Lanes<$t>, plan: &Plan) {
                lanes.$name(plan);
            }
            phase(lanes, plan);
        }
    };
    (avx512, $t:ty, $name:ident) => {
        #[inline(always)]
        fn $name(lanes: &mut Lanes<Self>, plan: &Plan) {
            #[inline(never)]
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw"))]
            fn phase(lanes: &mut Lanes<$t>, plan: &Plan) {
                lanes.$name(plan);
            }
            // SAFETY: groups that need AVX-512 are made where the processor has it.
            #[allow(unused_unsafe)]
            unsafe {
                phase(lanes, plan);
            }
        }
    };
}

/// Implements [`Bundle`] for a type.
macro_rules! implement {
    ($t:ty, $features:tt, $($name:ident),*) => {
        impl Bundle for $t {
            $(phase!($features, $t, $name);)*
        }
    };
}

/// The trait of what steps are compiled for, given the names of a step's phases. Each phase `T::name(lanes, plan)` is the method
/// `lanes.name(plan)` of [`Lanes`], compiled for the registers of `T`.
macro_rules! phases {
    ($($name:ident),*) => {
        /// A scalar or bundle, with the phases of a step in code for the processor that has such registers: the methods of
        /// [`Lanes`] of the same names.
        #[allow(missing_docs)]
        pub trait Bundle: Real<Scalar: Into<f64>> {
            $(fn $name(lanes: &mut Lanes<Self>, plan: &Plan);)*
        }
        implement!(f64, avx2, $($name),*);
        implement!(f32, avx2, $($name),*);
        implement!(F64x4, avx2, $($name),*);
        implement!(F32x8, avx2, $($name),*);
        implement!(F64x8, avx512, $($name),*);
        implement!(F32x16, avx512, $($name),*);
    };
}

phases!(
    step,
    place,
    move_nodes,
    load_drag,
    add_polar_coriolis,
    gather_impulses,
    factor,
    solve,
    collide,
    regularise_contacts,
    constrain,
    choose_first,
    choose_more,
    measure_free_motion,
    gather,
    set_free_velocities,
    carry,
    multiply,
    iterate,
    iterate_again,
    respond,
    take_solution,
    take_recovery,
    set_response,
    note_due,
    balance_all
);
