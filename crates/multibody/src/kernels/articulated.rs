//! Articulated inertias: what eliminating a joint leaves of one, and what comes back of it.

use spatial::{Mat3, Real, Sym3, Twist, Vec3, Wrench};

use super::broadcast::{Accelerations, Broadcast, Coordinates, read_vec};
use super::fused::{
    plus_cross, plus_crossed, plus_lower_crossed, plus_outer, plus_outer_sym, plus_product, plus_rows_crossed,
    plus_scaled, plus_sym, plus_transposed,
};
use super::packed::Constants;
use super::placed::{Placed, centripetal};
use crate::JointType;

/// What the second pass leaves for the third: E A, E B, E u of a ball joint, all to be scaled; h, the axis, and (u/D,
/// 1/D) of one with a single degree of freedom. In a ball joint with impedance u has what the velocities do as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduced<T> {
    ea: Mat3<T>,
    eb: Mat3<T>,
    eu: Vec3<T>,
    /// What is missing in the products with E: 1/det where its adjugate stands for it, so that little waits for the
    /// division.
    scale: T,
}

impl<T: Real> Reduced<T> {
    /// Nothing yet.
    pub const ZERO: Self = Self { ea: Mat3::ZERO, eb: Mat3::ZERO, eu: Vec3::ZERO, scale: T::ZERO };
}

/// An articulated inertia \[\[a, b\], \[bᵀ, c\]\] and a bias force (n, f).
#[derive(Clone, Copy, Debug)]
pub(super) struct Articulated<T> {
    pub a: Sym3<T>,
    pub b: Mat3<T>,
    pub c: Sym3<T>,
    pub bias: Wrench<T>,
}

/// Numbers of an [`Articulated`] as an array.
pub(super) const ARTICULATED: usize = 27;

impl<T: Real> Articulated<T> {
    /// Nothing.
    pub const ZERO: Self = Self { a: Sym3::ZERO, b: Mat3::ZERO, c: Sym3::ZERO, bias: Wrench::ZERO };

    /// As an array.
    #[inline(always)]
    fn to_array(self) -> [T; ARTICULATED] {
        let Self { a, b: Mat3 { x, y, z }, c, bias: Wrench { ang: n, lin: f } } = self;
        [
            a.xx, a.xy, a.xz, a.yy, a.yz, a.zz, x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z, //
            c.xx, c.xy, c.xz, c.yy, c.yz, c.zz, n.x, n.y, n.z, f.x, f.y, f.z,
        ]
    }

    /// Of an array.
    #[inline(always)]
    pub fn from_array(x: &[T; ARTICULATED]) -> Self {
        Self {
            a: sym_at(x, 0),
            b: Mat3::from_columns(vec_at(x, 6), vec_at(x, 9), vec_at(x, 12)),
            c: sym_at(x, 15),
            bias: Wrench { ang: vec_at(x, 21), lin: vec_at(x, 24) },
        }
    }

    /// Adds another about the same point, times `s`.
    #[inline(always)]
    pub fn add_scaled(&mut self, s: T, o: &Self) {
        self.a = plus_scaled(self.a, s, o.a);
        self.b = Mat3::from_columns(
            self.b.x.add_scaled(s, o.b.x),
            self.b.y.add_scaled(s, o.b.y),
            self.b.z.add_scaled(s, o.b.z),
        );
        self.c = plus_scaled(self.c, s, o.c);
        self.bias.ang = self.bias.ang.add_scaled(s, o.bias.ang);
        self.bias.lin = self.bias.lin.add_scaled(s, o.bias.lin);
    }

    /// Adds another about the same point.
    #[inline(always)]
    pub fn add(&mut self, o: &Self) {
        self.a += o.a;
        self.b = self.b + o.b;
        self.c += o.c;
        self.bias += o.bias;
    }
}

#[inline(always)]
fn vec_at<T: Real>(x: &[T; ARTICULATED], i: usize) -> Vec3<T> {
    Vec3::new(x[i], x[i + 1], x[i + 2])
}

