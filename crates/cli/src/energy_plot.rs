//! `energy.svg`: energy, contacts and Newton iterations over time.

use std::cmp::Ordering;
use std::error::Error;
use std::ops::Range;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use replay::Recording;

const SIZE: (u32, u32) = (960, 720);
/// plotters puts points on whole pixels: the picture is drawn this many times as large and shown at its size.
const SCALE: u32 = 4;
const FONT: &str = "system-ui, sans-serif";
const TEXT: RGBColor = RGBColor(60, 64, 72);
const GRID: RGBColor = RGBColor(228, 231, 236);
const BLUE: RGBColor = RGBColor(37, 99, 191);
const ORANGE: RGBColor = RGBColor(217, 119, 6);
const DARK: RGBColor = RGBColor(31, 41, 55);
const GREEN: RGBColor = RGBColor(15, 138, 108);
/// About two points per pixel: more cannot be seen.
const MOST_POINTS: usize = 2000;

struct Curve {
    label: &'static str,
    color: RGBColor,
    points: Vec<(f64, f64)>,
}

/// The picture.
pub fn svg(name: &str, recording: &Recording) -> Result<String> {
    let mut text = String::new();
    draw(name, recording, &mut text).map_err(|error| anyhow!("energy.svg: {error}"))?;
    let (width, height) = SIZE;
    let drawn = format!("width=\"{}\" height=\"{}\"", scale(width), scale(height));
    Ok(text.replacen(&drawn, &format!("width=\"{width}\" height=\"{height}\""), 1))
}

fn px(length: i32) -> i32 {
    SCALE as i32 * length
}

fn scale(length: u32) -> u32 {
    SCALE * length
}

fn text(size: i32, color: &'static RGBColor) -> TextStyle<'static> {
    TextStyle::from((FONT, px(size)).into_font()).color(color)
}

fn draw(name: &str, recording: &Recording, svg: &mut String) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::with_string(svg, (scale(SIZE.0), scale(SIZE.1))).into_drawing_area();
    root.fill(&WHITE)?;
    root.draw_text(if name.is_empty() { "Energy" } else { name }, &text(20, &DARK), (px(24), px(16)))?;
    let (_, below) = root.split_vertically(px(44));
    let (energy, counts) = below.split_vertically(px(336));
    let (contacts, iterations) = counts.split_vertically(px(170));

    let Recording { time, kinetic, potential, .. } = recording;
    let total = kinetic.iter().zip(potential).map(|(kinetic, potential)| kinetic + potential);
    let curves = [
        Curve { label: "kinetic", color: ORANGE, points: thinned(time, kinetic) },
        Curve { label: "potential", color: BLUE, points: thinned(time, potential) },
        Curve { label: "total", color: DARK, points: thinned(time, &total.collect::<Vec<_>>()) },
    ];
    let range = time.first().copied().unwrap_or(0.0)..time.last().copied().unwrap_or(0.0);
    panel(&energy, "Energy (J)", range.clone(), &curves)?;
    let counts = |label, color, counts: &[u32]| {
        // Nothing has been counted at the start.
        let values: Vec<f64> = counts.iter().skip(1).map(|&n| n.into()).collect();
        [Curve { label, color, points: thinned(time.get(1..).unwrap_or_default(), &values) }]
    };
    panel(&contacts, "Contacts", range.clone(), &counts("contacts", GREEN, &recording.contacts))?;
    panel(&iterations, "Newton iterations", range, &counts("iterations", BLUE, &recording.iterations))?;
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    time: Range<f64>,
    curves: &[Curve],
) -> Result<(), Box<dyn Error>> {
    let end = if time.end > time.start { time.end } else { time.start + 1.0 };
    let mut chart = ChartBuilder::on(area)
        .margin(px(10))
        .margin_right(px(24))
        .caption(title, text(15, &TEXT))
        .x_label_area_size(px(34))
        .y_label_area_size(px(64))
        .build_cartesian_2d(time.start..end, extent(curves))?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(scale(1)))
        .axis_style(GRID.stroke_width(scale(1)))
        .set_all_tick_mark_size(px(6))
        .label_style(text(12, &TEXT))
        .x_desc("time (s)")
        .y_labels(6)
        .x_label_formatter(&tick)
        .y_label_formatter(&tick)
        .draw()?;
    for Curve { label, color, points } in curves {
        let style = color.stroke_width(scale(2));
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style))?
            .label(*label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + px(18), y)], style));
    }
    if curves.len() > 1 {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .legend_area_size(px(26))
            .label_font(text(12, &TEXT))
            .background_style(WHITE.mix(0.8))
            .draw()?;
    }
    Ok(())
}

/// A number of an axis: ticks are a few digits long, but for round-off.
fn tick(value: &f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    format!("{rounded}")
}

/// The least and greatest value, 0 included, with some air.
fn extent(curves: &[Curve]) -> Range<f64> {
    let values = || curves.iter().flat_map(|curve| &curve.points).map(|&(_, y)| y);
    let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let air = if high > low { 0.05 * (high - low) } else { 1.0 };
    (if low < 0.0 { low - air } else { 0.0 })..high + air
}

/// The finite points of a curve, or for long recordings the least and the greatest of every bucket of them.
fn thinned(time: &[f64], values: &[f64]) -> Vec<(f64, f64)> {
    let all: Vec<(f64, f64)> =
        time.iter().copied().zip(values.iter().copied()).filter(|(_, y)| y.is_finite()).collect();
    if all.len() <= MOST_POINTS {
        return all;
    }
    let buckets = all.chunks(all.len().div_ceil(MOST_POINTS / 2));
    buckets.flat_map(extremes).collect()
}

/// The least and the greatest point, in the order of time.
fn extremes(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let (least, greatest) = (points.iter().min_by(by_value), points.iter().max_by(by_value));
    let mut ends = [least, greatest];
    ends.sort_by(|a, b| a.map(|p| p.0).partial_cmp(&b.map(|p| p.0)).unwrap_or(Ordering::Equal));
    ends.into_iter().flatten().copied()
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
