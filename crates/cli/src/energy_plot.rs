//! `energy.svg`: energy, contacts and Newton iterations over time.

use anyhow::{Result, anyhow};
use motion::tracking::line_plots::{BLUE, Curve, DARK, GREEN, ORANGE, Panel, panels_svg, thinned};
use replay::Recording;

/// The picture.
pub fn svg(name: &str, recording: &Recording) -> Result<String> {
    let Recording { time, kinetic, potential, contacts, iterations, .. } = recording;
    let total = kinetic.iter().zip(potential).map(|(kinetic, potential)| kinetic + potential);
    let curve = |label: &str, color, points| Curve { label: label.into(), color, points };
    let energies = vec![
        curve("kinetic", ORANGE, thinned(time, kinetic.iter().copied())),
        curve("potential", BLUE, thinned(time, potential.iter().copied())),
        curve("total", DARK, thinned(time, total)),
    ];
    // Nothing has been counted at the start.
    let later = time.get(1..).unwrap_or_default();
    let counts =
        |color, counts: &[u32]| vec![curve("", color, thinned(later, counts.iter().skip(1).map(|&n| f64::from(n))))];
    let panels = [
        Panel { title: "Energy (J)", height: 336, curves: energies },
        Panel { title: "Contacts", height: 170, curves: counts(GREEN, contacts) },
        Panel { title: "Newton iterations", height: 170, curves: counts(BLUE, iterations) },
    ];
    let range = time.first().copied().unwrap_or(0.0)..time.last().copied().unwrap_or(0.0);
    let title = if name.is_empty() { "Energy" } else { name };
    panels_svg(title, range, &panels).map_err(|error| anyhow!("energy.svg: {error}"))
}
