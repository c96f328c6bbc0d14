//! Sensors: what is measured, where, and how many numbers that makes.
//!
//! Kinds, sizes and their order are MuJoCo's, so that a program finds its numbers where it found them there. How each is computed is
//! in the crate `sim`.

use std::ops::Range;

use spatial::Quat;

use crate::SensorDelay;

/// A sensor of a model.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sensor {
    /// Name; empty when the file gives none.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// Values are clamped to `[-cutoff, cutoff]`; 0 stands for no limit. Distances between geoms are looked for up to this, m.
    pub cutoff: f64,
    /// Standard deviation of the noise that a user may add: informative, nothing here adds it.
    pub noise: f64,
    /// When it shows what it measures, if not at once.
    pub delay: Option<SensorDelay>,
}

/// A sensor that shows what it measures later, and where its readings are among those of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayedSensor {
    /// Index in [`crate::Model::sensors`].
    pub sensor: usize,
    /// Where its line is among the past readings: when it measured last, then the samples.
    pub readings: Range<usize>,
    /// Where its numbers are among those of all sensors.
    pub shown: Range<usize>,
}

/// What a sensor measures.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SensorKind {
    /// Simulation time, s.
    Clock,
    /// Potential energy, J.
    PotentialEnergy,
    /// Kinetic energy, J.
    KineticEnergy,
    /// Something of a joint.
    Joint {
        /// Index in [`crate::Model::joints`].
        joint: usize,
        /// What.
        quantity: JointQuantity,
    },
    /// Something of a tendon.
    Tendon {
        /// Index in [`crate::Model::tendons`].
        tendon: usize,
        /// What.
        quantity: TendonQuantity,
    },
    /// Something of an actuator.
    Actuator {
        /// Index in [`crate::Model::actuators`].
        actuator: usize,
        /// What.
        quantity: ActuatorQuantity,
    },
    /// Placement or motion of a frame.
    Frame {
        /// The frame.
        frame: SensorFrame,
        /// The frame that the value is relative to and expressed in; the world for `None`. Accelerations have none.
        reference: Option<SensorFrame>,
        /// What.
        quantity: FrameQuantity,
    },
    /// What an instrument mounted at a site measures, in the site's axes.
    Site {
        /// Index in [`crate::Model::sites`].
        site: usize,
        /// What.
        quantity: SiteQuantity,
    },
    /// 1 while the origin of a frame is inside the volume of a site, else 0.
    InsideSite {
        /// The frame.
        frame: SensorFrame,
        /// Index in [`crate::Model::sites`].
        site: usize,
    },
    /// Something of a body and all that hangs on it.
    Subtree {
        /// Index in [`crate::Model::bodies`].
        body: usize,
        /// What.
        quantity: SubtreeQuantity,
    },
    /// Something of the place where two geoms, or geoms of two bodies, are nearest.
    Distance {
        /// The two geoms or bodies.
        between: [GeomsOf; 2],
        /// What.
        quantity: DistanceQuantity,
    },
    /// Contact points that match criteria.
    Contact(ContactSensor),
    /// A ray along the z axis of a site, to the nearest surface of a geom of another body.
    Rangefinder {
        /// Index in [`crate::Model::sites`].
        site: usize,
        /// What is reported, in this order.
        fields: Vec<RayField>,
    },
    /// A sensor that is not simulated: its numbers are zero. A warning of the model names it.
    Unsupported {
        /// The element of the file.
        element: String,
        /// How many numbers it has.
        dim: usize,
    },
}

/// What can be measured of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum JointQuantity {
    /// The coordinate, rad or m.
    Position,
    /// Its rate.
    Velocity,
    /// The force of all actuators on it, after its effort limit, N or N·m.
    ActuatorForce,
    /// The quaternion of a ball joint.
    Quaternion,
    /// The angular velocity of a ball joint, in the frame of its body.
    AngularVelocity,
    /// How far it is from the nearer limit, negative beyond it; 0 while no limit is violated.
    LimitDistance,
    /// The rate of that.
    LimitVelocity,
    /// The force of the limit, N or N·m.
    LimitForce,
}

