//! The shortest way of a string past a sphere or a cylinder.
//!
//! The string lies in a plane: that through both ends and the centre of a sphere, or across the axis of a cylinder, along which it climbs
//! evenly. There it is a problem about a circle about the origin. Conventions are those of MuJoCo 4.

use spatial::{Mat3, Pose, Vec3};

use super::Obstacle;

/// What a string may wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ObstacleShape {
    /// A sphere.
    Sphere,
    /// A cylinder along z without ends.
    Cylinder,
}

/// Where a string lies on an obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrap {
    /// Where it comes and where it leaves, world, m.
    pub points: [Vec3<f64>; 2],
    /// Its length between them, m.
    pub length: f64,
}

/// A vector of the plane of the circle.
type Planar = [f64; 2];

/// Lengths (m), and squares of them, that count as none.
const NONE: f64 = 1e-15;

/// Angles below zero by less than this are zero, rad.
const ROUND_OFF: f64 = 1e-9;

/// Where an obstacle is, in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Its axes.
    pub axes: Mat3<f64>,
    /// Its centre, m.
    pub origin: Vec3<f64>,
}

/// A surface about the origin of its frame; the axis of a cylinder is z.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub shape: ObstacleShape,
    /// m.
    pub radius: f64,
}

impl Round {
    /// How a string from one of the `ends` to the other lies on it; none where it passes by. All points in the world.
    pub fn wrap(&self, frame: &Frame, ends: [Vec3<f64>; 2], side: Option<Vec3<f64>>) -> Option<Wrap> {
        let to_local = |point: Vec3<f64>| frame.axes.transpose_mul(point - frame.origin);
        let [a, b] = ends.map(to_local);
        if a.norm_squared() < NONE * NONE || b.norm_squared() < NONE * NONE || self.radius < NONE {
            return None;
        }
        let (x, y) = match self.shape {
            ObstacleShape::Sphere => plane_of(a, b),
            ObstacleShape::Cylinder => (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)),
        };
        let planar = |point: Vec3<f64>| match self.shape {
            ObstacleShape::Sphere => [point.dot(x), point.dot(y)],
            ObstacleShape::Cylinder => [point.x, point.y],
        };
        let ends = [planar(a), planar(b)];
        let touch = match side.map(to_local) {
            Some(side) if side.norm_squared() < self.radius * self.radius => {
                let point = inside(ends, self.radius)?;
                Touch { points: [point, point], length: 0.0 }
            }
            side => outside(ends, side.map(planar), self.radius)?,
        };
        let [mut first, mut second] = touch.points.map(|[u, v]| x * u + y * v);
        let mut length = touch.length;
        if self.shape == ObstacleShape::Cylinder {
            let [before, after] = [0, 1].map(|k| norm(minus(ends[k], touch.points[k])));
            let slope = (b.z - a.z) / (before + length + after);
            (first.z, second.z) = (a.z + slope * before, a.z + slope * (before + length));
            let climb = second.z - first.z;
            length = (length * length + climb * climb).sqrt();
        }
        Some(Wrap { points: [first, second].map(|point| frame.axes * point + frame.origin), length })
    }
}

impl Obstacle {
    /// How a string from one of the `ends` to the other lies on the obstacle at `pose`; none where it passes by. All points in the world.
    pub(super) fn wrap(&self, pose: Pose<f64>, ends: [Vec3<f64>; 2], side: Option<Vec3<f64>>) -> Option<Wrap> {
        let frame = Frame { axes: pose.rot.to_mat3(), origin: pose.pos };
        Round { shape: self.shape, radius: self.radius }.wrap(&frame, ends, side)
    }

