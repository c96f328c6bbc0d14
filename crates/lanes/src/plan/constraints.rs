//! All that may constrain a step: Jacobians and laws.

use std::ops::Range;

use multibody::{Compliance, Coordinate, EqualityKind, InverseWeights, Model, Resistance};
use spatial::{Mat3, Pose, Vec3};

use super::drives::{PlanActuator, PlanDrive};
use super::surfaces::{Carried, Home, PlanFrame};
use super::{Contacts, Limit};
use crate::ConstraintName;

/// A constraint.
#[derive(Clone, Debug)]
pub(crate) struct PlanConstraint {
    /// None of contact points and their friction.
    pub name: Option<ConstraintName>,
    pub jacobian: PlanJacobian,
    pub source: Source,
}

/// What the rows of a constraint act on.
#[derive(Clone, Debug)]
pub(crate) enum PlanJacobian {
    /// Three rows: the velocity of a point of the second node relative to the first; none for what is fixed in the world.
    Point([Option<usize>; 2]),
    /// Three rows: the angular velocity of the second node relative to the first.
    Turn([Option<usize>; 2]),
    /// One row: the same about the normal of a contact.
    Twist([Option<usize>; 2]),
    /// One row: a sum of joint velocities, of these terms.
    Sum(Range<usize>),
}

/// What makes a constraint.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Contact,
    /// Rolling and torsional friction of the contact in a slot, lengths in m.
    Spin {
        contact: usize,
    },
    /// A side of a limit of a joint with one degree of freedom.
    Limit,
    /// How far a ball joint may turn: its place among these limits, its first coordinate and degree of freedom.
    BallLimit {
        limit: usize,
        q: usize,
        v: usize,
        compliance: Compliance,
    },
    /// Dry friction of a joint.
    JointFriction {
        compliance: Compliance,
    },
    /// y = p(x); the terms of y come first.
    Coupling {
        equality: usize,
        coupling: Box<Coupling>,
        compliance: Compliance,
    },
    Tie {
        equality: usize,
        tie: Tie,
        compliance: Compliance,
    },
    /// A side of a tendon's limit, of `gap = sign (length − bound)`.
    TendonLimit {
        sign: f64,
        bound: f64,
        compliance: Compliance,
    },
    /// A tendon's spring and damper; the spring is slack between two lengths.
    TendonSpring {
        stiffness: f64,
        damping: f64,
        rest: (f64, f64),
    },
    /// A tendon's inertia.
    TendonArmature {
        armature: f64,
    },
    TendonFriction {
        force: f64,
        compliance: Compliance,
    },
    /// An actuator of a tendon whose force opposes its motion.
    TendonActuator(Box<PlanActuator>),
    /// A drive that may be at its limits, by its place among the drives.
    Drive {
        drive: usize,
    },
}

/// A joint's part in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub q: usize,
    pub dof: usize,
    pub coefficient: f64,
}

/// `y − y₀ = p(x − x₀)`.
#[derive(Clone, Debug)]
pub(crate) struct Coupling {
    pub references: [f64; 2],
    pub polynomial: [f64; 5],
    /// The terms of `y` and `x` by themselves, with their places in the row.
    pub y: Vec<(usize, Term)>,
    pub x: Vec<(usize, Term)>,
}

/// Two frames that are held together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tie {
    pub kind: TieKind,
    /// Its place among the ties, see [`Numbers::ties`](super::Numbers).
    pub place: usize,
    pub homes: [Home; 2],
    /// Of a weld, what its turn counts for against its distance, m.
    pub weld: Option<f64>,
}

/// What of two frames is held.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TieKind {
    Point,
    Turn,
    Distance(f64),
}

/// A tendon's actuators without impedance: their force is on its terms at once.
#[derive(Clone, Debug)]
pub(crate) struct TendonMotor {
    pub actuator: PlanActuator,
    pub terms: Range<usize>,
}

impl Source {
    /// Whether it is one-sided, so that it may not push at all.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Limit | Self::BallLimit { .. } | Self::TendonLimit { .. })
    }
}

impl PlanJacobian {
    /// Whether there are three of them.
    pub fn are_three(&self) -> bool {
        matches!(self, Self::Point(_) | Self::Turn(_))
    }
}

