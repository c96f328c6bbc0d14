//! Closed forms for scalars and for worlds side by side.

use spatial::masks::{select, select3, wide};
use spatial::{Mat3, Real, Vec3};

/// Two axes with a smaller sine squared between them touch along a line.
pub const NEARLY_PARALLEL: f64 = 0.05 * 0.05;

/// The share of an end of a line, `level` where it lies level, with this sine squared of its slope to what it lies on: 1 from
/// [`NEARLY_PARALLEL`] on, where the line has no middle, as an end then bears alone.
#[inline(always)]
pub fn share_of_end<T: Real>(level: f64, slope2: T) -> T {
    slope2.mul_add(wide((1.0 - level) / NEARLY_PARALLEL), wide(level)).min(T::ONE)
}

/// The share of the middle of a line whose ends have that share where it lies level.
pub const fn share_of_middle(level: f64) -> f64 {
    2.0 * (1.0 - level)
}

/// The axis of a capsule: a unit vector and half its length.
#[derive(Clone, Copy, Debug)]
pub struct Axis<T: Real> {
    /// A unit vector.
    pub direction: Vec3<T>,
    /// Half its length, m.
    pub half_length: T,
}

/// The nearest points of two axes.
#[derive(Clone, Copy, Debug)]
pub struct NearestOfAxes<T: Real> {
    /// How far along each axis they are from its centre, m.
    pub along: [T; 2],
    /// The way from the first to the second.
    pub gap: Vec3<T>,
    /// The sine squared of the angle between the axes.
    pub sine2: T,
}

/// The nearest points of two segments along unit vectors, the second's centre `d` from the first's (Ericson, Real-Time Collision
/// Detection, 5.1.9).
#[inline(always)]
pub fn nearest_of_axes<T: Real>(a: Axis<T>, b: Axis<T>, d: Vec3<T>) -> NearestOfAxes<T> {
    let (Axis { direction: u, half_length: h }, Axis { direction: v, half_length: k }) = (a, b);
    let (uv, du, dv) = (u.dot(v), d.dot(u), d.dot(v));
    let sine2 = u.cross(v).norm_squared();
    let along_a = within(wide::<T>(1e-12).if_less(sine2, (du - uv * dv) / sine2, du), h);
    let along_b = within(uv * along_a - dv, k);
    let along_a = within(uv * along_b + du, h);
    NearestOfAxes { along: [along_a, along_b], gap: d.add_scaled(along_b, v).add_scaled(-along_a, u), sine2 }
}

/// The number nearest to `x` from −`most` to `most`.
#[inline(always)]
fn within<T: Real>(x: T, most: T) -> T {
    x.max(-most).min(most)
}

/// The four lowest corners of a box above a plane with normal `n`.
#[inline(always)]
pub fn lowest_corners<T: Real>(pos: Vec3<T>, axes: &Mat3<T>, half: Vec3<f64>, n: Vec3<T>) -> [Vec3<T>; 4] {
    let half = half.to_array();
    // Half edges, each pointing down, the steepest first.
    let mut edges = [(Vec3::ZERO, T::ZERO); 3];
    for (edge, (axis, half)) in edges.iter_mut().zip([axes.x, axes.y, axes.z].into_iter().zip(half)) {
        let along = axis * wide(half);
        let rise = axis.dot(n) * wide(half);
        let rises = T::ZERO.if_less(rise, T::ONE, T::ZERO);
        *edge = (select3(rises, -along, along), select(rises, -rise, rise));
    }
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        let ((x, fall_x), (y, fall_y)) = (edges[i], edges[j]);
        let swaps = fall_y.if_less(fall_x, T::ONE, T::ZERO);
        edges[i] = (select3(swaps, y, x), select(swaps, fall_y, fall_x));
        edges[j] = (select3(swaps, x, y), select(swaps, fall_x, fall_y));
    }
    let [(a, fall_a), (b, fall_b), (c, fall_c)] = edges;
    let low = pos + a;
    let steep = fall_a.if_less(fall_b + fall_c, T::ONE, T::ZERO);
    let fourth = select3(steep, low - b - c, pos - a + b + c);
    [low + b + c, low + b - c, low - b + c, fourth]
}
