//! Curves over time, panel below panel, as SVG; and the canvas that other pictures are drawn on.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

/// plotters puts points on whole pixels: pictures are drawn this many times as large and shown at their size.
pub const SCALE: u32 = 4;
/// Titles, and what stands out.
pub const DARK: RGBColor = RGBColor(31, 41, 55);
/// Other text.
pub const TEXT: RGBColor = RGBColor(60, 64, 72);
/// Grids.
pub const GRID: RGBColor = RGBColor(228, 231, 236);
/// Curves, first of all.
pub const BLUE: RGBColor = RGBColor(37, 99, 191);
/// Curves.
pub const ORANGE: RGBColor = RGBColor(217, 119, 6);
/// Curves.
pub const GREEN: RGBColor = RGBColor(15, 138, 108);
/// Curves.
pub const VIOLET: RGBColor = RGBColor(124, 58, 237);
/// Curves.
pub const RED: RGBColor = RGBColor(190, 40, 50);

/// The width of pictures of panels, pixels; the height of their title.
const WIDTH: i32 = 960;
const TITLE: i32 = 44;
/// About two points per pixel: more cannot be seen.
const MAX_POINTS: usize = 2000;

/// What drawing comes to.
pub type Drawn = Result<(), Box<dyn Error>>;

/// Where a picture, or a part of it, is drawn.
pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A curve of finite points, time (s) first.
pub struct Curve {
    /// Its name in the legend, which is drawn where there are several.
    pub label: String,
    /// Its colour.
    pub color: RGBColor,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// Curves with one vertical axis, which begins at zero or below.
pub struct Panel<'a> {
    /// What is drawn, with its unit.
    pub title: &'a str,
    /// Pixels.
    pub height: i32,
    /// The curves, those in front last.
    pub curves: Vec<Curve>,
}

/// A picture of panels below each other, all over the same `time` (s).
///
/// # Errors
/// When it cannot be drawn.
pub fn panels_svg(title: &str, time: Range<f64>, panels: &[Panel<'_>]) -> Result<String, String> {
    let height = TITLE + panels.iter().map(|panel| panel.height).sum::<i32>();
    picture(WIDTH, height, |root| {
        root.draw_text(title, &style(18, &DARK), (px(24), px(14)))?;
        let (_, mut below) = root.split_vertically(px(TITLE));
        for panel in panels {
            let (area, rest) = below.split_vertically(px(panel.height));
            draw_panel(&area, time.clone(), panel)?;
            below = rest;
        }
        Ok(())
    })
}

/// A picture of a size in pixels.
///
/// # Errors
/// When it cannot be drawn.
pub fn picture(width: i32, height: i32, draw: impl FnOnce(&Canvas<'_>) -> Drawn) -> Result<String, String> {
    let mut text = String::new();
    let size = (px(width) as u32, px(height) as u32);
    let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
    let drawn = root.fill(&WHITE).map_err(Into::into).and_then(|()| draw(&root));
    drawn.and_then(|()| Ok(root.present()?)).map_err(|error: Box<dyn Error>| error.to_string())?;
    drop(root);
    let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(text.replacen(&drawn, &format!("width=\"{width}\" height=\"{height}\""), 1))
}

/// A length in pixels as it is drawn.
pub fn px(length: i32) -> i32 {
    SCALE as i32 * length
}

/// Text of a size in pixels.
pub fn style(size: i32, color: &'static RGBColor) -> TextStyle<'static> {
    TextStyle::from(("system-ui, sans-serif", px(size)).into_font()).color(color)
}

fn draw_panel(area: &Canvas<'_>, time: Range<f64>, Panel { title, curves, .. }: &Panel<'_>) -> Drawn {
    let end = if time.end > time.start { time.end } else { time.start + 1.0 };
    let mut chart = ChartBuilder::on(area)
        .margin(px(10))
        .margin_right(px(24))
        .caption(title, style(14, &TEXT))
        .x_label_area_size(px(34))
        .y_label_area_size(px(64))
        .build_cartesian_2d(time.start..end, extent(curves))?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(SCALE))
        .axis_style(GRID.stroke_width(SCALE))
        .set_all_tick_mark_size(px(6))
        .label_style(style(12, &TEXT))
        .x_desc("time (s)")
        .y_labels(6)
        .x_label_formatter(&tick)
        .y_label_formatter(&tick)
        .draw()?;
    for Curve { label, color, points } in curves {
        let stroke = color.stroke_width(2 * SCALE);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), stroke))?
            .label(label.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + px(18), y)], stroke));
    }
    if curves.len() > 1 {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .legend_area_size(px(26))
            .label_font(style(12, &TEXT))
            .background_style(WHITE.mix(0.8))
            .draw()?;
    }
    Ok(())
}

/// A number of an axis: ticks are a few digits long, but for round-off.
fn tick(value: &f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

/// The least and greatest value, 0 included, with some air.
fn extent(curves: &[Curve]) -> Range<f64> {
    let values = || curves.iter().flat_map(|curve| &curve.points).map(|&(_, y)| y);
    let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let air = if high > low { 0.05 * (high - low) } else { 1.0 };
    (if low < 0.0 { low - air } else { 0.0 })..high + air
}

/// The finite points of a curve, or for long recordings the least and the greatest of every bucket of them.
pub fn thinned(time: &[f64], values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    let all: Vec<(f64, f64)> = time.iter().copied().zip(values).filter(|(_, y)| y.is_finite()).collect();
    if all.len() <= MAX_POINTS {
        return all;
    }
    let buckets = all.chunks(all.len().div_ceil(MAX_POINTS / 2));
    buckets.flat_map(extremes).collect()
}

/// The least and the greatest point, in the order of time.
fn extremes(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let mut ends = [points.iter().min_by(by_value), points.iter().max_by(by_value)].map(Option::<&_>::copied);
    ends.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    ends.into_iter().flatten()
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
        let points = thinned(&time, values);
        assert!(points.len() <= MAX_POINTS);
        assert!(points.contains(&(71_234.0, 9.0)) && points.contains(&(12_345.0, -3.0)));
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0));
    }
}
