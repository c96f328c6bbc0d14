/** The two encodings of the pose stream; `docs/replay-format.md` defines them. */

import { float32 } from "./binary";
import { oneOf } from "./check";
import { ReplayError } from "./error";
import { POSE_STRIDE } from "./replay";

const ENCODINGS = ["f32", "f32-delta"] as const;

/** Decodes to frame-major f32: for each frame, for each of `bodies` moving bodies, px py pz qw qx qy qz. */
export function decodePoses(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: unknown,
  frames: number,
  bodies: readonly string[],
): Float32Array<ArrayBuffer> {
  const channels = (bodies.length - 1) * POSE_STRIDE;
  const expected = frames * channels * 4;
  if (bytes.length !== expected) {
    throw new ReplayError(
      "poses",
      `expected ${expected} bytes (${frames} frames × ${bodies.length - 1} bodies × 28), found ${bytes.length}`,
    );
  }
  const chosen = oneOf(encoding, "encoding", ENCODINGS);
  const poses = chosen === "f32" ? float32(bytes, "poses") : fromDelta(bytes, frames, channels);
  checkFinite(poses, bodies);
  return poses;
}

/**
 * Inverts "f32-delta": the bit patterns channel by channel, each replaced by its wrapping difference from the frame
 * before, then split into four planes of bytes, least significant first. Lossless; it makes smooth motion gzip well.
 */
export function fromDelta(bytes: Uint8Array, frames: number, channels: number): Float32Array<ArrayBuffer> {
  const count = frames * channels;
  const bits = new Uint32Array(count);
  for (let channel = 0, from = 0; channel < channels; channel++) {
    let value = 0;
    for (let to = channel; to < count; to += channels, from++) {
      const low = bytes[from]! | (bytes[count + from]! << 8);
      const high = bytes[2 * count + from]! | (bytes[3 * count + from]! << 8);
      value = (value + (low | (high << 16))) >>> 0;
      bits[to] = value;
    }
  }
  return new Float32Array(bits.buffer);
}

function checkFinite(poses: Float32Array, bodies: readonly string[]): void {
  const bad = poses.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return;
  const moving = bodies.length - 1;
  const pose = Math.floor(bad / POSE_STRIDE);
  const name = bodies[(pose % moving) + 1];
  throw new ReplayError("poses", `not a finite number in frame ${Math.floor(pose / moving)}, body "${name}"`);
}
