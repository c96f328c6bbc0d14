//! Contact points of two flat features that face each other along a normal.
//!
//! Both features, convex polygons or segments, are projected along the normal. Every corner of the intersection of
//! the two projections becomes a point, with the distance of the features along the normal there.

use spatial::Vec3;

use super::Point;
use super::polygon::{Corner, Ring, between, side};

/// A face whose normal is farther than this cosine from the contact normal has no usable height over it.
const STEEP: f64 = 0.05;

/// Two segments with a smaller sine between them overlap along a line.
const NEARLY_PARALLEL: f64 = 0.05;

/// Points that are nearer to one another are one, m.
const REPEATED: f64 = 1e-9;

/// Buffers for projecting and clipping.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clipper {
    /// Corners of the first body's feature, in the world.
    pub a: Vec<Vec3<f64>>,
    /// Corners of the second body's feature, in the world.
    pub b: Vec<Vec3<f64>>,
    p: Vec<Corner>,
    q: Vec<Corner>,
    ring: Ring,
}

impl Clipper {
    /// Buffers for features of up to `corners` corners.
    pub fn with_capacity(corners: usize) -> Self {
        Self {
            a: Vec::with_capacity(corners),
            b: Vec::with_capacity(corners),
            p: Vec::with_capacity(2 * corners),
            q: Vec::with_capacity(2 * corners),
            ring: Ring::with_capacity(corners),
        }
    }

    /// Appends the points of features `a` and `b` that are at most `limit` apart. `origin` is any point nearby;
    /// `normal` points from a to b; `lift` is what to add to the height of a and take from that of b (rounded shapes).
    pub fn clip(&mut self, origin: Vec3<f64>, normal: Vec3<f64>, lift: [f64; 2], limit: f64, points: &mut Vec<Point>) {
        if self.a.len() < 2 || self.b.len() < 2 {
            return;
        }
        let (t1, t2) = normal.tangents();
        let project = |corners: &[Vec3<f64>], lift: f64, out: &mut Vec<Corner>| {
            out.clear();
            out.extend(corners.iter().map(|&c| {
                let c = c - origin;
                [c.dot(t1), c.dot(t2), c.dot(normal) + lift]
            }));
        };
        project(&self.a, lift[0], &mut self.p);
        project(&self.b, -lift[1], &mut self.q);
        let new = points.len();
        let mut add = |[x, y, below]: Corner, above: f64| {
            let distance = above - below;
            let position = origin.add_scaled(x, t1).add_scaled(y, t2).add_scaled(0.5 * (above + below), normal);
            // Where borders only just meet, clipping yields a corner twice, one after the other.
            let repeats = |p: &Point| (p.position - position).norm_squared() < REPEATED * REPEATED;
            let neighbours = [points[new..].first(), points[new..].last()];
            if distance <= limit && !neighbours.into_iter().flatten().any(repeats) {
                points.push(Point::new(position, normal, distance));
            }
        };
        match (self.p.len(), self.q.len()) {
            (2, 2) => overlap(&self.p, &self.q, add),
            (2, _) => {
                let Some(plane) = Plane::of(&mut self.q) else { return };
                if let Some(ends) = clip_segment([self.p[0], self.p[1]], &self.q) {
                    ends.into_iter().for_each(|c| add(c, plane.height(c)));
                }
            }
            (_, 2) => {
                let Some(plane) = Plane::of(&mut self.p) else { return };
                if let Some(ends) = clip_segment([self.q[0], self.q[1]], &self.p) {
                    ends.into_iter().for_each(|c| add([c[0], c[1], plane.height(c)], c[2]));
                }
            }
            _ => {
                let (Some(below), Some(above)) = (Plane::of(&mut self.p), Plane::of(&mut self.q)) else { return };
                self.ring.clip(&mut self.p, &self.q);
                for &[x, y, _] in &self.p {
                    add([x, y, below.height([x, y, 0.0])], above.height([x, y, 0.0]));
                }
            }
        }
    }
}

