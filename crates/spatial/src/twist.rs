//! Motions and forces of rigid bodies.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use crate::{Real, Three, Vec3};

/// A motion: angular velocity and velocity of the frame's origin (or their rates), in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist<T: Real> {
    /// Angular part, rad/s.
    pub ang: Vec3<T>,
    /// Linear part at the origin of the frame, m/s.
    pub lin: Vec3<T>,
}

/// A force: moment about the frame's origin and force, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench<T: Real> {
    /// Moment about the origin of the frame, N·m.
    pub ang: Vec3<T>,
    /// Force, N.
    pub lin: Vec3<T>,
}

impl<T: Real> Twist<T> {
    /// No motion.
    pub const ZERO: Self = Self { ang: Vec3::ZERO, lin: Vec3::ZERO };

    /// The same motion seen at a point displaced by `r` from the present origin.
    #[inline(always)]
    pub fn shifted(self, r: Vec3<T>) -> Self {
        Self { ang: self.ang, lin: self.lin + self.ang.cross(r) }
    }

    /// The power of `f` along this motion, both at the same origin.
    #[inline(always)]
    pub fn dot(self, f: Wrench<T>) -> T {
        let (ang, lin) = ([T::Three::of(self.ang), T::Three::of(f.ang)], [T::Three::of(self.lin), T::Three::of(f.lin)]);
        T::Three::sum_of_products([ang, lin])
    }

    /// v × u: how a motion `u` that is fixed in a body changes as the body moves with v.
    #[inline(always)]
    pub fn cross_motion(self, u: Self) -> Self {
        Self { ang: self.ang.cross(u.ang), lin: self.ang.cross(u.lin) + self.lin.cross(u.ang) }
    }

    /// v ×* w: how a wrench that is fixed in a body changes as the body moves with v.
    #[inline(always)]
    pub fn cross_force(self, w: Wrench<T>) -> Wrench<T> {
        Wrench { ang: self.ang.cross(w.ang) + self.lin.cross(w.lin), lin: self.ang.cross(w.lin) }
    }
}

impl<T: Real> Wrench<T> {
    /// No force.
    pub const ZERO: Self = Self { ang: Vec3::ZERO, lin: Vec3::ZERO };

    /// The same force, its moment taken about a point that lies `r` **before** the present origin (from a child's
    /// origin at p + r to its parent's at p).
    #[inline(always)]
    pub fn shifted_back(self, r: Vec3<T>) -> Self {
        Self { ang: self.ang + r.cross(self.lin), lin: self.lin }
    }
}

macro_rules! vector_space {
    ($name:ident) => {
        impl<T: Real> $name<T> {
            /// `self + s·b`.
            #[inline(always)]
            #[must_use]
            pub fn add_scaled(self, s: T, b: Self) -> Self {
                Self { ang: self.ang.add_scaled(s, b.ang), lin: self.lin.add_scaled(s, b.lin) }
            }
        }
        impl<T: Real> Add for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                Self { ang: self.ang + b.ang, lin: self.lin + b.lin }
            }
        }
        impl<T: Real> AddAssign for $name<T> {
            #[inline(always)]
            fn add_assign(&mut self, b: Self) {
                *self = *self + b;
            }
        }
        impl<T: Real> Sub for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                Self { ang: self.ang - b.ang, lin: self.lin - b.lin }
            }
        }
        impl<T: Real> Neg for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self { ang: -self.ang, lin: -self.lin }
            }
        }
        impl<T: Real> Mul<T> for $name<T> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: T) -> Self {
                Self { ang: self.ang * s, lin: self.lin * s }
            }
        }
    };
}
vector_space!(Twist);
vector_space!(Wrench);
