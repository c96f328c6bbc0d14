//! Contact points of worlds.

use spatial::Vec3;

/// A contact point of a world in its last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaneContact {
    /// The two geoms, indices into the scene.
    pub geoms: [usize; 2],
    /// Point midway between the surfaces at the beginning of the step, world, m.
    pub position: Vec3<f64>,
    /// Unit normal from the first geom towards the second, world.
    pub normal: Vec3<f64>,
    /// Distance at the beginning of the step, negative in penetration, m.
    pub gap: f64,
    /// Force on the body of the second geom over the step, friction included, world, N. A step that was made in parts reports its last part.
    pub force: Vec3<f64>,
}
