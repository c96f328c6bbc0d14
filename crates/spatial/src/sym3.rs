//! Symmetric 3×3 matrices.

use std::ops::{Add, AddAssign, Mul, Sub};

use crate::{Mat3, Quat, Real, Three, Vec3};

/// A symmetric 3×3 matrix: six numbers, in two vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sym3<T: Real> {
    /// (xx, yy, zz)
    on: Vec3<T>,
    /// (yz, xz, xy)
    off: Vec3<T>,
}

impl<T: Real> Sym3<T> {
    /// The matrix of these entries: xx, xy, xz, yy, yz, zz.
    #[inline(always)]
    pub const fn new([xx, xy, xz, yy, yz, zz]: [T; 6]) -> Self {
        Self { on: Vec3::new(xx, yy, zz), off: Vec3::new(yz, xz, xy) }
    }

    /// xx, xy, xz, yy, yz, zz.
    #[inline(always)]
    pub fn entries(self) -> [T; 6] {
        let Self { on, off } = self;
        [on.x, off.z, off.y, on.y, off.x, on.z]
    }

    /// The zero matrix.
    pub const ZERO: Self = Self { on: Vec3::ZERO, off: Vec3::ZERO };

    /// The diagonal matrix with the entries of `d`.
    #[inline(always)]
    pub const fn diagonal(d: Vec3<T>) -> Self {
        Self { on: d, off: Vec3::ZERO }
    }

    /// The sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> T {
        self.xx() + self.yy() + self.zz()
    }

    /// The diagonal.
    #[inline(always)]
    pub fn diag(self) -> Vec3<T> {
        self.on
    }

    /// The lower triangle of `m`, which the caller knows to be symmetric.
    #[inline(always)]
    pub fn lower(m: Mat3<T>) -> Self {
        Self::new([m.x.x, m.x.y, m.x.z, m.y.y, m.y.z, m.z.z])
    }

    /// m + mᵀ.
    #[inline(always)]
    pub fn plus_transpose(m: Mat3<T>) -> Self {
        Self::lower(m + m.transpose())
    }

    /// The full matrix.
    #[inline(always)]
    pub fn to_mat3(self) -> Mat3<T> {
        let [xx, xy, xz, yy, yz, zz] = self.entries();
        Mat3::from_columns(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
    }

    /// s a aᵀ.
    #[inline(always)]
    pub fn outer(s: T, a: Vec3<T>) -> Self {
        Self::ZERO.plus_product(a * s, a)
    }

    /// `self` + a bᵀ of two parallel vectors.
    #[inline(always)]
    #[must_use]
    pub fn plus_product(self, a: Vec3<T>, b: Vec3<T>) -> Self {
        let [a_on, b_on] = [T::Three::of(a), T::Three::of(b)];
        let (a_off, b_off) = (a_on.turned(), b_on.turned().turned());
        Self {
            on: a_on.mul_add(b_on, T::Three::of(self.on)).to_vec3(),
            off: a_off.mul_add(b_off, T::Three::of(self.off)).to_vec3(),
        }
    }

    /// R `self` Rᵀ: the matrix in rotated axes.
    #[inline(always)]
    pub fn rotated(self, r: Mat3<T>) -> Self {
        let m = r * self.to_mat3();
        Self::lower(Mat3::outer(m.x, r.x).plus_outer(m.y, r.y).plus_outer(m.z, r.z))
    }

    /// The inverse, by the adjugate: one division. The matrix must be regular.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let (a, det) = self.adjugate();
        let s = det.recip();
        a * s
    }

    /// The adjugate and the determinant: their quotient is the inverse, known before the division is.
    #[inline(always)]
    pub fn adjugate(self) -> (Self, T) {
        let [xx, xy, xz, yy, yz, zz] = self.entries();
        let a = yy.mul_add(zz, -(yz * yz));
        let b = xz.mul_add(yz, -(xy * zz));
        let c = xy.mul_add(yz, -(xz * yy));
        let det = xx.mul_add(a, xy.mul_add(b, xz * c));
        let d = xx.mul_add(zz, -(xz * xz));
        let e = xy.mul_add(xz, -(xx * yz));
        let f = xx.mul_add(yy, -(xy * xy));
        (Self::new([a, b, c, d, e, f]), det)
    }

    /// The six numbers (xx, xy, xz, yy, yz, zz) in another scalar.
    pub fn map<U: Real>(self, f: impl FnMut(T) -> U) -> Sym3<U> {
        Sym3::new(self.entries().map(f))
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Sym3")]
struct Entries<T> {
    xx: T,
    xy: T,
    xz: T,
    yy: T,
    yz: T,
    zz: T,
}

impl<T: Real + serde::Serialize> serde::Serialize for Sym3<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [xx, xy, xz, yy, yz, zz] = self.entries();
        Entries { xx, xy, xz, yy, yz, zz }.serialize(serializer)
    }
}

impl<'de, T: Real + serde::Deserialize<'de>> serde::Deserialize<'de> for Sym3<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Entries { xx, xy, xz, yy, yz, zz } = Entries::deserialize(deserializer)?;
        Ok(Self::new([xx, xy, xz, yy, yz, zz]))
    }
}

