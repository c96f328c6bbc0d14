//! Things to draw that a model does not have.

use geometry::Shape;
use spatial::{Pose, Quat, Vec3};

type Vector = Vec3<f64>;

/// Something to draw in the world.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    /// Its shape.
    pub shape: MarkerShape,
    /// Red, green, blue, opacity in 0..=1.
    pub rgba: [f32; 4],
}

/// Shapes of markers, in metres.
#[derive(Clone, Copy, Debug)]
pub enum MarkerShape {
    /// A ball.
    Ball {
        /// Its centre.
        centre: Vector,
        /// Its radius.
        radius: f64,
    },
    /// A rod with round ends.
    Rod {
        /// The centres of its ends.
        ends: [Vector; 2],
        /// Its radius.
        radius: f64,
    },
}

impl MarkerShape {
    /// The shape, and where it is.
    pub(crate) fn placed(self) -> (Shape, Pose<f64>) {
        match self {
            Self::Ball { centre, radius } => (Shape::Sphere { radius }, Pose::new(centre, Quat::IDENTITY)),
            Self::Rod { ends: [a, b], radius } => {
                let axis = (b - a).normalized().unwrap_or(Vec3::new(0.0, 0.0, 1.0));
                let rot = Quat::between(Vec3::new(0.0, 0.0, 1.0), axis);
                let half_length = 0.5 * (b - a).norm();
                (Shape::Capsule { radius, half_length }, Pose::new((a + b) * 0.5, rot))
            }
        }
    }
}
