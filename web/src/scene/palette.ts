/** Colours for geoms that the model left at the default grey. */

import { Color } from "three";
import type { Geom, Replay } from "../data/replay";

/** MuJoCo's default geom colour: the author of the model chose none. */
const DEFAULT_GREY = [0.5, 0.5, 0.5];
const STONE = "#9aa0a6";

/** One per tree: calm, far enough apart in hue, and of like lightness, so that none stands out. */
const TREES = [
  "#d9a566", // sapwood
  "#6f93b8", // slate blue
  "#7fa886", // sage
  "#c9775f", // terracotta
  "#9a83b5", // heather
  "#4f9a9c", // teal
  "#d3b44f", // straw
  "#b8788f", // rose
  "#8a8f57", // olive
  "#7d87c7", // periwinkle
] as const;

export function usesDefaultGrey(geom: Geom): boolean {
  return DEFAULT_GREY.every((value, i) => Math.abs(geom.rgba[i]! - value) < 1e-3);
}

/** A colour per body: the hue tells its tree, small steps of lightness tell it from its parent. */
export function bodyColours(replay: Replay): Color[] {
  const parents = replay.parents ?? replay.bodies.map(() => 0);
  const trees: number[] = [];
  const depths: number[] = [];
  let count = 0;
  return parents.map((parent, body) => {
    if (body === 0) {
      trees.push(-1);
      depths.push(0);
      return new Color(STONE);
    }
    trees.push(parent === 0 ? count++ : trees[parent]!);
    depths.push(parent === 0 ? 0 : depths[parent]! + 1);
    const step = [0, 0.035, -0.03, 0.015][depths[body]! % 4]!;
    return new Color(TREES[trees[body]! % TREES.length]).offsetHSL(0, 0, step);
  });
}
