//! What the model of a task has of its own in every episode.

use std::f64::consts::PI;
use std::sync::Arc;

use geometry::{HeightField, Scene, Shape};
use multibody::{Model, TendonPath};
use spatial::{Pose, Quat, Vec3};

/// What differs from episode to episode; the goal says how.
#[derive(Clone, Debug)]
pub(super) enum Variation {
    /// The goal is the coefficients of the first two joints in each of two fixed tendons.
    Directions,
    /// Bodies that are fixed in the world stand where the goal is, at the depths that they have: x, z, and an angle about y.
    Place(Vec<usize>),
    /// The height field of this geom is a bowl with bumps: see [`Bowl`].
    Bowl(usize),
}

impl Variation {
    /// How many numbers say what it is.
    pub fn len(&self) -> usize {
        match self {
            Self::Directions => 4,
            Self::Place(_) => 3,
            Self::Bowl(_) => Bowl::BUMPS * Bowl::BUMPS,
        }
    }

    /// The model of an episode.
    pub fn of(&self, model: &Arc<Model>, scene: &Arc<Scene>, goal: &[f64]) -> (Arc<Model>, Arc<Scene>) {
        match self {
            Self::Directions => {
                let mut own = Model::clone(model);
                for (tendon, directions) in own.tendons.iter_mut().zip(goal.chunks_exact(2)) {
                    let TendonPath::Joints(joints) = &mut tendon.path else { continue };
                    joints
                        .iter_mut()
                        .zip(directions)
                        .for_each(|((_, coefficient), direction)| *coefficient = *direction);
                }
                (Arc::new(own), scene.clone())
            }
            Self::Place(bodies) => {
                let mut own = Model::clone(model);
                for &body in bodies {
                    let (sin, cos) = (libm::sin(0.5 * goal[2]), libm::cos(0.5 * goal[2]));
                    let body = &mut own.bodies[body];
                    let pos = Vec3::new(goal[0], body.pose.pos.y, goal[1]);
                    body.pose = Pose { rot: Quat { w: cos, x: 0.0, y: sin, z: 0.0 }, pos };
                    body.pose_in_parent = body.pose;
                }
                (Arc::new(own), scene.clone())
            }
            Self::Bowl(geom) => {
                let mut own = Scene::clone(scene);
                if let Shape::HeightField(field) = &scene.geoms[*geom].shape {
                    let heights = Bowl { bumps: goal }.heights(field.size);
                    own.geoms[*geom].shape = Shape::HeightField(Arc::new(HeightField { heights, ..(**field).clone() }));
                }
                (model.clone(), Arc::new(own))
            }
        }
    }
}

/// The terrain of dm_control's quadruped-escape: a bowl times smooth bumps, of random numbers on a grid.
struct Bowl<'a> {
    bumps: &'a [f64],
}

impl Bowl<'_> {
    /// Numbers along each side: one every two metres.
    const BUMPS: usize = 30;
    /// Height where bowl and bumps are 1, m.
    const HEIGHT: f64 = 5.0;

    /// Heights of so many rows and columns, m.
    fn heights(&self, [rows, columns]: [usize; 2]) -> Vec<f64> {
        let n = Self::BUMPS;
        // Splines through the numbers of each row of the grid, then through those of each column of what comes out.
        let mut wide = vec![0.0; n * columns];
        for (row, out) in self.bumps.chunks_exact(n).zip(wide.chunks_exact_mut(columns)) {
            resample(row, out);
        }
        let mut heights = vec![0.0; rows * columns];
        let (mut column, mut tall) = (vec![0.0; n], vec![0.0; rows]);
        for k in 0..columns {
            column.iter_mut().enumerate().for_each(|(i, x)| *x = wide[i * columns + k]);
            resample(&column, &mut tall);
            for (i, bump) in tall.iter().enumerate() {
                heights[i * columns + k] = Self::HEIGHT * bowl(along(i, rows), along(k, columns)) * bump;
            }
        }
        heights
    }
}

/// The i-th of n numbers from −1 to 1.
fn along(i: usize, n: usize) -> f64 {
    2.0 * i as f64 / (n.max(2) - 1) as f64 - 1.0
}

/// Zero in the middle, 1 halfway to the edge, zero there and beyond.
fn bowl(x: f64, y: f64) -> f64 {
    let radius = libm::hypot(x, y).clamp(0.04, 1.0);
    0.5 - 0.5 * libm::cos(2.0 * PI * radius)
}

/// The cubic spline through numbers at 0, 1, 2, … that continues as in a mirror, at equal distances from the first to the last;
/// as `scipy.ndimage.zoom` does it.
fn resample(values: &[f64], out: &mut [f64]) {
    let n = values.len();
    // The weights c of the B-splines: c[i − 1] + 4 c[i] + c[i + 1] = 6 values[i], mirrored at the ends. Elimination from the first on.
    let (mut weights, mut upper) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let (lower, above) = (if i + 1 == n { 2.0 } else { 1.0 }, if i == 0 { 2.0 } else { 1.0 });
        let (before, left) = if i == 0 { (0.0, 0.0) } else { (weights[i - 1], upper[i - 1]) };
        let pivot = if i == 0 { 4.0 } else { 4.0 - lower * left };
        let right = if i == 0 { 6.0 * values[i] } else { 6.0 * values[i] - lower * before };
        (weights[i], upper[i]) = (right / pivot, above / pivot);
    }
    for i in (0..n.saturating_sub(1)).rev() {
        weights[i] -= upper[i] * weights[i + 1];
    }
    let mirrored = |i: isize| {
        let last = n as isize - 1;
        let i = i.abs();
        weights[(if i > last { 2 * last - i } else { i }) as usize]
    };
    let count = out.len();
    for (k, out) in out.iter_mut().enumerate() {
        let at = (n - 1) as f64 * k as f64 / (count - 1) as f64;
        let first = libm::floor(at);
        let (t, i) = (at - first, first as isize);
        let s = 1.0 - t;
        let near = |distance: f64| 2.0 / 3.0 - 0.5 * distance * distance * (2.0 - distance);
        *out = s * s * s / 6.0 * mirrored(i - 1)
            + near(t) * mirrored(i)
            + near(s) * mirrored(i + 1)
            + t * t * t / 6.0 * mirrored(i + 2);
    }
}
