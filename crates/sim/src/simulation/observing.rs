//! What the present state shows, and what is known of the last step.

use std::ops::Range;

use spatial::Pose;

use super::Simulation;
use crate::observe::Observation;
use crate::{Energy, Frame, State};

impl Simulation {
    /// Mechanical energy of the present state.
    ///
    /// # Panics
    /// When positions or velocities of the state have been given another size.
    pub fn energy(&mut self) -> Energy {
        let mut energy = Energy::default();
        self.follow_mocap();
        let Self { model, present, trees, state: State { q, v, .. }, .. } = self;
        present.place_all(model, q, v);
        for workspace in trees {
            let of_part = workspace.energy(&present.kin, q, v, model.gravity);
            energy.kinetic += of_part.kinetic;
            energy.potential += of_part.potential;
        }
        energy.kinetic += self.base_energy();
        self.sources.add_energy(&self.model, &self.present.kin, &self.state, &mut energy);
        self.soft.add_energy(&self.state, self.model.gravity, &mut energy);
        energy
    }

    /// The placements of all bodies in the present state, (nbody).
    ///
    /// # Panics
    /// When positions or velocities of the state have been given another size.
    pub fn body_poses(&mut self, out: &mut Vec<Pose<f64>>) {
        let mut now = self.observe();
        out.clear();
        out.extend((0..now.model.bodies.len()).map(|body| now.pose(Frame::Body(body))));
    }

    /// A look at the present state: where bodies, geoms and sites are and how they move, Jacobians, centre of mass, momentum. It costs the
    /// kinematics of what is asked for, once for a state.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sapwood_sim::{Frame, Options, Simulation};
    /// # let mut builder = multibody::ModelBuilder::new("falling");
    /// # let inertia = spatial::RigidInertia { mass: 2.0, ..spatial::RigidInertia::ZERO };
    /// # let body = builder.add_body(multibody::BodySpec { name: "ball".into(), inertia, ..Default::default() })?;
    /// # builder.add_joint(body, multibody::JointSpec::new(multibody::JointKind::Prismatic { axis: [0.0, 0.0, 1.0].into() }))?;
    /// # let mut simulation = Simulation::new(Arc::new(builder.build()?), Arc::default(), Options::default())?;
    /// simulation.step()?;
    /// let ball = simulation.model().body("ball").ok_or("no ball")?;
    /// let mut now = simulation.observe();
    /// let (pose, velocity) = (now.pose(Frame::Body(ball)), now.velocity(Frame::Body(ball)));
    /// assert!(pose.pos.z < 0.0 && now.momentum(0).lin == velocity.lin * 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Its queries do when positions or velocities of the state have been given another size.
    pub fn observe(&mut self) -> Observation<'_> {
        self.follow_mocap();
        let Self { model, scene, state, tree_of, last_step, present, queries, .. } = self;
        let acceleration = (&last_step.acceleration[..], last_step.serial);
        let base_accelerations = &last_step.base_accelerations[..];
        Observation { model, scene, state, tree_of, acceleration, base_accelerations, present, queries }
    }

    /// The coordinates and the degrees of freedom of the tree that a body belongs to: all that its placement and its motion depend on. None
    /// for a body that is fixed in the world.
    ///
    /// # Panics
    /// When there is no such body.
    pub fn coordinates_of(&self, body: usize) -> Option<(Range<usize>, Range<usize>)> {
        let workspace = &self.trees[self.tree_of[self.model.bodies[body].node?]];
        Some((workspace.qs.clone(), workspace.dofs.clone()))
    }

    /// (v − v₀)/dt of the last step, (nv): velocities of the state at its end and at its beginning. Zero before the first.
    pub fn acceleration(&self) -> &[f64] {
        &self.last_step.acceleration
    }

    /// The length of the last step, s, which impulses of [`contacts`](Self::contacts) are over: of the last part of one that was made in
    /// parts. None before the first step.
    pub fn last_timestep(&self) -> Option<f64> {
        (self.last_step.length > 0.0).then_some(self.last_step.length)
    }
}
