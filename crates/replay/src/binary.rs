//! The binary blocks of a replay.

use std::io::{self, Write};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use spatial::Pose;

use crate::recording::Recording;

pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub fn gzip_base64(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(base64(&encoder.finish()?))
}

/// Poses (frames, nbody) without the world's as "f32-delta": channel by channel, differences of bit patterns of
/// successive frames, in byte planes.
pub fn poses(poses: &[Pose<f64>], frames: usize) -> Vec<u8> {
    let bodies = poses.len().checked_div(frames).unwrap_or(0);
    deltas(7 * bodies.saturating_sub(1), frames, |channel, frame| {
        numbers(&poses[frame * bodies + 1 + channel / 7])[channel % 7]
    })
}

/// Numbers (frames, channels) as "f32-delta".
pub fn deltas(channels: usize, frames: usize, number: impl Fn(usize, usize) -> f32) -> Vec<u8> {
    let mut differences = Vec::with_capacity(channels * frames);
    for channel in 0..channels {
        let mut previous = 0u32;
        for frame in 0..frames {
            let bits = number(channel, frame).to_bits();
            differences.push(bits.wrapping_sub(previous));
            previous = bits;
        }
    }
    (0..4).flat_map(|plane| differences.iter().map(move |d| (d >> (8 * plane)) as u8)).collect()
}

fn numbers(pose: &Pose<f64>) -> [f32; 7] {
    let (p, q) = (pose.pos, pose.rot);
    [p.x, p.y, p.z, q.w, q.x, q.y, q.z].map(|x| x as f32)
}

/// For each frame a u16 count, then six f32 for each contact: position, force. What a u16 cannot count is left out.
pub fn contacts(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = &recording.contact_points[..];
    for frame in 0..recording.even_frames {
        // Motions that were not simulated have no contacts.
        let count = recording.contacts.get(frame).copied().unwrap_or(0);
        let (frame, later) = rest.split_at(count as usize);
        rest = later;
        let shown = u16::try_from(count).unwrap_or(u16::MAX);
        bytes.extend(shown.to_le_bytes());
        for contact in &frame[..shown.into()] {
            let numbers = contact.position.iter().chain(&contact.force);
            bytes.extend(numbers.flat_map(|&x| (x as f32).to_le_bytes()));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use spatial::{Quat, Vec3};

    use super::*;

    #[test]
    fn poses_can_be_read_back() {
        let pose = |x: f64, w: f64| Pose { pos: Vec3::new(x, 2.0, 3.0), rot: Quat::new(w, 0.5, -0.25, 0.0) };
        let frames =
            [[pose(0.0, 1.0), pose(1.0, 0.25)], [pose(0.0, 1.0), pose(-1.5, 0.5)], [pose(0.0, 1.0), pose(7.0, 0.5)]];
        let bytes = poses(frames.as_flattened(), 3);
        assert_eq!(bytes.len(), 3 * 7 * 4);

        let n = bytes.len() / 4;
        let difference = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|plane| bytes[plane * n + i]));
        for channel in 0..7 {
            let mut bits = 0u32;
            for frame in 0..3 {
                bits = bits.wrapping_add(difference(3 * channel + frame));
                assert_eq!(f32::from_bits(bits), numbers(&frames[frame][1])[channel]);
            }
        }
    }

    #[test]
    fn no_frames_and_no_bodies_are_no_bytes() {
        assert!(poses(&[], 0).is_empty());
        assert!(poses(&[Pose::IDENTITY; 4], 4).is_empty());
    }
}
