//! Outcomes of contacts and other constraints in the last step, by lane.

use spatial::{Vec3, Wrench};

use super::{Bundle, ConstraintName, ConstraintSlot, Lanes, get, get3};
use crate::contact::LaneContact;
use crate::laws::gap_before;
use crate::plan::{Plan, PlanJacobian, Source};
use crate::surfaces::middle;

/// An impulse between two bodies beside those at contact points.
#[derive(Clone, Copy, Debug)]
pub struct LaneLoad {
    /// What ties two bodies, or the friction of a contact's rotation.
    pub name: ConstraintName,
    /// Whether it is a torque.
    pub is_torque: bool,
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
    /// a [single world](Self::of_single_world) the velocity of that body relative to the first, m/s, in world axes.
    pub fn each_contact(&self, plan: &Plan, lane: usize, mut f: impl FnMut(LaneContact, Vec3<f64>, Vec3<f64>)) {
        for k in self.near.iter().copied().filter(|&k| self.is_there(&self.slots[k], lane)) {
            let (pair, slot) = (&plan.contacts.pairs[plan.contacts.ends[k].pair], &self.slots[k]);
            let sign = if pair.is_flipped { -1.0 } else { 1.0 };
            let normal = get3(&slot.normal, lane);
            let position = middle(pair, get3(&slot.position, lane), get(&slot.gap, lane), normal);
            // Numbers of one lane: registers of all are for the phases of a step.
            let (gap, parting) = (get(&slot.gap, lane), get(&slot.parting, lane));
            let gap = if self.surfaces_move { gap_before(gap, parting, plan.dt) } else { gap };
            let impulse = get3(&slot.impulse, lane) * sign;
            let (geoms, normal, force) = (pair.pair.geoms, normal * sign, impulse * (1.0 / plan.dt));
            f(LaneContact { geoms, position, normal, gap, force }, impulse, get3(&slot.velocity, lane) * sign);
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

    /// What a medium did to a body in a lane's last step: the force, and its torque about the centre of mass, world.
    pub fn dragged(&self, plan: &Plan, lane: usize, body: usize) -> Wrench<f64> {
        let found = plan.drags.binary_search_by_key(&body, |drag| drag.body);
        found.map_or(Wrench::ZERO, |k| {
            let Wrench { ang, lin } = &self.dragged[k];
            Wrench { ang: get3(ang, lane), lin: get3(lin, lane) }
        })
    }

    /// Whether a drive was a constraint of a lane's last step.
    pub fn is_saturated(&self, plan: &Plan, lane: usize, drive: ConstraintName) -> bool {
        let drive = plan.constraints.of_name(drive).and_then(|k| self.drives.get(k.checked_sub(plan.first_drive)?));
        drive.is_some_and(|drive| get(&drive.is_saturated, lane) != 0.0)
    }

    /// Whether a constraint was one of the last step in a lane.
    fn acts(&self, k: usize, lane: usize) -> bool {
        get(&self.memory[k].is_remembered, lane) != 0.0
    }

    /// Calls `f` with the impulses of what ties bodies, and with the torques of rolling and torsional friction.
    pub fn report_loads(&self, plan: &Plan, lane: usize, mut f: impl FnMut(LaneLoad)) {
        let others = |k: &&usize| !matches!(plan.constraints.all[**k].source, Source::Contact);
        for &k in self.space.remembered.iter().filter(others).filter(|k| self.acts(**k, lane)) {
            let (nodes, is_torque) = match &plan.constraints.all[k].jacobian {
                PlanJacobian::Point(nodes) => (*nodes, false),
                PlanJacobian::Turn(nodes) | PlanJacobian::Twist(nodes) => (*nodes, true),
                PlanJacobian::Sum(_) => continue,
            };
            let Some((name, is_flipped)) = self.name_of(plan, k, lane) else { continue };
            let (impulse, point) = (get3(&self.slots[k].impulse, lane), get3(&self.slots[k].position, lane));
            let [first, second] = nodes;
            let (nodes, impulse) = if is_flipped { ([second, first], -impulse) } else { (nodes, impulse) };
            f(LaneLoad { name, is_torque, nodes, point, impulse });
        }
    }

    /// Whether a contact point is one of the last step.
    pub(super) fn is_there(&self, slot: &ConstraintSlot<T>, lane: usize) -> bool {
        slot.step == self.steps && get(&slot.is_present, lane) != 0.0
    }

    /// Calls `f` with the limits that pushed, of joints and of tendons, and their impulses.
    pub fn report_limits(&self, plan: &Plan, lane: usize, mut f: impl FnMut(ConstraintName, f64)) {
        for &k in self.space.remembered.iter().filter(|k| self.acts(**k, lane)) {
            if let Some(name) = plan.constraints.all[k].name.filter(|_| plan.constraints.all[k].source.is_limit()) {
                f(name, get(&self.memory[k].normal, lane));
            }
        }
    }
}
