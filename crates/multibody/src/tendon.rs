//! Tendons: scalars of the configuration, along which springs, limits and actuators act.

mod drift;
mod path;
mod route;
mod wrap;

use spatial::{Pose, Real, Vec3};

use crate::{Compliance, Kinematics, Model, PolynomialForces, forward_kinematics};
pub use path::{DrawnPoint, TendonLook};
pub use route::Route;
pub use wrap::ObstacleShape;

/// A tendon: a length, what acts along it, and what limits it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tendon {
    /// Name; empty when the file gives none.
    pub name: String,
    /// What its length is.
    pub path: TendonPath,
    /// Limits of the length.
    pub range: Option<(f64, f64)>,
    /// How much the limits yield.
    pub limit_compliance: Compliance,
    /// Stiffness; the spring is slack while the length is within [`rest`](Self::rest).
    pub stiffness: f64,
    /// Damping of the rate of the length.
    pub damping: f64,
    /// What spring and damper have beyond these linear parts.
    pub polynomial: PolynomialForces,
    /// Lengths between which the spring is slack.
    pub rest: (f64, f64),
    /// Coulomb friction, in units of force along the length.
    pub friction_loss: f64,
    /// How much that creeps: near-rigid or a reference, whose spring has no part.
    pub friction_compliance: Compliance,
    /// Inertia along the length: kg, of a fixed tendon as its joints measure.
    pub armature: f64,
    /// Least and greatest sum of the forces of its actuators, each before its gear (MJCF `actuatorfrcrange`): beyond it, all of them are
    /// scaled by the same factor, and then cut to their own limits.
    pub effort_limit: Option<(f64, f64)>,
    /// How pictures show it, if it is a string.
    pub look: TendonLook,
}

impl Tendon {
    /// Whether it exerts forces of its own, or has limits: others are seen and measured alone, but for actuators and equalities.
    pub fn acts(&self) -> bool {
        self.resists() || self.range.is_some()
    }

    /// Whether it exerts forces of its own within its limits.
    pub fn resists(&self) -> bool {
        let Self { stiffness, damping, polynomial, friction_loss, armature, .. } = self;
        [stiffness, damping, friction_loss, armature].iter().any(|x| **x != 0.0) || polynomial.is_any()
    }
}

/// What the length of a tendon is.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum TendonPath {
    /// A weighted sum of joint coordinates, `length = Σ coefficient · q` (MJCF `tendon/fixed`): joints with one degree of
    /// freedom, indices into [`Model::joints`], and their coefficients.
    Joints(Vec<(usize, f64)>),
    /// The length of a string through points of bodies, m (MJCF `tendon/spatial`): of all its branches, each over its divisor.
    Spatial(Vec<Branch>),
}

impl Default for TendonPath {
    /// No length.
    fn default() -> Self {
        Self::Joints(Vec::new())
    }
}

/// A part of a spatial tendon, from one pulley to the next.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Branch {
    /// What its length is divided by: how many strings share the force.
    pub divisor: f64,
    /// What it passes: sites, and between two of them an obstacle.
    pub points: Vec<PathPoint>,
}

/// Something that a spatial tendon passes.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum PathPoint {
    /// The origin of a site, an index into [`Model::sites`].
    Site(usize),
    /// A surface that the string does not cross.
    Obstacle(Obstacle),
}

/// A sphere or an endless cylinder that a string wraps around on its way from one site to the next.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Obstacle {
    /// The geom of the scene that it is.
    pub geom: usize,
    /// The geom's body.
    pub body: usize,
    /// Its frame in the body's frame; the axis of a cylinder is z.
    pub pose: Pose<f64>,
    /// Its shape.
    pub shape: ObstacleShape,
    /// Its radius, m.
    pub radius: f64,
    /// A site on the side where the string passes, an index into [`Model::sites`]. Where it is inside the obstacle, the string passes through
    /// the obstacle's inside. Without a site the string takes the shorter way round.
    pub side: Option<usize>,
}

/// One degree of freedom's share in the rate of a tendon's length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TendonTerm {
    /// The node of the tree.
    pub node: usize,
    /// The degree of freedom.
    pub dof: usize,
    /// ∂(rate of the length) / ∂(velocity of the degree of freedom).
    pub coefficient: f64,
}

/// The length of a tendon at a configuration, and its row of the Jacobian.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TendonRow {
    /// Length, m; of a fixed tendon in the units of its joints.
    pub length: f64,
    /// The entries of the row, ascending in the degrees of freedom, each once.
    pub terms: Vec<TendonTerm>,
    /// Of each obstacle on the way of a spatial tendon, where it comes to it and where it leaves it, world, m; none where it passes by.
    pub touches: Vec<Option<[Vec3<f64>; 2]>>,
}

