//! What frames move with: nodes, or bodies that are moved from outside; and surfaces that move on their bodies.

use geometry::{Attachment, Scene};
use multibody::Model;
use spatial::{Mat3, Pose, Real, Vec3};

/// A body that goes along with one that is moved from outside: the place of that among these, and the pose in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub carrier: usize,
    pub pose: Pose<f64>,
}

/// What a frame moves with: a node, a body that is moved from outside, by its place among these, or nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub node: Option<usize>,
    pub carrier: Option<usize>,
}

/// A frame there, or in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanFrame<T: Real> {
    pub pos: Vec3<T>,
    pub rot: Mat3<T>,
}

/// Those of a model, by bodies.
pub(super) fn carried_bodies(model: &Model) -> Vec<Option<Carried>> {
    let mut all = vec![None; model.bodies.len()];
    for (carrier, body) in model.mocap_bodies().enumerate() {
        for (part, pose) in model.fixed_to(body) {
            all[part] = Some(Carried { carrier, pose });
        }
    }
    all
}

/// Where geoms are, and how their surfaces turn on their bodies.
#[derive(Clone, Debug)]
pub(crate) struct Surfaces {
    /// By geoms.
    pub homes: Vec<Home>,
    pub frames: Vec<PlanFrame<f64>>,
    /// By geoms, in their own axes, rad/s.
    pub angular: Vec<Vec3<f64>>,
    /// Whether any turns, and whether any moves at all in the model.
    pub turn: bool,
    pub move_by_themselves: bool,
}

impl Surfaces {
    /// `turned` are the geoms' places in nodes whose axes are turned, and on the bodies that carry them.
    pub fn new(model: &Model, scene: &Scene, turned: &[Attachment], carried: &[Option<Carried>]) -> Self {
        let home = |geom: &geometry::Geom| Home {
            node: model.bodies[geom.body].node,
            carrier: carried[geom.body].map(|carried| carried.carrier),
        };
        let frame = |at: &Attachment| PlanFrame { pos: at.pose.pos, rot: at.pose.rot.to_mat3() };
        let angular = |geom: &geometry::Geom| geom.surface_motion.map_or(Vec3::ZERO, |motion| motion.angular);
        let angular: Vec<_> = scene.geoms.iter().map(angular).collect();
        Self {
            homes: scene.geoms.iter().map(home).collect(),
            frames: turned.iter().map(frame).collect(),
            move_by_themselves: scene.geoms.iter().any(|geom| geom.surface_motion.is_some()),
            turn: angular.iter().any(|angular| *angular != Vec3::ZERO),
            angular,
        }
    }
}