/// Height over the projection plane: w = w₀ + gx x + gy y.
struct Plane {
    base: f64,
    gradient: [f64; 2],
}

impl Plane {
    /// The plane of a polygon, which is turned counter-clockwise; `None` when it stands too steeply.
    fn of(corners: &mut [Corner]) -> Option<Self> {
        // Newell's normal, which no single bad corner spoils, about the first corner.
        let [ox, oy, ow] = corners[0];
        let mut normal = [0.0; 3];
        let mut last = *corners.last()?;
        for &c in corners.iter() {
            let [ax, ay, aw] = [last[0] - ox, last[1] - oy, last[2] - ow];
            let [bx, by, bw] = [c[0] - ox, c[1] - oy, c[2] - ow];
            normal[0] += ay * bw - aw * by;
            normal[1] += aw * bx - ax * bw;
            normal[2] += ax * by - ay * bx;
            last = c;
        }
        let [x, y, z] = normal;
        if z.abs() <= STEEP * (x * x + y * y + z * z).sqrt() {
            return None;
        }
        if z < 0.0 {
            corners.reverse();
        }
        let gradient = [-x / z, -y / z];
        Some(Self { base: ow - gradient[0] * ox - gradient[1] * oy, gradient })
    }

    fn height(&self, [x, y, _]: Corner) -> f64 {
        self.base + self.gradient[0] * x + self.gradient[1] * y
    }
}

/// The part of a segment within a counter-clockwise polygon.
fn clip_segment([a, b]: [Corner; 2], clip: &[Corner]) -> Option<[Corner; 2]> {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    let mut start = clip[clip.len() - 1];
    for &end in clip {
        let (from, to) = (side(start, end, a), side(start, end, b));
        if from < 0.0 && to < 0.0 {
            return None;
        }
        if from < 0.0 {
            low = low.max(from / (from - to));
        } else if to < 0.0 {
            high = high.min(from / (from - to));
        }
        start = end;
    }
    (low <= high).then(|| [between(a, b, low), between(a, b, high)])
}

/// The ends of the overlap of two nearly parallel segments.
fn overlap(p: &[Corner], q: &[Corner], mut add: impl FnMut(Corner, f64)) {
    let direction = |s: &[Corner]| [s[1][0] - s[0][0], s[1][1] - s[0][1]];
    let (d, e) = (direction(p), direction(q));
    let (dd, ee) = (d[0] * d[0] + d[1] * d[1], e[0] * e[0] + e[1] * e[1]);
    let cross = d[0] * e[1] - d[1] * e[0];
    if !(dd > 0.0 && ee > 0.0) || cross * cross > NEARLY_PARALLEL * NEARLY_PARALLEL * dd * ee {
        return;
    }
    // Where the foot of c on a segment lies, from 0 to 1.
    let foot = |c: Corner, s: &[Corner], d: [f64; 2], dd: f64| {
        (((c[0] - s[0][0]) * d[0] + (c[1] - s[0][1]) * d[1]) / dd).clamp(0.0, 1.0)
    };
    let (low, high) = if d[0] * e[0] + d[1] * e[1] > 0.0 { (q[0], q[1]) } else { (q[1], q[0]) };
    if (high[0] - p[0][0]) * d[0] + (high[1] - p[0][1]) * d[1] < 0.0
        || (low[0] - p[1][0]) * d[0] + (low[1] - p[1][1]) * d[1] > 0.0
    {
        return;
    }
    // Each end of the overlap is an end of one segment and its foot on the other.
    for (own, other) in [(p[0], low), (p[1], high)] {
        let (on_p, on_q) = (foot(other, p, d, dd), foot(own, q, e, ee));
        let (below, above) = if on_p > 0.0 && on_p < 1.0 {
            (between(p[0], p[1], on_p), other)
        } else {
            (own, between(q[0], q[1], on_q))
        };
        add([0.5 * (below[0] + above[0]), 0.5 * (below[1] + above[1]), below[2]], above[2]);
    }
}
