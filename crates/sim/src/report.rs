//! Reports and statistics of a step.

use std::sync::{Mutex, OnceLock, PoisonError};

use geometry::{Contact, Scene};
use lanes::LaneContact;
use spatial::Vec3;

/// A contact point of the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// The two geoms, indices into the scene.
    pub geoms: [usize; 2],
    /// Their bodies, indices into the model.
    pub bodies: [usize; 2],
    /// Point midway between the surfaces at the beginning of the step, world, m.
    pub position: Vec3<f64>,
    /// Unit normal from the first geom towards the second, world.
    pub normal: Vec3<f64>,
    /// The two tangents that complete the normal, world.
    pub tangents: [Vec3<f64>; 2],
    /// Distance at the beginning of the step, negative in penetration, m.
    pub gap: f64,
    /// Impulse on the second body along (t1, t2, n) over the step, N·s.
    pub impulse: [f64; 3],
    /// Velocity of the second body relative to the first along (t1, t2, n) at the end of the step, m/s.
    pub velocity: [f64; 3],
}

/// What became of a contact point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ContactOutcome {
    /// As in [`ContactPoint`].
    pub gap: f64,
    pub impulse: [f64; 3],
    pub velocity: [f64; 3],
}

/// A contact point of a step in lanes, its impulse on the second body and the velocity there in world axes.
pub(crate) fn of_lane(contact: LaneContact, impulse: Vec3<f64>, velocity: Vec3<f64>) -> (Contact, ContactOutcome) {
    let LaneContact { geoms, position, normal, gap, .. } = contact;
    let (t1, t2) = normal.tangents();
    let along = |v: Vec3<f64>| [t1.dot(v), t2.dot(v), normal.dot(v)];
    let outcome = ContactOutcome { gap, impulse: along(impulse), velocity: along(velocity) };
    (Contact { geoms, position, normal, gap, stiffness_share: 1.0, pair: None }, outcome)
}

/// The contact points of the last step, made into reports when they are asked for.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// The points that were detected, and what became of them.
    pub detected: Vec<Contact>,
    pub contact_outcomes: Vec<ContactOutcome>,
    points: OnceLock<Vec<ContactPoint>>,
    /// The memory of reports of earlier steps.
    spare: Mutex<Vec<ContactPoint>>,
}

impl Reports {
    /// Forgets the step.
    pub fn clear(&mut self) {
        self.detected.clear();
        self.contact_outcomes.clear();
        self.renew();
    }

    /// After `detected` and `contact_outcomes` have changed.
    pub fn renew(&mut self) {
        if let Some(points) = self.points.take() {
            *self.spare.get_mut().unwrap_or_else(PoisonError::into_inner) = points;
        }
    }

    /// The reports.
    pub fn points(&self, scene: &Scene) -> &[ContactPoint] {
        self.points.get_or_init(|| {
            let mut points = std::mem::take(&mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner));
            points.clear();
            let all = self.detected.iter().zip(&self.contact_outcomes);
            points.extend(all.map(|(contact, outcome)| ContactPoint::new(contact, scene, outcome)));
            points
        })
    }

    /// The reports, made now to be changed.
    pub fn points_mut(&mut self, scene: &Scene) -> Option<&mut Vec<ContactPoint>> {
        self.points(scene);
        self.points.get_mut()
    }
}

impl ContactPoint {
    /// The point that was detected, with the bodies of its geoms.
    pub(crate) fn new(contact: &Contact, scene: &Scene, outcome: &ContactOutcome) -> Self {
        let Contact { geoms, position, normal, .. } = *contact;
        let ContactOutcome { gap, impulse, velocity } = *outcome;
        let bodies = [scene.geoms[geoms[0]].body, scene.geoms[geoms[1]].body];
        let (t1, t2) = normal.tangents();
        Self { geoms, bodies, position, normal, tangents: [t1, t2], gap, impulse, velocity }
    }

    /// The impulse on the second body, world, N·s.
    pub fn impulse_world(&self) -> Vec3<f64> {
        self.tangents[0] * self.impulse[0] + self.tangents[1] * self.impulse[1] + self.normal * self.impulse[2]
    }
}

/// A contact point of a soft body in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftContactPoint {
    /// The point of the soft body: which body, and the nodes whose weighted mean it is.
    pub point: geometry::SoftPoint,
    /// What it touches.
    pub partner: geometry::SoftPartner,
    /// Midway between the surfaces, world, m.
    pub position: Vec3<f64>,
    /// Unit vector from the soft body towards its partner.
    pub normal: Vec3<f64>,
    /// Unit vectors that with the normal make a right-handed frame.
    pub tangents: [Vec3<f64>; 2],
    /// Distance of the surfaces along the normal less margins, m.
    pub gap: f64,
    /// The point's share of the soft body's surface, m².
    pub area: f64,
    /// Impulse on the partner along the tangents and the normal, N·s.
    pub impulse: [f64; 3],
    /// Velocity of the partner relative to the soft body at the end of the step, along the same, m/s.
    pub velocity: [f64; 3],
}

