/**
 * Colours of a scale, from pale yellow to dark red: `YlOrRd` of ColorBrewer, which the colour-blind can read. Pictures of the renderer have
 * the same (`crates/render/src/scale.rs`).
 */
export const SCALE = [
  "#ffffcc",
  "#ffeda0",
  "#fed976",
  "#feb24c",
  "#fd8d3c",
  "#fc4e2a",
  "#e31a1c",
  "#bd0026",
  "#800026",
] as const;

const CHANNELS = SCALE.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255));

/** Red, green, blue from 0 to 1 (sRGB) at a place from 0 to 1 of the scale. */
export function scaleColour(place: number): [number, number, number] {
  const at = Math.min(Math.max(place, 0), 1) * (SCALE.length - 1);
  const below = Math.min(Math.floor(at), SCALE.length - 2);
  const part = at - below;
  const mixed = CHANNELS[below]!.map((c, k) => c + part * (CHANNELS[below + 1]![k]! - c));
  return mixed as [number, number, number];
}
