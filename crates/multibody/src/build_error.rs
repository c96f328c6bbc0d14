//! What can be wrong with a model.

/// Why a model cannot be built. Readers of files add file and line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// Parts that do not fit each other, in a model that no builder made.
    #[error("the model's {what} do not fit each other: expected a model as a builder makes it")]
    Structure {
        /// Which parts.
        what: String,
    },
    /// A value is NaN or infinite.
    #[error("{what}: expected finite numbers")]
    NotFinite {
        /// The element and attribute.
        what: String,
    },
    /// A parent, body, joint or tendon that does not exist (yet).
    #[error("{what}: there is no {kind} with index {index}")]
    NoSuch {
        /// Who refers to it.
        what: String,
        /// "body", "joint" or "tendon".
        kind: &'static str,
        /// The index.
        index: usize,
    },
    /// A mass below zero.
    #[error("body {body:?}: mass {mass} kg: expected a mass of 0 or more")]
    NegativeMass {
        /// The body.
        body: String,
        /// Its mass.
        mass: f64,
    },
    /// A rotational inertia that no rigid body has.
    #[error("body {body:?}: inertia with principal moments {moments:?} kg·m²: expected {expected}")]
    BadInertia {
        /// The body.
        body: String,
        /// Principal moments, ascending.
        moments: [f64; 3],
        /// What was expected.
        expected: &'static str,
    },
    /// A body that can move but has neither mass nor armature in some direction.
    #[error(
        "body {body:?} moves by joint {joint:?} but nothing behind that joint has mass or inertia about it: expected mass > 0 (or armature)"
    )]
    Massless {
        /// The body.
        body: String,
        /// The joint.
        joint: String,
    },
    /// An axis without direction.
    #[error("joint {joint:?}: axis of zero length: expected a direction")]
    ZeroAxis {
        /// The joint.
        joint: String,
    },
    /// A body that is moved from outside has joints of its own, or hangs on another body.
    #[error("body {body:?} is moved from outside: expected a child of the world without joints of its own")]
    MovedFromOutside {
        /// The body.
        body: String,
    },
    /// A free joint below another moving body, or beside other joints.
    #[error("joint {joint:?}: a free joint must be the only joint of a body whose parent is the world")]
    FreeNotAtRoot {
        /// The joint.
        joint: String,
    },
    /// A parameter outside its domain.
    #[error("{what}: {value}: expected {expected}")]
    OutOfRange {
        /// The element and attribute.
        what: String,
        /// What came.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },
    /// A keyframe whose vectors do not fit the model.
    #[error("keyframe {name:?}: {field} has {found} entries: expected {expected}")]
    KeyframeSize {
        /// The keyframe.
        name: String,
        /// q, v or ctrl.
        field: &'static str,
        /// Entries that came.
        found: usize,
        /// Entries that the model has.
        expected: usize,
    },
    /// A joint without exactly one degree of freedom where a scalar coordinate is needed.
    #[error("{what}: joint {joint:?} has {nv} degrees of freedom: expected a joint with one")]
    NotScalar {
        /// Who refers to it.
        what: String,
        /// The joint.
        joint: String,
        /// Its degrees of freedom.
        nv: usize,
    },
    /// A joint that is not a ball where one is needed.
    #[error("{what}: joint {joint:?} is of kind {kind}: expected a ball joint")]
    NotBall {
        /// Who refers to it.
        what: String,
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A tendon along no joint.
    #[error("{what}: expected at least one joint")]
    NoTerms {
        /// The tendon.
        what: String,
    },
    /// A spatial tendon along no path.
    #[error("{what}: {expected}")]
    Path {
        /// The tendon.
        what: String,
        /// What is wrong, and what was expected.
        expected: &'static str,
    },
    /// The same body, joint, site or tendon twice.
    #[error("{what}: {kind} {index} comes twice: expected different ones")]
    Repeated {
        /// Who refers to it.
        what: String,
        /// "body", "joint", "site" or "tendon".
        kind: &'static str,
        /// The index.
        index: usize,
    },
    /// A constraint between two bodies that cannot move against each other.
    #[error("{what}: bodies {bodies:?} move as one: expected bodies with a joint between them")]
    MoveAsOne {
        /// The constraint.
        what: String,
        /// The names of the bodies.
        bodies: [String; 2],
    },
    /// What is wrong with an element.
    #[error("{error}")]
    In {
        /// What it is.
        element: ElementKind,
        /// Its index.
        index: usize,
        /// The error, which names it.
        error: Box<BuildError>,
    },
}

/// Elements whose index an error tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ElementKind {
    Tendon,
    Equality,
    Sensor,
}

impl BuildError {
    /// The same of an element.
    pub(crate) fn in_element(self, element: ElementKind, index: usize) -> Self {
        Self::In { element, index, error: Box::new(self) }
    }
}
