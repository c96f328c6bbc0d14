//! How numbers come to a kernel and leave it.

use spatial::{F32x8, F32x16, F64x2, F64x4, F64x8, Quat, Real, Vec3};

/// How a number reaches a kernel over `T`: as `T`, or as a scalar that fills all lanes alike.
pub trait Broadcast<T>: Copy {
    /// The number.
    fn read(self) -> T;
    /// A result.
    fn write(x: T) -> Self;
}

impl<T: Real> Broadcast<T> for T {
    #[inline(always)]
    fn read(self) -> T {
        self
    }
    #[inline(always)]
    fn write(x: T) -> T {
        x
    }
}

macro_rules! scalars_fill {
    ($($lanes:ty: $scalar:ty),*) => {$(
        impl Broadcast<$lanes> for $scalar {
            #[inline(always)]
            fn read(self) -> $lanes {
                <$lanes>::splat(self)
            }
            #[inline(always)]
            fn write(x: $lanes) -> $scalar {
                x.lane(0)
            }
        }
    )*};
}

scalars_fill!(F64x2: f64, F64x4: f64, F64x8: f64, F32x8: f32, F32x16: f32);

// No closures here: what is not inlined at once does not know of the widest instructions.

#[inline(always)]
pub(super) fn read_vec<T, C: Broadcast<T>>(x: Vec3<C>) -> Vec3<T> {
    Vec3 { x: x.x.read(), y: x.y.read(), z: x.z.read() }
}

#[inline(always)]
pub(super) fn read_quat<T, C: Broadcast<T>>(q: Quat<C>) -> Quat<T> {
    Quat { w: q.w.read(), x: q.x.read(), y: q.y.read(), z: q.z.read() }
}

/// The coordinates of one joint.
pub(super) trait Coordinates<T>: Copy {
    /// The first `N`.
    fn read<const N: usize>(self) -> [T; N];

    /// The first three.
    #[inline(always)]
    fn read3(self) -> Vec3<T> {
        let [x, y, z] = self.read();
        Vec3 { x, y, z }
    }

    /// The first.
    #[inline(always)]
    fn read1(self) -> T {
        let [x] = self.read();
        x
    }
}

impl<T: Real, I: Broadcast<T>> Coordinates<T> for &[I] {
    #[inline(always)]
    fn read<const N: usize>(self) -> [T; N] {
        let mut out = [T::ZERO; N];
        for (out, x) in out.iter_mut().zip(&self[..N]) {
            *out = x.read();
        }
        out
    }
}

/// The joint accelerations of one joint.
pub(super) trait Accelerations<T> {
    /// The first `N`.
    fn write<const N: usize>(&mut self, x: [T; N]);
}

impl<T: Real, I: Broadcast<T>> Accelerations<T> for &mut [I] {
    #[inline(always)]
    fn write<const N: usize>(&mut self, x: [T; N]) {
        for (out, x) in self[..N].iter_mut().zip(x) {
            *out = I::write(x);
        }
    }
}
