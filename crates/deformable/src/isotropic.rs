//! Energies that are functions of the singular values of F alone: stress and stiffness.
//!
//! F = U Σ Vᵀ with rotations U and V, so that the least singular value is negative where an element is inverted. In these axes dP/dF acts on
//! the diagonal by the second derivatives ∂²Ψ/∂σᵢ∂σⱼ, on the symmetric part of each pair of entries off it by
//! (Ψᵢ − Ψⱼ)/(σᵢ − σⱼ), on the antisymmetric part by (Ψᵢ + Ψⱼ)/(σᵢ + σⱼ) (Smith, de Goes, Kim, *Analytic eigensystems for isotropic
//! distortion energies*, 2019). Projected, what is negative of these is set to zero.

use spatial::{Mat3, Real, Sym3, Vec3};

use crate::MaterialModel;
use crate::law::Law;
use crate::polar::{cofactor, rotation};

/// Sweeps of Jacobi's method, which converges quadratically.
const SWEEPS: usize = 5;

/// The part of the energy that depends on J = det F, ½ λ̂ (J − 1)² − p (J − 1), as (λ̂, p). With ½ μ (‖F‖² − 3) it is the stable Neo-Hookean
/// energy, and λ̂ = λ + μ, p = μ make that Hooke's at small strains.
fn volumetric(law: &Law) -> (f64, f64) {
    match law.model {
        MaterialModel::StableNeoHookean => (law.lambda + law.mu, law.mu),
        _ => (law.lambda, 0.0),
    }
}

#[inline(always)]
fn norm_squared<T: Real>(m: Mat3<T>) -> T {
    m.x.norm_squared() + m.y.norm_squared() + m.z.norm_squared()
}

/// Energy per undeformed volume, J/m³.
#[inline(always)]
pub(crate) fn energy_density<T: Real>(f: Mat3<T>, law: &Law) -> T {
    let c = T::from_f64;
    let (lambda, p) = volumetric(law);
    let change = f.x.dot(f.y.cross(f.z)) - T::ONE;
    let volume = change * (c(0.5 * lambda) * change - c(p));
    match law.model {
        MaterialModel::StableNeoHookean => c(0.5 * law.mu) * (norm_squared(f) - c(3.0)) + volume,
        _ => c(law.mu) * norm_squared(f - rotation(f)) + volume,
    }
}

/// First Piola–Kirchhoff stress, Pa.
#[inline(always)]
pub(crate) fn stress<T: Real>(f: Mat3<T>, law: &Law) -> Mat3<T> {
    let c = T::from_f64;
    let (lambda, p) = volumetric(law);
    let cofactor = cofactor(f);
    let pressure = c(lambda) * (f.x.dot(cofactor.x) - T::ONE) - c(p);
    match law.model {
        MaterialModel::StableNeoHookean => f * c(law.mu) + cofactor * pressure,
        _ => (f - rotation(f)) * c(2.0 * law.mu) + cofactor * pressure,
    }
}

/// dP/dF at some F, in closed form.
pub(crate) struct Tangent<T: Real> {
    f: Mat3<T>,
    cofactor: Mat3<T>,
    /// dP is `own` dF + `volume` (C:dF) C + `pressure` dC, C the cofactors, less what turns with R.
    own: T,
    volume: T,
    pressure: T,
    /// R, and 2μ R (tr S − S)⁻¹ Rᵀ, S = Rᵀ F, of corotated materials: R turns by ω with (tr S − S) ω the axial vector of Rᵀ dF.
    turning: Option<(Mat3<T>, Mat3<T>)>,
}

impl<T: Real> Tangent<T> {
    #[inline(always)]
    pub fn new(f: Mat3<T>, law: &Law) -> Self {
        let c = T::from_f64;
        let (lambda, p) = volumetric(law);
        let cofactor = cofactor(f);
        let (own, turning) = match law.model {
            MaterialModel::StableNeoHookean => (law.mu, None),
            _ => {
                let r = rotation(f);
                let s = r.transpose() * f;
                let trace = s.x.x + s.y.y + s.z.z;
                let m = Sym3::diagonal(Vec3::new(trace, trace, trace)) - Sym3::lower(s);
                let (adjugate, det) = m.adjugate();
                // Where two stretches cancel the rotation is arbitrary, and this infinite.
                let det = Real::max(det.abs(), c(1e-9)).copysign(det);
                let turning = (adjugate * (c(2.0 * law.mu) * det.recip())).rotated(r).to_mat3();
                (2.0 * law.mu, Some((r, turning)))
            }
        };
        let pressure = c(lambda) * (f.x.dot(cofactor.x) - T::ONE) - c(p);
        Self { f, cofactor, own: c(own), volume: c(lambda), pressure, turning }
    }

