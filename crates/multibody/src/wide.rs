//! Vectors and matrices in three dimensions in registers of four lanes, the last of which is idle: of `f64`, and of scalars that are
//! [`InRegisters`].

use spatial::{ArticulatedInertia, F64x4, InRegisters, Mat3, Quad, Quat, Real, Sym3, Twist, Vec3, Wrench};

/// A vector (x, y, z, anything), or a quaternion (x, y, z, w).
pub(crate) type Wide = F64x4;

#[inline(always)]
pub(crate) fn wide<T: InRegisters>(v: Vec3<T>) -> T::Wide {
    T::Wide::quad([v.x, v.y, v.z, T::ZERO])
}

#[inline(always)]
pub(crate) fn narrow<W: Quad>(v: W) -> Vec3<W::Scalar> {
    let [x, y, z, _] = v.numbers();
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
fn fill<const K: usize, W: Quad>(v: W) -> W {
    W::quad([v.numbers()[K]; 4])
}

/// (y, z, x).
#[inline(always)]
fn turned<W: Quad>(v: W) -> W {
    let [x, y, z, w] = v.numbers();
    W::quad([y, z, x, w])
}

/// a × b.
#[inline(always)]
pub(crate) fn cross<W: Quad>(a: W, b: W) -> W {
    turned(a.mul_add(turned(b), -(turned(a) * b)))
}

#[inline(always)]
pub(crate) fn dot<W: Quad>(a: W, b: W) -> W::Scalar {
    let [x, y, z, _] = (a * b).numbers();
    x + y + z
}

/// The product of quaternions.
#[inline(always)]
pub(crate) fn quat_product(a: Wide, b: Wide) -> Wide {
    let [x, y, z, w] = b.to_array();
    let sum = fill::<3, _>(a) * b;
    let sum = fill::<0, _>(a).mul_add(Wide::from_array([w, -z, y, -x]), sum);
    let sum = fill::<1, _>(a).mul_add(Wide::from_array([z, w, -x, -y]), sum);
    fill::<2, _>(a).mul_add(Wide::from_array([-y, x, w, -z]), sum)
}

/// A 3×3 matrix by columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<T: InRegisters = f64> {
    pub x: T::Wide,
    pub y: T::Wide,
    pub z: T::Wide,
}

impl<T: InRegisters> Matrix<T> {
    pub const ZERO: Self = Self { x: T::Wide::ZERO, y: T::Wide::ZERO, z: T::Wide::ZERO };

    #[inline(always)]
    pub fn new(m: Mat3<T>) -> Self {
        Self { x: wide(m.x), y: wide(m.y), z: wide(m.z) }
    }

    #[inline(always)]
    pub fn to_mat3(self) -> Mat3<T> {
        Mat3::from_columns(narrow(self.x), narrow(self.y), narrow(self.z))
    }

    /// Of a symmetric matrix, its lower triangle.
    #[inline(always)]
    pub fn to_sym3(self) -> Sym3<T> {
        Sym3::lower(self.to_mat3())
    }

    /// The identity.
    pub const IDENTITY: Self = {
        let [x, y, z, _] = T::Wide::UNITS;
        Self { x, y, z }
    };

    /// self + s 1.
    #[inline(always)]
    pub fn plus_diagonal(self, s: T) -> Self {
        let (s, one) = (T::Wide::splat(s), Self::IDENTITY);
        Self { x: s.mul_add(one.x, self.x), y: s.mul_add(one.y, self.y), z: s.mul_add(one.z, self.z) }
    }

    /// self + r̂.
    #[inline(always)]
    pub fn plus_skew(self, r: Vec3<T>) -> Self {
        let (x, y, z, one) = (T::Wide::splat(r.x), T::Wide::splat(r.y), T::Wide::splat(r.z), Self::IDENTITY);
        Self {
            x: z.mul_add(one.y, (-y).mul_add(one.z, self.x)),
            y: x.mul_add(one.z, (-z).mul_add(one.x, self.y)),
            z: y.mul_add(one.x, (-x).mul_add(one.y, self.z)),
        }
    }