    /// The point of the arc after this part of it, from 0 to 1: evenly around the centre or the axis.
    pub(super) fn point_of_arc(&self, pose: Pose<f64>, wrap: &Wrap, part: f64) -> Vec3<f64> {
        let [a, b] = wrap.points.map(|point| pose.rot.conjugate() * (point - pose.pos));
        let climb = match self.shape {
            ObstacleShape::Sphere => 0.0,
            ObstacleShape::Cylinder => b.z - a.z,
        };
        let angle = (wrap.length * wrap.length - climb * climb).max(0.0).sqrt() / self.radius;
        let shorter = match self.shape {
            ObstacleShape::Sphere => a.cross(b),
            ObstacleShape::Cylinder => Vec3::new(0.0, 0.0, cross([a.x, a.y], [b.x, b.y])),
        };
        let axis = match shorter.normalized() {
            Some(axis) if angle > std::f64::consts::PI => -axis,
            Some(axis) => axis,
            None => Vec3::ZERO,
        };
        let across = match self.shape {
            ObstacleShape::Sphere => a,
            ObstacleShape::Cylinder => Vec3::new(a.x, a.y, 0.0),
        };
        let (sine, cosine) = libm::sincos(angle * part);
        let turned = across * cosine + axis.cross(across) * sine;
        pose.transform_point(turned + (a - across) + Vec3::new(0.0, 0.0, climb * part))
    }
}

/// Two axes of the plane through the origin and both points, the first towards `a`.
fn plane_of(a: Vec3<f64>, b: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let x = a.normalized().unwrap_or(Vec3::new(1.0, 0.0, 0.0));
    let normal = a.cross(b);
    // Points in line with the centre: any plane will do, and MuJoCo's is taken, which is across the two shorter axes of its frame.
    let normal = if normal.norm() < NONE { x.cross(shorter_axes(x)) } else { normal };
    (x, normal.cross(x).normalized().unwrap_or(x.tangents().1))
}

/// The sum of the two axes along which a vector is shorter than along the third, which is x where none is the longest.
fn shorter_axes(of: Vec3<f64>) -> Vec3<f64> {
    let [x, y, z] = of.to_array().map(f64::abs);
    if z > x && z > y {
        Vec3::new(1.0, 1.0, 0.0)
    } else if y > x && y > z {
        Vec3::new(1.0, 0.0, 1.0)
    } else {
        Vec3::new(0.0, 1.0, 1.0)
    }
}

/// Where a string lies on the circle.
struct Touch {
    points: [Planar; 2],
    length: f64,
}

/// A string around a circle. Where its ends lie on different sides of the line from the centre towards `side`, it passes on that side; else it
/// takes the shorter way.
fn outside(ends: [Planar; 2], side: Option<Planar>, radius: f64) -> Option<Touch> {
    let span = minus(ends[1], ends[0]);
    let squared = dot(span, span);
    let round = radius * radius;
    if ends.iter().any(|end| dot(*end, *end) < round) || squared < NONE {
        return None;
    }
    // The point of the straight line that is nearest to the centre.
    let nearest = plus(ends[0], scaled(span, (-dot(span, ends[0]) / squared).clamp(0.0, 1.0)));
    let side = side.filter(|side| cross(*side, ends[0]) * cross(*side, ends[1]) < 0.0);
    if dot(nearest, nearest) > round && side.is_none_or(|side| dot(side, nearest) >= 0.0) {
        return None;
    }
    let way = |turn: f64| [tangent_point(ends[0], turn, radius), tangent_point(ends[1], -turn, radius)];
    let turn = match side {
        Some(side) => cross(side, ends[0]).signum(),
        None => {
            let apart = |turn| {
                let [first, second] = way(turn);
                let crosses = meet([ends[0], first], [ends[1], second]);
                if crosses { f64::INFINITY } else { norm(minus(second, first)) }
            };
            let [clockwise, counter] = [apart(1.0), apart(-1.0)];
            if clockwise.min(counter) == f64::INFINITY {
                return None;
            }
            if clockwise < counter { 1.0 } else { -1.0 }
        }
    };
    let points = way(turn);
    let angle = turn * libm::atan2(cross(points[1], points[0]), dot(points[0], points[1]));
    // Where the string begins to touch, round-off must not lead it all the way round.
    let angle = if angle < -ROUND_OFF { angle + std::f64::consts::TAU } else { angle.max(0.0) };
    Some(Touch { points, length: radius * angle })
}

