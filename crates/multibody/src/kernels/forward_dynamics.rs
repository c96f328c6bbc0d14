//! The articulated-body algorithm in three passes, with or without joint impedances (MABA).
//!
//! ```text
//! (M + Λ) v̇ = τ − C(q, v)
//! ```
//!
//! RBDA §7.3 in world axes; Λ ⪰ 0 as in (★) of [`Factor`](crate::Factor). With τ = −K_p(…) − K_d v and Λ = dt K_d it is the
//! modified algorithm of Yin and Yin, *Linear Time Stable PD Controllers* (2020), equations 30 to 46.
//!
//! A ball joint with rotational block A, coupling B and impedance K leaves, with E = (A + K)⁻¹,
//!
//! ```text
//! A' = K E A    B' = K E B    C' = C − Bᵀ E B    n' = τ − K E u    f' = f + Bᵀ E u        u = τ − n
//! ```
//!
//! Without impedance A' = B' = 0 and n' = τ: nothing cancels, and of the shift to the parent half is left.

use spatial::{F64x2, Mat3, Quat, Real, Sym3, Twist, Vec3, Wrench};

use super::packed::{HandOver, PackedNode, PackedTree};
use crate::{JointType, NO_PARENT};

/// The impedance of the joints, Λ: diagonal over the degrees of freedom.
#[derive(Clone, Copy, Debug)]
pub struct Impedance<'a, T> {
    /// The diagonal, (nv).
    pub diagonal: &'a [T],
    /// Whether the rotations of every ball and free joint have one and the same impedance: then it need not be turned. Only
    /// the first of the three is read.
    pub uniform: bool,
}

/// How arguments are told to a kernel over `T`: as `T`, or as scalars that fill all lanes alike.
pub trait Told<T>: Copy {
    /// The argument.
    fn read(self) -> T;
    /// A result.
    fn write(x: T) -> Self;
}

impl<T: Real> Told<T> for T {
    #[inline(always)]
    fn read(self) -> T {
        self
    }
    #[inline(always)]
    fn write(x: T) -> T {
        x
    }
}

impl Told<F64x2> for f64 {
    #[inline(always)]
    fn read(self) -> F64x2 {
        F64x2::splat(self)
    }
    #[inline(always)]
    fn write(x: F64x2) -> f64 {
        x.lane(0)
    }
}

#[inline(always)]
fn read3<T: Real, I: Told<T>>(x: &[I]) -> Vec3<T> {
    Vec3::new(x[0].read(), x[1].read(), x[2].read())
}

#[inline(always)]
fn write3<T: Real, I: Told<T>>(out: &mut [I], x: Vec3<T>) {
    (out[0], out[1], out[2]) = (I::write(x.x), I::write(x.y), I::write(x.z));
}

/// What the first pass leaves for the others.
#[derive(Clone, Copy, Debug)]
struct Placed<T> {
    quat: Quat<T>,
    rot: Mat3<T>,
    /// Origin less the parent's, world axes.
    offset: Vec3<T>,
    omega: Vec3<T>,
    /// The acceleration that the velocities cause: what the joint adds to the parent's when v̇ = 0.
    coriolis: Twist<T>,
}

/// What the second pass leaves for the third: E A, E B, E u of a ball joint; h, the axis, and (u/D, 1/D) of one with a single
/// degree of freedom.
#[derive(Clone, Copy, Debug)]
struct Reduced<T> {
    ea: Mat3<T>,
    eb: Mat3<T>,
    eu: Vec3<T>,
}

/// An articulated inertia \[\[a, b\], \[bᵀ, c\]\] and a bias force (n, f).
#[derive(Clone, Copy, Debug)]
struct Articulated<T> {
    a: Sym3<T>,
    b: Mat3<T>,
    c: Sym3<T>,
    bias: Wrench<T>,
}

impl<T: Real> Articulated<T> {
    const ZERO: Self = Self { a: Sym3::ZERO, b: Mat3::ZERO, c: Sym3::ZERO, bias: Wrench::ZERO };

    #[inline(always)]
    fn add(&mut self, o: &Self) {
        self.a += o.a;
        self.b = self.b + o.b;
        self.c += o.c;
        self.bias += o.bias;
    }
}

