//! Constraints as one unconstrained convex problem in velocities, solved by Newton with an exact line search.
//!
//! Contacts, limits and their friction, all made compliant by a regularisation, leave one problem for the velocities `v` at
//! the end of a time step:
//!
//! ```text
//! min_v ℓ_p(v) = ½ ‖v − v*‖²_A + Σ_k ℓ_k(J_k v)
//!
//! ∇ℓ_p = A (v − v*) − Jᵀγ(v) = 0        the balance of momentum, γ_k = −∂ℓ_k/∂v_c,k the impulses
//! H    = A + Jᵀ G J                     G_k = ∂²ℓ_k/∂v_c,k² ⪰ 0
//! ```
//!
//! `v*` is the free-motion velocity, `A` the mass matrix plus what is implicit in forces, `J` the constraint Jacobian and
//! `v_c = J v` the constraint velocities. The problem is strictly convex and its gradient continuous, so Newton with a line
//! search converges from anywhere. The method is SAP, the semi-analytic primal solver of Castro, Permenter and Han, *An
//! Unconstrained Convex Formulation of Compliant Contact*.
//!
//! This crate knows linear algebra only. [`solve`] is the method; a [`Constraint`] supplies `(ℓ, γ, G)`; a [`Structure`]
//! supplies products with `A` and `J` and factors `H`. [`Sparse`] is the structure of matrices. [`Problem`] is the whole
//! for callers who have matrices.
//!
//! # Example
//!
//! A block of 2 kg slides at 1 m/s on the ground with friction 0.5; the step is 0.01 s. Friction takes `μ g dt` of its speed.
//!
//! ```
//! use sapwood_sap::{Factorization, FrictionLaw, Kind, Options, Problem, SparseMatrix};
//!
//! let (dt, g, mu) = (0.01, 9.81, 0.5);
//! let a = SparseMatrix::from_dense("A", 3, 3, &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0])?;
//! let mut problem = Problem::new(a, vec![1.0, 0.0, -g * dt])?;
//! let rows = SparseMatrix::from_dense("J", 3, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?; // t1, t2, n
//! let contact = Kind::Contact { mu, r_t: Some(1e-6), r_n: Some(1e-6), v_hat: [0.0; 3], normal_impulse: None };
//! problem.push(&[contact], &rows)?;
//! let solution = problem.solve(FrictionLaw::Coulomb, Factorization::Auto, &Options::default(), None)?;
//!
//! let normal_impulse = solution.impulses[2];
//! assert!((solution.impulses[0] + mu * normal_impulse).abs() < 1e-9); // at the friction bound, against the motion
//! assert!((solution.v[0] - (1.0 - mu * normal_impulse / 2.0)).abs() < 1e-6);
//! # Ok::<(), sapwood_sap::Error>(())
//! ```

mod block;
mod block_cholesky;
mod constraint;
mod contact_space;
mod convex;
mod coulomb;
mod delassus;
mod dual;
mod error;
mod jacobian;
mod law;
mod linearization;
mod options;
pub mod parameters;
mod problem;
mod semismooth;
mod solver;
mod sparse;
mod sparse_matrix;
mod structure;
mod vector;

/// The semismooth Newton method of [`ContactSpace`] on blocks of three rows, also for many problems side by side in vector registers.
pub mod contact_blocks {
    pub use crate::contact_space::block_problem::{BlockProblem, FirstMethod};
    pub use crate::law::Bounds;
    pub use crate::semismooth::dense_w::{Block3, DenseScratch};
    pub use crate::semismooth::{BlockRows, Limits, Outcome};
}

pub use block::Block;
pub use block_cholesky::{BlockCholesky, BlockMut};
pub use constraint::{Constraint, EXPECTED_BEYOND};
pub use contact_space::{ContactSpace, NotSolved};
pub use coulomb::{Workspace, friction_residual, meets_coulomb};
pub use error::Error;
pub use law::{Law, LawKind};
pub use linearization::{LawData, Linearization};
pub use options::{Criterion, FrictionLaw, Options, Report, Strategy};
pub use parameters::SolverParameters;
pub use problem::{Factorization, Kind, NEAR_RIGID, Problem, ProblemSolution, Start};
pub use solver::solve;
pub use sparse::Sparse;
pub use sparse_matrix::SparseMatrix;
pub use structure::{FactorError, HessianOperator, Structure};
