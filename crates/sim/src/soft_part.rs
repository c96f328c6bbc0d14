//! A soft body as the constraints of a step see it: condensed to the nodes of its mesh that something touches.
//!
//! The other nodes are eliminated: A_c is the Schur complement of A = M + θ_q θ_vq dt² K + θ_v dt D on the touched nodes. Constraints refer to points, weighted means of touched nodes: a point moves without turning.

use deformable::Dynamics;
use multibody::Loads;
use spatial::{ArticulatedInertia, F64x4, Real, Twist, Vec3, Wrench};

use multibody::EffectiveMass;

/// Nodes of a mesh that a point may be a mean of: those of a quadratic triangle.
pub(crate) const MAX_WEIGHTS: usize = 6;

/// No place.
const NONE: u32 = u32::MAX;

/// A point of a soft body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftPoint {
    /// Places among the touched nodes, ascending, and the weights of these nodes.
    places: [u32; MAX_WEIGHTS],
    weights: [f64; MAX_WEIGHTS],
    count: usize,
    /// Where it is, world, m.
    pub position: Vec3<f64>,
}

impl SoftPoint {
    fn shares(&self) -> impl DoubleEndedIterator<Item = (usize, f64)> + Clone + '_ {
        self.places.iter().zip(&self.weights).take(self.count).map(|(place, weight)| (*place as usize, *weight))
    }

    fn mean(&self, x: &[f64]) -> Vec3<f64> {
        self.shares().fold(Vec3::ZERO, |sum, (place, weight)| sum + vector(x, place) * weight)
    }
}

/// A soft body in a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoftPart {
    /// Nodes of the mesh that constraints refer to, ascending, and the place of every node among them.
    pub touched: Vec<u32>,
    place_of: Vec<u32>,
    pub points: Vec<SoftPoint>,
    /// A_c and its Cholesky factor, (nv, nv), column by column, the lower triangles.
    pub a: Vec<f64>,
    factor: Vec<f64>,
    /// Which of the body's factors it is of.
    factor_count: u64,
    /// Velocities of the touched nodes at the beginning of the step, and those of free motion, (nv).
    pub v_start: Vec<f64>,
    pub v_star: Vec<f64>,
    /// How the points move at the beginning, and by how much free motion changes that.
    pub twists: Vec<Twist<f64>>,
    pub changes: Vec<Twist<f64>>,
    /// An estimate of ‖W‖_F / 3 of every touched node while the others are held, 1/kg.
    mobilities: Vec<f64>,
}

impl SoftPart {
    /// Nothing touches it, which has `nodes` nodes.
    pub fn clear(&mut self, nodes: usize) {
        self.touched.clear();
        self.place_of.clear();
        self.place_of.resize(nodes, NONE);
        self.points.clear();
    }

    /// Something touches a node.
    pub fn touch(&mut self, node: u32) {
        let place = &mut self.place_of[node as usize];
        if *place == NONE {
            *place = 0;
            self.touched.push(node);
        }
    }

    /// All touched nodes are known: they have places now.
    pub fn number(&mut self) {
        self.touched.sort_unstable();
        for (place, node) in (0..).zip(&self.touched) {
            self.place_of[*node as usize] = place;
        }
    }

    /// Adds a point that is the weighted mean of touched and of pinned nodes; its index. `positions` are those of all nodes.
    pub fn add_point(&mut self, nodes: &[u32], weights: &[f64], positions: &[f64]) -> usize {
        let (places, position) = ([NONE; MAX_WEIGHTS], Vec3::ZERO);
        let mut point = SoftPoint { places, weights: [0.0; MAX_WEIGHTS], count: 0, position };
        for (node, weight) in nodes.iter().zip(weights).filter(|(_, weight)| **weight != 0.0).take(MAX_WEIGHTS) {
            point.position += vector(positions, *node as usize) * *weight;
            let place = self.place_of[*node as usize];
            if place == NONE {
                // It is pinned.
                continue;
            }
            let at = point.places[..point.count].partition_point(|other| *other < place);
            point.places.copy_within(at..point.count, at + 1);
            point.weights.copy_within(at..point.count, at + 1);
            (point.places[at], point.weights[at]) = (place, *weight);
            point.count += 1;
        }
        self.points.push(point);
        self.points.len() - 1
    }

    pub fn nv(&self) -> usize {
        3 * self.touched.len()
    }

