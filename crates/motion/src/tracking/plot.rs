//! `error.svg`: how far from its place everything is, over time.

use super::line_plots::{BLUE, Curve, DARK, GREEN, ORANGE, Panel, RED, VIOLET, panels_svg, thinned};
use super::{Error, Tracking};

/// More curves are not to be told apart: those with the greatest errors are drawn.
const COLORS: [plotters::style::RGBColor; 5] = [BLUE, ORANGE, GREEN, VIOLET, RED];

/// The picture: distances of bodies from their places above, of the joints from their angles below.
///
/// # Errors
/// When it cannot be drawn.
pub fn errors_svg(title: &str, tracking: &Tracking) -> Result<String, Error> {
    let Tracking { time, effectors, effector_errors, root_error, joint_error, .. } = tracking;
    let n = effectors.len();
    let mut worst: Vec<usize> = (0..n).collect();
    worst.sort_by(|a, b| tracking.effector_rms(*b).total_cmp(&tracking.effector_rms(*a)));
    let mut distances: Vec<Curve> = (worst.iter().zip(COLORS))
        .map(|(&effector, color)| {
            let points = thinned(time, effector_errors.iter().skip(effector).step_by(n).map(|x| 1e3 * x));
            Curve { label: effectors[effector].clone(), color, points }
        })
        .collect();
    let of_root = thinned(time, root_error.iter().map(|x| 1e3 * x));
    distances.push(Curve { label: "root, in the world".into(), color: DARK, points: of_root });
    let of_joints = thinned(time, joint_error.iter().map(|x| x.to_degrees()));
    let joints = Curve { label: "joints".into(), color: BLUE, points: of_joints };
    let panels = [
        Panel { title: "Distance from the reference, seen from the root (mm)", height: 360, curves: distances },
        Panel { title: "Joints, root mean square (degrees)", height: 236, curves: vec![joints] },
    ];
    panels_svg(title, 0.0..time.last().copied().unwrap_or(0.0), &panels).map_err(Error::Picture)
}
