//! Shapes, broad phase and contact points.

mod scene;

pub use scene::{Geom, HeightField, Mesh, PairSpec, Scene, Shape};
