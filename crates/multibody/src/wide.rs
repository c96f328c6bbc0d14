//! Vectors and matrices in three dimensions in registers of four lanes, the last of which is idle.

use spatial::{F64x4, Mat3, Quat, Real, Sym3, Twist, Vec3, Wrench};

/// A vector (x, y, z, anything), or a quaternion (x, y, z, w).
pub(crate) type Wide = F64x4;

pub(crate) const fn unit(k: usize) -> Wide {
    let mut x = [0.0; 4];
    x[k] = 1.0;
    // SAFETY: both are the same bytes, any of which are numbers.
    unsafe { std::mem::transmute(x) }
}

#[inline(always)]
pub(crate) fn wide(v: Vec3<f64>) -> Wide {
    Wide::from_array([v.x, v.y, v.z, 0.0])
}

#[inline(always)]
pub(crate) fn narrow(v: Wide) -> Vec3<f64> {
    let [x, y, z, _] = v.to_array();
    Vec3::new(x, y, z)
}

#[inline(always)]
pub(crate) fn wide_quat(q: Quat<f64>) -> Wide {
    Wide::from_array([q.x, q.y, q.z, q.w])
}

#[inline(always)]
pub(crate) fn narrow_quat(q: Wide) -> Quat<f64> {
    let [x, y, z, w] = q.to_array();
    Quat::new(w, x, y, z)
}

/// Lane `K` in all lanes.
#[inline(always)]
pub(crate) fn fill<const K: usize>(v: Wide) -> Wide {
    Wide::from_array([v.to_array()[K]; 4])
}

/// (y, z, x).
#[inline(always)]
fn turned(v: Wide) -> Wide {
    let [x, y, z, w] = v.to_array();
    Wide::from_array([y, z, x, w])
}

/// a × b.
#[inline(always)]
pub(crate) fn cross(a: Wide, b: Wide) -> Wide {
    turned(a.mul_add(turned(b), -(turned(a) * b)))
}

#[inline(always)]
pub(crate) fn dot(a: Wide, b: Wide) -> f64 {
    let [x, y, z, _] = (a * b).to_array();
    x + y + z
}

/// The product of quaternions.
#[inline(always)]
pub(crate) fn quat_product(a: Wide, b: Wide) -> Wide {
    let [x, y, z, w] = b.to_array();
    let sum = fill::<3>(a) * b;
    let sum = fill::<0>(a).mul_add(Wide::from_array([w, -z, y, -x]), sum);
    let sum = fill::<1>(a).mul_add(Wide::from_array([z, w, -x, -y]), sum);
    fill::<2>(a).mul_add(Wide::from_array([-y, x, w, -z]), sum)
}

/// A 3×3 matrix by columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix {
    pub x: Wide,
    pub y: Wide,
    pub z: Wide,
}

impl Matrix {
    pub const ZERO: Self = Self { x: Wide::ZERO, y: Wide::ZERO, z: Wide::ZERO };

    #[inline(always)]
    pub fn new(m: Mat3<f64>) -> Self {
        Self { x: wide(m.x), y: wide(m.y), z: wide(m.z) }
    }

    #[inline(always)]
    pub fn to_mat3(self) -> Mat3<f64> {
        Mat3::from_columns(narrow(self.x), narrow(self.y), narrow(self.z))
    }

    /// Of a symmetric matrix, its lower triangle.
    #[inline(always)]
    pub fn to_sym3(self) -> Sym3<f64> {
        Sym3::lower(self.to_mat3())
    }

    /// The identity.
    pub const IDENTITY: Self = Self { x: unit(0), y: unit(1), z: unit(2) };

    /// self + s 1.
    #[inline(always)]
    pub fn plus_diagonal(self, s: f64) -> Self {
        let (s, one) = (Wide::splat(s), Self::IDENTITY);
        Self { x: s.mul_add(one.x, self.x), y: s.mul_add(one.y, self.y), z: s.mul_add(one.z, self.z) }
    }

    /// self + r̂.
    #[inline(always)]
    pub fn plus_skew(self, r: Vec3<f64>) -> Self {
        let (x, y, z, one) = (Wide::splat(r.x), Wide::splat(r.y), Wide::splat(r.z), Self::IDENTITY);
        Self {
            x: z.mul_add(one.y, (-y).mul_add(one.z, self.x)),
            y: x.mul_add(one.z, (-z).mul_add(one.x, self.y)),
            z: y.mul_add(one.x, (-x).mul_add(one.y, self.z)),
        }
    }

    #[inline(always)]
    pub fn transpose(self) -> Self {
        let (x, y, z) = (self.x.to_array(), self.y.to_array(), self.z.to_array());
        let row = |k: usize| Wide::from_array([x[k], y[k], z[k], z[k]]);
        Self { x: row(0), y: row(1), z: row(2) }
    }

