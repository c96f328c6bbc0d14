//! `error.svg`: how far from its place everything is, over time.

use std::error::Error as StdError;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::{Error, Tracking};

const SIZE: (u32, u32) = (960, 640);
/// plotters puts points on whole pixels: the picture is drawn this many times as large and shown at its size.
const SCALE: u32 = 4;
const FONT: &str = "system-ui, sans-serif";
const DARK: RGBColor = RGBColor(31, 41, 55);
const TEXT: RGBColor = RGBColor(60, 64, 72);
const GRID: RGBColor = RGBColor(228, 231, 236);
const PALETTE: [RGBColor; 6] = [
    RGBColor(37, 99, 191),
    RGBColor(217, 119, 6),
    RGBColor(15, 138, 108),
    RGBColor(124, 58, 237),
    RGBColor(190, 40, 50),
    RGBColor(94, 190, 150),
];
/// More points are not to be told apart: of so many steps each shows its greatest.
const MAX_POINTS: usize = 1500;
/// More curves are not to be told apart either: those with the greatest errors are drawn.
const MAX_CURVES: usize = 6;

type Drawn = Result<(), Box<dyn StdError>>;

struct Curve {
    label: String,
    color: RGBColor,
    points: Vec<(f64, f64)>,
}

/// The picture: distances of bodies from their places above, of the joints from their angles below.
///
/// # Errors
/// When it cannot be drawn.
pub fn errors_svg(title: &str, tracking: &Tracking) -> Result<String, Error> {
    let mut text = String::new();
    draw(title, tracking, &mut text).map_err(|error| Error::Picture(error.to_string()))?;
    let drawn = format!("width=\"{}\" height=\"{}\"", SCALE * SIZE.0, SCALE * SIZE.1);
    Ok(text.replacen(&drawn, &format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1), 1))
}

fn px(length: i32) -> i32 {
    SCALE as i32 * length
}

fn style(size: i32, color: &'static RGBColor) -> TextStyle<'static> {
    TextStyle::from((FONT, px(size)).into_font()).color(color)
}

fn draw(title: &str, tracking: &Tracking, svg: &mut String) -> Drawn {
    let root = SVGBackend::with_string(svg, (SCALE * SIZE.0, SCALE * SIZE.1)).into_drawing_area();
    root.fill(&WHITE)?;
    root.draw_text(title, &style(18, &DARK), (px(24), px(14)))?;
    let (_, below) = root.split_vertically(px(44));
    let (places, angles) = below.split_vertically(px(360));
    let n = tracking.effectors.len();
    let mut worst: Vec<usize> = (0..n).collect();
    worst.sort_by(|a, b| tracking.effector_rms(*b).total_cmp(&tracking.effector_rms(*a)));
    worst.truncate(MAX_CURVES - 1);
    let mut curves: Vec<Curve> = Vec::new();
    for (k, &effector) in worst.iter().enumerate() {
        let values = tracking.effector_errors.iter().skip(effector).step_by(n).map(|x| 1e3 * x);
        let points = thinned(&tracking.time, values);
        curves.push(Curve { label: tracking.effectors[effector].clone(), color: PALETTE[k], points });
    }
    let own = thinned(&tracking.time, tracking.root_error.iter().map(|x| 1e3 * x));
    curves.push(Curve { label: "root, in the world".into(), color: DARK, points: own });
    panel(&places, "Distance from the reference, seen from the root (mm)", &tracking.time, &curves)?;
    let degrees = thinned(&tracking.time, tracking.joint_error.iter().map(|x| x.to_degrees()));
    let joints = Curve { label: "joints".into(), color: PALETTE[0], points: degrees };
    panel(&angles, "Joints, root mean square (degrees)", &tracking.time, &[joints])?;
    root.present()?;
    Ok(())
}

fn panel(area: &DrawingArea<SVGBackend<'_>, Shift>, title: &str, time: &[f64], curves: &[Curve]) -> Drawn {
    let end = time.last().copied().filter(|end| *end > 0.0).unwrap_or(1.0);
    let most = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max);
    let top = if most > 0.0 { 1.08 * most } else { 1.0 };
    let mut chart = ChartBuilder::on(area)
        .margin(px(10))
        .margin_right(px(24))
        .caption(title, style(14, &TEXT))
        .x_label_area_size(px(34))
        .y_label_area_size(px(64))
        .build_cartesian_2d(0.0..end, 0.0..top)?;
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

/// The points of a curve, or for long runs the greatest of every bucket of them.
fn thinned(time: &[f64], values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    let all: Vec<(f64, f64)> = time.iter().copied().zip(values).filter(|(_, y)| y.is_finite()).collect();
    let bucket = all.len().div_ceil(MAX_POINTS).max(1);
    let greatest = |points: &[(f64, f64)]| points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    all.chunks(bucket).filter_map(greatest).collect()
}
