//! Articulated inertias whose couplings are rows in registers.
//!
//! The products that eliminate a joint, E B, Bᵀ E B, r̂ C, are then sums of three rows: 9, 9 and 6 instructions for 27, 18 and 18
//! in scalars. What is inverted, A, stays in scalars, in all lanes alike, so that nothing waits for a number to come from
//! another lane but what the shift to the parent takes of rows.

use spatial::{Mat3, Real, Sym3, Twist, Vec3, Wrench};

use crate::JointType;
use crate::kernels::articulated::{
    Articulated, JointDrive, accelerate, accelerate_impeded, joint_motion, scale, times_eliminated,
};
use crate::kernels::broadcast::{Coordinates, read_vec};
use crate::kernels::fused::{plus_cross, plus_outer_sym, plus_product, plus_sym};
use crate::kernels::packed::PackedNode;
use crate::wide::{Wide, fill, unit};

/// A 3×3 matrix by rows.
type Rows = [Wide; 3];

/// An articulated inertia \[\[a, b\], \[bᵀ, c\]\] and a bias force (n, f): a and n in all lanes alike, f a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    a: Sym3<Wide>,
    b: Rows,
    c: Rows,
    n: Vec3<Wide>,
    f: Wide,
}

/// The force of a joint, and its impedance.
pub(super) type Drive<'a> = JointDrive<&'a [f64]>;

/// What the way up leaves for the way down, as in the other kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduced {
    /// E B of a ball joint; of one with a single degree of freedom the linear part of h, first.
    eb: Rows,
    /// E A by columns; the angular part of h and the axis; the angular acceleration of a free joint.
    ea: [f64; 9],
    /// E u; u/D and 1/D; the linear acceleration.
    eu: [f64; 3],
    /// What is missing in the products with E.
    scale: f64,
}

/// One number of a row.
#[inline(always)]
fn entry(rows: &Rows, i: usize, j: usize) -> Wide {
    Wide::splat(Wide::scalars(rows)[i * Wide::LANES + j])
}

/// All numbers of rows, in all lanes alike.
#[inline(always)]
fn spread(row: Wide) -> Vec3<Wide> {
    Vec3::new(fill::<0>(row), fill::<1>(row), fill::<2>(row))
}

/// A number from all lanes.
#[inline(always)]
fn narrow(v: Vec3<Wide>) -> [f64; 3] {
    v.map(|x| x.lane(0)).to_array()
}

#[inline(always)]
fn by_columns(m: Mat3<Wide>) -> [f64; 9] {
    let ([a, b, c], [d, e, f], [g, h, i]) = (narrow(m.x), narrow(m.y), narrow(m.z));
    [a, b, c, d, e, f, g, h, i]
}

#[inline(always)]
fn splat(x: f64, y: f64, z: f64) -> Vec3<Wide> {
    Vec3::new(Wide::splat(x), Wide::splat(y), Wide::splat(z))
}

/// x + Σ vₖ rowₖ: of a matrix by rows the transpose times v.
#[inline(always)]
fn plus_rows(x: Wide, v: Vec3<Wide>, rows: &Rows) -> Wide {
    v.z.mul_add(rows[2], v.y.mul_add(rows[1], v.x.mul_add(rows[0], x)))
}

/// The same without x.
#[inline(always)]
fn times_rows(v: Vec3<Wide>, rows: &Rows) -> Wide {
    v.z.mul_add(rows[2], v.y.mul_add(rows[1], v.x * rows[0]))
}

/// s m.
#[inline(always)]
fn sym_times_rows(s: Sym3<Wide>, m: &Rows) -> Rows {
    [
        times_rows(Vec3::new(s.xx, s.xy, s.xz), m),
        times_rows(Vec3::new(s.xy, s.yy, s.yz), m),
        times_rows(Vec3::new(s.xz, s.yz, s.zz), m),
    ]
}

