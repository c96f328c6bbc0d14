//! Elements side by side in lanes: forces, stiffness, energies, stresses.

use spatial::{F64x4, Mat3, Real, Vec3};

use crate::isotropic::{self, ProjectedTangent, Tangent};
use crate::law::Law;
use crate::mesh::TetMesh;
use crate::order::Order;
use crate::polar::rotation;
use crate::{MaterialModel, shape};

/// Elements side by side.
pub(crate) const LANES: usize = 4;
/// Bundles of elements that a thread takes at once.
const BUNDLES_PER_CHUNK: usize = 16;

pub(crate) type Lane = F64x4;

/// A quadrature point of a bundle of elements.
#[derive(Clone, Copy, Debug)]
struct Point<const N: usize> {
    /// Volume that it stands for, m³; 0 in lanes without an element.
    weight: Lane,
    /// 1/m.
    gradients: [Vec3<Lane>; N],
}

/// Some elements of `N` nodes and `Q` quadrature points, and what they evaluate to.
#[derive(Clone, Debug)]
pub(crate) struct Chunk<const N: usize, const Q: usize> {
    /// The nodes of each lane of each bundle; lanes without an element repeat one.
    nodes: Vec<[[u32; N]; LANES]>,
    /// How many elements there are.
    count: usize,
    points: Vec<[Point<N>; Q]>,
    /// dV/dx of each node, N.
    forces: Vec<[Vec3<Lane>; N]>,
    /// Of every element, by rows of its lower triangle of blocks: column-major 3×3, N/m.
    stiffness: Vec<[f64; 9]>,
}

/// Blocks of the lower triangle of an element's stiffness.
pub(crate) const fn block_count(nodes: usize) -> usize {
    nodes * (nodes + 1) / 2
}

impl<const N: usize, const Q: usize> Chunk<N, Q> {
    /// The chunks of a mesh.
    pub fn of(mesh: &TetMesh) -> Vec<Self> {
        let per_chunk = BUNDLES_PER_CHUNK * LANES;
        let all = mesh.element_count();
        (0..all).step_by(per_chunk).map(|first| Self::new(mesh, first, per_chunk.min(all - first))).collect()
    }

    fn new(mesh: &TetMesh, first: usize, count: usize) -> Self {
        let bundles = count.div_ceil(LANES);
        let element = |bundle: usize, lane: usize| first + (bundle * LANES + lane).min(count - 1);
        let nodes = (0..bundles)
            .map(|b| std::array::from_fn(|lane| std::array::from_fn(|k| mesh.element(element(b, lane))[k])))
            .collect();
        let share = 1.0 / (6.0 * Q as f64);
        let point = |b: usize, q: usize| {
            let mut point = Point { weight: Lane::ZERO, gradients: [Vec3::ZERO; N] };
            for lane in 0..LANES {
                let x = |k: usize| mesh.positions()[mesh.element(element(b, lane))[k] as usize];
                let (gradients, jacobian) = shape::gradients(mesh.order(), shape::stiffness_points(mesh.order())[q], x);
                if b * LANES + lane < count {
                    point.weight.set_lane(lane, share * jacobian);
                }
                for (wide, g) in point.gradients.iter_mut().zip(gradients) {
                    wide.x.set_lane(lane, g.x);
                    wide.y.set_lane(lane, g.y);
                    wide.z.set_lane(lane, g.z);
                }
            }
            point
        };
        Self {
            nodes,
            count,
            points: (0..bundles).map(|b| std::array::from_fn(|q| point(b, q))).collect(),
            forces: vec![[Vec3::ZERO; N]; bundles],
            stiffness: vec![[0.0; 9]; count * block_count(N)],
        }
    }