/// The constraints of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    pub all: Vec<PlanConstraint>,
    /// What the rows of joints refer to.
    pub terms: Vec<Term>,
    pub tendon_motors: Vec<TendonMotor>,
    /// The rolling and torsional friction of each contact slot, if it has any.
    pub spin_of: Vec<Option<usize>>,
    /// The places of those that have names, ascending by these.
    places: Vec<(ConstraintName, usize)>,
    /// Whether any contact resists rolling: what others resist has three rows then as well.
    pub rolls: bool,
    pub first_limit: usize,
    /// The constraints after the contacts and the limits of joints with one degree of freedom.
    pub first_other: usize,
}

impl Constraints {
    /// Those of `model`.
    pub fn new(model: &Model, contacts: &Contacts, limits: &[Limit], drives: &[PlanDrive]) -> Self {
        let of_contact = |ends: &super::contacts::Ends| PlanConstraint {
            name: None,
            jacobian: PlanJacobian::Point(ends.nodes),
            source: Source::Contact,
        };
        let rolls = contacts.ends.iter().any(|ends| ends.spin.resistance == Resistance::Rolling && ends.spin.is_any());
        let mut these = Self { all: contacts.ends.iter().map(of_contact).collect(), rolls, ..Self::default() };
        for (contact, ends) in contacts.ends.iter().enumerate() {
            let spin = ends.spin;
            these.spin_of.push(spin.is_any().then_some(these.all.len()));
            if spin.is_any() {
                let source = Source::Spin { contact };
                let jacobian = if rolls { PlanJacobian::Turn(ends.nodes) } else { PlanJacobian::Twist(ends.nodes) };
                these.all.push(PlanConstraint { name: None, jacobian, source });
            }
        }
        these.first_limit = these.all.len();
        for limit in limits {
            for (side, coefficient) in [1.0, -1.0].into_iter().enumerate() {
                let name = ConstraintName::limit(limit.place, side);
                these.push_sum(name, &[Term { q: limit.q, dof: limit.v, coefficient }], Source::Limit);
            }
        }
        these.first_other = these.all.len();
        these.push_ball_limits(model);
        these.push_equalities(model, &contacts.carried);
        these.push_tendons(model);
        these.push_joint_friction(model);
        for (drive, of) in drives.iter().enumerate() {
            let first = of.actuators.first();
            let name = first.map_or(ConstraintName::pd(of.v), |first| ConstraintName::servo(first.ctrl));
            these.push_sum(name, &[Term { q: of.q, dof: of.v, coefficient: 1.0 }], Source::Drive { drive });
        }
        let named = these.all.iter().enumerate().filter_map(|(k, constraint)| Some((constraint.name?, k)));
        these.places = named.collect();
        these.places.sort_unstable();
        these
    }

    /// The inverse weights of the constraints after the contacts.
    pub fn inverse_weights(&self, model: &Model, weights: &InverseWeights) -> Vec<f64> {
        let limited: Vec<_> = super::limited(model).map(|(joint, _)| joint.v).collect();
        let of = |constraint: &PlanConstraint| {
            let Some([kind, index, part]) = constraint.name.map(|name| name.0) else { return 0.0 };
            let index = index as usize;
            match kind {
                ConstraintName::LIMIT => weights.dofs[limited[index]],
                ConstraintName::EQUALITY => weights.of_equality(model, index, part as usize),
                ConstraintName::TENDON => weights.tendons[index],
                ConstraintName::FRICTION | ConstraintName::PD => weights.dofs[index],
                ConstraintName::SERVO => weights.of_actuator(model, index),
                _ => 0.0,
            }
        };
        self.all[self.first_limit..].iter().map(of).collect()
    }

    /// The frames of the ties.
    pub fn tie_frames(
        &self,
        model: &Model,
        turns: &[Mat3<f64>],
        carried: &[Option<Carried>],
    ) -> Vec<[PlanFrame<f64>; 2]> {
        let of = |constraint: &PlanConstraint| match &constraint.source {
            Source::Tie { equality, .. } => frames_of(&model.equalities[*equality].kind),
            _ => None,
        };
        let in_home = |(body, pose): (usize, Pose<f64>)| {
            let node = model.bodies[body].node;
            let pose = carried[body].map_or(model.bodies[body].pose, |carried| carried.pose) * pose;
            let turn = node.map_or(Mat3::IDENTITY, |node| turns[node].transpose());
            PlanFrame { pos: turn * pose.pos, rot: turn * pose.rot.to_mat3() }
        };
        self.all.iter().filter_map(of).map(|frames| frames.map(in_home)).collect()
    }

    /// The constraint of this name, which is no contact.
    pub fn of_name(&self, name: ConstraintName) -> Option<usize> {
        let place = self.places.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        Some(self.places[place].1)
    }