#[inline(always)]
fn sym_at<T: Real>(x: &[T; ARTICULATED], i: usize) -> Sym3<T> {
    Sym3 { xx: x[i], xy: x[i + 1], xz: x[i + 2], yy: x[i + 3], yz: x[i + 4], zz: x[i + 5] }
}

/// The impedance of one joint: `lambda` is read with IMPEDANCE only; `uniform` as in [`Impedance`](super::Impedance).
#[derive(Clone, Copy, Debug)]
pub(super) struct JointDrive<X> {
    pub tau: X,
    pub lambda: X,
    pub uniform: bool,
}

/// Eliminates a joint from the inertia of everything behind it: what the third pass needs of it goes to `reduced`, what
/// is left, about the parent's origin, to `left`. Stored at once for every type of joint, as in
/// [`place_joint`](super::placed::place_joint).
#[inline(always)]
pub(super) fn eliminate<T: Real, C: Broadcast<T>, X: Coordinates<T>, const IMPEDANCE: bool>(
    joint: JointType,
    constants: &Constants<C>,
    placed: &Placed<T>,
    whole: &Articulated<T>,
    drive: JointDrive<X>,
    gravity: Vec3<T>,
    reduced: &mut Reduced<T>,
    left: &mut [T; ARTICULATED],
) {
    let JointDrive { tau, lambda, uniform } = drive;
    let r = placed.offset;
    match joint {
        JointType::Ball if !IMPEDANCE => eliminate_ball(placed, whole, tau.read3(), reduced, left),
        JointType::Ball if uniform => {
            let rest = eliminate_ball_uniform(placed, whole, tau.read3(), lambda.read1(), reduced);
            put_shifted(left, &rest, r);
        }
        JointType::Ball => {
            let rest = eliminate_ball_impeded(placed, whole, tau.read3(), lambda.read3(), reduced);
            put_shifted(left, &rest, r);
        }
        JointType::Free => {
            let tau = tau.read();
            let rot = placed.frame.rot;
            let (ang, lin) = if IMPEDANCE {
                accelerate_impeded(rot, whole, tau, (lambda.read(), uniform), gravity)
            } else {
                accelerate(rot, whole, tau, gravity)
            };
            (reduced.ea.x, reduced.eu) = (ang, lin);
        }
        JointType::Revolute | JointType::Prismatic | JointType::Screw => {
            let lambda = if IMPEDANCE { lambda.read1() } else { T::ZERO };
            let rest = eliminate_single(joint, constants, placed, whole, tau.read1(), lambda, reduced);
            put_shifted(left, &rest, r);
        }
    }
}

/// The acceleration of a node whose joint was eliminated, given its parent's, `base`; the joint's goes to `out`.
#[inline(always)]
pub(super) fn expand<T: Real, C: Broadcast<T>, const IMPEDANCE: bool>(
    joint: JointType,
    constants: &Constants<C>,
    placed: &Placed<T>,
    reduced: &Reduced<T>,
    base: Twist<T>,
    gravity: Vec3<T>,
    mut out: impl Accelerations<T>,
) -> Twist<T> {
    let rot = placed.frame.rot;
    let lin = plus_cross(base.lin, base.ang, placed.offset);
    let carried = Twist { ang: base.ang, lin } + placed.coriolis;
    match joint {
        JointType::Ball if IMPEDANCE => {
            // What the velocities do is in E u already.
            let by_turn = plus_product(reduced.eu, reduced.ea, -base.ang);
            let turn = plus_product(by_turn, reduced.eb, -lin) * reduced.scale;
            let own = rot.transpose_mul(turn);
            out.write([own.x, own.y, own.z]);
            Twist { ang: carried.ang + turn, lin: carried.lin }
        }
        JointType::Ball => {
            // E A = 1: the parent's rotation does not turn the child.
            let ang = plus_product(reduced.eu, reduced.eb, -carried.lin) * reduced.scale;
            let own = rot.transpose_mul(ang - carried.ang);
            out.write([own.x, own.y, own.z]);
            Twist { ang, lin: carried.lin }
        }
        JointType::Free => {
            let (lin, ang) = (reduced.eu, reduced.ea.x);
            let own = rot.transpose_mul(ang);
            out.write([lin.x, lin.y, lin.z, own.x, own.y, own.z]);
            Twist { ang, lin: lin - gravity }
        }
        JointType::Revolute | JointType::Prismatic | JointType::Screw => {
            let (h, s) = (Wrench { ang: reduced.ea.x, lin: reduced.ea.y }, reduced.ea.z);
            let x = reduced.eu.x - reduced.eu.y * Twist { ang: base.ang, lin }.dot(h);
            out.write([x]);
            carried + joint_motion(joint, constants, s) * x
        }
    }
}

