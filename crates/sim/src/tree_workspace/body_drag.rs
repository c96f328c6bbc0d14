//! What a medium does to a body, by one of two models: the box of its inertia, or ellipsoids that stand for its geoms.

use geometry::{FluidEllipsoid, Scene};
use multibody::{Drag, Model};
use spatial::{Mat3, Twist, Wrench};

use super::ellipsoid_drag::EllipsoidDrag;

/// A body in a medium.
#[derive(Clone, Debug)]
pub(super) enum BodyDrag {
    /// The medium acts on the box of the body's mass and inertia.
    InertiaBox(Box<Drag>),
    /// It acts on ellipsoids in place of geoms.
    Ellipsoids(Box<EllipsoidDrag>),
}

impl BodyDrag {
    /// One for each body; none where nothing acts on it.
    pub fn of_model(model: &Model, scene: &Scene) -> Vec<Option<Self>> {
        let mut hulls: Vec<Vec<FluidEllipsoid>> = vec![Vec::new(); model.bodies.len()];
        if model.medium.is_there() {
            scene.geoms.iter().for_each(|geom| hulls[geom.body].extend(geom.fluid_ellipsoid()));
        }
        let of_body = model.bodies.iter().zip(&hulls).map(|(body, hulls)| {
            let drag = Drag::new(model.medium, &body.inertia, body.axes, body.pose)?;
            Some(if hulls.is_empty() {
                Self::InertiaBox(Box::new(drag))
            } else {
                Self::Ellipsoids(Box::new(EllipsoidDrag::new(model.medium, &body.inertia, body.pose, hulls)))
            })
        });
        of_body.collect()
    }

    /// Whether the medium moves, and pushes what is at rest.
    pub fn is_windy(&self) -> bool {
        match self {
            Self::InertiaBox(drag) => drag.is_windy(),
            Self::Ellipsoids(drag) => drag.is_windy(),
        }
    }

    /// The force on the body and its torque about the centre of mass, in world axes, see [`Drag::wrench`].
    pub fn wrench(&self, rot: Mat3<f64>, start: Twist<f64>, led: Option<Twist<f64>>, dt: f64) -> Wrench<f64> {
        match self {
            Self::InertiaBox(drag) => drag.wrench(rot, start, led, dt),
            Self::Ellipsoids(drag) => drag.wrench(rot, start, led, dt),
        }
    }
}
