//! Products with M and J of a tree, and solutions with M + Λ + JᵀGJ, everything about one point.
//!
//! Where motions, momenta and wrenches are all taken about the root's origin, none has to be shifted from node to node: a pass along
//! the tree is a sum, one or two instructions for the six coordinates of a node, and rows of matrices are products of whole registers.
//! What it costs is digits: a body's inertia about a distant point hides what it has about its own joint, by the ratio of the two.
//! So it serves to solve equations whose residual is known, and trees of few degrees of freedom.

mod composites;
mod elimination;

pub use composites::Supports;
use elimination::Pivot;
use spatial::{F64x4, Real, RigidInertia, Sym3, Twist, Vec3, Wrench};

use crate::kinematics::joint_axis;
use crate::{Kinematics, Tree};

const LANES: usize = 4;

type Register = [f64; LANES];

/// A motion or a wrench about the common point, angular first, and two zeros that fill registers up.
pub type Coordinates = [f64; 8];

/// Three wrenches: the rows of a contact.
pub type Rows = [Coordinates; 3];

/// An inertia or an impedance about the common point.
type Matrix = [Coordinates; 6];

/// A tree about one point at a configuration, and scratch; reused from one to the next.
///
/// Every degree of freedom has a place of its own, those of one joint in a chain of which the last carries the node. The world has one
/// more place, at the end, so that a root is like all others.
#[derive(Clone, Debug, Default)]
pub struct CommonPoint {
    point: Vec3<f64>,
    /// The place before each.
    parents: Vec<usize>,
    /// The place of each node.
    places: Vec<usize>,
    /// S, a column for every degree of freedom.
    motions: Vec<Coordinates>,
    /// The same in rows, where matrices are written out: of four degrees of freedom each, the six coordinates.
    in_rows: Vec<[Register; 6]>,
    /// Inertias of the places; zero but at nodes.
    inertias: Vec<Matrix>,
    /// Velocities of the places in the last product.
    twists: Vec<Coordinates>,
    /// Wrenches on the places.
    wrenches: Vec<Coordinates>,
    /// Inertias with impedances; later what meets the joints, of the places and of all that moves with them.
    composites: Vec<Matrix>,
    /// What the elimination of each degree of freedom leaves behind.
    pivots: Vec<Pivot>,
}

impl CommonPoint {
    /// Takes the placements of a tree.
    pub fn place(&mut self, tree: &Tree<f64>, kin: &Kinematics<f64>) {
        let point = kin.frames.first().map_or(Vec3::ZERO, |root| root.pos);
        self.point = point;
        self.parents.clear();
        self.places.clear();
        self.motions.clear();
        self.inertias.resize(tree.nv, ZERO);
        for (node, frame) in tree.nodes.iter().zip(&kin.frames) {
            let mut parent = self.places.get(node.parent).copied().unwrap_or(tree.nv);
            for k in 0..node.joint.nv() {
                let Twist { ang, lin } = joint_axis(node, frame, k).shifted(point - frame.pos);
                let motion = coordinates(ang, lin);
                let dof = node.v + k;
                self.motions.push(motion);
                self.parents.push(parent);
                self.inertias[dof] = ZERO;
                parent = dof;
            }
            self.places.push(parent);
            if node.inertia != RigidInertia::ZERO {
                self.inertias[parent] = inertia_matrix(&frame.inertia, frame.pos - point);
            }
        }
        self.twists.clear();
        self.twists.resize(tree.nv + 1, [0.0; 8]);
        self.wrenches.resize(tree.nv + 1, [0.0; 8]);
    }

    /// A wrench about the world's point `at`.
    #[inline(always)]
    pub fn wrench(&self, w: Wrench<f64>, at: Vec3<f64>) -> Coordinates {
        let w = w.shifted_back(at - self.point);
        coordinates(w.ang, w.lin)
    }

    /// The velocities of all nodes where the degrees of freedom have `x`, for [`velocity`](Self::velocity); a
    /// [`solve`](Self::solve) leaves those of its solution.
    pub fn propagate(&mut self, x: &[f64]) {
        for (i, ((x, motion), parent)) in x.iter().zip(&self.motions).zip(&self.parents).enumerate() {
            self.twists[i] = joined(add_scaled(*x, motion, halves(&self.twists[*parent])));
        }
    }

    /// The power of a wrench on a node at the velocities of the last [`propagate`](Self::propagate): of a contact, the velocity of its
    /// point along a direction.
    #[inline(always)]
    pub fn velocity(&self, node: usize, wrench: &Coordinates) -> f64 {
        dot(&self.twists[self.places[node]], wrench)
    }

    /// Starts a sum of wrenches: none on any node.
    pub fn clear_wrenches(&mut self) {
        self.wrenches.fill([0.0; 8]);
    }

    /// Sets the wrenches to the momenta of the nodes at the velocities of the last [`propagate`](Self::propagate).
    pub fn set_momenta(&mut self) {
        self.clear_wrenches();
        for place in &self.places {
            self.wrenches[*place] = product(&self.inertias[*place], &self.twists[*place]);
        }
    }

