//! The contact problem of a tree that touches only the world, solved by the impedance ABA in O(n + n_c).

use multibody::{Factor, JointImpedance, add_generalized_forces};
use sap::{Block, Constraint, FactorError, Structure};
use spatial::{ArticulatedInertia, Twist, Vec3, Wrench};

use crate::link::{Link, to_world};
use crate::part::Part;

/// Scratch of a recursive problem, reused from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecursiveScratch {
    factor: Factor<f64>,
    joints: JointImpedance<f64>,
    impedance: Vec<ArticulatedInertia<f64>>,
    motions: Vec<Twist<f64>>,
    wrenches: Vec<Wrench<f64>>,
}

impl RecursiveScratch {
    pub fn resize(&mut self, part: &Part) {
        let n = part.tree.len();
        self.factor.resize(n);
        self.joints.diagonal.resize(part.tree.nv, 0.0);
        self.joints.ball.resize(n, [0.0; 3]);
        self.impedance.resize(n, ArticulatedInertia::ZERO);
        self.motions.resize(n, Twist::ZERO);
        self.wrenches.resize(n, Wrench::ZERO);
    }
}

/// A tree, the constraints on it, and scratch.
pub(crate) struct Recursive<'a> {
    pub part: &'a Part,
    pub links: &'a [Link],
    pub scratch: &'a mut RecursiveScratch,
}

impl Recursive<'_> {
    /// j_x = J x from the motions J x of the nodes.
    fn constraint_velocities(&self, x: &[f64], j_x: &mut [f64]) {
        let mut row = 0;
        for link in self.links {
            match link {
                Link::Points { ends: [a, b], basis } => {
                    let of = |e: &Option<crate::link::End>| e.map_or(Vec3::ZERO, |e| e.velocity(&self.scratch.motions));
                    let relative = basis.transpose_mul(of(b) - of(a));
                    j_x[row..row + 3].copy_from_slice(&relative.to_array());
                    row += 3;
                }
                Link::Joint { dof, width, axis, .. } => {
                    j_x[row] = (0..*width).map(|k| axis[k] * x[dof + k]).sum();
                    row += 1;
                }
            }
        }
    }
}

impl Structure for Recursive<'_> {
    fn nv(&self) -> usize {
        self.part.tree.nv
    }

    fn products(&mut self, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]) {
        let Part { tree, kin, impedance, .. } = self.part;
        let RecursiveScratch { motions, wrenches, .. } = &mut *self.scratch;
        multibody::apply(tree, tree.all(), kin, impedance, x, motions, wrenches, a_x);
        self.constraint_velocities(x, j_x);
    }

    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        let wrenches = &mut self.scratch.wrenches;
        wrenches.fill(Wrench::ZERO);
        let mut row = 0;
        for link in self.links {
            match link {
                Link::Points { ends: [a, b], basis } => {
                    let impulse = *basis * Vec3::new(gamma[row], gamma[row + 1], gamma[row + 2]);
                    if let Some(a) = a {
                        wrenches[a.node] += a.wrench(-impulse);
                    }
                    if let Some(b) = b {
                        wrenches[b.node] += b.wrench(impulse);
                    }
                    row += 3;
                }
                Link::Joint { dof, width, axis, .. } => {
                    for k in 0..*width {
                        out[dof + k] += axis[k] * gamma[row];
                    }
                    row += 1;
                }
            }
        }
        add_generalized_forces(&self.part.tree, self.part.tree.all(), &self.part.kin, wrenches, out);
    }

    fn factor(&mut self, _: &[Constraint], hessian: &[Block]) -> Result<(), FactorError> {
        let Part { tree, kin, impedance, .. } = self.part;
        let scratch = &mut *self.scratch;
        scratch.joints.diagonal.copy_from_slice(&impedance.diagonal);
        scratch.joints.ball.copy_from_slice(&impedance.ball);
        scratch.impedance.fill(ArticulatedInertia::ZERO);
        for (link, block) in self.links.iter().zip(hessian) {
            if !block.is_active() {
                continue;
            }
            match link {
                Link::Points { ends, basis } => {
                    // Both sides are on one node or one of them is the world: the sign of the row does not matter.
                    if let Some(end) = ends[0].or(ends[1]) {
                        scratch.impedance[end.node] += end.impedance(to_world(basis, block));
                    }
                }
                Link::Joint { node, dof, width, axis, .. } => {
                    let g = block.0[0];
                    for k in 0..*width {
                        scratch.joints.diagonal[dof + k] += g * axis[k] * axis[k];
                    }
                    if *width == 3 {
                        let [x, y, z] = *axis;
                        let b = &mut scratch.joints.ball[*node];
                        *b = [b[0] + g * x * y, b[1] + g * x * z, b[2] + g * y * z];
                    }
                }
            }
        }
        scratch.factor.factor(tree, tree.all(), kin, &scratch.joints, Some(&scratch.impedance));
        Ok(())
    }

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let Part { tree, kin, .. } = self.part;
        self.scratch.factor.solve(tree, tree.all(), kin, b, None, x);
    }

    fn scale(&mut self, d: &mut [f64]) {
        self.part.factor.diagonal(&self.part.tree, self.part.tree.all(), d);
        for d in d {
            *d = 1.0 / d.sqrt();
        }
    }
}
