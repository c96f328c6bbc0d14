//! Contact problems that do not touch each other: each connected set of trees and constraints is one.

use std::sync::{Mutex, PoisonError};

use crew::Crew;
use geometry::Scene;
use multibody::{CrbaWorkspace, mass_matrix};
use sap::{BlockCholesky, Dense, Error, Report};

use crate::constrain::{ConstraintSet, Context, push_contacts};
use crate::coupled::{Coupled, CoupledScratch, Slot};
use crate::link::SparseRows;
use crate::part::Part;
use crate::warm_start::{Entry, Key};
use crate::{ContactPoint, Factorization, Stats};

/// What the islands of a step are solved with.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub cx: &'a Context<'a>,
    pub detected: &'a [geometry::Contact],
    /// What constrains the step beside contacts.
    pub others: &'a ConstraintSet,
    /// Whether constraints that need time to stop anything are left out.
    pub rigid_only: bool,
    pub factorization: Factorization,
    pub options: &'a sap::Options,
}

/// Scratch of a solve, one for every thread: what islands share stays in the processor's cache.
#[derive(Default)]
struct Scratch {
    /// The island's constraints, contacts first; their trees are indices into its slots.
    set: ConstraintSet,
    /// The gap that each contact point starts the step with, m.
    gaps: Vec<f64>,
    v_star: Vec<f64>,
    ws: sap::Workspace,
    coupled: CoupledScratch,
    dense: Dense,
    blocks: Vec<std::ops::Range<usize>>,
    rows: SparseRows,
    crba: CrbaWorkspace<f64>,
}

/// What became of a contact point.
#[derive(Clone, Copy)]
struct Touch {
    gap: f64,
    impulse: [f64; 3],
    velocity: [f64; 3],
    /// What the next step remembers of it.
    memory: Entry,
}

impl Touch {
    /// The point as reported.
    fn at(&self, contact: &geometry::Contact, scene: &Scene) -> ContactPoint {
        ContactPoint::new(contact, scene, self.gap, self.impulse, self.velocity)
    }
}

/// One contact problem; its buffers are reused from step to step.
#[derive(Default)]
pub(crate) struct Island {
    /// The trees, ascending.
    pub slots: Vec<Slot>,
    /// Its contact points, ascending among those detected.
    contacts: Vec<u32>,
    /// Its constraints beside contacts, ascending among all of those.
    members: Vec<u32>,
    /// The solution.
    pub v: Vec<f64>,
    pub outcome: Option<Result<Report, Error>>,
    /// What became of its contact points.
    touches: Vec<Touch>,
    /// What the next step remembers of all else.
    other_memories: Vec<Entry>,
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
        self.contacts.clear();
        self.members.clear();
        self.outcome = None;
    }

    /// Minimises the cost of the island's problem, starting from v* or the present velocities.
    fn solve(&mut self, problem: &Problem<'_>, slot_of: &[usize], scratch: &mut Scratch) {
        self.gather(problem, slot_of, scratch);
        let Context { parts, v: v0, .. } = *problem.cx;
        scratch.v_star.clear();
        self.v.clear();
        for slot in &self.slots {
            let part = &parts[slot.tree];
            scratch.v_star.extend_from_slice(&part.v_star);
            self.v.extend_from_slice(&v0[part.dofs.clone()]);
        }
        let outcome = match problem.factorization {
            Factorization::Dense => assemble(&self.slots, parts, scratch).and_then(|()| {
                let Scratch { set, v_star, ws, dense, .. } = scratch;
                sap::solve(dense, &set.laws, v_star, &mut self.v, problem.options, ws)
            }),
            choice => {
                let Scratch { set: ConstraintSet { laws, links, terms, .. }, v_star, ws, coupled, .. } = scratch;
                let (cholesky, may_recurse) = (&mut self.cholesky, choice == Factorization::Auto);
                let mut structure = Coupled::new(parts, &self.slots, (links, terms), coupled, cholesky, may_recurse);
                sap::solve(&mut structure, laws, v_star, &mut self.v, problem.options, ws)
            }
        };
        if outcome.is_ok() {
            self.note(scratch);
        }
        self.outcome = Some(outcome);
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
    fn note(&mut self, Scratch { set, gaps, ws, .. }: &Scratch) {
        let Self { touches, other_memories, pushing, penetration, .. } = self;
        (*pushing, *penetration) = (0, 0.0);
        let untouched = |gap| Touch { gap, impulse: [0.0; 3], velocity: [0.0; 3], memory: Entry::NONE };
        touches.clear();
        touches.extend(gaps.iter().map(|gap| untouched(*gap)));
        other_memories.clear();
        let mut row = 0;
        for (k, law) in set.laws.iter().enumerate() {
            let rows = row..row + law.rows();
            let (impulse, velocity) = (&ws.impulses()[rows.clone()], &ws.velocities()[rows.clone()]);
            let mut free = [0.0; 3];
            law.free_velocity(velocity, impulse, &mut free);
            let normal = impulse[impulse.len() - 1];
            let memory = Entry { key: set.keys[k], free: set.links[k].in_world(free), normal };
            if let Some(point) = set.reports[k] {
                let touch = &mut touches[point];
                touch.impulse.copy_from_slice(impulse);
                touch.velocity.copy_from_slice(velocity);
                touch.memory = memory;
                *pushing += usize::from(normal > 0.0);
                *penetration = penetration.max(-touch.gap);
            } else {
                other_memories.push(memory);
            }
            row = rows.end;
        }
        self.constraints = set.laws.len();
        self.has_rigid = set.has_rigid();
    }

    /// Adds what the solve found.
    pub fn add_to(&self, stats: &mut Stats) {
        if let Some(Ok(report)) = &self.outcome {
            stats.add(report);
            stats.constraints += self.constraints;
            stats.active_contacts += self.pushing;
            stats.penetration = stats.penetration.max(self.penetration);
        }
    }
}

