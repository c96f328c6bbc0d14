import { Quaternion, Vector3 } from "three";
import { describe, expect, test } from "vitest";
import { Clip } from "../src/clip";
import type { Replay } from "../src/data/replay";

const HALF = Math.SQRT1_2;

/** A body that moves 2 m along x and turns by 90° about z in a frame of 0.5 s; `sign` flips the second quaternion. */
function clip(sign: 1 | -1): Clip {
  const poses = Float32Array.of(0, 0, 1, 1, 0, 0, 0, 2, 0, 1, sign * HALF, 0, 0, sign * HALF);
  const replay: Replay = {
    name: "",
    frameTime: 0.5,
    frames: 2,
    bodies: ["world", "body"],
    parents: null,
    geoms: [],
    meshes: [],
    soft: [],
    softPositions: new Float32Array(0),
    softStress: null,
    strings: [],
    stringPoints: new Float32Array(0),
    markers: new Float32Array(0),
    labels: [],
    textures: [],
    sky: null,
    poses,
    contacts: { offsets: new Uint32Array(3), values: new Float32Array() },
    series: {},
    summary: {},
  };
  return new Clip(replay);
}

function pose(of: Clip, body: number, time: number): { position: Vector3; orientation: Quaternion } {
  const [position, orientation] = [new Vector3(), new Quaternion()];
  of.pose(body, time, position, orientation);
  return { position, orientation };
}

describe("poses between frames", () => {
  test.each([1, -1] as const)("turn the short way round, whatever the sign of the quaternion (%i)", (sign) => {
    const { position, orientation } = pose(clip(sign), 1, 0.125);
    expect(position.toArray()).toEqual([0.5, 0, 1]);
    const quarter = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), Math.PI / 8);
    expect(orientation.angleTo(quarter)).toBeLessThan(1e-6);
  });

  test("are exact at frames and stop at both ends", () => {
    expect(pose(clip(1), 1, 0.5).position.x).toBe(2);
    expect(pose(clip(1), 1, 9).position.x).toBe(2);
    expect(pose(clip(1), 1, -1).position.x).toBe(0);
  });

  test("leave the world where it is", () => {
    expect(pose(clip(1), 0, 0.3)).toEqual({ position: new Vector3(), orientation: new Quaternion() });
  });
});