/// Stretch of a spring that is slack between the two lengths `rest`, 0 while it is.
#[inline(always)]
pub fn stretch<T: Real>(rest: (f64, f64), length: T) -> T {
    (length - T::from_f64(rest.1)).max(T::ZERO) + (length - T::from_f64(rest.0)).min(T::ZERO)
}

impl TendonRow {
    pub(crate) fn clear(&mut self) {
        self.length = 0.0;
        self.terms.clear();
        self.touches.clear();
    }

    /// Adds a term to a row that is not [`complete`](Self::complete) yet: until then they descend, as paths go from the last node to the first.
    fn add(&mut self, term: TendonTerm) {
        match self.terms.iter().rposition(|own| own.dof >= term.dof) {
            Some(at) if self.terms[at].dof == term.dof => self.terms[at].coefficient += term.coefficient,
            before => self.terms.insert(before.map_or(0, |at| at + 1), term),
        }
    }

    /// Puts the terms in their order.
    fn complete(&mut self) {
        self.terms.reverse();
    }

    /// The rate of the length at the velocities `v` (nv).
    pub fn rate(&self, v: &[f64]) -> f64 {
        self.terms.iter().map(|term| term.coefficient * v[term.dof]).sum()
    }
}

/// A straight piece of a string, in the world.
#[derive(Clone, Copy, Debug)]
pub struct Strand {
    /// The bodies that its ends move with.
    pub bodies: [usize; 2],
    /// The nodes of these bodies, [`NO_PARENT`](crate::NO_PARENT) for the world.
    pub nodes: [usize; 2],
    /// Its ends, m.
    pub points: [Vec3<f64>; 2],
    /// Their distance, m.
    pub length: f64,
    /// One over the divisor of its branch.
    pub weight: f64,
    /// Whether it stands for an arc on an obstacle, from one end to the other.
    pub is_arc: bool,
}

impl Tendon {
    /// Joints and coefficients of a fixed tendon; nothing of a spatial one.
    pub fn terms(&self) -> &[(usize, f64)] {
        match &self.path {
            TendonPath::Joints(terms) => terms,
            TendonPath::Spatial(_) => &[],
        }
    }

    /// Whether it is a string through points of bodies.
    pub fn is_spatial(&self) -> bool {
        matches!(self.path, TendonPath::Spatial(_))
    }

    /// The length at the configuration `q` (nq) of the model.
    pub fn length(&self, model: &Model, q: &[f64]) -> f64 {
        match &self.path {
            TendonPath::Joints(terms) => sum(model, terms, q),
            TendonPath::Spatial(_) => {
                let mut kinematics = Kinematics::new(&model.tree);
                forward_kinematics(&model.tree, model.tree.all(), q, &mut kinematics);
                self.each_strand(model, &kinematics, |_| {})
            }
        }
    }

    /// Sets `row` to the length and its derivative at the configuration `q` (nq) of the model, after [`forward_kinematics`] there.
    pub fn write_row(&self, model: &Model, kinematics: &Kinematics<f64>, q: &[f64], row: &mut TendonRow) {
        row.clear();
        match &self.path {
            TendonPath::Joints(terms) => {
                row.length = sum(model, terms, q);
                for &(joint, coefficient) in terms {
                    let joint = &model.joints[joint];
                    row.add(TendonTerm { node: joint.nodes.start, dof: joint.v, coefficient });
                }
            }
            TendonPath::Spatial(_) => self.add_pieces(model, kinematics, row),
        }
        row.complete();
    }

    /// What a spatial tendon wraps around.
    pub fn obstacles_mut(&mut self) -> impl Iterator<Item = &mut Obstacle> {
        let branches = match &mut self.path {
            TendonPath::Joints(_) => &mut [][..],
            TendonPath::Spatial(branches) => branches,
        };
        branches.iter_mut().flat_map(|branch| &mut branch.points).filter_map(|point| match point {
            PathPoint::Site(_) => None,
            PathPoint::Obstacle(obstacle) => Some(obstacle),
        })
    }

    /// The bodies that a spatial tendon acts on.
    pub fn bodies<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = usize> + 'a {
        let branches = match &self.path {
            TendonPath::Joints(_) => &[][..],
            TendonPath::Spatial(branches) => branches,
        };
        branches.iter().flat_map(|branch| &branch.points).map(|point| match point {
            PathPoint::Site(site) => model.sites[*site].body,
            PathPoint::Obstacle(obstacle) => obstacle.body,
        })
    }
}

fn sum(model: &Model, terms: &[(usize, f64)], q: &[f64]) -> f64 {
    terms.iter().map(|&(joint, coefficient)| coefficient * q[model.joints[joint].q]).sum()
}
