//! What is asked of the present state and takes a step to answer, and the forces of single constraints and bodies in the last step.

use geometry::SoftPartner;
use lanes::ConstraintName;
use multibody::EqualityKind;
use spatial::{Vec3, Wrench};

use super::{HALVINGS, Simulation};
use crate::SimulationError;
use crate::constraint_jacobian::Motion;
use crate::sensors::trace::TraceNeeds;

impl Simulation {
    /// Finds the accelerations, contacts, forces of constraints and actuators, and what sensors show, of the present state: those of the step
    /// that comes next. The state stays as it is, and that step has the bits that it has without this. Time steps are those of the
    /// options, also under error control.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sapwood_sim::{Options, Simulation};
    /// # let mut builder = multibody::ModelBuilder::new("falling");
    /// # let inertia = spatial::RigidInertia { mass: 2.0, ..spatial::RigidInertia::ZERO };
    /// # let body = builder.add_body(multibody::BodySpec { name: "ball".into(), inertia, ..Default::default() })?;
    /// # builder.add_joint(body, multibody::JointSpec::new(multibody::JointKind::Prismatic { axis: [0.0, 0.0, 1.0].into() }))?;
    /// # let mut simulation = Simulation::new(Arc::new(builder.build()?), Arc::default(), Options::default())?;
    /// simulation.forward()?;
    /// assert!((simulation.acceleration()[0] + 9.81).abs() < 1e-12 && simulation.state().time == 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn forward(&mut self) -> Result<(), SimulationError> {
        let dt = self.timestep();
        self.move_mocap(dt);
        let before = self.state.clone();
        let made = self.with_acting_controls(|simulation| match simulation.step_in_lane(dt, false) {
            Ok(false) => simulation.step_by(dt, HALVINGS),
            made => made.map(drop),
        });
        let after = std::mem::replace(&mut self.state, before);
        made?;
        self.sensing.asked = Some(after.warm_start);
        Ok(())
    }

    /// The force of an equality constraint between bodies in the last step: on its second body, at the second body's anchor, N, and the torque
    /// of a weld, N·m; world axes. Zero where it was not in force, and of a coupling, which has a [`coupling_force`](Self::coupling_force).
    ///
    /// # Panics
    /// When there is no such constraint.
    pub fn equality_wrench(&mut self, index: usize) -> Wrench<f64> {
        assert!(index < self.model.equalities.len(), "equality {index} of {}", self.model.equalities.len());
        let mut trace = std::mem::take(&mut self.sensing.trace);
        self.trace(TraceNeeds { anything: true, contacts: true, ..TraceNeeds::default() }, &mut trace);
        let per_second = self.last_timestep().map_or(0.0, f64::recip);
        let mut wrench = Wrench::ZERO;
        for load in &trace.loads {
            if !load.key.has_source_of(ConstraintName::equality(index, 0)) {
                continue;
            }
            match load.motion {
                Motion::Linear => wrench.lin += load.impulse * per_second,
                Motion::Angular => wrench.ang += load.impulse * per_second,
            }
        }
        self.sensing.trace = trace;
        wrench
    }

    /// The generalised force of a coupling of joints or tendons in the last step, N or N·m: what it exerts along its first coordinate y. Along the
    /// second, x, of which y is a polynomial p, it exerts −p′(x) times that. Zero where it was not in force, and of an equality between bodies.
    ///
    /// # Panics
    /// When there is no such constraint.
    pub fn coupling_force(&self, index: usize) -> f64 {
        let all = self.sensing.asked.as_ref().unwrap_or(&self.state.warm_start);
        match self.model.equalities[index].kind {
            EqualityKind::Coupling { .. } => {
                let found = all.of(ConstraintName::equality(index, 0), &mut 0);
                found.map_or(0.0, |entry| entry.normal) * self.last_timestep().map_or(0.0, f64::recip)
            }
            EqualityKind::Connect { .. } | EqualityKind::Weld { .. } | EqualityKind::Distance { .. } => 0.0,
        }
    }

    /// The sum of the forces of contacts on every body in the last step, soft bodies' among them, (nbody), N, world axes: zero for what
    /// touches nothing.
    pub fn contact_forces_of_bodies(&self, out: &mut Vec<Vec3<f64>>) {
        out.clear();
        out.resize(self.model.bodies.len(), Vec3::ZERO);
        let per_second = self.last_timestep().map_or(0.0, f64::recip);
        for contact in self.contacts() {
            let force = contact.impulse_world() * per_second;
            out[contact.bodies[1]] += force;
            out[contact.bodies[0]] -= force;
        }
        for contact in self.soft_contacts() {
            if let SoftPartner::Geom(geom) = contact.partner {
                out[self.scene.geoms[geom].body] += contact.impulse_world() * per_second;
            }
        }
    }
}