    #[inline(always)]
    pub fn transpose(self) -> Self {
        let (x, y, z) = (self.x.numbers(), self.y.numbers(), self.z.numbers());
        let row = |k: usize| T::Wide::quad([x[k], y[k], z[k], z[k]]);
        Self { x: row(0), y: row(1), z: row(2) }
    }

    /// The symmetric matrix with the same lower triangle.
    #[inline(always)]
    pub fn symmetric(self) -> Self {
        let ([_, xy, xz, _], [_, yy, yz, _]) = (self.x.numbers(), self.y.numbers());
        Self { x: self.x, y: T::Wide::quad([xy, yy, yz, yz]), z: T::Wide::quad([xz, yz, self.z.numbers()[2], xz]) }
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
    pub fn scaled(self, s: T) -> Self {
        let s = T::Wide::splat(s);
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }

    /// The product with a vector.
    #[inline(always)]
    pub fn times(self, v: T::Wide) -> T::Wide {
        fill::<2, _>(v).mul_add(self.z, fill::<1, _>(v).mul_add(self.y, fill::<0, _>(v) * self.x))
    }

    /// The product with a vector of scalars.
    #[inline(always)]
    pub fn times_vec(self, v: Vec3<T>) -> T::Wide {
        T::Wide::splat(v.z).mul_add(self.z, T::Wide::splat(v.y).mul_add(self.y, T::Wide::splat(v.x) * self.x))
    }

    /// The product with a matrix.
    #[inline(always)]
    pub fn product(self, m: Self) -> Self {
        Self { x: self.times(m.x), y: self.times(m.y), z: self.times(m.z) }
    }

    /// self + u wᵀ.
    #[inline(always)]
    pub fn plus_outer(self, u: T::Wide, w: T::Wide) -> Self {
        Self {
            x: fill::<0, _>(w).mul_add(u, self.x),
            y: fill::<1, _>(w).mul_add(u, self.y),
            z: fill::<2, _>(w).mul_add(u, self.z),
        }
    }

    /// self r̂ᵀ: sums of columns.
    #[inline(always)]
    pub fn crossed(self, r: Vec3<T>) -> Self {
        let (x, y, z) = (T::Wide::splat(r.x), T::Wide::splat(r.y), T::Wide::splat(r.z));
        Self {
            x: y.mul_add(self.z, -(z * self.y)),
            y: z.mul_add(self.x, -(x * self.z)),
            z: x.mul_add(self.y, -(y * self.x)),
        }
    }

    /// How fast an inertia about a fixed point changes, its moment `mc`, where the body moves with (ω, v): ω̂ J − J ω̂ − m (v̂ ĉ + ĉ v̂).
    #[inline(always)]
    pub fn rate(self, (ang, lin): (T::Wide, T::Wide), mc: T::Wide) -> Self {
        // Symmetric: half of it and its transpose.
        let spun = Self { x: cross(ang, self.x), y: cross(ang, self.y), z: cross(ang, self.z) };
        let half = spun.plus_outer(-lin, mc);
        half.plus(half.transpose()).plus_diagonal(T::from_f64(2.0) * dot(lin, mc))
    }

    /// The inverse of a symmetric matrix.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let (a, b, c) = (cross(self.y, self.z), cross(self.z, self.x), cross(self.x, self.y));
        Self { x: a, y: b, z: c }.scaled(dot(self.x, a).recip())
    }
}

/// R I Rᵀ.
#[inline(always)]
pub(crate) fn rotated<T: InRegisters>(i: &Sym3<T>, rot: Matrix<T>) -> Matrix<T> {
    let m = [
        rot.times_vec(Vec3::new(i.xx, i.xy, i.xz)),
        rot.times_vec(Vec3::new(i.xy, i.yy, i.yz)),
        rot.times_vec(Vec3::new(i.xz, i.yz, i.zz)),
    ];
    Matrix::ZERO.plus_outer(m[0], rot.x).plus_outer(m[1], rot.y).plus_outer(m[2], rot.z)
}