/// The node's rotational inertia about its origin, world axes.
#[inline(always)]
pub(super) fn turned_inertia<T: Real, C: Broadcast<T>>(constants: &Constants<C>, rot: Mat3<T>) -> Sym3<T> {
    let (least, x, y) = constants.deflated;
    let (x, y) = (rot * read_vec(x), rot * read_vec(y));
    plus_outer_sym(plus_outer_sym(isotropic(least.read()), x, x), y, y)
}

/// s 1.
#[inline(always)]
fn isotropic<T: Real>(s: T) -> Sym3<T> {
    Sym3::diagonal(Vec3::new(s, s, s))
}

/// The node's own inertia about its origin, and its gyroscopic force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<T> {
    pub inertia: Sym3<T>,
    /// Mass times centre of mass.
    pub moment: Vec3<T>,
    mass: T,
    pub bias: Wrench<T>,
}

impl<T: Real> Own<T> {
    /// Of a node with this rotation matrix and angular velocity, world axes.
    #[inline(always)]
    pub fn new<C: Broadcast<T>>(constants: &Constants<C>, rot: Mat3<T>, omega: Vec3<T>) -> Self {
        let inertia = turned_inertia(constants, rot);
        let moment = rot * read_vec(constants.moment);
        let bias = Wrench { ang: omega.cross(inertia * omega), lin: centripetal(omega, moment) };
        Self { inertia, moment, mass: constants.mass.read(), bias }
    }

    /// That of a node without children.
    #[inline(always)]
    pub fn alone(self) -> Articulated<T> {
        Articulated { a: self.inertia, b: Mat3::skew(self.moment), c: isotropic(self.mass), bias: self.bias }
    }

    /// With what the children left: no zeros are added.
    #[inline(always)]
    pub fn with(self, left: &Articulated<T>) -> Articulated<T> {
        let Articulated { a, b: Mat3 { x, y, z }, c, bias } = *left;
        let (h, m) = (self.moment, self.mass);
        let b = Mat3::from_columns(
            Vec3::new(x.x, x.y + h.z, x.z - h.y),
            Vec3::new(y.x - h.z, y.y, y.z + h.x),
            Vec3::new(z.x + h.y, z.y - h.x, z.z),
        );
        let c = Sym3 { xx: c.xx + m, yy: c.yy + m, zz: c.zz + m, ..c };
        Articulated { a: a + self.inertia, b, c, bias: bias + self.bias }
    }
}

/// The motion of a joint with one degree of freedom at unit rate.
#[inline(always)]
pub(super) fn joint_motion<T: Real, C: Broadcast<T>>(
    joint: JointType,
    constants: &Constants<C>,
    axis: Vec3<T>,
) -> Twist<T> {
    match joint {
        JointType::Prismatic => Twist { ang: Vec3::ZERO, lin: axis },
        JointType::Screw => Twist { ang: axis, lin: axis * constants.pitch.read() },
        JointType::Revolute | JointType::Ball | JointType::Free => Twist { ang: axis, lin: Vec3::ZERO },
    }
}

