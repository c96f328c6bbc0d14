//! What sensors need of the last step, lane by lane.

use geometry::Scene;
use multibody::{Kinematics, Model};
use sim::{ContactPoint, Options, StepEnds, StepTrace, TraceNeeds};
use spatial::Vec3;

use super::{Bundle, Lanes, get};
use crate::contacts::BatchContact;
use crate::plan::{Plan, Source, TieKind};

/// Of one lane, kept so that a step allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    q: Vec<f64>,
    v: Vec<f64>,
    ctrl: Vec<f64>,
    v_solved: Vec<f64>,
    v_end: Vec<f64>,
    contacts: Vec<BatchContact>,
    /// Where nodes were at the beginning of the step.
    frames: Option<Kinematics<f64>>,
}

impl<T: Bundle> Lanes<T> {
    /// The trace of a lane's last step. Not of a lane that was left.
    pub fn report_trace(
        &mut self,
        plan: &Plan,
        lane: usize,
        (model, scene, options): (&Model, &Scene, &Options),
        trace: &mut StepTrace,
    ) {
        let needs = TraceNeeds::of(model);
        let mut scratch = std::mem::take(&mut self.trace_scratch);
        let Scratch { q, v, ctrl, v_solved, v_end, contacts, frames } = &mut scratch;
        for (of_lane, of_lanes) in [
            (&mut *q, &self.q_start),
            (&mut *v, &self.v_start),
            (&mut *ctrl, &self.ctrl),
            (&mut *v_solved, &self.v_solved),
            (&mut *v_end, &self.v),
        ] {
            of_lane.clear();
            of_lane.extend(of_lanes.iter().map(|x| get(x, lane)));
        }
        trace.begin(model, options, needs, &StepEnds { q, v, ctrl, v_solved, v_end, dt: plan.dt });
        if needs.contacts {
            contacts.clear();
            self.report_contacts(plan, lane, contacts);
            trace_contacts(contacts, plan.dt, scene, trace);
            self.trace_loads(plan, lane, (model, q, frames), trace);
        }
        self.trace_scratch = scratch;
        if needs.limits {
            self.trace_limits(plan, lane, trace);
        }
        trace.finish();
    }

    /// Whether a constraint was one of the last step in a lane.
    fn acts(&self, k: usize, lane: usize) -> bool {
        get(&self.memory[k].is_known, lane) != 0.0
    }

    /// Impulses of what ties bodies, and torques of rolling and torsional friction.
    fn trace_loads(
        &self,
        plan: &Plan,
        lane: usize,
        (model, q, frames): (&Model, &[f64], &mut Option<Kinematics<f64>>),
        trace: &mut StepTrace,
    ) {
        let vec3 = |v: &Vec3<T>| Vec3::new(get(&v.x, lane), get(&v.y, lane), get(&v.z, lane));
        let mut is_placed = false;
        for &k in self.space.known.iter().filter(|k| self.acts(**k, lane)) {
            let slot = &self.slots[k];
            let impulse = vec3(&slot.impulse);
            let (tie, nodes, impulse) = match &plan.constraints.all[k].source {
                Source::Tie { tie, .. } => {
                    let is_torque = matches!(tie.kind, TieKind::Turn);
                    (sim::Tie::Equality { is_torque }, tie.frames.map(|frame| frame.node), impulse)
                }
                Source::Spin { contact } => {
                    let ends = &plan.contacts.ends[*contact];
                    let pair = &plan.contacts.pairs[ends.pair];
                    let before = &self.slots[pair.first..*contact];
                    let is_there =
                        |slot: &&super::Slot<T>| slot.step == self.steps && get(&slot.is_present, lane) != 0.0;
                    let ordinal = before.iter().filter(is_there).count();
                    let [first, second] = ends.nodes;
                    let tie = sim::Tie::Spin { geoms: pair.pair.geoms, ordinal };
                    if pair.is_flipped { (tie, [second, first], -impulse) } else { (tie, [first, second], impulse) }
                }
                _ => continue,
            };
            if !std::mem::replace(&mut is_placed, true) {
                StepTrace::place(model, q, frames);
            }
            if let Some(frames) = frames {
                trace.push_load(model, frames, tie, (nodes, vec3(&slot.position)), impulse);
            }
        }
    }

    fn trace_limits(&self, plan: &Plan, lane: usize, trace: &mut StepTrace) {
        for &k in self.space.known.iter().filter(|k| self.acts(**k, lane)) {
            let impulse = get(&self.memory[k].normal, lane);
            match plan.constraints.all[k].source {
                Source::Limit => {
                    let side = k - plan.constraints.first_limit;
                    trace.push_joint_limit(plan.limits[side / 2].place, side % 2, impulse);
                }
                Source::BallLimit { place, .. } => trace.push_joint_limit(place, 1, impulse),
                Source::TendonLimit { tendon, sign, .. } => {
                    trace.push_tendon_limit(tendon, usize::from(sign < 0.0), impulse);
                }
                _ => {}
            }
        }
    }
}

/// Contact points as those of a step of one world; nothing looks at their velocities.
fn trace_contacts(contacts: &[BatchContact], dt: f64, scene: &Scene, trace: &mut StepTrace) {
    for &BatchContact { geoms, position, normal, gap, force } in contacts {
        let (t1, t2) = normal.tangents();
        trace.push_contact(ContactPoint {
            geoms,
            bodies: geoms.map(|geom| scene.geoms[geom].body),
            position,
            normal,
            tangents: [t1, t2],
            gap,
            impulse: [t1, t2, normal].map(|axis| axis.dot(force) * dt),
            velocity: [0.0; 3],
        });
    }
}