    /// What the nodes of a bundle have of a vector of three numbers a node.
    #[inline(always)]
    fn gather(&self, bundle: usize, x: &[f64]) -> [Vec3<Lane>; N] {
        std::array::from_fn(|k| {
            let at = self.nodes[bundle].map(|nodes| {
                let first = 3 * nodes[k] as usize;
                &x[first..first + 3]
            });
            let component = |c: usize| Lane::from_array(at.map(|x| x[c]));
            Vec3::new(component(0), component(1), component(2))
        })
    }

    /// Fills stiffness and forces, those of a linear-corotated material in the axes at `x0`; of nonlinear materials both are at `x`, the
    /// stiffness projected to be semidefinite or not.
    pub fn linearize(&mut self, law: &Law, x0: &[f64], x: &[f64], is_projected: bool) {
        for bundle in 0..self.nodes.len() {
            let (x0, x) = (self.gather(bundle, x0), self.gather(bundle, x));
            let mut blocks = Blocks::<N>::ZERO;
            let mut forces = [Vec3::ZERO; N];
            for point in &self.points[bundle] {
                let f = gradient(&x, &point.gradients);
                let r = match law.model {
                    MaterialModel::Linear => Mat3::IDENTITY,
                    MaterialModel::LinearCorotated => rotation(gradient(&x0, &point.gradients)),
                    MaterialModel::Corotated | MaterialModel::StableNeoHookean => {
                        let add = |a: usize, b: usize, block| blocks.0[a][b] = blocks.0[a][b] + block;
                        if is_projected {
                            ProjectedTangent::new(f, law).each_block(&point.gradients, point.weight, add);
                        } else {
                            Tangent::new(f, law).each_block(&point.gradients, point.weight, add);
                        }
                        add_forces(&mut forces, point, isotropic::stress(f, law));
                        continue;
                    }
                };
                blocks.add_hooke(point, r, law);
                add_forces(&mut forces, point, hooke(f, r, law));
            }
            self.forces[bundle] = forces;
            blocks.write(&mut self.stiffness, bundle, self.count);
        }
    }

    /// Fills the forces at `x`.
    pub fn find_forces(&mut self, law: &Law, x: &[f64]) {
        for bundle in 0..self.nodes.len() {
            let x = self.gather(bundle, x);
            let mut forces = [Vec3::ZERO; N];
            for point in &self.points[bundle] {
                add_forces(&mut forces, point, first_piola(gradient(&x, &point.gradients), law));
            }
            self.forces[bundle] = forces;
        }
    }

    /// The elastic energy at `x`, J.
    pub fn energy(&self, law: &Law, x: &[f64]) -> f64 {
        let mut energy = Lane::ZERO;
        for bundle in 0..self.nodes.len() {
            let x = self.gather(bundle, x);
            for point in &self.points[bundle] {
                let f = gradient(&x, &point.gradients);
                energy += point.weight * energy_density(f, law);
            }
        }
        energy.to_array().iter().sum()
    }

    /// Calls `visit` with the nodes of each bundle's elements, and F and the volume (m³) of every quadrature point.
    pub fn for_each_gradient(&self, x: &[f64], mut visit: impl FnMut(&[[u32; N]], [(Mat3<Lane>, Lane); Q])) {
        for (bundle, points) in self.points.iter().enumerate() {
            let x = self.gather(bundle, x);
            let elements = (self.count - bundle * LANES).min(LANES);
            let at = |q: usize| (gradient(&x, &points[q].gradients), points[q].weight);
            visit(&self.nodes[bundle][..elements], std::array::from_fn(at));
        }
    }

    /// Where in [`Self::force`]'s terms the force on node `k` of element `e` is.
    pub fn force_place(e: usize, k: usize) -> (usize, usize) {
        let per_chunk = BUNDLES_PER_CHUNK * LANES;
        let (chunk, e) = (e / per_chunk, e % per_chunk);
        (chunk, (e / LANES * N + k) * 3 * LANES + e % LANES)
    }

