//! `energy.svg`: energy, contacts and Newton iterations over time.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::recording::Recording;

const SIZE: (u32, u32) = (960, 720);
const FONT: &str = "system-ui, sans-serif";
const TEXT: RGBColor = RGBColor(60, 64, 72);
const GRID: RGBColor = RGBColor(228, 231, 236);
const BLUE: RGBColor = RGBColor(37, 99, 191);
const ORANGE: RGBColor = RGBColor(217, 119, 6);
const DARK: RGBColor = RGBColor(31, 41, 55);
const GREEN: RGBColor = RGBColor(15, 138, 108);
/// About two points per pixel: more cannot be seen.
const MOST_POINTS: usize = 2000;

struct Curve<'a> {
    label: &'a str,
    color: RGBColor,
    values: Vec<f64>,
}

/// The picture.
pub fn svg(name: &str, recording: &Recording) -> Result<String> {
    let mut text = String::new();
    draw(name, recording, &mut text).map_err(|error| anyhow!("energy.svg: {error}"))?;
    Ok(text)
}

fn draw(name: &str, recording: &Recording, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let title = TextStyle::from((FONT, 20).into_font()).color(&DARK);
    root.draw_text(if name.is_empty() { "Energy" } else { name }, &title, (24, 16))?;
    let (_, below) = root.split_vertically(44);
    let (energy, counts) = below.split_vertically(336);
    let (contacts, iterations) = counts.split_vertically(170);

    let total = recording.kinetic.iter().zip(&recording.potential).map(|(kinetic, potential)| kinetic + potential);
    let curves = [
        Curve { label: "kinetic", color: ORANGE, values: recording.kinetic.clone() },
        Curve { label: "potential", color: BLUE, values: recording.potential.clone() },
        Curve { label: "total", color: DARK, values: total.collect() },
    ];
    panel(&energy, "Energy (J)", &recording.time, &curves)?;
    let counts =
        |label, color, values: &[u32]| [Curve { label, color, values: values.iter().map(|&n| n.into()).collect() }];
    panel(&contacts, "Contacts", &recording.time, &counts("contacts", GREEN, &recording.contacts))?;
    panel(&iterations, "Newton iterations", &recording.time, &counts("iterations", BLUE, &recording.iterations))?;
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    time: &[f64],
    curves: &[Curve<'_>],
) -> Result<(), Box<dyn std::error::Error>> {
    let text = |size: i32| TextStyle::from((FONT, size).into_font()).color(&TEXT);
    let end = time.last().copied().filter(|&t| t > time[0]).unwrap_or(time.first().copied().unwrap_or(0.0) + 1.0);
    let (low, high) = extent(curves);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(24)
        .caption(title, text(15))
        .x_label_area_size(32)
        .y_label_area_size(64)
        .build_cartesian_2d(time.first().copied().unwrap_or(0.0)..end, low..high)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .label_style(text(12))
        .x_desc("time (s)")
        .y_labels(6)
        .draw()?;
    for curve in curves {
        let color = curve.color;
        chart
            .draw_series(LineSeries::new(thinned(time, &curve.values), color.stroke_width(2)))?
            .label(curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    if curves.len() > 1 {
        chart.configure_series_labels().label_font(text(12)).background_style(WHITE.mix(0.8)).draw()?;
    }
    Ok(())
}

/// The least and greatest value, 0 included, with some air.
fn extent(curves: &[Curve<'_>]) -> (f64, f64) {
    let values = || curves.iter().flat_map(|curve| &curve.values).copied().filter(|x| x.is_finite());
    let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let air = if high > low { 0.05 * (high - low) } else { 1.0 };
    (if low < 0.0 { low - air } else { 0.0 }, high + air)
}

/// The curve itself, or for long recordings the least and the greatest value of every bucket of frames.
fn thinned(time: &[f64], values: &[f64]) -> Vec<(f64, f64)> {
    let points = || time.iter().copied().zip(values.iter().copied()).filter(|(_, y)| y.is_finite());
    if time.len() <= MOST_POINTS {
        return points().collect();
    }
    let all: Vec<(f64, f64)> = points().collect();
    let bucket = all.len().div_ceil(MOST_POINTS / 2);
    let extremes = |chunk: &[(f64, f64)]| {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut ends = [chunk.iter().min_by(by_value), chunk.iter().max_by(by_value)].map(|p| p.copied());
        ends.sort_by(|a, b| a.map(|p| p.0).partial_cmp(&b.map(|p| p.0)).unwrap_or(std::cmp::Ordering::Equal));
        ends.into_iter().flatten().collect::<Vec<_>>()
    };
    all.chunks(bucket.max(1)).flat_map(extremes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_extremes() {
        let time: Vec<f64> = (0..100_000).map(f64::from).collect();
        let mut values = vec![1.0; time.len()];
        values[71_234] = 9.0;
        values[12_345] = -3.0;
        let points = thinned(&time, &values);
        assert!(points.len() <= MOST_POINTS);
        assert!(points.contains(&(71_234.0, 9.0)) && points.contains(&(12_345.0, -3.0)));
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0));
    }
}
