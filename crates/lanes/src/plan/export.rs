//! A plan as tables of numbers, for back ends that make the same step elsewhere.
//!
//! Nodes are numbered anew here, level by level, so that the nodes of a level and the children of a node are ranges; coordinates, degrees of
//! freedom and constraints keep their numbers.

mod sensors;
mod shapes;

pub use sensors::SensorTables;

use multibody::{Compliance, Freedom, JointType};
use sap::contact_blocks::Bounds;
use sap::{FrictionLaw, SolverParameters};
use spatial::{F32x8, Mat3, Sym3, Vec3};

use super::{Numbers, Plan, PlanActuator, PlanDrive, PlanFrame, PlanJacobian, Source, TieKind};

/// Stands for what is not there.
const NONE: i32 = -1;

/// Numbers of all items of one kind, by columns: entry (column, item) is at `column · items + item`.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T> {
    /// What it holds.
    pub name: &'static str,
    /// Columns.
    pub columns: usize,
    /// Items of a column.
    pub items: usize,
    /// The entries.
    pub values: Vec<T>,
}

impl<T: Copy> Table<T> {
    fn new<const N: usize>(name: &'static str, rows: impl IntoIterator<Item = [T; N]>) -> Self {
        let rows: Vec<[T; N]> = rows.into_iter().collect();
        let values = (0..N).flat_map(|column| rows.iter().map(move |row| row[column])).collect();
        Self { name, columns: N, items: rows.len(), values }
    }
}

