/** Textures for the graphics processor, and the shader code that lays them on geoms. */

import {
  Color,
  CubeTexture,
  LinearMipmapLinearFilter,
  RepeatWrapping,
  SRGBColorSpace,
  Texture,
  type MeshStandardMaterial,
  type WebGLProgramParametersWithUniforms,
} from "three";
import { ReplayError } from "../data/error";
import type { Mapping, Replay } from "../data/replay";

const ANISOTROPY = 8;

/** The unpacked textures of a replay. */
export class TextureStore {
  private constructor(
    readonly list: readonly Texture[],
    /** The colour of the sky above the horizon, where the replay has a sky. */
    readonly horizon: Color | null,
  ) {}

  /** Whether texts over the sky must be light. */
  get skyIsDark(): boolean {
    return this.horizon !== null && this.horizon.getHSL({ h: 0, s: 0, l: 0 }, SRGBColorSpace).l < 0.55;
  }

  static async load(replay: Replay): Promise<TextureStore> {
    let horizon: Color | null = null;
    const unpack = async ({ kind, png }: Replay["textures"][number], i: number): Promise<Texture> => {
      const image = await createImageBitmap(new Blob([png], { type: "image/png" })).catch(() => {
        throw new ReplayError(`textures[${i}].png`, "is not a PNG picture");
      });
      if (i === replay.sky) horizon = meanOf(image, 0.4, 0.5);
      return finish(kind === "cube" ? await cube(image, `textures[${i}].png`) : flat(image));
    };
    return new TextureStore(await Promise.all(replay.textures.map(unpack)), horizon);
  }
}

function finish(texture: Texture): Texture {
  texture.colorSpace = SRGBColorSpace;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.anisotropy = ANISOTROPY;
  texture.flipY = false;
  texture.needsUpdate = true;
  return texture;
}

function flat(image: ImageBitmap): Texture {
  const texture = new Texture(image);
  texture.wrapS = texture.wrapT = RepeatWrapping;
  return texture;
}

async function cube(image: ImageBitmap, where: string): Promise<Texture> {
  const side = image.width;
  if (image.height !== 6 * side) throw new ReplayError(where, "expected six squares below each other");
  const sides = Array.from({ length: 6 }, (_, k) => createImageBitmap(image, 0, k * side, side, side));
  return new CubeTexture(await Promise.all(sides));
}

/** The mean colour of the rows between two heights of the last side of a cube, as shares of its height. */
function meanOf(image: ImageBitmap, from: number, to: number): Color {
  const side = image.width;
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext("2d")!;
  context.drawImage(image, 0, (5 + from) * side, side, Math.max((to - from) * side, 1), 0, 0, 1, 1);
  const [r, g, b] = context.getImageData(0, 0, 1, 1).data as unknown as [number, number, number];
  return new Color().setRGB(r / 255, g / 255, b / 255, SRGBColorSpace);
}

/** Multiplies the colour of a material by a texture. */
export function layOn(material: MeshStandardMaterial, texture: Texture, mapping: Mapping): void {
  material.customProgramCacheKey = () => `texture ${JSON.stringify(mapping)}`;
  material.onBeforeCompile = (shader) => addTexture(shader, texture, mapping);
}

function addTexture(shader: WebGLProgramParametersWithUniforms, texture: Texture, mapping: Mapping): void {
  shader.uniforms["look"] = { value: texture };
  const sampler = mapping.map === "cube" ? "samplerCube" : "sampler2D";
  const corners = mapping.map === "corners";
  shader.vertexShader = shader.vertexShader
    .replace(
      "#include <common>",
      `#include <common>
varying vec3 lookPoint;
varying vec3 lookNormal;
varying vec2 lookPlace;
${corners ? "attribute vec2 place;" : ""}`,
    )
    .replace(
      "#include <begin_vertex>",
      `#include <begin_vertex>
lookPoint = position;
lookNormal = normal;
lookPlace = ${corners ? "place" : "vec2(0.0)"};`,
    );
  shader.fragmentShader = shader.fragmentShader
    .replace(
      "#include <common>",
      `#include <common>
varying vec3 lookPoint;
varying vec3 lookNormal;
varying vec2 lookPlace;
uniform ${sampler} look;
${AROUND}`,
    )
    .replace(
      "#include <map_fragment>",
      `#include <map_fragment>
diffuseColor.rgb *= texture(look, ${placeIn(mapping)}).rgb;`,
    );
}

/** The place of a point in a texture, as an expression. */
function placeIn(mapping: Mapping): string {
  switch (mapping.map) {
    case "plane":
      return `${vector(mapping.scale)} * lookPoint.xy + ${vector(mapping.offset)}`;
    case "cube":
      return `${vector(mapping.scale)} * lookPoint`;
    case "corners":
      return `${vector(mapping.repeat)} * lookPlace`;
    case "sphere":
      return `${vector(mapping.repeat)} * around(lookPoint / ${vector(mapping.size)}, false)`;
    case "cylinder":
      return `${vector(mapping.repeat)} * around(lookPoint / ${vector(mapping.size)}, true)`;
    case "box":
      return `${vector(mapping.repeat)} * side(lookPoint / ${vector(mapping.size)}, lookNormal)`;
  }
}

function vector(numbers: readonly number[]): string {
  return `vec${numbers.length}(${numbers.map((x) => x.toExponential(9)).join(", ")})`;
}

/** Longitude and latitude (or height); a side of a box. The seam of the longitude must not look like a steep slope. */
const AROUND = /* glsl */ `
vec2 around(vec3 p, bool straight) {
  float a = atan(p.y, p.x) / 6.283185307;
  float b = fract(a);
  float u = fwidth(a) <= fwidth(b) + 1e-6 ? a : b;
  float v = straight ? 0.5 - 0.5 * p.z : acos(clamp(p.z / max(length(p), 1e-9), -1.0, 1.0)) / 3.141592654;
  return vec2(u, v);
}
vec2 side(vec3 p, vec3 n) {
  vec3 m = abs(n);
  vec2 at = m.z >= m.x && m.z >= m.y
    ? vec2(p.x, -p.y * sign(n.z))
    : m.x >= m.y ? vec2(p.y * sign(n.x), -p.z) : vec2(-p.x * sign(n.y), -p.z);
  return 0.5 + 0.5 * at;
}
`;