/// Scratch of forward dynamics.
#[derive(Clone, Debug, Default)]
pub struct ForwardDynamics<T> {
    placed: Vec<Placed<T>>,
    reduced: Vec<Reduced<T>>,
    store: Vec<Articulated<T>>,
    accelerations: Vec<Twist<T>>,
}

impl<T: Real> ForwardDynamics<T> {
    /// Scratch for a tree.
    pub fn new(tree: &PackedTree<T::Scalar>) -> Self {
        let n = tree.len();
        let placed = Placed {
            quat: Quat::IDENTITY,
            rot: Mat3::IDENTITY,
            offset: Vec3::ZERO,
            omega: Vec3::ZERO,
            coriolis: Twist::ZERO,
        };
        Self {
            placed: vec![placed; n],
            reduced: vec![Reduced { ea: Mat3::ZERO, eb: Mat3::ZERO, eu: Vec3::ZERO }; n],
            store: vec![Articulated::ZERO; n],
            accelerations: vec![Twist::ZERO; n],
        }
    }

    /// v̇ = M⁻¹(τ − C), at `q` (nq), `v`, `tau` (nv), in the field `gravity`.
    ///
    /// Quaternions of `q` are taken to be unit to about 1e-8; what they are off by is put right to second order.
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn aba<I: Told<T>>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        q: &[I],
        v: &[I],
        tau: &[I],
        gravity: Vec3<T>,
        acceleration: &mut [I],
    ) {
        self.place(tree, q, v);
        self.reduce::<I, false>(tree, tau, Impedance { diagonal: &[], uniform: true }, gravity);
        self.expand::<I, false>(tree, gravity, acceleration);
    }

    /// v̇ = (M + Λ)⁻¹(τ − C), as [`aba`](Self::aba).
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn maba<I: Told<T>>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        q: &[I],
        v: &[I],
        tau: &[I],
        impedance: Impedance<'_, I>,
        gravity: Vec3<T>,
        acceleration: &mut [I],
    ) {
        self.place(tree, q, v);
        self.reduce::<I, true>(tree, tau, impedance, gravity);
        self.expand::<I, true>(tree, gravity, acceleration);
    }

    /// From the roots to the leaves: placements, angular velocities, and what they do to accelerations.
    #[inline(always)]
    fn place<I: Told<T>>(&mut self, tree: &PackedTree<T::Scalar>, q: &[I], v: &[I]) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let placed = if node.parent == NO_PARENT {
                place_joint(node, Quat::IDENTITY, splat3(node.pos), Mat3::IDENTITY, Vec3::ZERO, q, v)
            } else {
                let parent = &self.placed[node.parent];
                place_joint(node, parent.quat, parent.rot * splat3(node.pos), parent.rot, parent.omega, q, v)
            };
            self.placed[i] = placed;
        }
    }

    /// From the leaves to the roots: eliminates the joints.
    #[inline(always)]
    fn reduce<I: Told<T>, const IMPEDANCE: bool>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        tau: &[I],
        impedance: Impedance<'_, I>,
        gravity: Vec3<T>,
    ) {
        let lambda = impedance.diagonal;
        let mut carried = Articulated::ZERO;
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let placed = &self.placed[i];
            let mut whole = own(node, placed);
            if node.carries {
                whole.add(&carried);
            }
            if node.gathers {
                whole.add(&self.store[i]);
            }
            let (reduced, left) = match node.joint {
                JointType::Ball if !IMPEDANCE => eliminate_ball(placed, &whole, read3(&tau[node.v..])),
                JointType::Ball if impedance.uniform => {
                    eliminate_ball_uniform(placed, &whole, read3(&tau[node.v..]), lambda[node.v].read())
                }
                JointType::Ball => {
                    eliminate_ball_impeded(placed, &whole, read3(&tau[node.v..]), read3(&lambda[node.v..]))
                }
                JointType::Free => {
                    (eliminate_free::<T, I, IMPEDANCE>(node, placed, &whole, tau, lambda, gravity), whole)
                }
                _ => {
                    let k = if IMPEDANCE { lambda[node.v].read() } else { T::ZERO };
                    eliminate_single(node, placed, &whole, tau[node.v].read(), k)
                }
            };
            self.reduced[i] = reduced;
            match node.hand_over {
                HandOver::Carry => carried = shifted::<T, IMPEDANCE>(node, &left, placed.offset),
                HandOver::Put => self.store[node.parent] = shifted::<T, IMPEDANCE>(node, &left, placed.offset),
                HandOver::Add => {
                    let left = shifted::<T, IMPEDANCE>(node, &left, placed.offset);
                    self.store[node.parent].add(&left);
                }
                HandOver::Drop => {}
            }
        }
    }

    /// From the roots to the leaves: accelerations.
    #[inline(always)]
    fn expand<I: Told<T>, const IMPEDANCE: bool>(
        &mut self,
        tree: &PackedTree<T::Scalar>,
        gravity: Vec3<T>,
        acceleration: &mut [I],
    ) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let (placed, reduced) = (&self.placed[i], &self.reduced[i]);
            // An accelerated world is a world with gravity.
            let base = if node.parent == NO_PARENT {
                Twist { ang: Vec3::ZERO, lin: -gravity }
            } else {
                self.accelerations[node.parent]
            };
            let v = node.v;
            let carried = base.shifted(placed.offset) + placed.coriolis;
            self.accelerations[i] = match node.joint {
                JointType::Ball => {
                    let by_shift = reduced.eu - reduced.eb * carried.lin;
                    let (turn, ang) = if IMPEDANCE {
                        let turn = by_shift - reduced.ea * carried.ang;
                        (turn, carried.ang + turn)
                    } else {
                        // E A = 1: the parent's rotation does not turn the child.
                        (by_shift - carried.ang, by_shift)
                    };
                    write3(&mut acceleration[v..], placed.rot.transpose_mul(turn));
                    Twist { ang, lin: carried.lin }
                }
                JointType::Free => {
                    let (lin, ang) = (reduced.eu, reduced.ea.x);
                    write3(&mut acceleration[v..], lin);
                    write3(&mut acceleration[v + 3..], placed.rot.transpose_mul(ang));
                    Twist { ang, lin: lin - gravity }
                }
                _ => {
                    let (h, s) = (Wrench { ang: reduced.ea.x, lin: reduced.ea.y }, reduced.ea.z);
                    let x = reduced.eu.x - reduced.eu.y * carried.dot(h);
                    acceleration[v] = I::write(x);
                    carried + joint_motion(node, s) * x
                }
            };
        }
    }
}