/// Where a tangent from a point outside touches the circle: for `turn` = 1 on its way around clockwise, else the other way.
fn tangent_point(from: Planar, turn: f64, radius: f64) -> Planar {
    let squared = dot(from, from);
    let across = turn * radius * (squared - radius * radius).max(0.0).sqrt();
    [0, 1].map(|k| (from[k] * radius * radius + [across * from[1], -across * from[0]][k]) / squared)
}

/// Whether two segments meet.
fn meet([a, b]: [Planar; 2], [c, d]: [Planar; 2]) -> bool {
    let (u, v, w) = (minus(b, a), minus(d, c), minus(a, c));
    let determinant = cross(u, v);
    if determinant.abs() < NONE {
        return false;
    }
    let (s, t) = (cross(v, w) / determinant, cross(u, w) / determinant);
    (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)
}

/// The point of the circle that a string from one end to the other touches from the inside: where both parts make the same angle π/2 − φ with
/// the radius. None where the straight line meets the circle.
///
/// With A = r / |a| and B = r / |b|, the angles at the ends are asin(A cos φ) and asin(B cos φ), and those of both triangles make up the angle
/// G between the ends: h(φ) = asin(A cos φ) + asin(B cos φ) − π + 2 φ + G = 0. As A, B < 1, h rises from below zero to G.
fn inside([a, b]: [Planar; 2], radius: f64) -> Option<Planar> {
    const ITERATIONS: usize = 60;
    let span = minus(b, a);
    let (to_a, to_b, squared) = (norm(a), norm(b), dot(span, span));
    if to_a <= radius || to_b <= radius {
        return None;
    }
    let along = -dot(span, a) / squared;
    if squared > NONE && along > 0.0 && along < 1.0 && norm(plus(a, scaled(span, along))) <= radius {
        return None;
    }
    let cosine = dot(a, b) / (to_a * to_b);
    if cosine < NONE - 1.0 {
        return None;
    }
    let on_circle = |point: Planar| scaled(point, radius / norm(point));
    if cosine > 1.0 - NONE {
        return Some(on_circle(plus(a, b)));
    }
    let (ratio_a, ratio_b, between) = (radius / to_a, radius / to_b, libm::atan2(cross(a, b).abs(), dot(a, b)));
    // The excess of angles and its slope.
    let excess = |phi: f64| {
        let (sine, cosine) = libm::sincos(phi);
        let [of_a, of_b] = [ratio_a, ratio_b].map(|ratio| {
            let at_end = ratio * cosine;
            (libm::asin(at_end), ratio * sine / (1.0 - at_end * at_end).sqrt())
        });
        (of_a.0 + of_b.0 - std::f64::consts::PI + 2.0 * phi + between, 2.0 - of_a.1 - of_b.1)
    };
    // Newton's method, kept between the ends by bisection.
    let (mut low, mut high, mut phi) = (0.0, std::f64::consts::FRAC_PI_2, 0.0);
    for _ in 0..ITERATIONS {
        let (error, slope) = excess(phi);
        if error > 0.0 {
            high = phi;
        } else {
            low = phi;
        }
        let newton = phi - error / slope;
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        if (next - phi).abs() <= 1e-15 {
            break;
        }
        phi = next;
    }
    let (from, ratio) = if cross(a, b) > 0.0 { (a, ratio_a) } else { (b, ratio_b) };
    let turn = std::f64::consts::FRAC_PI_2 - phi - libm::asin(ratio * libm::cos(phi));
    let (sine, cosine) = libm::sincos(turn);
    Some(on_circle([cosine * from[0] - sine * from[1], sine * from[0] + cosine * from[1]]))
}

fn dot(a: Planar, b: Planar) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: Planar, b: Planar) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn norm(a: Planar) -> f64 {
    dot(a, a).sqrt()
}

fn plus(a: Planar, b: Planar) -> Planar {
    [a[0] + b[0], a[1] + b[1]]
}

fn minus(a: Planar, b: Planar) -> Planar {
    [a[0] - b[0], a[1] - b[1]]
}

fn scaled(a: Planar, by: f64) -> Planar {
    [a[0] * by, a[1] * by]
}
