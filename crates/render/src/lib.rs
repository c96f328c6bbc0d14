//! Pictures of a model without a GPU or a display: colour, depth and which geom is seen, by a software rasteriser.
//!
//! Spheres, ellipsoids, capsules, cylinders, discs and planes are drawn as what they are, by a formula for every sample; boxes, meshes
//! and height fields by triangles. See `primitives.rs` for the formulas and `docs/design/rendering.md` for the reasons.
//!
//! A [`Stage`] is what is drawn of a model, made once and shared. A [`Renderer`] keeps buffers. The bits of a picture depend on the
//! configuration and the view alone, not on the number of threads.

mod colour;
mod label;
mod lists;
mod marker;
mod mesh;
mod paint;
mod primitives;
mod projection;
mod raster;
mod renderer;
mod scale;
mod shade;
mod skin;
mod stage;
mod texture;
mod textures;
mod view;

pub use label::Label;
pub use marker::{Marker, MarkerShape};
pub use renderer::{MAX_SIDE, Options, RenderError, Renderer, SHOWN_GROUPS};
pub use scale::scale_colour;
pub use stage::Stage;
pub use view::{Eye, FreeCamera, View, looking_at};