#[inline(always)]
fn splat3<T: Real>(x: Vec3<T::Scalar>) -> Vec3<T> {
    Vec3::new(T::splat(x.x), T::splat(x.y), T::splat(x.z))
}

#[inline(always)]
fn splat_sym<T: Real>(s: Sym3<T::Scalar>) -> Sym3<T> {
    Sym3 {
        xx: T::splat(s.xx),
        xy: T::splat(s.xy),
        xz: T::splat(s.xz),
        yy: T::splat(s.yy),
        yz: T::splat(s.yz),
        zz: T::splat(s.zz),
    }
}

/// The quaternion at the head of `q`, made unit to second order in what it is off by.
#[inline(always)]
fn near_unit<T: Real, I: Told<T>>(q: &[I]) -> Quat<T> {
    let (w, v) = (q[0].read(), read3(&q[1..]));
    let s = w.mul_add(w, v.norm_squared()).mul_add(T::from_f64(-0.5), T::from_f64(1.5));
    Quat::new(w * s, v.x * s, v.y * s, v.z * s)
}

#[inline(always)]
fn place_joint<T: Real, I: Told<T>>(
    node: &PackedNode<T::Scalar>,
    parent: Quat<T>,
    mut offset: Vec3<T>,
    parent_rot: Mat3<T>,
    parent_omega: Vec3<T>,
    q: &[I],
    v: &[I],
) -> Placed<T> {
    let base = if node.turned {
        let r = node.rot;
        parent * Quat::new(T::splat(r.w), T::splat(r.x), T::splat(r.y), T::splat(r.z))
    } else {
        parent
    };
    match node.joint {
        JointType::Ball => {
            let quat = base * near_unit(&q[node.q..]);
            let rot = quat.to_mat3();
            let own = rot * read3(&v[node.v..]);
            let coriolis = Twist { ang: parent_omega.cross(own), lin: centripetal(parent_omega, offset) };
            Placed { quat, rot, offset, omega: parent_omega + own, coriolis }
        }
        JointType::Free => {
            let quat = near_unit(&q[node.q + 3..]);
            let rot = quat.to_mat3();
            let omega = rot * read3(&v[node.v + 3..]);
            Placed { quat, rot, offset: read3(&q[node.q..]), omega, coriolis: Twist::ZERO }
        }
        JointType::Revolute | JointType::Screw => {
            // No closures here: what is not inlined at once does not know of the widest instructions.
            let angle = q[node.q].read() - T::splat(node.q_ref);
            let quat = base * Quat::of_turn(splat3::<T>(node.axis), angle);
            let rot = quat.to_mat3();
            let axis = rot * splat3::<T>(node.axis);
            let rate = v[node.v].read();
            let own = axis * rate;
            let mut coriolis = Twist { ang: parent_omega.cross(own), lin: Vec3::ZERO };
            if node.joint == JointType::Screw {
                let pitch = T::splat(node.pitch);
                offset = offset.add_scaled(angle * pitch, axis);
                coriolis.lin = coriolis.ang * (pitch + pitch);
            }
            coriolis.lin += centripetal(parent_omega, offset);
            Placed { quat, rot, offset, omega: parent_omega + own, coriolis }
        }
        JointType::Prismatic => {
            let rot = if node.turned { base.to_mat3() } else { parent_rot };
            let axis = rot * splat3::<T>(node.axis);
            offset = offset.add_scaled(q[node.q].read() - T::splat(node.q_ref), axis);
            let rate = v[node.v].read();
            let lin = parent_omega.cross(axis) * (rate + rate) + centripetal(parent_omega, offset);
            Placed { quat: base, rot, offset, omega: parent_omega, coriolis: Twist { ang: Vec3::ZERO, lin } }
        }
    }
}

