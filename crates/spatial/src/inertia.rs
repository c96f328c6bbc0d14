//! Rigid-body and articulated-body inertias.

use std::ops::AddAssign;

use crate::{Mat3, Real, Sym3, Twist, Vec3, Wrench};

/// A rigid body: mass, centre of mass, and rotational inertia **about the centre of mass**.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RigidInertia<T: Real> {
    /// Mass, kg.
    pub mass: T,
    /// Centre of mass from the frame's origin, m.
    pub com: Vec3<T>,
    /// Rotational inertia about the centre of mass, in the frame's axes, kg·m².
    pub inertia: Sym3<T>,
}

impl<T: Real> RigidInertia<T> {
    /// A frame without mass.
    pub const ZERO: Self = Self { mass: T::ZERO, com: Vec3::ZERO, inertia: Sym3::ZERO };

    /// The momentum of a body that moves with `v` (at the frame's origin), about that origin.
    #[inline(always)]
    pub fn momentum(&self, v: Twist<T>) -> Wrench<T> {
        let lin = v.shifted(self.com).lin * self.mass;
        Wrench { ang: self.inertia * v.ang + self.com.cross(lin), lin }
    }

    /// The body in a frame that is turned by `rot`: same origin, other axes.
    #[inline(always)]
    pub fn rotated(&self, rot: Mat3<T>) -> Self {
        Self { mass: self.mass, com: rot * self.com, inertia: self.inertia.rotated(rot) }
    }

    /// The inertia about the frame's origin.
    #[inline(always)]
    pub fn about_origin(&self) -> PointInertia<T> {
        let moment = self.com * self.mass;
        let d = moment.dot(self.com);
        let rotational = self.inertia + Sym3::diagonal(Vec3::new(d, d, d)) - Sym3::outer(self.mass, self.com);
        PointInertia { mass: self.mass, moment, rotational }
    }

    /// The inertia as a 6×6 matrix about the frame's origin.
    #[inline(always)]
    pub fn articulated(&self) -> ArticulatedInertia<T> {
        self.about_origin().articulated()
    }

    /// The body in another scalar.
    pub fn map<U: Real>(self, f: impl Fn(T) -> U + Copy) -> RigidInertia<U> {
        RigidInertia { mass: f(self.mass), com: self.com.map(f), inertia: self.inertia.map(f) }
    }
}

/// A rigid body, or several, about one point.
#[derive(Clone, Copy, Debug)]
pub struct PointInertia<T: Real> {
    /// Mass, kg.
    pub mass: T,
    /// Mass times centre of mass from the point, kg·m.
    pub moment: Vec3<T>,
    /// Rotational inertia about the point, kg·m².
    pub rotational: Sym3<T>,
}

impl<T: Real> PointInertia<T> {
    /// Nothing.
    pub const ZERO: Self = Self { mass: T::ZERO, moment: Vec3::ZERO, rotational: Sym3::ZERO };

    /// The momentum of the body that moves with `v`, both about the point.
    #[inline(always)]
    pub fn momentum(&self, v: Twist<T>) -> Wrench<T> {
        Wrench { ang: self.rotational * v.ang + self.moment.cross(v.lin), lin: self.linear_momentum(v) }
    }

    /// The linear part of [`momentum`](Self::momentum).
    #[inline(always)]
    pub fn linear_momentum(&self, v: Twist<T>) -> Vec3<T> {
        (v.lin * self.mass) + v.ang.cross(self.moment)
    }

    /// The inertia as a 6×6 matrix.
    #[inline(always)]
    pub fn articulated(&self) -> ArticulatedInertia<T> {
        let m = self.mass;
        ArticulatedInertia { a: self.rotational, b: Mat3::skew(self.moment), c: Sym3::diagonal(Vec3::new(m, m, m)) }
    }
}

impl RigidInertia<f64> {
    /// The two bodies, given in one frame, as one body.
    pub fn combined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return Self { mass, com: Vec3::ZERO, inertia: self.inertia + other.inertia };
        }
        let com = (self.com * self.mass + other.com * other.mass) * (1.0 / mass);
        let about = |b: &Self| {
            let r = b.com - com;
            let d = b.mass * r.norm_squared();
            b.inertia + Sym3::diagonal(Vec3::new(d, d, d)) - Sym3::outer(b.mass, r)
        };
        Self { mass, com, inertia: about(self) + about(other) }
    }
}

