//! Contact problems that do not touch each other: each connected set of trees and constraints is one.

mod budget;
mod groups;
mod partition;
mod recovery;
mod reports;
mod solver;

use lanes::WarmStartEntry;
use lanes::constants::CALM;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use geometry::TouchingPair;
use sap::{BlockCholesky, Error, Report};
use support::{Interrupt, ThreadPool};

use crate::Stats;
use crate::clique::Clique;
use crate::constrain::{ConstraintSet, Context, Report as Reporting, push_contacts};
use crate::coupled::CliqueSlot;
use crate::report::ContactOutcome;
use crate::sensors::EndLoad;
use budget::Size;
use groups::{Groups, Whole};
use multibody::EffectiveMass;
use solver::{Part, Path, Solver};

/// Of how many trees one may move on in an island that counts as resting.
const TREES_FOR_ONE_THAT_MOVES: usize = 10;

/// What the islands of a step are solved with.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub cx: &'a Context<'a>,
    pub detected: &'a [geometry::Contact],
    /// What constrains the step beside contacts.
    pub others: &'a ConstraintSet,
    /// Whether constraints that need time to stop anything are left out.
    pub rigid_only: bool,
    /// Whether contact space is left aside.
    pub is_global: bool,
    pub options: &'a sap::Options,
    pub interrupt: &'a Interrupt,
}

/// Scratch of a solve, one for every thread: what islands share stays in the processor's cache.
#[derive(Default)]
struct Scratch {
    /// The island's constraints, contacts first; their trees are indices into its slots.
    set: ConstraintSet,
    /// The gap that each contact point starts the step with, m.
    gaps: Vec<f64>,
    v_star: Vec<f64>,
    solver: Solver,
    groups: Groups,
}

impl Scratch {
    /// Minimises the cost of the problem, from the guess in `v`, which becomes the solution.
    fn solve(
        &mut self,
        problem: &Problem<'_>,
        slots: &[CliqueSlot],
        cholesky: &mut BlockCholesky,
        v: &mut [f64],
        path: Path,
        options: &sap::Options,
    ) -> Result<Report, Error> {
        let Self { set, v_star, solver, groups, .. } = self;
        let whole = Whole { slots, set, v_star };
        // What is in the scratch of contact space is the last group.
        let was_apart = groups.solution().is_some();
        let path = if path == Path::ContactSpaceAgain && was_apart { Path::ContactSpace } else { path };
        if groups.find(problem, &whole, path, solver, cholesky) {
            return groups.solve(problem, &whole, cholesky, v, options, solver);
        }
        solver.solve(problem, Part::new(slots, set, v_star), cholesky, v, path, options)
    }

    /// Lets contacts that do not push in the last solution have no friction, whatever they pushed with before.
    fn release_friction(&mut self) {
        let Self { set, solver, groups, .. } = self;
        let (impulses, _) = groups.solution().unwrap_or_else(|| solver.solution());
        let (mut row, mut pushes) = (0, true);
        for constraint in &mut set.constraints {
            row += constraint.rows();
            // Friction of a contact's rotation follows the contact.
            if !constraint.law.is_spin() {
                pushes = impulses[row - 1] > 0.0;
            }
            if !pushes {
                constraint.law.set_normal_impulse(0.0);
            }
        }
    }

    /// Impulses and velocities of all rows at the solution of the last problem.
    fn solution(&self) -> (&[f64], &[f64]) {
        self.groups.solution().unwrap_or_else(|| self.solver.solution())
    }
}