/// What can be measured of a tendon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum TendonQuantity {
    /// Length.
    Position,
    /// Its rate.
    Velocity,
    /// The sum of the forces of its actuators, before their gears.
    ActuatorForce,
    /// How far it is from the nearer limit, negative beyond it; 0 while no limit is violated.
    LimitDistance,
    /// The rate of that.
    LimitVelocity,
    /// The force of the limit.
    LimitForce,
}

/// What can be measured of an actuator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ActuatorQuantity {
    /// Its length: gear times coordinate.
    Position,
    /// Its rate.
    Velocity,
    /// Its force, before the gear.
    Force,
}

/// A frame that a sensor looks at.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SensorFrame {
    /// Centre of mass and principal axes of a body (MJCF `body`).
    Inertial {
        /// The body.
        body: usize,
        /// The principal axes in the body's frame.
        axes: Quat<f64>,
    },
    /// The frame of a body (MJCF `xbody`).
    Body(usize),
    /// The frame of a geom.
    Geom(usize),
    /// The frame of a site.
    Site(usize),
}

/// What can be measured of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FrameQuantity {
    /// Position of the origin, m.
    Position,
    /// Orientation, a unit quaternion.
    Quaternion,
    /// Direction of the x axis.
    XAxis,
    /// Direction of the y axis.
    YAxis,
    /// Direction of the z axis.
    ZAxis,
    /// Velocity of the origin, m/s.
    LinearVelocity,
    /// Angular velocity, rad/s.
    AngularVelocity,
    /// Acceleration of the origin less gravity, m/s²: what an accelerometer feels, in world axes.
    LinearAcceleration,
    /// Angular acceleration, rad/s².
    AngularAcceleration,
}

/// What an instrument at a site measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SiteQuantity {
    /// Acceleration less gravity, m/s².
    Acceleration,
    /// Velocity, m/s.
    Velocity,
    /// Angular velocity, rad/s.
    AngularVelocity,
    /// The magnetic field.
    MagneticField,
    /// The force that the site's body puts on its parent, N: the parent carries it with the opposite one.
    Force,
    /// The torque that goes with that force, about the site, N·m.
    Torque,
    /// The sum of the normal forces on the site's body whose contact points, or rays from them along the normal, meet the site's volume, N.
    Touch,
}

/// What can be measured of a subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SubtreeQuantity {
    /// Centre of mass, m.
    CenterOfMass,
    /// Its velocity, m/s.
    LinearVelocity,
    /// Angular momentum about it, N·m·s.
    AngularMomentum,
}

/// A geom, or all geoms of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GeomsOf {
    /// One geom.
    Geom(usize),
    /// All geoms of a body.
    Body(usize),
}

/// What can be measured of the place where two shapes are nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum DistanceQuantity {
    /// The distance, negative in penetration, m; the cutoff where they are farther apart.
    Distance,
    /// The direction from the first to the second; zero where they are farther apart than the cutoff.
    Normal,
    /// The two nearest points, in world axes, m.
    FromTo,
}

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

/// What is reported of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum RayField {
    /// Distance to the surface, m; −1 where there is none.
    Distance,
    /// The direction; zero where there is no surface.
    Direction,
    /// Where it begins, m.
    Origin,
    /// Where it meets the surface, m; zero where there is none.
    Point,
    /// The outward normal there; zero where there is none.
    Normal,
    /// The distance from the plane of the sensor, m: of a site the distance itself.
    Depth,
}

impl RayField {
    /// How many numbers it has.
    pub const fn dim(self) -> usize {
        match self {
            Self::Distance | Self::Depth => 1,
            _ => 3,
        }
    }
}

/// What a sensor needs to be known, in the order in which a simulation knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum SensorStage {
    /// Positions.
    Position,
    /// Velocities, too.
    Velocity,
    /// Accelerations and forces of the last step, too.
    Acceleration,
}

impl SensorStage {
    /// The name that users read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Velocity => "velocity",
            Self::Acceleration => "acceleration",
        }
    }
}

