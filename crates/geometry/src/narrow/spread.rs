//! Choosing few contact points that stand for many.

use spatial::Vec3;

use super::Point;

/// How much nearer a point must be along the normal to weigh as much as one farther out across it.
const STEEPNESS: f64 = 4.0;

/// Keeps at most four points when there are more than `most`: the deepest, and those that span the widest area
/// across `normal`, a unit vector. Ties go to the earlier point.
pub fn spread(points: &mut Vec<Point>, normal: Vec3<f64>, most: usize) {
    if points.len() <= most {
        return;
    }
    let (t1, t2) = normal.tangents();
    let deepest = farthest(points, |p| -p.distance).0;
    let base = points[deepest];
    let across = |p: &Point| {
        let d = p.position - base.position;
        [d.dot(t1), d.dot(t2)]
    };
    let penalty = |p: &Point| STEEPNESS * (p.distance - base.distance);
    let (second, reach) = farthest(points, |p| {
        let [x, y] = across(p);
        (x * x + y * y).sqrt() - penalty(p)
    });
    let mut chosen = [deepest, second, usize::MAX, usize::MAX];
    let mut n = 1;
    if reach > 0.0 && second != deepest {
        n = 2;
        let [ex, ey] = across(&points[second]);
        let scale = 1.0 / (ex * ex + ey * ey).sqrt();
        let side = |p: &Point| {
            let [x, y] = across(p);
            (ex * y - ey * x) * scale
        };
        for sign in [1.0, -1.0] {
            let (i, reach) = farthest(points, |p| sign * side(p) - penalty(p));
            if reach > 0.0 && !chosen[..n].contains(&i) {
                chosen[n] = i;
                n += 1;
            }
        }
    }
    let kept = chosen.map(|i| points.get(i).copied());
    points.clear();
    points.extend(kept.into_iter().take(n).flatten());
}

fn farthest(points: &[Point], measure: impl Fn(&Point) -> f64) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, p) in points.iter().enumerate() {
        let m = measure(p);
        if m > best.1 {
            best = (i, m);
        }
    }
    best
}
