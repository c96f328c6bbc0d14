//! Convex shapes as GJK and EPA see them: a core that a radius completes, in a frame common to a pair.

use std::cell::Cell;

use parry3d_f64::math::{Pose, Vector};
use parry3d_f64::shape::SupportMap;
use spatial::{Mat3, Vec3};

use crate::hull::Hull;
use crate::solid::{Placement, Solid};

/// Numbers below this are zero where a direction is scaled: the inverses and squares of the others are normal numbers.
const TINY: f64 = 1e-150;

/// Coordinates that GJK and EPA see are cut off here, m: their products of up to six coordinates do not overflow.
const HUGE: f64 = 1e50;

/// cos of the tilt up to which a cylinder's cap, not its side, faces a normal.
const CAP: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// A convex set that a radius completes to a shape: a capsule is a segment with a radius.
pub(super) enum Core<'a> {
    Point,
    /// Half the segment, in the world.
    Segment(Vec3<f64>),
    Ellipsoid(Vec3<f64>),
    Cylinder {
        radius: f64,
        half_length: f64,
    },
    Box(Vec3<f64>),
    Hull(&'a Hull),
    /// Corners in the world.
    Triangle([Vec3<f64>; 3]),
}

impl Core<'_> {
    /// Whether the surface has curvature that is not the radius'.
    pub fn is_curved(&self) -> bool {
        matches!(self, Self::Ellipsoid(_) | Self::Cylinder { .. })
    }
}

/// How much of a curved core is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// All.
    Exact,
    /// A polytope inscribed in it, its corners 7° from each other.
    Coarse,
    /// The same with 1°.
    Fine,
}

impl Detail {
    /// Steps from the middle of a cube's face to its border in which directions are rounded.
    fn steps(self) -> Option<f64> {
        match self {
            Self::Exact => None,
            Self::Coarse => Some(8.0),
            Self::Fine => Some(64.0),
        }
    }

    /// How deep inside a unit sphere a polytope of points at such directions is, at most.
    fn coarseness(self) -> f64 {
        match self {
            Self::Exact => 0.0,
            Self::Coarse => 0.01,
            Self::Fine => 2e-4,
        }
    }
}

/// The points of two cores between which their distance, or the least way apart, is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// Unit vector from the first core to the second.
    pub normal: Vec3<f64>,
    pub on_a: Vec3<f64>,
    pub on_b: Vec3<f64>,
}

impl Ends {
    /// The way along the normal from the first to the second; negative where they overlap.
    pub fn gap(&self) -> f64 {
        (self.on_b - self.on_a).dot(self.normal)
    }

    /// Midway between the two points.
    pub fn middle(&self) -> Vec3<f64> {
        (self.on_a + self.on_b) * 0.5
    }
}

/// A core in a common frame: the axes of the world, the origin near the pair.
pub(super) struct Placed<'a> {
    pub core: Core<'a>,
    pub radius: f64,
    pub rot: Mat3<f64>,
    pub pos: Vec3<f64>,
    /// A point inside.
    pub centre: Vec3<f64>,
    /// What GJK and EPA see in place of a curved core.
    pub detail: Cell<Detail>,
}

impl<'a> Placed<'a> {
    /// `None` for planes and height fields.
    pub fn new(solid: &'a Solid, at: &Placement, origin: Vec3<f64>) -> Option<Self> {
        let (core, radius) = match solid {
            Solid::Plane | Solid::HeightField(_) => return None,
            &Solid::Sphere { radius } => (Core::Point, radius),
            &Solid::Capsule { radius, half_length } => (Core::Segment(at.rot.z * half_length), radius),
            &Solid::Ellipsoid { radii } => (Core::Ellipsoid(radii), 0.0),
            &Solid::Cylinder { radius, half_length } => (Core::Cylinder { radius, half_length }, 0.0),
            &Solid::Box { half } => (Core::Box(half), 0.0),
            Solid::Hull(hull) => (Core::Hull(hull), 0.0),
        };
        let pos = at.pos - origin;
        let centre = if let Solid::Hull(hull) = solid { at.rot * hull.centre + pos } else { pos };
        Some(Self { core, radius, rot: at.rot, pos, centre, detail: Cell::new(Detail::Coarse) })
    }