    /// The symmetric matrix with the same lower triangle.
    #[inline(always)]
    pub fn symmetric(self) -> Self {
        let ([_, xy, xz, _], [_, yy, yz, _]) = (self.x.to_array(), self.y.to_array());
        Self {
            x: self.x,
            y: Wide::from_array([xy, yy, yz, yz]),
            z: Wide::from_array([xz, yz, self.z.to_array()[2], xz]),
        }
    }

    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }

    #[inline(always)]
    pub fn minus(self, o: Self) -> Self {
        Self { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }

    #[inline(always)]
    pub fn scaled(self, s: f64) -> Self {
        let s = Wide::splat(s);
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }

    /// The product with a vector.
    #[inline(always)]
    pub fn times(self, v: Wide) -> Wide {
        fill::<2>(v).mul_add(self.z, fill::<1>(v).mul_add(self.y, fill::<0>(v) * self.x))
    }

    /// The product with a vector of scalars.
    #[inline(always)]
    pub fn times_vec(self, v: Vec3<f64>) -> Wide {
        Wide::splat(v.z).mul_add(self.z, Wide::splat(v.y).mul_add(self.y, Wide::splat(v.x) * self.x))
    }

    /// The product with a matrix.
    #[inline(always)]
    pub fn product(self, m: Self) -> Self {
        Self { x: self.times(m.x), y: self.times(m.y), z: self.times(m.z) }
    }

    /// self + u wᵀ.
    #[inline(always)]
    pub fn plus_outer(self, u: Wide, w: Wide) -> Self {
        Self {
            x: fill::<0>(w).mul_add(u, self.x),
            y: fill::<1>(w).mul_add(u, self.y),
            z: fill::<2>(w).mul_add(u, self.z),
        }
    }

    /// self r̂ᵀ: sums of columns.
    #[inline(always)]
    pub fn crossed(self, r: Vec3<f64>) -> Self {
        let (x, y, z) = (Wide::splat(r.x), Wide::splat(r.y), Wide::splat(r.z));
        Self {
            x: y.mul_add(self.z, -(z * self.y)),
            y: z.mul_add(self.x, -(x * self.z)),
            z: x.mul_add(self.y, -(y * self.x)),
        }
    }

    /// How fast an inertia about a fixed point changes, its moment `mc`, where the body moves with (ω, v): ω̂ J − J ω̂ − m (v̂ ĉ + ĉ v̂).
    #[inline(always)]
    pub fn rate(self, (ang, lin): (Wide, Wide), mc: Wide) -> Self {
        // Symmetric: half of it and its transpose.
        let spun = Self { x: cross(ang, self.x), y: cross(ang, self.y), z: cross(ang, self.z) };
        let half = spun.plus_outer(-lin, mc);
        half.plus(half.transpose()).plus_diagonal(2.0 * dot(lin, mc))
    }

    /// The inverse of a symmetric matrix.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let (a, b, c) = (cross(self.y, self.z), cross(self.z, self.x), cross(self.x, self.y));
        Self { x: a, y: b, z: c }.scaled(1.0 / dot(self.x, a))
    }
}

/// A motion or a force: its angular and its linear part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screw {
    pub ang: Wide,
    pub lin: Wide,
}

impl Screw {
    pub const ZERO: Self = Self { ang: Wide::ZERO, lin: Wide::ZERO };

    #[inline(always)]
    pub fn to_wrench(self) -> Wrench<f64> {
        Wrench { ang: narrow(self.ang), lin: narrow(self.lin) }
    }

    #[inline(always)]
    pub fn to_twist(self) -> Twist<f64> {
        Twist { ang: narrow(self.ang), lin: narrow(self.lin) }
    }

    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Self { ang: self.ang + o.ang, lin: self.lin + o.lin }
    }

    /// The product with another's parts.
    #[inline(always)]
    pub fn dot(self, o: Self) -> f64 {
        let [x, y, z, _] = self.lin.mul_add(o.lin, self.ang * o.ang).to_array();
        x + y + z
    }

    /// The product with another's parts, and that of two vectors.
    #[inline(always)]
    pub fn dot_with(self, (a, b): (Wide, Wide), o: Self) -> f64 {
        let [x, y, z, _] = a.mul_add(b, self.lin.mul_add(o.lin, self.ang * o.ang)).to_array();
        x + y + z
    }

    #[inline(always)]
    pub fn scaled(self, s: f64) -> Self {
        let s = Wide::splat(s);
        Self { ang: self.ang * s, lin: self.lin * s }
    }

    /// self + s o.
    #[inline(always)]
    pub fn plus_scaled(self, s: f64, o: Self) -> Self {
        let s = Wide::splat(s);
        Self { ang: s.mul_add(o.ang, self.ang), lin: s.mul_add(o.lin, self.lin) }
    }
}

/// An articulated inertia \[\[a, b\], \[bᵀ, c\]\] and a bias force.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub bias: Screw,
}

impl Block {
    pub const ZERO: Self = Self { a: Matrix::ZERO, b: Matrix::ZERO, c: Matrix::ZERO, bias: Screw::ZERO };

    #[inline(always)]
    pub fn plus(&self, o: &Self) -> Self {
        Self { a: self.a.plus(o.a), b: self.b.plus(o.b), c: self.c.plus(o.c), bias: self.bias.plus(o.bias) }
    }

    /// About a point that lies `r` before: with X = c r̂ᵀ, b' = b + Xᵀ and a' = a + (b r̂ᵀ)ᵀ + b' r̂ᵀ.
    #[inline(always)]
    pub fn shifted_back(&self, r: Vec3<f64>) -> Self {
        let b = self.b.plus(self.c.crossed(r).transpose());
        let a = self.a.plus(self.b.crossed(r).transpose()).plus(b.crossed(r));
        let bias = Screw { ang: self.bias.ang + cross(wide(r), self.bias.lin), lin: self.bias.lin };
        Self { a, b, c: self.c, bias }
    }
}
