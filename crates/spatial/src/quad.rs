//! Registers of four numbers: a vector in three dimensions and a rest, or a quaternion.

use crate::{F32x4, F64x4, Real};

/// A scalar of which registers hold four.
pub trait InRegisters: Real<Scalar = Self> + PartialEq {
    /// The register.
    type Wide: Quad<Scalar = Self>;
}

/// A register of four numbers.
pub trait Quad: Real {
    /// The unit vectors.
    const UNITS: [Self; 4];

    /// The register of these numbers.
    fn quad(x: [Self::Scalar; 4]) -> Self;

    /// The numbers.
    fn numbers(self) -> [Self::Scalar; 4];
}

macro_rules! quads {
    ($($wide:ty: $scalar:ty),*) => {$(
        impl InRegisters for $scalar {
            type Wide = $wide;
        }

        impl Quad for $wide {
            const UNITS: [Self; 4] = {
                let x: [[$scalar; 4]; 4] =
                    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
                // SAFETY: both are the same bytes, any of which are numbers.
                unsafe { std::mem::transmute(x) }
            };

            #[inline(always)]
            fn quad(x: [$scalar; 4]) -> Self {
                Self::from_array(x)
            }

            #[inline(always)]
            fn numbers(self) -> [$scalar; 4] {
                self.to_array()
            }
        }
    )*};
}

quads!(F64x4: f64, F32x4: f32);