/// r̂ m.
#[inline(always)]
fn crossed(r: Vec3<Wide>, m: &Rows) -> Rows {
    [r.y.mul_add(m[2], -(r.z * m[1])), r.z.mul_add(m[0], -(r.x * m[2])), r.x.mul_add(m[1], -(r.y * m[0]))]
}

impl Reduced {
    /// Nothing yet.
    pub const ZERO: Self = Self { eb: [Wide::ZERO; 3], ea: [0.0; 9], eu: [0.0; 3], scale: 0.0 };

    /// E u.
    #[inline(always)]
    pub fn eu(&self) -> Vec3<Wide> {
        let [x, y, z] = self.eu;
        splat(x, y, z)
    }

    /// E A.
    #[inline(always)]
    pub fn ea(&self) -> Mat3<Wide> {
        let [a, b, c, d, e, f, g, h, i] = self.ea;
        Mat3::from_columns(splat(a, b, c), splat(d, e, f), splat(g, h, i))
    }

    /// x − E B lin, of a ball joint, all scaled.
    #[inline(always)]
    pub fn turn(&self, x: Vec3<Wide>, lin: Vec3<Wide>) -> Vec3<Wide> {
        let eb = &self.eb;
        let columns = Mat3::from_columns(
            Vec3::new(entry(eb, 0, 0), entry(eb, 1, 0), entry(eb, 2, 0)),
            Vec3::new(entry(eb, 0, 1), entry(eb, 1, 1), entry(eb, 2, 1)),
            Vec3::new(entry(eb, 0, 2), entry(eb, 1, 2), entry(eb, 2, 2)),
        );
        plus_product(x, columns, -lin) * Wide::splat(self.scale)
    }

    /// The acceleration of a free joint, angular and linear.
    #[inline(always)]
    pub fn free(&self) -> (Vec3<Wide>, Vec3<Wide>) {
        let [x, y, z, ..] = self.ea;
        (splat(x, y, z), self.eu())
    }

    /// The acceleration of a joint with a single degree of freedom whose parent's end moves with `base`.
    #[inline(always)]
    pub fn rate(&self, base: Twist<Wide>) -> Wide {
        let [x, y, z, ..] = self.ea;
        let h = Wrench {
            ang: splat(x, y, z),
            lin: Vec3::new(entry(&self.eb, 0, 0), entry(&self.eb, 0, 1), entry(&self.eb, 0, 2)),
        };
        let [eu, d_inv, _] = self.eu;
        Wide::splat(eu) - Wide::splat(d_inv) * base.dot(h)
    }

    /// Its motion at unit rate.
    #[inline(always)]
    pub fn motion(&self, node: &PackedNode<f64>) -> Twist<Wide> {
        let [_, _, _, x, y, z, ..] = self.ea;
        joint_motion(node.joint, &node.constants, splat(x, y, z))
    }
}

impl Whole {
    /// Nothing.
    pub const ZERO: Self = Self { a: Sym3::ZERO, b: [Wide::ZERO; 3], c: [Wide::ZERO; 3], n: Vec3::ZERO, f: Wide::ZERO };

    /// With a rigid inertia (rotational, moment, mass) and a bias force.
    #[inline(always)]
    pub fn with(&self, inertia: Sym3<Wide>, h: Vec3<Wide>, m: Wide, bias: Wrench<Wide>) -> Self {
        let Self { a, b: [b0, b1, b2], c: [c0, c1, c2], n, f } = *self;
        let (x, y, z) = (unit(0), unit(1), unit(2));
        Self {
            a: a + inertia,
            b: [
                h.y.mul_add(z, (-h.z).mul_add(y, b0)),
                h.z.mul_add(x, (-h.x).mul_add(z, b1)),
                h.x.mul_add(y, (-h.y).mul_add(x, b2)),
            ],
            c: [m.mul_add(x, c0), m.mul_add(y, c1), m.mul_add(z, c2)],
            n: n + bias.ang,
            f: plus_rows(f, bias.lin, &[x, y, z]),
        }
    }

