//! Numbers of a model that one simulation, or one world of a batch, may have otherwise.

mod apply;
mod features;
mod own;

use std::collections::BTreeMap;

use geometry::{Scene, Shape};
use multibody::{Compliance, EqualityKind, Material, Model, Reference};
use spatial::{Quat, Sym3, Vec3};

use apply::Domain;
pub(crate) use apply::is_in_state;
pub use features::Feature;
pub use own::OwnModel;

/// What a row of a parameter's array is of.
#[derive(Clone, Copy)]
enum Per {
    Axis,
    Body,
    Joint,
    Dof,
    Geom,
    Pair,
    Actuator,
    Equality,
    Feature,
}

impl Per {
    fn count(self, model: &Model, scene: &Scene) -> usize {
        match self {
            Self::Axis => 3,
            Self::Body => model.bodies.len(),
            Self::Joint => model.joints.len(),
            Self::Dof => model.nv(),
            Self::Geom => scene.geoms.len(),
            Self::Pair => scene.pairs.len(),
            Self::Actuator => model.nu(),
            Self::Equality => model.equalities.len(),
            Self::Feature => Feature::ALL.len(),
        }
    }
}

/// Whether steps are differentiated with respect to a parameter: compliances and what is no vector are not.
#[derive(Clone, Copy, PartialEq)]
enum Smoothness {
    Smooth,
    NotSmooth,
}

/// What holds of a parameter.
struct Traits {
    name: &'static str,
    columns: usize,
    per: Per,
    domain: Domain,
    smoothness: Smoothness,
}