/// What a point at `r` is accelerated by in a frame that turns steadily.
#[inline(always)]
fn centripetal<T: Real>(omega: Vec3<T>, r: Vec3<T>) -> Vec3<T> {
    omega.cross(omega.cross(r))
}

/// The node's own inertia about its origin, and its gyroscopic force. Added to what the children left, not the other way
/// round: measured faster than adding in place, though zeros are added.
#[inline(always)]
fn own<T: Real>(node: &PackedNode<T::Scalar>, placed: &Placed<T>) -> Articulated<T> {
    let (rot, omega) = (placed.rot, placed.omega);
    let a = splat_sym::<T>(node.inertia).rotated(rot);
    let moment = rot * splat3::<T>(node.moment);
    let m = T::splat(node.mass);
    let bias = Wrench { ang: omega.cross(a * omega), lin: centripetal(omega, moment) };
    Articulated { a, b: Mat3::skew(moment), c: Sym3::diagonal(Vec3::new(m, m, m)), bias }
}

/// The motion of a joint with one degree of freedom at unit rate.
#[inline(always)]
fn joint_motion<T: Real>(node: &PackedNode<T::Scalar>, axis: Vec3<T>) -> Twist<T> {
    match node.joint {
        JointType::Prismatic => Twist { ang: Vec3::ZERO, lin: axis },
        JointType::Screw => Twist { ang: axis, lin: axis * T::splat(node.pitch) },
        _ => Twist { ang: axis, lin: Vec3::ZERO },
    }
}

