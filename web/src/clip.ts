import { Quaternion, Vector3 } from "three";
import { POSE_STRIDE, type Replay } from "./data/replay";
import { frameAt } from "./frame";

/** Poses of bodies at any time of a replay, interpolated between its frames. */
export class Clip {
  readonly duration: number;
  private readonly stride: number;
  private readonly next = new Quaternion();

  constructor(readonly replay: Replay) {
    this.duration = (replay.frames - 1) * replay.frameTime;
    this.stride = (replay.bodies.length - 1) * POSE_STRIDE;
  }

  /** The last frame at or before `time`. */
  frameAt(time: number): number {
    return frameAt(time, this.replay.frameTime, this.replay.frames);
  }

  /** Writes the pose of `body` at `time` seconds. The world (body 0) stays at the origin. */
  pose(body: number, time: number, position: Vector3, orientation: Quaternion): void {
    if (body === 0) {
      position.set(0, 0, 0);
      orientation.identity();
      return;
    }
    const frame = this.frameAt(time);
    const part = Math.min(Math.max(time / this.replay.frameTime - frame, 0), 1);
    const here = frame * this.stride + (body - 1) * POSE_STRIDE;
    this.read(here, position, orientation);
    if (part < 1e-4 || frame + 1 >= this.replay.frames) return;

    const { poses } = this.replay;
    const there = here + this.stride;
    position.x += part * (poses[there]! - position.x);
    position.y += part * (poses[there + 1]! - position.y);
    position.z += part * (poses[there + 2]! - position.z);
    this.next.set(poses[there + 4]!, poses[there + 5]!, poses[there + 6]!, poses[there + 3]!).normalize();
    orientation.slerp(this.next, part); // the short way round, whatever the signs of the two
  }

  private read(at: number, position: Vector3, orientation: Quaternion): void {
    const { poses } = this.replay;
    position.set(poses[at]!, poses[at + 1]!, poses[at + 2]!);
    orientation.set(poses[at + 4]!, poses[at + 5]!, poses[at + 6]!, poses[at + 3]!).normalize();
  }
}