impl SensorKind {
    /// The name of its MJCF element.
    pub fn element(&self) -> &str {
        match self {
            Self::Clock => "clock",
            Self::PotentialEnergy => "e_potential",
            Self::KineticEnergy => "e_kinetic",
            Self::Joint { quantity, .. } => quantity.element(),
            Self::Tendon { quantity, .. } => quantity.element(),
            Self::Actuator { quantity, .. } => quantity.element(),
            Self::Frame { quantity, .. } => quantity.element(),
            Self::Site { quantity, .. } => quantity.element(),
            Self::InsideSite { .. } => "insidesite",
            Self::Subtree { quantity, .. } => quantity.element(),
            Self::Distance { quantity, .. } => quantity.element(),
            Self::Contact(_) => "contact",
            Self::Rangefinder { .. } => "rangefinder",
            Self::Unsupported { element, .. } => element,
        }
    }

    /// How many numbers it has.
    pub fn dim(&self) -> usize {
        match self {
            Self::Clock | Self::PotentialEnergy | Self::KineticEnergy | Self::InsideSite { .. } => 1,
            Self::Tendon { .. } | Self::Actuator { .. } => 1,
            Self::Joint { quantity: JointQuantity::Quaternion, .. } => 4,
            Self::Joint { quantity: JointQuantity::AngularVelocity, .. } => 3,
            Self::Joint { .. } => 1,
            Self::Frame { quantity: FrameQuantity::Quaternion, .. } => 4,
            Self::Site { quantity: SiteQuantity::Touch, .. } => 1,
            Self::Frame { .. } | Self::Site { .. } | Self::Subtree { .. } => 3,
            Self::Distance { quantity, .. } => match quantity {
                DistanceQuantity::Distance => 1,
                DistanceQuantity::Normal => 3,
                DistanceQuantity::FromTo => 6,
            },
            Self::Contact(contact) => contact.slots * contact.slot_dim(),
            Self::Rangefinder { fields, .. } => fields.iter().map(|field| field.dim()).sum(),
            Self::Unsupported { dim, .. } => *dim,
        }
    }

    /// What must be known for it.
    pub fn stage(&self) -> SensorStage {
        use SensorStage::{Acceleration, Position, Velocity};
        match self {
            Self::Joint { quantity, .. } => match quantity {
                JointQuantity::Position | JointQuantity::Quaternion | JointQuantity::LimitDistance => Position,
                JointQuantity::Velocity | JointQuantity::AngularVelocity | JointQuantity::LimitVelocity => Velocity,
                JointQuantity::ActuatorForce | JointQuantity::LimitForce => Acceleration,
            },
            Self::Tendon { quantity, .. } => match quantity {
                TendonQuantity::Position | TendonQuantity::LimitDistance => Position,
                TendonQuantity::Velocity | TendonQuantity::LimitVelocity => Velocity,
                TendonQuantity::ActuatorForce | TendonQuantity::LimitForce => Acceleration,
            },
            Self::Actuator { quantity, .. } => match quantity {
                ActuatorQuantity::Position => Position,
                ActuatorQuantity::Velocity => Velocity,
                ActuatorQuantity::Force => Acceleration,
            },
            Self::Frame { quantity, .. } => match quantity {
                FrameQuantity::LinearVelocity | FrameQuantity::AngularVelocity => Velocity,
                FrameQuantity::LinearAcceleration | FrameQuantity::AngularAcceleration => Acceleration,
                _ => Position,
            },
            Self::Site { quantity, .. } => match quantity {
                SiteQuantity::MagneticField => Position,
                SiteQuantity::Velocity | SiteQuantity::AngularVelocity => Velocity,
                _ => Acceleration,
            },
            Self::Subtree { quantity: SubtreeQuantity::CenterOfMass, .. } => Position,
            Self::Subtree { .. } | Self::KineticEnergy => Velocity,
            // What touches is known from the last step.
            Self::Contact(_) => Acceleration,
            _ => Position,
        }
    }

    /// Whether its values are never negative.
    pub fn is_positive(&self) -> bool {
        matches!(self, Self::InsideSite { .. } | Self::Site { quantity: SiteQuantity::Touch, .. })
    }

