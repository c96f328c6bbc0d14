//! How far a run has come, on standard error: a bar on terminals, a line now and then elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console;

/// Time between two pictures of the progress bar, s: few enough for a terminal over SSH.
const PICTURE: f64 = 0.1;
/// Time between two lines where there is no terminal, s, unless less than a hundredth was done meanwhile; then up to the second of these.
const LINES: [f64; 2] = [5.0, 60.0];
/// Over about this long the speed of the past is forgotten: longer than a fall into contact takes, s.
const MEMORY: f64 = 15.0;
/// The remaining time that is shown follows the estimate in about this long, s.
const FOLLOWING: f64 = 1.0;
/// No estimate earlier than this, s.
const FIRST_ESTIMATE: f64 = 1.0;

/// Says how far a run has come, until it is dropped.
#[derive(Debug)]
pub struct Progress {
    shown: Shown,
    steps: u64,
    timestep: f64,
    start: Instant,
    /// Next time at which something is shown, s from the start.
    next: f64,
    /// The part that was done when the last line was written.
    last_part: f64,
    last_line: f64,
    pace: Pace,
}

#[derive(Debug)]
enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines,
}

impl Progress {
    /// Of a run of so many steps.
    pub fn new(steps: u64, timestep: f64, is_quiet: bool) -> Self {
        let shown = match (is_quiet, stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(bar(steps)),
            (false, false) => Shown::Lines,
        };
        let next = if matches!(shown, Shown::Lines) { LINES[0] } else { PICTURE };
        let (start, pace) = (Instant::now(), Pace::default());
        Self { shown, steps, timestep, start, next, last_part: 0.0, last_line: 0.0, pace }
    }

    /// After each step; looks at the clock, and seldom does more.
    pub fn after_step(&mut self, step: u64) {
        if matches!(self.shown, Shown::Nothing) {
            return;
        }
        let now = self.start.elapsed().as_secs_f64();
        if now < self.next {
            return;
        }
        self.pace.note(now, step as f64, (self.steps - step) as f64);
        self.next = now + PICTURE;
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_position(step);
                bar.set_message(self.text(step));
            }
            Shown::Lines => {
                let part = step as f64 / self.steps as f64;
                let waited = now - self.last_line;
                if waited >= LINES[1] || (waited >= LINES[0] && part >= self.last_part + 0.01) {
                    (self.last_line, self.last_part) = (now, part);
                    console::print_beside(&format!("{:.0} %  {}\n", 100.0 * part, self.text(step)));
                }
            }
        }
    }

    /// `2.10 of 5 s  3.4 × real time  12 s left`.
    fn text(&self, step: u64) -> String {
        let (time, end) = (step as f64 * self.timestep, self.steps as f64 * self.timestep);
        let end = (end * 1e3).round() / 1e3;
        let mut text = format!("{time:.2} of {end} s");
        let Some(rate) = self.pace.rate() else { return text };
        text += &format!("  {} × real time", digits(rate * self.timestep));
        if let Some(left) = self.pace.left() {
            text += &format!("  {} left", duration(left));
        }
        text
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {wide_msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
    ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr()).with_style(style)
}

/// How fast steps are made, and how long the rest takes: means that forget slowly, so that neither jumps.
#[derive(Debug, Default)]
struct Pace {
    /// Wall-clock time, s, and steps until then.
    last: (f64, f64),
    /// Sums of time and of steps in which the past counts less and less.
    time: f64,
    steps: f64,
    /// When the run will end, s from the start. A time of day stays where it is while the speed does.
    end: Option<f64>,
}

