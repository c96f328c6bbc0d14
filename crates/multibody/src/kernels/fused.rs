//! Sums of products, each product fused with its addition: of what a kernel computes, a tenth less than with operators.

use spatial::{Mat3, Quat, Real, Sym3, Vec3};

/// x + a × b.
#[inline(always)]
pub(super) fn plus_cross<T: Real>(x: Vec3<T>, a: Vec3<T>, b: Vec3<T>) -> Vec3<T> {
    Vec3 {
        x: a.y.mul_add(b.z, (-a.z).mul_add(b.y, x.x)),
        y: a.z.mul_add(b.x, (-a.x).mul_add(b.z, x.y)),
        z: a.x.mul_add(b.y, (-a.y).mul_add(b.x, x.z)),
    }
}

/// x + m v.
#[inline(always)]
pub(super) fn plus_product<T: Real>(x: Vec3<T>, m: Mat3<T>, v: Vec3<T>) -> Vec3<T> {
    x.add_scaled(v.x, m.x).add_scaled(v.y, m.y).add_scaled(v.z, m.z)
}

/// x + mᵀ v.
#[inline(always)]
pub(super) fn plus_transposed<T: Real>(x: Vec3<T>, m: Mat3<T>, v: Vec3<T>) -> Vec3<T> {
    plus_product(x, m.transpose(), v)
}

/// x + s v.
#[inline(always)]
pub(super) fn plus_sym<T: Real>(x: Vec3<T>, s: Sym3<T>, v: Vec3<T>) -> Vec3<T> {
    plus_product(x, s.to_mat3(), v)
}

/// a + s b.
#[inline(always)]
pub(super) fn plus_scaled<T: Real>(a: Sym3<T>, s: T, b: Sym3<T>) -> Sym3<T> {
    Sym3 {
        xx: b.xx.mul_add(s, a.xx),
        xy: b.xy.mul_add(s, a.xy),
        xz: b.xz.mul_add(s, a.xz),
        yy: b.yy.mul_add(s, a.yy),
        yz: b.yz.mul_add(s, a.yz),
        zz: b.zz.mul_add(s, a.zz),
    }
}

/// a + u wᵀ where that is symmetric.
#[inline(always)]
pub(super) fn plus_outer_sym<T: Real>(a: Sym3<T>, u: Vec3<T>, w: Vec3<T>) -> Sym3<T> {
    Sym3 {
        xx: u.x.mul_add(w.x, a.xx),
        xy: u.y.mul_add(w.x, a.xy),
        xz: u.z.mul_add(w.x, a.xz),
        yy: u.y.mul_add(w.y, a.yy),
        yz: u.z.mul_add(w.y, a.yz),
        zz: u.z.mul_add(w.z, a.zz),
    }
}

/// b + u wᵀ.
#[inline(always)]
pub(super) fn plus_outer<T: Real>(b: Mat3<T>, u: Vec3<T>, w: Vec3<T>) -> Mat3<T> {
    Mat3::from_columns(b.x.add_scaled(w.x, u), b.y.add_scaled(w.y, u), b.z.add_scaled(w.z, u))
}

/// b + r̂ m.
#[inline(always)]
pub(super) fn plus_crossed<T: Real>(b: Mat3<T>, r: Vec3<T>, m: Mat3<T>) -> Mat3<T> {
    Mat3::from_columns(plus_cross(b.x, r, m.x), plus_cross(b.y, r, m.y), plus_cross(b.z, r, m.z))
}

/// a + r̂ m, the lower triangle.
#[inline(always)]
pub(super) fn plus_lower_crossed<T: Real>(a: Sym3<T>, r: Vec3<T>, m: Mat3<T>) -> Sym3<T> {
    Sym3 {
        xx: r.y.mul_add(m.x.z, (-r.z).mul_add(m.x.y, a.xx)),
        xy: r.z.mul_add(m.x.x, (-r.x).mul_add(m.x.z, a.xy)),
        xz: r.x.mul_add(m.x.y, (-r.y).mul_add(m.x.x, a.xz)),
        yy: r.z.mul_add(m.y.x, (-r.x).mul_add(m.y.z, a.yy)),
        yz: r.x.mul_add(m.y.y, (-r.y).mul_add(m.y.x, a.yz)),
        zz: r.x.mul_add(m.z.y, (-r.y).mul_add(m.z.x, a.zz)),
    }
}

