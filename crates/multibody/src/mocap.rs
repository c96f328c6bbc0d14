//! Bodies that are moved from outside: their poses and velocities as numbers.

use spatial::{Pose, Quat, Twist, Vec3};

/// The velocity of a body that is moved from outside: angular velocity, then that of its origin, world axes.
pub fn mocap_velocity(&[a, b, c, x, y, z]: &[f64; 6]) -> Twist<f64> {
    Twist { ang: Vec3::new(a, b, c), lin: Vec3::new(x, y, z) }
}

/// A body's pose from its position and its quaternion w x y z, of any length but none (which is no rotation).
pub fn mocap_pose(&[x, y, z, qw, qx, qy, qz]: &[f64; 7]) -> Pose<f64> {
    Pose::new(Vec3::new(x, y, z), Quat::new(qw, qx, qy, qz).normalized().unwrap_or(Quat::IDENTITY))
}
