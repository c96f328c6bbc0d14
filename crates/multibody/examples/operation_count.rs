//! Floating-point operations of the kernels, counted by a scalar that counts: `operation_count MODEL...`. A multiply-add is
//! one; what is compared with times is the bound at two a cycle.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};
use std::path::Path;

use sapwood_multibody::kernels::{ForwardDynamics, Impedance, PackedTree};
use spatial::{Real, Vec3};

thread_local! {
    static OPERATIONS: Cell<usize> = const { Cell::new(0) };
}

/// A number that counts what is done with it, negations apart: they are part of the next operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counted(f64);

fn count(x: f64) -> Counted {
    OPERATIONS.with(|n| n.set(n.get() + 1));
    Counted(x)
}

macro_rules! operators {
    ($($trait:ident $f:ident $assign:ident $g:ident),*) => {$(
        impl $trait for Counted {
            type Output = Self;
            fn $f(self, b: Self) -> Self {
                count(self.0.$f(b.0))
            }
        }

        impl $assign for Counted {
            fn $g(&mut self, b: Self) {
                *self = self.$f(b);
            }
        }
    )*};
}

operators!(Add add AddAssign add_assign, Sub sub SubAssign sub_assign, Mul mul MulAssign mul_assign);

impl Div for Counted {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        count(self.0 / b.0)
    }
}

impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Real for Counted {
    type Scalar = Self;
    type Three = [Self; 3];
    const PI_TAIL: f64 = f64::PI_TAIL;
    const ZERO: Self = Self(0.0);
    const ONE: Self = Self(1.0);
    fn from_f64(x: f64) -> Self {
        Self(x)
    }
    fn splat(x: Self) -> Self {
        x
    }
    fn lane(self, _: usize) -> Self {
        self
    }
    fn set_lane(&mut self, _: usize, x: Self) {
        *self = x;
    }
    fn mask(bits: u32) -> Self {
        Self(f64::mask(bits))
    }
    fn scalars(x: &[Self]) -> &[Self] {
        x
    }
    fn scalars_mut(x: &mut [Self]) -> &mut [Self] {
        x
    }
    fn mul_add(self, a: Self, b: Self) -> Self {
        count(self.0.mul_add(a.0, b.0))
    }
    fn sqrt(self) -> Self {
        count(self.0.sqrt())
    }
    fn copysign(self, sign: Self) -> Self {
        Self(self.0.copysign(sign.0))
    }
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = Real::sin_cos(self.0);
        (Self(s), Self(c))
    }
    fn if_less(self, bound: Self, yes: Self, no: Self) -> Self {
        Self(self.0.if_less(bound.0, yes.0, no.0))
    }
}

/// Operations of a call.
fn operations(call: impl FnOnce()) -> usize {
    OPERATIONS.with(|n| n.set(0));
    call();
    OPERATIONS.with(Cell::get)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let model = formats::load(Path::new(&path), &formats::LoadOptions::default())?.model;
        let tree = PackedTree::<Counted>::new(&model.tree);
        let q: Vec<Counted> = model.q0.iter().map(|x| Counted(*x)).collect();
        let zero = vec![Counted(0.0); model.nv()];
        let (gravity, mut out) = (Vec3::new(Counted(0.0), Counted(0.0), Counted(-9.81)), zero.clone());
        let mut work = ForwardDynamics::new(&tree);
        let aba = operations(|| work.aba(&tree, &q, &zero, &zero, gravity, &mut out));
        let diagonal = vec![Counted(1.0); model.nv()];
        let impedance = Impedance { diagonal: &diagonal[..], uniform: true };
        let maba = operations(|| work.maba(&tree, &q, &zero, &zero, impedance, gravity, &mut out));
        println!("{path}: aba {aba}, maba {maba}");
    }
    Ok(())
}
