//! The elimination of a joint, and solves past it: what every recursion over (★) of [`Factor`](crate::Factor) does at a node.
//!
//! Symmetric matrices are written out: columns take a register each.

use spatial::{ArticulatedInertia, Mat3, Real, Sym3, Twist, Vec3, Wrench};

use crate::kinematics::{joint_axis, set3, vec3};
use crate::{JointImpedance, JointType, Node, NodeFrame};

/// What the elimination of one joint leaves behind for solves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Eliminated<T: Real> {
    /// One degree of freedom: H = I^A S and 1/D.
    Single { h: Wrench<T>, d_inv: T },
    /// Three rotations: E = D⁻¹, H = \[A; Bᵀ\] and the impedance K, in world axes.
    Ball { e: Mat3<T>, a: Mat3<T>, b: Mat3<T>, k: Mat3<T> },
    /// All six, at a root: E = (A + Λ_ω − B C⁻¹ Bᵀ)⁻¹, the inverse of C + Λ_v, and B.
    Free { e: Sym3<T>, c_inv: Sym3<T>, b: Mat3<T> },
}

/// An inertia \[\[a, b\], \[bᵀ, c\]\] with all entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Articulated<T: Real> {
    pub a: Mat3<T>,
    pub b: Mat3<T>,
    pub c: Mat3<T>,
}

impl<T: Real> Articulated<T> {
    pub const ZERO: Self = Self { a: Mat3::ZERO, b: Mat3::ZERO, c: Mat3::ZERO };

    #[inline(always)]
    pub fn new(ArticulatedInertia { a, b, c }: &ArticulatedInertia<T>) -> Self {
        Self { a: a.to_mat3(), b: *b, c: c.to_mat3() }
    }

    #[inline(always)]
    pub fn plus(&self, o: &Self) -> Self {
        Self { a: self.a + o.a, b: self.b + o.b, c: self.c + o.c }
    }

    /// About a point that lies `r` before: with X = c r̂ᵀ, b' = b + Xᵀ and a' = a + (b r̂ᵀ)ᵀ + b' r̂ᵀ.
    #[inline(always)]
    pub fn shifted_back(&self, r: Vec3<T>) -> Self {
        let b = self.b + self.c.mul_skew_transpose(r).transpose();
        let a = self.a + self.b.mul_skew_transpose(r).transpose() + b.mul_skew_transpose(r);
        Self { a, b, c: self.c }
    }
}

/// Eliminates the joint of node `i` from the inertia of all that is behind it: `out` is what solves need, returned the inertia that is
/// left about the node's origin.
#[inline(always)]
pub(crate) fn eliminate<T: Real + PartialEq>(
    node: &Node<T>,
    frame: &NodeFrame<T>,
    whole: &Articulated<T>,
    impedance: &JointImpedance<T>,
    i: usize,
    out: &mut Eliminated<T>,
) -> Articulated<T> {
    match node.joint {
        JointType::Revolute | JointType::Prismatic | JointType::Screw => {
            eliminate_single(node, frame, whole, impedance.diagonal[node.v], out)
        }
        JointType::Ball => eliminate_ball(frame, whole, impedance.ball_block(node, i), out),
        JointType::Free => {
            let d = &impedance.diagonal[node.v..node.v + 6];
            let (a, b, c) = (Sym3::lower(whole.a), whole.b, Sym3::lower(whole.c));
            let c_inv = (c + Sym3::diagonal(vec3(d))).inverse();
            let spin = Sym3::diagonal(vec3(&d[3..])).rotated(frame.rot);
            let e = (a + spin - Sym3::lower(b * (c_inv * b.transpose()))).inverse();
            *out = Eliminated::Free { e, c_inv, b };
            Articulated::ZERO
        }
    }
}

#[inline(always)]
fn eliminate_single<T: Real>(
    node: &Node<T>,
    frame: &NodeFrame<T>,
    whole: &Articulated<T>,
    lambda: T,
    out: &mut Eliminated<T>,
) -> Articulated<T> {
    let Articulated { a, b, c } = *whole;
    let s = frame.axis;
    let (h, d) = if node.joint == JointType::Revolute {
        let h = Wrench { ang: a * s, lin: b.transpose() * s };
        (h, s.dot(h.ang))
    } else {
        let motion = joint_axis(node, frame, 0);
        let h = Wrench { ang: a * motion.ang + b * motion.lin, lin: b.transpose() * motion.ang + c * motion.lin };
        (h, motion.dot(h))
    };
    let d_inv = (d + lambda).recip();
    *out = Eliminated::Single { h, d_inv };
    let Wrench { ang: ha, lin: hl } = h * -d_inv;
    Articulated { a: a.plus_outer(ha, h.ang), b: b.plus_outer(ha, h.lin), c: c.plus_outer(hl, h.lin) }
}

