//! What happened, frame by frame.

use sim::{ContactPoint, Simulation};
use spatial::Pose;

/// The frames of a run. Vectors with several numbers per frame are flat, frame by frame.
#[derive(Debug, Default)]
pub struct Recording {
    /// Times, s.
    pub time: Vec<f64>,
    /// Positions, (frames, nq).
    pub q: Vec<f64>,
    /// Velocities, (frames, nv).
    pub v: Vec<f64>,
    /// Controls, (frames, nu).
    pub ctrl: Vec<f64>,
    /// Kinetic energy, J.
    pub kinetic: Vec<f64>,
    /// Potential energy, J.
    pub potential: Vec<f64>,
    /// Contact points with an impulse in the last step.
    pub contacts: Vec<u32>,
    /// Newton iterations of the step that needed most since the frame before.
    pub iterations: Vec<u32>,
    /// Placements of the bodies, (frames, nbody).
    pub poses: Vec<Pose<f64>>,
    /// Contact points with an impulse, all frames in order.
    pub contact_points: Vec<ContactMark>,
    /// Steps between frames.
    pub stride: u64,
    /// Frames that are evenly spaced: all, or all but the last.
    pub even_frames: usize,
    most_iterations: usize,
    scratch: Vec<Pose<f64>>,
}

/// A contact point as pictures need it.
#[derive(Clone, Copy, Debug)]
pub struct ContactMark {
    /// Where, world, m.
    pub position: [f64; 3],
    /// The mean force over the step on the second body, or on the first where the second is the world; world axes, N.
    pub force: [f64; 3],
}

impl ContactMark {
    fn new(contact: &ContactPoint, timestep: f64) -> Self {
        let sign = if contact.bodies[1] == 0 { -1.0 } else { 1.0 };
        let force = contact.impulse_world() * (sign / timestep);
        Self { position: contact.position.to_array(), force: force.to_array() }
    }
}

impl Recording {
    /// An empty recording of about this many frames per second: a whole number of steps lies between two frames, so
    /// that they are evenly spaced.
    pub fn new(frames_per_second: f64, timestep: f64) -> Self {
        let stride = (1.0 / (frames_per_second * timestep)).round().max(1.0) as u64;
        Self { stride, ..Self::default() }
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Notes the step of this number (0: the start) that was just made, and records a frame when one is due.
    pub fn after_step(&mut self, simulation: &mut Simulation, step: u64) {
        self.most_iterations = self.most_iterations.max(simulation.stats().iterations);
        if step.is_multiple_of(self.stride) {
            self.frame(simulation);
            self.even_frames += 1;
        }
    }

    /// Records the present state, unless the last frame holds it already.
    pub fn finish(&mut self, simulation: &mut Simulation) {
        if self.time.last() != Some(&simulation.state().time) {
            self.frame(simulation);
        }
    }

    fn frame(&mut self, simulation: &mut Simulation) {
        let energy = simulation.energy();
        simulation.body_poses(&mut self.scratch);
        let state = simulation.state();
        self.time.push(state.time);
        self.q.extend(&state.q);
        self.v.extend(&state.v);
        self.ctrl.extend(&state.ctrl);
        self.kinetic.push(energy.kinetic);
        self.potential.push(energy.potential);
        self.poses.extend(&self.scratch);
        self.iterations.push(std::mem::take(&mut self.most_iterations) as u32);

        let before = self.contact_points.len();
        let active = simulation.contacts().iter().filter(|contact| contact.impulse != [0.0; 3]);
        self.contact_points.extend(active.map(|contact| ContactMark::new(contact, simulation.timestep())));
        self.contacts.push((self.contact_points.len() - before) as u32);
    }
}