/// A plan in tables: all that a step needs beside the state and the [numbers](Numbers::tables) of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// How many there are of everything, and choices that shape the step.
    pub sizes: Vec<(&'static str, usize)>,
    /// Numbers of the step, the same for all worlds.
    pub scalars: Vec<(&'static str, f64)>,
    /// Indices and kinds; −1 for none.
    pub whole: Vec<Table<i32>>,
    /// Numbers.
    pub real: Vec<Table<f64>>,
    /// What of the model is beyond such back ends, in words.
    pub missing: Vec<String>,
    /// Constraints that are there in every step: of three rows, and of one.
    pub always: [usize; 2],
    /// Drives with limits, each a constraint of one row while it is at one.
    pub limited_drives: usize,
}

/// The nodes of a plan level by level.
struct Levels {
    /// The plan's node of each node here, and the other way around.
    old: Vec<usize>,
    new: Vec<i32>,
    starts: Vec<i32>,
    /// The first child of each node and how many there are.
    children: Vec<[i32; 2]>,
}

impl Levels {
    fn new(plan: &Plan) -> Self {
        let n = plan.nodes.len();
        let mut depth = vec![0; n];
        for (i, node) in plan.nodes.iter().enumerate() {
            depth[i] = node.parent.map_or(0, |parent| depth[parent] + 1);
        }
        let (mut old, mut starts, mut new) = (Vec::with_capacity(n), vec![0], vec![NONE; n]);
        for level in 0..=depth.iter().max().copied().unwrap_or(0) {
            let mut here: Vec<usize> = (0..n).filter(|i| depth[*i] == level).collect();
            // Children stand in the order of their parents, and so are ranges.
            here.sort_by_key(|i| plan.nodes[*i].parent.map_or(0, |parent| new[parent]));
            for i in here {
                new[i] = old.len() as i32;
                old.push(i);
            }
            starts.push(old.len() as i32);
        }
        let parent_of = |i: &usize| plan.nodes[*i].parent.map_or(NONE, |parent| new[parent]);
        let children = |i: usize| {
            let of_parents = || old.iter().map(parent_of);
            let first = of_parents().position(|parent| parent == i as i32).unwrap_or(0);
            [first as i32, of_parents().filter(|parent| *parent == i as i32).count() as i32]
        };
        let children = (0..n).map(children).collect();
        Self { old, new, starts, children }
    }

    fn of(&self, node: Option<usize>) -> i32 {
        node.map_or(NONE, |node| self.new[node])
    }
}

impl Plan {
    /// The plan in tables.
    pub fn describe(&self) -> Description {
        let levels = Levels::new(self);
        let mut description = Description {
            sizes: self.sizes(&levels),
            scalars: self.scalars(),
            whole: Vec::new(),
            real: Vec::new(),
            missing: Vec::new(),
            always: [0; 2],
            limited_drives: self.drives.iter().filter(|drive| drive.is_limited()).count(),
        };
        self.describe_nodes(&levels, &mut description);
        self.describe_actuators(&mut description);
        self.describe_contacts(&levels, &mut description);
        self.describe_constraints(&levels, &mut description);
        let beyond = [
            (self.carriers > 0, "bodies that are moved from outside"),
            (!self.adhesions.is_empty(), "bodies that adhere to what they touch"),
            (!self.drags.is_empty(), "bodies in a medium"),
            (self.contacts.surfaces.move_by_themselves, "surfaces of geoms that move"),
            (self.contacts.pairs.iter().any(|pair| pair.is_elliptic), "friction of a pair in two directions"),
        ];
        let missing = beyond.into_iter().filter(|(is_there, _)| *is_there);
        description.missing.extend(missing.map(|(_, what)| what.to_owned()));
        description
    }

    fn sizes(&self, levels: &Levels) -> Vec<(&'static str, usize)> {
        let friction = match self.friction {
            FrictionLaw::Coulomb => 0,
            FrictionLaw::Lagged => 1,
            FrictionLaw::Sap => 2,
        };
        let proximal = SolverParameters::STANDARD.proximal_point;
        let joints = |of: JointType| self.nodes.iter().filter(|node| node.joint == of).count();
        let constraints = |is: fn(&Source) -> bool| self.constraints.all.iter().filter(|c| is(&c.source)).count();
        vec![
            ("SLIDES", joints(JointType::Prismatic)),
            ("SCREWS", joints(JointType::Screw)),
            ("BALLS", joints(JointType::Ball)),
            ("FREES", joints(JointType::Free)),
            ("BALL_LIMITS", constraints(|source| matches!(source, Source::BallLimit { .. }))),
            ("DRY_JOINTS", constraints(|source| matches!(source, Source::JointFriction { .. }))),
            (
                "TENDON_PARTS",
                constraints(|source| {
                    matches!(
                        source,
                        Source::TendonLimit { .. }
                            | Source::TendonSpring { .. }
                            | Source::TendonArmature { .. }
                            | Source::TendonFriction { .. }
                            | Source::TendonActuator(_)
                    )
                }),
            ),
            ("NQ", self.nq),
            ("NV", self.nv),
            ("NODES", self.nodes.len()),
            ("TREES", self.trees.len()),
            ("LEVELS", levels.starts.len() - 1),
            ("CONTROLS", self.numbers.actuators.len()),
            ("ACTIVATIONS", self.activations.len()),
            ("BODIES", self.node_of_body.len()),
            ("SPRINGS", self.springs.len()),
            ("SERVOS", self.servos.len()),
            ("DRIVES", self.drives.len()),
            ("MOTORS", self.constraints.tendon_motors.len()),
            ("GEOMS", self.contacts.geoms.len()),
            ("PAIRS", self.contacts.pairs.len()),
            ("SLOTS", self.contacts.slots),
            ("CONSTRAINTS", self.constraints.all.len()),
            ("TERMS", self.constraints.terms.len()),
            ("LIMIT_TERMS", 2 * self.limits.len()),
            ("FIRST_LIMIT", self.constraints.first_limit),
            ("FIRST_OTHER", self.constraints.first_other),
            ("FIRST_DRIVE", self.first_drive),
            ("JOINED", self.joined_trees.len()),
            ("HAS_PD", usize::from(!self.pd.is_empty())),
            ("IS_BALANCED", usize::from(self.is_balanced)),
            ("FRICTION", friction),
            ("MAX_DRIVE_ROUNDS", crate::constants::MAX_DRIVE_ROUNDS),
            ("MAX_ROUNDS", crate::constants::MAX_ROUNDS),
            ("PROXIMAL_STEPS", proximal.max_factorizations),
            ("PROXIMAL_NEWTON_STEPS", proximal.max_newton_steps),
        ]
    }

    fn scalars(&self) -> Vec<(&'static str, f64)> {
        let rule = &self.rule;
        let SolverParameters { contact_space: of_solver, proximal_point: proximal, round_off, .. } =
            SolverParameters::STANDARD;
        let limits = [self.limits::<f64>(Bounds::Own), self.limits::<F32x8>(Bounds::Own)];
        vec![
            ("DT", self.dt),
            ("SIGMA", rule.sigma),
            ("RECOVERY_SPEED", rule.recovery_speed),
            ("NEAR_RIGID", rule.near_rigid),
            ("NEAR_RIGID_TIME", rule.near_rigid_time),
            ("TOLERANCE", self.solver_options.tolerance),
            ("MOBILITY_PER_TRACE", multibody::EffectiveMass::PER_TRACE),
            ("SOLVER_STEPS", of_solver.max_steps as f64),
            ("SOLVER_SCALING", of_solver.scaling),
            ("SOLVER_SCALING_GROWTH", of_solver.scaling_growth),
            ("SOLVER_CYCLE", of_solver.cycle_length as f64),
            ("SOLVER_LATE_STEP", of_solver.late_step as f64),
            ("SOLVER_EVALUATION_EXCESS", of_solver.evaluation_excess),
            ("EXCESS_OF_64", limits[0].excess),
            ("EXCESS_OF_32", limits[1].excess),
            ("AT_START_OF_64", limits[0].at_start),
            ("AT_START_OF_32", limits[1].at_start),
            ("ROUND_OFF", round_off),
            ("FIRST_SOFTNESS", proximal.first_softness),
            ("LEAST_SOFTNESS", proximal.least_softness),
            ("SOFTNESS_FALL", proximal.fall),
            ("SOFTNESS_RISE", proximal.rise),
            ("PROXIMAL_ERROR", proximal.error_fraction),
            ("PROXIMAL_GROWTH", proximal.max_growth),
            ("FIRST_CHANGE", proximal.first_change),
            ("LEAST_CHANGE", proximal.least_change),
            ("NEAR_CHANGE", proximal.near_change),
            ("EXPECTED_BEYOND", sap::EXPECTED_BEYOND),
            ("NEAR_DRIVE_LIMIT", multibody::NEAR_LIMIT),
            ("UNRESOLVED", multibody::UNRESOLVED),
            ("LEAST_R", crate::rule::LEAST_R),
            ("LARGEST_TURN", crate::constants::LARGEST_TURN),
            ("MIN_TURN", crate::constants::MIN_TURN),
            ("LARGEST_ERROR", multibody::LARGEST_ERROR),
            ("SCALING", multibody::MAX_SCALING),
            ("LITTLE", multibody::LITTLE),
            ("UNPUSHED", multibody::UNPUSHED),
            ("LARGEST_GROWTH", multibody::LARGEST_GROWTH),
            ("FAR", multibody::FAR),
            ("FAR_ALONE", multibody::FAR_ALONE),
            ("MAX_FACTOR_ALONE", multibody::MAX_FACTOR_ALONE),
            ("LEFT_IN_VELOCITIES", crate::constants::LEFT_IN_VELOCITIES),
            ("OVERLOAD", crate::constants::OVERLOAD),
            ("FREEST", crate::constants::FREEST),
            ("STIFFEST", crate::constants::STIFFEST),
            ("LONGEST_LEVER", crate::constants::LONGEST_LEVER),
            ("MEAN", crate::constants::MEAN),
            ("FASTEST", crate::constants::FASTEST),
        ]
    }

    /// What a compliance is and its numbers: 0 near-rigid, 1 a spring with stiffness and relaxation time, 2 a reference with k, b and the course
    /// of its impedance.
    fn compliance(&self, of: &Compliance) -> (i32, [f64; 7]) {
        match of {
            Compliance::NearRigid => (0, [0.0; 7]),
            Compliance::Physical { stiffness, relaxation } => (1, [*stiffness, *relaxation, 0.0, 0.0, 0.0, 0.0, 0.0]),
            Compliance::Reference(reference) => {
                let [k, b] = reference.stiffness_and_damping(self.dt);
                let [least, greatest, width, middle, power] = reference.course();
                (2, [k, b, least, greatest, width, middle, power])
            }
        }
    }

    fn describe_nodes(&self, levels: &Levels, to: &mut Description) {
        let nodes = || levels.old.iter().map(|i| &self.nodes[*i]);
        let joint = |joint: JointType| match joint {
            JointType::Revolute => 0,
            JointType::Prismatic => 1,
            JointType::Screw => 2,
            JointType::Ball => 3,
            JointType::Free => 4,
        };
        let words = self.nv.div_ceil(32);
        let mut paths = vec![0_u32; words * self.nodes.len()];
        for (new, &old) in levels.old.iter().enumerate() {
            let mut node = Some(old);
            while let Some(i) = node {
                super::super::dofs_of(&self.nodes[i])
                    .for_each(|dof| paths[dof / 32 * self.nodes.len() + new] |= 1 << (dof % 32));
                node = self.nodes[i].parent;
            }
        }
        let paths = paths.into_iter().map(|word| word as i32).collect();
        let last_of_level = |l: usize| {
            nodes().take(levels.starts[l + 1] as usize).skip(levels.starts[l] as usize).map(|n| n.joint.nv())
        };
        to.whole.extend([
            Table::new("level_start", levels.starts.iter().map(|start| [*start])),
            Table::new(
                "level_dofs",
                (0..levels.starts.len() - 1).map(|l| [last_of_level(l).max().unwrap_or(0) as i32]),
            ),
            Table::new("node_parent", nodes().map(|node| [levels.of(node.parent)])),
            Table::new("node_tree", nodes().map(|node| [node.tree as i32])),
            Table::new("node_joint", nodes().map(|node| [joint(node.joint)])),
            Table::new("node_q", nodes().map(|node| [node.q as i32])),
            Table::new("node_v", nodes().map(|node| [node.v as i32])),
            Table::new("node_nv", nodes().map(|node| [node.joint.nv() as i32])),
            Table::new("node_children", levels.children.iter().copied()),
            Table::new("node_has_fulcrum", nodes().map(|node| [i32::from(node.has_fulcrum)])),
            Table { name: "node_path", columns: words, items: self.nodes.len(), values: paths },
            Table::new("dof_node", self.node_of_dof.iter().map(|node| [levels.new[*node]])),
            Table::new("body_node", self.node_of_body.iter().map(|node| [levels.of(*node)])),
            Table::new("tree_root", self.trees.iter().map(|tree| [levels.new[tree.nodes.start]])),
            Table::new("tree_dofs", self.trees.iter().map(|tree| [tree.dofs.start as i32, tree.dofs.end as i32])),
            Table::new("tree_floats", self.trees.iter().map(|tree| [i32::from(tree.floats)])),
            Table::new(
                "tree_keeps_momentum",
                self.trees.iter().map(|tree| [i32::from(tree.freedom == Freedom::KeepsMomentum)]),
            ),
            Table::new("tree_is_body", self.trees.iter().map(|tree| [i32::from(tree.freedom == Freedom::Body)])),
            Table::new("tree_has_mass", self.trees.iter().map(|tree| [i32::from(tree.freedom != Freedom::Bound)])),
            Table::new("joined_trees", self.joined_trees.iter().map(|trees| trees.map(|tree| tree as i32))),
            Table::new("dof_tree", self.node_of_dof.iter().map(|node| [self.nodes[*node].tree as i32])),
        ]);
        to.real.extend([
            Table::new("node_rot", nodes().map(|node| columns(&node.rot))),
            Table::new("node_pos", nodes().map(|node| node.pos.to_array())),
            Table::new("node_q_ref", nodes().map(|node| [node.q_ref])),
            Table::new("node_pitch", nodes().map(|node| [node.pitch])),
            Table::new("node_extent", nodes().map(|node| [node.extent])),
        ]);
        // A massless node has numbers of nothing.
        to.whole.push(Table::new("node_is_massless", nodes().map(|node| [i32::from(node.is_massless)])));
        let springs = || self.springs.iter();
        to.whole.push(Table::new("spring_joint", springs().map(|s| [joint(s.joint), s.q as i32, s.v as i32])));
        to.real.push(Table::new("spring_reference", springs().map(|spring| spring.reference)));
    }

    /// Actuators in the order of the tables: those of servos, of drives, motors of tendons, those in constraints, in the order of these.
    fn exported_actuators(&self) -> impl Iterator<Item = &PlanActuator> {
        let drives = self.servos.iter().chain(&self.drives).flat_map(|drive| &drive.actuators);
        let motors = self.constraints.tendon_motors.iter().map(|motor| &motor.actuator);
        drives.chain(motors).chain(self.constraints.all.iter().filter_map(|constraint| match &constraint.source {
            Source::TendonActuator(actuator) => Some(&**actuator),
            _ => None,
        }))
    }

    fn describe_actuators(&self, to: &mut Description) {
        let ends = |of: (f64, f64)| [of.0, of.1];
        let activations = || self.activations.iter();
        to.whole.push(Table::new("activation_kind", activations().map(|a| [a.ctrl as i32, i32::from(a.is_early)])));
        to.real.push(Table::new(
            "activation_law",
            activations().map(|a| [a.ctrl_range.0, a.ctrl_range.1, a.gain, a.leak, a.range.0, a.range.1]),
        ));
        let groups = |drives: &'_ [PlanDrive], first: usize| -> Vec<[i32; 4]> {
            let mut start = first;
            let of = |drive: &PlanDrive| {
                let here = start;
                start += drive.actuators.len();
                [drive.q as i32, drive.v as i32, here as i32, start as i32]
            };
            drives.iter().map(of).collect()
        };
        let count = |drives: &[PlanDrive]| drives.iter().map(|drive| drive.actuators.len()).sum::<usize>();
        let (servos, drives) = (groups(&self.servos, 0), groups(&self.drives, count(&self.servos)));
        let first_motor = count(&self.servos) + count(&self.drives);
        let all: Vec<&PlanActuator> = self.exported_actuators().collect();
        to.sizes.extend([
            ("ACTUATORS", all.len()),
            ("FIRST_MOTOR", first_motor),
            ("FIRST_IN_CONSTRAINTS", first_motor + self.constraints.tendon_motors.len()),
        ]);
        to.whole.push(Table::new("servo_of", servos));
        to.whole.push(Table::new("drive_of", drives));
        let motors = self.constraints.tendon_motors.iter();
        to.whole.push(Table::new("motor_terms", motors.map(|m| [m.terms.start as i32, m.terms.end as i32])));
        to.whole.push(Table::new(
            "actuator_kind",
            all.iter().map(|a| [a.ctrl as i32, i32::from(a.bias != [0.0; 2]), i32::from(a.has_impedance())]),
        ));
        let dt = self.dt;
        to.real.push(Table::new("actuator_limits", all.iter().map(|a| ends(a.limits()).map(|limit| dt * limit))));
        to.real.push(Table::new("actuator_ctrl_range", all.iter().map(|a| ends(a.ctrl_range))));
        to.real
            .push(Table::new("servo_most", self.servos.iter().map(|of| ends(of.effort_limit).map(|limit| dt * limit))));
        to.real
            .push(Table::new("drive_most", self.drives.iter().map(|of| ends(of.effort_limit).map(|limit| dt * limit))));
    }

    fn describe_constraints(&self, levels: &Levels, to: &mut Description) {
        let terms = || self.constraints.terms.iter();
        to.whole.push(Table::new(
            "term_of",
            terms().map(|t| [t.q as i32, t.dof as i32, levels.new[self.node_of_dof[t.dof]]]),
        ));
        to.real.push(Table::new("term_coefficient", terms().map(|term| [term.coefficient])));
        let kind = |source: &Source| match source {
            Source::Contact => 0,
            Source::Limit => 1,
            Source::BallLimit { .. } => 2,
            Source::JointFriction { .. } => 3,
            Source::Coupling { .. } => 4,
            Source::Tie { tie, .. } => match tie.kind {
                TieKind::Point => 5,
                TieKind::Turn => 6,
                TieKind::Distance(_) => 7,
            },
            Source::TendonLimit { .. } => 8,
            Source::TendonSpring { .. } => 9,
            Source::TendonArmature { .. } => 10,
            Source::TendonFriction { .. } => 11,
            Source::TendonActuator(_) => 12,
            Source::Drive { .. } => 13,
            Source::Spin { .. } => 14,
        };
        let compliance_of = |source: &Source| match source {
            Source::BallLimit { compliance, .. }
            | Source::Coupling { compliance, .. }
            | Source::Tie { compliance, .. }
            | Source::TendonLimit { compliance, .. } => *compliance,
            Source::JointFriction { compliance } | Source::TendonFriction { compliance, .. } => match compliance {
                Compliance::Reference(reference) => Compliance::Reference(reference.without_spring(self.dt)),
                rigid => *rigid,
            },
            _ => Compliance::NearRigid,
        };
        let first = self.constraints.first_limit;
        let (mut of, mut laws, mut actuators, mut ties, mut couplings) = (Vec::new(), Vec::new(), 0, 0, Vec::new());
        let (mut parts, mut references) = (Vec::new(), Vec::new());
        for (k, constraint) in self.constraints.all.iter().enumerate().skip(first) {
            let source = &constraint.source;
            let (start, end) = match &constraint.jacobian {
                PlanJacobian::Sum(terms) => (terms.start as i32, terms.end as i32),
                PlanJacobian::Point(nodes) | PlanJacobian::Turn(nodes) | PlanJacobian::Twist(nodes) => {
                    (levels.of(nodes[0]), levels.of(nodes[1]))
                }
            };
            let mut extra = NONE;
            let mut numbers = [0.0; 4];
            match source {
                Source::BallLimit { limit, q, v, .. } => {
                    extra = *limit as i32;
                    numbers[..2].copy_from_slice(&[*q as f64, *v as f64]);
                }
                Source::Coupling { coupling, .. } => {
                    extra = couplings.len() as i32;
                    let from = parts.len() as i32;
                    // The part of y, then that of x, each a place in the row and its coefficient.
                    for (is_x, terms) in [(0, &coupling.y), (1, &coupling.x)] {
                        for (place, term) in terms {
                            parts.push([start + *place as i32, is_x]);
                            references.push([term.coefficient]);
                        }
                    }
                    couplings.push(([from, parts.len() as i32], coupling.references, coupling.polynomial));
                }
                Source::Tie { tie, .. } => {
                    extra = tie.place as i32;
                    ties += 1;
                    if let TieKind::Distance(distance) = tie.kind {
                        numbers[0] = distance;
                    }
                    numbers[1] = tie.weld.unwrap_or(0.0);
                }
                Source::TendonLimit { sign, bound, .. } => numbers[..2].copy_from_slice(&[*sign, *bound]),
                Source::TendonSpring { stiffness, damping, rest } => {
                    numbers = [*stiffness, *damping, rest.0, rest.1];
                }
                Source::TendonArmature { armature } => numbers[0] = *armature,
                Source::TendonFriction { force, .. } => numbers[0] = *force,
                Source::TendonActuator(_) => {
                    extra = actuators;
                    actuators += 1;
                }
                Source::Drive { drive } => extra = *drive as i32,
                Source::Limit => extra = ((k - first) / 2) as i32,
                Source::Contact | Source::JointFriction { .. } | Source::Spin { .. } => {}
            }
            let (is_spring, law) = match source {
                Source::Limit => self.compliance(&self.limits[(k - first) / 2].compliance),
                other => self.compliance(&compliance_of(other)),
            };
            let is_in_force = match source {
                Source::Coupling { equality, .. } | Source::Tie { equality, .. } => {
                    self.equality_active[*equality] > 0.0
                }
                _ => true,
            };
            of.push([if is_in_force { kind(source) } else { NONE }, start, end, extra, is_spring]);
            let ([a, b, c, d], [e, f, g, h, i, j, l]) = (numbers, law);
            laws.push([a, b, c, d, e, f, g, h, i, j, l]);
            match source {
                Source::Tie { .. } => to.always[0] += 1,
                Source::JointFriction { .. }
                | Source::Coupling { .. }
                | Source::TendonSpring { .. }
                | Source::TendonArmature { .. }
                | Source::TendonFriction { .. }
                | Source::TendonActuator(_) => to.always[1] += 1,
                _ => {}
            }
        }
        to.sizes.extend([("TIES", ties), ("COUPLINGS", couplings.len()), ("PARTS", parts.len())]);
        // By constraints from the first limit on.
        to.whole.push(Table::new("constraint_of", of));
        to.real.push(Table::new("constraint_law", laws));
        to.whole.push(Table::new("coupling_parts", couplings.iter().map(|(parts, ..)| *parts)));
        to.real.push(Table::new(
            "coupling_law",
            couplings.iter().map(|(_, [y, x], p)| [*y, *x, p[0], p[1], p[2], p[3], p[4]]),
        ));
        to.whole.push(Table::new("part_of", parts));
        to.real.push(Table::new("part_coefficient", references));
    }
}

