//! The section MOTION.

use multibody::Warning;
use spatial::{Pose, Quat, Vec3};

use super::Options;
use super::hierarchy::{ChannelOf, Node};
use super::words::Words;
use crate::{JointValue, Posture, ReadError};

/// From here on a "Frame Time" is a number of frames per second: no recording has a frame every ten seconds, s.
const MIN_RATE: f64 = 10.0;

/// The times of the frames, s, and their rows.
pub(super) fn read(words: &mut Words, nodes: &[Node]) -> Result<(Vec<f64>, Vec<Vec<f64>>), ReadError> {
    words.keyword("MOTION")?;
    let at = words.keyword("Frames")?;
    let count = words.count("Frames")?;
    words.keyword("Frame")?;
    let time = words.keyword("Time")?;
    let step = words.number("Frame Time")?;
    if count == 0 {
        return Err(words.error(at.line, "Frames: 0: expected 1 or more"));
    }
    if step <= 0.0 {
        return Err(words.error(time.line, format!("Frame Time: {step} s: expected a number above 0")));
    }
    if step >= MIN_RATE {
        let message = format!(
            "Frame Time: {step} s: expected the seconds between frames; of {step} a second they are {}",
            1.0 / step
        );
        return Err(words.error(time.line, message));
    }
    let width: usize = nodes.iter().map(|n| n.channels.len()).sum();
    let mut rows = Vec::new();
    while let Some((line, row)) = words.row() {
        if rows.len() == count {
            return Err(
                words.error(line, format!("more rows than the {count} frames of line {}: expected no more", at.line))
            );
        }
        rows.push(
            numbers(&row, nodes, width)
                .map_err(|message| words.error(line, format!("frame {}: {message}", rows.len())))?,
        );
    }
    // A figure without channels has rows without numbers.
    if rows.len() < count && width > 0 {
        let message = format!(
            "Frames: {count}, but {} rows follow: expected as many; the file is cut in or before frame {0}",
            rows.len()
        );
        return Err(words.error(at.line, message));
    }
    let times = (0..rows.len()).map(|k| k as f64 * step).collect();
    Ok((times, rows))
}

/// The numbers of a row, or what is wrong with it, by joint and channel.
fn numbers(row: &[&str], nodes: &[Node], width: usize) -> Result<Vec<f64>, String> {
    if row.len() < width {
        return Err(format!(
            "{} numbers: expected {width}, one for each channel; it ends before {}",
            row.len(),
            channel(nodes, row.len())
        ));
    }
    if row.len() > width {
        return Err(format!("{} numbers: expected {width}, one for each channel of the hierarchy", row.len()));
    }
    let number = |(k, text): (usize, &&str)| {
        let value = text.parse::<f64>().ok().filter(|x| x.is_finite());
        value.ok_or_else(|| format!("{}: number {} is {text:?}: expected a finite number", channel(nodes, k), k + 1))
    };
    row.iter().enumerate().map(number).collect()
}

/// The joint and channel of number `k` of a row, such as `joint "Hips" Xposition`.
fn channel(nodes: &[Node], k: usize) -> String {
    let mut at = 0;
    for node in nodes {
        if let Some(channel) = node.channels.get(k - at) {
            return format!("joint {:?} {}", node.name, channel.name());
        }
        at += node.channels.len();
    }
    "its end".into()
}

/// The posture of a row, in our axes and metres.
pub(super) fn posture(nodes: &[Node], row: &[f64], options: &Options) -> Posture {
    let mut at = 0;
    let mut root = Pose::IDENTITY;
    let mut joints = Vec::with_capacity(nodes.len());
    for node in nodes {
        let numbers = &row[at..at + node.channels.len()];
        at += node.channels.len();
        let (position, rotation) = joint(node, numbers);
        let rotation = options.axes.rotation(rotation);
        if node.parent.is_none() {
            root = Pose::new(options.axes.vector(node.offset + position) * options.scale, rotation);
        } else {
            joints.push(JointValue::Rotation(rotation));
        }
    }
    Posture { root, joints }
}

/// What a joint's numbers say, in the file's axes: the sum of its position channels, the product of its rotations.
fn joint(node: &Node, numbers: &[f64]) -> (Vec3<f64>, Quat<f64>) {
    let mut position = Vec3::ZERO;
    let mut rotation = Quat::IDENTITY;
    for (channel, &number) in node.channels.iter().zip(numbers) {
        match *channel {
            ChannelOf::Position(k) => position = position.add_scaled(number, unit(k)),
            ChannelOf::Rotation(k) => rotation = rotation * Quat::from_axis_angle(unit(k), number.to_radians()),
        }
    }
    (position, rotation)
}

fn unit(k: usize) -> Vec3<f64> {
    let entry = |i| if i == k { 1.0 } else { 0.0 };
    Vec3::new(entry(0), entry(1), entry(2))
}

/// Joints other than the root whose position channels ask for something else than the offset: bones that stretch.
pub(super) fn warnings(nodes: &[Node], rows: &[Vec<f64>], file: &str) -> Vec<Warning> {
    let mut at = 0;
    let mut warnings = Vec::new();
    for node in nodes {
        let range = at..at + node.channels.len();
        at = range.end;
        let moves = node.channels.iter().any(|c| matches!(c, ChannelOf::Position(_)));
        if node.parent.is_none() || !moves {
            continue;
        }
        // Exporters write either the offset again or the departure from it.
        let departure = |row: &Vec<f64>| {
            let (position, _) = joint(node, &row[range.clone()]);
            position.norm().min((position - node.offset).norm())
        };
        let farthest = rows.iter().map(departure).fold(0.0, f64::max);
        if farthest > 1e-3 * node.offset.norm() {
            warnings.push(Warning {
                file: file.into(),
                line: u32::try_from(node.line).unwrap_or(u32::MAX),
                element: node.name.clone(),
                message: format!("its position channels move it by up to {farthest} units; bones keep their length"),
            });
        }
    }
    warnings
}