#[inline(always)]
fn eliminate_single<T: Real, C: Broadcast<T>>(
    joint: JointType,
    constants: &Constants<C>,
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: T,
    lambda: T,
    reduced: &mut Reduced<T>,
) -> Articulated<T> {
    let Articulated { a, b, c, bias } = *whole;
    let axis = placed.frame.rot * read_vec(constants.axis);
    let w = placed.coriolis;
    let bias = Wrench {
        ang: plus_product(plus_sym(bias.ang, a, w.ang), b, w.lin),
        lin: plus_transposed(plus_sym(bias.lin, c, w.lin), b, w.ang),
    };
    let (h, d, along) = match joint {
        JointType::Prismatic => {
            let h = Wrench { ang: b * axis, lin: c * axis };
            (h, axis.dot(h.lin), axis.dot(bias.lin))
        }
        JointType::Screw => {
            let s = joint_motion(joint, constants, axis);
            let h = Wrench { ang: a * s.ang + b * s.lin, lin: b.transpose_mul(s.ang) + c * s.lin };
            (h, s.dot(h), s.dot(bias))
        }
        JointType::Revolute | JointType::Ball | JointType::Free => {
            let h = Wrench { ang: a * axis, lin: b.transpose_mul(axis) };
            (h, axis.dot(h.ang), axis.dot(bias.ang))
        }
    };
    let d_inv = (d + lambda).recip();
    let eu = (tau - along) * d_inv;
    reduced.ea = Mat3::from_columns(h.ang, h.lin, axis);
    reduced.eu = Vec3::new(eu, d_inv, T::ZERO);
    let (ha, hl) = (h.ang * -d_inv, h.lin * -d_inv);
    Articulated {
        a: plus_outer_sym(a, ha, h.ang),
        b: plus_outer(b, ha, h.lin),
        c: plus_outer_sym(c, hl, h.lin),
        bias: Wrench { ang: bias.ang.add_scaled(eu, h.ang), lin: bias.lin.add_scaled(eu, h.lin) },
    }
}

/// Without impedance nothing but C is left, and of the shift half: it is done at once.
#[inline(always)]
fn eliminate_ball<T: Real>(
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: Vec3<T>,
    reduced: &mut Reduced<T>,
    left: &mut [T; ARTICULATED],
) {
    let Articulated { a, b, c, bias } = *whole;
    let (tau, r) = (placed.frame.rot * tau, placed.offset);
    let u = tau - bias.ang;
    let (adjugate, det) = a.adjugate();
    let s = det.recip();
    let (ab, au) = (adjugate * b, adjugate * u);
    (reduced.eb, reduced.eu, reduced.scale) = (ab, au, s);
    let c = plus_scaled(c, -s, transpose_times(b, ab));
    let lin = plus_sym(bias.lin, c, placed.coriolis.lin).add_scaled(s, ab.transpose_mul(u));
    let m = c.to_mat3();
    let rc = Mat3::from_columns(r.cross(m.x), r.cross(m.y), r.cross(m.z));
    // r̂ c r̂ᵀ.
    let a = plus_rows_crossed(Sym3::ZERO, r, rc);
    let bias = Wrench { ang: plus_cross(tau, r, lin), lin };
    *left = Articulated { a, b: rc, c, bias }.to_array();
}

/// With the impedance `k` about all axes.
///
/// What the velocities do to the joint (w) goes into u, not into what is left of the inertia: B and C are then multiplied with
/// it once.
#[inline(always)]
fn eliminate_ball_uniform<T: Real>(
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: Vec3<T>,
    k: T,
    reduced: &mut Reduced<T>,
) -> Articulated<T> {
    let Articulated { a, b, c, bias } = *whole;
    let (tau, w) = (placed.frame.rot * tau, placed.coriolis);
    let u = plus_product(plus_sym(tau - bias.ang, a, -w.ang), b, -w.lin);
    let (e, det) = Sym3 { xx: a.xx + k, yy: a.yy + k, zz: a.zz + k, ..a }.adjugate();
    let s = det.recip();
    let (eb, eu) = (e * b, e * u);
    (reduced.eb, reduced.eu, reduced.scale) = (eb, eu, s);
    let ea = times_eliminated(e, a, k);
    reduced.ea = ea.to_mat3();
    let ks = k * s;
    let lin = plus_transposed(plus_sym(bias.lin, c, w.lin), b, w.ang.add_scaled(s, eu));
    let c = plus_scaled(c, -s, transpose_times(b, eb));
    let b = Mat3::from_columns(eb.x * ks, eb.y * ks, eb.z * ks);
    Articulated { a: scale(ea, ks), b, c, bias: Wrench { ang: tau.add_scaled(-ks, eu), lin } }
}

