//! The composite-rigid-body algorithm (RBDA §6.2), in world axes with each node's frame at its own joint.

use spatial::{Mat3, Real, Sym3, Vec3, Wrench};

use super::articulated::{joint_motion, turned_inertia};
use super::broadcast::{Broadcast, read_vec};
use super::fused::{plus_cross, plus_outer_sym};
use super::inverse_dynamics::project;
use super::packed::PackedTree;
use super::placed::{Oriented, orient_joint};
use crate::{JointType, NO_PARENT};

/// Scratch of the mass matrix.
#[derive(Clone, Debug, Default)]
pub struct MassMatrix<T: Real> {
    /// Masses of nodes with all behind them: the same at every configuration.
    masses: Vec<T::Scalar>,
    oriented: Vec<Oriented<T>>,
    composites: Vec<Composite<T>>,
}

/// Mass times centre of mass, and inertia, about the node's origin.
#[derive(Clone, Copy, Debug)]
struct Composite<T> {
    moment: Vec3<T>,
    inertia: Sym3<T>,
}

/// Momenta of unit motions of a joint, about the node's origin.
#[derive(Clone, Copy, Debug)]
struct Columns<T, const N: usize> {
    ang: [Vec3<T>; N],
    lin: [Vec3<T>; N],
}

impl<T: Real> MassMatrix<T> {
    /// Scratch for a tree.
    pub fn new(tree: &PackedTree<T::Scalar>) -> Self {
        let n = tree.len();
        let mut masses: Vec<T::Scalar> = tree.nodes.iter().map(|node| node.constants.mass).collect();
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            if node.parent != NO_PARENT {
                let mass = masses[i];
                masses[node.parent] += mass;
            }
        }
        Self {
            masses,
            oriented: vec![Oriented::WORLD; n],
            composites: vec![Composite { moment: Vec3::ZERO, inertia: Sym3::ZERO }; n],
        }
    }
}

impl<T: Real> MassMatrix<T>
where
    T::Scalar: Broadcast<T>,
{
    /// The lower triangle of M at `q` (nq), as in [`ForwardDynamics::aba`](super::ForwardDynamics::aba): `m` (nv × nv),
    /// row-major. Entries between degrees of freedom of different branches, which are zero, are not written, nor is the
    /// upper triangle.
    ///
    /// # Panics
    /// When a slice is too short.
    #[inline(always)]
    pub fn crba<I: Broadcast<T>>(&mut self, tree: &PackedTree<T::Scalar>, q: &[I], m: &mut [I]) {
        for (i, node) in tree.nodes.iter().enumerate() {
            let constants = &node.constants;
            let pos = read_vec(constants.pos);
            let (parent, offset) = if node.parent == NO_PARENT {
                ((Oriented::WORLD.quat, Mat3::IDENTITY), pos)
            } else {
                let parent = &self.oriented[node.parent];
                ((parent.quat, parent.rot), parent.rot * pos)
            };
            let placed = orient_joint(node.joint, node.turned, constants, parent, offset, &q[node.q..]);
            self.oriented[i] = placed;
            self.composites[i] = Composite {
                moment: placed.rot * read_vec(constants.moment),
                inertia: turned_inertia(constants, placed.rot),
            };
        }
        for i in (0..tree.len()).rev() {
            let node = &tree.nodes[i];
            let (whole, mass, rot) = (self.composites[i], self.masses[i].read(), self.oriented[i].rot);
            if node.parent != NO_PARENT {
                let shifted = shifted(&whole, mass, self.oriented[i].offset);
                let parent = &mut self.composites[node.parent];
                parent.moment += shifted.moment;
                parent.inertia += shifted.inertia;
            }
            match node.joint {
                JointType::Ball => {
                    let columns = turns(&whole, rot);
                    write_own(tree.nv, node.v, node.v, rot, &columns, m);
                    self.write_rows(tree, i, columns, m);
                }
                JointType::Free => write_free(tree.nv, node.v, &whole, mass, rot, m),
                _ => {
                    let s = joint_motion(node.joint, &node.constants, rot * read_vec(node.constants.axis));
                    let ang = plus_cross(whole.inertia * s.ang, whole.moment, s.lin);
                    let lin = plus_cross(s.lin * mass, s.ang, whole.moment);
                    m[node.v * tree.nv + node.v] = I::write(s.ang.dot(ang) + s.lin.dot(lin));
                    self.write_rows(tree, i, Columns { ang: [ang], lin: [lin] }, m);
                }
            }
        }
    }

    /// What unit motions of node `i` do to all joints between it and the world.
    #[inline(always)]
    fn write_rows<I: Broadcast<T>, const N: usize>(
        &self,
        tree: &PackedTree<T::Scalar>,
        i: usize,
        mut columns: Columns<T, N>,
        m: &mut [I],
    ) {
        let (stride, row) = (tree.nv, tree.nodes[i].v);
        let mut at = i;
        while tree.nodes[at].parent != NO_PARENT {
            let offset = self.oriented[at].offset;
            for k in 0..N {
                columns.ang[k] = plus_cross(columns.ang[k], offset, columns.lin[k]);
            }
            at = tree.nodes[at].parent;
            let (node, rot) = (&tree.nodes[at], self.oriented[at].rot);
            for k in 0..N {
                let out = &mut m[(row + k) * stride + node.v..];
                project(node, rot, Wrench { ang: columns.ang[k], lin: columns.lin[k] }, out);
            }
        }
    }
}

