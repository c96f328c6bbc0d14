/** A figure of capsules that walks on the spot. */

import { Quaternion, Vector3 } from "three";
import type { SyntheticContact } from "./encode.ts";

interface Part {
  name: string;
  /** Index into the bodies of the replay, in which the world is 0. */
  parent: number;
  /** Joint position in the parent, in metres. */
  at: Vector3;
  /** Angle about the y axis of the parent, in radians, as a function of the phase of the gait. */
  swing: (phase: number) => number;
  geoms: Record<string, unknown>[];
}

const SKIN = [0.5, 0.5, 0.5, 1];
const rest = (): number => 0;

function capsule(radius: number, from: number[], to: number[]): Record<string, unknown> {
  const [a, b] = [new Vector3().fromArray(from), new Vector3().fromArray(to)];
  const axis = b.clone().sub(a);
  const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), axis.clone().normalize());
  return {
    type: "capsule",
    size: [radius, axis.length() / 2],
    pos: a.add(b).multiplyScalar(0.5).toArray(),
    quat: [turn.w, turn.x, turn.y, turn.z],
    rgba: SKIN,
    mesh: null,
    name: "",
  };
}

function sphere(radius: number, pos: number[]): Record<string, unknown> {
  return { type: "sphere", size: [radius], pos, quat: [1, 0, 0, 0], rgba: SKIN, mesh: null, name: "" };
}

/** Thigh, shin, upper arm and forearm of one side, at half a gait from the other. */
function limbs(side: "left" | "right", first: number): Part[] {
  const y = side === "left" ? 1 : -1;
  const lag = side === "left" ? 0 : Math.PI;
  return [
    {
      name: `${side}_thigh`,
      parent: 1,
      at: new Vector3(0, 0.1 * y, -0.08),
      swing: (phase) => -0.15 - 0.45 * Math.sin(phase + lag),
      geoms: [capsule(0.06, [0, 0, 0], [0, 0.01 * y, -0.38])],
    },
    {
      name: `${side}_shin`,
      parent: first,
      at: new Vector3(0, 0.01 * y, -0.42),
      swing: (phase) => 0.35 + 0.35 * Math.cos(phase + lag),
      geoms: [capsule(0.048, [0, 0, 0], [0, 0, -0.34]), capsule(0.035, [-0.05, 0, -0.4], [0.14, 0, -0.4])],
    },
    {
      name: `${side}_upper_arm`,
      parent: 2,
      at: new Vector3(0, 0.21 * y, 0.3),
      swing: (phase) => 0.5 * Math.sin(phase + lag),
      geoms: [capsule(0.042, [0, 0, 0], [0, 0.05 * y, -0.26])],
    },
    {
      name: `${side}_forearm`,
      parent: first + 2,
      at: new Vector3(0, 0.05 * y, -0.28),
      swing: (phase) => -0.7 + 0.3 * Math.sin(phase + lag),
      geoms: [capsule(0.034, [0, 0, 0], [0, 0, -0.22]), sphere(0.045, [0, 0, -0.27])],
    },
  ];
}

export const FIGURE: readonly Part[] = [
  {
    name: "pelvis",
    parent: 0,
    at: new Vector3(0, 0, 0.955),
    swing: rest,
    geoms: [capsule(0.09, [0, -0.07, 0], [0, 0.07, 0])],
  },
  {
    name: "torso",
    parent: 1,
    at: new Vector3(0, 0, 0.1),
    swing: (phase) => 0.05 + 0.02 * Math.sin(2 * phase),
    geoms: [capsule(0.085, [0, -0.06, 0.06], [0, 0.06, 0.06]), capsule(0.09, [0, -0.1, 0.25], [0, 0.1, 0.25])],
  },
  {
    name: "head",
    parent: 2,
    at: new Vector3(0, 0, 0.4),
    swing: rest,
    geoms: [sphere(0.1, [0.01, 0, 0.1])],
  },
  ...limbs("left", 4),
  ...limbs("right", 8),
];

/** Poses of all parts in the world, and a contact under each foot that is down. */
export function figurePoses(time: number): {
  poses: { position: Vector3; orientation: Quaternion }[];
  contacts: SyntheticContact[];
} {
  const phase = 5 * time;
  const poses: { position: Vector3; orientation: Quaternion }[] = [];
  for (const part of FIGURE) {
    const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), part.swing(phase));
    const parent = poses[part.parent - 1];
    const position = part.at.clone();
    if (parent === undefined) {
      position.z += 0.015 * Math.cos(2 * phase);
      poses.push({ position, orientation: turn });
    } else {
      position.applyQuaternion(parent.orientation).add(parent.position);
      poses.push({ position, orientation: parent.orientation.clone().multiply(turn) });
    }
  }

  const contacts: SyntheticContact[] = [];
  for (const [i, part] of FIGURE.entries()) {
    if (!part.name.endsWith("shin")) continue;
    const { position, orientation } = poses[i]!;
    for (const x of [-0.05, 0.14]) {
      const sole = new Vector3(x, 0, -0.435).applyQuaternion(orientation).add(position);
      const load = 300 * Math.max(0, 1 - sole.z / 0.06);
      if (load > 0) contacts.push({ position: [sole.x, sole.y, 0], force: [0.15 * load * Math.sin(phase), 0, load] });
    }
  }
  return { poses, contacts };
}