/// Writes A and J of an island as matrices.
fn assemble(slots: &[Slot], parts: &[Part], scratch: &mut Scratch) -> Result<(), Error> {
    let Scratch { set, v_star, dense, blocks, rows, crba, .. } = scratch;
    dense.reset(v_star.len());
    blocks.clear();
    blocks.extend(slots.iter().map(|s| s.dof..s.dof + parts[s.tree].tree.nv));
    dense.set_blocks(blocks)?;
    for (k, slot) in slots.iter().enumerate() {
        let Part { tree, kin, impedance, .. } = &parts[slot.tree];
        crba.resize(tree);
        let (a, n) = (dense.a_block_mut(k), tree.nv);
        mass_matrix(tree, tree.all(), kin, None, crba, a, n, 0);
        impedance.add_to_matrix(tree, a, n);
    }
    let part = |slot: usize| {
        let Part { tree, kin, .. } = &parts[slots[slot].tree];
        (tree, kin, slots[slot].dof)
    };
    for link in &set.links {
        rows.gather(link, &set.terms, part);
        dense.push_jacobian(&rows.columns, &rows.values)?;
    }
    Ok(())
}

/// The islands of a step.
#[derive(Default)]
pub(crate) struct Islands {
    islands: Vec<Island>,
    /// Each locked by one thread alone.
    scratch: Vec<Mutex<Scratch>>,
    /// How many of them are in use.
    active: usize,
    /// Union-find over trees, roots the smallest of their sets.
    parent: Vec<usize>,
    /// The island of every tree, and its slot there.
    island_of: Vec<usize>,
    slot_of: Vec<usize>,
    /// Contact points in a row that concern the same trees, those of this step and of the last partition.
    runs: Vec<Run>,
    last_runs: Vec<Run>,
    /// How many contact points there are; no number when other constraints joined trees.
    points: Option<usize>,
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

/// Contact points in a row.
#[derive(Clone, Copy, PartialEq)]
struct Run {
    /// The first.
    start: u32,
    /// The trees that they concern, or one twice.
    trees: [usize; 2],
}

/// No tree, or no island.
pub(crate) const NONE: usize = usize::MAX;
/// In some island that has no number yet.
const UNNUMBERED: usize = NONE - 1;

impl Islands {
    /// Groups trees that share a constraint; trees without any are in no island. `tree_of_geom` is [`NONE`] for geoms that
    /// are fixed in the world.
    ///
    /// Islands are in the order of their first trees, constraints in the order in which they are given: the result
    /// depends on nothing else.
    pub fn partition(
        &mut self,
        detected: &[geometry::Contact],
        tree_of_geom: &[usize],
        others: &ConstraintSet,
        parts: &[Part],
    ) {
        self.find_runs(detected, tree_of_geom);
        let points = others.links.is_empty().then_some(detected.len());
        if points.is_some() && points == self.points && self.runs == self.last_runs {
            // What rests is joined as it was.
            return;
        }
        self.points = points;
        self.parent.clear();
        self.parent.extend(0..parts.len());
        self.island_of.clear();
        self.island_of.resize(parts.len(), NONE);
        self.slot_of.resize(parts.len(), 0);
        for k in 0..self.runs.len() {
            let [a, b] = self.runs[k].trees;
            self.join(a, b);
        }
        for link in &others.links {
            let mut trees = link.trees(&others.terms);
            let Some(first) = trees.next() else { continue };
            self.join(first, first);
            trees.for_each(|tree| self.join(first, tree));
        }
        self.number(parts);
        self.place_of.clear();
        let ends = self.runs.iter().skip(1).map(|run| run.start).chain([detected.len() as u32]);
        for (&Run { start: c, trees }, end) in self.runs.iter().zip(ends) {
            let island = self.island_of[trees[0]];
            let contacts = &mut self.islands[island].contacts;
            self.place_of.extend((contacts.len() as u32..).map(|k| (island as u32, k)).take((end - c) as usize));
            contacts.extend(c..end);
        }
        for (k, link) in (0..).zip(&others.links) {
            if let Some(tree) = link.trees(&others.terms).next() {
                self.islands[self.island_of[tree]].members.push(k);
            }
        }
    }