/// With an impedance of its own about every axis of the child.
#[inline(always)]
fn eliminate_ball_impeded<T: Real>(
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: Vec3<T>,
    k: Vec3<T>,
    reduced: &mut Reduced<T>,
) -> Articulated<T> {
    let Articulated { a, b, c, bias } = *whole;
    let k = Sym3::diagonal(k).rotated(placed.frame.rot);
    let e = (a + k).inverse();
    let (tau, w) = (placed.frame.rot * tau, placed.coriolis);
    let u = plus_product(plus_sym(tau - bias.ang, a, -w.ang), b, -w.lin);
    let (ea, eb, eu) = (e * a.to_mat3(), e * b, e * u);
    *reduced = Reduced { ea, eb, eu, scale: T::ONE };
    let lin = plus_transposed(plus_sym(bias.lin, c, w.lin), b, w.ang + eu);
    let c = plus_scaled(c, -T::ONE, transpose_times(b, eb));
    Articulated { a: Sym3::lower(k * ea), b: k * eb, c, bias: Wrench { ang: plus_sym(tau, k, -eu), lin } }
}

/// E A of E, a multiple of (A + k)⁻¹: the same multiple of 1 − k E, which on the diagonal would cancel digits and elsewhere is −k E.
#[inline(always)]
pub(super) fn times_eliminated<T: Real>(e: Sym3<T>, a: Sym3<T>, k: T) -> Sym3<T> {
    Sym3 {
        xx: e.xx.mul_add(a.xx, e.xy.mul_add(a.xy, e.xz * a.xz)),
        xy: -k * e.xy,
        xz: -k * e.xz,
        yy: e.xy.mul_add(a.xy, e.yy.mul_add(a.yy, e.yz * a.yz)),
        yz: -k * e.yz,
        zz: e.xz.mul_add(a.xz, e.yz.mul_add(a.yz, e.zz * a.zz)),
    }
}

#[inline(always)]
pub(super) fn scale<T: Real>(s: Sym3<T>, k: T) -> Sym3<T> {
    Sym3 { xx: s.xx * k, xy: s.xy * k, xz: s.xz * k, yy: s.yy * k, yz: s.yz * k, zz: s.zz * k }
}

/// bᵀ x where that is symmetric: the lower triangle alone.
#[inline(always)]
fn transpose_times<T: Real>(b: Mat3<T>, x: Mat3<T>) -> Sym3<T> {
    Sym3 { xx: b.x.dot(x.x), xy: b.y.dot(x.x), xz: b.z.dot(x.x), yy: b.y.dot(x.y), yz: b.z.dot(x.y), zz: b.z.dot(x.z) }
}

/// The acceleration (angular, linear) of a free joint.
#[inline(always)]
pub(super) fn accelerate<T: Real>(
    rot: Mat3<T>,
    whole: &Articulated<T>,
    [fx, fy, fz, nx, ny, nz]: [T; 6],
    gravity: Vec3<T>,
) -> (Vec3<T>, Vec3<T>) {
    let bias = whole.bias;
    let force = Vec3::new(fx, fy, fz) - bias.lin;
    let torque = rot * Vec3::new(nx, ny, nz) - bias.ang;
    let (ang, lin) = solve(whole, force, torque);
    (ang, lin + gravity)
}

