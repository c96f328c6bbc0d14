//! How easily a point of a body is moved: the estimate of the Delassus operator that regularises contacts.

use multibody::{Factor, JointImpedance, Model, Tree, forward_kinematics};
use spatial::{ArticulatedInertia, Mat3, Sym3, Twist, Vec3, Wrench};

/// The inverse inertia of every node as the rest of its tree lets it feel: the 6×6 block J_i (M + Λ)⁻¹ J_iᵀ at the
/// default configuration, Λ the armature, in the node's own axes about its origin.
///
/// Taken once per model: it sets a regularisation, which bears a factor of two, and a step saves the recursion.
#[derive(Clone, Debug)]
pub(crate) struct EffectiveMass {
    nodes: Vec<ArticulatedInertia<f64>>,
}

impl EffectiveMass {
    pub fn new(model: &Model) -> Self {
        let mut nodes = Vec::with_capacity(model.tree.len());
        for (k, range) in model.tree.trees.iter().enumerate() {
            let tree = model.tree.part(k);
            let q = &model.q0[model.tree.nodes[range.start].q..];
            nodes.extend(inverse_inertias(&tree, q, &model.armature[model.tree.dofs[k].clone()]));
        }
        Self { nodes }
    }

    /// ‖W‖_F / 3 for the point at `arm` from the origin of node `i`, whose axes are `rot`; W is the 3×3 block of the
    /// Delassus operator. 1/kg.
    #[inline]
    pub fn inverse(&self, i: usize, rot: &Mat3<f64>, arm: Vec3<f64>) -> f64 {
        let omega = &self.nodes[i];
        let r = rot.transpose_mul(arm);
        // The point's velocity is lin − r̂ ang, so W = c − r̂ b − (r̂ b)ᵀ + r̂ a r̂ᵀ.
        let rb = Mat3::from_columns(r.cross(omega.b.x), r.cross(omega.b.y), r.cross(omega.b.z));
        let a = omega.a.to_mat3();
        let ra = Mat3::from_columns(r.cross(a.x), r.cross(a.y), r.cross(a.z)).transpose();
        let rar = Mat3::from_columns(r.cross(ra.x), r.cross(ra.y), r.cross(ra.z));
        let w = omega.c + Sym3::lower(rar) - Sym3::plus_transpose(rb);
        let off = w.xy * w.xy + w.xz * w.xz + w.yz * w.yz;
        (w.diag().norm_squared() + 2.0 * off).sqrt() / 3.0
    }
}

/// Ω_i = J_i (M + Λ)⁻¹ J_iᵀ of every node. A unit wrench on node i moves node i itself by a column of Ω_i; the
/// factor answers a wrench anywhere in O(depth) below the root, so all columns cost O(n · depth).
fn inverse_inertias(tree: &Tree<f64>, q: &[f64], armature: &[f64]) -> Vec<ArticulatedInertia<f64>> {
    let all = tree.all();
    let mut kin = multibody::Kinematics::new(tree);
    forward_kinematics(tree, all.clone(), q, &mut kin);
    let mut impedance = JointImpedance::new(tree);
    impedance.diagonal.copy_from_slice(armature);
    let mut factor = Factor::new(tree);
    factor.factor(tree, all, &kin, &impedance, None);
    let mut path = Vec::new();
    (0..tree.len())
        .map(|i| {
            let rot = kin.frames[i].rot;
            let mut column = |ang: Vec3<f64>, lin: Vec3<f64>| {
                let motion = factor.response(tree, &kin, i, Wrench { ang: rot * ang, lin: rot * lin }, &mut path);
                Twist { ang: rot.transpose_mul(motion.ang), lin: rot.transpose_mul(motion.lin) }
            };
            let Mat3 { x, y, z } = Mat3::IDENTITY;
            let spin = [x, y, z].map(|e| column(e, Vec3::ZERO));
            let push = [x, y, z].map(|e| column(Vec3::ZERO, e));
            ArticulatedInertia {
                a: Sym3::lower(Mat3::from_columns(spin[0].ang, spin[1].ang, spin[2].ang)),
                b: Mat3::from_columns(push[0].ang, push[1].ang, push[2].ang),
                c: Sym3::lower(Mat3::from_columns(push[0].lin, push[1].lin, push[2].lin)),
            }
        })
        .collect()
}
