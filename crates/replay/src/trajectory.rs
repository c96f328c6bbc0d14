//! Motions given at any times, at evenly spaced ones.

use multibody::{Model, difference, integrate};

/// Positions (n, nq) at ascending `times` (n), s, at the evenly spaced times from the first to the last that are
/// `frame_time` apart: the number of frames, and their positions. Between two positions the motion is that of constant velocity.
///
/// # Panics
/// When there is no time, or `q` does not have as many rows.
pub fn resample(model: &Model, q: &[f64], times: &[f64], frame_time: f64) -> (usize, Vec<f64>) {
    let (nq, first) = (model.nq(), times[0]);
    assert_eq!(q.len(), nq * times.len(), "as many positions as times");
    let row = |i: usize| &q[nq * i..][..nq];
    let span = times[times.len() - 1] - first;
    let frames = 1 + (span / frame_time * (1.0 + 1e-12)) as usize;
    let mut out = Vec::with_capacity(frames * nq);
    let mut delta = vec![0.0; model.nv()];
    let mut interval = 0;
    for frame in 0..frames {
        let time = first + frame as f64 * frame_time;
        while interval + 2 < times.len() && times[interval + 1] <= time {
            interval += 1;
        }
        let mut position = row(interval).to_vec();
        if let Some(&end) = times.get(interval + 1).filter(|&&end| end > times[interval]) {
            let s = ((time - times[interval]) / (end - times[interval])).min(1.0);
            difference(&model.tree, row(interval), row(interval + 1), &mut delta);
            integrate(&model.tree, &mut position, &delta, s);
        }
        out.append(&mut position);
    }
    (frames, out)
}