/// One contact problem; its buffers are reused from step to step.
#[derive(Default)]
pub(crate) struct Island {
    /// The trees, ascending.
    pub slots: Vec<CliqueSlot>,
    /// Its contact points, ascending among those detected.
    contacts: Vec<u32>,
    /// Its constraints beside contacts, ascending among all of those.
    members: Vec<u32>,
    /// The solution.
    pub v: Vec<f64>,
    /// The velocities that move positions where those are righted; empty where they are the solution.
    recovery_v: Vec<f64>,
    /// Whether the search for them ended at its budget.
    is_unfinished: bool,
    /// What a factorisation of it takes of the budget.
    size: Size,
    /// Whether it hardly moves.
    is_calm: bool,
    /// What it was expected to be; empty where nothing was expected.
    predicted: Vec<f64>,
    pub outcome: Option<Result<Report, Error>>,
    /// What became of its contact points, and what the next step remembers of them.
    contact_outcomes: Vec<ContactOutcome>,
    memories: Vec<WarmStartEntry>,
    /// What it remembers of all else.
    other_memories: Vec<WarmStartEntry>,
    /// The impulses between bodies beside those at contact points.
    end_loads: Vec<EndLoad>,
    /// What became of the contact points of soft bodies, with their indices among all.
    soft_outcomes: Vec<(usize, ContactOutcome)>,
    /// How many constraints there were, how many of its points push, and how deep the deepest is, m.
    constraints: usize,
    pushing: usize,
    penetration: f64,
    /// Whether there were near-rigid constraints.
    has_rigid: bool,
    /// Kept for its graph, which lasts longer than a step.
    cholesky: BlockCholesky,
}

impl std::fmt::Debug for Island {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Island").field("slots", &self.slots).field("contacts", &self.contacts).finish_non_exhaustive()
    }
}

impl Island {
    fn clear(&mut self) {
        self.slots.clear();
        self.end_loads.clear();
        self.soft_outcomes.clear();
        self.contacts.clear();
        self.members.clear();
        self.outcome = None;
    }

    /// Finds the velocities at the end of the step, and where constraints start violated those that move positions.
    fn solve(&mut self, problem: &Problem<'_>, slot_of: &[usize], scratch: &mut Scratch) {
        self.outcome = Some(if problem.interrupt.is_raised() {
            Err(Error::Interrupted)
        } else {
            self.gather(problem, slot_of, scratch);
            self.find_velocities(problem, scratch)
        });
    }

    fn find_velocities(&mut self, problem: &Problem<'_>, scratch: &mut Scratch) -> Result<Report, Error> {
        let (speed_ratio, expects_guess) = self.guess(problem, scratch);
        let is_quasi_static = speed_ratio <= CALM;
        self.is_calm = is_quasi_static;
        self.size = Size::new(self.v.len(), &scratch.set);
        let options = budget::options(self.size, &scratch.set, problem.options);
        let options = sap::Options { expects_guess, ..options };
        let path = if is_quasi_static || problem.is_global { Path::Global } else { Path::ContactSpace };
        let mut report = scratch.solve(problem, &self.slots, &mut self.cholesky, &mut self.v, path, &options)?;
        let (impulses, velocities) = scratch.solution();
        if options.friction != problem.options.friction {
            // Coulomb's law was left aside.
            report.friction_residual = sap::friction_residual(&scratch.set.constraints, velocities, impulses);
            if !sap::meets_coulomb(report.friction_residual, &options) {
                report.criterion = sap::Criterion::FrictionBounds;
            }
        }
        self.note(&scratch.set, &scratch.gaps, impulses, velocities, problem.cx.cliques.trees.len());
        self.recovery_v.clear();
        self.is_unfinished = false;
        if scratch.set.recoveries.is_empty() { Ok(report) } else { self.recover(problem, report, scratch) }
    }

    /// Sets v* and the guess of the solution: the present velocities, extrapolated where the island is slow. Returns ‖v₀‖ / ‖v* − v₀‖, and
    /// whether the guess is probably the solution.
    fn guess(&mut self, problem: &Problem<'_>, scratch: &mut Scratch) -> (f64, bool) {
        let Context { cliques, v: v0, state, rule, .. } = *problem.cx;
        scratch.v_star.clear();
        self.v.clear();
        for slot in &self.slots {
            let clique = cliques.get(slot.tree);
            scratch.v_star.extend_from_slice(clique.v_star());
            self.v.extend_from_slice(clique.v_start(v0));
        }
        let speed_ratio = speed_ratio(&self.v, &scratch.v_star);
        let rests = speed_ratio <= CALM || self.has_few_moving(&scratch.v_star);
        self.predicted.clear();
        if !problem.rigid_only && (speed_ratio < 1.0 || rests) {
            for slot in &self.slots {
                let Clique::Tree(workspace) = cliques.get(slot.tree) else { continue };
                let dofs = workspace.dofs.clone();
                state.extrapolation.go_on(
                    slot.tree,
                    dofs.clone(),
                    rule.of_step.dt,
                    &mut self.v[slot.dof..slot.dof + dofs.len()],
                );
            }
            self.predicted.extend_from_slice(&self.v);
        }
        let holds = |slot: &&CliqueSlot| state.extrapolation.holds(slot.tree, rule.of_step.dt);
        let most_hold = || 2 * self.slots.iter().filter(holds).count() >= self.slots.len();
        (speed_ratio, rests && most_hold())
    }

