//! Shape functions of tetrahedra and their gradients.

use spatial::Vec3;

use crate::order::{EDGES, Order};

/// Barycentric coordinates of a point of an element.
pub(crate) type Barycentric = [f64; 4];

/// The quadrature of stiffness: one point for P1, four for P2, each with the same share of the volume. Exact for quadratic functions.
pub(crate) fn stiffness_points(order: Order) -> &'static [Barycentric] {
    const A: f64 = 0.585_410_196_624_968_5;
    const B: f64 = 0.138_196_601_125_010_5;
    match order {
        Order::Linear => &[[0.25; 4]],
        Order::Quadratic => &[[A, B, B, B], [B, A, B, B], [B, B, A, B], [B, B, B, A]],
    }
}

/// The shape functions at a point; of P1 the last six are zero.
pub(crate) fn values(order: Order, l: Barycentric) -> [f64; 10] {
    let mut n = [0.0; 10];
    match order {
        Order::Linear => n[..4].copy_from_slice(&l),
        Order::Quadratic => {
            (0..4).for_each(|k| n[k] = l[k] * (2.0 * l[k] - 1.0));
            EDGES.iter().enumerate().for_each(|(k, &[a, b])| n[4 + k] = 4.0 * l[a] * l[b]);
        }
    }
    n
}

/// Derivatives of the shape functions in the barycentric coordinates 1, 2, 3, that of corner 0 being the rest.
pub(crate) fn reference_gradients(order: Order, l: Barycentric) -> [Vec3<f64>; 10] {
    const CORNER: [Vec3<f64>; 4] =
        [Vec3::new(-1.0, -1.0, -1.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
    let mut g = [Vec3::ZERO; 10];
    match order {
        Order::Linear => g[..4].copy_from_slice(&CORNER),
        Order::Quadratic => {
            (0..4).for_each(|k| g[k] = CORNER[k] * (4.0 * l[k] - 1.0));
            let edge = |[a, b]: [usize; 2]| CORNER[a] * (4.0 * l[b]) + CORNER[b] * (4.0 * l[a]);
            EDGES.iter().enumerate().for_each(|(k, &ab)| g[4 + k] = edge(ab));
        }
    }
    g
}

/// The shape functions' gradients (1/m) at a point of an element with nodes at `x`, and the Jacobian (six times the volume, where it
/// is constant), m³.
pub(crate) fn gradients(order: Order, l: Barycentric, x: impl Fn(usize) -> Vec3<f64>) -> ([Vec3<f64>; 10], f64) {
    let reference = reference_gradients(order, l);
    let [a, b, c] = tangents(order, &reference, x);
    let det = a.dot(b.cross(c));
    let inverse = [b.cross(c), c.cross(a), a.cross(b)].map(|row| row * (1.0 / det));
    (reference.map(|r| inverse[0] * r.x + inverse[1] * r.y + inverse[2] * r.z), det)
}

/// ∂x/∂ξ, by columns.
pub(crate) fn tangents(order: Order, reference: &[Vec3<f64>; 10], x: impl Fn(usize) -> Vec3<f64>) -> [Vec3<f64>; 3] {
    let mut columns = [Vec3::ZERO; 3];
    for k in 0..order.nodes_per_element() {
        let x = x(k);
        for (column, r) in columns.iter_mut().zip(reference[k].to_array()) {
            *column += x * r;
        }
    }
    columns
}

/// The least Jacobian at an element's nodes and quadrature points, m³.
pub(crate) fn least_jacobian(order: Order, x: impl Fn(usize) -> Vec3<f64> + Copy) -> f64 {
    let at = |l| {
        let [a, b, c] = tangents(order, &reference_gradients(order, l), x);
        a.dot(b.cross(c))
    };
    let corner = |k: usize| [0, 1, 2, 3].map(|i| f64::from(u8::from(i == k)));
    match order {
        Order::Linear => at([0.25; 4]),
        Order::Quadratic => {
            let corners = (0..4).map(corner);
            let middles = EDGES.iter().map(|&[a, b]| [0, 1, 2, 3].map(|i| if i == a || i == b { 0.5 } else { 0.0 }));
            let points = stiffness_points(order).iter().copied().chain(corners).chain(middles);
            // A NaN is passed on: it is neither.
            points.map(at).fold(f64::INFINITY, |least, j| if j >= least { least } else { j })
        }
    }
}
