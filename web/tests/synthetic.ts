/**
 * A made-up replay for tests and development: boxes that fall and bounce, a figure of capsules that walks on the spot,
 * and one geom of every type. The motion is kinematic; only the writing of it is what a simulation would do.
 */

import { Quaternion, Vector3 } from "three";
import { base64, contactBlock, f32, f32Delta, gzipBase64, type SyntheticContact } from "./encode.ts";
import { FIGURE, figurePoses } from "./figure.ts";

const GRAVITY = 9.81;
const GREY = [0.5, 0.5, 0.5, 1];

export interface SyntheticOptions {
  frames?: number;
  boxes?: number;
  encoding?: "f32" | "f32-delta";
}

interface Pose {
  position: Vector3;
  orientation: Quaternion;
}

/** The JSON object of a replay. */
export function syntheticReplay(options: SyntheticOptions = {}): Record<string, unknown> {
  const { frames = 300, boxes = 9, encoding = "f32-delta" } = options;
  const dt = 1 / 60;
  const bodies = ["world", ...FIGURE.map((part) => part.name), ...Array.from({ length: boxes }, (_, i) => `box_${i}`)];
  const parents = [-1, ...FIGURE.map((part) => part.parent), ...Array.from({ length: boxes }, () => 0)];

  const poses: number[] = [];
  const contacts: SyntheticContact[][] = [];
  const kinetic: number[] = [];
  const potential: number[] = [];
  for (let frame = 0; frame < frames; frame++) {
    const time = frame * dt;
    const figure = figurePoses(time);
    const fallen = Array.from({ length: boxes }, (_, i) => fallingBox(i, time));
    for (const { position, orientation } of [...figure.poses, ...fallen]) {
      poses.push(...position.toArray(), orientation.w, orientation.x, orientation.y, orientation.z);
    }
    contacts.push([...figure.contacts, ...fallen.flatMap(({ contacts }) => contacts)]);
    kinetic.push(fallen.reduce((sum, box) => sum + 0.5 * box.mass * box.velocity ** 2, 20 + 8 * Math.sin(6 * time)));
    potential.push(fallen.reduce((sum, box) => sum + box.mass * GRAVITY * box.position.z, 380));
  }

  return {
    format: 1,
    name: "synthetic",
    up: "z",
    dt_frame: dt,
    frames,
    bodies,
    parents,
    geoms: [
      ...scenery(),
      ...FIGURE.flatMap((part, i) => part.geoms.map((geom) => ({ body: i + 1, ...geom }))),
      ...boxGeoms(boxes),
    ],
    meshes: [pyramid(), hill()],
    encoding,
    poses: gzipBase64(encoding === "f32" ? f32(poses) : f32Delta(poses, frames)),
    contacts: gzipBase64(contactBlock(contacts)),
    series: {
      time: kinetic.map((_, frame) => frame * dt),
      kinetic,
      potential,
      contacts: contacts.map((list) => list.length),
      newton_iterations: contacts.map((list, frame) => (list.length === 0 ? 0 : 3 + ((frame * 7) % 4))),
    },
    summary: {
      model: "synthetic.xml",
      steps: frames * 4,
      timestep: 0.004,
      simulated_time: frames * dt,
      wall_time: 0.183,
      solver: { mean_iterations: 4.2, max_iterations: 11, failures: 0 },
      warnings: ["<tendon> is read but not simulated (line 41)"],
    },
  };
}

function boxSize(i: number): Vector3 {
  return new Vector3(0.16 + 0.03 * (i % 3), 0.16 + 0.02 * ((i + 1) % 3), 0.13 + 0.03 * ((i + 2) % 3));
}