/// A symmetric 6×6 operator from twists to wrenches, ⪰ 0: an articulated-body inertia or an impedance.
///
/// In blocks \[\[`a`, `b`\], \[`b`ᵀ, `c`\]\], angular first: 21 numbers (`a` and `c` are symmetric).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArticulatedInertia<T: Real> {
    /// Angular block.
    pub a: Sym3<T>,
    /// Coupling block: moment of a linear motion.
    pub b: Mat3<T>,
    /// Linear block.
    pub c: Sym3<T>,
}

impl<T: Real> ArticulatedInertia<T> {
    /// The zero operator.
    pub const ZERO: Self = Self { a: Sym3::ZERO, b: Mat3::ZERO, c: Sym3::ZERO };

    /// The wrench that answers the motion `v`.
    #[inline(always)]
    pub fn apply(&self, v: Twist<T>) -> Wrench<T> {
        Wrench { ang: self.a * v.ang + self.b * v.lin, lin: self.b.transpose_mul(v.ang) + self.c * v.lin }
    }

    /// The same operator about a point that lies `r` **before** the present origin (from a child at p + r to its
    /// parent at p): with r̂ the cross-product matrix, c' = c, b' = b + r̂c, a' = a + r̂bᵀ + (r̂bᵀ)ᵀ − r̂cr̂.
    #[inline(always)]
    pub fn shifted_back(&self, r: Vec3<T>) -> Self {
        let c = self.c.to_mat3();
        // r̂c, column by column.
        let rc = Mat3::from_columns(r.cross(c.x), r.cross(c.y), r.cross(c.z));
        let b = self.b + rc;
        // a' = a + sym(r̂ (2 bᵀ − c r̂))… written with b' so that each product is formed once:
        // r̂bᵀ + b r̂ᵀ − r̂ c r̂ = r̂ bᵀ + (b + r̂c) r̂ᵀ = r̂ bᵀ + b' r̂ᵀ.
        let bt = self.b.transpose();
        let r_bt = Mat3::from_columns(r.cross(bt.x), r.cross(bt.y), r.cross(bt.z));
        // Row i of b' r̂ᵀ is r × (row i of b'), so its transpose has those as columns.
        let bt2 = b.transpose();
        let b2_rt = Mat3::from_columns(r.cross(bt2.x), r.cross(bt2.y), r.cross(bt2.z)).transpose();
        Self { a: self.a + Sym3::lower(r_bt + b2_rt), b, c: self.c }
    }
}

impl<T: Real> AddAssign for ArticulatedInertia<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        self.a += o.a;
        self.b = self.b + o.b;
        self.c += o.c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> RigidInertia<f64> {
        let inertia = Sym3::new([0.4, 0.02, -0.01, 0.3, 0.03, 0.2]);
        RigidInertia { mass: 2.0, com: Vec3::new(0.1, -0.2, 0.3), inertia }
    }

    #[test]
    fn operator_equals_momentum_at_both_origins() {
        let v = Twist { ang: Vec3::new(0.3, -1.0, 0.5), lin: Vec3::new(1.0, 0.2, -0.4) };
        let r = Vec3::new(0.5, 0.7, -0.2);
        let op = body().articulated();
        let direct = body().momentum(v);
        let d = op.apply(v) - direct;
        assert!(d.ang.norm() + d.lin.norm() < 1e-15);
        // At the parent's origin the body's twist is v shifted by −r, the momentum shifted back.
        let at_parent = op.shifted_back(r).apply(v.shifted(-r)) - direct.shifted_back(r);
        assert!(at_parent.ang.norm() + at_parent.lin.norm() < 1e-14);
    }

    #[test]
    fn combined_bodies_share_momentum() {
        let other = RigidInertia { mass: 0.5, com: Vec3::new(-0.3, 0.1, 0.0), ..body() };
        let v = Twist { ang: Vec3::new(0.3, -1.0, 0.5), lin: Vec3::new(1.0, 0.2, -0.4) };
        let d = body().combined(&other).momentum(v) - (body().momentum(v) + other.momentum(v));
        assert!(d.ang.norm() + d.lin.norm() < 1e-15);
    }
}
