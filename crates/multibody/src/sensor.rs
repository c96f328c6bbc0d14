//! Sensors: what is measured, where, and how many numbers that makes.
//!
//! Kinds, sizes and their order are MuJoCo's, so that a program finds its numbers where it found them there. How each is computed is
//! in the crate `sim`.

use std::ops::Range;

use spatial::Quat;

use crate::{ContactFilter, ContactSensor, SensorDelay};

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
    /// Where a site is in the picture of a camera, in pixels from its upper left corner.
    Projection {
        /// Index in [`crate::Model::sites`].
        site: usize,
        /// Index in [`crate::Model::cameras`]; one that keeps its place in its body.
        camera: usize,
    },
    /// Rays to the nearest surface of a geom of another body.
    Rangefinder {
        /// Where the rays are.
        rays: RaySource,
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

/// Where the rays of a sensor begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum RaySource {
    /// One along the z axis of a site, by its index in [`crate::Model::sites`].
    Site(usize),
    /// One through each pixel of a camera, row after row from above.
    Camera {
        /// Index in [`crate::Model::cameras`]; one that keeps its place in its body.
        camera: usize,
        /// Its columns and rows.
        pixels: [u32; 2],
    },
}

impl RaySource {
    /// How many rays there are.
    pub const fn count(self) -> usize {
        match self {
            Self::Site(_) => 1,
            Self::Camera { pixels: [columns, rows], .. } => (columns as usize).saturating_mul(rows as usize),
        }
    }
}