    /// Adds Σ_k `x_k` `rows_k` to the wrenches on a node.
    #[inline(always)]
    pub fn add_wrench(&mut self, node: usize, rows: &Rows, x: [f64; 3]) {
        let wrench = &mut self.wrenches[self.places[node]];
        let mut sum = halves(wrench);
        for (row, x) in rows.iter().zip(x) {
            sum = add_scaled(x, row, sum);
        }
        *wrench = joined(sum);
    }

    /// Adds Jᵀ times the wrenches to `out`; they are used up as scratch.
    pub fn add_generalized_forces(&mut self, out: &mut [f64]) {
        for (i, ((out, motion), parent)) in out.iter_mut().zip(&self.motions).zip(&self.parents).enumerate().rev() {
            let own = self.wrenches[i];
            *out += dot(motion, &own);
            let parent = &mut self.wrenches[*parent];
            *parent = sum(parent, &own);
        }
    }

    /// Starts a sum of inertias and impedances: M alone.
    pub fn start_composites(&mut self) {
        self.composites.clear();
        self.composites.extend_from_slice(&self.inertias);
        self.composites.push(ZERO);
    }

    /// Adds the impedance Wᵀ G W between a node and the world, `w` the rows of W; G is given by
    /// \[G₁₁, G₁₂, G₁₃, G₂₂, G₂₃, G₃₃\].
    #[inline]
    pub fn add_impedance(&mut self, node: usize, w: &Rows, g: &[f64; 6]) {
        let [g11, g12, g13, g22, g23, g33] = *g;
        let none = [F64x4::ZERO; 2];
        let g_w = [[g11, g12, g13], [g12, g22, g23], [g13, g23, g33]]
            .map(|g| add_scaled(g[2], &w[2], add_scaled(g[1], &w[1], add_scaled(g[0], &w[0], none))));
        for (k, row) in self.composites[self.places[node]].iter_mut().enumerate() {
            let mut sum = halves(row);
            for (w, g_w) in w.iter().zip(&g_w) {
                let share = F64x4::splat(w[k]);
                sum = [0, 1].map(|half| g_w[half].mul_add(share, sum[half]));
            }
            *row = joined(sum);
        }
    }
}

const ZERO: Matrix = [[0.0; 8]; 6];

/// The inertia of a body whose frame's origin is `r` from the common point.
#[inline(always)]
fn inertia_matrix(body: &RigidInertia<f64>, r: Vec3<f64>) -> Matrix {
    let com = body.com + r;
    let (m, Vec3 { x, y, z }) = (body.mass, com * body.mass);
    let d = com.x * x + com.y * y + com.z * z;
    let i = body.inertia + Sym3::diagonal(Vec3::new(d, d, d)) - Sym3::outer(m, com);
    [
        [i.xx, i.xy, i.xz, 0.0, -z, y, 0.0, 0.0],
        [i.xy, i.yy, i.yz, z, 0.0, -x, 0.0, 0.0],
        [i.xz, i.yz, i.zz, -y, x, 0.0, 0.0, 0.0],
        [0.0, z, -y, m, 0.0, 0.0, 0.0, 0.0],
        [-z, 0.0, x, 0.0, m, 0.0, 0.0, 0.0],
        [y, -x, 0.0, 0.0, 0.0, m, 0.0, 0.0],
    ]
}

#[inline(always)]
fn coordinates(ang: Vec3<f64>, lin: Vec3<f64>) -> Coordinates {
    [ang.x, ang.y, ang.z, lin.x, lin.y, lin.z, 0.0, 0.0]
}

#[inline(always)]
fn halves(x: &Coordinates) -> [F64x4; 2] {
    let [a, b, c, d, e, f, g, h] = *x;
    [F64x4::from_array([a, b, c, d]), F64x4::from_array([e, f, g, h])]
}

#[inline(always)]
fn joined(x: [F64x4; 2]) -> Coordinates {
    let ([a, b, c, d], [e, f, g, h]) = (x[0].to_array(), x[1].to_array());
    [a, b, c, d, e, f, g, h]
}

#[inline(always)]
fn add_scaled(a: f64, x: &Coordinates, y: [F64x4; 2]) -> [F64x4; 2] {
    let (a, x) = (F64x4::splat(a), halves(x));
    [x[0].mul_add(a, y[0]), x[1].mul_add(a, y[1])]
}

#[inline(always)]
fn sum(x: &Coordinates, y: &Coordinates) -> Coordinates {
    let (x, y) = (halves(x), halves(y));
    joined([x[0] + y[0], x[1] + y[1]])
}

#[inline(always)]
fn dot(x: &Coordinates, y: &Coordinates) -> f64 {
    let (x, y) = (halves(x), halves(y));
    let [a, b, c, d] = x[1].mul_add(y[1], x[0] * y[0]).to_array();
    (a + b) + (c + d)
}

#[inline(always)]
fn product(matrix: &Matrix, x: &Coordinates) -> Coordinates {
    // Two sums, so that one does not wait for the other.
    let mut even = [F64x4::ZERO; 2];
    let mut odd = [F64x4::ZERO; 2];
    for k in 0..3 {
        even = add_scaled(x[2 * k], &matrix[2 * k], even);
        odd = add_scaled(x[2 * k + 1], &matrix[2 * k + 1], odd);
    }
    joined([even[0] + odd[0], even[1] + odd[1]])
}