/// a + m r̂ᵀ where that is symmetric: row i of the product is r × (row i of m).
#[inline(always)]
pub(super) fn plus_rows_crossed<T: Real>(a: Sym3<T>, r: Vec3<T>, m: Mat3<T>) -> Sym3<T> {
    let t = m.transpose();
    Sym3 {
        xx: r.y.mul_add(t.x.z, (-r.z).mul_add(t.x.y, a.xx)),
        xy: r.y.mul_add(t.y.z, (-r.z).mul_add(t.y.y, a.xy)),
        xz: r.y.mul_add(t.z.z, (-r.z).mul_add(t.z.y, a.xz)),
        yy: r.z.mul_add(t.y.x, (-r.x).mul_add(t.y.z, a.yy)),
        yz: r.z.mul_add(t.z.x, (-r.x).mul_add(t.z.z, a.yz)),
        zz: r.x.mul_add(t.z.y, (-r.y).mul_add(t.z.x, a.zz)),
    }
}

/// [`Quat::to_mat3`] in 17 operations in place of 24.
#[inline(always)]
pub(crate) fn rotation<T: Real>(q: Quat<T>) -> Mat3<T> {
    let (x2, y2, z2) = (q.x + q.x, q.y + q.y, q.z + q.z);
    let (xy, xz, yz) = (q.x * y2, q.x * z2, q.y * z2);
    let (not_x, not_y) = ((-q.x).mul_add(x2, T::ONE), (-q.y).mul_add(y2, T::ONE));
    Mat3::from_columns(
        Vec3::new((-q.z).mul_add(z2, not_y), q.w.mul_add(z2, xy), (-q.w).mul_add(y2, xz)),
        Vec3::new((-q.w).mul_add(z2, xy), (-q.z).mul_add(z2, not_x), q.w.mul_add(x2, yz)),
        Vec3::new(q.w.mul_add(y2, xz), (-q.w).mul_add(x2, yz), (-q.y).mul_add(y2, not_x)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_operators() {
        let (r, u, w) = (Vec3::new(0.3, -1.2, 0.7), Vec3::new(2.0, 0.1, -0.4), Vec3::new(-0.6, 0.9, 1.1));
        let m = Mat3::from_columns(w, u, r);
        let s = Sym3::outer(2.0, r);
        let near = |a: Vec3<f64>, b: Vec3<f64>| assert!((a - b).norm() < 1e-14, "{a:?} {b:?}");
        let near_mat = |a: Mat3<f64>, b: Mat3<f64>| {
            near(a.x, b.x);
            near(a.y, b.y);
            near(a.z, b.z);
        };
        near(plus_cross(w, r, u), w + r.cross(u));
        near(plus_product(w, m, u), w + m * u);
        near(plus_transposed(w, m, u), w + m.transpose() * u);
        near_mat(plus_outer(m, u, w), m + Mat3::outer(u, w));
        near_mat(plus_crossed(m, r, m), m + Mat3::skew(r) * m);
        near_mat(plus_scaled(s, -3.0, s).to_mat3(), Sym3::outer(-4.0, r).to_mat3());
        near_mat(plus_outer_sym(s, r, r).to_mat3(), Sym3::outer(3.0, r).to_mat3());
        // r̂ s r̂ᵀ is symmetric.
        let crossed = Mat3::skew(u) * s.to_mat3();
        near_mat(plus_rows_crossed(s, u, crossed).to_mat3(), s.to_mat3() + crossed * Mat3::skew(u).transpose());
        near_mat(plus_lower_crossed(s, u, m).to_mat3(), s.to_mat3() + Sym3::lower(Mat3::skew(u) * m).to_mat3());
        near(plus_sym(w, s, u), w + s * u);
        let q = Quat::new(0.4, -0.2, 0.7, 0.1).unit();
        near_mat(rotation(q), q.to_mat3());
    }
}