/// The same with impedances (linear, angular), the angular ones alike where that is `uniform`.
#[inline(always)]
pub(super) fn accelerate_impeded<T: Real>(
    rot: Mat3<T>,
    whole: &Articulated<T>,
    [fx, fy, fz, nx, ny, nz]: [T; 6],
    ([x, y, z, p, q, r], uniform): ([T; 6], bool),
    gravity: Vec3<T>,
) -> (Vec3<T>, Vec3<T>) {
    let Articulated { a, b, c, bias } = *whole;
    // What the weight of everything does, in place of the base's acceleration −g: Λ acts on v̇ alone.
    let force = plus_sym(Vec3::new(fx, fy, fz) - bias.lin, c, gravity);
    let torque = plus_product(rot * Vec3::new(nx, ny, nz) - bias.ang, b, gravity);
    let a = if uniform {
        Sym3 { xx: a.xx + p, yy: a.yy + p, zz: a.zz + p, ..a }
    } else {
        a + Sym3::diagonal(Vec3::new(p, q, r)).rotated(rot)
    };
    let c = Sym3 { xx: c.xx + x, yy: c.yy + y, zz: c.zz + z, ..c };
    solve(&Articulated { a, b, c, bias }, force, torque)
}

/// The acceleration (angular, linear) of an inertia under a force and a torque, its bias force apart.
#[inline(always)]
fn solve<T: Real>(whole: &Articulated<T>, force: Vec3<T>, torque: Vec3<T>) -> (Vec3<T>, Vec3<T>) {
    let Articulated { a, b, c, .. } = *whole;
    // By adjugates, so that little waits for the divisions: with s = 1/det C and t = 1/det of the Schur complement.
    let (c_adj, det) = c.adjugate();
    let s = det.recip();
    let schur = plus_scaled(a, -s, transpose_times(b.transpose(), c_adj * b.transpose()));
    let (adjugate, det) = schur.adjugate();
    let ang = adjugate * torque.add_scaled(-s, b * (c_adj * force)) * det.recip();
    (ang, c_adj * plus_transposed(force, b, -ang) * s)
}

/// Stores the articulated inertia and bias force about the parent's origin, which lies `r` before: all as soon as it is known,
/// so that it need not wait in registers.
#[inline(always)]
fn put_shifted<T: Real>(out: &mut [T; ARTICULATED], left: &Articulated<T>, r: Vec3<T>) {
    let Articulated { a, b, c, bias } = *left;
    put_sym(out, C, c);
    put_vec(out, F, bias.lin);
    put_vec(out, N, plus_cross(bias.ang, r, bias.lin));
    // a' = a + r̂ bᵀ + b' r̂ᵀ with b' = b + r̂ c; both products' sum is symmetric. r̂ bᵀ is the transpose of b r̂ᵀ.
    let b_shifted = plus_crossed(b, r, c.to_mat3());
    put_mat(out, B, b_shifted);
    put_sym(out, A, plus_rows_crossed(plus_lower_crossed(a, r, b.transpose()), r, b_shifted));
}

/// Where the parts of an [`Articulated`] begin in its array.
const A: usize = 0;
const B: usize = 6;
const C: usize = 15;
const N: usize = 21;
const F: usize = 24;

#[inline(always)]
fn put_vec<T: Real>(out: &mut [T; ARTICULATED], i: usize, x: Vec3<T>) {
    [out[i], out[i + 1], out[i + 2]] = x.to_array();
}

#[inline(always)]
fn put_mat<T: Real>(out: &mut [T; ARTICULATED], i: usize, m: Mat3<T>) {
    put_vec(out, i, m.x);
    put_vec(out, i + 3, m.y);
    put_vec(out, i + 6, m.z);
}

#[inline(always)]
fn put_sym<T: Real>(out: &mut [T; ARTICULATED], i: usize, s: Sym3<T>) {
    [out[i], out[i + 1], out[i + 2], out[i + 3], out[i + 4], out[i + 5]] = [s.xx, s.xy, s.xz, s.yy, s.yz, s.zz];
}