#[inline(always)]
fn eliminate_single<T: Real>(
    node: &PackedNode<T::Scalar>,
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: T,
    lambda: T,
) -> (Reduced<T>, Articulated<T>) {
    let Articulated { a, b, c, bias } = *whole;
    let axis = placed.rot * splat3::<T>(node.axis);
    let (h, d, along) = match node.joint {
        JointType::Prismatic => {
            let h = Wrench { ang: b * axis, lin: c * axis };
            (h, axis.dot(h.lin), axis.dot(bias.lin))
        }
        JointType::Screw => {
            let s = joint_motion(node, axis);
            let h = Wrench { ang: a * s.ang + b * s.lin, lin: b.transpose_mul(s.ang) + c * s.lin };
            (h, s.dot(h), s.dot(bias))
        }
        _ => {
            let h = Wrench { ang: a * axis, lin: b.transpose_mul(axis) };
            (h, axis.dot(h.ang), axis.dot(bias.ang))
        }
    };
    let d_inv = (d + lambda).recip();
    let eu = (tau - along) * d_inv;
    let (ha, hl) = (h.ang * d_inv, h.lin * d_inv);
    let mut left = Articulated {
        a: a - Sym3::lower(Mat3::outer(ha, h.ang)),
        b: b - Mat3::outer(ha, h.lin),
        c: c - Sym3::lower(Mat3::outer(hl, h.lin)),
        bias,
    };
    let w = placed.coriolis;
    left.bias.ang += h.ang * eu + left.a * w.ang + left.b * w.lin;
    left.bias.lin += h.lin * eu + left.b.transpose_mul(w.ang) + left.c * w.lin;
    let reduced =
        Reduced { ea: Mat3::from_columns(h.ang, h.lin, axis), eb: Mat3::ZERO, eu: Vec3::new(eu, d_inv, T::ZERO) };
    (reduced, left)
}

#[inline(always)]
fn eliminate_ball<T: Real>(placed: &Placed<T>, whole: &Articulated<T>, tau: Vec3<T>) -> (Reduced<T>, Articulated<T>) {
    let Articulated { a, b, c, bias } = *whole;
    let tau = placed.rot * tau;
    let u = tau - bias.ang;
    let e = a.inverse();
    let (eb, eu) = (e * b, e * u);
    let c = c - transpose_times(b, eb);
    let lin = bias.lin + eb.transpose_mul(u) + c * placed.coriolis.lin;
    let left = Articulated { a: Sym3::ZERO, b: Mat3::ZERO, c, bias: Wrench { ang: tau, lin } };
    (Reduced { ea: Mat3::ZERO, eb, eu }, left)
}

/// With the impedance `k` about all axes.
#[inline(always)]
fn eliminate_ball_uniform<T: Real>(
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: Vec3<T>,
    k: T,
) -> (Reduced<T>, Articulated<T>) {
    let Articulated { a, b, .. } = *whole;
    let e = Sym3 { xx: a.xx + k, yy: a.yy + k, zz: a.zz + k, ..a }.inverse();
    let m = a.to_mat3();
    // E is a function of A: the product is symmetric.
    let ea = transpose_times(e.to_mat3(), m);
    let eb = e * b;
    let scaled = Mat3::from_columns(eb.x * k, eb.y * k, eb.z * k);
    let tau = placed.rot * tau;
    let eu = e * (tau - whole.bias.ang);
    let left = leave_ball(placed, whole, scale(ea, k), scaled, eb, tau - eu * k, tau);
    (Reduced { ea: ea.to_mat3(), eb, eu }, left)
}

/// With an impedance of its own about every axis of the child.
#[inline(always)]
fn eliminate_ball_impeded<T: Real>(
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: Vec3<T>,
    k: Vec3<T>,
) -> (Reduced<T>, Articulated<T>) {
    let Articulated { a, b, .. } = *whole;
    let k = Sym3::diagonal(k).rotated(placed.rot);
    let e = (a + k).inverse();
    let tau = placed.rot * tau;
    let (ea, eb, eu) = (e * a.to_mat3(), e * b, e * (tau - whole.bias.ang));
    let left = leave_ball(placed, whole, Sym3::lower(k * ea), k * eb, eb, tau - k * eu, tau);
    (Reduced { ea, eb, eu }, left)
}

/// What a ball joint leaves: A' = K E A, B' = K E B, n' = τ − K E u, and C' and f' from E B and τ.
#[inline(always)]
fn leave_ball<T: Real>(
    placed: &Placed<T>,
    whole: &Articulated<T>,
    a: Sym3<T>,
    b: Mat3<T>,
    eb: Mat3<T>,
    n: Vec3<T>,
    tau: Vec3<T>,
) -> Articulated<T> {
    let w = placed.coriolis;
    let c = whole.c - transpose_times(whole.b, eb);
    let u = tau - whole.bias.ang;
    let ang = n + a * w.ang + b * w.lin;
    let lin = whole.bias.lin + eb.transpose_mul(u) + b.transpose_mul(w.ang) + c * w.lin;
    Articulated { a, b, c, bias: Wrench { ang, lin } }
}

