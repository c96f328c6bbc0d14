/** Soft bodies: surfaces, and where their nodes are in each frame; `docs/replay-format.md` defines them. */

import { base64, gunzipBase64, uint16, uint32 } from "./binary";
import { array, integer, number, numbers, object, oneOf, string, type JsonObject } from "./check";
import { ReplayError } from "./error";
import { fromDelta } from "./poses";
import type { SoftBody, SoftStress } from "./replay";

interface Soft {
  readonly soft: SoftBody[];
  readonly softPositions: Float32Array<ArrayBuffer>;
  readonly softStress: SoftStress | null;
}

export async function decodeSoft(file: JsonObject, frames: number): Promise<Soft> {
  const soft = array(file["soft"] ?? [], "soft").map((body, i) => decodeBody(body, `soft[${i}]`));
  if (soft.length === 0) return { soft, softPositions: new Float32Array(0), softStress: null };
  const nodes = soft.reduce((sum, body) => sum + body.nodes, 0);
  const bytes = await gunzipBase64(file["soft_positions"], "soft_positions");
  const expected = 12 * nodes * frames;
  if (bytes.length !== expected) {
    throw new ReplayError(
      "soft_positions",
      `expected ${expected} bytes (${frames} frames × ${nodes} nodes × 12), found ${bytes.length}`,
    );
  }
  const softPositions = fromDelta(bytes, frames, 3 * nodes);
  const bad = softPositions.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new ReplayError("soft_positions", `not a finite number in frame ${Math.floor(bad / (3 * nodes))}`);
  return { soft, softPositions, softStress: await decodeStress(file["soft_stress"], frames, nodes) };
}

async function decodeStress(value: unknown, frames: number, nodes: number): Promise<SoftStress | null> {
  if (value === undefined || value === null) return null;
  const stress = object(value, "soft_stress");
  const most = number(stress["most"], "soft_stress.most");
  if (!(most > 0)) throw new ReplayError("soft_stress.most", `expected a positive stress in Pa, found ${most}`);
  const values = await gunzipBase64(stress["values"], "soft_stress.values");
  if (values.length !== frames * nodes) {
    throw new ReplayError(
      "soft_stress.values",
      `expected ${frames * nodes} bytes (${frames} frames × ${nodes} nodes), found ${values.length}`,
    );
  }
  return { most, values };
}

function decodeBody(value: unknown, where: string): SoftBody {
  const body = object(value, where);
  const nodes = integer(body["nodes"], `${where}.nodes`, 1, Number.MAX_SAFE_INTEGER);
  const bytes = base64(body["triangles"], `${where}.triangles`);
  const wide = oneOf(body["index_bits"], `${where}.index_bits`, [16, 32]) === 32;
  const triangles = wide ? uint32(bytes, `${where}.triangles`) : uint16(bytes, `${where}.triangles`);
  if (triangles.length % 3 !== 0) throw new ReplayError(`${where}.triangles`, "expected three indices per triangle");
  const bad = (triangles as Uint32Array).findIndex((index) => index >= nodes);
  if (bad >= 0) throw new ReplayError(`${where}.triangles`, `node ${triangles[bad]} does not exist, there are ${nodes}`);
  return {
    name: string(body["name"] ?? "", `${where}.name`),
    rgba: numbers(body["rgba"], `${where}.rgba`, 4),
    nodes,
    triangles,
  };
}
