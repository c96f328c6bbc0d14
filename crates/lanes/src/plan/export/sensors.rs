//! What the sensors of a model look at, in tables.

use geometry::Scene;
use multibody::{
    ActuatorQuantity, FrameQuantity, JointQuantity, Model, SensorFrame, SensorKind, SiteQuantity, SiteShape,
    SubtreeQuantity, TendonQuantity, Transmission,
};
use spatial::{Mat3, Pose};

use super::{Levels, NONE, Table, columns};
use crate::plan::{Plan, PlanPair};

/// The sensors of a model in tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensorTables {
    /// How many numbers they have.
    pub numbers: usize,
    /// Indices and kinds.
    pub whole: Vec<Table<i32>>,
    /// Numbers.
    pub real: Vec<Table<f64>>,
    /// Sensors that are beyond such back ends, in words.
    pub missing: Vec<String>,
}

/// What kernels know to read; in tables by its place here.
#[derive(Clone, Copy)]
enum Reading {
    Clock,
    Length,
    Rate,
    Quaternion,
    BallRate,
    Position,
    Orientation,
    XAxis,
    YAxis,
    ZAxis,
    Velocity,
    Turn,
    Acceleration,
    TurnAcceleration,
    OwnAcceleration,
    OwnVelocity,
    OwnTurn,
    Field,
    SubtreeCentre,
    SubtreeVelocity,
    SubtreeSpin,
    Touch,
    ActuatorForce,
    JointForce,
    Nothing,
}

/// What is gathered of sensors.
struct Gathered<'a> {
    plan: &'a Plan,
    model: &'a Model,
    scene: &'a Scene,
    levels: Levels,
    frames: Vec<(Option<usize>, Pose<f64>, Option<SiteShape>)>,
    terms: Vec<([i32; 2], f64)>,
    nodes: Vec<[i32; 1]>,
}

/// What a sensor reads, and of what: frames, ranges of terms or of nodes, an actuator and its terms, and a factor.
type Row = (Reading, [i32; 4], f64);

