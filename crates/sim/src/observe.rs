//! Queries of the present state: placements, velocities, Jacobians, centre of mass and momentum, by body, geom or site.
//!
//! A query places the trees that it asks about, once as long as their positions and velocities stay the same. It runs nothing of a step, and
//! allocates nothing after the first query.

mod centroid;
mod queries;

use std::ops::Range;
use std::sync::Arc;

use geometry::{Scene, SceneQueries};
use multibody::{Kinematics, Model, Strand, TendonRow, accelerations, forward_kinematics, joint_columns, velocities};
use spatial::{Pose, Twist, Vec3};

use crate::State;

/// Something that has a frame: fixed in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A body of the model, by index.
    Body(usize),
    /// A geom of the scene, by index.
    Geom(usize),
    /// A site of the model, by index.
    Site(usize),
}

/// What has been computed for one tree.
#[derive(Clone, Copy, Debug, Default)]
struct Computed {
    placement: bool,
    velocity: bool,
    /// The step whose accelerations these are.
    acceleration: Option<u64>,
}

/// Placements and motions of the nodes, computed when asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Present {
    pub kin: Kinematics<f64>,
    accelerations: Vec<Twist<f64>>,
    /// Where the trees were placed, (nq), and with which velocities, (nv).
    q: Vec<f64>,
    v: Vec<f64>,
    computed: Vec<Computed>,
    /// Which of those that are moved from outside carries each body, (nbody); empty where there are none.
    carried_by: Vec<Option<usize>>,
    centroid: centroid::Scratch,
    row: TendonRow,
}

/// A body that is moved from outside, in motion: velocity and acceleration of its origin, and where that is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovingBase {
    pub velocity: Twist<f64>,
    pub acceleration: Twist<f64>,
    pub origin: Vec3<f64>,
}

impl MovingBase {
    /// The acceleration in the world of a point that is seen from here with `acceleration` and `velocity`.
    fn in_world(&self, acceleration: Twist<f64>, velocity: Twist<f64>, point: Vec3<f64>) -> Twist<f64> {
        let (omega, arm) = (self.velocity.ang, point - self.origin);
        let carried = self.acceleration.shifted(arm);
        let lin = carried.lin + omega.cross(omega.cross(arm) + velocity.lin * 2.0);
        acceleration + Twist { ang: carried.ang + omega.cross(velocity.ang), lin }
    }
}

impl Present {
    pub fn new(model: &Model) -> Self {
        Self {
            kin: Kinematics::new(&model.tree),
            accelerations: vec![Twist::ZERO; model.tree.len()],
            q: vec![0.0; model.nq()],
            v: vec![0.0; model.nv()],
            computed: vec![Computed::default(); model.tree.trees.len()],
            carried_by: if model.mocap_bodies().next().is_some() { model.mocap_carriers() } else { Vec::new() },
            centroid: centroid::Scratch::default(),
            row: TendonRow::default(),
        }
    }

    /// Forgets where a tree was placed: what it hangs on has moved.
    pub fn forget(&mut self, tree: usize) {
        self.computed[tree] = Computed::default();
    }

    /// [`forget`](Self::forget) of all trees.
    pub fn forget_all(&mut self) {
        self.computed.fill(Computed::default());
    }

    /// Places a tree.
    pub fn place(&mut self, model: &Model, tree: usize, q: &[f64]) {
        let (nodes, qs) = (model.tree.trees[tree].clone(), coordinates(model, tree));
        let computed = &mut self.computed[tree];
        if computed.placement && self.q[qs.clone()] == q[qs.clone()] {
            return;
        }
        self.q[qs.clone()].copy_from_slice(&q[qs]);
        *computed = Computed { placement: true, ..Computed::default() };
        forward_kinematics(&model.tree, nodes, q, &mut self.kin);
    }

    /// Places a tree and its velocities.
    pub fn place_moving(&mut self, model: &Model, tree: usize, q: &[f64], v: &[f64]) {
        self.place(model, tree, q);
        let (nodes, dofs) = (model.tree.trees[tree].clone(), model.tree.dofs[tree].clone());
        let computed = &mut self.computed[tree];
        if computed.velocity && self.v[dofs.clone()] == v[dofs.clone()] {
            return;
        }
        self.v[dofs.clone()].copy_from_slice(&v[dofs]);
        (computed.velocity, computed.acceleration) = (true, None);
        velocities(&model.tree, nodes, v, &mut self.kin);
    }

