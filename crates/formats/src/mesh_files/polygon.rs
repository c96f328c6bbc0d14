//! Faces of OBJ files with more than three corners, cut into the triangles that MuJoCo's reader cuts them into: those that are not plane
//! enclose another volume when they are cut otherwise.

use spatial::Vec3;

/// Two coordinates of a corner.
type Point = [f64; 2];

/// Faces with more corners are fans: ears cost time by the square of their number.
const MAX_CORNERS: usize = 500;

/// The triangles of a face, as indices of its corners.
pub(super) fn triangles(corners: &[Vec3<f64>]) -> Vec<[usize; 3]> {
    match *corners {
        [a, b, c, d] if (d - b).norm_squared() <= (c - a).norm_squared() => vec![[1, 2, 3], [1, 3, 0]],
        [..] if corners.len() <= 4 || corners.len() > MAX_CORNERS => {
            (2..corners.len()).map(|k| [0, k - 1, k]).collect()
        }
        _ => clip_ears(corners),
    }
}

/// Cuts off ears (corners that turn inwards and whose triangle holds no other corner), starting from the first corner. What is left where
/// none is found is a fan.
fn clip_ears(corners: &[Vec3<f64>]) -> Vec<[usize; 3]> {
    let flat = projected(corners);
    let mut left: Vec<usize> = (0..corners.len()).collect();
    let mut triangles = Vec::new();
    let (mut first, mut misses) = (0, 0);
    while left.len() > 3 && misses < left.len() {
        first %= left.len();
        let at = |k: usize| left[(first + k) % left.len()];
        let ear = [at(0), at(1), at(2)];
        if is_ear(ear.map(|k| flat[k]), (3..left.len()).map(|k| flat[at(k)])) {
            triangles.push(ear);
            let tip = (first + 1) % left.len();
            left.remove(tip);
            misses = 0;
        } else {
            (first, misses) = (first + 1, misses + 1);
        }
    }
    triangles.extend((2..left.len()).map(|k| [left[0], left[k - 1], left[k]]));
    triangles
}

/// The corners in the plane of two axes in which the face is largest, by its first corner that is one.
fn projected(corners: &[Vec3<f64>]) -> Vec<Point> {
    let n = corners.len();
    let normal = |k: usize| {
        let [a, b, c] = [corners[k], corners[(k + 1) % n], corners[(k + 2) % n]];
        (b - a).cross(c - b).to_array().map(f64::abs)
    };
    let normal = (0..n).map(normal).find(|normal| normal.iter().any(|x| *x > f64::from(f32::EPSILON)));
    let axes = match normal.unwrap_or_default() {
        [x, y, z] if x > y && x > z => [1, 2],
        [x, y, z] if z > x && z > y => [0, 1],
        _ => [0, 2],
    };
    corners.iter().map(|corner| axes.map(|axis| corner.to_array()[axis])).collect()
}

/// Whether a triangle turns as the origin sees its first edge turn, and holds none of the others.
fn is_ear([a, b, c]: [Point; 3], mut others: impl Iterator<Item = Point>) -> bool {
    let cross = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
    let seen = a[0] * b[1] - a[1] * b[0];
    cross * seen >= 0.0 && !others.any(|other| is_inside([a, b, c], other))
}

/// Whether a ray from the point along the first axis leaves the triangle.
fn is_inside(triangle: [Point; 3], [x, y]: Point) -> bool {
    let crosses = |k: usize| {
        let ([ax, ay], [bx, by]) = (triangle[k], triangle[(k + 2) % 3]);
        (ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax
    };
    (0..3).filter(|k| crosses(*k)).count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(corners: &[[f64; 2]]) -> Vec<[usize; 3]> {
        triangles(&corners.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect::<Vec<_>>())
    }

    /// What MuJoCo 4.0 makes of these faces.
    #[test]
    fn faces_are_cut_as_mujoco_cuts_them() {
        assert_eq!(cut(&[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]), [[1, 2, 3], [1, 3, 0]]);
        assert_eq!(cut(&[[0.0, 1.0], [1.5, 1.0], [1.0, 0.2], [0.0, 0.0]]), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(cut(&[[0.0, 2.0], [0.3, 0.3], [2.0, 0.0], [0.0, 0.0]]), [[1, 2, 3], [1, 3, 0]]);
        let ring = |n: usize| {
            let angle = move |k: usize| std::f64::consts::TAU * (n - 1 - k) as f64 / n as f64;
            (0..n).map(|k| [2.0 * libm::cos(angle(k)), libm::sin(angle(k))]).collect::<Vec<_>>()
        };
        assert_eq!(cut(&ring(5)), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
        assert_eq!(cut(&ring(7)), [[0, 1, 2], [0, 2, 3], [0, 3, 4], [4, 5, 6], [0, 4, 6]]);
        // A corner that turns outwards; what MuJoCo leaves open is closed.
        let arrow = cut(&[[0.0, 1.0], [1.0, 0.3], [2.0, 1.0], [2.0, 0.0], [0.0, 0.0]]);
        assert_eq!((arrow.len(), arrow[0]), (3, [4, 0, 1]));
    }
}