    /// Takes note of the factor of A_c and of the velocities of all nodes at the beginning, `v_start`, and of free motion.
    pub fn begin(&mut self, v_start: &[f64], dynamics: &Dynamics) {
        if self.factor_count != dynamics.factor_count() {
            self.factor_count = dynamics.factor_count();
            self.factor.clear();
            self.factor.extend_from_slice(dynamics.schur_factor());
            self.multiply();
            self.find_mobilities();
        }
        let v_star = dynamics.v_star();
        for (own, all) in [(&mut self.v_start, v_start), (&mut self.v_star, v_star)] {
            own.clear();
            own.extend(self.touched.iter().flat_map(|node| &all[3 * *node as usize..][..3]));
        }
        let lin = |of: Vec3<f64>| Twist { ang: Vec3::ZERO, lin: of };
        self.twists.clear();
        self.twists.extend(self.points.iter().map(|point| lin(point.mean(&self.v_start))));
        self.changes.clear();
        let ends = self.points.iter().zip(&self.twists);
        self.changes.extend(ends.map(|(point, start)| lin(point.mean(&self.v_star) - start.lin)));
    }

    fn find_mobilities(&mut self) {
        let n = self.nv();
        self.mobilities.clear();
        for first in (0..n).step_by(3) {
            let entry = |i: usize, j: usize| self.a[first + i + (first + j) * n];
            self.mobilities.push(EffectiveMass::PER_TRACE * inverse_trace(entry));
        }
    }

    /// A_c = L Lᵀ.
    fn multiply(&mut self) {
        let n = self.nv();
        self.a.clear();
        self.a.resize(n * n, 0.0);
        for j in 0..n {
            let out = &mut self.a[j * n + j..(j + 1) * n];
            for column in self.factor.chunks_exact(n).take(j + 1) {
                let l = column[j];
                out.iter_mut().zip(&column[j..]).for_each(|(out, column)| *out += l * column);
            }
        }
    }

    /// How easily a point is moved, its neighbours held, 1/kg: see [`multibody::NodeMobility::inverse`].
    pub fn mobility(&self, point: usize) -> f64 {
        self.points[point].shares().map(|(place, weight)| weight * weight * self.mobilities[place]).sum()
    }

    /// The motions of the points under velocities `x`.
    pub fn propagate(&self, x: &[f64], motions: &mut [Twist<f64>]) {
        for (point, motion) in self.points.iter().zip(motions) {
            *motion = Twist { ang: Vec3::ZERO, lin: point.mean(x) };
        }
    }

    /// `a_x = A_c x`.
    pub fn momentum(&self, x: &[f64], a_x: &mut [f64]) {
        let n = self.nv();
        let (x, a_x) = (&x[..n], &mut a_x[..n]);
        a_x.fill(0.0);
        for (j, column) in self.a.chunks_exact(n.max(1)).enumerate() {
            let (below, x_j) = (&column[j + 1..], x[j]);
            let mut sum = column[j] * x_j;
            for ((a, x), out) in below.iter().zip(&x[j + 1..]).zip(&mut a_x[j + 1..]) {
                *out += a * x_j;
                sum += a * x;
            }
            a_x[j] += sum;
        }
    }

    /// A_c (v₀ − v*).
    pub fn momentum_to_start(&self, out: &mut [f64]) {
        let n = self.nv();
        out[..n].fill(0.0);
        for (j, column) in self.a.chunks_exact(n.max(1)).enumerate() {
            let change = |i: usize| self.v_start[i] - self.v_star[i];
            let x_j = change(j);
            let mut sum = column[j] * x_j;
            for i in j + 1..n {
                out[i] += column[i] * x_j;
                sum += column[i] * change(i);
            }
            out[j] += sum;
        }
    }

    /// Adds what forces at the points do to the nodes.
    pub fn add_forces(&self, wrenches: &[Wrench<f64>], out: &mut [f64]) {
        for (point, wrench) in self.points.iter().zip(wrenches) {
            if wrench.lin == Vec3::ZERO {
                continue;
            }
            for (place, weight) in point.shares() {
                let force = (wrench.lin * weight).to_array();
                out[3 * place..][..3].iter_mut().zip(force).for_each(|(out, force)| *out += force);
            }
        }
    }

    pub fn diagonal(&self, d: &mut [f64]) {
        let n = self.nv();
        d[..n].iter_mut().enumerate().for_each(|(i, d)| *d = self.a[i + i * n]);
    }