macro_rules! entry {
    ($($name:ident: $half:ident.$entry:ident),*) => {
        impl<T: Real> Sym3<T> {$(
            #[doc = concat!("The entry ", stringify!($name), ".")]
            #[inline(always)]
            pub fn $name(self) -> T {
                self.$half.$entry
            }
        )*}
    };
}
entry!(xx: on.x, xy: off.z, xz: off.y, yy: on.y, yz: off.x, zz: on.z);

impl Sym3<f64> {
    /// Whether no entry is infinite or NaN.
    pub fn is_finite(self) -> bool {
        self.on.is_finite() && self.off.is_finite()
    }

    /// The axes and moments of a symmetric matrix (cyclic Jacobi rotations), in no particular order.
    pub fn principal_axes(self) -> (Mat3<f64>, [f64; 3]) {
        let matrix = self;
        let mut rot = Quat::IDENTITY;
        let unit = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        // Converges quadratically: a handful of sweeps reach round-off from anywhere.
        for _ in 0..20 {
            let mut off = 0.0_f64;
            for axis in 0..3 {
                let m = matrix.rotated(rot.to_mat3().transpose());
                // The entry off the diagonal in the plane across `axis`, and the two on it.
                let (p, q, r) = [(m.yy(), m.zz(), m.yz()), (m.zz(), m.xx(), m.xz()), (m.xx(), m.yy(), m.xy())][axis];
                off = off.max(r.abs());
                if r != 0.0 {
                    // The smaller of the two angles: the larger one also swaps the axes, and sweeps would go in a circle.
                    let angle = 0.5 * libm::atan2(2.0 * r * (p - q).signum(), (p - q).abs());
                    rot = (rot * Quat::from_axis_angle(unit[axis], angle)).unit();
                }
            }
            if off <= 1e-15 * matrix.diag().norm() {
                break;
            }
        }
        let axes = rot.to_mat3();
        (axes, matrix.rotated(axes.transpose()).diag().to_array())
    }

    /// The eigenvalues, ascending (the trigonometric closed form for symmetric 3×3 matrices, Smith 1961).
    pub fn eigenvalues(self) -> [f64; 3] {
        let mean = (self.on.x + self.on.y + self.on.z) / 3.0;
        let b = self - Self::diagonal(Vec3::new(mean, mean, mean));
        let off = self.off.norm_squared();
        let p = ((b.diag().norm_squared() + 2.0 * off) / 6.0).sqrt();
        if p == 0.0 {
            return [mean; 3];
        }
        let (_, det) = (b * (1.0 / p)).adjugate();
        let phi = libm::acos((det / 2.0).clamp(-1.0, 1.0)) / 3.0;
        let largest = mean + 2.0 * p * libm::cos(phi);
        let smallest = mean + 2.0 * p * libm::cos(phi + 2.0 * std::f64::consts::FRAC_PI_3);
        [smallest, 3.0 * mean - largest - smallest, largest]
    }
}

impl<T: Real> Mul<Vec3<T>> for Sym3<T> {
    type Output = Vec3<T>;
    #[inline(always)]
    fn mul(self, v: Vec3<T>) -> Vec3<T> {
        // By rows: (xx, yy, zz)·v, then xy and xz, yz and xy, xz and yz.
        let (v, off) = (T::Three::of(v), T::Three::of(self.off).turned());
        let next = v.turned();
        let sum = off.mul(next.turned());
        off.turned().mul_add(next, T::Three::of(self.on).mul_add(v, sum)).to_vec3()
    }
}

impl<T: Real> Mul<T> for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        Self { on: self.on * s, off: self.off * s }
    }
}

impl<T: Real> Mul<Mat3<T>> for Sym3<T> {
    type Output = Mat3<T>;
    #[inline(always)]
    fn mul(self, m: Mat3<T>) -> Mat3<T> {
        Mat3::from_columns(self * m.x, self * m.y, self * m.z)
    }
}

impl<T: Real> Add for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { on: self.on + b.on, off: self.off + b.off }
    }
}

impl<T: Real> AddAssign for Sym3<T> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<T: Real> Sub for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { on: self.on - b.on, off: self.off - b.off }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_axes_diagonalise() {
        let matrices = [
            Sym3::new([0.02, 0.002, -0.003, 0.03, 0.001, 0.04]),
            Sym3::new([1.0, 0.9, -0.8, 1.0, 0.7, 1.0]),
            Sym3::new([2.0, 0.0, 0.0, 1.0, 1e-9, 1.0]),
        ];
        for matrix in matrices {
            let (axes, moments) = matrix.principal_axes();
            let back = Sym3::diagonal(moments.into()).rotated(axes) - matrix;
            assert!(back.on.norm() + back.off.norm() < 1e-14, "{back:?}");
            let mut sorted = moments;
            sorted.sort_by(f64::total_cmp);
            sorted.iter().zip(matrix.eigenvalues()).for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
        }
    }

    #[test]
    fn inverse_and_rotation_agree_with_full_matrices() {
        let s = Sym3::new([4.0, 1.0, -0.5, 3.0, 0.25, 2.0]);
        let product = s * s.inverse().to_mat3();
        assert!((product - Mat3::IDENTITY).x.norm() + (product - Mat3::IDENTITY).y.norm() < 1e-15);
        let r = crate::Quat::new(0.5, -0.1, 0.7, 0.2).normalized().unwrap().to_mat3();
        let full = r * s.to_mat3() * r.transpose();
        assert!((full - s.rotated(r).to_mat3()).z.norm() < 1e-14);
    }
}