/// Declares [`Parameter`], each with the name that users know, how many numbers it has in each row and what rows are of, what its numbers may
/// be, and whether steps are differentiated with respect to it.
macro_rules! parameters {
    ($($(#[$doc:meta])* $parameter:ident = $name:literal, $columns:literal per $per:ident, $domain:ident, $smoothness:ident;)*) => {
        /// What can be changed. Structure cannot: bodies, joints, geoms and actuators stay as many and as they are connected.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Parameter {
            $($(#[$doc])* $parameter,)*
        }

        impl Parameter {
            /// All of them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$parameter),*];

            const fn traits(self) -> Traits {
                match self {
                    $(Self::$parameter => Traits {
                        name: $name,
                        columns: $columns,
                        per: Per::$per,
                        domain: Domain::$domain,
                        smoothness: Smoothness::$smoothness,
                    },)*
                }
            }
        }
    };
}

parameters! {
    /// Acceleration of gravity, (3), m/s².
    Gravity = "gravity", 1 per Axis, Finite, Smooth;
    /// Masses of the bodies, (nbody), kg; rotational inertia changes in proportion.
    Masses = "masses", 1 per Body, NotNegative, Smooth;
    /// Centres of mass in the bodies' frames, (nbody, 3), m; rotational inertia about them stays.
    Coms = "coms", 3 per Body, Finite, Smooth;
    /// Rotational inertias about the centres of mass in the bodies' axes, (nbody, 6): xx, yy, zz, xy, xz, yz, kg·m². They are those at the
    /// model's masses: other masses and [`InertiaScales`](Self::InertiaScales) multiply them.
    Inertias = "inertias", 6 per Body, Finite, Smooth;
    /// Factors on the rotational inertias, (nbody).
    InertiaScales = "inertia_scales", 1 per Body, Positive, Smooth;
    /// Origins of the bodies in their parents' frames, (nbody, 3), m. Those of the world, and of bodies with a free joint or that are moved from
    /// outside, whose place is in the state, stay.
    BodyPositions = "body_positions", 3 per Body, Finite, Smooth;
    /// Orientations of the bodies in their parents' frames, (nbody, 4): quaternions w x y z.
    BodyQuaternions = "body_quaternions", 4 per Body, Finite, NotSmooth;
    /// Axes of the joints in their bodies' frames, (njoint, 3), of any length above 0; 0 of those that have not one axis, and stay so.
    JointAxes = "joint_axes", 3 per Joint, Finite, Smooth;
    /// Points of the joints in their bodies' frames, (njoint, 3), m; that of a free joint stays.
    JointAnchors = "joint_anchors", 3 per Joint, Finite, Smooth;
    /// Coefficients of sliding friction of the geoms, (ngeom); of two geoms the larger counts.
    Frictions = "frictions", 1 per Geom, NotNegative, Smooth;
    /// Greatest torques about the normal over normal force, (ngeom), m; they count where a geom resists spinning.
    TorsionalFrictions = "torsional_frictions", 1 per Geom, NotNegative, Smooth;
    /// Greatest torques about a tangent over normal force, (ngeom), m; they count where a geom resists rolling.
    RollingFrictions = "rolling_frictions", 1 per Geom, NotNegative, Smooth;
    /// `solref` of the geoms, (ngeom, 2), see [`multibody::Reference`]; 0 of those that are near-rigid, or springs in physical units, and stay so.
    Solref = "solref", 2 per Geom, Finite, NotSmooth;
    /// `solimp` of the geoms, (ngeom, 5), likewise.
    Solimp = "solimp", 5 per Geom, Finite, NotSmooth;
    /// Frictions of the pairs with surfaces of their own, in the order of the scene, (npair, 4): sliding along both tangents of
    /// [`multibody::Material::friction_tangents`], torsional and rolling, m.
    PairFrictions = "pair_frictions", 4 per Pair, NotNegative, NotSmooth;
    /// `solref` of these pairs, in the order of the scene, (npair, 2), likewise.
    PairSolref = "pair_solref", 2 per Pair, Finite, NotSmooth;
    /// `solimp` of these, (npair, 5).
    PairSolimp = "pair_solimp", 5 per Pair, Finite, NotSmooth;
    /// `solref` of the joints' limits, (njoint, 2), likewise.
    LimitSolref = "limit_solref", 2 per Joint, Finite, NotSmooth;
    /// `solimp` of these, (njoint, 5).
    LimitSolimp = "limit_solimp", 5 per Joint, Finite, NotSmooth;
    /// Sizes of the geoms, (ngeom, 3): radius of a sphere; radius and half length of a capsule or cylinder; half extents of a box;
    /// semi-axes of an ellipsoid. Those of other shapes count for nothing. Masses stay.
    GeomSizes = "geom_sizes", 3 per Geom, OfEach, Smooth;
    /// Positions of the geoms in their bodies' frames, (ngeom, 3), m. Masses stay.
    GeomPositions = "geom_positions", 3 per Geom, Finite, Smooth;
    /// Orientations of the geoms in their bodies' frames, (ngeom, 4): quaternions w x y z.
    GeomQuaternions = "geom_quaternions", 4 per Geom, Finite, NotSmooth;
    /// Inertia of the drives, (nv).
    Armature = "armature", 1 per Dof, NotNegative, Smooth;
    /// Damping of the joints, (nv).
    Damping = "damping", 1 per Dof, NotNegative, Smooth;
    /// Stiffness of the joints, (nv).
    Stiffness = "stiffness", 1 per Dof, NotNegative, Smooth;
    /// Coulomb friction of the joints, (nv), N or N·m.
    Frictionloss = "frictionloss", 1 per Dof, NotNegative, Smooth;
    /// Limits of the joints, (njoint, 2): rad or m; of a ball (0, greatest angle). Infinite where there are none.
    JointRanges = "joint_ranges", 2 per Joint, OfEach, NotSmooth;
    /// Where balls and free joints are held, (njoint, 8): 1, then the coordinates of the joint, then 0; all 0 of one that moves. Other joints are
    /// held by [`JointRanges`](Self::JointRanges).
    JointLocks = "joint_locks", 8 per Joint, Finite, NotSmooth;
    /// Force of the actuators per unit of control, (nu): kp of a position servo and kv of a velocity servo, whose bias follows.
    Gains = "gains", 1 per Actuator, Finite, Smooth;
    /// Damping of the actuators that are position servos, (nu). Those of others count for nothing.
    Kv = "kv", 1 per Actuator, NotNegativeIfChanged, Smooth;
    /// Whether the actuators give a force, (nu): 1 or 0. An activation goes on either way.
    ActuatorsEnabled = "actuators_enabled", 1 per Actuator, Switch, NotSmooth;
    /// Bits of the geoms, (ngeom): two may touch when one's `contype` and the other's `conaffinity` share one.
    Contypes = "contypes", 1 per Geom, Bits, NotSmooth;
    /// See [`Contypes`](Self::Contypes), (ngeom).
    Conaffinities = "conaffinities", 1 per Geom, Bits, NotSmooth;
    /// What geoms resist, (ngeom): MJCF's `condim`, 1, 3, 4 or 6; of two geoms the larger counts.
    Condims = "condims", 1 per Geom, Resistance, NotSmooth;
    /// Which [`Feature`]s are switched off, 1 or 0, in the order of [`Feature::ALL`].
    Disabled = "disabled", 1 per Feature, Switch, NotSmooth;
    /// What equality constraints hold together, (neq, 6): a point of the first body in its frame, then one of the second, m. Those of couplings
    /// count for nothing.
    EqualityAnchors = "equality_anchors", 6 per Equality, Finite, NotSmooth;
    /// Orientations of the second body in the frame of the first that welds hold, (neq, 4): quaternions w x y z. Those of others count for
    /// nothing.
    EqualityQuaternions = "equality_quaternions", 4 per Equality, Finite, NotSmooth;
}

use Parameter as P;

impl Parameter {
    /// The name that users know.
    pub const fn name(self) -> &'static str {
        self.traits().name
    }

    /// The parameter of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parameter| parameter.name() == name)
    }

    /// Rows of the array, and numbers in each of them: (nbody, 3), or (nv, 1) where it has one dimension.
    pub fn shape(self, model: &Model, scene: &Scene) -> (usize, usize) {
        let Traits { columns, per, .. } = self.traits();
        (per.count(model, scene), columns)
    }

    /// Whether [`Simulation::step_jacobians_of`](crate::Simulation::step_jacobians_of) differentiates with respect to it.
    pub fn is_differentiable(self) -> bool {
        self.traits().smoothness == Smoothness::Smooth
    }

    /// What a model has, row by row.
    pub fn of(self, model: &Model, scene: &Scene) -> Vec<f64> {
        let surface = |of: fn(&Material) -> f64| {
            scene.geoms.iter().map(|geom| model.materials.get(geom.material).map_or(0.0, of)).collect()
        };
        match self {
            P::Gravity => model.gravity.to_array().to_vec(),
            P::Masses => model.bodies.iter().map(|body| body.inertia.mass).collect(),
            P::Coms => model.bodies.iter().flat_map(|body| body.inertia.com.to_array()).collect(),
            P::Inertias => model.bodies.iter().flat_map(|body| moments(&body.inertia.inertia)).collect(),
            P::InertiaScales => vec![1.0; model.bodies.len()],
            P::BodyPositions => model.bodies.iter().flat_map(|body| body.pose_in_parent.pos.to_array()).collect(),
            P::BodyQuaternions => model.bodies.iter().flat_map(|body| body.pose_in_parent.rot.to_array()).collect(),
            P::Frictions => surface(|material| material.friction),
            P::TorsionalFrictions => surface(|material| material.torsional_friction),
            P::RollingFrictions => surface(|material| material.rolling_friction),
            P::PairFrictions => {
                let of_pair = |pair: &geometry::PairSpec| {
                    model.materials.get(pair.material).map_or([0.0; 4], Material::pair_frictions)
                };
                scene.pairs.iter().flat_map(of_pair).collect()
            }
            P::Solref | P::PairSolref | P::LimitSolref => {
                self.references(model, scene).into_iter().flat_map(|reference| reference.solref).collect()
            }
            P::Solimp | P::PairSolimp | P::LimitSolimp => {
                self.references(model, scene).into_iter().flat_map(|reference| reference.solimp).collect()
            }
            P::GeomSizes => scene.geoms.iter().flat_map(|geom| size(&geom.shape)).collect(),
            P::GeomPositions => scene.geoms.iter().flat_map(|geom| geom.pose.pos.to_array()).collect(),
            P::GeomQuaternions => scene.geoms.iter().flat_map(|geom| geom.pose.rot.to_array()).collect(),
            P::Armature => model.armature.clone(),
            P::Damping => model.damping.clone(),
            P::Stiffness => model.stiffness.clone(),
            P::Frictionloss => model.friction_loss.clone(),
            P::JointAxes => {
                model.joints.iter().flat_map(|joint| joint.kind.axis().unwrap_or(Vec3::ZERO).to_array()).collect()
            }
            P::JointAnchors => model.joints.iter().flat_map(|joint| joint.anchor.to_array()).collect(),
            P::JointRanges => {
                let range = |joint: &multibody::Joint| joint.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                model.joints.iter().flat_map(|joint| <[f64; 2]>::from(range(joint))).collect()
            }
            P::JointLocks => vec![0.0; 8 * model.joints.len()],
            P::Gains => model.actuators.iter().map(|actuator| actuator.law.gain).collect(),
            P::Kv => model.actuators.iter().map(|actuator| -actuator.law.bias[2]).collect(),
            P::ActuatorsEnabled => vec![1.0; model.nu()],
            P::Contypes => scene.geoms.iter().map(|geom| f64::from(geom.contype)).collect(),
            P::Conaffinities => scene.geoms.iter().map(|geom| f64::from(geom.conaffinity)).collect(),
            P::Condims => surface(|material| material.resistance.rows() as f64),
            P::Disabled => vec![0.0; Feature::ALL.len()],
            P::EqualityAnchors => model.equalities.iter().flat_map(|equality| anchors(&equality.kind)).collect(),
            P::EqualityQuaternions => model.equalities.iter().flat_map(|equality| turn(&equality.kind)).collect(),
        }
    }

    /// How what it is of yields, row by row; 0 of what does so by no such law.
    fn references(self, model: &Model, scene: &Scene) -> Vec<Reference> {
        let of = |compliance: Option<Compliance>| match compliance {
            Some(Compliance::Reference(reference)) => reference,
            _ => Reference { solref: [0.0; 2], solimp: [0.0; 5], ..Reference::default() },
        };
        let of_surface = |material: usize| of(model.materials.get(material).map(|surface| surface.compliance));
        match self {
            P::LimitSolref | P::LimitSolimp => {
                model.joints.iter().map(|joint| of(Some(joint.limit_compliance))).collect()
            }
            P::PairSolref | P::PairSolimp => scene.pairs.iter().map(|pair| of_surface(pair.material)).collect(),
            _ => scene.geoms.iter().map(|geom| of_surface(geom.material)).collect(),
        }
    }
}

/// The numbers of [`Parameter::Inertias`].
fn moments(inertia: &Sym3<f64>) -> [f64; 6] {
    [inertia.xx(), inertia.yy(), inertia.zz(), inertia.xy(), inertia.xz(), inertia.yz()]
}

/// The numbers of [`Parameter::EqualityAnchors`].
fn anchors(kind: &EqualityKind) -> [f64; 6] {
    let [a, b] = match kind {
        EqualityKind::Connect { anchors, .. } | EqualityKind::Distance { anchors, .. } => *anchors,
        EqualityKind::Weld { frames, .. } => frames.map(|frame| frame.pos),
        EqualityKind::Coupling { .. } => [Vec3::ZERO; 2],
    };
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

/// The numbers of [`Parameter::EqualityQuaternions`].
fn turn(kind: &EqualityKind) -> [f64; 4] {
    let EqualityKind::Weld { frames: [first, second], .. } = kind else { return Quat::IDENTITY.to_array() };
    (first.rot * second.rot.conjugate()).to_array()
}

/// The numbers of [`Parameter::GeomSizes`].
fn size(shape: &Shape) -> [f64; 3] {
    match *shape {
        Shape::Sphere { radius } => [radius, 0.0, 0.0],
        Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => [radius, half_length, 0.0],
        Shape::Ellipsoid { radii } => radii,
        Shape::Box { half_extents } => half_extents,
        Shape::Plane { .. } | Shape::Mesh(_) | Shape::HeightField(_) => [0.0; 3],
    }
}

/// Why parameters are none of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// An array of another length.
    #[error("{name} has {found} entries: expected {expected}")]
    Size {
        /// The parameter.
        name: &'static str,
        /// Entries that came.
        found: usize,
        /// Entries that were expected.
        expected: usize,
    },
    /// A number outside its domain.
    #[error("{name}[{index}] is {value}: expected {expected}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// Of which body, geom, degree of freedom or actuator, and which of its numbers where it has several: `3` or `3, 1`.
        index: String,
        /// What it was.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// Bytes that are no parameters of the model.
    #[error("the bytes hold no parameters of this model")]
    Bytes,
}

/// Parameters of one simulation or world: an array for each that is not the model's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    values: BTreeMap<Parameter, Vec<f64>>,
}

