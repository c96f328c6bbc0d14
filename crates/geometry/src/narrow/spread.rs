//! Choosing few contact points that stand for many.

use spatial::Vec3;

use super::Point;

/// Greatest number of points that are kept.
const MAX_POINTS: usize = 4;

/// How much nearer a point must be along the normal to weigh as much as one farther out across it.
pub const STEEPNESS: f64 = 4.0;

/// Points that are as far out as others but for this share of the patch's width are as far out. What rests on more points than four sways by less, and
/// would never come to rest if that chose its points.
const EVEN: f64 = 1e-4;

/// The same holds for depths, where bodies overlap by less than this share of the width, and both points by half of the largest depth.
const SHALLOW: f64 = 1e-2;

/// Keeps at most four points: the deepest, and those that span the widest area across `normal`, a unit vector. Of those that are almost alike, the first.
pub fn spread(points: &mut Vec<Point>, normal: Vec3<f64>) {
    // One that is deeper by a hair gains nothing by it, so that none is taken twice.
    spread_by(points, normal, |p| p.distance, |p, deepest| STEEPNESS * (p.distance - deepest.distance).max(0.0));
}

/// The same with the point of least `height` in place of the deepest. Another one must be farther out by its `penalty`, which is asked beside that
/// one.
pub fn spread_by(
    points: &mut Vec<Point>,
    normal: Vec3<f64>,
    height: impl Fn(&Point) -> f64,
    penalty: impl Fn(&Point, &Point) -> f64,
) {
    if points.len() <= MAX_POINTS {
        return;
    }
    let (t1, t2) = normal.tangents();
    let first = points[0].position;
    let width = points.iter().map(|p| (p.position - first).norm_squared()).fold(0.0, f64::max).sqrt();
    let farthest = |even: f64, measure: &dyn Fn(&Point) -> f64| {
        let most = points.iter().map(measure).fold(f64::NEG_INFINITY, f64::max);
        points.iter().position(|p| measure(p) >= most - even)
    };
    let depth = points.iter().map(|p| -height(p)).fold(f64::NEG_INFINITY, f64::max);
    let is_shallow = depth > 0.0 && depth < SHALLOW * width;
    let even = if is_shallow { (EVEN * width).min(0.5 * depth) } else { 0.0 };
    let lowest = farthest(even, &|p| -height(p)).unwrap_or_default();
    let base = points[lowest];
    let across = |p: &Point| {
        let d = p.position - base.position;
        [d.dot(t1), d.dot(t2)]
    };
    let mut chosen = [lowest; MAX_POINTS];
    let mut corners = [[0.0; 2]; MAX_POINTS];
    let mut n = 1;
    while n < MAX_POINTS {
        let reach = |p: &Point| outside(&corners[..n], across(p)) - penalty(p, &base);
        let Some(i) = farthest(EVEN * width, &reach).filter(|i| reach(&points[*i]) > EVEN * width) else { break };
        (chosen[n], corners[n]) = (i, across(&points[i]));
        n += 1;
    }
    // Two that are as far from the line of the first two: which of them goes first must not depend on the last digits.
    if n == MAX_POINTS && beyond(corners[0], corners[1], corners[2]) < 0.0 {
        chosen.swap(2, 3);
    }
    let kept = chosen.map(|i| points[i]);
    points.clear();
    points.extend_from_slice(&kept[..n]);
}

/// How far a point is from the one corner, from the way between two, outside the triangle of three, where this is positive.
fn outside(corners: &[[f64; 2]], p: [f64; 2]) -> f64 {
    match *corners {
        [a] => {
            let [x, y] = [p[0] - a[0], p[1] - a[1]];
            (x * x + y * y).sqrt()
        }
        [a, b] => {
            let aside = beyond(a, b, p);
            let before = -along(a, b, p).min(along(b, a, p)).min(0.0);
            (aside * aside + before * before).sqrt()
        }
        [a, b, c] => {
            let turn = 1.0_f64.copysign(beyond(a, b, c));
            [beyond(a, b, p), beyond(b, c, p), beyond(c, a, p)]
                .into_iter()
                .fold(f64::NEG_INFINITY, |most, x| most.max(-turn * x))
        }
        _ => f64::NEG_INFINITY,
    }
}

/// How far to the left of the way from a to b a point is.
fn beyond(a: [f64; 2], b: [f64; 2], p: [f64; 2]) -> f64 {
    let [ex, ey] = [b[0] - a[0], b[1] - a[1]];
    (ex * (p[1] - a[1]) - ey * (p[0] - a[0])) / (ex * ex + ey * ey).sqrt()
}

/// How far along the way from a to b a point is.
fn along(a: [f64; 2], b: [f64; 2], p: [f64; 2]) -> f64 {
    let [ex, ey] = [b[0] - a[0], b[1] - a[1]];
    (ex * (p[0] - a[0]) + ey * (p[1] - a[1])) / (ex * ex + ey * ey).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_is_taken_twice() {
        let up = Vec3::new(0.0, 0.0, 1.0);
        let at = |x, y, distance| Point::new(Vec3::new(x, y, 0.0), up, distance);
        // The second is the deepest, by less than counts; two are inside.
        let corners = [at(0.0, 0.0, -1e-3), at(1.0, 0.0, -1.05e-3), at(0.0, 1.0, -1e-3)];
        let mut points: Vec<_> = corners.into_iter().chain([at(0.3, 0.3, -1e-3), at(0.2, 0.2, -1e-3)]).collect();
        spread(&mut points, up);
        let found: Vec<_> = points.iter().map(|p| p.position).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(corners.iter().all(|corner| found.contains(&corner.position)), "{found:?}");
    }
}
