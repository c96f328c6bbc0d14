//! Outcomes of contacts and other constraints in the last step, by lane.

use spatial::Vec3;

use super::{Bundle, ConstraintSlot, Lanes, get};
use crate::contact::LaneContact;
use crate::plan::{ConstraintName, PairKind, Plan, Source, TieKind};

/// What an impulse between two bodies acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneTie {
    /// What ties two bodies, a force or a torque.
    Equality {
        /// Whether it is a torque.
        is_torque: bool,
    },
    /// The torque of rolling and torsional friction at point `ordinal` of two geoms, of which the first is the first end.
    Spin {
        /// The geoms, indices into the scene.
        geoms: [usize; 2],
        /// Which of their points.
        ordinal: usize,
    },
}

/// An impulse between two bodies beside those at contact points.
#[derive(Clone, Copy, Debug)]
pub struct LaneLoad {
    /// What makes it.
    pub tie: LaneTie,
    /// The nodes, none for the world.
    pub nodes: [Option<usize>; 2],
    /// Where a force acts, world, m.
    pub point: Vec3<f64>,
    /// On the second node, world, N·s or N·m·s.
    pub impulse: Vec3<f64>,
}

impl<T: Bundle> Lanes<T> {
    /// Appends the contact points of a lane in the last step, in the order of their geoms, the higher one first. Not of a lane that
    /// fell back.
    pub fn report_contacts(&self, plan: &Plan, lane: usize, contacts: &mut Vec<LaneContact>) {
        self.each_contact(plan, lane, |contact, _, _| contacts.push(contact));
    }

    /// Calls `f` with the contact points of a lane in the last step, in that order: the point, the impulse on the second body, N·s, and of
    /// a [lone](Self::is_lone) world the velocity of that body relative to the first, m/s, in world axes.
    pub fn each_contact(&self, plan: &Plan, lane: usize, mut f: impl FnMut(LaneContact, Vec3<f64>, Vec3<f64>)) {
        let vec3 = |v: &Vec3<T>| Vec3::new(get(&v.x, lane), get(&v.y, lane), get(&v.z, lane));
        for slot in self.near.iter().copied().filter(|&k| self.is_there(&self.slots[k], lane)) {
            let (pair, slot) = (&plan.contacts.pairs[plan.contacts.ends[slot].pair], &self.slots[slot]);
            let sign = if pair.is_flipped { -1.0 } else { 1.0 };
            let (normal, gap) = (vec3(&slot.normal), get(&slot.gap, lane));
            let position = match pair.kind {
                PairKind::Moving { .. } => vec3(&slot.position),
                // The slot has the body's own surface.
                PairKind::Plane { .. } | PairKind::Fixed { .. } => vec3(&slot.position).add_scaled(-0.5 * gap, normal),
            };
            let impulse = vec3(&slot.impulse) * sign;
            let (geoms, normal, force) = (pair.pair.geoms, normal * sign, impulse * (1.0 / plan.dt));
            f(LaneContact { geoms, position, normal, gap, force }, impulse, vec3(&slot.velocity) * sign);
        }
    }

    /// Positions and velocities at the beginning of a lane's last step, (nq) and (nv).
    pub fn start(&self, lane: usize) -> [impl Iterator<Item = f64>; 2] {
        [&self.q_start, &self.v_start].map(|all| all.iter().map(move |x| get(x, lane)))
    }

    /// What the actuators of a lane acted by in its last step, (nu): controls within their ranges or not, or activations in their place.
    pub fn inputs(&self, lane: usize) -> impl Iterator<Item = f64> {
        self.input.iter().map(move |u| get(u, lane))
    }

    /// How easily what the actuators act on is moved, (nu), see [`multibody::InverseWeights::of_actuator`].
    pub fn actuator_mobilities(&self, lane: usize) -> impl Iterator<Item = f64> {
        self.numbers.actuators.iter().map(move |of| get(&of.mobility, lane))
    }

    /// The velocities that the forces of a lane's last step lead to, before energy and momentum are balanced, (nv).
    pub fn solved_velocities(&self, lane: usize) -> impl Iterator<Item = f64> {
        self.v_solved.iter().map(move |v| get(v, lane))
    }

    /// Whether a constraint was one of the last step in a lane.
    fn acts(&self, k: usize, lane: usize) -> bool {
        get(&self.memory[k].is_remembered, lane) != 0.0
    }

    /// Calls `f` with the impulses of what ties bodies, and with the torques of rolling and torsional friction.
    pub fn report_loads(&self, plan: &Plan, lane: usize, mut f: impl FnMut(LaneLoad)) {
        let vec3 = |v: &Vec3<T>| Vec3::new(get(&v.x, lane), get(&v.y, lane), get(&v.z, lane));
        for &k in self.space.remembered.iter().filter(|k| self.acts(**k, lane)) {
            let slot = &self.slots[k];
            let (impulse, point) = (vec3(&slot.impulse), vec3(&slot.position));
            f(match &plan.constraints.all[k].source {
                Source::Tie { tie, .. } => {
                    let is_torque = matches!(tie.kind, TieKind::Turn);
                    let nodes = tie.frames.map(|frame| frame.node);
                    LaneLoad { tie: LaneTie::Equality { is_torque }, nodes, point, impulse }
                }
                Source::Spin { contact } => {
                    let ends = &plan.contacts.ends[*contact];
                    let pair = &plan.contacts.pairs[ends.pair];
                    let before = &self.slots[pair.first..*contact];
                    let ordinal = before.iter().filter(|slot| self.is_there(slot, lane)).count();
                    let tie = LaneTie::Spin { geoms: pair.pair.geoms, ordinal };
                    let [first, second] = ends.nodes;
                    if pair.is_flipped {
                        LaneLoad { tie, nodes: [second, first], point, impulse: -impulse }
                    } else {
                        LaneLoad { tie, nodes: [first, second], point, impulse }
                    }
                }
                _ => continue,
            });
        }
    }

    /// Whether a contact point is one of the last step.
    pub(super) fn is_there(&self, slot: &ConstraintSlot<T>, lane: usize) -> bool {
        slot.step == self.steps && get(&slot.is_present, lane) != 0.0
    }

    /// Calls `f` with the limits that pushed, of joints and of tendons, and their impulses.
    pub fn report_limits(&self, plan: &Plan, lane: usize, mut f: impl FnMut(ConstraintName, f64)) {
        for &k in self.space.remembered.iter().filter(|k| self.acts(**k, lane)) {
            if let Some(name) = plan.constraints.name(k).filter(|_| plan.constraints.all[k].source.is_limit()) {
                f(name, get(&self.memory[k].normal, lane));
            }
        }
    }
}
