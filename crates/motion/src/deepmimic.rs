//! The text format of DeepMimic's motions.
//!
//! JSON with `"Loop"` (`"wrap"` or `"none"`) and `"Frames"`, rows of 44 numbers: seconds until the next frame, root
//! position in metres, root rotation, then the joints of [`JOINTS`], four numbers (w x y z) for a ball and one for a
//! hinge. Its axes are y up, x forwards, z to the right ([`Axes::YUpXForward`]); knees and elbows turn about z, so a
//! knee bends by negative angles and an elbow by positive ones. As in DeepMimic, the last row is the clip's end, which
//! in a loop stands for the same instant as the first, and its duration is not used.

use std::collections::BTreeMap;
use std::path::Path;

use multibody::Warning;
use serde::Deserialize;
use serde::de::IgnoredAny;
use spatial::{Pose, Quat, Vec3};

use crate::error::read_text;
use crate::{Axes, Channel, ChannelKind, Clip, JointValue, LoopMode, Posture, ReadError};

/// The joints of DeepMimic's humanoid in the order of the file, and whether each is a hinge.
pub const JOINTS: [(&str, bool); 12] = [
    ("chest", false),
    ("neck", false),
    ("right_hip", false),
    ("right_knee", true),
    ("right_ankle", false),
    ("right_shoulder", false),
    ("right_elbow", true),
    ("left_hip", false),
    ("left_knee", true),
    ("left_ankle", false),
    ("left_shoulder", false),
    ("left_elbow", true),
];

/// Numbers of a row: duration, root position and rotation, eight balls and four hinges.
const ROW: usize = 1 + 3 + 4 + 8 * 4 + 4;

/// Quaternions of published clips have norms down to 0.58, as they were mixed component by component; they are scaled
/// to 1. Below this there is no direction left to trust.
const MIN_NORM: f64 = 0.1;

const AXES: Axes = Axes::YUpXForward;

#[derive(Deserialize)]
struct File {
    #[serde(rename = "Loop")]
    loop_mode: String,
    #[serde(rename = "Frames")]
    frames: Vec<Vec<f64>>,
}

/// A clip with what its file says and the reader does not use.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The clip.
    pub clip: Clip,
    /// Keys that were ignored.
    pub warnings: Vec<Warning>,
}

/// From here on a duration is no number of seconds: no clip has a posture every ten seconds, but of milliseconds there are.
const MAX_DURATION: f64 = 10.0;
/// Heights that the root of a person has lying and standing, m.
const LOW: f64 = 0.1;
const HIGH: f64 = 0.5;

/// Reads a file of this format; the clip is named after the file.
///
/// # Errors
/// As [`parse`], or when the file cannot be read.
pub fn load(path: &Path) -> Result<Loaded, ReadError> {
    let (text, file) = read_text(path, "DeepMimic motion")?;
    parse(&text, &file)
}

/// Reads text of this format; `file` names it in messages.
///
/// # Errors
/// When the text is not JSON of this form, a row has other than 44 numbers, a duration other than of the last row is
/// not above 0 or is none of seconds, a quaternion is close to zero, or z is up instead of y.
pub fn parse(text: &str, file: &str) -> Result<Loaded, ReadError> {
    let json = |e: serde_json::Error| {
        let at = place_of_fault(text).map(|place| format!("{place}: ")).unwrap_or_default();
        ReadError::new(file, e.line(), format!("{at}{e}: expected {{\"Loop\": …, \"Frames\": [[44 numbers], …]}}"))
    };
    let parsed: File = serde_json::from_str(text).map_err(json)?;
    let keys: BTreeMap<String, IgnoredAny> = serde_json::from_str(text).map_err(json)?;
    let loop_mode = match parsed.loop_mode.as_str() {
        "wrap" => LoopMode::Wrap,
        "none" => LoopMode::Clamp,
        other => {
            let message = format!("Loop {other:?}: expected \"wrap\" or \"none\"");
            return Err(ReadError::new(file, line_of(text, "\"Loop\""), message));
        }
    };
    let (times, frames) = rows(&parsed.frames).map_err(|(frame, message)| {
        ReadError::new(file, frame_line(text, frame), format!("frame {frame}: {message}"))
    })?;
    let name = Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let clip =
        Clip::new(&name, channels(), times, frames, loop_mode).map_err(|e| ReadError::new(file, 0, e.to_string()))?;
    let unused = keys.into_keys().filter(|key| key != "Loop" && key != "Frames");
    let warnings = unused.map(|key| Warning {
        file: file.into(),
        line: u32::try_from(line_of(text, &format!("\"{key}\""))).unwrap_or(u32::MAX),
        message: "is not used by this reader".into(),
        element: key,
    });
    Ok(Loaded { clip, warnings: warnings.collect() })
}

fn channels() -> Vec<Channel> {
    let axis = AXES.vector(Vec3::new(0.0, 0.0, 1.0));
    let kind = |hinge| if hinge { ChannelKind::Hinge { axis } } else { ChannelKind::Ball };
    JOINTS.iter().map(|&(name, hinge)| Channel { name: name.into(), kind: kind(hinge) }).collect()
}

