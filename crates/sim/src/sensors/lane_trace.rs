//! What sensors need of a step that was made in lanes.

use geometry::Scene;
use lanes::{Bundle, Lanes, Plan};
use multibody::Model;

use super::trace::{LaneScratch, StepEnds, StepTrace, TraceNeeds};
use crate::{ContactPoint, Options, report};

/// What is needed of the last step of a lane, which did not fall back.
pub fn trace_lane<T: Bundle>(
    lanes: &Lanes<T>,
    lane: usize,
    (plan, model, scene, options): (&Plan, &Model, &Scene, &Options),
    needs: TraceNeeds,
    trace: &mut StepTrace,
) {
    let mut scratch = std::mem::take(&mut trace.lane);
    let LaneScratch { q, v, ctrl, mobility, v_solved, v_end } = &mut scratch;
    let [start_q, start_v] = lanes.start(lane);
    take(q, start_q);
    take(v, start_v);
    take(ctrl, lanes.inputs(lane));
    take(mobility, lanes.actuator_mobilities(lane));
    take(v_solved, lanes.solved_velocities(lane));
    take(v_end, lanes.v.iter().map(|v| lanes::get(v, lane)));
    trace.begin(model, options, needs, &StepEnds { q, v, ctrl, mobility, v_solved, v_end, dt: plan.dt });
    if needs.contacts {
        lanes.each_contact(plan, lane, |contact, impulse, velocity| {
            let (detected, outcome) = report::of_lane(contact, impulse, velocity);
            trace.push_contact(ContactPoint::new(&detected, scene, &outcome));
        });
        let mut is_placed = false;
        lanes.report_loads(plan, lane, |load| {
            trace.push_load(model, q, &mut is_placed, &load);
        });
    }
    trace.lane = scratch;
    if needs.limits {
        lanes.report_limits(plan, lane, |limit, impulse| trace.push_limit(limit, impulse));
    }
    trace.finish();
}

fn take(to: &mut Vec<f64>, from: impl Iterator<Item = f64>) {
    to.clear();
    to.extend(from);
}