    /// Calls `add(a, b, block)` with the stiffness of each two nodes b ≤ a, for `weight` of volume; `gradients` are those of shape functions.
    #[inline(always)]
    pub fn each_block<const N: usize>(
        &self,
        gradients: &[Vec3<T>; N],
        weight: T,
        mut add: impl FnMut(usize, usize, Mat3<T>),
    ) {
        let cofactor = gradients.map(|g| self.cofactor * g);
        let turned = self.turning.map(|(r, turning)| {
            let h = gradients.map(|g| r * g);
            (h, h.map(|h| turning * Mat3::skew(h)))
        });
        let (volume, pressure) = (self.volume * weight, self.pressure * weight);
        for a in 0..N {
            let (cofactor_a, g_a) = (cofactor[a] * volume, gradients[a] * weight);
            for b in 0..=a {
                // det F is linear in each of two nodes: its second derivative is a cross product.
                let n = self.f * gradients[a].cross(gradients[b]) * pressure;
                let mut block = Mat3::outer(cofactor_a, cofactor[b]) - Mat3::skew(n);
                if let Some((h, columns)) = &turned {
                    let h_a = h[a] * weight;
                    let Mat3 { x, y, z } = columns[b];
                    block = block + Mat3::from_columns(h_a.cross(x), h_a.cross(y), h_a.cross(z));
                }
                let own = self.own * g_a.dot(gradients[b]);
                block.x.x += own;
                block.y.y += own;
                block.z.z += own;
                add(a, b, block);
            }
        }
    }
}

/// dP/dF at some F, without what of it is negative.
pub(crate) struct ProjectedTangent<T: Real> {
    u: Mat3<T>,
    v: Mat3<T>,
    /// On the diagonal, by columns.
    stretch: Mat3<T>,
    /// Of the pairs (y, z), (z, x), (x, y): what takes an entry to itself, and to its mirror image.
    same: Vec3<T>,
    mirrored: Vec3<T>,
}

impl<T: Real> ProjectedTangent<T> {
    #[inline(always)]
    pub fn new(f: Mat3<T>, law: &Law) -> Self {
        let c = T::from_f64;
        let r = rotation(f);
        let (sigma, v) = eigen(r.transpose() * f);
        // ∂J/∂σ.
        let j = Vec3::new(sigma.y * sigma.z, sigma.z * sigma.x, sigma.x * sigma.y);
        let (lambda, p) = volumetric(law);
        let q = c(lambda) * (sigma.x * j.x - T::ONE) - c(p);
        // Ψ's second derivatives are `own` δᵢⱼ + λ̂ Jᵢ Jⱼ + q Jᵢⱼ; pairs turn against `turning`.
        let (own, turning) = match law.model {
            MaterialModel::StableNeoHookean => (law.mu, Vec3::new(T::ONE, T::ONE, T::ONE) * c(law.mu)),
            _ => {
                // 2μ (1 − 2/(σᵢ + σⱼ)); where two stretches cancel it is −∞.
                let turn = |sum: T| c(2.0 * law.mu) - c(4.0 * law.mu) * Real::max(sum, c(1e-9)).recip();
                let sums = Vec3::new(sigma.y + sigma.z, sigma.z + sigma.x, sigma.x + sigma.y);
                (2.0 * law.mu, Vec3::new(turn(sums.x), turn(sums.y), turn(sums.z)))
            }
        };
        let own = c(own);
        let (half, sheared) = (c(0.5), sigma * q);
        let part = |shear: T, turn: T| {
            let (symmetric, skew) = (Real::max(own - shear, T::ZERO), Real::max(turn + shear, T::ZERO));
            (half * (symmetric + skew), half * (symmetric - skew))
        };
        let pairs = [part(sheared.x, turning.x), part(sheared.y, turning.y), part(sheared.z, turning.z)];
        let mut stretch = Mat3::outer(j * c(lambda), j);
        stretch.x.x += own;
        stretch.y.y += own;
        stretch.z.z += own;
        stretch.x.y += sheared.z;
        stretch.y.x += sheared.z;
        stretch.y.z += sheared.x;
        stretch.z.y += sheared.x;
        stretch.x.z += sheared.y;
        stretch.z.x += sheared.y;
        Self {
            u: r * v,
            v,
            stretch: semidefinite(stretch),
            same: Vec3::new(pairs[0].0, pairs[1].0, pairs[2].0),
            mirrored: Vec3::new(pairs[0].1, pairs[1].1, pairs[2].1),
        }
    }