    /// Places all trees and their velocities.
    pub fn place_all(&mut self, model: &Model, q: &[f64], v: &[f64]) {
        (0..model.tree.trees.len()).for_each(|tree| self.place_moving(model, tree, q, v));
    }

    /// Places a tree, its velocities and its accelerations: `a` are those of the degrees of freedom in step `serial`.
    fn place_accelerating(&mut self, model: &Model, tree: usize, q: &[f64], v: &[f64], a: &[f64], serial: u64) {
        self.place_moving(model, tree, q, v);
        if self.computed[tree].acceleration == Some(serial) {
            return;
        }
        self.computed[tree].acceleration = Some(serial);
        let nodes = model.tree.trees[tree].clone();
        accelerations(&model.tree, nodes, &self.kin, v, a, &mut self.accelerations);
    }
}

/// The coordinates of a tree.
fn coordinates(model: &Model, tree: usize) -> Range<usize> {
    let nodes = &model.tree.nodes[model.tree.trees[tree].clone()];
    nodes.first().zip(nodes.last()).map_or(0..0, |(first, last)| first.q..last.q + last.joint.nq())
}

/// A look at the present state of a simulation: [`Simulation::observe`](crate::Simulation::observe).
///
/// Vectors are in world axes, angular before linear parts, in SI units. Methods panic when an index is none of the model's.
#[derive(Debug)]
pub struct Observation<'a> {
    pub(crate) model: &'a Model,
    pub(crate) scene: &'a Arc<Scene>,
    pub(crate) state: &'a State,
    pub(crate) tree_of: &'a [usize],
    /// Accelerations of the degrees of freedom in the last step, (nv), and which step that was.
    pub(crate) acceleration: (&'a [f64], u64),
    /// Of the bodies that are moved from outside in the same step, (nmocap); empty where none is known.
    pub(crate) base_accelerations: &'a [Twist<f64>],
    pub(crate) present: &'a mut Present,
    pub(crate) queries: &'a mut Option<Box<SceneQueries>>,
}

