//! Unit loads along rows, carried to the roots of trees.

use spatial::{Real, Three, Vec3, Wrench};

use super::super::{Bundle, Dof, Lanes, dofs_of};
use super::{Block, ContactSpace, words};
use crate::plan::{Plan, PlanJacobian};

impl<T: Bundle> Lanes<T> {
    /// Sends a unit load along every row to the roots: of blocks that push one node from there on, of the others all together from node to
    /// node, so that what one waits for, others do meanwhile.
    #[inline(always)]
    pub(crate) fn carry(&mut self, plan: &Plan) {
        self.set_loads(plan);
        let Self { space, dofs, .. } = self;
        let ContactSpace { count, carried, waiting, loads, pushed, .. } = space;
        let (nv, n, words) = (plan.nv, plan.nodes.len(), words(plan));
        for w in (0..words).rev() {
            let mut any = (0..*count).fold(0, |any, b| any | waiting[b * words + w]);
            while any != 0 {
                let bit = 63 - any.leading_zeros() as usize;
                any &= !(1 << bit);
                let i = 64 * w + bit;
                let node = &plan.nodes[i];
                for b in (0..*count).filter(|b| waiting[b * words + w] >> bit & 1 != 0) {
                    let mut load = std::mem::replace(&mut loads[b * n + i], [Wrench::ZERO; 3]);
                    for k in dofs_of(node).rev() {
                        let own = std::mem::replace(&mut pushed[b * nv + k], [T::ZERO; 3]);
                        carried[b * nv + k] = pass(&dofs[k], &mut load, own);
                    }
                    if let Some(parent) = node.parent {
                        for (sum, load) in loads[b * n + parent].iter_mut().zip(load) {
                            *sum += load;
                        }
                    }
                }
            }
        }
    }

    /// Sets what the rows of every block act on, and which nodes their loads pass; of blocks that push one node all that carries them.
    #[inline(always)]
    fn set_loads(&mut self, plan: &Plan) {
        let Self { space, origins, coefficients, slots, dofs, .. } = self;
        let ContactSpace { blocks, count, carried, passing, waiting, loads, pushed, .. } = space;
        let (nv, n, words) = (plan.nv, plan.nodes.len(), words(plan));
        for (b, block) in blocks[..*count].iter().enumerate() {
            let passing = &mut passing[b * words..(b + 1) * words];
            let (loads, pushed) = (&mut loads[b * n..(b + 1) * n], &mut pushed[b * nv..(b + 1) * nv]);
            set_passing(plan, block, passing);
            let axes = [block.frame.x, block.frame.y, block.frame.z];
            let waiting = &mut waiting[b * words..(b + 1) * words];
            waiting.copy_from_slice(passing);
            if let Some((node, sign)) = only_push(plan, block) {
                let arm = block.position - origins[plan.nodes[node].tree];
                carry_alone(plan, dofs, node, unit_loads(axes, arm, sign), &mut carried[b * nv..(b + 1) * nv]);
                waiting.fill(0);
                continue;
            }
            for entry in &block.entries {
                let lanes = T::mask(entry.lanes);
                let (nodes, is_turn) = match &plan.constraints.all[entry.constraint].jacobian {
                    PlanJacobian::Point(nodes) => (nodes, false),
                    PlanJacobian::Turn(nodes) => (nodes, true),
                    PlanJacobian::Twist(nodes) => {
                        for (node, sign) in nodes.iter().zip([-lanes, lanes]) {
                            let Some(node) = *node else { continue };
                            let load = &mut loads[node][entry.row];
                            load.ang = load.ang.add_scaled(sign, slots[entry.constraint].normal);
                        }
                        continue;
                    }
                    PlanJacobian::Sum(terms) => {
                        for term in terms.clone() {
                            let push = &mut pushed[plan.constraints.terms[term].dof][entry.row];
                            *push = coefficients[term].mul_add(lanes, *push);
                        }
                        continue;
                    }
                };
                for (node, sign) in nodes.iter().zip([-lanes, lanes]) {
                    let Some(node) = *node else { continue };
                    if is_turn {
                        for (load, axis) in loads[node].iter_mut().zip(axes) {
                            load.ang = load.ang.add_scaled(sign, axis);
                        }
                    } else {
                        let arm = block.position - origins[plan.nodes[node].tree];
                        for (load, own) in loads[node].iter_mut().zip(unit_loads(axes, arm, sign)) {
                            *load += own;
                        }
                    }
                }
            }
        }
    }
}

/// Sets the nodes that a block's loads pass, a bit each.
#[inline(always)]
fn set_passing<T: Real>(plan: &Plan, block: &Block<T>, passing: &mut [u64]) {
    passing.fill(0);
    let mut pass = |node: usize| {
        let path = &plan.paths[node * passing.len()..(node + 1) * passing.len()];
        passing.iter_mut().zip(path).for_each(|(passing, path)| *passing |= path);
    };
    for entry in &block.entries {
        plan.constraints.each_node(entry.constraint, &plan.node_of_dof, &mut pass);
    }
}

/// Lets loads pass a degree of freedom, what pushes it being its own: what arrives at it.
#[inline(always)]
fn pass<T: Real>(dof: &Dof<T>, load: &mut [Wrench<T>; 3], own: [T; 3]) -> T::Three {
    let mut u = own;
    for row in 0..3 {
        u[row] += dof.axis.dot(load[row]);
        let s = -(dof.d_inv * u[row]);
        load[row].ang = load[row].ang.add_scaled(s, dof.u.ang);
        load[row].lin = load[row].lin.add_scaled(s, dof.u.lin);
    }
    T::Three::new(u)
}

/// Unit loads along three axes at the point at `arm` from a tree's origin, times `sign`.
#[inline(always)]
fn unit_loads<T: Real>(axes: [Vec3<T>; 3], arm: Vec3<T>, sign: T) -> [Wrench<T>; 3] {
    let mut loads = [Wrench::ZERO; 3];
    for (load, axis) in loads.iter_mut().zip(axes) {
        *load = Wrench { ang: arm.cross(axis) * sign, lin: axis * sign };
    }
    loads
}

/// The node that a block of one constraint pushes at a point, and by how much: 1 or −1 in the lanes that have the constraint. None where it
/// pushes two, and of other blocks.
#[inline(always)]
fn only_push<T: Real>(plan: &Plan, block: &Block<T>) -> Option<(usize, T)> {
    let [entry] = &block.entries[..] else { return None };
    let lanes = T::mask(entry.lanes);
    match plan.constraints.all[entry.constraint].jacobian {
        PlanJacobian::Point([None, Some(node)]) => Some((node, lanes)),
        PlanJacobian::Point([Some(node), None]) => Some((node, -lanes)),
        _ => None,
    }
}

/// Carries loads from a node to its root.
#[inline(always)]
fn carry_alone<T: Real>(plan: &Plan, dofs: &[Dof<T>], node: usize, mut load: [Wrench<T>; 3], carried: &mut [T::Three]) {
    let mut next = Some(node);
    while let Some(i) = next {
        let node = &plan.nodes[i];
        for k in dofs_of(node).rev() {
            carried[k] = pass(&dofs[k], &mut load, [T::ZERO; 3]);
        }
        next = node.parent;
    }
}