    /// Calls `f` with the nodes that a constraint acts on.
    #[inline(always)]
    pub fn each_node(&self, k: usize, node_of_dof: &[usize], mut f: impl FnMut(usize)) {
        match &self.all[k].jacobian {
            PlanJacobian::Point(nodes) | PlanJacobian::Turn(nodes) | PlanJacobian::Twist(nodes) => {
                nodes.iter().flatten().for_each(|node| f(*node));
            }
            PlanJacobian::Sum(terms) => self.terms[terms.clone()].iter().for_each(|term| f(node_of_dof[term.dof])),
        }
    }

    /// The pairs of trees that constraints other than contacts join.
    pub fn joined_trees(&self, tree_of: &impl Fn(usize) -> usize, node_of_dof: &[usize]) -> Vec<[usize; 2]> {
        let mut joined = Vec::new();
        for k in self.first_limit..self.all.len() {
            let mut last = None;
            self.each_node(k, node_of_dof, |node| {
                let tree = tree_of(node);
                joined.extend(last.replace(tree).map(|last| [last, tree]));
            });
        }
        joined.retain(|[a, b]| a != b);
        joined
    }

    /// Where a constraint stands among those of a lane: first contacts with rolling or torsional friction, each followed by it.
    pub fn order(&self, k: usize) -> usize {
        match self.all[k].source {
            Source::Contact if self.spin_of[k].is_some() => 2 * k,
            Source::Spin { contact, .. } => 2 * contact + 1,
            _ => 2 * self.first_limit + k,
        }
    }

    fn push_sum(&mut self, name: ConstraintName, terms: &[Term], source: Source) {
        let start = self.terms.len();
        self.terms.extend_from_slice(terms);
        let jacobian = PlanJacobian::Sum(start..self.terms.len());
        self.all.push(PlanConstraint { name: Some(name), jacobian, source });
    }

    fn push_ball_limits(&mut self, model: &Model) {
        for (limit, (joint, place, _)) in super::ball_limits(model).enumerate() {
            let source = Source::BallLimit { limit, q: joint.q, v: joint.v, compliance: joint.limit_compliance };
            let term = |k: usize| Term { q: joint.q, dof: joint.v + k, coefficient: 0.0 };
            self.push_sum(ConstraintName::limit(place, 1), &[term(0), term(1), term(2)], source);
        }
    }

    fn push_joint_friction(&mut self, model: &Model) {
        for node in &model.tree.nodes {
            for dof in node.v..node.v + node.joint.nv() {
                let force = model.friction_loss[dof];
                if force > 0.0 {
                    let term = Term { q: node.q, dof, coefficient: 1.0 };
                    let compliance = model.friction_compliance(dof);
                    self.push_sum(ConstraintName::friction(dof), &[term], Source::JointFriction { compliance });
                }
            }
        }
    }

    fn push_equalities(&mut self, model: &Model, carried: &[Option<Carried>]) {
        let mut place = 0;
        for (index, equality) in model.equalities.iter().enumerate() {
            let compliance = equality.compliance;
            let mut weld = None;
            let kinds = match &equality.kind {
                EqualityKind::Coupling { y, x, polynomial } => {
                    self.push_coupling(model, (index, *polynomial), *y, *x, compliance);
                    continue;
                }
                EqualityKind::Connect { .. } => vec![TieKind::Point],
                EqualityKind::Weld { torque_scale, .. } => {
                    weld = Some(*torque_scale);
                    vec![TieKind::Point, TieKind::Turn]
                }
                EqualityKind::Distance { distance, .. } => vec![TieKind::Distance(*distance)],
            };
            let Some(frames) = frames_of(&equality.kind) else { continue };
            let home = |(body, _): (usize, Pose<f64>)| Home {
                node: model.bodies[body].node,
                carrier: carried[body].map(|carried| carried.carrier),
            };
            let homes = frames.map(home);
            let nodes = homes.map(|home| home.node);
            if nodes == [None, None] {
                continue;
            }
            for (part, kind) in kinds.into_iter().enumerate() {
                let name = Some(ConstraintName::equality(index, part));
                let jacobian =
                    if matches!(kind, TieKind::Turn) { PlanJacobian::Turn(nodes) } else { PlanJacobian::Point(nodes) };
                let source = Source::Tie { equality: index, tie: Tie { kind, place, homes, weld }, compliance };
                self.all.push(PlanConstraint { name, jacobian, source });
                place += 1;
            }
        }
    }