    /// Adds another about the same point.
    #[inline(always)]
    pub fn add(&mut self, o: &Self) {
        self.a += o.a;
        for k in 0..3 {
            self.b[k] += o.b[k];
            self.c[k] += o.c[k];
        }
        self.n += o.n;
        self.f += o.f;
    }

    /// Eliminates a ball joint without impedance, torque `tau` in world axes, `r` from the parent, whose velocity accelerates it by
    /// `w`. Of what is left the parent's point of view is known at once: about the joint nothing but C.
    #[inline(always)]
    pub fn eliminate_ball(
        &self,
        tau: Vec3<Wide>,
        (r, w): (Vec3<Wide>, Vec3<Wide>),
        out: &mut Reduced,
        left: &mut Self,
    ) {
        let Self { a, b, c, n, f } = *self;
        let u = tau - n;
        let (adjugate, det) = a.adjugate();
        let s = det.recip();
        let (eb, eu) = (sym_times_rows(adjugate, &b), adjugate * u);
        (out.eb, out.eu, out.scale) = (eb, narrow(eu), s.lane(0));
        let c = minus_products(&c, s, &b.map(spread), &eb);
        let f = plus_rows(s.mul_add(times_rows(u, &eb), f), w, &c);
        let b = crossed(r, &c);
        let [x, y, z] = b.map(spread);
        // r̂ c r̂ᵀ: the rows of r̂ c crossed.
        let a = Sym3 {
            xx: r.y.mul_add(x.z, -(r.z * x.y)),
            xy: r.z.mul_add(x.x, -(r.x * x.z)),
            xz: r.x.mul_add(x.y, -(r.y * x.x)),
            yy: r.z.mul_add(y.x, -(r.x * y.z)),
            yz: r.x.mul_add(y.y, -(r.y * y.x)),
            zz: r.x.mul_add(z.y, -(r.y * z.x)),
        };
        *left = Self { a, b, c, n: plus_cross(tau, r, spread(f)), f };
    }

    /// With the impedance alike about all axes: see `eliminate_ball_uniform` of the other kernels.
    #[inline(always)]
    pub fn eliminate_ball_uniform(
        &self,
        tau: Vec3<Wide>,
        (r, w): (Vec3<Wide>, Twist<Wide>),
        drive: Drive<'_>,
        out: &mut Reduced,
        left: &mut Self,
    ) {
        let Self { a, b, c, n, f } = *self;
        let k = Wide::splat(drive.lambda[0]);
        let columns = b.map(spread);
        let u = minus_motion(tau - n, (a, &columns), w);
        let (e, det) = Sym3 { xx: a.xx + k, yy: a.yy + k, zz: a.zz + k, ..a }.adjugate();
        let s = det.recip();
        let (eb, eu) = (sym_times_rows(e, &b), e * u);
        let ea = times_eliminated(e, a, k);
        *out = Reduced { eb, ea: by_columns(ea.to_mat3()), eu: narrow(eu), scale: s.lane(0) };
        let ks = k * s;
        let f = s.mul_add(times_rows(u, &eb), plus_rows(plus_rows(f, w.lin, &c), w.ang, &b));
        let c = minus_products(&c, s, &columns, &eb);
        let rest = Self { a: scale(ea, ks), b: eb.map(|row| row * ks), c, n: tau.add_scaled(-ks, eu), f };
        *left = rest.shifted(r);
    }

