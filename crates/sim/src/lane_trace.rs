//! What sensors need of a step that was made in lanes.

use geometry::Scene;
use lanes::{Bundle, LaneContact, LaneLimit, Lanes, Plan};
use multibody::Model;

use crate::sensors::trace::{StepEnds, StepTrace, TraceNeeds};
use crate::{ContactPoint, Options};

/// Vectors of one lane, kept so that a trace allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneScratch {
    q: Vec<f64>,
    v: Vec<f64>,
    ctrl: Vec<f64>,
    v_solved: Vec<f64>,
    v_end: Vec<f64>,
    contacts: Vec<LaneContact>,
}

/// The trace of the last step of a lane, which was not left.
pub fn trace_lane<T: Bundle>(
    lanes: &Lanes<T>,
    lane: usize,
    (plan, model, scene, options): (&Plan, &Model, &Scene, &Options),
    trace: &mut StepTrace,
) {
    let needs = TraceNeeds::of(model);
    let mut scratch = std::mem::take(&mut trace.lane);
    let LaneScratch { q, v, ctrl, v_solved, v_end, contacts } = &mut scratch;
    let [start_q, start_v] = lanes.start(lane);
    take(q, start_q);
    take(v, start_v);
    take(ctrl, lanes.ctrl.iter().map(|u| lanes::get(u, lane)));
    take(v_solved, lanes.solved_velocities(lane));
    take(v_end, lanes.v.iter().map(|v| lanes::get(v, lane)));
    trace.begin(model, options, needs, &StepEnds { q, v, ctrl, v_solved, v_end, dt: plan.dt });
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
        lanes.report_limits(plan, lane, |limit, impulse| match limit {
            LaneLimit::Joint { place, side } => trace.push_joint_limit(place, side, impulse),
            LaneLimit::Tendon { tendon, side } => trace.push_tendon_limit(tendon, side, impulse),
        });
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