/// Times and postures of all rows, or the row at fault and what is wrong with it.
fn rows(rows: &[Vec<f64>]) -> Result<(Vec<f64>, Vec<Posture>), (usize, String)> {
    let mut time = 0.0;
    let mut times = Vec::with_capacity(rows.len());
    let mut frames = Vec::with_capacity(rows.len());
    for (k, row) in rows.iter().enumerate() {
        frames.push(posture(row).map_err(|message| (k, message))?);
        times.push(time);
        let last = k + 1 == rows.len();
        if !last && row[0] <= 0.0 {
            return Err((k, format!("duration {} s: expected a number above 0", row[0])));
        }
        if !last && row[0] >= MAX_DURATION {
            let message =
                format!("duration {} s: expected the seconds until the next frame, below {MAX_DURATION}", row[0]);
            return Err((k, message));
        }
        time += row[0];
    }
    upright(rows)?;
    Ok((times, frames))
}

/// Refuses a motion whose root is on the ground by its y and above it by its z all the time, which another program has written with z up.
fn upright(rows: &[Vec<f64>]) -> Result<(), (usize, String)> {
    let is_turned = |row: &Vec<f64>| row[2].abs() < LOW && row[3] > HIGH;
    match rows.first() {
        Some(first) if rows.iter().all(is_turned) => {
            let message = format!("joint \"root\": it is at y = {} m, z = {} m: expected y up", first[2], first[3]);
            Err((0, message))
        }
        _ => Ok(()),
    }
}

fn posture(row: &[f64]) -> Result<Posture, String> {
    if row.len() != ROW {
        let end = if row.len() < ROW { format!(": it ends at {}", part(row.len())) } else { String::new() };
        return Err(format!("{} numbers: expected {ROW}{end}", row.len()));
    }
    let root = Pose::new(AXES.vector(Vec3::new(row[1], row[2], row[3])), rotation(&row[4..8], "root")?);
    let mut at = 8;
    let mut joints = Vec::with_capacity(JOINTS.len());
    for (name, hinge) in JOINTS {
        let width = if hinge { 1 } else { 4 };
        let numbers = &row[at..at + width];
        joints.push(if hinge { JointValue::Angle(numbers[0]) } else { JointValue::Rotation(rotation(numbers, name)?) });
        at += width;
    }
    Ok(Posture { root, joints })
}

fn rotation(numbers: &[f64], joint: &str) -> Result<Quat<f64>, String> {
    let q = Quat::new(numbers[0], numbers[1], numbers[2], numbers[3]);
    let norm = numbers.iter().map(|x| x * x).sum::<f64>().sqrt();
    let unit = q.normalized().filter(|_| norm >= MIN_NORM);
    let unit = unit.ok_or_else(|| format!("{joint}: quaternion {numbers:?} of norm {norm:.3}: expected norm 1"))?;
    Ok(AXES.rotation(unit))
}

/// What number `k` of a row belongs to.
fn part(k: usize) -> String {
    let mut end = 8;
    match k {
        0 => return "the duration".into(),
        1..4 => return "the root's position".into(),
        4..8 => return "the root's rotation".into(),
        _ => {}
    }
    for (name, hinge) in JOINTS {
        end += if hinge { 1 } else { 4 };
        if k < end {
            return format!("joint {name:?}");
        }
    }
    "the end of the row".into()
}

/// Where rows of text that is no JSON stop being numbers: at NaN or Infinity, at null, or where the file is cut. `None` where it is
/// not within the rows.
fn place_of_fault(text: &str) -> Option<String> {
    let start = text.find("\"Frames\"")?;
    let mut rows = text[start..].split('[').skip(2).enumerate().peekable();
    while let Some((frame, row)) = rows.next() {
        let row = match row.split_once(']') {
            Some((row, _)) => row,
            None if rows.peek().is_none() => {
                let whole = row.matches(',').count();
                return Some(format!("frame {frame}: the file is cut at {}", part(whole)));
            }
            None => row,
        };
        let is_number = |number: &&str| number.trim().parse::<f64>().is_ok_and(f64::is_finite);
        if let Some((k, number)) = row.split(',').enumerate().find(|(_, number)| !is_number(number)) {
            return Some(format!("frame {frame}: {}: {:?} is no finite number", part(k), number.trim()));
        }
    }
    None
}

/// The line, from 1, of the first place where `what` stands; 0 if nowhere.
fn line_of(text: &str, what: &str) -> usize {
    text.find(what).map_or(0, |at| line_at(text, at))
}

fn line_at(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count()
}

/// The line where row `frame` opens, in text that is known to be JSON of this form; 0 if it cannot be found.
fn frame_line(text: &str, frame: usize) -> usize {
    let Some(start) = text.find("\"Frames\"") else { return 0 };
    let opening = text[start..].match_indices('[').nth(frame + 1);
    opening.map_or(0, |(at, _)| line_at(text, start + at))
}