    /// Where in [`Self::stiffness`] the block of nodes `a` ≥ `b` of element `e` is.
    pub fn block_place(e: usize, a: usize, b: usize) -> (usize, usize) {
        let per_chunk = BUNDLES_PER_CHUNK * LANES;
        (e / per_chunk, e % per_chunk * block_count(N) + a * (a + 1) / 2 + b)
    }

    /// The force at a place, N.
    #[inline(always)]
    pub fn force(&self, at: usize) -> [f64; 3] {
        let (bundle, rest) = (at / (3 * LANES * N), at % (3 * LANES * N));
        let f = self.forces[bundle][rest / (3 * LANES)];
        let lane = rest % (3 * LANES);
        [f.x.lane(lane), f.y.lane(lane), f.z.lane(lane)]
    }

    /// Blocks of all elements.
    pub fn stiffness(&self) -> &[[f64; 9]] {
        &self.stiffness
    }
}

/// F = ∂x/∂X.
#[inline(always)]
fn gradient<const N: usize>(x: &[Vec3<Lane>; N], gradients: &[Vec3<Lane>; N]) -> Mat3<Lane> {
    let mut f = Mat3::ZERO;
    for (x, g) in x.iter().zip(gradients) {
        f = Mat3::from_columns(f.x.add_scaled(g.x, *x), f.y.add_scaled(g.y, *x), f.z.add_scaled(g.z, *x));
    }
    f
}

/// First Piola–Kirchhoff stress, Pa.
#[inline(always)]
pub(crate) fn first_piola(f: Mat3<Lane>, law: &Law) -> Mat3<Lane> {
    let r = match law.model {
        MaterialModel::Linear => Mat3::IDENTITY,
        MaterialModel::LinearCorotated => rotation(f),
        MaterialModel::Corotated | MaterialModel::StableNeoHookean => return isotropic::stress(f, law),
    };
    hooke(f, r, law)
}

/// First Piola–Kirchhoff stress of Hooke's law in axes turned by `r`, Pa.
#[inline(always)]
fn hooke(f: Mat3<Lane>, r: Mat3<Lane>, law: &Law) -> Mat3<Lane> {
    let s = r.transpose() * f;
    let mu = Lane::splat(law.mu);
    let trace = Lane::splat(law.lambda) * (s.x.x + s.y.y + s.z.z - Lane::splat(3.0));
    let mut t = (s + s.transpose()) * mu;
    let off = trace - mu - mu;
    t.x.x += off;
    t.y.y += off;
    t.z.z += off;
    r * t
}

/// Adds w P g of every node.
#[inline(always)]
fn add_forces<const N: usize>(forces: &mut [Vec3<Lane>; N], point: &Point<N>, stress: Mat3<Lane>) {
    let stress = stress * point.weight;
    for (force, g) in forces.iter_mut().zip(&point.gradients) {
        *force += stress * *g;
    }
}

/// Energy per undeformed volume, J/m³.
#[inline(always)]
fn energy_density(f: Mat3<Lane>, law: &Law) -> Lane {
    let r = match law.model {
        MaterialModel::Linear => Mat3::IDENTITY,
        MaterialModel::LinearCorotated => rotation(f),
        MaterialModel::Corotated | MaterialModel::StableNeoHookean => return isotropic::energy_density(f, law),
    };
    let s = r.transpose() * f;
    let half = Lane::splat(0.5);
    let one = Lane::ONE;
    let (xx, yy, zz) = (s.x.x - one, s.y.y - one, s.z.z - one);
    let (xy, xz, yz) = (half * (s.x.y + s.y.x), half * (s.x.z + s.z.x), half * (s.y.z + s.z.y));
    let square = xx * xx + yy * yy + zz * zz + Lane::splat(2.0) * (xy * xy + xz * xz + yz * yz);
    let trace = xx + yy + zz;
    Lane::splat(law.mu) * square + half * Lane::splat(law.lambda) * trace * trace
}

/// The lower triangle of an element's stiffness in blocks.
struct Blocks<const N: usize>([[Mat3<Lane>; N]; N]);

