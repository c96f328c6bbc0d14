//! An island of one tree: products about a common point, and the recursive factor there. Where nodes of the tree push against each
//! other, H of few degrees of freedom is a small matrix.

use multibody::{CommonPoint, Rows, Supports};
use sap::{Block, FactorError, SmallCholesky};

use crate::link::{Link, Term};
use crate::part::Part;

/// Distance of the rows of a small matrix.
const STRIDE: usize = SmallCholesky::MOST;

/// The tree, and what constrains it.
#[derive(Clone, Copy)]
pub(super) struct LoneTree<'a> {
    pub part: &'a Part,
    pub supports: &'a Supports,
    pub links: &'a [Link],
    pub terms: &'a [Term],
}

/// The rows of J of a link with ends, as wrenches on the nodes that move.
struct Push {
    ends: [(usize, Rows); 2],
    /// How many of them there are.
    count: usize,
}

/// Scratch of the products and of the factor.
#[derive(Default)]
pub(super) struct LoneScratch {
    about: CommonPoint,
    /// Of every link with ends, in their order.
    pushes: Vec<Push>,
    /// Λ with the limits.
    lambda: Vec<f64>,
    small: SmallCholesky,
    /// Whether the last factor is the small matrix.
    is_small: bool,
}

impl LoneScratch {
    /// Takes placements and rows of J.
    pub fn place(&mut self, tree: LoneTree<'_>) {
        let Self { about, pushes, .. } = self;
        let kin = &tree.part.kin;
        about.place(&tree.part.tree, kin);
        pushes.clear();
        for link in tree.links {
            let Link::Ends { ends, basis, motion } = link else { continue };
            let mut push = Push { ends: [(0, [[0.0; 8]; 3]); 2], count: 0 };
            for (end, sign) in ends.iter().zip([-1.0, 1.0]) {
                let Some(end) = end else { continue };
                let (node, rows) = &mut push.ends[push.count];
                *node = end.node;
                for (row, axis) in rows.iter_mut().zip([basis.x, basis.y, basis.z]) {
                    *row = about.wrench(end.wrench(axis * sign, *motion), kin.frames[end.node].pos);
                }
                push.count += 1;
            }
            pushes.push(push);
        }
    }

    /// `a_x = A x`, `j_x = J x`
    pub fn products(&mut self, tree: LoneTree<'_>, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]) {
        self.momentum(tree, x, a_x);
        self.rows_of_motions(tree, x, j_x);
    }

    /// `a_x = A x`
    pub fn momentum(&mut self, tree: LoneTree<'_>, x: &[f64], a_x: &mut [f64]) {
        let Part { tree: nodes, impedance, .. } = tree.part;
        self.about.propagate(x);
        self.about.set_momenta();
        a_x.fill(0.0);
        self.about.add_generalized_forces(a_x);
        impedance.add_product(nodes, nodes.all(), x, a_x);
    }

    /// `j_x = J x`
    pub fn row_velocities(&mut self, tree: LoneTree<'_>, x: &[f64], j_x: &mut [f64]) {
        self.about.propagate(x);
        self.rows_of_motions(tree, x, j_x);
    }

    /// J x, the tree being in motion with x.
    fn rows_of_motions(&self, tree: LoneTree<'_>, x: &[f64], j_x: &mut [f64]) {
        let mut pushes = self.pushes.iter();
        let mut row = 0;
        for link in tree.links {
            match link {
                Link::Ends { .. } => {
                    let Some(Push { ends, count }) = pushes.next() else { break };
                    let mut sum = [0.0; 3];
                    for (node, rows) in &ends[..*count] {
                        for (sum, row) in sum.iter_mut().zip(rows) {
                            *sum += self.about.velocity(*node, row);
                        }
                    }
                    j_x[row..row + 3].copy_from_slice(&sum);
                }
                _ => j_x[row] = link.coordinates(tree.terms).map(|(_, dof, c)| c * x[dof]).sum(),
            }
            row += link.rows();
        }
    }

