//! The axes that files draw their figures in.

use spatial::{Quat, Vec3};

/// Which way is up and forwards in a file. Ours is always x forwards, y to the left, z up; all of these are
/// right-handed, so going over is a rotation: an exact exchange of coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// y up, z forwards, x to the left: what BVH files mostly have.
    #[default]
    YUpZForward,
    /// y up, x forwards, z to the right: what DeepMimic has.
    YUpXForward,
    /// z up, x forwards, y to the left: ours.
    ZUpXForward,
    /// z up, y to the back (−y forwards), x to the left: what Blender exports.
    ZUpMinusYForward,
}

impl Axes {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::YUpZForward, Self::YUpXForward, Self::ZUpXForward, Self::ZUpMinusYForward];

    /// The name: `y-up-z-forward`, `y-up-x-forward`, `z-up-x-forward`, `z-up-minus-y-forward`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::YUpZForward => "y-up-z-forward",
            Self::YUpXForward => "y-up-x-forward",
            Self::ZUpXForward => "z-up-x-forward",
            Self::ZUpMinusYForward => "z-up-minus-y-forward",
        }
    }

    /// Those of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axes| axes.name() == name)
    }

    /// The vector in our axes.
    pub fn vector(self, v: Vec3<f64>) -> Vec3<f64> {
        match self {
            Self::YUpZForward => Vec3::new(v.z, v.x, v.y),
            Self::YUpXForward => Vec3::new(v.x, -v.z, v.y),
            Self::ZUpXForward => v,
            Self::ZUpMinusYForward => Vec3::new(-v.y, v.x, v.z),
        }
    }

    /// The same rotation in our axes: the quaternion conjugated by the change of axes, which turns its vector part.
    pub fn rotation(self, q: Quat<f64>) -> Quat<f64> {
        let v = self.vector(q.vector());
        Quat::new(q.w, v.x, v.y, v.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_axes_is_a_rotation_and_conjugates() {
        let (a, b) = (Vec3::new(0.3, -1.2, 0.5), Vec3::new(-0.7, 0.2, 1.1));
        let q = Quat::from_rotation_vector(Vec3::new(0.4, -0.9, 0.3));
        for axes in Axes::ALL {
            assert_eq!(Axes::named(axes.name()), Some(axes));
            let c = |v| axes.vector(v);
            assert!((c(a).cross(c(b)) - c(a.cross(b))).norm() < 1e-15, "{axes:?} is a reflection");
            assert!((axes.rotation(q) * c(a) - c(q * a)).norm() < 1e-15, "{axes:?}");
        }
    }

    #[test]
    fn forwards_and_up_are_where_the_names_say() {
        let (forwards, up) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0));
        let (x, y, z) = (forwards, Vec3::new(0.0, 1.0, 0.0), up);
        for (axes, f, u) in [
            (Axes::YUpZForward, z, y),
            (Axes::YUpXForward, x, y),
            (Axes::ZUpXForward, x, z),
            (Axes::ZUpMinusYForward, -y, z),
        ] {
            assert_eq!((axes.vector(f), axes.vector(u)), (forwards, up), "{axes:?}");
        }
    }
}
