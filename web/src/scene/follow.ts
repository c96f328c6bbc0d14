import { Quaternion, Vector3 } from "three";
import type { Clip } from "../clip";

/** Half the time over which the path of a body is averaged, in seconds. */
const WINDOW = 0.2;
const SAMPLES = 9;

/**
 * A smooth path for a camera that goes along with a body: the mean of its positions shortly before and after. It
 * depends on the time alone, so scrubbing and playing show the same.
 */
export function smoothPosition(clip: Clip, body: number, time: number, out: Vector3): Vector3 {
  out.set(0, 0, 0);
  for (let i = 0; i < SAMPLES; i++) {
    const at = time + WINDOW * ((2 * i) / (SAMPLES - 1) - 1);
    clip.pose(body, Math.min(Math.max(at, 0), clip.duration), position, orientation);
    out.add(position);
  }
  return out.divideScalar(SAMPLES);
}

const position = new Vector3();
const orientation = new Quaternion();