/** A ballistic fall with bounces of restitution 0.35; the box turns until the first impact and lies flat after it. */
function fallingBox(i: number, time: number): Pose & { contacts: SyntheticContact[]; velocity: number; mass: number } {
  const half = boxSize(i);
  const mass = 8000 * half.x * half.y * half.z * 0.06;
  const angle = i * 2.399963; // the golden angle spreads them around the figure
  const ground = new Vector3(1.25 * Math.cos(angle) + 0.1 * i, 1.25 * Math.sin(angle), half.z);
  const drop = 0.8 + 0.35 * i;
  const firstImpact = Math.sqrt((2 * drop) / GRAVITY);

  let since = time;
  let speed = 0;
  let height = drop - 0.5 * GRAVITY * time * time;
  if (time > firstImpact) {
    since = time - firstImpact;
    speed = 0.35 * GRAVITY * firstImpact;
    while (speed > 0.02 && since > (2 * speed) / GRAVITY) {
      since -= (2 * speed) / GRAVITY;
      speed *= 0.35;
    }
    height = speed > 0.02 ? speed * since - 0.5 * GRAVITY * since * since : 0;
  }
  const flat = Math.max(0, 1 - time / firstImpact);
  const orientation = new Quaternion()
    .setFromAxisAngle(new Vector3(Math.cos(angle), Math.sin(2 * angle), 0.3).normalize(), 2.2 * flat)
    .multiply(new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), angle + 0.8 * Math.min(time, firstImpact)));
  const position = ground.setZ(half.z + Math.max(height, 0));

  const resting = time > firstImpact && height < 1e-3;
  const corners = resting
    ? [
        [1, 1],
        [1, -1],
        [-1, 1],
        [-1, -1],
      ]
    : [];
  const contacts = corners.map(([x, y]) => ({
    position: new Vector3(x! * half.x, y! * half.y, -half.z).applyQuaternion(orientation).add(position).toArray(),
    force: [0.02 * x!, 0.02 * y!, (mass * GRAVITY) / 4],
  }));
  return {
    position,
    orientation,
    contacts,
    mass,
    velocity: resting ? 0 : GRAVITY * Math.min(since, firstImpact) - speed,
  };
}

function boxGeoms(boxes: number): Record<string, unknown>[] {
  return Array.from({ length: boxes }, (_, i) => ({
    body: FIGURE.length + 1 + i,
    type: "box",
    size: boxSize(i).toArray(),
    pos: [0, 0, 0],
    quat: [1, 0, 0, 0],
    rgba: i === 4 ? [0.25, 0.55, 0.85, 0.4] : GREY,
    mesh: null,
    name: `box_${i}_geom`,
  }));
}

/** Geoms that stand still: the ground, a mesh, a height field, the remaining primitives, and one that is hidden. */
function scenery(): Record<string, unknown>[] {
  const still = (type: string, size: number[], pos: number[], rgba = GREY, mesh: number | null = null) => ({
    body: 0,
    type,
    size,
    pos,
    quat: [1, 0, 0, 0],
    rgba,
    mesh,
    name: `${type}_still`,
  });
  return [
    still("plane", [0, 0], [0, 0, 0], [0.8, 0.9, 0.8, 1]),
    still("mesh", [], [-1.9, 1.5, 0], GREY, 0),
    still("hfield", [], [1.4, 2.6, 0], [0.45, 0.55, 0.4, 1], 1),
    still("cylinder", [0.18, 0.3], [-2, 0.4, 0.3]),
    still("ellipsoid", [0.34, 0.22, 0.16], [-2.1, -0.6, 0.16], [0.7, 0.35, 0.3, 1]),
    still("sphere", [0.5], [0, 0, 3], [1, 0, 0, 0]),
  ];
}

function pyramid(): Record<string, unknown> {
  const vertices = [-0.35, -0.35, 0, 0.35, -0.35, 0, 0.35, 0.35, 0, -0.35, 0.35, 0, 0, 0, 0.7];
  const triangles = [0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 0, 2, 1, 0, 3, 2];
  return {
    vertices: base64(f32(vertices)),
    triangles: base64(new Uint8Array(new Uint16Array(triangles).buffer)),
    index_bits: 16,
  };
}

function hill(): Record<string, unknown> {
  const n = 24;
  const vertices: number[] = [];
  const triangles: number[] = [];
  for (let row = 0; row <= n; row++) {
    for (let column = 0; column <= n; column++) {
      const [x, y] = [(2 * column) / n - 1, (2 * row) / n - 1];
      const rim = Math.max(0, 1 - x * x) * Math.max(0, 1 - y * y);
      vertices.push(1.2 * x, 0.9 * y, rim * (0.28 + 0.07 * Math.sin(7 * x) * Math.cos(6 * y)));
      if (row === n || column === n) continue;
      const corner = row * (n + 1) + column;
      triangles.push(corner, corner + 1, corner + n + 2, corner, corner + n + 2, corner + n + 1);
    }
  }
  return {
    vertices: base64(f32(vertices)),
    triangles: base64(new Uint8Array(new Uint32Array(triangles).buffer)),
    index_bits: 32,
  };
}
