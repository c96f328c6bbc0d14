//! A capsule against a capsule and a box.

use spatial::Vec3;

use super::closed::{Axis, NEARLY_PARALLEL, NearestOfAxes, nearest_of_axes};
use super::{Sink, sphere};
use crate::solid::Placement;

/// A point between two ends counts when it is nearer than both by this share of the radius.
const NEARER: f64 = 1e-9;

/// An overlap shorter than this share of the radius is one point.
const SHORT: f64 = 0.1;

/// A capsule along the z axis of its place.
#[derive(Clone, Copy)]
pub struct PlacedCapsule<'a> {
    pub at: &'a Placement,
    pub radius: f64,
    pub half_length: f64,
}

/// The nearest points of two capsules; of nearly parallel ones the two ends of their overlap.
#[inline]
pub fn capsule(a: PlacedCapsule<'_>, b: PlacedCapsule<'_>, sink: &mut Sink) {
    let PlacedCapsule { at, radius: r, half_length: h } = a;
    let PlacedCapsule { at: bt, radius: s, half_length: k } = b;
    let (u, v) = (at.rot.z, bt.rot.z);
    let d = bt.pos - at.pos;
    let (uv, du, dv) = (u.dot(v), d.dot(u), d.dot(v));
    let NearestOfAxes { along: [along_a, along_b], gap, sine2 } =
        nearest_of_axes(Axis { direction: u, half_length: h }, Axis { direction: v, half_length: k }, d);
    let gap2 = gap.norm_squared();
    let most = r + s + sink.limit;
    if gap2 > most * most {
        return;
    }
    if gap2 == 0.0 {
        // The axes cross: apart across both is the shortest way.
        let across = |normal: Vec3<f64>| if normal.dot(sink.way_apart()) < 0.0 { -normal } else { normal };
        let normal = u.cross(v).normalized().map_or_else(|| sink.way_apart_across(u), across);
        let distance = -r - s;
        let position = at.pos.add_scaled(along_a, u).add_scaled(r + 0.5 * distance, normal);
        return sink.push(position, normal, distance);
    }
    let mut nearest_end = f64::INFINITY;
    if sine2 < NEARLY_PARALLEL {
        let reach = (k * uv).abs();
        let (low, high) = if uv > 0.0 { (-k, k) } else { (k, -k) };
        if (du + reach).min(h) - (du - reach).max(-h) > SHORT * r.min(s) {
            // Each end of the overlap is an end of one axis and its foot on the other.
            for (own, other) in [(-h, low), (h, high)] {
                let foot = du + uv * other;
                let (on_a, on_b) = if foot.abs() < h { (foot, other) } else { (own, (uv * own - dv).clamp(-k, k)) };
                let (a, b) = (at.pos.add_scaled(on_a, u), bt.pos.add_scaled(on_b, v));
                nearest_end = nearest_end.min((b - a).norm_squared());
                if b != a {
                    sphere::sphere(a, r, b, s, sink);
                }
            }
        }
    }
    if gap2.sqrt() < nearest_end.sqrt() - NEARER * (r + s) {
        sphere::sphere(at.pos.add_scaled(along_a, u), r, bt.pos.add_scaled(along_b, v), s, sink);
    }
}

/// A segment c + t d, |t| ≤ h, in the frame of a box.
struct Segment {
    c: [f64; 3],
    d: [f64; 3],
    h: f64,
    half: [f64; 3],
}

impl Segment {
    fn coordinate(&self, i: usize, t: f64) -> f64 {
        self.c[i] + t * self.d[i]
    }

    /// How far coordinate i at t is outside of the box, signed.
    fn excess(&self, i: usize, t: f64) -> f64 {
        let x = self.coordinate(i, t);
        (x.abs() - self.half[i]).max(0.0).copysign(x)
    }

    /// Half the derivative by t of the squared distance to the box: piecewise linear and rising.
    fn slope(&self, t: f64) -> f64 {
        (0..3).map(|i| self.d[i] * self.excess(i, t)).sum()
    }

    /// The interval of t in which coordinate i is within the box.
    fn within(&self, i: usize) -> [f64; 2] {
        if self.d[i] == 0.0 {
            return if self.c[i].abs() <= self.half[i] { [-self.h, self.h] } else { [self.h, -self.h] };
        }
        let (p, q) = ((-self.half[i] - self.c[i]) / self.d[i], (self.half[i] - self.c[i]) / self.d[i]);
        if p < q { [p, q] } else { [q, p] }
    }