/// The composite about the parent's origin, which lies `r` before: with g = h + ½ m r, I' = I + 2 r·g − r gᵀ − g rᵀ.
#[inline(always)]
fn shifted<T: Real>(whole: &Composite<T>, mass: T, r: Vec3<T>) -> Composite<T> {
    let g = whole.moment.add_scaled(mass * T::from_f64(0.5), r);
    let twice = r.dot(g) * T::from_f64(2.0);
    let Sym3 { xx, xy, xz, yy, yz, zz } = whole.inertia;
    let inertia = Sym3 { xx: xx + twice, xy, xz, yy: yy + twice, yz, zz: zz + twice };
    Composite {
        moment: whole.moment.add_scaled(mass, r),
        inertia: plus_outer_sym(plus_outer_sym(inertia, -r, g), -g, r),
    }
}

/// Momenta of turns about the axes of `rot`.
#[inline(always)]
fn turns<T: Real>(whole: &Composite<T>, rot: Mat3<T>) -> Columns<T, 3> {
    let Composite { moment, inertia } = *whole;
    Columns {
        ang: [inertia * rot.x, inertia * rot.y, inertia * rot.z],
        lin: [rot.x.cross(moment), rot.y.cross(moment), rot.z.cross(moment)],
    }
}

/// The lower triangle of rotᵀ `ang` in rows from `row`, columns from `column`.
#[inline(always)]
fn write_own<T: Real, I: Broadcast<T>>(
    stride: usize,
    row: usize,
    column: usize,
    rot: Mat3<T>,
    columns: &Columns<T, 3>,
    m: &mut [I],
) {
    let [x, y, z] = columns.ang;
    m[row * stride + column] = I::write(rot.x.dot(x));
    let second = &mut m[(row + 1) * stride + column..];
    (second[0], second[1]) = (I::write(rot.x.dot(y)), I::write(rot.y.dot(y)));
    let third = &mut m[(row + 2) * stride + column..];
    (third[0], third[1], third[2]) = (I::write(rot.x.dot(z)), I::write(rot.y.dot(z)), I::write(rot.z.dot(z)));
}

/// The block of a free joint: linear in the world's axes, then angular in the node's.
#[inline(always)]
fn write_free<T: Real, I: Broadcast<T>>(
    stride: usize,
    v: usize,
    whole: &Composite<T>,
    mass: T,
    rot: Mat3<T>,
    m: &mut [I],
) {
    let columns = turns(whole, rot);
    for k in 0..3 {
        let row = &mut m[(v + k) * stride + v..];
        for j in 0..k {
            row[j] = I::write(T::ZERO);
        }
        row[k] = I::write(mass);
        let lin = columns.lin[k];
        let row = &mut m[(v + 3 + k) * stride + v..];
        (row[0], row[1], row[2]) = (I::write(lin.x), I::write(lin.y), I::write(lin.z));
    }
    write_own(stride, v + 3, v + 3, rot, &columns, m);
}
