//! How easily a point of a body is moved: the estimate of the Delassus operator that regularises contacts.

use std::ops::Range;

use multibody::{Factor, JointImpedance, Model, Tree, forward_kinematics};
use spatial::{ArticulatedInertia, Mat3, Sym3, Vec3, Wrench};

/// How easily the points of every node are moved, the rest of its tree included: what of the 6×6 block
/// J_i (M + Λ)⁻¹ J_iᵀ at the default configuration bears on the trace of a point's block. Λ is the step's: armature, and what is
/// implicit of springs, dampers and drives, which may hold a point much firmer than its mass does.
///
/// Taken once for every Λ, not in every step: it sets a regularisation, which bears a factor of two.
#[derive(Clone, Debug)]
pub(crate) struct EffectiveMass {
    nodes: Vec<NodeMobility>,
    trees: Vec<TreeAtRest>,
    /// Λ of the mobilities that are known, (nv).
    lambda: Vec<f64>,
    /// Ω_i with Λ the armature alone, in the nodes' own axes.
    bare: Vec<ArticulatedInertia<f64>>,
}

/// A tree at the default configuration.
#[derive(Clone, Debug)]
struct TreeAtRest {
    tree: Tree<f64>,
    /// Its nodes in the model.
    nodes: Range<usize>,
    kin: multibody::Kinematics<f64>,
    impedance: JointImpedance<f64>,
    factor: Factor<f64>,
    /// Ω_i in world axes.
    blocks: Vec<ArticulatedInertia<f64>>,
}

/// tr W(r) = `lin` + `mixed`·r + rᵀ `ang` r, with r the point in the node's own axes.
#[derive(Clone, Copy, Debug)]
struct NodeMobility {
    lin: f64,
    mixed: Vec3<f64>,
    ang: Sym3<f64>,
    /// Ω_i
    block: ArticulatedInertia<f64>,
}

/// 1/(3√3), see [`EffectiveMass::inverse`].
const PER_TRACE: f64 = 0.192_450_089_729_875_26;

impl EffectiveMass {
    pub fn new(model: &Model) -> Self {
        let at_rest = |(k, nodes): (usize, &Range<usize>)| {
            let tree = model.tree.part(k);
            let mut kin = multibody::Kinematics::new(&tree);
            forward_kinematics(&tree, tree.all(), &model.q0[model.tree.nodes[nodes.start].q..], &mut kin);
            let (impedance, factor) = (JointImpedance::new(&tree), Factor::new(&tree));
            let blocks = vec![ArticulatedInertia::ZERO; tree.len()];
            TreeAtRest { tree, nodes: nodes.clone(), kin, impedance, factor, blocks }
        };
        let trees: Vec<TreeAtRest> = model.tree.trees.iter().enumerate().map(at_rest).collect();
        let none = NodeMobility::of(&ArticulatedInertia::ZERO);
        let lambda = model.armature.clone();
        let mut mass = Self { nodes: vec![none; model.tree.len()], trees, lambda, bare: Vec::new() };
        for k in 0..mass.trees.len() {
            mass.trees[k].impedance.diagonal.copy_from_slice(&model.armature[model.tree.dofs[k].clone()]);
            mass.trees[k].refresh(&mut mass.nodes);
        }
        mass.bare.extend(mass.nodes.iter().map(|node| node.block));
        mass
    }

    /// Whether the mobilities of the tree with these degrees of freedom are those with Λ = `diagonal`.
    pub fn is_of(&self, dofs: Range<usize>, diagonal: &[f64]) -> bool {
        self.lambda[dofs] == *diagonal
    }

    /// Takes the mobilities of tree `k` with Λ = `diagonal`, if they are of another.
    pub fn update(&mut self, k: usize, dofs: Range<usize>, diagonal: &[f64]) {
        if !self.is_of(dofs.clone(), diagonal) {
            self.lambda[dofs].copy_from_slice(diagonal);
            let tree = &mut self.trees[k];
            tree.impedance.diagonal.copy_from_slice(diagonal);
            tree.refresh(&mut self.nodes);
        }
    }

    /// The same estimate for the rotation of node `i`, 1/(kg·m²).
    pub fn angular_inverse(&self, i: usize) -> f64 {
        let ang = self.nodes[i].ang;
        PER_TRACE * 0.5 * (ang.xx + ang.yy + ang.zz)
    }

    /// An estimate of ‖W‖_F / 3 for the point at `arm` from the origin of node `i`, whose axes are `rot`; W is the 3×3
    /// block of the Delassus operator. 1/kg.
    ///
    /// It is tr W / (3√3): equal where W is isotropic, and below by no more than a factor √3.
    #[inline]
    pub fn inverse(&self, i: usize, rot: &Mat3<f64>, arm: Vec3<f64>) -> f64 {
        let NodeMobility { lin, mixed, ang, .. } = self.nodes[i];
        let r = rot.transpose_mul(arm);
        PER_TRACE * (lin + (mixed + ang * r).dot(r))
    }