    /// The t nearest to the box: the root of [`Segment::slope`], found between its breakpoints.
    fn nearest(&self) -> f64 {
        let (mut low, mut high) = (-self.h, self.h);
        let (mut slope_low, mut slope_high) = (self.slope(low), self.slope(high));
        if slope_low >= 0.0 {
            return low;
        }
        if slope_high <= 0.0 {
            return high;
        }
        for i in 0..3 {
            for t in self.within(i) {
                if t > low && t < high {
                    let slope = self.slope(t);
                    if slope <= 0.0 {
                        (low, slope_low) = (t, slope);
                    }
                    if slope >= 0.0 {
                        (high, slope_high) = (t, slope);
                    }
                }
            }
        }
        if slope_high > slope_low { low - slope_low * (high - low) / (slope_high - slope_low) } else { low }
    }

    /// Where the segment's part over the given sides of the box ends.
    fn overlap(&self, over: impl Fn(usize) -> bool) -> [f64; 2] {
        let mut range = [-self.h, self.h];
        for i in (0..3).filter(|&i| over(i)) {
            let [p, q] = self.within(i);
            range = [range[0].max(p), range[1].min(q)];
        }
        range
    }
}

/// The nearest point of a capsule and a box, and the ends of the part that lies along the same face or edge.
#[inline]
pub fn cuboid(capsule: PlacedCapsule<'_>, bt: &Placement, half: Vec3<f64>, sink: &mut Sink) {
    let PlacedCapsule { at, radius: r, half_length: h } = capsule;
    let segment = Segment {
        c: bt.local(at.pos).to_array(),
        d: bt.rot.transpose_mul(at.rot.z).to_array(),
        h,
        half: half.to_array(),
    };
    let t = segment.nearest();
    let distance2 = |t: f64| (0..3).map(|i| segment.excess(i, t)).map(|e| e * e).sum::<f64>();
    let nearest2 = distance2(t);
    let most = r + sink.limit;
    if nearest2 > most * most {
        return;
    }
    if nearest2 == 0.0 {
        return pierced(&segment, at, r, bt, sink);
    }
    let [low, high] = segment.overlap(|i| segment.excess(i, t) == 0.0);
    let mut nearest_end2 = f64::INFINITY;
    if high - low > SHORT * r {
        for end in [low, high] {
            let end2 = distance2(end);
            nearest_end2 = nearest_end2.min(end2);
            if end2 <= most * most {
                sphere::cuboid(at.pos.add_scaled(end, at.rot.z), r, bt, half, sink);
            }
        }
    }
    if nearest2.sqrt() < nearest_end2.sqrt() - NEARER * r {
        sphere::cuboid(at.pos.add_scaled(t, at.rot.z), r, bt, half, sink);
    }
}

/// The capsule's axis runs through the box: the least of the ways apart, across a face or across an edge.
fn pierced(segment: &Segment, at: &Placement, r: f64, bt: &Placement, sink: &mut Sink) {
    let Segment { c, d, h, half } = segment;
    let mut best = (f64::NEG_INFINITY, [0.0; 3], 0);
    for i in 0..3 {
        let overlap = c[i].abs() - half[i] - h * d[i].abs();
        if overlap > best.0 {
            let mut away = [0.0; 3];
            away[i] = 1.0_f64.copysign(c[i]);
            best = (overlap, away, i);
        }
    }
    let mut across_edge = None;
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        // Axis i crossed with d.
        let mut axis = [0.0; 3];
        (axis[j], axis[k]) = (-d[k], d[j]);
        let length = (d[j] * d[j] + d[k] * d[k]).sqrt();
        if length < 1e-9 {
            continue;
        }
        let offset = c[j] * axis[j] + c[k] * axis[k];
        let scale = 1.0_f64.copysign(offset) / length;
        let overlap = offset.abs() / length - (half[j] * axis[j].abs() + half[k] * axis[k].abs()) / length;
        if overlap > best.0 {
            best = (overlap, axis.map(|a| a * scale), i);
            across_edge = Some([j, k]);
        }
    }
    let (overlap, away, i) = best;
    let normal = -(bt.rot * Vec3::from(away));
    let mut touch = |t: f64, distance: f64| {
        let centre = at.pos.add_scaled(t, at.rot.z);
        sink.push(centre.add_scaled(r + 0.5 * distance, normal), normal, distance);
    };
    if let Some([j, k]) = across_edge {
        // Where the axis passes the edge along i through the corner farthest along `away`, seen along `away`.
        let corner = |m: usize| half[m].copysign(away[m]);
        let (oj, ok) = (corner(j) - c[j], corner(k) - c[k]);
        let t = ((oj * d[j] + ok * d[k]) / (d[j] * d[j] + d[k] * d[k])).clamp(-h, *h);
        return touch(t, overlap - r);
    }
    let [low, high] = segment.overlap(|m| m != i);
    let deepest = if away[i] * d[i] > 0.0 { -*h } else { *h };
    let mut reached = false;
    for t in [low, high] {
        if low < high {
            touch(t, away[i] * segment.coordinate(i, t) - half[i] - r);
            reached |= t == deepest;
        }
    }
    if !reached {
        touch(deepest, overlap - r);
    }
}