    /// With an impedance of its own about every axis of the child, whose orientation is `rot`.
    #[inline(always)]
    pub fn eliminate_ball_impeded(
        &self,
        tau: Vec3<Wide>,
        rot: Mat3<Wide>,
        (r, w): (Vec3<Wide>, Twist<Wide>),
        drive: Drive<'_>,
        out: &mut Reduced,
        left: &mut Self,
    ) {
        let Self { a, b, c, n, f } = *self;
        let k = Sym3::diagonal(drive.lambda.read3()).rotated(rot);
        let columns = b.map(spread);
        let u = minus_motion(tau - n, (a, &columns), w);
        let e = (a + k).inverse();
        let (ea, eb, eu) = (e * a.to_mat3(), sym_times_rows(e, &b), e * u);
        *out = Reduced { eb, ea: by_columns(ea), eu: narrow(eu), scale: 1.0 };
        let f = plus_rows(plus_rows(f, w.lin, &c), w.ang + eu, &b);
        let c = minus_products(&c, Wide::ONE, &columns, &eb);
        let rest = Self { a: Sym3::lower(k * ea), b: sym_times_rows(k, &eb), c, n: plus_sym(tau, k, -eu), f };
        *left = rest.shifted(r);
    }

    /// Eliminates a joint with a single degree of freedom.
    #[inline(always)]
    pub fn eliminate_single<const IMPEDANCE: bool>(
        &self,
        node: &PackedNode<f64>,
        axis: Vec3<Wide>,
        (r, w): (Vec3<Wide>, Twist<Wide>),
        drive: Drive<'_>,
        out: &mut Reduced,
        left: &mut Self,
    ) {
        let Self { a, b, c, n, f } = *self;
        let columns = b.map(spread);
        let n = -minus_motion(-n, (a, &columns), w);
        let f = plus_rows(plus_rows(f, w.lin, &c), w.ang, &b);
        let motion = joint_motion(node.joint, &node.constants, axis);
        let (h, d, along) = match node.joint {
            JointType::Prismatic => {
                let h = (coupled(Vec3::ZERO, &columns, axis), times_rows(axis, &c));
                (h, axis.dot(spread(h.1)), axis.dot(spread(f)))
            }
            JointType::Screw => {
                let h = (coupled(a * axis, &columns, motion.lin), plus_rows(times_rows(axis, &b), motion.lin, &c));
                let whole = Wrench { ang: h.0, lin: spread(h.1) };
                (h, motion.dot(whole), motion.dot(Wrench { ang: n, lin: spread(f) }))
            }
            JointType::Revolute | JointType::Ball | JointType::Free => {
                ((a * axis, times_rows(axis, &b)), axis.dot(a * axis), axis.dot(n))
            }
        };
        let d = if IMPEDANCE { d + Wide::splat(drive.lambda[0]) } else { d };
        let d_inv = d.recip();
        let eu = (Wide::splat(drive.tau[0]) - along) * d_inv;
        let ([x, y, z], [p, q, t]) = (narrow(h.0), narrow(axis));
        *out = Reduced {
            eb: [h.1, Wide::ZERO, Wide::ZERO],
            ea: [x, y, z, p, q, t, 0.0, 0.0, 0.0],
            eu: [eu.lane(0), d_inv.lane(0), 0.0],
            scale: 1.0,
        };
        let (ha, hl) = (h.0 * -d_inv, spread(h.1 * -d_inv));
        let rest = Self {
            a: plus_outer_sym(a, ha, h.0),
            b: [ha.x.mul_add(h.1, b[0]), ha.y.mul_add(h.1, b[1]), ha.z.mul_add(h.1, b[2])],
            c: [hl.x.mul_add(h.1, c[0]), hl.y.mul_add(h.1, c[1]), hl.z.mul_add(h.1, c[2])],
            n: n.add_scaled(eu, h.0),
            f: eu.mul_add(h.1, f),
        };
        *left = rest.shifted(r);
    }