    /// Finds neighbours of the same trees; fixed geoms touch none that are fixed.
    fn find_runs(&mut self, detected: &[geometry::Contact], tree_of_geom: &[usize]) {
        std::mem::swap(&mut self.runs, &mut self.last_runs);
        self.runs.clear();
        let mut last = [NONE; 2];
        for (start, contact) in (0..).zip(detected) {
            let [a, b] = [tree_of_geom[contact.geoms[0]], tree_of_geom[contact.geoms[1]]];
            if [a, b] != last {
                last = [a, b];
                self.runs.push(Run { start, trees: [a.min(b), if a.max(b) == NONE { a.min(b) } else { a.max(b) }] });
            }
        }
    }

    /// Puts two trees, or one, into the same island.
    fn join(&mut self, a: usize, b: usize) {
        self.island_of[a] = UNNUMBERED;
        self.island_of[b] = UNNUMBERED;
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Numbers the islands in the order of their first trees, and gives every tree its slot.
    fn number(&mut self, parts: &[Part]) {
        self.active = 0;
        for tree in 0..parts.len() {
            if self.island_of[tree] == NONE {
                continue;
            }
            let root = self.root(tree);
            self.island_of[tree] = if root == tree { self.open() } else { self.island_of[root] };
            let slots = &mut self.islands[self.island_of[tree]].slots;
            let slot = match slots.last() {
                Some(last) => {
                    let part = &parts[last.tree];
                    Slot { tree, dof: last.dof + part.tree.nv, node: last.node + part.tree.len() }
                }
                None => Slot { tree, dof: 0, node: 0 },
            };
            self.slot_of[tree] = slots.len();
            slots.push(slot);
        }
    }

    fn open(&mut self) -> usize {
        if self.active == self.islands.len() {
            self.islands.push(Island::default());
        }
        self.islands[self.active].clear();
        self.active += 1;
        self.active - 1
    }

    fn root(&mut self, mut tree: usize) -> usize {
        while self.parent[tree] != tree {
            // Path halving keeps the forest flat.
            self.parent[tree] = self.parent[self.parent[tree]];
            tree = self.parent[tree];
        }
        tree
    }

    pub fn active(&self) -> &[Island] {
        &self.islands[..self.active]
    }

    /// Those of `trees` that are in no island: all, before there ever was one.
    pub fn alone(&self, trees: usize) -> impl Iterator<Item = usize> {
        (0..trees).filter(|tree| self.island_of.get(*tree).is_none_or(|island| *island == NONE))
    }

    /// Solves the islands, side by side when there are threads; none knows of the others.
    pub fn solve(&mut self, problem: &Problem<'_>, crew: &mut Crew) {
        let Self { islands, active, slot_of, scratch, .. } = self;
        if scratch.len() < crew.count() {
            scratch.resize_with(crew.count(), Mutex::default);
        }
        crew.for_each(&mut islands[..*active], |thread, island| {
            let mut scratch = scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
            island.solve(problem, slot_of, &mut scratch);
        });
    }

    /// Whether there are near-rigid constraints.
    pub fn have_rigid(&self) -> bool {
        self.active().iter().any(|island| island.has_rigid)
    }

    /// The contact points with an impulse, and the keys of their constraints.
    pub fn pushing(&self, detected: &[geometry::Contact], scene: &Scene) -> impl Iterator<Item = (Key, ContactPoint)> {
        let all = self.active().iter().flat_map(|island| island.contacts.iter().zip(&island.touches));
        let pushing = all.filter(|(_, touch)| touch.impulse != [0.0; 3]);
        pushing.map(|(c, touch)| (touch.memory.key, touch.at(&detected[*c as usize], scene)))
    }

    /// Among all contact points, the one of which the constraint is known by `key`.
    pub fn find(&self, key: Key) -> Option<usize> {
        self.active().iter().find_map(|island| {
            let k = island.touches.iter().position(|touch| touch.memory.key == key)?;
            Some(island.contacts[k] as usize)
        })
    }

    /// Gathers the contact points in the order in which they were detected, with room for `more`, and what the next step
    /// remembers, in any order.
    pub fn collect(
        &mut self,
        crew: &mut Crew,
        (detected, scene): (&[geometry::Contact], &Scene),
        more: usize,
        points: &mut Vec<ContactPoint>,
        memories: &mut Vec<Entry>,
    ) {
        let count = detected.len();
        let all = count + self.active().iter().map(|island| island.other_memories.len()).sum::<usize>();
        // Buffers take turns: none must find out later that there was more than ever.
        self.most_points = (count + more).max(self.most_points);
        self.most_memories = all.max(self.most_memories);
        points.truncate(count);
        points.reserve(self.most_points - points.len());
        points.resize(count, ContactPoint::default());
        memories.truncate(count);
        memories.reserve(self.most_memories - memories.len());
        memories.resize(count, Entry::NONE);
        self.gather_points(crew, (detected, scene), points, memories);
        self.active().iter().for_each(|island| memories.extend_from_slice(&island.other_memories));
    }

    fn gather_points(
        &self,
        crew: &mut Crew,
        (detected, scene): (&[geometry::Contact], &Scene),
        points: &mut [ContactPoint],
        memories: &mut [Entry],
    ) {
        let size = detected.len().div_ceil(POINT_SHARES).max(1);
        let (mut points, mut memories) = (points.chunks_mut(size), memories.chunks_mut(size));
        let mut sources = detected.chunks(size).zip(self.place_of.chunks(size));
        let mut shares: [_; POINT_SHARES] = std::array::from_fn(|_| (sources.next(), points.next(), memories.next()));
        crew.for_each(&mut shares, |_, share| {
            let (Some((detected, places)), Some(points), Some(memories)) = share else { return };
            let out = points.iter_mut().zip(memories.iter_mut());
            for ((contact, place), (point, memory)) in detected.iter().zip(*places).zip(out) {
                let touch = &self.islands[place.0 as usize].touches[place.1 as usize];
                (*point, *memory) = (touch.at(contact, scene), touch.memory);
            }
        });
    }
}

/// Parts that contact points are gathered in.
const POINT_SHARES: usize = 16;