#[inline(always)]
fn scale<T: Real>(s: Sym3<T>, k: T) -> Sym3<T> {
    Sym3 { xx: s.xx * k, xy: s.xy * k, xz: s.xz * k, yy: s.yy * k, yz: s.yz * k, zz: s.zz * k }
}

/// bᵀ x where that is symmetric: the lower triangle alone.
#[inline(always)]
fn transpose_times<T: Real>(b: Mat3<T>, x: Mat3<T>) -> Sym3<T> {
    Sym3 { xx: b.x.dot(x.x), xy: b.y.dot(x.x), xz: b.z.dot(x.x), yy: b.y.dot(x.y), yz: b.z.dot(x.y), zz: b.z.dot(x.z) }
}

/// The acceleration of a free joint: linear in `eu`, angular in the first column of `ea`.
#[inline(always)]
fn eliminate_free<T: Real, I: Told<T>, const IMPEDANCE: bool>(
    node: &PackedNode<T::Scalar>,
    placed: &Placed<T>,
    whole: &Articulated<T>,
    tau: &[I],
    lambda: &[I],
    gravity: Vec3<T>,
) -> Reduced<T> {
    let Articulated { mut a, b, mut c, bias } = *whole;
    // What the weight of everything does, in place of the base's acceleration −g: Λ acts on v̇ alone.
    let force = read3(&tau[node.v..]) - bias.lin + c * gravity;
    let torque = placed.rot * read3(&tau[node.v + 3..]) - bias.ang + b * gravity;
    if IMPEDANCE {
        c += Sym3::diagonal(read3(&lambda[node.v..]));
        a += Sym3::diagonal(read3(&lambda[node.v + 3..])).rotated(placed.rot);
    }
    let c_inv = c.inverse();
    let cb = c_inv * b.transpose();
    let e = (a - transpose_times(b.transpose(), cb)).inverse();
    let ang = e * (torque - b * (c_inv * force));
    let lin = c_inv * (force - b.transpose_mul(ang));
    Reduced { ea: Mat3::from_columns(ang, Vec3::ZERO, Vec3::ZERO), eb: Mat3::ZERO, eu: lin }
}

/// The articulated inertia and bias force about the parent's origin, which lies `r` before.
#[inline(always)]
fn shifted<T: Real, const IMPEDANCE: bool>(
    node: &PackedNode<T::Scalar>,
    left: &Articulated<T>,
    r: Vec3<T>,
) -> Articulated<T> {
    let Articulated { a, b, c, bias } = *left;
    let bias = Wrench { ang: bias.ang + r.cross(bias.lin), lin: bias.lin };
    let m = c.to_mat3();
    let rc = Mat3::from_columns(r.cross(m.x), r.cross(m.y), r.cross(m.z));
    if !IMPEDANCE && node.joint == JointType::Ball {
        // r̂ c r̂ᵀ: row i of it is r × (row i of r̂c).
        return Articulated { a: rows_crossed(r, rc), b: rc, c, bias };
    }
    // a' = a + r̂ bᵀ + b' r̂ᵀ with b' = b + r̂ c; both products' sum is symmetric.
    let b_shifted = b + rc;
    let t = b.transpose();
    let rb = Mat3::from_columns(r.cross(t.x), r.cross(t.y), r.cross(t.z));
    let a = a + Sym3::lower(rb) + rows_crossed(r, b_shifted);
    Articulated { a, b: b_shifted, c, bias }
}

/// The lower triangle of m r̂ᵀ, whose rows are r × the rows of m.
#[inline(always)]
fn rows_crossed<T: Real>(r: Vec3<T>, m: Mat3<T>) -> Sym3<T> {
    let t = m.transpose();
    let (x, y, z) = (r.cross(t.x), r.cross(t.y), r.cross(t.z));
    Sym3 { xx: x.x, xy: y.x, xz: z.x, yy: y.y, yz: z.y, zz: z.z }
}
