//! The last digits of a contact normal between curved bodies.
//!
//! GJK and EPA work with simplices and polytopes; on curved surfaces they stop some 1e-4 rad short. The signed
//! distance is the largest gap along any direction, max over unit n of g(n) = (b₋ₙ − aₙ) · n with a and b the support
//! points, so Newton's method on the sphere finishes the work: gradient b₋ₙ − aₙ, second derivative −(∇²h_a + ∇²h_b)
//! − g I on the tangents, h the support functions. Edges that face the normal squarely are constraints n · e = 0.

use spatial::{Sym3, Vec3};

use super::placed::{Core, Placed};

/// Sines within which an edge is taken to face the normal squarely: the best of these guesses wins.
const SQUARE: [f64; 3] = [1e-2, 1e-4, 0.0];

/// Newton steps for one guess.
const STEPS: usize = 8;

/// What decides about the support point of a body near a direction.
#[derive(Default)]
struct Local {
    /// ∇²h.
    curvature: Sym3<f64>,
    /// Unit edges that the support point may slide along.
    edges: Edges,
}

/// Up to two independent directions.
#[derive(Default)]
struct Edges {
    first: Option<Vec3<f64>>,
    /// Unit normal of the plane of two edges.
    plane: Option<Vec3<f64>>,
}

impl Edges {
    fn add(&mut self, edge: Vec3<f64>) {
        let Some(edge) = edge.normalized() else { return };
        let Some(first) = self.first else {
            self.first = Some(edge);
            return;
        };
        let cross = first.cross(edge);
        if self.plane.is_none() && cross.norm_squared() > 1e-4 {
            self.plane = cross.normalized();
        }
    }
}

/// Gaps of bodies about 1 m large are equal within this, m: then the smaller slope is better.
const EQUAL: f64 = 1e-14;

/// How far around a peak to look whether it is one, rad: what it misses is below RING² times a radius of curvature.
const RING: f64 = 1e-4;

/// A direction and what it shows.
pub(super) struct Polished {
    pub normal: Vec3<f64>,
    /// Gap of the cores along the normal.
    pub gap: f64,
    /// Midway between the cores.
    pub position: Vec3<f64>,
}

/// The best direction near `normal`, a unit vector from a to b.
///
/// `middle` estimates the point midway between the cores, and stands for it where there is no single one.
pub(super) fn polish(a: &Placed, b: &Placed, normal: Vec3<f64>, middle: Vec3<f64>) -> Polished {
    let (gap, _) = gap_along(a, b, normal);
    let mut best = Best { normal, gap, slope: f64::INFINITY };
    for square in SQUARE {
        climb(a, b, square, &mut best);
    }
    let Best { normal, gap, .. } = best;
    let position = position(a, b, &best).unwrap_or_else(|| {
        let height = 0.5 * (a.support(normal) + b.support(-normal)).dot(normal);
        middle.add_scaled(height - middle.dot(normal), normal)
    });
    Polished { normal, gap, position }
}

/// Whether no direction around the normal shows a larger gap. Gaps rise along ridges across the bodies' axes, so these
/// directions are looked at besides an even ring.
pub(super) fn is_peak(a: &Placed, b: &Placed, found: &Polished) -> bool {
    let n = found.normal;
    let (t1, t2) = n.tangents();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let (u, v) = (n.cross(a.rot.z), n.cross(b.rot.z));
    let ring = [t1, (t1 + t2) * half, t2, (t2 - t1) * half];
    let ridges = [u, n.cross(u), v, n.cross(v)].into_iter().filter_map(Vec3::normalized);
    ring.into_iter().chain(ridges).all(|t| {
        [RING, -RING].iter().all(|&s| {
            let m = n.add_scaled(s, t);
            gap_along(a, b, m * (1.0 / m.norm())).0 <= found.gap + EQUAL
        })
    })
}

/// The best direction so far.
struct Best {
    normal: Vec3<f64>,
    gap: f64,
    /// How fast the gap still grows across the normal, m/rad.
    slope: f64,
}

/// The point between the cores, where it is a single one.
fn position(a: &Placed, b: &Placed, best: &Best) -> Option<Vec3<f64>> {
    let (n, gap) = (best.normal, best.gap);
    let (on_a, on_b) = (a.support(n), b.support(-n));
    let (at_a, at_b) = (local(a, n, 1e-6).edges, local(b, -n, 1e-6).edges);
    match (at_a.first, at_b.first) {
        (None, None) => Some((on_a + on_b) * 0.5),
        (None, Some(_)) => Some(on_a.add_scaled(0.5 * gap, n)),
        (Some(_), None) => Some(on_b.add_scaled(-0.5 * gap, n)),
        (Some(u), Some(v)) => {
            // Two edges cross, seen along the normal, unless they are parallel or one is of a face.
            let cross = u.cross(v).dot(n);
            let lines = at_a.plane.is_none() && at_b.plane.is_none() && cross.abs() > 1e-6;
            lines.then(|| {
                let along = (on_b - on_a).cross(v).dot(n) / cross;
                on_a.add_scaled(along, u).add_scaled(0.5 * gap, n)
            })
        }
    }
}