impl SoftContactPoint {
    pub(crate) fn new(contact: &geometry::SoftContact) -> Self {
        let geometry::SoftContact { point, partner, position, normal, gap, area } = *contact;
        let (t1, t2) = normal.tangents();
        let (impulse, velocity) = ([0.0; 3], [0.0; 3]);
        Self { point, partner, position, normal, tangents: [t1, t2], gap, area, impulse, velocity }
    }

    /// The impulse on the partner, world, N·s.
    pub fn impulse_world(&self) -> Vec3<f64> {
        self.tangents[0] * self.impulse[0] + self.tangents[1] * self.impulse[1] + self.normal * self.impulse[2]
    }
}

/// Two statistics as one: their sum, the greater of them, that of the last part, or the same, of the whole step.
macro_rules! joined {
    (sum, $a:expr, $b:expr) => {
        $a + $b
    };
    (most, $a:expr, $b:expr) => {
        $a.max($b)
    };
    (same, $a:expr, $b:expr) => {
        $a
    };
    (last, $a:expr, $b:expr) => {
        $b
    };
}

/// One of [`Stats`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// How many.
    Count(usize),
    /// A measure.
    Number(f64),
}

impl From<usize> for Statistic {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Statistic {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// Declares [`Stats`]: of each how those of two parts of a step are joined, and those of the islands of a step.
macro_rules! stats {
    ($($(#[$doc:meta])* $field:ident: $type:ty, $of_parts:ident, $of_islands:ident;)*) => {
        /// Statistics of the last step.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Stats {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Stats {
            /// All of them with their names.
            pub fn named(&self) -> [(&'static str, Statistic); [$(stringify!($field)),*].len()] {
                [$((stringify!($field), self.$field.into())),*]
            }

            /// Two parts of a step as one.
            pub(crate) fn followed_by(self, next: &Self) -> Self {
                Self { $($field: joined!($of_parts, self.$field, next.$field)),* }
            }

            /// With what other islands of the same step found.
            pub(crate) fn plus(self, islands: &Self) -> Self {
                Self { $($field: joined!($of_islands, self.$field, islands.$field)),* }
            }
        }
    };
}

stats! {
    /// Contact points that were candidates (within reach of the step).
    contacts: usize, last, same;
    /// Contact points with an impulse.
    active_contacts: usize, last, sum;
    /// Joint and tendon limits that were candidates.
    limits: usize, last, same;
    /// Constraints in all: contacts, limits, equalities, friction of joints, tendons, drives at their limits.
    constraints: usize, last, sum;
    /// Trees that sleep.
    asleep: usize, last, same;
    /// Separate contact problems.
    islands: usize, last, same;
    /// Parts that the step was made in: more than one where the scheme did not resolve the motion over the whole, or the free motion of
    /// an implicit scheme had no solution there.
    substeps: usize, sum, same;
    /// Steps that were given up because the accuracy asked for shorter ones.
    rejected: usize, sum, same;
    /// Evaluations of the forces on the most evaluated tree, of steps that were given up too.
    force_evaluations: usize, sum, same;
    /// Newton steps of free motion under an implicit scheme and of soft bodies of nonlinear materials, the most of a tree.
    free_iterations: usize, most, same;
    /// Newton iterations of the contact problems, summed over islands: factorisations, so that a prediction counts and a
    /// step with the factor of the one before does not.
    /// Of robots in an island that are solved apart those of whichever took most.
    iterations: usize, sum, sum;
    /// Evaluations of the constraints in line searches and after Newton steps for Coulomb's law, summed over islands.
    line_search_evaluations: usize, sum, sum;
    /// Largest relative residual of an island.
    residual: f64, most, most;
    /// How far the worst island is from Coulomb's law, relative like `residual`: [`sap::friction_residual`].
    friction_residual: f64, most, most;
    /// Islands whose friction is not converged: the search for Coulomb's law found nothing within
    /// [`Options::factorization_budget`](crate::Options::factorization_budget), or was left out, as in crowds of bodies that start in each
    /// other. Friction there is bounded by normal impulses that are as far from the contacts' own as `friction_residual` says.
    unsettled: usize, sum, sum;
    /// Islands in which the search for the velocities that right positions, which leave no energy behind, ended at its budget: what starts
    /// violated moves apart, but not each contact at its speed.
    unfinished_recoveries: usize, sum, sum;
    /// Cost of the convex problem, summed over islands, J.
    cost: f64, last, sum;
    /// Deepest penetration at the beginning of the step, m; 0 when nothing touches.
    penetration: f64, most, most;
    /// What the step leaves of the balance of impulses on a node of a soft body of a nonlinear material that something touches, as a part
    /// of the largest; above 1e-6 the search for it was given up.
    soft_residual: f64, most, same;
}

impl Stats {
    /// Adds what the solve of an island did.
    pub(crate) fn add(&mut self, report: &sap::Report) {
        self.iterations += report.iterations;
        self.line_search_evaluations += report.line_search_evaluations;
        self.residual = self.residual.max(report.residual);
        self.friction_residual = self.friction_residual.max(report.friction_residual);
        self.unsettled += usize::from(report.criterion == sap::Criterion::FrictionBounds);
        self.cost += report.cost;
    }
}

/// Mechanical energy, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Of motion, armature included.
    pub kinetic: f64,
    /// Of gravity and of the springs of joints and tendons.
    pub potential: f64,
}

impl Energy {
    /// Kinetic and potential.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}