    /// A triangle without thickness.
    pub fn triangle(corners: [Vec3<f64>; 3]) -> Placed<'static> {
        let [a, b, c] = corners;
        let centre = (a + b + c) * (1.0 / 3.0);
        let core = Core::Triangle(corners);
        Placed { core, radius: 0.0, rot: Mat3::IDENTITY, pos: Vec3::ZERO, centre, detail: Cell::new(Detail::Exact) }
    }

    /// A segment without thickness.
    pub fn segment([s, e]: [Vec3<f64>; 2]) -> Placed<'static> {
        let (core, centre) = (Core::Segment((e - s) * 0.5), (s + e) * 0.5);
        Placed { core, radius: 0.0, rot: Mat3::IDENTITY, pos: centre, centre, detail: Cell::new(Detail::Exact) }
    }

    /// A point.
    pub fn point(p: Vec3<f64>) -> Placed<'static> {
        Placed {
            core: Core::Point,
            radius: 0.0,
            rot: Mat3::IDENTITY,
            pos: p,
            centre: p,
            detail: Cell::new(Detail::Exact),
        }
    }

    /// The point of the core farthest along `d`.
    #[inline(always)]
    pub fn support(&self, d: Vec3<f64>) -> Vec3<f64> {
        self.support_by(d, |d| d, |d| d)
    }

    /// The same for a polytope inscribed in the core, which GJK and EPA work through in few iterations. No point of
    /// it is deeper inside than [`Placed::coarseness`].
    #[inline(always)]
    fn support_in_steps(&self, d: Vec3<f64>, steps: f64) -> Vec3<f64> {
        self.support_by(d, |d| rounded_on_cube(d, steps), |d| rounded_on_square(d, steps))
    }

    /// The farthest point of what GJK and EPA see.
    ///
    /// Always finite, also for directions and poses that are not: parry's GJK asserts it. (`max` and `min` drop NaN.)
    #[inline]
    #[allow(clippy::manual_clamp)] // `clamp` keeps NaN.
    pub(super) fn seen(&self, d: Vec3<f64>) -> Vec3<f64> {
        let point = match self.detail.get().steps() {
            Some(steps) => self.support_in_steps(d, steps),
            None => self.support(d),
        };
        point.map(|x| x.max(-HUGE).min(HUGE))
    }

    /// The farthest point, with directions on the unit sphere of an ellipsoid and the unit circle of a cylinder
    /// passed through a function.
    #[inline(always)]
    fn support_by(
        &self,
        d: Vec3<f64>,
        sphere: impl Fn(Vec3<f64>) -> Vec3<f64>,
        circle: impl Fn([f64; 2]) -> [f64; 2],
    ) -> Vec3<f64> {
        let local = match self.core {
            Core::Point => return self.pos,
            Core::Segment(half) => return if half.dot(d) > 0.0 { self.pos + half } else { self.pos - half },
            Core::Triangle([a, b, c]) => {
                let (x, y, z) = (a.dot(d), b.dot(d), c.dot(d));
                return if x >= y && x >= z {
                    a
                } else if y >= z {
                    b
                } else {
                    c
                };
            }
            Core::Ellipsoid(r) => {
                let d = self.rot.transpose_mul(d);
                let s = sphere(Vec3::new(d.x * r.x, d.y * r.y, d.z * r.z));
                let length = s.norm();
                let scale = if length > TINY { 1.0 / length } else { 0.0 };
                Vec3::new(s.x * r.x, s.y * r.y, s.z * r.z) * scale
            }
            Core::Cylinder { radius, half_length } => {
                let d = self.rot.transpose_mul(d);
                let [x, y] = circle([d.x, d.y]);
                let across = (x * x + y * y).sqrt();
                let scale = if across > TINY { radius / across } else { 0.0 };
                Vec3::new(x * scale, y * scale, half_length.copysign(d.z))
            }
            Core::Box(half) => {
                let d = self.rot.transpose_mul(d);
                Vec3::new(half.x.copysign(d.x), half.y.copysign(d.y), half.z.copysign(d.z))
            }
            Core::Hull(hull) => hull.support(self.rot.transpose_mul(d)),
        };
        self.rot * local + self.pos
    }

    /// How far inside the core the polytope of [`Placed::support_in_steps`] may be, m.
    pub fn coarseness(&self) -> f64 {
        self.detail.get().coarseness()
            * match self.core {
                Core::Ellipsoid(r) => r.x.max(r.y).max(r.z),
                Core::Cylinder { radius, .. } => radius,
                _ => 0.0,
            }
    }

    /// Whether the core has a flat face or a straight edge that faces the unit vector `d` within a small angle, so that the farthest point
    /// along `d` is not one of its own.
    pub(super) fn is_along(&self, d: Vec3<f64>, angle: f64) -> bool {
        match self.core {
            Core::Point | Core::Ellipsoid(_) => false,
            Core::Segment(half) => half.dot(d).abs() <= angle * half.norm(),
            Core::Triangle(_) => true,
            Core::Cylinder { .. } => {
                let d = self.rot.transpose_mul(d);
                d.z.abs() <= angle || d.x * d.x + d.y * d.y <= angle * angle
            }
            Core::Box(_) => {
                let d = self.rot.transpose_mul(d);
                d.x.abs().min(d.y.abs()).min(d.z.abs()) <= angle
            }
            Core::Hull(hull) => hull.is_along(self.rot.transpose_mul(d), angle),
        }
    }

    /// The flat feature that faces the unit vector `d`: nothing for a rounded core.
    pub(super) fn feature(&self, d: Vec3<f64>, out: &mut Vec<Vec3<f64>>) {
        out.clear();
        match self.core {
            Core::Point | Core::Ellipsoid(_) => {}
            Core::Segment(half) => out.extend([self.pos + half, self.pos - half]),
            Core::Triangle(corners) => out.extend(corners),
            Core::Cylinder { radius, half_length } => self.cylinder_feature(d, radius, half_length, out),
            Core::Box(half) => self.box_face(d, half, out),
            Core::Hull(hull) => {
                if let Some(face) = hull.facing(self.rot.transpose_mul(d)) {
                    out.extend(hull.face(face).map(|c| self.rot * c + self.pos));
                }
            }
        }
    }

    fn box_face(&self, d: Vec3<f64>, half: Vec3<f64>, out: &mut Vec<Vec3<f64>>) {
        let l = self.rot.transpose_mul(d);
        let (x, y, z) = (self.rot.x * half.x, self.rot.y * half.y, self.rot.z * half.z);
        let (face, u, v) = if l.x.abs() >= l.y.abs() && l.x.abs() >= l.z.abs() {
            (x * 1.0_f64.copysign(l.x), y, z)
        } else if l.y.abs() >= l.z.abs() {
            (y * 1.0_f64.copysign(l.y), z, x)
        } else {
            (z * 1.0_f64.copysign(l.z), x, y)
        };
        let centre = self.pos + face;
        out.extend([centre + u + v, centre - u + v, centre - u - v, centre + u - v]);
    }

    /// A cap as an octagon that turns with the body, or the line of the side nearest to `d`.
    fn cylinder_feature(&self, d: Vec3<f64>, radius: f64, half_length: f64, out: &mut Vec<Vec3<f64>>) {
        let axis = self.rot.z;
        let slope = axis.dot(d);
        if slope.abs() > CAP {
            let centre = self.pos.add_scaled(half_length.copysign(slope), axis);
            let (x, y) = (self.rot.x * radius, self.rot.y * radius);
            let (p, q) = ((x + y) * CAP, (x - y) * CAP);
            out.extend([x, p, y, -q, -x, -p, -y, q].map(|r| centre + r));
        } else {
            let across = d.add_scaled(-slope, axis);
            let foot = self.pos.add_scaled(radius / across.norm(), across);
            out.extend([foot.add_scaled(half_length, axis), foot.add_scaled(-half_length, axis)]);
        }
    }
}

impl SupportMap for Placed<'_> {
    #[inline]
    fn local_support_point(&self, d: Vector) -> Vector {
        glam(self.seen(vec3(d)))
    }

    /// Both bodies are in one frame: the transform is the identity.
    #[inline]
    fn support_point(&self, _: &Pose, d: Vector) -> Vector {
        self.local_support_point(d)
    }
}

/// The direction rounded to a grid on a cube.
#[inline(always)]
fn rounded_on_cube(d: Vec3<f64>, steps: f64) -> Vec3<f64> {
    let largest = d.x.abs().max(d.y.abs()).max(d.z.abs());
    if largest > TINY { d.map(|x| (x * (steps / largest)).round_ties_even()) } else { Vec3::ZERO }
}

/// The direction rounded to a grid on a square.
#[inline(always)]
fn rounded_on_square(d: [f64; 2], steps: f64) -> [f64; 2] {
    let largest = d[0].abs().max(d[1].abs());
    if largest > TINY { d.map(|x| (x * (steps / largest)).round_ties_even()) } else { [0.0; 2] }
}

pub(super) fn glam(v: Vec3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

pub(super) fn vec3(v: Vector) -> Vec3<f64> {
    Vec3::new(v.x, v.y, v.z)
}