impl<const N: usize> Blocks<N> {
    const ZERO: Self = Self([[Mat3::ZERO; N]; N]);

    /// Adds μ (gₐ·g_b) 1 + μ h_b hₐᵀ + λ hₐ h_bᵀ, h = R g, of a quadrature point.
    #[inline(always)]
    fn add_hooke(&mut self, point: &Point<N>, r: Mat3<Lane>, law: &Law) {
        let (lambda, mu) = (point.weight * Lane::splat(law.lambda), point.weight * Lane::splat(law.mu));
        let h = point.gradients.map(|g| r * g);
        for a in 0..N {
            let (lambda_a, mu_a) = (h[a] * lambda, h[a] * mu);
            for b in 0..=a {
                let dot = mu_a.dot(h[b]);
                let block = &mut self.0[a][b];
                let mut sum = *block + Mat3::outer(lambda_a, h[b]) + Mat3::outer(h[b], mu_a);
                sum.x.x += dot;
                sum.y.y += dot;
                sum.z.z += dot;
                *block = sum;
            }
        }
    }

    /// Writes the lanes of a bundle to their elements, of which there are `count`.
    #[inline(always)]
    fn write(&self, stiffness: &mut [[f64; 9]], bundle: usize, count: usize) {
        let elements = (count - bundle * LANES).min(LANES);
        for a in 0..N {
            for b in 0..=a {
                let m = &self.0[a][b];
                let columns = [m.x, m.y, m.z].map(|c| c.to_array().map(|x| x.to_array()));
                for lane in 0..elements {
                    let at = (bundle * LANES + lane) * block_count(N) + a * (a + 1) / 2 + b;
                    let out = &mut stiffness[at];
                    for (k, entry) in columns.as_flattened().iter().enumerate() {
                        out[k] = entry[lane];
                    }
                }
            }
        }
    }
}

/// The elements of a mesh of either order.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    Linear(Vec<Chunk<4, 1>>),
    Quadratic(Vec<Chunk<10, 4>>),
}

/// The same expression for both orders.
macro_rules! for_order {
    ($elements:expr, $chunks:ident => $body:expr) => {
        match $elements {
            $crate::elements::Elements::Linear($chunks) => $body,
            $crate::elements::Elements::Quadratic($chunks) => $body,
        }
    };
}
pub(crate) use for_order;

impl Elements {
    pub fn of(mesh: &TetMesh) -> Self {
        match mesh.order() {
            Order::Linear => Self::Linear(Chunk::of(mesh)),
            Order::Quadratic => Self::Quadratic(Chunk::of(mesh)),
        }
    }

    pub fn linearize(&mut self, law: &Law, x0: &[f64], x: &[f64], is_projected: bool, pool: &mut support::ThreadPool) {
        for_order!(self, chunks => pool.parallel_for(chunks, |_, chunk| chunk.linearize(law, x0, x, is_projected)));
    }

    pub fn find_forces(&mut self, law: &Law, x: &[f64], pool: &mut support::ThreadPool) {
        for_order!(self, chunks => pool.parallel_for(chunks, |_, chunk| chunk.find_forces(law, x)));
    }

    pub fn energy(&self, law: &Law, x: &[f64]) -> f64 {
        for_order!(self, chunks => chunks.iter().map(|chunk| chunk.energy(law, x)).sum())
    }

    pub fn force_place(order: Order, e: usize, k: usize) -> (usize, usize) {
        match order {
            Order::Linear => Chunk::<4, 1>::force_place(e, k),
            Order::Quadratic => Chunk::<10, 4>::force_place(e, k),
        }
    }

    pub fn block_place(order: Order, e: usize, a: usize, b: usize) -> (usize, usize) {
        match order {
            Order::Linear => Chunk::<4, 1>::block_place(e, a, b),
            Order::Quadratic => Chunk::<10, 4>::block_place(e, a, b),
        }
    }
}
