/** Spatial tendons: what their strings run through; `docs/replay-format.md` defines them. */

import { gunzipBase64 } from "./binary";
import { array, integer, number, numbers, object, string, type JsonObject } from "./check";
import { ReplayError } from "./error";
import { fromDelta } from "./poses";
import type { StringPoint, TendonString } from "./replay";

interface Strings {
  readonly strings: TendonString[];
  readonly stringPoints: Float32Array<ArrayBuffer>;
}

export async function decodeStrings(file: JsonObject, frames: number, bodies: number): Promise<Strings> {
  const strings = array(file["strings"] ?? [], "strings").map((one, i) => decodeString(one, `strings[${i}]`, bodies));
  const free = strings.reduce((sum, { points }) => sum + points.filter((point) => point === null).length, 0);
  if (free === 0) return { strings, stringPoints: new Float32Array(0) };
  const bytes = await gunzipBase64(file["string_points"], "string_points");
  const expected = 12 * free * frames;
  if (bytes.length !== expected) {
    throw new ReplayError(
      "string_points",
      `expected ${expected} bytes (${frames} frames × ${free} points × 12), found ${bytes.length}`,
    );
  }
  const stringPoints = fromDelta(bytes, frames, 3 * free);
  const bad = stringPoints.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new ReplayError("string_points", `not a finite number in frame ${Math.floor(bad / (3 * free))}`);
  return { strings, stringPoints };
}

function decodeString(value: unknown, where: string, bodies: number): TendonString {
  const file = object(value, where);
  const radius = number(file["radius"], `${where}.radius`);
  if (!(radius > 0)) throw new ReplayError(`${where}.radius`, `expected a length in metres above 0, found ${radius}`);
  return {
    name: string(file["name"] ?? "", `${where}.name`),
    rgba: numbers(file["rgba"], `${where}.rgba`, 4),
    radius,
    group: integer(file["group"] ?? 0, `${where}.group`, 0, Number.MAX_SAFE_INTEGER),
    points: array(file["points"], `${where}.points`).map((point, i) => decodePoint(point, `${where}.points[${i}]`, bodies)),
  };
}

function decodePoint(value: unknown, where: string, bodies: number): StringPoint | null {
  if (value === null) return null;
  const point = object(value, where);
  return {
    body: integer(point["body"], `${where}.body`, 0, bodies - 1),
    position: numbers(point["pos"], `${where}.pos`, 3),
  };
}