    /// L⁻¹ of loads on a point: `f(dof, entries)` for all entries that are not zero.
    pub fn carry(&self, point: usize, loads: &Loads, scratch: &mut Vec<F64x4>, mut f: impl FnMut(usize, F64x4)) {
        let n = self.nv();
        let force = loads.wrench.lin;
        scratch.clear();
        scratch.resize(n, F64x4::ZERO);
        let mut first = n;
        for (place, weight) in self.points[point].shares() {
            first = first.min(3 * place);
            let weight = F64x4::splat(weight);
            for (sum, force) in scratch[3 * place..].iter_mut().zip([force.x, force.y, force.z]) {
                *sum = force.mul_add(weight, *sum);
            }
        }
        for (j, column) in self.factor.chunks_exact(n.max(1)).enumerate().skip(first) {
            let u = scratch[j] * F64x4::splat(1.0 / column[j]);
            f(j, u);
            for (sum, l) in scratch[j + 1..].iter_mut().zip(&column[j + 1..]) {
                *sum -= u * F64x4::splat(*l);
            }
        }
    }

    /// `x = L⁻ᵀ x`.
    pub fn respond(&self, x: &mut [f64]) {
        let n = self.nv();
        let x = &mut x[..n];
        for (j, column) in self.factor.chunks_exact(n.max(1)).enumerate().rev() {
            let solved = column[j + 1..].iter().zip(&x[j + 1..]).fold(0.0, |sum, (l, x)| sum + l * x);
            x[j] = (x[j] - solved) / column[j];
        }
    }

    /// Adds A_c and the impedances of the points, where there are any, to the lower triangle of a matrix of zeros.
    pub fn assemble(&self, impedance: &[ArticulatedInertia<f64>], values: &mut [f64], stride: usize) {
        let n = self.nv();
        for (j, column) in self.a.chunks_exact(n.max(1)).enumerate() {
            values[j * stride + j..j * stride + n].copy_from_slice(&column[j..]);
        }
        for (point, impedance) in self.points.iter().zip(impedance) {
            let c = impedance.c;
            if c == spatial::Sym3::ZERO {
                continue;
            }
            let columns = c.to_mat3();
            for (i, row_weight) in point.shares() {
                for (j, column_weight) in point.shares().take_while(|(j, _)| *j <= i) {
                    for (k, column) in [columns.x, columns.y, columns.z].into_iter().enumerate() {
                        let out = &mut values[(3 * j + k) * stride + 3 * i..][..3];
                        let added = (column * (row_weight * column_weight)).to_array();
                        out.iter_mut().zip(added).for_each(|(out, added)| *out += added);
                    }
                }
            }
        }
    }

    /// Tells `push` the columns that move a point, from the last to the first, and its motion per unit of each.
    pub fn each_column(&self, point: usize, mut push: impl FnMut(usize, Twist<f64>)) {
        self.points[point].shares().rev().for_each(|(place, weight)| push_place(place, weight, &mut push));
    }

    /// The same of the motion of point `b` relative to point `a`.
    pub fn each_relative_column(&self, [a, b]: [usize; 2], mut push: impl FnMut(usize, Twist<f64>)) {
        let (mut of_a, mut of_b) = (self.points[a].shares().rev().peekable(), self.points[b].shares().rev().peekable());
        loop {
            let place = match (of_a.peek(), of_b.peek()) {
                (Some((i, _)), Some((j, _))) => (*i).max(*j),
                (Some((i, _)), None) | (None, Some((i, _))) => *i,
                (None, None) => return,
            };
            let weight = of_b.next_if(|(i, _)| *i == place).map_or(0.0, |(_, weight)| weight)
                - of_a.next_if(|(i, _)| *i == place).map_or(0.0, |(_, weight)| weight);
            push_place(place, weight, &mut push);
        }
    }
}

fn push_place(place: usize, weight: f64, push: &mut impl FnMut(usize, Twist<f64>)) {
    for axis in (0..3).rev() {
        let unit = |k: usize| if k == axis { weight } else { 0.0 };
        push(3 * place + axis, Twist { ang: Vec3::ZERO, lin: Vec3::new(unit(0), unit(1), unit(2)) });
    }
}

fn vector(x: &[f64], place: usize) -> Vec3<f64> {
    Vec3::new(x[3 * place], x[3 * place + 1], x[3 * place + 2])
}

/// The trace of the inverse of a symmetric matrix of three rows, given by its lower triangle.
fn inverse_trace(a: impl Fn(usize, usize) -> f64) -> f64 {
    let (xx, yy, zz, xy, xz, yz) = (a(0, 0), a(1, 1), a(2, 2), a(1, 0), a(2, 0), a(2, 1));
    let cofactors = [yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy];
    let determinant = xx * cofactors[0] + xy * (xz * yz - xy * zz) + xz * (xy * yz - yy * xz);
    cofactors.iter().sum::<f64>() / determinant
}
