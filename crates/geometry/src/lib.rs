//! Shapes, broad phase and contact points.

mod broad_phase;
mod collider;
mod hull;
mod inertia;
mod mesh;
mod narrow;
mod pairs;
mod scene;
mod solid;

pub use collider::{Attachment, Collider, Contact};
pub use inertia::{InertiaError, MassModel};
pub use mesh::{HeightFieldError, MeshError};
pub use scene::{Geom, HeightField, Mesh, PairSpec, Scene, Shape};
