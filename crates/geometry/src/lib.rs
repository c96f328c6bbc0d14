//! Shapes, broad phase and contact points.

mod inertia;
mod mesh;
mod scene;

pub use inertia::{InertiaError, MassModel};
pub use mesh::{HeightFieldError, MeshError};
pub use scene::{Geom, HeightField, Mesh, PairSpec, Scene, Shape};
