//! Pictures of the figures, as SVG.

use motion::tracking::line_plots::{
    BLUE, Canvas, DARK, Drawn, GREEN, GRID, ORANGE, RED, SCALE, TEXT, VIOLET, picture, px,
};
use motion::tracking::{Control, line_plots};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::accuracy::{Figure, RATES};
use crate::speed::{CONTROLS, Measured};
use crate::usable::Figure1;
use crate::{Error, Outcome, paper};

const PAPER: RGBColor = RGBColor(156, 163, 175);
/// DF, PCG, SF, MABA.
const METHODS: [RGBColor; 4] = [ORANGE, VIOLET, GREEN, BLUE];
const EXPLICIT: RGBColor = RED;

fn svg(name: &'static str, width: i32, height: i32, draw: impl FnOnce(&Canvas<'_>) -> Drawn) -> Result<String, Error> {
    picture(width, height, draw).map_err(|message| Error::Picture { name, message })
}

fn style(size: i32, color: &'static RGBColor, horizontal: HPos) -> TextStyle<'static> {
    line_plots::style(size, color).pos(Pos::new(horizontal, VPos::Center))
}

/// The paper's table 2 as bars: frames per second of every method, the paper's as lines across them.
///
/// # Errors
/// When it cannot be drawn.
pub fn frames_per_second(table: &[Measured]) -> Result<String, Error> {
    let height = 96 + 92 * table.len() as i32;
    svg("frames_per_second.svg", 960, height, |root| draw_bars(root, table))
}

fn draw_bars(root: &Canvas<'_>, table: &[Measured]) -> Drawn {
    let (left, width, top) = (190, 660, 72);
    let most = table.iter().flat_map(|row| &row.methods).map(|m| m.frames_per_second()).fold(1.0, f64::max);
    let reach = |rate: f64| left + (f64::from(width) * rate / most) as i32;
    let write = |text: &str, size, color, at: HPos, (x, y): (i32, i32)| -> Drawn {
        Ok(root.draw_text(text, &style(size, color, at), (px(x), px(y)))?)
    };
    write("Frames per second under Stable PD, one thread, ground contact on", 18, &DARK, HPos::Left, (24, 26))?;
    let note = "Black strokes: as printed in the paper (DF, PCG, SF, MABA; Xeon 6128, PhysX)";
    write(note, 12, &TEXT, HPos::Left, (24, 50))?;
    for (k, row) in table.iter().enumerate() {
        let y = top + 92 * k as i32;
        write(&row.name(), 14, &DARK, HPos::Left, (24, y + 42))?;
        let paper = paper::frames_per_second(row.character, &row.motion);
        let paper = paper.map(|p| [p.dense, p.pcg, p.sparse, p.maba].map(Some)).unwrap_or_default();
        for (m, method) in row.methods.iter().enumerate() {
            let (y, rate) = (y + 4 + 20 * m as i32, method.frames_per_second());
            let bar = [(px(left), px(y)), (px(reach(rate)), px(y + 13))];
            root.draw(&Rectangle::new(bar, METHODS[m].filled()))?;
            if let Some(printed) = paper[m] {
                let x = px(reach(printed));
                root.draw(&Rectangle::new([(x - 3, px(y - 1)), (x + 3, px(y + 14))], BLACK.filled()))?;
            }
            let text = format!("{} {rate:.0}", CONTROLS[m].title());
            let x = reach(rate.max(paper[m].unwrap_or(0.0))) + 5;
            write(&text, 10, &TEXT, HPos::Left, (x, y + 7))?;
        }
    }
    Ok(())
}

/// Errors against the time step on logarithmic axes. What diverged is a cross above the curves.
///
/// # Errors
/// When it cannot be drawn.
pub fn tracking_error(figure: &Figure) -> Result<String, Error> {
    let [dense, pcg, sparse, maba] = METHODS;
    // Wide ones first, so that curves that coincide show each other.
    let styles = [(maba, 9), (dense, 6), (sparse, 4), (pcg, 2), (EXPLICIT, 4)];
    let curves: Vec<Curve<'_>> = (figure.controls.iter().zip(&figure.outcomes).zip(styles))
        .map(|((control, outcomes), (color, width))| {
            // Explicit control above the others, which hide each other in the order of the curves.
            let above = if *control == Control::Explicit { 0.12 } else { 0.0 };
            Curve { label: control.title().into(), color, width, above, outcomes }
        })
        .collect();
    let title = format!("Tracking error, {}: {} seen from the root", figure.case, figure.effector);
    svg("tracking_error.svg", 820, 520, |root| draw_curves(root, &title, &curves))
}

/// The same of figures of several targets, a colour each.
///
/// # Errors
/// When it cannot be drawn.
pub fn targets(name: &str, figures: &[Figure]) -> Result<String, Error> {
    let colors = [METHODS[0], METHODS[3], METHODS[2]];
    let mut curves = Vec::new();
    for (k, (figure, color)) in figures.iter().zip(colors).enumerate() {
        for ((control, outcomes), width) in figure.controls.iter().zip(&figure.outcomes).zip([8, 4, 2]) {
            let label = format!("{}, {}", figure.target.name(), control.title());
            curves.push(Curve { label, color: shade(color, width), width, above: 0.1 * k as f64, outcomes });
        }
    }
    let title =
        figures.first().map(|figure| format!("{name}, {}: {} seen from the root", figure.case, figure.effector));
    svg("targets.svg", 880, 520, |root| draw_curves(root, &title.unwrap_or_default(), &curves))
}

/// Paler for wide curves, darker for narrow ones, so that both are seen where they coincide.
fn shade(color: RGBColor, width: u32) -> RGBColor {
    let mix = |x: u8| match width {
        8 => 255 - (255 - x) / 2,
        2 => x / 3,
        _ => x,
    };
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

/// The largest step of every method, on a logarithmic axis, and the characters that it allows in real time.
///
/// # Errors
/// When it cannot be drawn.
pub fn largest_steps(figure: &Figure1) -> Result<String, Error> {
    let height = 110 + 44 * figure.methods.len() as i32;
    svg("figure1.svg", 820, height, |root| draw_steps(root, figure))
}

fn draw_steps(root: &Canvas<'_>, figure: &Figure1) -> Drawn {
    let (left, width, top) = (130, 420, 84);
    let [low, high] = [-9.0, 0.0];
    let reach = |dt: f64| left + (f64::from(width) * (dt.log10() - low) / (high - low)).max(0.0) as i32;
    let write = |text: &str, size, color, at: HPos, (x, y): (i32, i32)| -> Drawn {
        Ok(root.draw_text(text, &style(size, color, at), (px(x), px(y)))?)
    };
    write(&format!("Largest time step that tracks, {}", figure.case), 18, &DARK, HPos::Left, (24, 26))?;
    let note = "No limb's end is lost, and characters in real time on one core; dark: no joint is off by 2 rad";
    write(note, 12, &TEXT, HPos::Left, (24, 50))?;
    let bottom = top + 44 * figure.methods.len() as i32;
    for decade in (-9..=0).step_by(3) {
        let x = px(reach(10_f64.powi(decade)));
        root.draw(&PathElement::new([(x, px(top - 8)), (x, px(bottom))], GRID.stroke_width(SCALE)))?;
        let label = ["1 ns", "1 µs", "1 ms", "1 s"][((decade + 9) / 3) as usize];
        write(label, 12, &TEXT, HPos::Center, (reach(10_f64.powi(decade)), bottom + 12))?;
    }
    for (k, method) in figure.methods.iter().enumerate() {
        let y = top + 44 * k as i32;
        let color = match method.control {
            Control::Explicit => EXPLICIT,
            Control::Unconditional => PAPER,
            Control::TwoPass(sim::stable_pd::Method::Dense, _) => METHODS[0],
            Control::TwoPass(..) => METHODS[2],
            Control::Embedded => METHODS[3],
        };
        write(method.control.title(), 14, &DARK, HPos::Right, (left - 10, y + 14))?;
        root.draw(&Rectangle::new([(px(left), px(y)), (px(reach(method.dt)), px(y + 28))], shade(color, 8).filled()))?;
        let joints = px(reach(method.dt_of_joints.min(method.dt)));
        root.draw(&Rectangle::new([(px(left), px(y)), (joints, px(y + 28))], color.filled()))?;
        let more = if method.is_bounded { "" } else { " and more" };
        let text = format!("{}{more}, {} characters", step_text(method.dt), significant(method.characters()));
        write(&text, 13, &TEXT, HPos::Left, (reach(method.dt) + 8, y + 14))?;
    }
    Ok(())
}

/// "1/28 s" or, of steps that are shorter, "45 ns".
pub fn step_text(dt: f64) -> String {
    if dt >= 1e-3 {
        format!("1/{:.0} s", 1.0 / dt)
    } else if dt >= 1e-6 {
        format!("{:.2} µs", 1e6 * dt)
    } else {
        format!("{:.1} ns", 1e9 * dt)
    }
}

/// Two significant digits, or all before the point.
pub fn significant(x: f64) -> String {
    let decimals = if x > 0.0 { (1.0 - x.log10().floor()).clamp(0.0, 9.0) } else { 0.0 };
    format!("{x:.*}", decimals as usize)
}

/// A curve of errors against the time step.
struct Curve<'a> {
    label: String,
    color: RGBColor,
    width: u32,
    /// Where crosses of what diverged lie above those of others, decades.
    above: f64,
    outcomes: &'a [Outcome],
}

fn draw_curves(root: &Canvas<'_>, title: &str, curves: &[Curve<'_>]) -> Drawn {
    let tracked = |outcome: &Outcome| if let Outcome::Tracked(error) = outcome { Some(error.log10()) } else { None };
    let errors = || curves.iter().flat_map(|curve| curve.outcomes).filter_map(tracked);
    let (low, high) = (errors().fold(0.0, f64::min).floor(), errors().fold(-2.0, f64::max));
    let high = high.max(low + 0.5);
    // Two rows above the curves for what diverged.
    let (lost, top) = (high + 0.35, high + 0.6);
    let xs = RATES.map(|rate| -rate.log10());
    let range = (xs[RATES.len() - 1] - 0.05)..(xs[0] + 0.05);
    let (_, below) = root.split_vertically(px(64));
    let mut chart = ChartBuilder::on(&below)
        .margin_right(px(190))
        .x_label_area_size(px(48))
        .y_label_area_size(px(78))
        .build_cartesian_2d(range.clone(), low..top)?;
    root.draw_text(title, &style(17, &DARK, HPos::Left), (px(24), px(24)))?;
    let note = "Root of the mean square of the distance from the reference; crosses: diverged";
    root.draw_text(note, &style(12, &TEXT, HPos::Left), (px(24), px(46)))?;

    let grid = GRID.stroke_width(SCALE);
    let place = |x, y| chart.plotting_area().map_coordinate(&(x, y));
    let (origin, corner) = (place(range.start, low), place(range.end, top));
    for (x, rate) in xs.iter().zip(RATES) {
        let (at, _) = place(*x, low);
        root.draw(&PathElement::new([(at, origin.1), (at, corner.1)], grid))?;
        // 1/240 and 1/300 are near each other.
        let shift = if rate == 240.0 {
            px(12)
        } else if rate == 300.0 {
            -px(12)
        } else {
            0
        };
        root.draw_text(&format!("1/{rate}"), &style(12, &TEXT, HPos::Center), (at + shift, origin.1 + px(14)))?;
    }
    let middle = (origin.0 + corner.0) / 2;
    root.draw_text("time step (s)", &style(13, &TEXT, HPos::Center), (middle, origin.1 + px(36)))?;
    let ticks = [1.0, 2.0, 5.0].map(|m: f64| m.log10());
    for decade in low as i32..=top as i32 {
        for tick in ticks.map(|t| f64::from(decade) + t).into_iter().filter(|y| (low..=high + 0.01).contains(y)) {
            let (_, at) = place(range.start, tick);
            root.draw(&PathElement::new([(origin.0, at), (corner.0, at)], grid))?;
            let label = format!("{} mm", (1e5 * 10_f64.powf(tick)).round() / 100.0);
            root.draw_text(&label, &style(12, &TEXT, HPos::Right), (origin.0 - px(8), at))?;
        }
    }
    for (k, Curve { label, color, width, above, outcomes }) in curves.iter().enumerate() {
        let stroke = color.stroke_width(width * SCALE / 2);
        let points: Vec<(f64, f64)> =
            xs.iter().zip(*outcomes).filter_map(|(x, outcome)| Some((*x, tracked(outcome)?))).collect();
        chart.draw_series(LineSeries::new(points.iter().copied(), stroke))?;
        let dot = |&point| Circle::new(point, px(2) + (width * SCALE / 3) as i32, color.filled());
        chart.draw_series(points.iter().map(dot))?;
        let crosses = xs.iter().zip(*outcomes).filter(|(_, outcome)| tracked(outcome).is_none());
        let cross = |(x, _): (&f64, _)| Cross::new((*x, lost + above), px(5), color.stroke_width(2 * SCALE));
        chart.draw_series(crosses.map(cross))?;
        let (x, y) = (corner.0 + px(16), px(84 + 22 * k as i32));
        root.draw(&PathElement::new([(x, y), (x + px(24), y)], stroke))?;
        root.draw_text(label, &style(13, &TEXT, HPos::Left), (x + px(32), y))?;
    }
    root.draw(&Rectangle::new([(origin.0, corner.1), (corner.0, origin.1)], PAPER.stroke_width(SCALE)))?;
    Ok(())
}