impl Parameters {
    /// All parameters of a model.
    pub fn of(model: &Model, scene: &Scene) -> Self {
        P::ALL.into_iter().map(|parameter| (parameter, parameter.of(model, scene))).collect()
    }

    /// Whether all are the model's.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The array of a parameter, row by row; none where it is the model's.
    pub fn get(&self, parameter: Parameter) -> Option<&[f64]> {
        self.values.get(&parameter).map(Vec::as_slice)
    }

    /// Sets a parameter, row by row; [`apply`](Self::apply) checks it.
    pub fn set(&mut self, parameter: Parameter, values: Vec<f64>) {
        self.values.insert(parameter, values);
    }

    /// With this parameter.
    #[must_use]
    pub fn with(mut self, parameter: Parameter, values: Vec<f64>) -> Self {
        self.set(parameter, values);
        self
    }

    /// The parameters that are set.
    pub fn iter(&self) -> impl Iterator<Item = (Parameter, &[f64])> {
        self.values.iter().map(|(parameter, values)| (*parameter, values.as_slice()))
    }

    /// These, and those of `other` that are not among them.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        for (parameter, values) in &other.values {
            self.values.entry(*parameter).or_insert_with(|| values.clone());
        }
        self
    }

    /// As bytes: for each parameter its name's length, its name, how many numbers, and these, little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (parameter, values) in self.iter() {
            bytes.push(parameter.name().len() as u8);
            bytes.extend(parameter.name().as_bytes());
            bytes.extend((values.len() as u64).to_le_bytes());
            bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        }
        bytes
    }

    /// From bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// When they are none of this version.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, ParameterError> {
        let mut parameters = Self::default();
        let mut take = |len: usize| {
            let (taken, rest) = bytes.split_at_checked(len)?;
            bytes = rest;
            Some((taken, rest.is_empty()))
        };
        let mut next = || -> Option<(Parameter, Vec<f64>, bool)> {
            let len = usize::from(take(1)?.0[0]);
            let parameter = Parameter::named(std::str::from_utf8(take(len)?.0).ok()?)?;
            let count = take(8)?.0.iter().rev().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
            let (numbers, is_last) = take(usize::try_from(count).ok()?.checked_mul(8)?)?;
            let numbers = numbers.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect();
            Some((parameter, numbers, is_last))
        };
        loop {
            let (parameter, values, is_last) = next().ok_or(ParameterError::Bytes)?;
            parameters.set(parameter, values);
            if is_last {
                return Ok(parameters);
            }
        }
    }
}

impl FromIterator<(Parameter, Vec<f64>)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (Parameter, Vec<f64>)>>(values: I) -> Self {
        Self { values: values.into_iter().collect() }
    }
}
