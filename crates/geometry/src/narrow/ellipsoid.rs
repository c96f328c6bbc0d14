//! The closest point of an ellipsoid.

use spatial::Vec3;

/// The point of the surface Σ xᵢ²/rᵢ² = 1 closest to `p`.
///
/// It is xᵢ = rᵢ² pᵢ / (t + eᵢ) with eᵢ = rᵢ² − min r² and t the largest root of F(t) = Σ (rᵢ pᵢ / (t + eᵢ))² − 1.
/// F is convex and falls for t > 0, so that Newton's method from a point with F ≥ 0 rises to the root without
/// overshoot (Eberly, *Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid*).
pub fn closest_point(p: Vec3<f64>, radii: Vec3<f64>) -> Vec3<f64> {
    let (p, r) = (p.to_array(), radii.to_array());
    let short = (0..3).fold(0, |k, i| if r[i] < r[k] { i } else { k });
    let e = r.map(|ri| (ri - r[short]) * (ri + r[short]));
    let coordinate = |i: usize, t: f64| if p[i] == 0.0 { 0.0 } else { r[i] * r[i] * p[i] / (t + e[i]) };
    if p[short] == 0.0 {
        // The plane across the shortest axis: its pole at t = 0 may hide the root.
        let mut x = [0, 1, 2].map(|i| coordinate(i, 0.0));
        let level: f64 = (0..3).map(|i| (x[i] / r[i]).powi(2)).sum();
        if level < 1.0 {
            x[short] = r[short] * (1.0 - level).sqrt();
            return Vec3::from(x);
        }
    }
    let mut t = (0..3).map(|i| r[i] * p[i].abs() - e[i]).fold(0.0, f64::max);
    for _ in 0..64 {
        let (mut f, mut slope) = (-1.0, 0.0);
        for i in (0..3).filter(|&i| p[i] != 0.0) {
            let d = 1.0 / (t + e[i]);
            let q = r[i] * p[i] * d;
            f += q * q;
            slope += q * q * d;
        }
        let next = t + 0.5 * f / slope;
        // It rises until round-off.
        if next <= t {
            break;
        }
        t = next;
    }
    Vec3::from([0, 1, 2].map(|i| coordinate(i, t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_points_lie_on_the_surface_with_the_offset_along_the_normal() {
        let radii = Vec3::new(0.3, 0.1, 0.2);
        for p in [
            [0.4, 0.3, -0.2],
            [0.01, 0.02, -0.03],
            [0.1, 0.0, 0.05],
            [0.0, 0.0, 0.0],
            [0.29, 0.0, 0.0],
            [0.0, 1e-12, 0.1],
            [1e3, 1e3, 1e3],
            [0.0, 0.1, 0.0],
        ] {
            let p = Vec3::from(p);
            let x = closest_point(p, radii);
            let level = (x.x / 0.3).powi(2) + (x.y / 0.1).powi(2) + (x.z / 0.2).powi(2);
            assert!((level - 1.0).abs() < 1e-12, "{p:?}: {level}");
            let normal = Vec3::new(x.x / 0.09, x.y / 0.01, x.z / 0.04).normalized().unwrap();
            assert!((p - x).cross(normal).norm() < 1e-13 * (1.0 + p.norm()), "{p:?}");
            // No nearer point among many.
            let d = (p - x).norm();
            for i in 0..500 {
                let z = 1.0 - 2.0 * (i as f64 + 0.5) / 500.0;
                let (c, phi) = ((1.0 - z * z).sqrt(), 2.4 * i as f64);
                let q = Vec3::new(0.3 * c * libm::cos(phi), 0.1 * c * libm::sin(phi), 0.2 * z);
                assert!((p - q).norm() >= d - 1e-12);
            }
        }
    }
}
