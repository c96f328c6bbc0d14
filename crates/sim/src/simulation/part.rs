//! Steps that only some trees make in halves.
//!
//! Of a hundred robots one is always hit or thrown about so that the step does not resolve its motion. Where it shares no constraint with
//! the others, nothing that they do in the step concerns it, and it makes its halves alone: in a simulation of its own where all other
//! trees sleep. The others keep the step as it was made.
//!
//! What a step reports, contact points and forces, is then for all trees what it found over its whole length; only where the trees go is from
//! the halves.

use super::lane::has_few_trees;
use super::planning::attachments;
use super::{HALVINGS, Simulation};
use crate::{Options, Scheme, SimulationError, Stats};

/// Trees at most: what makes parts has as much memory as the simulation.
const MOST_TREES: usize = 10_000;

/// A simulation for the trees that make a step in halves.
#[derive(Debug)]
pub(super) struct Part {
    simulation: Simulation,
    /// The trees that do, one flag each.
    moves: Vec<bool>,
    /// Whether the last step was made in parts, so that the state is still to be taken from here.
    is_pending: bool,
}

impl Simulation {
    /// Makes the step that was found, but for the trees of islands that it does not resolve, which make it in halves; whether that could be
    /// done.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub(super) fn halve_unresolved(&mut self, dt: f64) -> Result<bool, SimulationError> {
        if !self.has_parts() {
            return Ok(false);
        }
        let mut part = self.take_part()?;
        let is_made = self.choose_part(&mut part.moves) && self.halve_part(&mut part, dt)?;
        if is_made {
            part.is_pending = true;
            let halves = part.simulation.stats;
            self.part = Some(part);
            self.collect_reports();
            self.advance(dt);
            self.stats = Stats { substeps: halves.substeps, ..halves.followed_by(&self.stats) };
        } else {
            self.part = Some(part);
        }
        Ok(is_made)
    }

    /// Whether trees may be stepped apart: what is not in a tree, or not in the state of one, is not, nor what lanes might step, which make all
    /// trees halves.
    fn has_parts(&self) -> bool {
        self.options.scheme == Scheme::Bilinear
            && self.trees.len() <= MOST_TREES
            && !has_few_trees(&self.model)
            && !self.is_part
            && self.soft.is_empty()
            && self.state.act.is_empty()
            && self.mocap.is_empty()
            && self.adhesion.force.is_empty()
    }

    /// The simulation for parts, made when it is first needed.
    fn take_part(&mut self) -> Result<Box<Part>, SimulationError> {
        if let Some(part) = self.part.take() {
            return Ok(part);
        }
        let options = Options { threads: 1, sleep_after: Some(f64::INFINITY), accuracy: None, ..self.options.clone() };
        let (model, scene) = (self.model.clone(), self.scene.clone());
        let attachments = attachments(&model, &scene);
        let mut simulation = self.like_this(model, scene, options, &attachments)?;
        simulation.is_part = true;
        simulation.time_to_sleep = None;
        Ok(Box::new(Part { simulation, moves: Vec::new(), is_pending: false }))
    }

    /// Chooses the trees that are to make halves; whether these are few enough for it to pay, and no tendon pulls at them and at others.
    fn choose_part(&self, moves: &mut Vec<bool>) -> bool {
        moves.clear();
        moves.extend(self.trees.iter().map(|workspace| !workspace.is_resolved));
        for island in self.islands.active() {
            if island.slots.iter().any(|slot| moves[slot.tree]) {
                island.slots.iter().for_each(|slot| moves[slot.tree] = true);
            }
        }
        let [mut moving, mut all] = [0; 2];
        for (workspace, moves) in self.trees.iter().zip(&*moves).filter(|(workspace, _)| !workspace.asleep) {
            all += workspace.dofs.len();
            moving += if *moves { workspace.dofs.len() } else { 0 };
        }
        2 * moving <= all && !self.sources.join(moves)
    }

    /// Lets the chosen trees make the step in halves; false where they come near others, which the whole step did not see.
    fn halve_part(&mut self, part: &mut Part, dt: f64) -> Result<bool, SimulationError> {
        let Part { simulation, moves, .. } = part;
        simulation.set_interrupt(self.interrupt.clone());
        simulation.is_global = self.is_global;
        simulation.state.copy_from(&self.state);
        for (workspace, moves) in simulation.trees.iter_mut().zip(moves) {
            workspace.asleep = !*moves;
        }
        simulation.meets_others = false;
        simulation.step_by_halves(dt, HALVINGS, Stats::default())?;
        Ok(!simulation.meets_others)
    }

    /// Notes whether contact points in reach concern trees that are not of this part.
    pub(super) fn note_others(&mut self) {
        if !self.is_part {
            return;
        }
        let Self { detected, tree_of_geom, trees, .. } = self;
        let sleeps = |geom: &usize| trees.get(tree_of_geom[*geom]).is_some_and(|workspace| workspace.asleep);
        self.meets_others |= detected.iter().any(|contact| contact.geoms.iter().any(sleeps));
    }

    /// Takes over the state of the trees that made the step in halves.
    pub(super) fn take_parts(&mut self) {
        let Some(part) = self.part.as_mut().filter(|part| part.is_pending) else { return };
        part.is_pending = false;
        let from = &part.simulation.state;
        for (workspace, _) in self.trees.iter().zip(&part.moves).filter(|(_, moves)| **moves) {
            let (qs, dofs) = (workspace.qs.clone(), workspace.dofs.clone());
            self.state.q[qs.clone()].copy_from_slice(&from.q[qs]);
            self.state.v[dofs.clone()].copy_from_slice(&from.v[dofs]);
        }
    }
}
