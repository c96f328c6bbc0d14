//! A point of contact.

use spatial::Vec3;

/// A contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The two geoms, the lower index first.
    pub geoms: [usize; 2],
    /// Midway between the two surfaces, in the world, m.
    pub position: Vec3<f64>,
    /// Unit vector from `geoms[0]` towards `geoms[1]`.
    pub normal: Vec3<f64>,
    /// Distance of the surfaces along the normal less the margin, m; negative in penetration.
    pub gap: f64,
    /// What this point has of the stiffness of a point that bears alone. Less than 1 where there are more points than a line or a face
    /// needs, so that a body sinks into a soft surface no less for them.
    pub stiffness_share: f64,
    /// The explicit pair ([`Scene::pairs`](crate::Scene::pairs)) that asked for this contact.
    pub pair: Option<usize>,
}

impl Contact {
    /// The place of a contact point.
    pub(crate) const NONE: Self =
        Self { geoms: [0; 2], position: Vec3::ZERO, normal: Vec3::ZERO, gap: 0.0, stiffness_share: 1.0, pair: None };
}