impl Observation<'_> {
    /// The model, with the parameters of this simulation.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// The state that is looked at.
    pub fn state(&self) -> &State {
        self.state
    }

    /// The body that a frame is fixed in.
    pub fn body_of(&self, frame: Frame) -> usize {
        match frame {
            Frame::Body(body) => body,
            Frame::Geom(geom) => self.scene.geoms[geom].body,
            Frame::Site(site) => self.model.sites[site].body,
        }
    }

    /// The node that a frame moves with, none where it is fixed in the world, and its pose there.
    #[inline]
    fn home(&self, frame: Frame) -> (Option<usize>, Pose<f64>) {
        let of_body = |body: usize| (self.model.bodies[body].node, self.model.bodies[body].pose);
        match frame {
            Frame::Body(body) => of_body(body),
            Frame::Geom(geom) => {
                let geom = &self.scene.geoms[geom];
                let (node, pose) = of_body(geom.body);
                (node, pose * geom.pose)
            }
            Frame::Site(site) => {
                let site = &self.model.sites[site];
                let (node, pose) = of_body(site.body);
                (node, pose * site.pose)
            }
        }
    }

    /// What carries a body along, if it moves.
    fn base(&self, body: usize) -> Option<MovingBase> {
        let index = (*self.present.carried_by.get(body)?)?;
        let velocity = self.state.velocity_of_moved(index);
        let acceleration = self.base_accelerations.get(index).copied().unwrap_or(Twist::ZERO);
        let [x, y, z, ..] = *self.state.mocap.as_chunks::<7>().0.get(index)?;
        let moves = velocity != Twist::ZERO || acceleration != Twist::ZERO;
        moves.then_some(MovingBase { velocity, acceleration, origin: Vec3::new(x, y, z) })
    }

    /// The velocity of a point of a body, world, of the one that it has on what carries it.
    fn in_world(&self, body: usize, velocity: Twist<f64>, point: Vec3<f64>) -> Twist<f64> {
        self.base(body).map_or(velocity, |base| velocity + base.velocity.shifted(point - base.origin))
    }

    fn place(&mut self, node: usize) {
        self.present.place(self.model, self.tree_of[node], &self.state.q);
    }

    fn place_moving(&mut self, node: usize) {
        let State { q, v, .. } = self.state;
        self.present.place_moving(self.model, self.tree_of[node], q, v);
    }

    /// Where the origin of a node is, m.
    pub(crate) fn node_origin(&mut self, node: usize) -> Vec3<f64> {
        self.place(node);
        self.present.kin.frames[node].pos
    }

    /// Where a frame is.
    pub fn pose(&mut self, frame: Frame) -> Pose<f64> {
        let (node, pose) = self.home(frame);
        let Some(node) = node else { return pose };
        self.place(node);
        let frame = &self.present.kin.frames[node];
        Pose::new(frame.pos, frame.quat) * pose
    }

    /// Where the centre of mass of one body is, m.
    pub fn body_com(&mut self, body: usize) -> Vec3<f64> {
        let com = self.model.bodies[body].inertia.com;
        self.pose(Frame::Body(body)).transform_point(com)
    }

    /// Angular velocity, and the velocity of the frame's origin, rad/s and m/s. That of a body that is moved from outside is the one of the last
    /// step, and what hangs on it is carried along.
    pub fn velocity(&mut self, frame: Frame) -> Twist<f64> {
        let (node, pose) = self.home(frame);
        let body = self.body_of(frame);
        let Some(node) = node else { return self.in_world(body, Twist::ZERO, pose.pos) };
        self.place_moving(node);
        let at = &self.present.kin.frames[node];
        let arm = at.rot * pose.pos;
        let velocity = self.present.kin.twists[node].shifted(arm);
        self.in_world(body, velocity, at.pos + arm)
    }

    /// The length of a tendon and its row of the Jacobian.
    pub fn tendon_row(&mut self, tendon: usize) -> &TendonRow {
        let (model, tendon) = (self.model, &self.model.tendons[tendon]);
        for node in tendon.bodies(model).filter_map(|body| model.bodies[body].node) {
            self.place(node);
        }
        let Present { kin, row, .. } = &mut *self.present;
        tendon.write_row(model, kin, &self.state.q, row);
        row
    }

    /// The length of a tendon and its rate.
    pub fn tendon_motion(&mut self, tendon: usize) -> (f64, f64) {
        let state = self.state;
        let row = self.tendon_row(tendon);
        (row.length, row.rate(&state.v))
    }

    /// The length of what an actuator on sites acts on and its rate, each with the gear.
    pub fn site_motion(&mut self, actuator: usize) -> (f64, f64) {
        let (model, state) = (self.model, self.state);
        let transmission = &model.actuators[actuator].transmission;
        for node in transmission.sites().filter_map(|site| model.bodies[model.sites[site].body].node) {
            self.place(node);
        }
        let Present { kin, row, .. } = &mut *self.present;
        transmission.write_row(model, kin, row);
        (row.length, row.rate(&state.v))
    }

    /// The ends of the straight pieces of a spatial tendon, m, between which there are arcs; a fixed one has none.
    pub fn tendon_strands(&mut self, tendon: usize) -> Vec<[Vec3<f64>; 2]> {
        let strands = self.strands(tendon).into_iter().filter(|strand| !strand.is_arc);
        strands.map(|strand| strand.points).collect()
    }

    /// The pieces of a spatial tendon.
    pub(crate) fn strands(&mut self, tendon: usize) -> Vec<Strand> {
        self.tendon_row(tendon);
        let mut strands = Vec::new();
        self.model.tendons[tendon].each_strand(self.model, &self.present.kin, |strand| strands.push(*strand));
        strands
    }

    /// The velocity of the point of a body that is at `point` (world) now, and its angular velocity.
    pub fn velocity_at(&mut self, body: usize, point: Vec3<f64>) -> Twist<f64> {
        let Some(node) = self.model.bodies[body].node else { return self.in_world(body, Twist::ZERO, point) };
        self.place_moving(node);
        let kin = &self.present.kin;
        self.in_world(body, kin.twists[node].shifted(point - kin.frames[node].pos), point)
    }

    /// Angular acceleration, and the acceleration of the frame's origin (the rate of its velocity), rad/s² and m/s², of the last step:
    /// that of degrees of freedom which went from v₀ to v in dt is (v − v₀)/dt, taken through the kinematics of the present state. Gravity
    /// is not in it: what falls freely accelerates downwards, and an accelerometer shows this less gravity. Zero before the first step.
    pub fn acceleration(&mut self, frame: Frame) -> Twist<f64> {
        let (node, pose) = self.home(frame);
        let base = self.base(self.body_of(frame));
        let Some(node) = node else {
            return base.map_or(Twist::ZERO, |base| base.in_world(Twist::ZERO, Twist::ZERO, pose.pos));
        };
        let State { q, v, .. } = self.state;
        let (a, serial) = self.acceleration;
        self.present.place_accelerating(self.model, self.tree_of[node], q, v, a, serial);
        let (kin, of_node) = (&self.present.kin, self.present.accelerations[node]);
        let arm = kin.frames[node].rot * pose.pos;
        let own = acceleration_at(arm, kin.twists[node].ang, of_node);
        base.map_or(own, |base| base.in_world(own, kin.twists[node].shifted(arm), kin.frames[node].pos + arm))
    }

    /// J̇ v of the [Jacobian](Self::jacobian) of the same frame and point: the acceleration that velocities alone give, with those of the
    /// degrees of freedom unchanged.
    pub fn bias_acceleration(&mut self, frame: Frame, point: Option<Vec3<f64>>) -> Twist<f64> {
        let (Some(node), pose) = self.home(frame) else { return Twist::ZERO };
        self.place_moving(node);
        let (kin, tree) = (&self.present.kin, &self.model.tree);
        let (unchanged, mut of_nodes) = (vec![0.0; tree.nv], vec![Twist::ZERO; tree.len()]);
        let nodes = tree.trees[self.tree_of[node]].clone();
        accelerations(tree, nodes, kin, &self.state.v, &unchanged, &mut of_nodes);
        let at = &kin.frames[node];
        let arm = point.map_or_else(|| at.rot * pose.pos, |point| point - at.pos);
        acceleration_at(arm, kin.twists[node].ang, of_nodes[node])
    }

    /// The Jacobian (6, nv), row by row: three rows of angular velocity, three of the velocity of the frame's origin, or of the point of
    /// its body that is at `point` (world) now.
    ///
    /// # Panics
    /// When `out` has not 6 nv entries.
    pub fn jacobian(&mut self, frame: Frame, point: Option<Vec3<f64>>, out: &mut [f64]) {
        let nv = self.model.nv();
        assert_eq!(out.len(), 6 * nv, "a Jacobian has 6 nv entries");
        out.fill(0.0);
        let (Some(node), pose) = self.home(frame) else { return };
        self.place(node);
        let (kin, tree) = (&self.present.kin, &self.model.tree);
        let point = point.unwrap_or_else(|| kin.frames[node].pos + kin.frames[node].rot * pose.pos);
        let columns = tree.path_to_root(node).flat_map(|node| joint_columns(tree, kin, node, point));
        columns.for_each(|(dof, motion)| set_column(out, nv, dof, motion));
    }
}

/// The acceleration of a point of a node, `arm` from its origin.
fn acceleration_at(arm: Vec3<f64>, omega: Vec3<f64>, of_node: Twist<f64>) -> Twist<f64> {
    let mut acceleration = of_node.shifted(arm);
    acceleration.lin += omega.cross(omega.cross(arm));
    acceleration
}

/// Writes a column of a matrix (6, nv).
fn set_column(out: &mut [f64], nv: usize, column: usize, motion: Twist<f64>) {
    let rows = motion.ang.to_array().into_iter().chain(motion.lin.to_array());
    for (row, x) in rows.enumerate() {
        out[row * nv + column] = x;
    }
}