    /// As [`Tangent::each_block`].
    #[inline(always)]
    pub fn each_block<const N: usize>(
        &self,
        gradients: &[Vec3<T>; N],
        weight: T,
        mut add: impl FnMut(usize, usize, Mat3<T>),
    ) {
        let turned = gradients.map(|g| self.v.transpose_mul(g));
        let back = self.u.transpose();
        for a in 0..N {
            let weighted = turned[a] * weight;
            for b in 0..=a {
                add(a, b, self.u * self.block(weighted, turned[b]) * back);
            }
        }
    }

    /// The block of two nodes with gradients `a` and `b` in the axes V, in the axes U.
    #[inline(always)]
    fn block(&self, a: Vec3<T>, b: Vec3<T>) -> Mat3<T> {
        let (s, m, k) = (&self.same, &self.mirrored, &self.stretch);
        let (xx, yy, zz) = (a.x * b.x, a.y * b.y, a.z * b.z);
        // Row r, column c: k_rc a_r b_c + m a_c b_r; on the diagonal k_rr a_r b_r and what the other two components shear.
        Mat3::from_columns(
            Vec3::new(
                k.x.x * xx + s.z * yy + s.y * zz,
                k.x.y * a.y * b.x + m.z * a.x * b.y,
                k.x.z * a.z * b.x + m.y * a.x * b.z,
            ),
            Vec3::new(
                k.y.x * a.x * b.y + m.z * a.y * b.x,
                k.y.y * yy + s.z * xx + s.x * zz,
                k.y.z * a.z * b.y + m.x * a.y * b.z,
            ),
            Vec3::new(
                k.z.x * a.x * b.z + m.y * a.z * b.x,
                k.z.y * a.y * b.z + m.x * a.z * b.y,
                k.z.z * zz + s.y * xx + s.x * yy,
            ),
        )
    }
}

/// The nearest matrix without negative eigenvalues.
#[inline(always)]
fn semidefinite<T: Real>(m: Mat3<T>) -> Mat3<T> {
    let (values, axes) = eigen(m);
    let [x, y, z] = values.to_array().map(|value| Real::max(value, T::ZERO));
    Mat3::outer(axes.x * x, axes.x) + Mat3::outer(axes.y * y, axes.y) + Mat3::outer(axes.z * z, axes.z)
}

/// Eigenvalues and axes, a rotation, of the symmetric part of a matrix: Jacobi's method.
#[inline(always)]
fn eigen<T: Real>(m: Mat3<T>) -> (Vec3<T>, Mat3<T>) {
    let half = T::from_f64(0.5);
    let mut a = [
        [m.x.x, half * (m.x.y + m.y.x), half * (m.x.z + m.z.x)],
        [half * (m.x.y + m.y.x), m.y.y, half * (m.y.z + m.z.y)],
        [half * (m.x.z + m.z.x), half * (m.y.z + m.z.y), m.z.z],
    ];
    let mut axes = [[T::ONE, T::ZERO, T::ZERO], [T::ZERO, T::ONE, T::ZERO], [T::ZERO, T::ZERO, T::ONE]];
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            // tan of the angle: 2a_pq / (d + sign(d) √(d² + 4a_pq²)), d the difference of the diagonal's entries.
            let (difference, off) = (a[q][q] - a[p][p], a[p][q] + a[p][q]);
            let length = (difference * difference + off * off + T::from_f64(1e-280)).sqrt();
            let tan = off * (difference + length.copysign(difference)).recip();
            let cos = (tan * tan + T::ONE).sqrt().recip();
            let sin = tan * cos;
            for i in 0..3 {
                (a[p][i], a[q][i]) = (cos * a[p][i] - sin * a[q][i], sin * a[p][i] + cos * a[q][i]);
                (axes[p][i], axes[q][i]) = (cos * axes[p][i] - sin * axes[q][i], sin * axes[p][i] + cos * axes[q][i]);
            }
            for row in &mut a {
                (row[p], row[q]) = (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
            }
        }
    }
    let column = |k: usize| Vec3::new(axes[k][0], axes[k][1], axes[k][2]);
    (Vec3::new(a[0][0], a[1][1], a[2][2]), Mat3::from_columns(column(0), column(1), column(2)))
}

#[cfg(test)]
mod tests {
    use spatial::Quat;

    use super::*;

