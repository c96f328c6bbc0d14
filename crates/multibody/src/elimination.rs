//! The elimination of a joint, and solves past it: what every recursion over (★) of [`Factor`](crate::Factor) does at a node.
//!
//! Vectors and matrices are in registers of four lanes. Of the product of a 3×3 matrix and a vector three multiplications are left, of
//! the shift of an inertia to the parent some forty instructions: a hinge takes two thirds of what the compiler makes of scalars.

use spatial::{InRegisters, Mat3, Real, Sym3, Vec3};

use crate::kinematics::{set3, vec3};
use crate::wide::{Articulated, Matrix, Screw, dot, narrow, rotated, wide};
use crate::{JointImpedance, JointType, Node, NodeFrame};

/// What the elimination of one joint leaves behind for solves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Eliminated<T: InRegisters> {
    /// One degree of freedom: H = I^A S and 1/D.
    Single { h: Screw<T>, d_inv: T },
    /// Three rotations: E = D⁻¹, H = \[A; Bᵀ\] and the impedance K, in world axes.
    Ball { e: Matrix<T>, a: Matrix<T>, b: Matrix<T>, k: Matrix<T> },
    /// All six, at a root: E = (A + Λ_ω − B C⁻¹ Bᵀ)⁻¹, the inverse of C + Λ_v, and B.
    Free { e: Sym3<T>, c_inv: Sym3<T>, b: Mat3<T> },
}

/// The motion of a joint with one degree of freedom at unit rate.
#[inline(always)]
fn unit_motion<T: InRegisters>(node: &Node<T>, frame: &NodeFrame<T>) -> Screw<T> {
    let s = frame.axis;
    match node.joint {
        JointType::Prismatic => Screw { ang: T::Wide::ZERO, lin: wide(s) },
        JointType::Screw => Screw { ang: wide(s), lin: wide(s * node.pitch) },
        JointType::Revolute | JointType::Ball | JointType::Free => Screw { ang: wide(s), lin: T::Wide::ZERO },
    }
}

/// Eliminates the joint of node `i` from the inertia of all that is behind it: `out` is what solves need, returned the inertia that is
/// left about the node's origin.
#[inline(always)]
pub(crate) fn eliminate<T: InRegisters>(
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
            let (a, b, c) = (whole.a.to_sym3(), whole.b.to_mat3(), whole.c.to_sym3());
            let c_inv = (c + Sym3::diagonal(vec3(d))).inverse();
            let spin = Sym3::diagonal(vec3(&d[3..])).rotated(frame.rot);
            let e = (a + spin - Sym3::lower(b * (c_inv * b.transpose()))).inverse();
            *out = Eliminated::Free { e, c_inv, b };
            Articulated::ZERO
        }
    }
}

#[inline(always)]
fn eliminate_single<T: InRegisters>(
    node: &Node<T>,
    frame: &NodeFrame<T>,
    whole: &Articulated<T>,
    lambda: T,
    out: &mut Eliminated<T>,
) -> Articulated<T> {
    let Articulated { a, b, c } = *whole;
    let s = frame.axis;
    let (h, d) = if node.joint == JointType::Revolute {
        let h = Screw { ang: a.times_vec(s), lin: b.transpose().times_vec(s) };
        (h, dot(wide(s), h.ang))
    } else {
        let motion = unit_motion(node, frame);
        let h = Screw {
            ang: a.times(motion.ang) + b.times(motion.lin),
            lin: b.transpose().times(motion.ang) + c.times(motion.lin),
        };
        (h, motion.dot(h))
    };
    let d_inv = (d + lambda).recip();
    *out = Eliminated::Single { h, d_inv };
    let Screw { ang: ha, lin: hl } = h.scaled(-d_inv);
    Articulated { a: a.plus_outer(ha, h.ang), b: b.plus_outer(ha, h.lin), c: c.plus_outer(hl, h.lin) }
}

/// A' = K E A, B' = K E B, C' = C − Bᵀ E B. `k` is in the node's axes.
#[inline(always)]
fn eliminate_ball<T: InRegisters>(
    frame: &NodeFrame<T>,
    whole: &Articulated<T>,
    k: Sym3<T>,
    out: &mut Eliminated<T>,
) -> Articulated<T> {
    let Articulated { a, b, c } = *whole;
    let uniform = Sym3::diagonal(Vec3::new(k.xx, k.xx, k.xx));
    if k == uniform {
        let e = a.plus_diagonal(k.xx).inverse();
        *out = Eliminated::Ball { e, a, b, k: Matrix::ZERO.plus_diagonal(k.xx) };
        let (ea, eb) = (e.product(a), e.product(b));
        return Articulated { a: ea.scaled(k.xx), b: eb.scaled(k.xx), c: without_ball(b, c, eb) };
    }
    let k = rotated(&k, Matrix::new(frame.rot));
    let e = a.plus(k).inverse();
    *out = Eliminated::Ball { e, a, b, k };
    let (ea, eb) = (e.product(a), e.product(b));
    Articulated { a: k.product(ea), b: k.product(eb), c: without_ball(b, c, eb) }
}