    /// Whether its numbers are a unit vector or quaternion.
    pub fn is_direction(&self) -> bool {
        match self {
            Self::Joint { quantity, .. } => *quantity == JointQuantity::Quaternion,
            Self::Frame { quantity, .. } => {
                use FrameQuantity::{Quaternion, XAxis, YAxis, ZAxis};
                matches!(quantity, Quaternion | XAxis | YAxis | ZAxis)
            }
            Self::Distance { quantity, .. } => *quantity == DistanceQuantity::Normal,
            _ => false,
        }
    }

    /// Whether `cutoff` clamps its values. Contacts have no cutoff, points in space and directions none either, and distances between
    /// geoms have it as their reach.
    pub fn is_clamped(&self) -> bool {
        let is_segment = matches!(self, Self::Distance { quantity: DistanceQuantity::FromTo, .. });
        !(is_segment || self.is_direction() || matches!(self, Self::Contact(_)))
    }
}

impl ContactSensor {
    /// How many numbers a slot has.
    pub fn slot_dim(&self) -> usize {
        self.fields.iter().map(|field| field.dim()).sum()
    }
}

impl JointQuantity {
    /// The name of its MJCF element.
    pub const fn element(self) -> &'static str {
        match self {
            Self::Position => "jointpos",
            Self::Velocity => "jointvel",
            Self::ActuatorForce => "jointactuatorfrc",
            Self::Quaternion => "ballquat",
            Self::AngularVelocity => "ballangvel",
            Self::LimitDistance => "jointlimitpos",
            Self::LimitVelocity => "jointlimitvel",
            Self::LimitForce => "jointlimitfrc",
        }
    }
}

impl TendonQuantity {
    /// The name of its MJCF element.
    pub const fn element(self) -> &'static str {
        match self {
            Self::Position => "tendonpos",
            Self::Velocity => "tendonvel",
            Self::ActuatorForce => "tendonactuatorfrc",
            Self::LimitDistance => "tendonlimitpos",
            Self::LimitVelocity => "tendonlimitvel",
            Self::LimitForce => "tendonlimitfrc",
        }
    }
}

impl ActuatorQuantity {
    /// The name of its MJCF element.
    pub const fn element(self) -> &'static str {
        match self {
            Self::Position => "actuatorpos",
            Self::Velocity => "actuatorvel",
            Self::Force => "actuatorfrc",
        }
    }
}

impl FrameQuantity {
    /// The name of its MJCF element.
    pub const fn element(self) -> &'static str {
        match self {
            Self::Position => "framepos",
            Self::Quaternion => "framequat",
            Self::XAxis => "framexaxis",
            Self::YAxis => "frameyaxis",
            Self::ZAxis => "framezaxis",
            Self::LinearVelocity => "framelinvel",
            Self::AngularVelocity => "frameangvel",
            Self::LinearAcceleration => "framelinacc",
            Self::AngularAcceleration => "frameangacc",
        }
    }
}

impl SiteQuantity {
    /// The name of its MJCF element.
    pub const fn element(self) -> &'static str {
        match self {
            Self::Acceleration => "accelerometer",
            Self::Velocity => "velocimeter",
            Self::AngularVelocity => "gyro",
            Self::MagneticField => "magnetometer",
            Self::Force => "force",
            Self::Torque => "torque",
            Self::Touch => "touch",
        }
    }
}

impl SubtreeQuantity {
    /// The name of its MJCF element.
    pub const fn element(self) -> &'static str {
        match self {
            Self::CenterOfMass => "subtreecom",
            Self::LinearVelocity => "subtreelinvel",
            Self::AngularMomentum => "subtreeangmom",
        }
    }
}

impl DistanceQuantity {
    /// The name of its MJCF element.
    pub const fn element(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Normal => "normal",
            Self::FromTo => "fromto",
        }
    }
}

/// Where the numbers of each sensor stand among those of all.
pub(crate) fn ranges(sensors: &[Sensor]) -> impl Iterator<Item = Range<usize>> {
    sensors.iter().scan(0, |at, sensor| {
        let start = *at;
        *at += sensor.kind.dim();
        Some(start..*at)
    })
}