/// A motion or a force: its angular and its linear part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screw<T: InRegisters = f64> {
    pub ang: T::Wide,
    pub lin: T::Wide,
}

impl<T: InRegisters> Screw<T> {
    pub const ZERO: Self = Self { ang: T::Wide::ZERO, lin: T::Wide::ZERO };

    #[inline(always)]
    pub fn to_wrench(self) -> Wrench<T> {
        Wrench { ang: narrow(self.ang), lin: narrow(self.lin) }
    }

    #[inline(always)]
    pub fn to_twist(self) -> Twist<T> {
        Twist { ang: narrow(self.ang), lin: narrow(self.lin) }
    }

    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Self { ang: self.ang + o.ang, lin: self.lin + o.lin }
    }

    /// The product with another's parts.
    #[inline(always)]
    pub fn dot(self, o: Self) -> T {
        let [x, y, z, _] = self.lin.mul_add(o.lin, self.ang * o.ang).numbers();
        x + y + z
    }

    /// The product with another's parts, and that of two vectors.
    #[inline(always)]
    pub fn dot_with(self, (a, b): (T::Wide, T::Wide), o: Self) -> T {
        let [x, y, z, _] = a.mul_add(b, self.lin.mul_add(o.lin, self.ang * o.ang)).numbers();
        x + y + z
    }

    #[inline(always)]
    pub fn scaled(self, s: T) -> Self {
        let s = T::Wide::splat(s);
        Self { ang: self.ang * s, lin: self.lin * s }
    }

    /// self + s o.
    #[inline(always)]
    pub fn plus_scaled(self, s: T, o: Self) -> Self {
        let s = T::Wide::splat(s);
        Self { ang: s.mul_add(o.ang, self.ang), lin: s.mul_add(o.lin, self.lin) }
    }

    /// A force about a point that lies `r` before the present one.
    #[inline(always)]
    pub fn shifted_back(self, r: T::Wide) -> Self {
        Self { ang: self.ang + cross(r, self.lin), lin: self.lin }
    }
}

impl<T: InRegisters> From<Wrench<T>> for Screw<T> {
    #[inline(always)]
    fn from(w: Wrench<T>) -> Self {
        Self { ang: wide(w.ang), lin: wide(w.lin) }
    }
}

/// An articulated inertia \[\[a, b\], \[bᵀ, c\]\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Articulated<T: InRegisters = f64> {
    pub a: Matrix<T>,
    pub b: Matrix<T>,
    pub c: Matrix<T>,
}

impl<T: InRegisters> Articulated<T> {
    pub const ZERO: Self = Self { a: Matrix::ZERO, b: Matrix::ZERO, c: Matrix::ZERO };

    #[inline(always)]
    pub fn new(ArticulatedInertia { a, b, c }: &ArticulatedInertia<T>) -> Self {
        Self { a: Matrix::new(a.to_mat3()), b: Matrix::new(*b), c: Matrix::new(c.to_mat3()) }
    }

    #[inline(always)]
    pub fn plus(&self, o: &Self) -> Self {
        Self { a: self.a.plus(o.a), b: self.b.plus(o.b), c: self.c.plus(o.c) }
    }

    /// About a point that lies `r` before: with X = c r̂ᵀ, b' = b + Xᵀ and a' = a + (b r̂ᵀ)ᵀ + b' r̂ᵀ.
    #[inline(always)]
    pub fn shifted_back(&self, r: Vec3<T>) -> Self {
        let b = self.b.plus(self.c.crossed(r).transpose());
        let a = self.a.plus(self.b.crossed(r).transpose()).plus(b.crossed(r));
        Self { a, b, c: self.c }
    }
}