/// C − Bᵀ E B. The inverse takes `a` to be symmetric: along a straight chain it makes what `c` misses of that twice as much at every joint.
#[inline(always)]
fn without_ball<T: InRegisters>(b: Matrix<T>, c: Matrix<T>, eb: Matrix<T>) -> Matrix<T> {
    c.minus(b.transpose().product(eb)).symmetric()
}

impl<T: InRegisters> Eliminated<T> {
    /// What stands for it before there is a factor.
    pub const NONE: Self = Self::Single { h: Screw::ZERO, d_inv: T::ZERO };

    /// Leaves u = r − Sᵀp in `x` (rotations in world axes) and returns p + H D⁻¹ u: what a bias force p leaves to the parent.
    ///
    /// Of a ball joint n' = τ − K E u, f' = f + Bᵀ E u: where K is small nothing cancels.
    #[inline(always)]
    pub fn reduce(&self, node: &Node<T>, frame: &NodeFrame<T>, p: Screw<T>, r: &[T], x: &mut [T]) -> Screw<T> {
        let v = node.v;
        match self {
            Self::Single { h, d_inv } => {
                let along = match node.joint {
                    JointType::Revolute => dot(wide(frame.axis), p.ang),
                    _ => unit_motion(node, frame).dot(p),
                };
                let u = r[v] - along;
                x[v] = u;
                p.plus_scaled(u * *d_inv, *h)
            }
            Self::Ball { e, b, k, .. } => {
                let tau = wide(frame.rot * vec3(&r[v..]));
                let u = tau - p.ang;
                set3(&mut x[v..], narrow(u));
                let eu = e.times(u);
                Screw { ang: tau - k.times(eu), lin: p.lin + b.transpose().times(eu) }
            }
            Self::Free { .. } => {
                set3(&mut x[v..], vec3(&r[v..]) - narrow(p.lin));
                set3(&mut x[v + 3..], frame.rot * vec3(&r[v + 3..]) - narrow(p.ang));
                Screw::ZERO
            }
        }
    }

    /// x = D⁻¹(u − Hᵀ a'), and the node's motion a' + S x, where `carried` is a', what the parent's motion makes of the node's.
    #[inline(always)]
    pub fn expand(&self, node: &Node<T>, frame: &NodeFrame<T>, carried: Screw<T>, x: &mut [T]) -> Screw<T> {
        let v = node.v;
        match self {
            Self::Single { h, d_inv } => {
                let step = (x[v] - carried.dot(*h)) * *d_inv;
                x[v] = step;
                let (s, rate) = (wide(frame.axis), T::Wide::splat(step));
                match node.joint {
                    JointType::Prismatic => Screw { lin: rate.mul_add(s, carried.lin), ..carried },
                    JointType::Screw => {
                        let lin = T::Wide::splat(step * node.pitch).mul_add(s, carried.lin);
                        Screw { ang: rate.mul_add(s, carried.ang), lin }
                    }
                    JointType::Revolute | JointType::Ball | JointType::Free => {
                        Screw { ang: rate.mul_add(s, carried.ang), ..carried }
                    }
                }
            }
            Self::Ball { e, a, b, .. } => {
                let u = wide(vec3(&x[v..])) - a.times(carried.ang) - b.times(carried.lin);
                let turn = e.times(u);
                set3(&mut x[v..], frame.rot.transpose_mul(narrow(turn)));
                Screw { ang: carried.ang + turn, ..carried }
            }
            Self::Free { e, c_inv, b } => {
                let (lin, ang) = (vec3(&x[v..]), vec3(&x[v + 3..]));
                let turn = *e * (ang - *b * (*c_inv * lin));
                let shift = *c_inv * (lin - b.transpose_mul(turn));
                set3(&mut x[v..], shift);
                set3(&mut x[v + 3..], frame.rot.transpose_mul(turn));
                Screw { ang: wide(turn), lin: wide(shift) }
            }
        }
    }
}