    /// The inverse of the mass that a force along the unit vector `n` meets at the same point, armature included and nothing else
    /// that is implicit. 1/kg.
    pub fn bare_inverse(&self, i: usize, rot: &Mat3<f64>, arm: Vec3<f64>, n: Vec3<f64>) -> f64 {
        let (ang, lin) = (rot.transpose_mul(arm.cross(n)), rot.transpose_mul(n));
        let ArticulatedInertia { a, b, c } = self.bare[i];
        (a * ang).dot(ang) + 2.0 * (b * lin).dot(ang) + (c * lin).dot(lin)
    }
}

impl NodeMobility {
    /// The point's velocity is lin − r̂ ang, so W = c − r̂ b − (r̂ b)ᵀ + r̂ a r̂ᵀ; tr(r̂ b) = −r·(b's skew part) and
    /// tr(r̂ a r̂ᵀ) = tr(a) r·r − rᵀ a r.
    fn of(block: &ArticulatedInertia<f64>) -> Self {
        let ArticulatedInertia { a, b, c } = *block;
        let trace = |m: Sym3<f64>| m.xx + m.yy + m.zz;
        let skew = Vec3::new(b.y.z - b.z.y, b.z.x - b.x.z, b.x.y - b.y.x);
        let t = trace(a);
        Self { lin: trace(c), mixed: skew * 2.0, ang: Sym3::diagonal(Vec3::new(t, t, t)) - a, block: *block }
    }
}

impl TreeAtRest {
    /// Ω_i = J_i (M + Λ)⁻¹ J_iᵀ of every node, parents first, each from that of its parent: O(n).
    fn refresh(&mut self, nodes: &mut [NodeMobility]) {
        let Self { tree, kin, impedance, factor, blocks, .. } = self;
        factor.factor(tree, tree.all(), kin, impedance, None);
        for (i, node) in nodes[self.nodes.clone()].iter_mut().enumerate() {
            let of_parent = blocks.get(tree.nodes[i].parent);
            let column = |ang, lin| factor.response(tree, kin, i, Wrench { ang, lin }, of_parent);
            let Mat3 { x, y, z } = Mat3::IDENTITY;
            let spin = [x, y, z].map(|e| column(e, Vec3::ZERO));
            let push = [x, y, z].map(|e| column(Vec3::ZERO, e));
            let block = ArticulatedInertia {
                a: Sym3::lower(Mat3::from_columns(spin[0].ang, spin[1].ang, spin[2].ang)),
                b: Mat3::from_columns(push[0].ang, push[1].ang, push[2].ang),
                c: Sym3::lower(Mat3::from_columns(push[0].lin, push[1].lin, push[2].lin)),
            };
            blocks[i] = block;
            let rot = kin.frames[i].rot;
            let to_node = rot.transpose();
            *node = NodeMobility::of(&ArticulatedInertia {
                a: block.a.rotated(to_node),
                b: to_node * (block.b * rot),
                c: block.c.rotated(to_node),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mobility_of_a_free_body_is_its_closed_form() {
        let mjcf = r#"<mujoco><worldbody><body><freejoint/><inertial pos=".1 -.2 .3" mass="2" diaginertia=".3 .4 .5"/>
            </body></worldbody></mujoco>"#;
        let model = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap().model;
        let mass = EffectiveMass::new(&model);
        let rot = spatial::Quat::new(0.4, 0.2, -0.6, 0.3).unit().to_mat3();
        let local = Vec3::new(0.5, 0.7, -0.4);
        // tr W = 3/m + tr(r̂ I⁻¹ r̂ᵀ), r from the centre of mass.
        let r = local - Vec3::new(0.1, -0.2, 0.3);
        let [ix, iy, iz] = [0.3, 0.4, 0.5];
        let spin = (r.y * r.y + r.z * r.z) / ix + (r.x * r.x + r.z * r.z) / iy + (r.x * r.x + r.y * r.y) / iz;
        let expected = (1.5 + spin) / 27.0_f64.sqrt();
        let w = mass.inverse(0, &rot, rot * local);
        assert!((w - expected).abs() < 1e-14 * expected, "{w} {expected}");
        // Along n: 1/m + (r × n)ᵀ I⁻¹ (r × n).
        let n = Vec3::new(0.6, 0.0, 0.8);
        let s = r.cross(n);
        let expected = 0.5 + s.x * s.x / ix + s.y * s.y / iy + s.z * s.z / iz;
        let along = mass.bare_inverse(0, &rot, rot * local, rot * n);
        assert!((along - expected).abs() < 1e-14 * expected, "{along} {expected}");
    }
}
