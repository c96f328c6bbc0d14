//! Sensors of contact points.

/// Which contact points a sensor reports, and what of them.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ContactSensor {
    /// What one side of the contact must be; a site must have the contact point in its volume.
    pub first: ContactFilter,
    /// What the other side must be.
    pub second: ContactFilter,
    /// What is reported, in this order.
    pub fields: Vec<ContactField>,
    /// Which of the points that match are reported.
    pub reduction: Reduction,
    /// How many are reported; what is missing is zero.
    pub slots: usize,
}

impl ContactSensor {
    /// How many numbers a slot has.
    pub fn slot_dim(&self) -> usize {
        self.fields.iter().map(|field| field.dim()).sum()
    }
}

/// What a side of a contact must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ContactFilter {
    /// Anything.
    #[default]
    Any,
    /// A geom.
    Geom(usize),
    /// A geom of a body.
    Body(usize),
    /// A geom of a body or of what hangs on it.
    Subtree(usize),
    /// Anything, at a point inside a site.
    Site(usize),
}

/// What is reported of a contact point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum ContactField {
    /// How many points match, where there is one in this slot; else 0.
    Found,
    /// The force in the contact's frame (normal, first and second tangent), N.
    Force,
    /// The torque in the contact's frame, N·m.
    Torque,
    /// The gap, negative in penetration, m.
    Distance,
    /// The point, world, m.
    Position,
    /// The normal from the first side to the second, world.
    Normal,
    /// The first tangent, world; the second is normal × tangent.
    Tangent,
    /// Velocity of the second side relative to the first in the contact's frame, m/s.
    LinearVelocity,
    /// Angular velocity of the second side relative to the first in the contact's frame, rad/s.
    AngularVelocity,
}

impl ContactField {
    /// How many numbers it has.
    pub const fn dim(self) -> usize {
        match self {
            Self::Found | Self::Distance => 1,
            _ => 3,
        }
    }
}

/// How many contact points become a fixed number of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Reduction {
    /// The first ones, as they were detected.
    #[default]
    First,
    /// Those with the smallest gaps.
    SmallestDistance,
    /// Those with the largest forces.
    LargestForce,
    /// One that stands for all: the net wrench about the force-weighted centroid, in world axes.
    Net,
}
