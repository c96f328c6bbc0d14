//! Actuators that pull a body and what it touches together.
//!
//! The force is explicit: that of the control, in equal shares at the points where the body touches something at the beginning of the step.
//! Contacts then push back as they do against weight, and their friction grows with what they bear.

use geometry::Contact;
use lanes::constants::TOUCHING;
use multibody::{Kinematics, Model, NO_PARENT, Transmission, joint_columns};
use spatial::Vec3;

use super::Simulation;
use crate::State;
use crate::actuation::axis_force;

/// What adhesion does in a step.
#[derive(Debug, Default)]
pub(super) struct Adhesion {
    /// Whose actuators, and their bodies.
    actuators: Vec<(usize, usize)>,
    /// Forces on the degrees of freedom, (nv); empty where nothing is pulled.
    pub force: Vec<f64>,
}

impl Adhesion {
    pub fn new(model: &Model) -> Self {
        let of = |(ctrl, actuator): (usize, &multibody::Actuator)| match actuator.transmission {
            Transmission::Adhesion { body } => Some((ctrl, body)),
            _ => None,
        };
        Self { actuators: model.actuators.iter().enumerate().filter_map(of).collect(), force: Vec::new() }
    }
}

impl Simulation {
    /// Whether anything may be pulled: nothing sleeps then, as contacts of sleepers are not looked for.
    pub(super) fn is_adhesion_on(&self) -> bool {
        let Self { model, state, adhesion, .. } = self;
        adhesion.actuators.iter().any(|&(ctrl, _)| pull(model, state, ctrl) != 0.0)
    }

    /// How far beyond the reach of a step contact points are looked for, m.
    pub(super) fn adhesion_reach(&self) -> f64 {
        if self.is_adhesion_on() { TOUCHING } else { 0.0 }
    }

    /// [`adhere`](Self::adhere) at the contact points of a last step that was made in the lane.
    pub(super) fn adhere_as_in_lane(&mut self) {
        self.adhesion.force.clear();
        std::mem::swap(&mut self.detected, &mut self.reports.detected);
        self.adhere();
        std::mem::swap(&mut self.detected, &mut self.reports.detected);
    }

    /// Finds the forces of adhesion at the contact points that have been detected; whether there are any.
    pub(super) fn adhere(&mut self) -> bool {
        let Self { model, scene, state, detected, adhesion, present, .. } = self;
        for &(ctrl, body) in &adhesion.actuators {
            let touches = |contact: &&Contact| {
                contact.gap <= TOUCHING && contact.geoms.iter().any(|geom| scene.geoms[*geom].body == body)
            };
            let force = pull(model, state, ctrl);
            if force == 0.0 {
                continue;
            }
            let count = detected.iter().filter(touches).count();
            if count == 0 {
                continue;
            }
            if adhesion.force.is_empty() {
                adhesion.force.resize(model.nv(), 0.0);
                present.place_all(model, &state.q, &state.v);
            }
            for contact in detected.iter().filter(touches) {
                let pull = contact.normal * (force / count as f64);
                for (geom, force) in contact.geoms.into_iter().zip([pull, -pull]) {
                    let point = contact.position;
                    push(model, &present.kin, scene.geoms[geom].body, (point, force), &mut adhesion.force);
                }
            }
        }
        !adhesion.force.is_empty()
    }
}

/// The force of an adhesion, by its control or by its activation at the beginning of the step, N.
fn pull(model: &Model, state: &State, ctrl: usize) -> f64 {
    let activation = model.activation_index(ctrl).and_then(|at| state.act.get(at));
    axis_force(&model.actuators[ctrl], *activation.unwrap_or(&state.ctrl[ctrl]), 0.0, 0.0, None)
}

/// Adds what a force at a point of a body does on the degrees of freedom.
fn push(
    model: &Model,
    kinematics: &Kinematics<f64>,
    body: usize,
    (point, force): (Vec3<f64>, Vec3<f64>),
    out: &mut [f64],
) {
    let nodes = model.tree.path_to_root(model.bodies[body].node.unwrap_or(NO_PARENT));
    for (dof, motion) in nodes.flat_map(|node| joint_columns(&model.tree, kinematics, node, point)) {
        out[dof] += motion.lin.dot(force);
    }
}
