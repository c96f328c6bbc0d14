//! Steps that lanes leave to a simulation.

use lanes::{Bundle, LaneContact, Lanes};
use multibody::Model;
use sim::{Pd, Simulation, SimulationError, State, TraceNeeds};

use crate::arrays::{Arrays, Borrowed, Worlds};

/// What a simulation did for a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FallbackStats {
    pub steps: u64,
    pub unsettled: u64,
    pub iterations: u64,
}

impl FallbackStats {
    /// Counts the last step of a simulation.
    pub fn add(&mut self, stats: &sim::Stats) {
        self.unsettled += u64::from(stats.unsettled > 0);
        self.iterations += stats.iterations as u64;
    }
}

/// Steps in a row that a world is left to a simulation at most, before lanes are tried again.
const MAX_WAIT: u32 = 16;

/// A world whose last step fell back to a simulation.
pub(crate) struct Past {
    /// What the simulation starts its next step from, with its memory of the last one.
    pub state: State,
    /// Whether the state is one that a simulation led to, and tells what the last step met.
    pub has_warm_start: bool,
    /// Steps in a row that fell back.
    pub in_a_row: u32,
    /// Steps that fall back without a trial in lanes.
    pub wait: u32,
}

impl Past {
    pub fn new(model: &Model) -> Self {
        Self { state: State::new(model), has_warm_start: false, in_a_row: 0, wait: 0 }
    }

    /// The state for the next step to start from.
    pub fn begin(&mut self) -> &mut State {
        if !self.has_warm_start {
            self.state.forget_past();
        }
        &mut self.state
    }

    /// Notes one more fallback. One is chance: lanes are tried again. Where n steps in a row fell back and lanes fail again, the next n steps
    /// do without them.
    fn note_fallback(&mut self, why: Why) {
        // Halves are made in a lane of their own: nothing is gained by waiting.
        self.wait = match self.wait {
            _ if why == Why::Unresolved => 0,
            0 => self.in_a_row.min(MAX_WAIT),
            wait => wait - 1,
        };
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.has_warm_start = true;
    }
}

/// Why the step of a lane is made by a simulation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Lanes cannot step the world's own model.
    NotInLanes,
    /// It is to be made in halves.
    Unresolved,
    /// Lanes did not make it for another reason: contacts that are not solved, too many of them, bodies that are too fast, or no trial.
    Unsolved,
}

/// What the step of a simulation led to beside its state.
pub(crate) fn report(one: &mut Simulation, world: &mut Arrays<Borrowed<'_>>) {
    if let [contacts] = world.contacts {
        contacts.clear();
        contacts_of_simulation(one.contacts(), one.timestep(), contacts);
    }
    if let [trace] = world.traces {
        one.trace(TraceNeeds::of(one.model(), &one.model().sensors), trace);
    }
}

/// Contact points of a step of one world, as those of lanes.
fn contacts_of_simulation(points: &[sim::ContactPoint], dt: f64, contacts: &mut Vec<LaneContact>) {
    contacts.extend(points.iter().map(|point| LaneContact {
        geoms: point.geoms,
        position: point.position,
        normal: point.normal,
        gap: point.gap,
        force: point.impulse_world() * (1.0 / dt),
    }));
}

/// Makes the step of one lane by a simulation, the first of `steps_ahead`; of the last one it reports what it led to beside the state.
pub(crate) fn step_one<T: Bundle>(
    lanes: &mut Lanes<T>,
    lane: usize,
    why: Why,
    worlds: &mut Worlds<'_>,
    steps_ahead: usize,
    one: &mut Simulation,
    past: &mut Past,
    count: &mut FallbackStats,
) -> Result<(), SimulationError> {
    let pd = worlds.pd;
    let mut world = worlds.world_mut(lane);
    // Earlier steps of the group may have moved the lane on.
    world.store(lanes, lane);
    std::mem::swap(one.state_mut(), &mut past.state);
    one.set_steps_ahead(steps_ahead);
    let made = step_by_simulation(lanes, lane, why, &mut world, pd, one);
    one.set_steps_ahead(1);
    if made.is_ok() {
        count.add(one.stats());
        if steps_ahead == 1 {
            // While the simulation has the state of this world.
            report(one, &mut world);
        }
        past.note_fallback(why);
    }
    std::mem::swap(one.state_mut(), &mut past.state);
    made
}

/// Makes the step of one lane from what the simulation's state remembers, and takes it over.
fn step_by_simulation<T: Bundle>(
    lanes: &mut Lanes<T>,
    lane: usize,
    why: Why,
    world: &mut Arrays<Borrowed<'_>>,
    pd: Option<&Pd>,
    one: &mut Simulation,
) -> Result<(), SimulationError> {
    world.shared().write_state(one.state_mut(), pd);
    match why {
        Why::NotInLanes => one.step()?,
        Why::Unresolved | Why::Unsolved => one.step_fallback(why == Why::Unresolved)?,
    }
    world.read_state(one.state());
    world.shared().load(lanes, lane);
    lanes.disturb();
    Ok(())
}