/// Declares what can be measured of something: of each quantity the name of its MJCF element, how many numbers it has and what must be known
/// for it.
macro_rules! quantities {
    ($($(#[$doc:meta])* $kind:ident {
        $($(#[$of:meta])* $quantity:ident = $element:literal, $dim:literal, $stage:ident;)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $kind {
            $($(#[$of])* $quantity,)*
        }

        impl $kind {
            /// The quantity of an MJCF element.
            pub fn named(element: &str) -> Option<Self> {
                match element {
                    $($element => Some(Self::$quantity),)*
                    _ => None,
                }
            }

            /// Its MJCF element, how many numbers it has, what must be known for it.
            pub const fn traits(self) -> SensorTraits<'static> {
                match self {
                    $(Self::$quantity => SensorTraits { element: $element, dim: $dim, stage: SensorStage::$stage },)*
                }
            }
        }
    )*};
}

quantities! {
    /// What can be measured of a joint.
    JointQuantity {
        /// The coordinate, rad or m.
        Position = "jointpos", 1, Position;
        /// Its rate.
        Velocity = "jointvel", 1, Velocity;
        /// The force of all actuators on it, after its effort limit, N or N·m.
        ActuatorForce = "jointactuatorfrc", 1, Acceleration;
        /// The quaternion of a ball joint.
        Quaternion = "ballquat", 4, Position;
        /// The angular velocity of a ball joint, in the frame of its body.
        AngularVelocity = "ballangvel", 3, Velocity;
        /// How far it is from the nearer limit, negative beyond it; 0 while no limit is violated.
        LimitDistance = "jointlimitpos", 1, Position;
        /// The rate of that.
        LimitVelocity = "jointlimitvel", 1, Velocity;
        /// The force of the limit, N or N·m.
        LimitForce = "jointlimitfrc", 1, Acceleration;
    }
    /// What can be measured of a tendon.
    TendonQuantity {
        /// Length.
        Position = "tendonpos", 1, Position;
        /// Its rate.
        Velocity = "tendonvel", 1, Velocity;
        /// The sum of the forces of its actuators, before their gears.
        ActuatorForce = "tendonactuatorfrc", 1, Acceleration;
        /// How far it is from the nearer limit, negative beyond it; 0 while no limit is violated.
        LimitDistance = "tendonlimitpos", 1, Position;
        /// The rate of that.
        LimitVelocity = "tendonlimitvel", 1, Velocity;
        /// The force of the limit.
        LimitForce = "tendonlimitfrc", 1, Acceleration;
    }
    /// What can be measured of an actuator.
    ActuatorQuantity {
        /// Its length: gear times coordinate.
        Position = "actuatorpos", 1, Position;
        /// Its rate.
        Velocity = "actuatorvel", 1, Velocity;
        /// Its force, before the gear.
        Force = "actuatorfrc", 1, Acceleration;
    }
    /// What can be measured of a frame.
    FrameQuantity {
        /// Position of the origin, m.
        Position = "framepos", 3, Position;
        /// Orientation, a unit quaternion.
        Quaternion = "framequat", 4, Position;
        /// Direction of the x axis.
        XAxis = "framexaxis", 3, Position;
        /// Direction of the y axis.
        YAxis = "frameyaxis", 3, Position;
        /// Direction of the z axis.
        ZAxis = "framezaxis", 3, Position;
        /// Velocity of the origin, m/s.
        LinearVelocity = "framelinvel", 3, Velocity;
        /// Angular velocity, rad/s.
        AngularVelocity = "frameangvel", 3, Velocity;
        /// Acceleration of the origin less gravity, m/s²: what an accelerometer feels, in world axes.
        LinearAcceleration = "framelinacc", 3, Acceleration;
        /// Angular acceleration, rad/s².
        AngularAcceleration = "frameangacc", 3, Acceleration;
    }
    /// What an instrument at a site measures.
    SiteQuantity {
        /// Acceleration less gravity, m/s².
        Acceleration = "accelerometer", 3, Acceleration;
        /// Velocity, m/s.
        Velocity = "velocimeter", 3, Velocity;
        /// Angular velocity, rad/s.
        AngularVelocity = "gyro", 3, Velocity;
        /// The magnetic field.
        MagneticField = "magnetometer", 3, Position;
        /// The force that the site's body puts on its parent, N: the parent carries it with the opposite one.
        Force = "force", 3, Acceleration;
        /// The torque that goes with that force, about the site, N·m.
        Torque = "torque", 3, Acceleration;
        /// The sum of the normal forces on the site's body whose contact points, or rays from them along the normal, meet the site's volume, N.
        Touch = "touch", 1, Acceleration;
    }
    /// What can be measured of a subtree.
    SubtreeQuantity {
        /// Centre of mass, m.
        CenterOfMass = "subtreecom", 3, Position;
        /// Its velocity, m/s.
        LinearVelocity = "subtreelinvel", 3, Velocity;
        /// Angular momentum about it, N·m·s.
        AngularMomentum = "subtreeangmom", 3, Velocity;
    }
    /// What can be measured of the place where two shapes are nearest.
    DistanceQuantity {
        /// The distance, negative in penetration, m; the cutoff where they are farther apart.
        Distance = "distance", 1, Position;
        /// The direction from the first to the second; zero where they are farther apart than the cutoff.
        Normal = "normal", 3, Position;
        /// The two nearest points, in world axes, m.
        FromTo = "fromto", 6, Position;
    }
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
    /// The frame of a camera that keeps its place in its body.
    Camera(usize),
}

impl SensorFrame {
    fn target(&mut self, f: &mut impl FnMut(SensorTarget, &mut usize)) {
        match self {
            Self::Inertial { body, .. } | Self::Body(body) => f(SensorTarget::Body, body),
            Self::Geom(geom) => f(SensorTarget::Geom, geom),
            Self::Site(site) => f(SensorTarget::Site, site),
            Self::Camera(camera) => f(SensorTarget::Camera, camera),
        }
    }
}

/// A geom, or all geoms of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GeomsOf {
    /// One geom.
    Geom(usize),
    /// All geoms of a body.
    Body(usize),
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

/// What holds of a kind of sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorTraits<'a> {
    /// The name of its MJCF element.
    pub element: &'a str,
    /// How many numbers it has.
    pub dim: usize,
    /// What must be known for it.
    pub stage: SensorStage,
}

impl SensorKind {
    /// Its MJCF element, how many numbers it has, what must be known for it.
    pub fn traits(&self) -> SensorTraits<'_> {
        use SensorStage::{Acceleration, Position, Velocity};
        let of = |element, dim, stage| SensorTraits { element, dim, stage };
        match self {
            Self::Clock => of("clock", 1, Position),
            Self::PotentialEnergy => of("e_potential", 1, Position),
            Self::KineticEnergy => of("e_kinetic", 1, Velocity),
            Self::Joint { quantity, .. } => quantity.traits(),
            Self::Tendon { quantity, .. } => quantity.traits(),
            Self::Actuator { quantity, .. } => quantity.traits(),
            Self::Frame { quantity, .. } => quantity.traits(),
            Self::Site { quantity, .. } => quantity.traits(),
            Self::InsideSite { .. } => of("insidesite", 1, Position),
            Self::Subtree { quantity, .. } => quantity.traits(),
            Self::Distance { quantity, .. } => quantity.traits(),
            // What touches is known from the last step.
            Self::Contact(contact) => of("contact", contact.slots.saturating_mul(contact.slot_dim()), Acceleration),
            Self::Projection { .. } => of("camprojection", 2, Position),
            Self::Rangefinder { rays, fields } => {
                let dim: usize = fields.iter().map(|field| field.dim()).sum();
                of("rangefinder", rays.count().saturating_mul(dim), Position)
            }
            Self::Unsupported { element, dim } => of(element, *dim, Position),
        }
    }

    /// The name of its MJCF element.
    pub fn element(&self) -> &str {
        self.traits().element
    }

    /// How many numbers it has.
    pub fn dim(&self) -> usize {
        self.traits().dim
    }

    /// What must be known for it.
    pub fn stage(&self) -> SensorStage {
        self.traits().stage
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

/// A kind of element that sensors refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorTarget {
    /// A body.
    Body,
    /// A joint.
    Joint,
    /// A geom of the scene.
    Geom,
    /// A site.
    Site,
    /// A tendon.
    Tendon,
    /// An actuator.
    Actuator,
    /// A camera.
    Camera,
}

impl SensorKind {
    /// Calls `f` with the index of each element that it refers to, which may be changed.
    pub fn each_target(&mut self, mut f: impl FnMut(SensorTarget, &mut usize)) {
        use SensorTarget as T;
        match self {
            Self::Clock | Self::PotentialEnergy | Self::KineticEnergy | Self::Unsupported { .. } => {}
            Self::Joint { joint, .. } => f(T::Joint, joint),
            Self::Tendon { tendon, .. } => f(T::Tendon, tendon),
            Self::Actuator { actuator, .. } => f(T::Actuator, actuator),
            Self::Frame { frame, reference, .. } => {
                std::iter::once(frame).chain(reference).for_each(|frame| frame.target(&mut f));
            }
            Self::InsideSite { frame, site } => {
                frame.target(&mut f);
                f(T::Site, site);
            }
            Self::Site { site, .. } | Self::Rangefinder { rays: RaySource::Site(site), .. } => f(T::Site, site),
            Self::Rangefinder { rays: RaySource::Camera { camera, .. }, .. } => f(T::Camera, camera),
            Self::Projection { site, camera } => {
                f(T::Site, site);
                f(T::Camera, camera);
            }
            Self::Subtree { body, .. } => f(T::Body, body),
            Self::Distance { between, .. } => between.iter_mut().for_each(|of| match of {
                GeomsOf::Geom(geom) => f(T::Geom, geom),
                GeomsOf::Body(body) => f(T::Body, body),
            }),
            Self::Contact(contact) => [&mut contact.first, &mut contact.second].into_iter().for_each(|of| match of {
                ContactFilter::Any => {}
                ContactFilter::Geom(geom) => f(T::Geom, geom),
                ContactFilter::Body(body) | ContactFilter::Subtree(body) => f(T::Body, body),
                ContactFilter::Site(site) => f(T::Site, site),
            }),
        }
    }

    /// The elements that it refers to, with their indices.
    pub fn targets(&self) -> Vec<(SensorTarget, usize)> {
        let mut targets = Vec::new();
        self.clone().each_target(|of, index| targets.push((of, *index)));
        targets
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
