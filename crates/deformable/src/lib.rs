//! Soft bodies: finite elements on tetrahedra, implicit steps, and the factor that contact needs.
//!
//! A [`SoftBody`] is immutable: a [`TetMesh`] of linear (P1) or quadratic (P2) tetrahedra, a [`Material`], pins. [`Dynamics`] is the
//! scratch that makes steps of it: free motion of the θ-method, M (v* − v₀) + dt F(x^θ, v^θ) = 0, with the sparse factor of
//! A = M + θ_q θ_vq dt² K + θ_v dt D, in which the nodes that something touches are eliminated last. The last rows of the factor are then
//! the factor of the Schur complement on those nodes: all that constraints need to know of the body.
//!
//! ```
//! use std::sync::Arc;
//! use sapwood_deformable::{Dynamics, Material, SoftBody, TetMesh, ThetaStep};
//! use spatial::Vec3;
//!
//! let mesh = TetMesh::cuboid(Vec3::new(0.1, 0.1, 0.1), [3, 3, 3])?;
//! let body = Arc::new(SoftBody::of("cube", mesh, Material::default())?);
//! let mut dynamics = Dynamics::new(&body);
//! let x: Vec<f64> = body.rest_positions().collect();
//! let v = vec![0.0; x.len()];
//! let gravity = Vec3::new(0.0, 0.0, -9.81);
//! dynamics.free_motion(&x, &v, &ThetaStep::implicit_euler(0.01), gravity, None, &[], &Default::default(), &mut Default::default())?;
//! assert!((dynamics.v_star()[2] + 0.0981).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod dynamics;
mod elements;
mod error;
mod isotropic;
mod law;
mod mass;
mod material;
pub mod mesh;
mod order;
mod polar;
mod shape;
mod stress;

pub use body::{MassModel, SoftBody, SoftBodyDescription};
pub use dynamics::{Dynamics, Energy, Refinement, Report, ThetaStep, factor_origin_len};
pub use error::{Error, StepError};
pub use material::{Material, MaterialModel};
pub use mesh::{MAX_NODES, Order, Surface, TetMesh};
pub use stress::von_mises;