    /// The acceleration of a free joint whose node has the orientation `rot`.
    #[inline(always)]
    pub fn eliminate_free<const IMPEDANCE: bool>(
        &self,
        rot: Mat3<Wide>,
        drive: Drive<'_>,
        gravity: Vec3<f64>,
        out: &mut Reduced,
    ) {
        let [x, y, z] = self.c.map(spread);
        let whole = Articulated {
            a: self.a,
            b: {
                let [p, q, t] = self.b.map(spread);
                Mat3::from_columns(p, q, t).transpose()
            },
            c: Sym3 { xx: x.x, xy: x.y, xz: x.z, yy: y.y, yz: y.z, zz: z.z },
            bias: Wrench { ang: self.n, lin: spread(self.f) },
        };
        let (tau, gravity) = (drive.tau.read(), read_vec(gravity));
        let (ang, lin) = if IMPEDANCE {
            accelerate_impeded(rot, &whole, tau, (drive.lambda.read(), drive.uniform), gravity)
        } else {
            accelerate(rot, &whole, tau, gravity)
        };
        let [x, y, z] = narrow(ang);
        out.ea = [x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        out.eu = narrow(lin);
    }

    /// About the parent's origin, which lies `r` before.
    #[inline(always)]
    fn shifted(self, r: Vec3<Wide>) -> Self {
        let Self { a, b, c, n, f } = self;
        // With g = b + r̂ c / 2, a' = a + g r̂ᵀ + (g r̂ᵀ)ᵀ: half as many numbers are spread as of b and b'. Rows of g r̂ᵀ are r
        // crossed with rows.
        let (half, shift) = (Wide::splat(0.5), crossed(r, &c));
        let [x, y, z] = [0, 1, 2].map(|k| half.mul_add(shift[k], b[k])).map(spread);
        let twice = r + r;
        let a = Sym3 {
            xx: twice.y.mul_add(x.z, (-twice.z).mul_add(x.y, a.xx)),
            xy: r.z.mul_add(x.x, (-r.x).mul_add(x.z, r.y.mul_add(y.z, (-r.z).mul_add(y.y, a.xy)))),
            xz: r.x.mul_add(x.y, (-r.y).mul_add(x.x, r.y.mul_add(z.z, (-r.z).mul_add(z.y, a.xz)))),
            yy: twice.z.mul_add(y.x, (-twice.x).mul_add(y.z, a.yy)),
            yz: r.x.mul_add(y.y, (-r.y).mul_add(y.x, r.z.mul_add(z.x, (-r.x).mul_add(z.z, a.yz)))),
            zz: twice.x.mul_add(z.y, (-twice.y).mul_add(z.x, a.zz)),
        };
        let b = [b[0] + shift[0], b[1] + shift[1], b[2] + shift[2]];
        Self { a, b, c, n: plus_cross(n, r, spread(f)), f }
    }
}

/// c − s bᵀ x where that is symmetric, b by rows of numbers in all lanes alike.
#[inline(always)]
fn minus_products(c: &Rows, s: Wide, [x, y, z]: &[Vec3<Wide>; 3], eb: &Rows) -> Rows {
    [
        (-s).mul_add(times_rows(Vec3::new(x.x, y.x, z.x), eb), c[0]),
        (-s).mul_add(times_rows(Vec3::new(x.y, y.y, z.y), eb), c[1]),
        (-s).mul_add(times_rows(Vec3::new(x.z, y.z, z.z), eb), c[2]),
    ]
}

/// x + b v, b by rows of numbers in all lanes alike.
#[inline(always)]
fn coupled(x: Vec3<Wide>, [p, q, t]: &[Vec3<Wide>; 3], v: Vec3<Wide>) -> Vec3<Wide> {
    plus_product(x, Mat3::from_columns(*p, *q, *t).transpose(), v)
}

/// x − a ω − b v.
#[inline(always)]
fn minus_motion(x: Vec3<Wide>, (a, b): (Sym3<Wide>, &[Vec3<Wide>; 3]), w: Twist<Wide>) -> Vec3<Wide> {
    coupled(plus_sym(x, a, -w.ang), b, -w.lin)
}
