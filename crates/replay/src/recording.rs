//! What happened, frame by frame.

use multibody::{Kinematics, Model, forward_kinematics};
use sim::{ContactPoint, Simulation, SoftContactPoint};
use spatial::Pose;

use crate::drawn::Drawn;

/// The frames of a motion. Vectors with several numbers per frame are flat, frame by frame; those of a motion that was not
/// simulated ([`Recording::of_positions`]) are empty but for time, positions and placements.
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
    /// Positions of the nodes on the surfaces of all soft bodies, (frames, nodes, 3), world, m.
    pub soft_surface: Vec<f32>,
    /// Von Mises stresses there, (frames, nodes), Pa; none where they were not asked for ([`Recording::with_stress`]).
    pub soft_stress: Vec<f32>,
    /// Steps between frames.
    pub stride: u64,
    /// Time between frames, s.
    pub frame_time: f64,
    /// Frames that are evenly spaced: all, or all but the last.
    pub even_frames: usize,
    /// Markers and texts, of motions that a [`Recorder`](crate::Recorder) saw.
    pub(crate) drawn: Drawn,
    has_stress: bool,
    most_iterations: usize,
    scratch: Vec<Pose<f64>>,
}

/// A contact point as pictures need it.
#[derive(Clone, Copy, Debug)]
pub struct ContactMark {
    /// Where, world, m.
    pub position: [f64; 3],
    /// The mean force over the step on the second body, or on the first where the second is the world, or on a soft body; world axes, N.
    pub force: [f64; 3],
}

impl ContactMark {
    fn new(contact: &ContactPoint, timestep: f64) -> Self {
        let sign = if contact.bodies[1] == 0 { -1.0 } else { 1.0 };
        let force = contact.impulse_world() * (sign / timestep);
        Self { position: contact.position.to_array(), force: force.to_array() }
    }

    fn of_soft(contact: &SoftContactPoint, timestep: f64) -> Self {
        let force = contact.impulse_world() * (-1.0 / timestep);
        Self { position: contact.position.to_array(), force: force.to_array() }
    }
}

impl Recording {
    /// An empty recording of about this many frames per second: a whole number of steps lies between two frames, so
    /// that they are evenly spaced.
    pub fn new(frames_per_second: f64, timestep: f64) -> Self {
        let stride = (1.0 / (frames_per_second * timestep)).round().max(1.0) as u64;
        Self { stride, frame_time: stride as f64 * timestep, ..Self::default() }
    }

    /// Records the stresses of soft bodies, too, or does not.
    #[must_use]
    pub fn with_stress(self, has_stress: bool) -> Self {
        Self { has_stress, ..self }
    }

    /// The motion through the positions q, (frames, nq), with `frame_time` between two of them, s.
    ///
    /// # Panics
    /// When the length of `q` is no multiple of the model's number of positions.
    pub fn of_positions(model: &Model, q: Vec<f64>, frames: usize, frame_time: f64) -> Self {
        assert_eq!(q.len(), frames * model.nq(), "q has frames × nq numbers");
        let tree = &model.tree;
        let mut kinematics = Kinematics::new(tree);
        let mut poses = Vec::with_capacity(frames * model.bodies.len());
        for frame in 0..frames {
            forward_kinematics(tree, tree.all(), &q[frame * model.nq()..][..model.nq()], &mut kinematics);
            poses.extend((0..model.bodies.len()).map(|body| kinematics.body_pose(model, body)));
        }
        let time = (0..frames).map(|frame| frame as f64 * frame_time).collect();
        Self { time, q, poses, stride: 1, frame_time, even_frames: frames, ..Self::default() }
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether there is no frame.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// Notes the step of this number (0: the start) that was just made, and records a frame when one is due.
    pub fn after_step(&mut self, simulation: &mut Simulation, step: u64) {
        self.note_iterations(simulation.stats().iterations);
        if step.is_multiple_of(self.stride) {
            self.even_frame(simulation, simulation.state().time);
        }
    }

    /// Notes a step that needed so many Newton iterations.
    pub(crate) fn note_iterations(&mut self, iterations: usize) {
        self.most_iterations = self.most_iterations.max(iterations);
    }

    /// Records the present state as the frame of this time, `frame_time` after the one before.
    pub(crate) fn even_frame(&mut self, simulation: &mut Simulation, time: f64) {
        self.frame(simulation, time);
        self.even_frames += 1;
    }

    /// Records the present state, unless the last frame holds it already.
    pub fn finish(&mut self, simulation: &mut Simulation) {
        let time = simulation.state().time;
        if self.time.last() != Some(&time) {
            self.frame(simulation, time);
        }
    }

    fn frame(&mut self, simulation: &mut Simulation, time: f64) {
        let energy = simulation.energy();
        simulation.body_poses(&mut self.scratch);
        let state = simulation.state();
        self.time.push(time);
        self.q.extend(&state.q);
        self.v.extend(&state.v);
        self.ctrl.extend(&state.ctrl);
        self.kinetic.push(energy.kinetic);
        self.potential.push(energy.potential);
        self.poses.extend(&self.scratch);
        push_soft_surface(simulation, &mut self.soft_surface);
        if self.has_stress {
            push_soft_stress(simulation, &mut self.soft_stress);
        }
        self.iterations.push(std::mem::take(&mut self.most_iterations) as u32);

        let before = self.contact_points.len();
        let active = simulation.contacts().iter().filter(|contact| contact.impulse != [0.0; 3]);
        self.contact_points.extend(active.map(|contact| ContactMark::new(contact, simulation.timestep())));
        let soft = simulation.soft_contacts().iter().filter(|contact| contact.impulse != [0.0; 3]);
        self.contact_points.extend(soft.map(|contact| ContactMark::of_soft(contact, simulation.timestep())));
        self.contacts.push((self.contact_points.len() - before) as u32);
    }
}

fn push_soft_surface(simulation: &Simulation, out: &mut Vec<f32>) {
    let positions = &simulation.state().soft_positions;
    for (index, body) in simulation.scene().soft_bodies.iter().enumerate() {
        let nodes = &positions[simulation.soft_coordinates_of(index)];
        for &node in &body.surface().nodes {
            out.extend(nodes[3 * node as usize..][..3].iter().map(|x| *x as f32));
        }
    }
}

fn push_soft_stress(simulation: &mut Simulation, out: &mut Vec<f32>) {
    let mut stresses = Vec::new();
    for index in 0..simulation.scene().soft_bodies.len() {
        let body = simulation.scene().soft_bodies[index].clone();
        stresses.resize(body.node_count(), 0.0);
        simulation.soft_von_mises(index, &mut stresses);
        out.extend(body.surface().nodes.iter().map(|&node| stresses[node as usize] as f32));
    }
}
