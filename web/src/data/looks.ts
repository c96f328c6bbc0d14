/** Textures, how they lie on geoms, and the paints of meshes. */

import { base64, float32, uint32 } from "./binary";
import { array, integer, numbers, object, oneOf, type JsonObject } from "./check";
import { ReplayError } from "./error";
import type { GeomTexture, Mapping, Mesh, Paint, Texture } from "./replay";

export function decodeTextures(value: unknown): Texture[] {
  return array(value ?? [], "textures").map((item, i) => {
    const texture = object(item, `textures[${i}]`);
    return {
      kind: oneOf(texture["kind"], `textures[${i}].kind`, ["2d", "cube"]),
      png: base64(texture["png"], `textures[${i}].png`),
    };
  });
}

export function decodeGeomTexture(
  value: unknown,
  where: string,
  textures: readonly Texture[],
  mesh: Mesh | null,
): GeomTexture | null {
  if (value === undefined || value === null) return null;
  const look = object(value, where);
  const image = integer(look["image"], `${where}.image`, 0, textures.length - 1);
  const mapping = decodeMapping(look, where);
  if ((mapping.map === "cube") !== (textures[image]!.kind === "cube")) {
    throw new ReplayError(where, `the map "${mapping.map}" does not fit a texture of kind "${textures[image]!.kind}"`);
  }
  if (mapping.map === "corners" && (mesh === null || mesh.texcoords === null)) {
    throw new ReplayError(where, "expected a mesh with texcoords");
  }
  return { image, ...mapping };
}

function decodeMapping(look: JsonObject, where: string): Mapping {
  const list = (key: string, length: number): number[] => numbers(look[key], `${where}.${key}`, length);
  const map = oneOf(look["map"], `${where}.map`, ["plane", "cube", "sphere", "cylinder", "box", "corners"]);
  switch (map) {
    case "plane":
      return { map, scale: list("scale", 2), offset: list("offset", 2) };
    case "cube":
      return { map, scale: list("scale", 3) };
    case "corners":
      return { map, repeat: list("repeat", 2) };
    default:
      return { map, size: list("size", 3), repeat: list("repeat", 2) };
  }
}

export function decodeSurface(
  mesh: JsonObject,
  where: string,
  triangles: number,
  textures: readonly Texture[],
): Pick<Mesh, "texcoords" | "paints" | "paintOf"> {
  const block = (key: string): Uint8Array<ArrayBuffer> | null =>
    mesh[key] === undefined ? null : base64(mesh[key], `${where}.${key}`);
  const places = block("texcoords");
  const texcoords = places && float32(places, `${where}.texcoords`);
  if (texcoords !== null && texcoords.length !== 6 * triangles) {
    throw new ReplayError(`${where}.texcoords`, `expected ${6 * triangles} numbers, found ${texcoords.length}`);
  }
  const paints = array(mesh["paints"] ?? [], `${where}.paints`).map((item, i): Paint => {
    const paint = object(item, `${where}.paints[${i}]`);
    const image = paint["image"] ?? null;
    return {
      rgb: numbers(paint["rgb"], `${where}.paints[${i}].rgb`, 3),
      image: image === null ? null : integer(image, `${where}.paints[${i}].image`, 0, textures.length - 1),
    };
  });
  const indices = block("paint_of");
  const paintOf = indices && uint32(indices, `${where}.paint_of`);
  if (paintOf !== null && (paintOf.length !== triangles || paintOf.some((paint) => paint >= paints.length))) {
    throw new ReplayError(`${where}.paint_of`, `expected ${triangles} indices below ${paints.length}`);
  }
  return { texcoords, paints, paintOf };
}