    /// `out += Jᵀ γ`
    pub fn add_transpose(&mut self, tree: LoneTree<'_>, gamma: &[f64], out: &mut [f64]) {
        self.about.clear_wrenches();
        let mut pushes = self.pushes.iter();
        let mut row = 0;
        for link in tree.links {
            match link {
                Link::Ends { .. } => {
                    let Some(Push { ends, count }) = pushes.next() else { break };
                    let gamma = [gamma[row], gamma[row + 1], gamma[row + 2]];
                    if gamma != [0.0; 3] {
                        for (node, rows) in &ends[..*count] {
                            self.about.add_wrench(*node, rows, gamma);
                        }
                    }
                }
                _ => link.coordinates(tree.terms).for_each(|(_, dof, c)| out[dof] += c * gamma[row]),
            }
            row += link.rows();
        }
        self.about.add_generalized_forces(out);
    }

    /// Factors H: along the tree, or as a small matrix where nodes push against each other.
    pub fn factor(&mut self, tree: LoneTree<'_>, hessian: &[Block]) -> Result<(), FactorError> {
        let of_ends = || tree.links.iter().zip(hessian).filter(|(link, _)| matches!(link, Link::Ends { .. }));
        let couples = |(push, (_, block)): (&Push, (_, &Block))| push.count == 2 && block.is_active();
        self.is_small = !tree.terms.is_empty() || self.pushes.iter().zip(of_ends()).any(couples);
        self.about.start_composites();
        for (Push { ends, count }, (_, block)) in self.pushes.iter().zip(of_ends()) {
            // What pushes against the world is one more inertia of its node.
            if *count == 1 && block.is_active() {
                let (node, rows) = &ends[0];
                self.about.add_impedance(*node, rows, &block.0);
            }
        }
        let factored = if self.is_small { self.factor_matrix(tree, hessian) } else { self.recurse(tree, hessian) };
        factored.map_err(|row| FactorError { row })
    }

    fn recurse(&mut self, tree: LoneTree<'_>, hessian: &[Block]) -> Result<(), usize> {
        let Self { about, lambda, .. } = self;
        lambda.clone_from(&tree.part.impedance.diagonal);
        for (link, block) in tree.links.iter().zip(hessian) {
            if let Link::Joint { dof, width, axis, .. } = link {
                debug_assert_eq!(*width, 1, "no ball joints here");
                lambda[*dof] += block.0[0] * axis[0] * axis[0];
            }
        }
        about.factor(lambda)
    }

    fn factor_matrix(&mut self, tree: LoneTree<'_>, hessian: &[Block]) -> Result<(), usize> {
        let Self { about, pushes, small, .. } = self;
        let Part { tree: nodes, impedance, .. } = tree.part;
        let h = small.start(nodes.nv);
        about.write_composites(tree.supports, h, STRIDE);
        impedance.add_to_lower_triangle(nodes, h, STRIDE);
        let mut pushes = pushes.iter();
        for (link, block) in tree.links.iter().zip(hessian) {
            match link {
                Link::Ends { .. } => {
                    let Some(Push { ends, count: 2 }) = pushes.next().filter(|_| block.is_active()) else { continue };
                    let mut j = [[0.0; STRIDE]; 3];
                    for (node, rows) in ends {
                        about.add_rows((*node, rows), tree.supports, j.as_flattened_mut(), STRIDE);
                    }
                    small.add(&j, block);
                }
                _ => add_sum(link.coordinates(tree.terms), block.0[0], small.rows_mut()),
            }
        }
        small.factor().map_err(|error| error.row)
    }

    /// `x = H⁻¹ b`
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        if self.is_small {
            self.small.solve(b, x);
        } else {
            self.about.solve(b, x);
        }
    }
}

/// Adds g c cᵀ to the lower triangle for a row c of J that has few entries.
fn add_sum(terms: impl Iterator<Item = (usize, usize, f64)> + Clone, g: f64, h: &mut [f64]) {
    for (k, (_, i, a)) in terms.clone().enumerate() {
        for (_, j, b) in terms.clone().take(k + 1) {
            h[i.max(j) * STRIDE + i.min(j)] += g * a * b;
        }
    }
}