impl Plan {
    /// The sensors of the plan's model in tables.
    pub fn sensors(&self, model: &Model, scene: &Scene) -> SensorTables {
        let (frames, terms, nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut gathered = Gathered { plan: self, model, scene, levels: Levels::new(self), frames, terms, nodes };
        let mut tables = SensorTables { numbers: model.sensor_data_len(), ..SensorTables::default() };
        let (mut of, mut law) = (Vec::new(), Vec::new());
        for (sensor, range) in model.sensors.iter().zip(model.sensor_ranges()) {
            let Some((reading, [a, b, c, d], factor)) = gathered.row(&sensor.kind) else {
                let (element, name) = (sensor.kind.element(), &sensor.name);
                tables.missing.push(format!("sensor {name:?} ({element})"));
                continue;
            };
            let cutoff = if sensor.cutoff > 0.0 && sensor.kind.is_clamped() { sensor.cutoff } else { f64::INFINITY };
            let low = if sensor.kind.is_positive() { f64::NEG_INFINITY } else { -cutoff };
            of.push([reading as i32, range.start as i32, range.len() as i32, a, b, c, d]);
            law.push([low.max(-1e30), cutoff.min(1e30), factor]);
        }
        let Gathered { frames, terms, nodes, .. } = &gathered;
        let bodies_of = |pair: &PlanPair| {
            let [first, second] = pair.pair.geoms.map(|geom| scene.geoms[geom].body as i32);
            if pair.is_flipped { [second, first] } else { [first, second] }
        };
        let shapes = || frames.iter().map(|(.., shape)| shape.map_or((NONE, [0.0; 3]), numbers_of));
        tables.whole = vec![
            Table::new("sensor_of", of),
            Table::new(
                "sensed_frame",
                frames.iter().zip(shapes()).map(|((node, ..), (kind, _))| [gathered.levels.of(*node), kind]),
            ),
            Table::new("sensed_term", terms.iter().map(|(place, _)| *place)),
            Table::new("sensed_node", nodes.iter().copied()),
            Table::new("pair_bodies", self.contacts.pairs.iter().map(bodies_of)),
        ];
        let turned = |(node, pose, _): &(Option<usize>, Pose<f64>, Option<SiteShape>)| {
            let turn = node.map_or(Mat3::IDENTITY, |node| self.turns[node]);
            let (pos, rot) = (turn.transpose_mul(pose.pos), columns(&(turn.transpose() * pose.rot.to_mat3())));
            let mut all = [pos.x, pos.y, pos.z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            all[3..].copy_from_slice(&rot);
            all
        };
        let of_tree = || gathered.levels.old.iter().map(|i| &model.tree.nodes[*i]);
        tables.real = vec![
            Table::new("sensor_law", law),
            Table::new("frame_place", frames.iter().map(turned)),
            Table::new("frame_quat", frames.iter().map(|(_, pose, _)| pose.rot.to_array())),
            Table::new("frame_size", shapes().map(|(_, size)| size)),
            Table::new("sensed_coefficient", terms.iter().map(|(_, coefficient)| [*coefficient])),
            Table::new("node_quat", of_tree().map(|node| node.rot.to_array())),
            Table::new("node_axis", of_tree().map(|node| node.axis.to_array())),
            Table::new("magnetic_field", [model.magnetic_field.to_array()]),
        ];
        tables
    }
}

impl Gathered<'_> {
    /// What a sensor reads; none of what kernels do not know.
    fn row(&mut self, kind: &SensorKind) -> Option<Row> {
        let of = |reading: Reading, [a, b]: [i32; 2]| Some((reading, [a, b, 0, 0], 1.0));
        match kind {
            SensorKind::Clock => of(Reading::Clock, [0, 0]),
            SensorKind::Joint { joint, quantity } => {
                let joint = &self.model.joints[*joint];
                let (q, v) = (joint.q as i32, joint.v as i32);
                match quantity {
                    JointQuantity::Position => of(Reading::Length, self.add_terms(&[([q, v], 1.0)])),
                    JointQuantity::Velocity => of(Reading::Rate, self.add_terms(&[([q, v], 1.0)])),
                    JointQuantity::Quaternion => of(Reading::Quaternion, [q, v]),
                    JointQuantity::AngularVelocity => of(Reading::BallRate, [q, v]),
                    JointQuantity::ActuatorForce => of(Reading::JointForce, [v, 0]),
                    _ => None,
                }
            }
            SensorKind::Tendon { tendon, quantity } => {
                let reading = match quantity {
                    TendonQuantity::Position => Reading::Length,
                    TendonQuantity::Velocity => Reading::Rate,
                    _ => return None,
                };
                let terms = self.terms_of_tendon(*tendon, 1.0)?;
                of(reading, self.add_terms(&terms))
            }
            SensorKind::Actuator { actuator, quantity } => self.actuator(*actuator, *quantity),
            SensorKind::Frame { frame, reference, quantity } => {
                let reading = match quantity {
                    FrameQuantity::Position => Reading::Position,
                    FrameQuantity::Quaternion => Reading::Orientation,
                    FrameQuantity::XAxis => Reading::XAxis,
                    FrameQuantity::YAxis => Reading::YAxis,
                    FrameQuantity::ZAxis => Reading::ZAxis,
                    FrameQuantity::LinearVelocity => Reading::Velocity,
                    FrameQuantity::AngularVelocity => Reading::Turn,
                    FrameQuantity::LinearAcceleration => Reading::Acceleration,
                    FrameQuantity::AngularAcceleration => Reading::TurnAcceleration,
                };
                let from = reference.map_or(NONE, |reference| self.add_frame(reference));
                let place = self.add_frame(*frame);
                of(reading, [place, from])
            }
            SensorKind::Site { site, quantity } => {
                let reading = match quantity {
                    SiteQuantity::Acceleration => Reading::OwnAcceleration,
                    SiteQuantity::Velocity => Reading::OwnVelocity,
                    SiteQuantity::AngularVelocity => Reading::OwnTurn,
                    SiteQuantity::MagneticField => Reading::Field,
                    SiteQuantity::Touch => Reading::Touch,
                    SiteQuantity::Force | SiteQuantity::Torque => return None,
                };
                let frame = self.add_frame(SensorFrame::Site(*site));
                of(reading, [frame, self.model.sites[*site].body as i32])
            }
            SensorKind::Subtree { body, quantity } => {
                let nodes = self.add_subtree(*body)?;
                let reading = match quantity {
                    SubtreeQuantity::CenterOfMass => Reading::SubtreeCentre,
                    SubtreeQuantity::LinearVelocity => Reading::SubtreeVelocity,
                    SubtreeQuantity::AngularMomentum => Reading::SubtreeSpin,
                };
                of(reading, nodes)
            }
            SensorKind::Unsupported { .. } => of(Reading::Nothing, [0, 0]),
            _ => None,
        }
    }

    fn add_terms(&mut self, terms: &[([i32; 2], f64)]) -> [i32; 2] {
        let first = self.terms.len() as i32;
        self.terms.extend_from_slice(terms);
        [first, self.terms.len() as i32]
    }

    /// The joints of a tendon; none of a spatial one.
    fn terms_of_tendon(&self, tendon: usize, gear: f64) -> Option<Vec<([i32; 2], f64)>> {
        let tendon = &self.model.tendons[tendon];
        let term = |(joint, coefficient): &(usize, f64)| {
            let joint = &self.model.joints[*joint];
            ([joint.q as i32, joint.v as i32], gear * coefficient)
        };
        (!tendon.is_spatial()).then(|| tendon.terms().iter().map(term).collect())
    }

    /// Length, rate or force of an actuator.
    fn actuator(&mut self, actuator: usize, quantity: ActuatorQuantity) -> Option<Row> {
        let (along, gear) = match &self.model.actuators[actuator].transmission {
            Transmission::Joint { joint, gear } if self.model.joints[*joint].kind.nv() == 1 => {
                let joint = &self.model.joints[*joint];
                (vec![([joint.q as i32, joint.v as i32], 1.0)], *gear)
            }
            Transmission::Tendon { tendon, gear } => (self.terms_of_tendon(*tendon, 1.0)?, *gear),
            _ => return None,
        };
        let reading = match quantity {
            ActuatorQuantity::Position => Reading::Length,
            ActuatorQuantity::Velocity => Reading::Rate,
            ActuatorQuantity::Force => {
                let place = self.plan.exported_actuators().position(|own| own.ctrl == actuator)?;
                let [start, end] = self.add_terms(&along);
                let per_impulse = if gear == 0.0 { 0.0 } else { 1.0 / (gear * self.plan.dt) };
                return Some((Reading::ActuatorForce, [place as i32, 0, start, end], per_impulse));
            }
        };
        let along: Vec<_> = along.into_iter().map(|(place, coefficient)| (place, gear * coefficient)).collect();
        let [start, end] = self.add_terms(&along);
        Some((reading, [start, end, 0, 0], 1.0))
    }

    fn add_frame(&mut self, frame: SensorFrame) -> i32 {
        let model = self.model;
        let (body, pose, shape) = match frame {
            SensorFrame::Inertial { body, axes } => (body, Pose::new(model.bodies[body].inertia.com, axes), None),
            SensorFrame::Body(body) => (body, Pose::IDENTITY, None),
            SensorFrame::Geom(geom) => (self.scene.geoms[geom].body, self.scene.geoms[geom].pose, None),
            SensorFrame::Camera(camera) => (model.cameras[camera].body, model.cameras[camera].pose, None),
            SensorFrame::Site(site) => (model.sites[site].body, model.sites[site].pose, Some(model.sites[site].shape)),
        };
        let body = &model.bodies[body];
        self.frames.push((body.node, body.pose * pose, shape));
        self.frames.len() as i32 - 1
    }

    /// The nodes of a body and all that hangs on it; none where these are not whole nodes, or something of it is fixed in the world.
    fn add_subtree(&mut self, root: usize) -> Option<[i32; 2]> {
        let bodies = &self.model.bodies;
        let is_below = |mut body: usize| loop {
            if body == root {
                return true;
            }
            if body == 0 {
                return false;
            }
            body = bodies[body].parent;
        };
        let below: Vec<bool> = (0..bodies.len()).map(is_below).collect();
        let mut nodes = vec![None; self.plan.nodes.len()];
        for (body, is_below) in bodies.iter().zip(below) {
            match body.node {
                Some(node) if nodes[node].is_some_and(|other| other != is_below) && body.inertia.mass > 0.0 => {
                    return None;
                }
                Some(node) => nodes[node] = Some(nodes[node].unwrap_or(is_below)),
                None if is_below && body.inertia.mass > 0.0 => return None,
                None => {}
            }
        }
        let first = self.nodes.len() as i32;
        let levels = &self.levels;
        self.nodes.extend((0..nodes.len()).filter(|node| nodes[*node] == Some(true)).map(|node| [levels.new[node]]));
        Some([first, self.nodes.len() as i32])
    }
}

/// What tables have for the volume of a site.
fn numbers_of(shape: SiteShape) -> (i32, [f64; 3]) {
    match shape {
        SiteShape::Sphere { radius } => (0, [radius, 0.0, 0.0]),
        SiteShape::Capsule { radius, half_length } => (1, [radius, half_length, 0.0]),
        SiteShape::Ellipsoid { radii } => (2, radii),
        SiteShape::Cylinder { radius, half_length } => (3, [radius, half_length, 0.0]),
        SiteShape::Box { half_extents } => (4, half_extents),
    }
}
