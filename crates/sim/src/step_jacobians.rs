//! What a step's Jacobians are, and how positions follow velocities.

use multibody::{Tree, right_jacobian};
use spatial::{Quat, Vec3};

/// The derivative of one step with respect to the state and the controls that it starts from.
///
/// With `x = (δq, δv)`, δq in the tangent space (q ⊞ δq: for quaternions a rotation vector in the body's frame),
/// `δx⁺ = A δx + B δctrl` to first order.
#[derive(Clone, Debug, PartialEq)]
pub struct StepJacobians {
    /// Degrees of freedom.
    pub nv: usize,
    /// Controls.
    pub nu: usize,
    /// ∂(q, v)⁺/∂(q, v), (2 nv, 2 nv), row-major.
    pub a: Vec<f64>,
    /// ∂(q, v)⁺/∂ctrl, (2 nv, nu), row-major.
    pub b: Vec<f64>,
}

/// The derivative of what sensors show: `δy = C δx + D δctrl` to first order, `x` as that of [`StepJacobians`].
#[derive(Clone, Debug, PartialEq)]
pub struct SensorJacobians {
    /// Degrees of freedom.
    pub nv: usize,
    /// Controls.
    pub nu: usize,
    /// ∂y/∂(q, v), (numbers of sensors, 2 nv), row-major.
    pub c: Vec<f64>,
    /// ∂y/∂ctrl, (numbers of sensors, nu), row-major.
    pub d: Vec<f64>,
}

/// The derivatives of what a step leaves, each (nv, 2 nv + nu), column-major with respect to (q, v, ctrl).
pub(crate) struct EndDerivatives {
    /// That of velocities.
    pub v: Vec<f64>,
    /// That of what is added to positions.
    pub added_q: Vec<f64>,
}

/// A column of [`EndDerivatives`].
pub(crate) struct EndDerivative<'a> {
    pub v: &'a mut [f64],
    pub added_q: &'a mut [f64],
}

impl EndDerivatives {
    pub fn column(&mut self, column: usize, nv: usize) -> EndDerivative<'_> {
        let range = column * nv..(column + 1) * nv;
        EndDerivative { v: &mut self.v[range.clone()], added_q: &mut self.added_q[range] }
    }
}

impl StepJacobians {
    /// From the derivatives (nv, 2 nv + nu), column-major with respect to (q, v, ctrl), of the velocities `v` that move positions,
    /// q⁺ = q ⊞ dt v, and those of what is left.
    pub(crate) fn new(tree: &Tree<f64>, nu: usize, v: &[f64], dt: f64, dv: &[f64], ends: &EndDerivatives) -> Self {
        let nv = v.len();
        let mut jacobians = Self { nv, nu, a: vec![0.0; 4 * nv * nv], b: vec![0.0; 2 * nv * nu] };
        let (mut unit, mut dq_next) = (vec![0.0; nv], vec![0.0; nv]);
        for column in 0..2 * nv + nu {
            let of_column = column * nv..(column + 1) * nv;
            let dv = &dv[of_column.clone()];
            let (ends, added_q) = (&ends.v[of_column.clone()], &ends.added_q[of_column]);
            unit.fill(0.0);
            if column < nv {
                unit[column] = 1.0;
            }
            push_forward(tree, v, dt, &unit, dv, &mut dq_next);
            let (out, width, at) = match column.checked_sub(2 * nv) {
                None => (&mut jacobians.a, 2 * nv, column),
                Some(control) => (&mut jacobians.b, nu, control),
            };
            for i in 0..nv {
                out[i * width + at] = dq_next[i] + added_q[i];
                out[(nv + i) * width + at] = ends[i];
            }
        }
        jacobians
    }
}

/// The change of q ⊞ dt v, in its tangent space, with the changes `dq` and `dv`. Of rotations, with θ = dt ω,
///
/// ```text
/// δ⁺ = exp(θ)ᵀ δ + dt J_r(θ) dω      J_r(θ) = I − (1 − cos θ)/θ² [θ]× + (θ − sin θ)/θ³ [θ]×²
/// ```
///
/// the right Jacobian of SO(3) (Solà, Deray, Atchuthan, *A micro Lie theory*, eq. 143).
fn push_forward(tree: &Tree<f64>, v: &[f64], dt: f64, dq: &[f64], dv: &[f64], out: &mut [f64]) {
    for node in &tree.nodes {
        let turn = node.rotation();
        for i in node.v..turn.unwrap_or(node.v + node.joint.nv()) {
            out[i] = dq[i] + dt * dv[i];
        }
        if let Some(i) = turn {
            let of = |x: &[f64]| Vec3::new(x[i], x[i + 1], x[i + 2]);
            let theta = of(v) * dt;
            let carried = Quat::from_rotation_vector(theta).conjugate() * of(dq);
            let change = carried + right_jacobian(theta) * (of(dv) * dt);
            out[i..i + 3].copy_from_slice(&change.to_array());
        }
    }
}
