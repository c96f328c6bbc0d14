import { base64, float32, gunzipBase64, uint16, uint32 } from "./binary";
import { array, integer, number, numbers, object, oneOf, string, type JsonObject } from "./check";
import { decodeContacts } from "./contacts";
import { ReplayError } from "./error";
import { decodeMarkers } from "./markers";
import { decodePoses } from "./poses";
import { decodeSoft } from "./soft";
import { decodeStrings } from "./strings";
import { decodeGeomTexture, decodeSurface, decodeTextures } from "./looks";
import { GEOM_TYPES, SERIES, SIZE_LENGTH, type Geom, type Mesh, type Replay, type Series, type Texture } from "./replay";

const FORMAT = 1;
/** Sanity bounds: beyond them the file is broken rather than big. */
const MAX_FRAMES = 1_000_000;

/** Checks and unpacks the JSON of a replay. Rejects with a `ReplayError` that names the place of the first fault. */
export async function decodeReplay(json: unknown): Promise<Replay> {
  const file = object(json, "replay");
  if (file["format"] !== FORMAT) {
    throw new ReplayError("format", `this page reads format ${FORMAT}, the file has ${JSON.stringify(file["format"])}`);
  }
  oneOf(file["up"], "up", ["z"]);
  const frames = integer(file["frames"], "frames", 1, MAX_FRAMES);
  const frameTime = number(file["dt_frame"], "dt_frame");
  if (frameTime <= 0) throw new ReplayError("dt_frame", `expected a positive time in seconds, found ${frameTime}`);

  const bodies = array(file["bodies"], "bodies").map((body, i) => string(body, `bodies[${i}]`));
  if (bodies.length === 0) throw new ReplayError("bodies", "expected at least the world");
  const textures = decodeTextures(file["textures"]);
  const meshes = array(file["meshes"], "meshes").map((mesh, i) => decodeMesh(mesh, `meshes[${i}]`, textures));
  const geoms = array(file["geoms"], "geoms").map((geom, i) =>
    decodeGeom(geom, `geoms[${i}]`, bodies.length, meshes, textures),
  );

  return {
    name: string(file["name"], "name"),
    frameTime,
    frames,
    bodies,
    parents: decodeParents(file["parents"], bodies.length),
    geoms,
    meshes,
    textures,
    sky: decodeSky(file["sky"], textures),
    poses: decodePoses(await gunzipBase64(file["poses"], "poses"), file["encoding"], frames, bodies),
    contacts: decodeContacts(await gunzipBase64(file["contacts"], "contacts"), frames),
    ...(await decodeSoft(file, frames)),
    ...(await decodeStrings(file, frames, bodies.length)),
    ...(await decodeMarkers(file, frames)),
    series: decodeSeries(object(file["series"] ?? {}, "series"), frames),
    summary: object(file["summary"] ?? {}, "summary"),
  };
}

function decodeParents(value: unknown, bodies: number): number[] | null {
  if (value === undefined || value === null) return null;
  const parents = array(value, "parents");
  if (parents.length !== bodies) {
    throw new ReplayError("parents", `expected ${bodies} indices, one per body, found ${parents.length}`);
  }
  // A parent comes before its children, so walks towards the world end.
  return parents.map((parent, i) => integer(parent, `parents[${i}]`, i === 0 ? -1 : 0, i - 1));
}

function decodeSky(value: unknown, textures: readonly Texture[]): number | null {
  if (value === undefined || value === null) return null;
  const sky = integer(value, "sky", 0, textures.length - 1);
  oneOf(textures[sky]!.kind, `textures[${sky}].kind`, ["cube"]);
  return sky;
}

function decodeGeom(
  value: unknown,
  where: string,
  bodies: number,
  meshes: readonly Mesh[],
  textures: readonly Texture[],
): Geom {
  const geom = object(value, where);
  const type = oneOf(geom["type"], `${where}.type`, GEOM_TYPES);
  const usesMesh = type === "mesh" || type === "hfield";
  const quaternion = numbers(geom["quat"], `${where}.quat`, 4);
  const norm = Math.hypot(...quaternion);
  if (norm === 0) throw new ReplayError(`${where}.quat`, "expected a unit quaternion, found zero");
  const mesh = usesMesh ? integer(geom["mesh"], `${where}.mesh`, 0, meshes.length - 1) : null;
  return {
    name: string(geom["name"] ?? "", `${where}.name`),
    body: integer(geom["body"], `${where}.body`, 0, bodies - 1),
    type,
    size: usesMesh ? [] : decodeSize(geom["size"], `${where}.size`, SIZE_LENGTH[type]),
    position: numbers(geom["pos"], `${where}.pos`, 3),
    quaternion: quaternion.map((component) => component / norm),
    rgba: numbers(geom["rgba"], `${where}.rgba`, 4),
    group: integer(geom["group"] ?? 0, `${where}.group`, 0, Number.MAX_SAFE_INTEGER),
    mesh,
    texture: decodeGeomTexture(geom["texture"], `${where}.texture`, textures, mesh === null ? null : meshes[mesh]!),
    painted: geom["painted"] === true && mesh !== null && meshes[mesh]!.paintOf !== null,
  };
}

function decodeSize(value: unknown, where: string, length: number): number[] {
  const size = numbers(value, where, length);
  const bad = size.findIndex((length) => length < 0);
  if (bad >= 0) throw new ReplayError(`${where}[${bad}]`, `expected a length in metres, found ${size[bad]}`);
  return size;
}

function decodeMesh(value: unknown, where: string, textures: readonly Texture[]): Mesh {
  const mesh = object(value, where);
  const vertices = float32(base64(mesh["vertices"], `${where}.vertices`), `${where}.vertices`);
  const bytes = base64(mesh["triangles"], `${where}.triangles`);
  const wide = oneOf(mesh["index_bits"], `${where}.index_bits`, [16, 32]) === 32;
  const triangles = wide ? uint32(bytes, `${where}.triangles`) : uint16(bytes, `${where}.triangles`);
  if (vertices.length % 3 !== 0) throw new ReplayError(`${where}.vertices`, "expected three numbers per vertex");
  if (triangles.length % 3 !== 0) throw new ReplayError(`${where}.triangles`, "expected three indices per triangle");
  const count = vertices.length / 3;
  const bad = (triangles as Uint32Array).findIndex((index) => index >= count);
  if (bad >= 0) {
    throw new ReplayError(`${where}.triangles`, `vertex ${triangles[bad]} does not exist, there are ${count}`);
  }
  return { vertices, triangles, ...decodeSurface(mesh, where, triangles.length / 3, textures) };
}

function decodeSeries(file: JsonObject, frames: number): Series {
  const series: Series = {};
  for (const name of SERIES) {
    if (file[name] === undefined) continue;
    const where = `series.${name}`;
    const values = array(file[name], where);
    if (values.length !== frames) {
      throw new ReplayError(where, `expected ${frames} values, one per frame, found ${values.length}`);
    }
    series[name] = Float64Array.from(values, (value, i) => (value === null ? NaN : number(value, `${where}[${i}]`)));
  }
  return series;
}
