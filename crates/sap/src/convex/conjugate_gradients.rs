//! Conjugate gradients, for systems that need no exact solution.

use crate::Structure;
use crate::parameters::{InteriorPointParameters, SolverParameters};
use crate::vector::{axpy, dot};

const PARAMETERS: InteriorPointParameters = SolverParameters::STANDARD.interior_point;

/// Scratch of the method.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConjugateGradients {
    residual: Vec<f64>,
    preconditioned: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
}

impl ConjugateGradients {
    /// Solves `H x = b` loosely with the structure's operator, from the guess in `x`. Told to stop, it ends anywhere.
    pub fn solve<S: Structure>(&mut self, structure: &mut S, b: &[f64], x: &mut [f64]) {
        let Some(operator) = structure.operator() else { return };
        let Self { residual, preconditioned, direction, product } = self;
        for vector in [&mut *residual, preconditioned, direction, product] {
            vector.resize(b.len(), 0.0);
        }
        operator.precondition(b, preconditioned);
        let end = PARAMETERS.tolerance * PARAMETERS.tolerance * dot(b, preconditioned);
        operator.apply(x, product);
        for ((residual, b), product) in residual.iter_mut().zip(b).zip(&*product) {
            *residual = b - product;
        }
        operator.precondition(residual, preconditioned);
        direction.copy_from_slice(preconditioned);
        let mut size = dot(residual, preconditioned);
        for _ in 0..PARAMETERS.max_products {
            if size <= end || structure.is_interrupted() {
                break;
            }
            let Some(operator) = structure.operator() else { return };
            operator.apply(direction, product);
            let share = size / dot(direction, product);
            axpy(share, direction, x);
            axpy(-share, product, residual);
            operator.precondition(residual, preconditioned);
            let last = std::mem::replace(&mut size, dot(residual, preconditioned));
            for (direction, preconditioned) in direction.iter_mut().zip(&*preconditioned) {
                *direction = preconditioned + size / last * *direction;
            }
        }
    }
}