    /// Whether all trees but a few hardly move: balls go on to roll and spin in a pile at rest.
    fn has_few_moving(&self, v_star: &[f64]) -> bool {
        if self.slots.len() < TREES_FOR_ONE_THAT_MOVES {
            return false;
        }
        let ends = self.slots[1..].iter().map(|slot| slot.dof).chain([self.v.len()]);
        let of_trees = self.slots.iter().zip(ends).map(|(slot, end)| slot.dof..end);
        let moving = of_trees.filter(|dofs| speed_ratio(&self.v[dofs.clone()], &v_star[dofs.clone()]) > CALM).count();
        TREES_FOR_ONE_THAT_MOVES * moving <= self.slots.len()
    }

    /// Makes the constraints.
    fn gather(&self, problem: &Problem<'_>, slot_of: &[usize], Scratch { set, gaps, .. }: &mut Scratch) {
        set.clear();
        gaps.clear();
        push_contacts(problem.cx, problem.detected, self.contacts.iter().map(|c| *c as usize), set, gaps);
        self.members.iter().for_each(|k| set.push_from(problem.others, *k as usize));
        if problem.rigid_only {
            set.retain_rigid();
        }
        set.rename_trees(|tree| slot_of[tree]);
    }

    /// Notes impulses and velocities at the contact points, and what is to be remembered.
    fn note(&mut self, set: &ConstraintSet, gaps: &[f64], impulses: &[f64], velocities: &[f64], trees: usize) {
        let Self {
            contact_outcomes,
            memories,
            other_memories,
            end_loads,
            soft_outcomes,
            pushing,
            penetration,
            slots,
            ..
        } = self;
        soft_outcomes.clear();
        (*pushing, *penetration) = (0, 0.0);
        contact_outcomes.clear();
        contact_outcomes.extend(gaps.iter().map(|gap| ContactOutcome { gap: *gap, ..ContactOutcome::default() }));
        memories.clear();
        memories.resize(gaps.len(), WarmStartEntry::NONE);
        other_memories.clear();
        end_loads.clear();
        let mut row = 0;
        for (k, constraint) in set.constraints.iter().enumerate() {
            let rows = row..row + constraint.rows();
            let (impulse, velocity) = (&impulses[rows.clone()], &velocities[rows.clone()]);
            let mut free_velocity = [0.0; 3];
            constraint.free_velocity(velocity, impulse, &mut free_velocity);
            let normal = impulse[impulse.len() - 1];
            let memory =
                WarmStartEntry { name: set.keys[k], free_velocity: set.jacobians[k].in_world(free_velocity), normal };
            if let Reporting::Contact(point) = set.reports[k] {
                let outcome = &mut contact_outcomes[point];
                [outcome.impulse, outcome.velocity] = set.jacobians[k].along_tangents([impulse, velocity]);
                memories[point] = memory;
                *pushing += usize::from(normal > 0.0);
                *penetration = penetration.max(-outcome.gap);
            } else {
                other_memories.push(memory);
                if let (Reporting::Soft(index), &[x, y, z], &[u, v, w]) = (set.reports[k], impulse, velocity) {
                    soft_outcomes.push((
                        index,
                        ContactOutcome { impulse: [x, y, z], velocity: [u, v, w], ..ContactOutcome::default() },
                    ));
                } else {
                    end_loads.extend(EndLoad::new(set.keys[k], &set.jacobians[k], impulse, slots, trees));
                }
            }
            row = rows.end;
        }
        self.constraints = set.constraints.len();
        self.has_rigid = set.has_rigid();
    }