impl Best {
    fn offer(&mut self, normal: Vec3<f64>, gap: f64, slope: f64) {
        if gap > self.gap + EQUAL || gap > self.gap - EQUAL && slope < self.slope {
            (self.normal, self.gap, self.slope) = (normal, gap, slope);
        }
    }
}

/// Improves `best` under the guess that edges within `square` of the normal's plane face it.
fn climb(a: &Placed, b: &Placed, square: f64, best: &mut Best) {
    let start = best.normal;
    let (at_a, at_b) = (local(a, start, square), local(b, -start, square));
    let mut edges = Edges::default();
    let across = |plane: Vec3<f64>| if plane.dot(start) < 0.0 { -plane } else { plane };
    if let Some(plane) = at_a.edges.plane.or(at_b.edges.plane) {
        let n = across(plane);
        return best.offer(n, gap_along(a, b, n).0, 0.0);
    }
    for edge in [at_a.edges.first, at_b.edges.first].into_iter().flatten() {
        edges.add(edge);
    }
    if let Some(plane) = edges.plane {
        let n = across(plane);
        return best.offer(n, gap_along(a, b, n).0, 0.0);
    }
    let along = |n: Vec3<f64>| match edges.first {
        Some(e) => n.add_scaled(-n.dot(e), e).normalized(),
        None => Some(n),
    };
    let Some(mut n) = along(start) else { return };
    for _ in 0..STEPS {
        let (gap, apart) = gap_along(a, b, n);
        let curvature = local(a, n, 0.0).curvature + local(b, -n, 0.0).curvature;
        let (step, slope) = match edges.first {
            Some(e) => {
                let t = e.cross(n);
                let (m, g) = (t.dot(curvature * t) + gap, apart.dot(t));
                ((m > 0.0).then(|| t * (g / m)), g.abs())
            }
            None => {
                let g = apart.add_scaled(-gap, n);
                (tangent_step(curvature, gap, g, n), g.norm())
            }
        };
        best.offer(n, gap, slope);
        let Some(step) = step.filter(|s| s.norm_squared() > f64::EPSILON * f64::EPSILON) else { return };
        let Some(next) = along(n + step).and_then(Vec3::normalized) else { return };
        n = next;
    }
}

/// The Newton step across `n`, where the second derivative is negative definite.
fn tangent_step(curvature: Sym3<f64>, gap: f64, apart: Vec3<f64>, n: Vec3<f64>) -> Option<Vec3<f64>> {
    let (t1, t2) = n.tangents();
    let (k1, k2) = (curvature * t1, curvature * t2);
    let (m11, m12, m22) = (t1.dot(k1) + gap, t1.dot(k2), t2.dot(k2) + gap);
    let det = m11 * m22 - m12 * m12;
    let (g1, g2) = (apart.dot(t1), apart.dot(t2));
    (m11 > 0.0 && det > 0.0).then(|| t1 * ((m22 * g1 - m12 * g2) / det) + t2 * ((m11 * g2 - m12 * g1) / det))
}

/// The gap along `n`, and the vector between the support points.
pub(super) fn gap_along(a: &Placed, b: &Placed, n: Vec3<f64>) -> (f64, Vec3<f64>) {
    let apart = b.support(-n) - a.support(n);
    (apart.dot(n), apart)
}

/// How the support point of a body near direction `d` depends on the direction.
fn local(body: &Placed, d: Vec3<f64>, square: f64) -> Local {
    let mut local = Local::default();
    let rot = body.rot;
    let mut edge = |e: Vec3<f64>| {
        if e.dot(d).abs() <= square * e.norm() {
            local.edges.add(e);
        }
    };
    match body.core {
        Core::Point => {}
        Core::Segment(half) => edge(half),
        Core::Triangle([a, b, c]) => {
            let top = body.support(d);
            for p in [a, b, c] {
                edge(p - top);
            }
        }
        Core::Box(_) => [rot.x, rot.y, rot.z].into_iter().for_each(edge),
        Core::Hull(hull) => {
            let top = hull.support_index(rot.transpose_mul(d));
            for &j in hull.neighbours_of(top) {
                edge(rot * (hull.vertices[j as usize] - hull.vertices[top]));
            }
        }
        Core::Cylinder { radius, .. } => {
            // A disc and a segment: their support functions add.
            let across = rot.z.cross(d);
            let sine = across.norm();
            if sine > square {
                let t = across * (1.0 / sine);
                edge(rot.z);
                local.curvature = Sym3::outer(radius / sine, t);
            } else {
                // The cap.
                local.edges = Edges { first: Some(rot.x), plane: Some(rot.z) };
            }
        }
        Core::Ellipsoid(r) => {
            // h = ‖D d‖ with D the semi-axes: ∇²h = (A − s sᵀ) / h, A = D², s = A d / h.
            let l = rot.transpose_mul(d);
            let scaled = Vec3::new(r.x * r.x * l.x, r.y * r.y * l.y, r.z * r.z * l.z);
            let h = scaled.dot(l).sqrt();
            let a = Sym3::diagonal(Vec3::new(r.x * r.x, r.y * r.y, r.z * r.z));
            local.curvature = ((a - Sym3::outer(1.0 / (h * h), scaled)) * (1.0 / h)).rotated(rot);
        }
    }
    local
}