impl Pace {
    /// Notes at a time `now`, s from the start, how many steps were made and how many remain.
    fn note(&mut self, now: f64, made: f64, remaining: f64) {
        let (elapsed, new) = (now - self.last.0, made - self.last.1);
        self.last = (now, made);
        let kept = (-elapsed / MEMORY).exp();
        self.time = kept * self.time + elapsed;
        self.steps = kept * self.steps + new;
        let Some(rate) = self.rate() else { return };
        let left = remaining / rate;
        // Towards the end there is no time left to follow slowly.
        let follows = 1.0 - (-elapsed / FOLLOWING.min(0.5 * left).max(1e-3)).exp();
        self.end = Some(self.end.map_or(now + left, |end| end + follows * (now + left - end)));
    }

    /// Steps per second.
    fn rate(&self) -> Option<f64> {
        (self.last.0 >= FIRST_ESTIMATE && self.steps > 0.0).then(|| self.steps / self.time)
    }

    /// Remaining time, s.
    fn left(&self) -> Option<f64> {
        self.end.map(|end| (end - self.last.0).max(0.0))
    }
}

/// Two significant digits, or all before the point.
fn digits(x: f64) -> String {
    let decimals = if x > 0.0 { (1.0 - x.log10().floor()).clamp(0.0, 6.0) } else { 0.0 };
    format!("{x:.*}", decimals as usize)
}

/// A time that people read: whole seconds, then 5 s steps, then minutes, hours, days.
fn duration(seconds: f64) -> String {
    let seconds = Duration::try_from_secs_f64(seconds.ceil()).map_or(u64::MAX, |duration| duration.as_secs());
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=599 => format!("{minutes} min {} s", (seconds % 60).div_ceil(5).min(11) * 5),
        600..=3599 => format!("{minutes} min"),
        3600..=172_799 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} days", hours / 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes ten times a second, until `total` steps are made at these speeds; the remaining times that are shown.
    fn shown(speeds: impl Fn(f64) -> f64, total: f64) -> Vec<f64> {
        let (mut pace, mut made, mut shown) = (Pace::default(), 0.0, Vec::new());
        for tick in 1.. {
            made += 0.1 * speeds(f64::from(tick));
            if made >= total {
                return shown;
            }
            pace.note(0.1 * f64::from(tick), made, total - made);
            shown.extend(pace.left());
        }
        unreachable!()
    }

    #[test]
    fn a_steady_run_counts_down() {
        let left = shown(|_| 100.0, 3000.0);
        assert!((left[0] - 29.0).abs() < 0.2, "{}", left[0]);
        for pair in left.windows(2) {
            assert!((pair[0] - pair[1] - 0.1).abs() < 1e-6, "{pair:?}");
        }
    }

    /// Every second tick takes no time at all: a mean of the last ticks would jump between 0 and twice the truth.
    #[test]
    fn uneven_steps_do_not_make_it_jump() {
        let left = shown(|tick| if (tick / 5.0) as i64 % 2 == 0 { 190.0 } else { 10.0 }, 6000.0);
        for pair in left[100..].windows(2) {
            assert!((pair[0] - pair[1] - 0.1).abs() < 0.5, "{pair:?}");
        }
    }

    #[test]
    fn it_follows_when_steps_become_slower() {
        // In the air for 10 s, then in contact at a quarter of the speed: 80 s in all.
        let left = shown(|tick| if tick < 100.0 { 100.0 } else { 25.0 }, 2750.0);
        assert!((left[95] - 17.5).abs() < 1.0, "{}", left[95]);
        // A minute later the estimate is that of the new speed.
        let at = 590;
        assert!((left[at] - (80.0 - 60.0)).abs() < 2.0, "{}", left[at]);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0123, 0.5, 3.44, 41.7, 1234.0].map(digits), ["0.012", "0.50", "3.4", "42", "1234"]);
        let times = [0.2, 59.0, 61.0, 118.0, 1250.0, 7300.0, 1e6, f64::INFINITY];
        let expected =
            ["1 s", "59 s", "1 min 5 s", "1 min 55 s", "20 min", "2 h 1 min", "11 days", "213503982334601 days"];
        assert_eq!(times.map(duration), expected);
    }
}