    /// Adds what the solve found.
    pub fn add_to(&self, stats: &mut Stats) {
        if let Some(Ok(report)) = &self.outcome {
            stats.add(report);
            stats.unfinished_recoveries += usize::from(self.is_unfinished);
            stats.constraints += self.constraints;
            stats.active_contacts += self.pushing;
            stats.penetration = stats.penetration.max(self.penetration);
        }
    }
}

/// ‖v‖ / ‖v* − v‖: how fast an island moves, relative to the change of velocity that its constraints prevent. The solver's tolerance is
/// relative to the impulses of constraints where this is below 1: relative to greater momenta, errors of extrapolated velocities would be
/// too small to see, and add up.
fn speed_ratio(v: &[f64], v_star: &[f64]) -> f64 {
    let (mut speed, mut change) = (0.0, 0.0);
    for (v, v_star) in v.iter().zip(v_star) {
        speed += v * v;
        change += (v_star - v) * (v_star - v);
    }
    if change > 0.0 { (speed / change).sqrt() } else { f64::INFINITY }
}

/// The islands of a step.
#[derive(Default)]
pub(crate) struct Islands {
    islands: Vec<Island>,
    /// Each locked by one thread alone.
    scratch: Vec<Mutex<Scratch>>,
    /// How many of them are in use.
    active: usize,
    /// Whether one of them has no solution.
    has_failed: bool,
    /// Union-find over trees, roots the smallest of their sets.
    parent: Vec<usize>,
    /// The island of every tree, and its slot there.
    island_of: Vec<usize>,
    slot_of: Vec<usize>,
    /// Those of the last partition.
    pairs: Vec<TouchingPair>,
    /// How many contact points and other constraints there are; no numbers when these joined trees.
    points: Option<(usize, usize)>,
    /// The island of every contact point, and its place among the points there.
    place_of: Vec<(u32, u32)>,
    /// The most points that there ever were, and the most to remember.
    most_points: usize,
    most_memories: usize,
}

impl std::fmt::Debug for Islands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.active()).finish()
    }
}

/// No tree, or no island.
pub(crate) const NONE: usize = usize::MAX;

impl Islands {
    pub fn active(&self) -> &[Island] {
        &self.islands[..self.active]
    }

    /// Solves the islands, side by side when there are threads; none knows of the others.
    pub fn solve(&mut self, problem: &Problem<'_>, pool: &mut ThreadPool) {
        let Self { islands, active, slot_of, scratch, .. } = self;
        if scratch.len() < pool.count() {
            scratch.resize_with(pool.count(), Mutex::default);
        }
        let has_failed = AtomicBool::new(false);
        pool.parallel_for(&mut islands[..*active], |thread, island| {
            let mut scratch = scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
            island.solve(problem, slot_of, &mut scratch);
            if matches!(island.outcome, Some(Err(_))) {
                has_failed.store(true, Ordering::Relaxed);
            }
        });
        self.has_failed = has_failed.into_inner();
    }

    /// The most that an island took of the budget of factorisations.
    pub fn most_spent(&self) -> usize {
        let spent = |island: &Island| Some(island.size.spent(island.outcome.as_ref()?.as_ref().ok()?.iterations));
        self.active().iter().filter_map(spent).max().unwrap_or(0)
    }

    /// Writes what [`EffectiveMass::of_heaviest`] is of the island of every tree, infinite for trees in none.
    pub fn of_heaviest(&self, mass: &EffectiveMass, trees: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(trees, f64::INFINITY);
        for island in self.active() {
            let of_trees = || island.slots.iter().map(|slot| slot.tree).filter(|tree| *tree < trees);
            let least = mass.of_heaviest(of_trees());
            of_trees().for_each(|tree| out[tree] = least);
        }
    }

    /// Why the first of the islands that have no solution has none.
    pub fn error(&self) -> Option<&Error> {
        let failed = if self.has_failed { self.active() } else { &[] };
        failed.iter().find_map(|island| island.outcome.as_ref()?.as_ref().err())
    }
}
