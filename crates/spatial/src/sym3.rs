//! Symmetric 3×3 matrices.

use std::ops::{Add, AddAssign, Mul, Sub};

use crate::{Mat3, Quat, Real, Vec3};

/// A symmetric 3×3 matrix: six numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub struct Sym3<T> {
    pub xx: T,
    pub xy: T,
    pub xz: T,
    pub yy: T,
    pub yz: T,
    pub zz: T,
}

impl<T: Real> Sym3<T> {
    /// The zero matrix.
    pub const ZERO: Self = Self { xx: T::ZERO, xy: T::ZERO, xz: T::ZERO, yy: T::ZERO, yz: T::ZERO, zz: T::ZERO };

    /// The diagonal matrix with the entries of `d`.
    #[inline(always)]
    pub const fn diagonal(d: Vec3<T>) -> Self {
        Self { xx: d.x, xy: T::ZERO, xz: T::ZERO, yy: d.y, yz: T::ZERO, zz: d.z }
    }

    /// The diagonal.
    #[inline(always)]
    pub fn diag(self) -> Vec3<T> {
        Vec3::new(self.xx, self.yy, self.zz)
    }

    /// The lower triangle of `m`, which the caller knows to be symmetric.
    #[inline(always)]
    pub fn lower(m: Mat3<T>) -> Self {
        Self { xx: m.x.x, xy: m.x.y, xz: m.x.z, yy: m.y.y, yz: m.y.z, zz: m.z.z }
    }

    /// m + mᵀ.
    #[inline(always)]
    pub fn plus_transpose(m: Mat3<T>) -> Self {
        Self {
            xx: m.x.x + m.x.x,
            xy: m.x.y + m.y.x,
            xz: m.x.z + m.z.x,
            yy: m.y.y + m.y.y,
            yz: m.y.z + m.z.y,
            zz: m.z.z + m.z.z,
        }
    }

    /// The full matrix.
    #[inline(always)]
    pub fn to_mat3(self) -> Mat3<T> {
        Mat3::from_columns(
            Vec3::new(self.xx, self.xy, self.xz),
            Vec3::new(self.xy, self.yy, self.yz),
            Vec3::new(self.xz, self.yz, self.zz),
        )
    }

    /// s a aᵀ.
    #[inline(always)]
    pub fn outer(s: T, a: Vec3<T>) -> Self {
        let b = a * s;
        Self { xx: a.x * b.x, xy: a.x * b.y, xz: a.x * b.z, yy: a.y * b.y, yz: a.y * b.z, zz: a.z * b.z }
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
        Self { xx: a.xx * s, xy: a.xy * s, xz: a.xz * s, yy: a.yy * s, yz: a.yz * s, zz: a.zz * s }
    }

    /// The adjugate and the determinant: their quotient is the inverse, known before the division is.
    #[inline(always)]
    pub fn adjugate(self) -> (Self, T) {
        let xx = self.yy.mul_add(self.zz, -(self.yz * self.yz));
        let xy = self.xz.mul_add(self.yz, -(self.xy * self.zz));
        let xz = self.xy.mul_add(self.yz, -(self.xz * self.yy));
        let det = self.xx.mul_add(xx, self.xy.mul_add(xy, self.xz * xz));
        let yy = self.xx.mul_add(self.zz, -(self.xz * self.xz));
        let yz = self.xy.mul_add(self.xz, -(self.xx * self.yz));
        let zz = self.xx.mul_add(self.yy, -(self.xy * self.xy));
        (Self { xx, xy, xz, yy, yz, zz }, det)
    }

    /// The six numbers (xx, xy, xz, yy, yz, zz) in another scalar.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Sym3<U> {
        Sym3 { xx: f(self.xx), xy: f(self.xy), xz: f(self.xz), yy: f(self.yy), yz: f(self.yz), zz: f(self.zz) }
    }
}

impl Sym3<f64> {
    /// Whether no entry is infinite or NaN.
    pub fn is_finite(self) -> bool {
        self.diag().is_finite() && Vec3::new(self.xy, self.xz, self.yz).is_finite()
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
                let (p, q, r) = [(m.yy, m.zz, m.yz), (m.zz, m.xx, m.xz), (m.xx, m.yy, m.xy)][axis];
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
        let mean = (self.xx + self.yy + self.zz) / 3.0;
        let b = self - Self::diagonal(Vec3::new(mean, mean, mean));
        let off = self.xy * self.xy + self.xz * self.xz + self.yz * self.yz;
        let p = ((b.diag().norm_squared() + 2.0 * off) / 6.0).sqrt();
        if p == 0.0 {
            return [mean; 3];
        }
        let b = b * (1.0 / p);
        let det = b.xx * (b.yy * b.zz - b.yz * b.yz) - b.xy * (b.xy * b.zz - b.yz * b.xz)
            + b.xz * (b.xy * b.yz - b.yy * b.xz);
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
        Vec3::new(
            self.xx.mul_add(v.x, self.xy.mul_add(v.y, self.xz * v.z)),
            self.xy.mul_add(v.x, self.yy.mul_add(v.y, self.yz * v.z)),
            self.xz.mul_add(v.x, self.yz.mul_add(v.y, self.zz * v.z)),
        )
    }
}

impl<T: Real> Mul<T> for Sym3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        self.map(|e| e * s)
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
        Self {
            xx: self.xx + b.xx,
            xy: self.xy + b.xy,
            xz: self.xz + b.xz,
            yy: self.yy + b.yy,
            yz: self.yz + b.yz,
            zz: self.zz + b.zz,
        }
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
        Self {
            xx: self.xx - b.xx,
            xy: self.xy - b.xy,
            xz: self.xz - b.xz,
            yy: self.yy - b.yy,
            yz: self.yz - b.yz,
            zz: self.zz - b.zz,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_axes_diagonalise() {
        let matrices = [
            Sym3 { xx: 0.02, xy: 0.002, xz: -0.003, yy: 0.03, yz: 0.001, zz: 0.04 },
            Sym3 { xx: 1.0, xy: 0.9, xz: -0.8, yy: 1.0, yz: 0.7, zz: 1.0 },
            Sym3 { xx: 2.0, xy: 0.0, xz: 0.0, yy: 1.0, yz: 1e-9, zz: 1.0 },
        ];
        for matrix in matrices {
            let (axes, moments) = matrix.principal_axes();
            let back = Sym3::diagonal(moments.into()).rotated(axes) - matrix;
            assert!(back.diag().norm() + back.xy.abs() + back.xz.abs() + back.yz.abs() < 1e-14, "{back:?}");
            let mut sorted = moments;
            sorted.sort_by(f64::total_cmp);
            sorted.iter().zip(matrix.eigenvalues()).for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
        }
    }

    #[test]
    fn inverse_and_rotation_agree_with_full_matrices() {
        let s = Sym3 { xx: 4.0, xy: 1.0, xz: -0.5, yy: 3.0, yz: 0.25, zz: 2.0 };
        let product = s * s.inverse().to_mat3();
        assert!((product - Mat3::IDENTITY).x.norm() + (product - Mat3::IDENTITY).y.norm() < 1e-15);
        let r = crate::Quat::new(0.5, -0.1, 0.7, 0.2).normalized().unwrap().to_mat3();
        let full = r * s.to_mat3() * r.transpose();
        assert!((full - s.rotated(r).to_mat3()).z.norm() < 1e-14);
    }
}
