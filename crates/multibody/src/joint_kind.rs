//! The kinds of joints that models have: chains of the motions that nodes have.

use spatial::Vec3;

use crate::JointType;

/// The kinds of joints that a model can have.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum JointKind {
    /// Turns about an axis.
    Revolute {
        /// Axis in the body's frame.
        axis: Vec3<f64>,
    },
    /// Moves along an axis.
    Prismatic {
        /// Axis in the body's frame.
        axis: Vec3<f64>,
    },
    /// Turns about an axis and moves along it.
    Screw {
        /// Axis in the body's frame.
        axis: Vec3<f64>,
        /// Metres per radian.
        pitch: f64,
    },
    /// Turns about two axes in turn.
    Universal {
        /// The axes in the body's frame, at q = 0.
        axes: [Vec3<f64>; 2],
    },
    /// Moves along two axes, then turns about a third.
    Planar {
        /// The two directions of motion and the axis of rotation, in the body's frame.
        axes: [Vec3<f64>; 3],
    },
    /// Turns about a point.
    Ball,
    /// Moves freely.
    Free,
    /// Does not move.
    Weld,
}

impl JointKind {
    /// The number of position coordinates.
    pub const fn nq(self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Screw { .. } => 1,
            Self::Universal { .. } => 2,
            Self::Planar { .. } => 3,
            Self::Ball => 4,
            Self::Free => 7,
            Self::Weld => 0,
        }
    }

    /// The number of degrees of freedom.
    pub const fn nv(self) -> usize {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Screw { .. } => 1,
            Self::Universal { .. } => 2,
            Self::Planar { .. } | Self::Ball => 3,
            Self::Free => 6,
            Self::Weld => 0,
        }
    }

    /// The number of nodes: of [`motions`](Self::motions).
    pub const fn nodes(self) -> usize {
        match self {
            Self::Universal { .. } => 2,
            Self::Planar { .. } => 3,
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Screw { .. } | Self::Ball | Self::Free => 1,
            Self::Weld => 0,
        }
    }

    /// The elementary motions that it is a chain of, each that of a node.
    pub fn motions(self) -> Vec<JointMotion> {
        let motion = |joint, axis| JointMotion { joint, axis, pitch: 0.0 };
        let x = Vec3::new(1.0, 0.0, 0.0);
        match self {
            Self::Revolute { axis } => vec![motion(JointType::Revolute, axis)],
            Self::Prismatic { axis } => vec![motion(JointType::Prismatic, axis)],
            Self::Screw { axis, pitch } => vec![JointMotion { pitch, ..motion(JointType::Screw, axis) }],
            Self::Universal { axes } => axes.map(|axis| motion(JointType::Revolute, axis)).to_vec(),
            Self::Planar { axes: [a, b, c] } => {
                vec![motion(JointType::Prismatic, a), motion(JointType::Prismatic, b), motion(JointType::Revolute, c)]
            }
            Self::Ball => vec![motion(JointType::Ball, x)],
            Self::Free => vec![motion(JointType::Free, x)],
            Self::Weld => Vec::new(),
        }
    }

    /// Its axis, of those with one.
    pub const fn axis(self) -> Option<Vec3<f64>> {
        match self {
            Self::Revolute { axis } | Self::Prismatic { axis } | Self::Screw { axis, .. } => Some(axis),
            Self::Universal { .. } | Self::Planar { .. } | Self::Ball | Self::Free | Self::Weld => None,
        }
    }

    /// All its axes.
    pub(crate) const fn axes_mut(&mut self) -> &mut [Vec3<f64>] {
        match self {
            Self::Revolute { axis } | Self::Prismatic { axis } | Self::Screw { axis, .. } => std::slice::from_mut(axis),
            Self::Universal { axes } => axes,
            Self::Planar { axes } => axes,
            Self::Ball | Self::Free | Self::Weld => &mut [],
        }
    }

    /// Whether it rotates about a point: balls and free joints.
    pub const fn rotates_about_point(self) -> bool {
        match self {
            Self::Ball | Self::Free => true,
            Self::Revolute { .. }
            | Self::Prismatic { .. }
            | Self::Screw { .. }
            | Self::Universal { .. }
            | Self::Planar { .. }
            | Self::Weld => false,
        }
    }

    /// Whether such a joint can have limits: those with one coordinate, and balls.
    pub const fn can_have_limits(self) -> bool {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } | Self::Screw { .. } | Self::Ball => true,
            Self::Universal { .. } | Self::Planar { .. } | Self::Free | Self::Weld => false,
        }
    }

    /// The name that users read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::Screw { .. } => "screw",
            Self::Universal { .. } => "universal",
            Self::Planar { .. } => "planar",
            Self::Ball => "ball",
            Self::Free => "free",
            Self::Weld => "weld",
        }
    }
}

/// An elementary motion of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointMotion {
    /// The kind of motion.
    pub joint: JointType,
    /// Axis in the body's frame; x of those that have none.
    pub axis: Vec3<f64>,
    /// Metres per radian of a screw, else 0.
    pub pitch: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_those_of_the_motions() {
        let (x, y, z) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0));
        for kind in [
            JointKind::Revolute { axis: x },
            JointKind::Prismatic { axis: x },
            JointKind::Screw { axis: x, pitch: 0.1 },
            JointKind::Universal { axes: [x, y] },
            JointKind::Planar { axes: [x, y, z] },
            JointKind::Ball,
            JointKind::Free,
            JointKind::Weld,
        ] {
            let motions = kind.motions();
            let sum = |of: fn(JointType) -> usize| motions.iter().map(|motion| of(motion.joint)).sum::<usize>();
            let expected = [motions.len(), sum(JointType::nq), sum(JointType::nv)];
            assert_eq!([kind.nodes(), kind.nq(), kind.nv()], expected, "{}", kind.name());
        }
    }
}
