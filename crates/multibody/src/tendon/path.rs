//! Where a string runs: its spans from site to site, and the points that pictures draw it through.

use spatial::{Pose, Vec3};

use super::wrap::Wrap;
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
            each_span(model, branch, place, |span| {
                if let Some((obstacle, wrap)) = &span.obstacle {
                    let [from, to] = span.ends.map(|(_, point)| point);
                    let pose = place(obstacle.body, obstacle.pose);
                    let point = |k: usize| match wrap {
                        Some(wrap) => obstacle.point_of_arc(pose, wrap, k as f64 / ARC_PIECES as f64),
                        None => from + (to - from) * ((k + 1) as f64 / (ARC_PIECES + 2) as f64),
                    };
                    points.extend((0..=ARC_PIECES).map(|k| DrawnPoint::Free(point(k))));
                }
                points.push(fixed(span.site));
            });
            points
        };
        branches.iter().map(draw).collect()
    }
}

/// The part of a string from one site to the next.
pub(super) struct Span<'a> {
    /// Bodies and places of the sites, world, m.
    pub ends: [(usize, Vec3<f64>); 2],
    /// The site at its end.
    pub site: usize,
    /// What is between them, and how the string lies on it; none where it passes by.
    pub obstacle: Option<(&'a Obstacle, Option<Wrap>)>,
}

/// Calls `f` with all spans of a branch; `place` puts a pose in a body's frame into the world.
pub(super) fn each_span<'a>(
    model: &Model,
    branch: &'a Branch,
    place: impl Fn(usize, Pose<f64>) -> Pose<f64>,
    mut f: impl FnMut(Span<'a>),
) {
    let at = |site: usize| {
        let site = &model.sites[site];
        (site.body, place(site.body, site.pose).pos)
    };
    let (mut last, mut between) = (None, None);
    for point in &branch.points {
        let site = match point {
            PathPoint::Site(site) => *site,
            PathPoint::Obstacle(obstacle) => {
                between = Some(obstacle);
                continue;
            }
        };
        let to = at(site);
        let Some(from) = last.replace(to) else { continue };
        let obstacle = between.take().map(|obstacle: &Obstacle| {
            let side = obstacle.side.map(|side| at(side).1);
            (obstacle, obstacle.wrap(place(obstacle.body, obstacle.pose), [from.1, to.1], side))
        });
        f(Span { ends: [from, to], site, obstacle });
    }
}