    fn law(model: MaterialModel) -> Law {
        Law { model, lambda: 3.0, mu: 2.0 }
    }

    fn dot(a: Mat3<f64>, b: Mat3<f64>) -> f64 {
        a.x.dot(b.x) + a.y.dot(b.y) + a.z.dot(b.z)
    }

    /// dP along a direction, by the blocks of nodes whose gradients are the axes.
    fn times(
        direction: Mat3<f64>,
        blocks: impl FnOnce(&[Vec3<f64>; 3], &mut dyn FnMut(usize, usize, Mat3<f64>)),
    ) -> Mat3<f64> {
        let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        let columns = [direction.x, direction.y, direction.z];
        let mut sums = [Vec3::ZERO; 3];
        blocks(&axes, &mut |a, b, block| {
            sums[a] += block * columns[b];
            if a != b {
                sums[b] += block.transpose() * columns[a];
            }
        });
        Mat3::from_columns(sums[0], sums[1], sums[2])
    }

    fn some(k: f64) -> Mat3<f64> {
        let v = |i: f64| Vec3::new((k + i).sin(), (1.3 * k - 2.0 * i).sin(), (0.7 * k + 3.0 * i).cos());
        Mat3::from_columns(v(1.0), v(2.0), v(3.0))
    }

    /// The tangent is the derivative of the stress, which is that of the energy, inverted or not; projected it is not negative in any direction, never
    /// less, and the same where nothing is negative.
    #[test]
    fn tangents_are_derivatives() {
        let turn = |k: f64| Quat::new(0.3 - k, 0.5 + k, -0.2 * k, 0.7).unit().to_mat3();
        for model in [MaterialModel::Corotated, MaterialModel::StableNeoHookean] {
            let law = law(model);
            for (k, s) in [[1.05, 1.0, 1.1], [0.4, 1.5, 0.8], [0.7, 0.3, 0.5], [1.2, 0.9, -0.4], [1.0, 1.0, 1.0]]
                .into_iter()
                .enumerate()
            {
                let stretch = |v: Vec3<f64>| Vec3::new(s[0] * v.x, s[1] * v.y, s[2] * v.z);
                let v = turn(2.0 + k as f64);
                let f = turn(k as f64) * Mat3::from_columns(stretch(v.x), stretch(v.y), stretch(v.z));
                let (exact, projected) = (Tangent::new(f, &law), ProjectedTangent::new(f, &law));
                let mut is_same = true;
                for direction in (0..12).map(|j| some(f64::from(j))) {
                    let h = 1e-5;
                    let slope = (stress(f + direction * h, &law) - stress(f - direction * h, &law)) * (0.5 / h);
                    let found = times(direction, |axes, add| exact.each_block(axes, 1.0, add));
                    let larger = times(direction, |axes, add| projected.each_block(axes, 1.0, add));
                    let error = slope - found;
                    assert!(dot(error, error).sqrt() < 1e-7, "{model:?} {s:?}: {error:?}");
                    let energy = |h: f64| energy_density(f + direction * h, &law);
                    let work = (energy(h) - energy(-h)) * (0.5 / h) - dot(stress(f, &law), direction);
                    assert!(work.abs() < 1e-7, "{model:?} {s:?}: {work}");
                    let (curvature, bound) = (dot(direction, found), dot(direction, larger));
                    assert!(bound > -1e-12 && bound >= curvature - 1e-12, "{model:?} {s:?}: {curvature} {bound}");
                    is_same &= (bound - curvature).abs() < 1e-12;
                }
                assert_eq!(is_same, k == 0 || k == 4, "{model:?} {s:?}");
            }
        }
    }

    /// At small strains both laws are Hooke's, and at rest there is neither stress nor energy.
    #[test]
    fn small_strains_follow_hooke() {
        for model in [MaterialModel::Corotated, MaterialModel::StableNeoHookean] {
            let law = law(model);
            let nothing = stress(Mat3::IDENTITY, &law);
            assert!(dot(nothing, nothing) < 1e-28 && energy_density(Mat3::<f64>::IDENTITY, &law) == 0.0);
            let d = some(0.4);
            let trace = Mat3::IDENTITY * (3.0 * (d.x.x + d.y.y + d.z.z));
            let error = times(d, |axes, add| Tangent::new(Mat3::IDENTITY, &law).each_block(axes, 1.0, add))
                - ((d + d.transpose()) * 2.0 + trace);
            assert!(dot(error, error).sqrt() < 1e-12, "{model:?}: {error:?}");
        }
    }
}