    fn push_coupling(
        &mut self,
        model: &Model,
        (equality, polynomial): (usize, [f64; 5]),
        (y, y_reference): (Coordinate, f64),
        x: Option<(Coordinate, f64)>,
        compliance: Compliance,
    ) {
        let of_y = sum_of(model, y);
        let (of_x, x_reference) = x.map_or((Vec::new(), 0.0), |(x, reference)| (sum_of(model, x), reference));
        let mut row: Vec<Term> = Vec::new();
        for term in of_y.iter().chain(&of_x) {
            if !row.iter().any(|other| other.dof == term.dof) {
                row.push(*term);
            }
        }
        row.sort_by_key(|term| term.q);
        let placed = |terms: &[Term]| {
            let place = |term: &Term| row.iter().position(|of_row| of_row.dof == term.dof).unwrap_or_default();
            terms.iter().map(|term| (place(term), *term)).collect()
        };
        let (y, x) = (placed(&of_y), placed(&of_x));
        let coupling = Box::new(Coupling { references: [y_reference, x_reference], polynomial, y, x });
        self.push_sum(ConstraintName::equality(equality, 0), &row, Source::Coupling { equality, coupling, compliance });
    }

    fn push_tendons(&mut self, model: &Model) {
        for (k, tendon) in model.tendons.iter().enumerate() {
            let (terms, name) = (terms_of(model, tendon.terms()), |part| ConstraintName::tendon(k, part));
            if let Some((low, high)) = tendon.range {
                for (side, (bound, sign)) in [(low, 1.0), (high, -1.0)].into_iter().enumerate() {
                    let terms: Vec<_> =
                        terms.iter().map(|term| Term { coefficient: sign * term.coefficient, ..*term }).collect();
                    let compliance = tendon.limit_compliance;
                    self.push_sum(name(side), &terms, Source::TendonLimit { sign, bound, compliance });
                }
            }
            if tendon.stiffness != 0.0 || tendon.damping != 0.0 {
                let (stiffness, damping, rest) = (tendon.stiffness, tendon.damping, tendon.rest);
                self.push_sum(name(2), &terms, Source::TendonSpring { stiffness, damping, rest });
            }
            if tendon.armature > 0.0 {
                self.push_sum(name(3), &terms, Source::TendonArmature { armature: tendon.armature });
            }
            let actuators = PlanActuator::of_tendon(model, k);
            let count = actuators.len();
            for (part, actuator) in (4..).zip(actuators) {
                if actuator.has_impedance() {
                    self.push_sum(name(part), &terms, Source::TendonActuator(Box::new(actuator)));
                } else {
                    let start = self.terms.len();
                    self.terms.extend_from_slice(&terms);
                    self.tendon_motors.push(TendonMotor { actuator, terms: start..self.terms.len() });
                }
            }
            if tendon.friction_loss > 0.0 {
                let (force, compliance) = (tendon.friction_loss, tendon.friction_compliance);
                self.push_sum(name(4 + count), &terms, Source::TendonFriction { force, compliance });
            }
        }
    }
}

/// The bodies that an equality ties, and the frames in them.
fn frames_of(kind: &EqualityKind) -> Option<[(usize, Pose<f64>); 2]> {
    let at = |pos: Vec3<f64>| Pose { pos, ..Pose::IDENTITY };
    let (bodies, frames) = match kind {
        EqualityKind::Coupling { .. } => return None,
        EqualityKind::Connect { bodies, anchors } | EqualityKind::Distance { bodies, anchors, .. } => {
            (bodies, anchors.map(at))
        }
        EqualityKind::Weld { bodies, frames, .. } => (bodies, *frames),
    };
    Some([0, 1].map(|k| (bodies[k], frames[k])))
}

/// A weighted sum of joint coordinates, ascending in the coordinates.
fn terms_of(model: &Model, terms: &[(usize, f64)]) -> Vec<Term> {
    let term = |&(joint, coefficient): &(usize, f64)| {
        let joint = &model.joints[joint];
        Term { q: joint.q, dof: joint.v, coefficient }
    };
    let mut terms: Vec<Term> = terms.iter().map(term).collect();
    terms.sort_by_key(|term| term.q);
    terms
}

fn sum_of(model: &Model, coordinate: Coordinate) -> Vec<Term> {
    match coordinate {
        Coordinate::Joint(joint) => terms_of(model, &[(joint, 1.0)]),
        Coordinate::Tendon(tendon) => terms_of(model, model.tendons[tendon].terms()),
    }
}
