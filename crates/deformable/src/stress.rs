//! Cauchy stress: of elements, and of nodes as the mean over their elements.

use spatial::{Mat3, Real, Sym3};

use crate::MaterialModel;
use crate::elements::{Chunk, Elements, Lane, first_piola, for_order};
use crate::law::Law;
use crate::order::{EDGES, Order};
use crate::shape::{Barycentric, stiffness_points};

/// Elements that have less than this part of their volume have stresses as if they had it: without volume they would be infinite.
const COLLAPSED: f64 = 1e-3;

/// The von Mises stress √(3/2 s:s), s the deviator of a stress, in its unit: in uniaxial tension it is the tension.
pub fn von_mises(stress: &Sym3<f64>) -> f64 {
    let [xx, xy, xz, yy, yz, zz] = stress.entries();
    let (a, b, c) = (xx - yy, yy - zz, zz - xx);
    (0.5 * (a * a + b * b + c * c) + 3.0 * (xy * xy + xz * xz + yz * yz)).sqrt()
}

/// σ = P Fᵀ/det F; where strains are small by the law, P itself.
#[inline(always)]
fn cauchy(f: Mat3<Lane>, law: &Law) -> Sym3<Lane> {
    let p = first_piola(f, law);
    if law.model == MaterialModel::Linear {
        return Sym3::lower(p);
    }
    let det = f.x.dot(f.y.cross(f.z));
    let volume = Real::max(Real::abs(det), Lane::splat(COLLAPSED)).copysign(det);
    // P Fᵀ is symmetric but for round-off.
    Sym3::plus_transpose(p * f.transpose()) * (Lane::splat(0.5) * volume.recip())
}

/// Calls `visit` with every element's nodes, the stress at its quadrature points, and its volume, m³.
fn for_each_element<const N: usize, const Q: usize>(
    chunks: &[Chunk<N, Q>],
    law: &Law,
    x: &[f64],
    mut visit: impl FnMut(&[u32; N], [Sym3<f64>; Q], f64),
) {
    for chunk in chunks {
        chunk.for_each_gradient(x, |elements, points| {
            let stresses = points.map(|(f, _)| cauchy(f, law));
            for (lane, nodes) in elements.iter().enumerate() {
                let volume = points.iter().map(|(_, weight)| weight.lane(lane)).sum();
                visit(nodes, stresses.map(|stress| stress.map(|s| s.lane(lane))), volume);
            }
        });
    }
}

/// The mean over each element.
pub(crate) fn of_elements(elements: &Elements, law: &Law, x: &[f64], out: &mut [Sym3<f64>]) {
    for_order!(elements, chunks => {
        let mut places = out.iter_mut();
        for_each_element(chunks, law, x, |_, stresses, _| {
            let mean = stresses.iter().fold(Sym3::ZERO, |sum, stress| sum + *stress) * (1.0 / stresses.len() as f64);
            places.next().into_iter().for_each(|place| *place = mean);
        });
    });
}

/// The mean over the elements of each node, by volume. `volumes` is scratch, one a node.
pub(crate) fn of_nodes(elements: &Elements, law: &Law, x: &[f64], volumes: &mut [f64], out: &mut [Sym3<f64>]) {
    volumes.fill(0.0);
    out.fill(Sym3::ZERO);
    let mut add = |node: u32, stress: Sym3<f64>, volume: f64| {
        volumes[node as usize] += volume;
        out[node as usize] += stress * volume;
    };
    match elements {
        Elements::Linear(chunks) => for_each_element(chunks, law, x, |nodes, [stress], volume| {
            nodes.iter().for_each(|node| add(*node, stress, volume));
        }),
        Elements::Quadratic(chunks) => {
            let shares = shares_of_points();
            for_each_element(chunks, law, x, |nodes, stresses, volume| {
                for (node, shares) in nodes.iter().zip(&shares) {
                    let at_node = stresses.iter().zip(shares).fold(Sym3::ZERO, |sum, (s, share)| sum + *s * *share);
                    add(*node, at_node, volume);
                }
            });
        }
    }
    out.iter_mut().zip(volumes).for_each(|(stress, volume)| *stress = *stress * (1.0 / *volume));
}

/// How much of the stress at each quadrature point of a quadratic element each of its nodes has: as the linear function through them.
/// Stresses are more exact at quadrature points than they are at nodes.
fn shares_of_points() -> [[f64; 4]; 10] {
    let [largest, least, ..] = stiffness_points(Order::Quadratic)[0];
    let at = |l: Barycentric| l.map(|l| (l - least) / (largest - least));
    std::array::from_fn(|k| {
        let on = |i: usize| if k < 4 { i == k } else { EDGES[k - 4].contains(&i) };
        at(std::array::from_fn(|i| if on(i) { if k < 4 { 1.0 } else { 0.5 } } else { 0.0 }))
    })
}
