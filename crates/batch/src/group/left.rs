//! Steps that lanes leave to a simulation.

use lanes::{Bundle, LaneContact, Lanes, get, put};
use multibody::Model;
use sim::{Simulation, SimulationError, State, TraceNeeds};

use super::{WorldArrays, copy_forces, copy_pd};

/// What a simulation did for a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    pub steps: u64,
    pub unsettled: u64,
    pub iterations: u64,
}

impl Left {
    /// Counts the last step of a simulation.
    pub fn add(&mut self, stats: &sim::Stats) {
        self.unsettled += u64::from(stats.unsettled > 0);
        self.iterations += stats.iterations as u64;
    }
}

/// Steps in a row that a world is left to a simulation at most, before lanes are tried again.
const MAX_WAIT: u32 = 16;

/// A world that lanes have left to a simulation.
pub(crate) struct Past {
    /// What the simulation starts its next step from, with its memory of the last one.
    pub state: State,
    /// Whether the state is one that a simulation led to, and tells what the last step met.
    pub is_known: bool,
    /// Steps in a row that the world was left.
    pub in_a_row: u32,
    /// Steps that it will be left without a trial in lanes.
    pub wait: u32,
}

impl Past {
    pub fn new(model: &Model) -> Self {
        Self { state: State::new(model), is_known: false, in_a_row: 0, wait: 0 }
    }

    /// Notes that the world was left once more. Once is chance: lanes are tried again. Where it was left n times in a row and lanes fail
    /// again, the next n steps do without them.
    fn note_left(&mut self, why: Why) {
        // Halves are made in a lane of their own: nothing is gained by waiting.
        self.wait = match self.wait {
            _ if why == Why::Unresolved => 0,
            0 => self.in_a_row.min(MAX_WAIT),
            wait => wait - 1,
        };
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.is_known = true;
    }
}

/// Why the step of a lane is made by a simulation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Lanes cannot step the world's own model.
    Alone,
    /// It is to be made in halves.
    Unresolved,
    /// Lanes did not make it for another reason: contacts that are not solved, too many of them, bodies that are too fast, or no trial.
    Unsolved,
}

/// What the step of a simulation led to beside its state.
fn report(one: &mut Simulation, lane: usize, rows: &mut WorldArrays<'_>) {
    if let Some(contacts) = rows.contacts.get_mut(lane) {
        contacts.clear();
        contacts_of_simulation(one.contacts(), one.timestep(), contacts);
    }
    if let Some(trace) = rows.traces.get_mut(lane) {
        one.trace(TraceNeeds::of(one.model()), trace);
    }
}

/// Contact points of a step of one world, as those of lanes.
pub(crate) fn contacts_of_simulation(points: &[sim::ContactPoint], dt: f64, contacts: &mut Vec<LaneContact>) {
    contacts.extend(points.iter().map(|point| LaneContact {
        geoms: point.geoms,
        position: point.position,
        normal: point.normal,
        gap: point.gap,
        force: point.impulse_world() * (1.0 / dt),
    }));
}

/// Makes the step of one lane by a simulation; of the last one it reports what it led to beside the state.
pub(crate) fn step_one<T: Bundle>(
    lanes: &mut Lanes<T>,
    (lane, why): (usize, Why),
    (rows, is_last): (&mut WorldArrays<'_>, bool),
    one: &mut Simulation,
    (past, count): (&mut Past, &mut Left),
) -> Result<(), SimulationError> {
    std::mem::swap(one.state_mut(), &mut past.state);
    let made = step_alone(lanes, (lane, why), rows, one, past.is_known);
    if made.is_ok() {
        count.add(one.stats());
        if is_last {
            // While the simulation has the state of this world.
            report(one, lane, rows);
        }
        past.note_left(why);
    }
    std::mem::swap(one.state_mut(), &mut past.state);
    made
}

/// Makes the step of one lane from what the simulation's state remembers, if that `is_known`, and takes it over.
fn step_alone<T: Bundle>(
    lanes: &mut Lanes<T>,
    (lane, why): (usize, Why),
    rows: &WorldArrays<'_>,
    one: &mut Simulation,
    is_known: bool,
) -> Result<(), SimulationError> {
    let (nu, state) = (lanes.ctrl.len(), one.state_mut());
    if !is_known {
        state.forget_past();
    }
    (state.time, state.step) = (rows.time[lane], rows.count[lane]);
    state.ctrl.copy_from_slice(&rows.ctrl[lane * nu..(lane + 1) * nu]);
    state.q.iter_mut().zip(&lanes.q).for_each(|(q, lanes)| *q = get(lanes, lane));
    state.v.iter_mut().zip(&lanes.v).for_each(|(v, lanes)| *v = get(lanes, lane));
    state.act.iter_mut().zip(&lanes.act).for_each(|(act, lanes)| *act = get(lanes, lane));
    let n = lanes.pd_target.len();
    copy_pd(&mut state.pd, rows.pd, &rows.pd_target[lane * n..(lane + 1) * n]);
    let part = |all: &'_ [f64], n: usize| -> std::ops::Range<usize> {
        if all.is_empty() { 0..0 } else { lane * n..(lane + 1) * n }
    };
    let (forces, wrenches) = (rows.applied_force, rows.applied_wrench);
    let (of_force, of_wrench) = (part(forces, lanes.v.len()), part(wrenches, lanes.applied_wrench.len()));
    copy_forces(state, &forces[of_force], &wrenches[of_wrench]);
    match why {
        Why::Alone => one.step()?,
        Why::Unresolved | Why::Unsolved => one.step_left(why == Why::Unresolved)?,
    }
    let state = one.state();
    lanes.q.iter_mut().zip(&state.q).for_each(|(lanes, q)| put(lanes, lane, *q));
    lanes.v.iter_mut().zip(&state.v).for_each(|(lanes, v)| put(lanes, lane, *v));
    lanes.act.iter_mut().zip(&state.act).for_each(|(lanes, act)| put(lanes, lane, *act));
    lanes.disturb();
    Ok(())
}
