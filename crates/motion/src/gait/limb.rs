//! Where hip and knee must turn so that the ankle is where it should be.

use spatial::{Quat, Vec3};

/// Two bones with a knee between them that bends about y, on a hip that turns about all axes. At rest `upper` leads from
/// hip to knee and `lower` from knee to ankle.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwoBones {
    pub upper: Vec3<f64>,
    pub lower: Vec3<f64>,
    /// +1 if the knee points forwards (the lower bone turns backwards), −1 if it points backwards like an elbow.
    pub bend: f64,
}

/// Rotations against the parent's frame, and how far the limb is stretched: 1 when straight. Beyond, the rotations are
/// those of the straight limb, which does not reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub hip: Quat<f64>,
    pub knee: Quat<f64>,
    pub stretch: f64,
}

/// The angle about y that takes −z to the direction of `v` within the x–z plane.
fn pitch(v: Vec3<f64>) -> f64 {
    libm::atan2(-v.x, -v.z)
}

impl TwoBones {
    /// The turns that bring the ankle to `target`, seen from the hip in the parent's frame: the hip first swings the
    /// plane of the limb about x until the target lies in it, then the bones close the triangle within that plane.
    pub fn reach(&self, target: Vec3<f64>) -> Reached {
        // Turns about y leave the sideways parts of the bones as they are.
        let side = self.upper.y + self.lower.y;
        let across = (target.y * target.y + target.z * target.z).sqrt();
        // From the plane's normal, down by `depth` and sideways by `side` is where the target should be.
        let depth = (across * across - side * side).max(0.0).sqrt();
        let roll = libm::atan2(target.y, -target.z) - libm::atan2(side, depth);
        let (d, within) = (depth, Vec3::new(target.x, 0.0, -depth));
        let flat = |v: Vec3<f64>| (v.x * v.x + v.z * v.z).sqrt();
        let (a, b, distance) = (flat(self.upper), flat(self.lower), (target.x * target.x + d * d).sqrt());
        let reachable = distance.clamp((a - b).abs() + 1e-9, a + b);
        let corner = |near: f64, far: f64| {
            let cos = (near * near + reachable * reachable - far * far) / (2.0 * near * reachable);
            libm::acos(cos.clamp(-1.0, 1.0))
        };
        let aim = pitch(within);
        let upper = aim - self.bend * corner(a, b) - pitch(self.upper);
        let lower = aim + self.bend * corner(b, a) - pitch(self.lower);
        let (x, y) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0));
        Reached {
            hip: Quat::from_axis_angle(x, roll) * Quat::from_axis_angle(y, upper),
            knee: Quat::from_axis_angle(y, lower - upper),
            stretch: distance / (a + b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ankle_is_where_it_should_be_and_the_knee_points_the_right_way() {
        let straight = (Vec3::new(0.0, 0.0, -0.42), Vec3::new(0.0, 0.0, -0.41));
        let crooked = (Vec3::new(0.06, 0.025, -0.165), Vec3::new(-0.145, -0.002, -0.155));
        for ((upper, lower), bend) in [(straight, 1.0), (straight, -1.0), (crooked, 1.0), (crooked, -1.0)] {
            let limb = TwoBones { upper, lower, bend };
            let length = upper.norm() + lower.norm();
            for target in [[0.1, 0.05, -0.8], [-0.4, 0.0, -0.7], [0.3, -0.2, -0.6], [0.02, 0.01, -0.5]] {
                let target = Vec3::from(target) * length;
                let reached = limb.reach(target);
                let ankle = reached.hip * (upper + reached.knee * lower);
                assert!((ankle - target).norm() < 1e-14 && reached.stretch < 1.0, "{target:?}: {ankle:?}");
                let knee = reached.hip * upper;
                let forwards = knee.cross(target).y * bend;
                assert!(forwards > 0.0, "knee at {knee:?} with bend {bend}");
            }
        }
    }

    #[test]
    fn out_of_reach_is_straight_towards_the_target() {
        let limb = TwoBones { upper: Vec3::new(0.0, 0.0, -0.4), lower: Vec3::new(0.0, 0.0, -0.4), bend: 1.0 };
        let reached = limb.reach(Vec3::new(1.2, 0.0, -1.6));
        assert!((reached.stretch - 2.5).abs() < 1e-14);
        let ankle = reached.hip * (limb.upper + reached.knee * limb.lower);
        assert!((ankle - Vec3::new(0.48, 0.0, -0.64)).norm() < 1e-9, "{ankle:?}");
    }
}
