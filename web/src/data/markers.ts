/** Markers and texts that a program drew beside the model; `docs/replay-format.md` defines them. */

import { float32, gunzipBase64 } from "./binary";
import { array, integer, number, numbers, object, string, type JsonObject } from "./check";
import { ReplayError } from "./error";
import { MARKER_STRIDE, type Label } from "./replay";

interface Markers {
  readonly markers: Float32Array<ArrayBuffer>;
  readonly labels: Label[];
}

export async function decodeMarkers(file: JsonObject, frames: number): Promise<Markers> {
  const labels = array(file["labels"] ?? [], "labels").map((one, i) => decodeLabel(one, `labels[${i}]`, frames));
  if (file["markers"] === undefined) return { markers: new Float32Array(0), labels };
  const markers = float32(await gunzipBase64(file["markers"], "markers"), "markers");
  if (markers.length % MARKER_STRIDE !== 0) {
    throw new ReplayError("markers", `holds ${markers.length} numbers, which is not a multiple of ${MARKER_STRIDE}`);
  }
  const bad = markers.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new ReplayError("markers", `not a finite number in marker ${Math.floor(bad / MARKER_STRIDE)}`);
  return { markers, labels };
}

function decodeLabel(value: unknown, where: string, frames: number): Label {
  const file = object(value, where);
  const height = number(file["height"], `${where}.height`);
  if (!(height > 0)) throw new ReplayError(`${where}.height`, `expected a length in metres above 0, found ${height}`);
  const [first, end] = numbers(file["frames"], `${where}.frames`, 2);
  return {
    text: string(file["text"], `${where}.text`),
    position: numbers(file["pos"], `${where}.pos`, 3),
    height,
    rgba: numbers(file["rgba"], `${where}.rgba`, 4),
    first: integer(first, `${where}.frames[0]`, 0, frames),
    end: integer(end, `${where}.frames[1]`, 0, frames),
  };
}