impl Numbers<f64> {
    /// The numbers of a world in tables, nodes in the order of [`Plan::describe`].
    pub fn tables(&self, plan: &Plan) -> Vec<Table<f64>> {
        let levels = Levels::new(plan);
        let frame = |frame: &PlanFrame<f64>| {
            let (p, r) = (frame.pos, columns(&frame.rot));
            [p.x, p.y, p.z, r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]]
        };
        let nodes = || levels.old.iter().map(|i| &self.nodes[*i]);
        let mobility = || nodes().map(|node| &node.mobility);
        vec![
            Table::new("gravity", [self.gravity.to_array()]),
            Table::new("is_uneven", [[f64::from(u8::from(self.is_uneven))]]),
            Table::new("node_mass", nodes().map(|node| [node.mass])),
            Table::new("node_com", nodes().map(|node| node.com.to_array())),
            Table::new("node_inertia", nodes().map(|node| entries(node.inertia))),
            Table::new("node_weight", nodes().map(|n| [n.weight.0, n.weight.1.x, n.weight.1.y, n.weight.1.z])),
            Table::new("mobility_lin", mobility().map(|of| [of.own.lin, of.least, of.turn, of.per_farthest])),
            Table::new("mobility_mixed", mobility().map(|of| of.own.mixed.to_array())),
            Table::new("mobility_ang", mobility().map(|of| entries(of.own.ang))),
            Table::new("slack_lin", mobility().map(|of| [of.slack.lin])),
            Table::new("slack_mixed", mobility().map(|of| of.slack.mixed.to_array())),
            Table::new("slack_ang", mobility().map(|of| entries(of.slack.ang))),
            Table::new("bare_a", mobility().map(|of| entries(of.bare.a))),
            Table::new("bare_b", mobility().map(|of| columns(&of.bare.b))),
            Table::new("bare_c", mobility().map(|of| entries(of.bare.c))),
            Table::new("tree_mass", self.trees.iter().map(|t| [t.as_one.min(1e30), t.half_mass, t.mass, t.per_mass])),
            Table::new("dof_lambda", self.lambda.iter().map(|x| [*x])),
            Table::new("dof_half_armature", self.half_armature.iter().map(|x| [*x])),
            Table::new("dof_resistance", self.resistance.iter().map(|x| [*x])),
            Table::new("dof_dry_friction", self.dry_friction.iter().map(|x| [*x])),
            Table::new("spring_stiffness", self.springs.iter().copied()),
            Table::new(
                "actuator_law",
                self.actuators.iter().map(|a| [a.per_ctrl, a.constant, a.per_length, a.per_velocity, a.impedance]),
            ),
            Table::new(
                "pd_number",
                self.pd
                    .iter()
                    .map(|of| [of.kp, of.kd, of.target_velocity, of.impedance, of.most.min(1e30), of.is_limited]),
            ),
            Table::new("limit_range", self.ranges.iter().copied()),
            Table::new("ball_range", self.ball_ranges.iter().map(|x| [*x])),
            Table::new("tie_frame_a", self.ties.iter().map(|frames| frame(&frames[0]))),
            Table::new("tie_frame_b", self.ties.iter().map(|frames| frame(&frames[1]))),
            Table::new("slot_friction", self.friction.iter().map(|x| [*x])),
            Table::new("spin_friction", self.spins.iter().copied()),
            Table::new("constraint_weight", self.inverse_weights.iter().map(|x| [*x])),
            Table::new("pair_weight", self.pair_weights.iter().map(|x| [*x])),
            Table::new("body_com", self.coms.iter().map(|com| com.to_array())),
        ]
    }
}

fn columns(m: &Mat3<f64>) -> [f64; 9] {
    let axis = |v: Vec3<f64>| v.to_array();
    let ([a, b, c], [d, e, f], [g, h, i]) = (axis(m.x), axis(m.y), axis(m.z));
    [a, b, c, d, e, f, g, h, i]
}

fn entries(s: Sym3<f64>) -> [f64; 6] {
    s.entries()
}
