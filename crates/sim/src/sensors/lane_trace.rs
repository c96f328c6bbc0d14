//! What sensors need of a step that was made in lanes.

use geometry::Scene;
use lanes::{Bundle, LaneContact, Lanes, Plan};
use multibody::Model;

use super::trace::{LaneScratch, StepEnds, StepTrace, TraceNeeds};
use crate::warm_start::Key;
use crate::{ContactPoint, Options};

/// The trace of the last step of a lane, which did not fall back.
pub fn trace_lane<T: Bundle>(
    lanes: &Lanes<T>,
    lane: usize,
    (plan, model, scene, options): (&Plan, &Model, &Scene, &Options),
    trace: &mut StepTrace,
) {
    trace_needed(lanes, lane, (plan, model, scene, options), TraceNeeds::of(model), trace);
}

/// The same of what is needed.
pub(crate) fn trace_needed<T: Bundle>(
    lanes: &Lanes<T>,
    lane: usize,
    (plan, model, scene, options): (&Plan, &Model, &Scene, &Options),
    needs: TraceNeeds,
    trace: &mut StepTrace,
) {
    let mut scratch = std::mem::take(&mut trace.lane);
    let LaneScratch { q, v, ctrl, mobility, v_solved, v_end, contacts } = &mut scratch;
    let [start_q, start_v] = lanes.start(lane);
    take(q, start_q);
    take(v, start_v);
    take(ctrl, lanes.inputs(lane));
    take(mobility, lanes.actuator_mobilities(lane));
    take(v_solved, lanes.solved_velocities(lane));
    take(v_end, lanes.v.iter().map(|v| lanes::get(v, lane)));
    trace.begin(model, options, needs, &StepEnds { q, v, ctrl, mobility, v_solved, v_end, dt: plan.dt });
    if needs.contacts {
        contacts.clear();
        lanes.report_contacts(plan, lane, contacts);
        contacts.iter().for_each(|contact| trace.push_contact(point(contact, plan.dt, scene)));
        let mut is_placed = false;
        lanes.report_loads(plan, lane, |load| {
            trace.push_load(model, (q, &mut is_placed), &load);
        });
    }
    trace.lane = scratch;
    if needs.limits {
        lanes.report_limits(plan, lane, |limit, impulse| trace.push_limit(Key::of_lane(limit), impulse));
    }
    trace.finish();
}

fn take(to: &mut Vec<f64>, from: impl Iterator<Item = f64>) {
    to.clear();
    to.extend(from);
}

/// A contact point as that of a step of one world; nothing looks at its velocity.
fn point(&LaneContact { geoms, position, normal, gap, force }: &LaneContact, dt: f64, scene: &Scene) -> ContactPoint {
    let (t1, t2) = normal.tangents();
    ContactPoint {
        geoms,
        bodies: geoms.map(|geom| scene.geoms[geom].body),
        position,
        normal,
        tangents: [t1, t2],
        gap,
        impulse: [t1, t2, normal].map(|axis| axis.dot(force) * dt),
        velocity: [0.0; 3],
    }
}