/// A' = K E A, B' = K E B, C' = C − Bᵀ E B. `k` is in the node's axes.
#[inline(always)]
fn eliminate_ball<T: Real + PartialEq>(
    frame: &NodeFrame<T>,
    whole: &Articulated<T>,
    k: Sym3<T>,
    out: &mut Eliminated<T>,
) -> Articulated<T> {
    let Articulated { a, b, c } = *whole;
    let uniform = Sym3::diagonal(Vec3::new(k.xx(), k.xx(), k.xx()));
    if k == uniform {
        let e = a.plus_diagonal(k.xx()).inverse_of_symmetric();
        *out = Eliminated::Ball { e, a, b, k: Mat3::ZERO.plus_diagonal(k.xx()) };
        let (ea, eb) = (e * a, e * b);
        return Articulated { a: ea * k.xx(), b: eb * k.xx(), c: without_ball(b, c, eb) };
    }
    let k = k.rotated(frame.rot).to_mat3();
    let e = (a + k).inverse_of_symmetric();
    *out = Eliminated::Ball { e, a, b, k };
    let (ea, eb) = (e * a, e * b);
    Articulated { a: k * ea, b: k * eb, c: without_ball(b, c, eb) }
}

/// C − Bᵀ E B. The inverse takes `a` to be symmetric: along a straight chain it makes what `c` misses of that twice as much at every joint.
#[inline(always)]
fn without_ball<T: Real>(b: Mat3<T>, c: Mat3<T>, eb: Mat3<T>) -> Mat3<T> {
    Sym3::lower(c - b.transpose() * eb).to_mat3()
}

impl<T: Real> Eliminated<T> {
    /// What stands for it before there is a factor.
    pub const NONE: Self = Self::Single { h: Wrench::ZERO, d_inv: T::ZERO };

    /// Leaves u = r − Sᵀp in `x` (rotations in world axes) and returns p + H D⁻¹ u: what a bias force p leaves to the parent.
    ///
    /// Of a ball joint n' = τ − K E u, f' = f + Bᵀ E u: where K is small nothing cancels.
    #[inline(always)]
    pub fn reduce(&self, node: &Node<T>, frame: &NodeFrame<T>, p: Wrench<T>, r: &[T], x: &mut [T]) -> Wrench<T> {
        let v = node.v;
        match self {
            Self::Single { h, d_inv } => {
                let along = match node.joint {
                    JointType::Revolute => frame.axis.dot(p.ang),
                    _ => joint_axis(node, frame, 0).dot(p),
                };
                let u = r[v] - along;
                x[v] = u;
                p.add_scaled(u * *d_inv, *h)
            }
            Self::Ball { e, b, k, .. } => {
                let tau = frame.rot * vec3(&r[v..]);
                let u = tau - p.ang;
                set3(&mut x[v..], u);
                let eu = *e * u;
                Wrench { ang: tau - *k * eu, lin: p.lin + b.transpose() * eu }
            }
            Self::Free { .. } => {
                set3(&mut x[v..], vec3(&r[v..]) - p.lin);
                set3(&mut x[v + 3..], frame.rot * vec3(&r[v + 3..]) - p.ang);
                Wrench::ZERO
            }
        }
    }

    /// x = D⁻¹(u − Hᵀ a'), and the node's motion a' + S x, where `carried` is a', what the parent's motion makes of the node's.
    #[inline(always)]
    pub fn expand(&self, node: &Node<T>, frame: &NodeFrame<T>, carried: Twist<T>, x: &mut [T]) -> Twist<T> {
        let v = node.v;
        match self {
            Self::Single { h, d_inv } => {
                let step = (x[v] - carried.dot(*h)) * *d_inv;
                x[v] = step;
                let s = frame.axis;
                match node.joint {
                    JointType::Prismatic => Twist { lin: carried.lin.add_scaled(step, s), ..carried },
                    JointType::Screw => carried.add_scaled(step, Twist { ang: s, lin: s * node.pitch }),
                    JointType::Revolute | JointType::Ball | JointType::Free => {
                        Twist { ang: carried.ang.add_scaled(step, s), ..carried }
                    }
                }
            }
            Self::Ball { e, a, b, .. } => {
                let u = vec3(&x[v..]) - *a * carried.ang - *b * carried.lin;
                let turn = *e * u;
                set3(&mut x[v..], frame.rot.transpose_mul(turn));
                Twist { ang: carried.ang + turn, ..carried }
            }
            Self::Free { e, c_inv, b } => {
                let (lin, ang) = (vec3(&x[v..]), vec3(&x[v + 3..]));
                let turn = *e * (ang - *b * (*c_inv * lin));
                let shift = *c_inv * (lin - b.transpose_mul(turn));
                set3(&mut x[v..], shift);
                set3(&mut x[v + 3..], frame.rot.transpose_mul(turn));
                Twist { ang: turn, lin: shift }
            }
        }
    }
}
