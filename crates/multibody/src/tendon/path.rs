//! Where a string runs: its spans from site to site, and the points that pictures draw it through.

use spatial::{Pose, Vec3};

use super::{Branch, Obstacle, PathPoint, Tendon, TendonPath};
use crate::Model;

/// Straight pieces that stand for the arc on an obstacle in pictures.
const ARC_PIECES: usize = 12;

/// How pictures show a spatial tendon.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TendonLook {
    /// Radius of the string, m.
    pub radius: f64,
    /// Red, green, blue, opacity in 0..=1.
    pub rgba: [f32; 4],
    /// Its group, as geoms have one: by convention those from 3 on are hidden at first.
    pub group: u32,
}

impl Default for TendonLook {
    /// MuJoCo's: grey, of 3 mm.
    fn default() -> Self {
        Self { radius: 0.003, rgba: [0.5, 0.5, 0.5, 1.0], group: 0 }
    }
}

/// A point that a string is drawn through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawnPoint {
    /// A point of a body.
    Fixed {
        /// The body.
        body: usize,
        /// The point in the body's frame, m.
        position: Vec3<f64>,
    },
    /// A point that moves relative to all bodies, in the world, m.
    Free(Vec3<f64>),
}

impl DrawnPoint {
    /// The point in the world, with the bodies at these poses.
    pub fn place(&self, poses: &[Pose<f64>]) -> Vec3<f64> {
        match *self {
            Self::Fixed { body, position } => poses[body].transform_point(position),
            Self::Free(point) => point,
        }
    }
}

impl Tendon {
    /// The points that a spatial tendon is drawn through, with the bodies (nbody) at these poses in the world: a list for each branch; a fixed
    /// tendon has none.
    ///
    /// Their number and kinds are the same in all configurations: an obstacle has its points also while the string passes by, evenly
    /// on the straight line.
    pub fn drawn(&self, model: &Model, poses: &[Pose<f64>]) -> Vec<Vec<DrawnPoint>> {
        let branches = match &self.path {
            TendonPath::Joints(_) => &[][..],
            TendonPath::Spatial(branches) => branches,
        };
        let place = |body: usize, pose: Pose<f64>| poses[body] * pose;
        let at = |site: usize| {
            let site = &model.sites[site];
            place(site.body, site.pose).pos
        };
        let fixed = |site: usize| {
            let site = &model.sites[site];
            DrawnPoint::Fixed { body: site.body, position: site.pose.pos }
        };
        let draw = |branch: &Branch| {
            let mut points = Vec::new();
            let first = branch.points.iter().find_map(|point| match point {
                PathPoint::Site(site) => Some(*site),
                PathPoint::Obstacle(_) => None,
            });
            points.extend(first.map(fixed));
            each_span(branch, |Span { sites, obstacle }| {
                if let Some(obstacle) = obstacle {
                    let [from, to] = sites.map(at);
                    let pose = place(obstacle.body, obstacle.pose);
                    let wrap = obstacle.wrap(pose, [from, to], obstacle.side.map(at));
                    let point = |k: usize| match &wrap {
                        Some(wrap) => obstacle.point_of_arc(pose, wrap, k as f64 / ARC_PIECES as f64),
                        None => from + (to - from) * ((k + 1) as f64 / (ARC_PIECES + 2) as f64),
                    };
                    points.extend((0..=ARC_PIECES).map(|k| DrawnPoint::Free(point(k))));
                }
                points.push(fixed(sites[1]));
            });
            points
        };
        branches.iter().map(draw).collect()
    }
}

/// The part of a string from one site to the next.
pub(super) struct Span<'a> {
    /// The sites at its ends.
    pub sites: [usize; 2],
    /// What is between them.
    pub obstacle: Option<&'a Obstacle>,
}

/// Calls `f` with all spans of a branch.
pub(super) fn each_span<'a>(branch: &'a Branch, mut f: impl FnMut(Span<'a>)) {
    let (mut last, mut obstacle) = (None, None);
    for point in &branch.points {
        match point {
            PathPoint::Obstacle(next) => obstacle = Some(next),
            PathPoint::Site(to) => {
                if let Some(from) = last.replace(*to) {
                    f(Span { sites: [from, *to], obstacle: obstacle.take() });
                }
            }
        }
    }
}
