import {
  Color,
  Mesh,
  MeshLambertMaterial,
  PlaneGeometry,
  Quaternion,
  Texture,
  Vector2,
  Vector3,
  type WebGLProgramParametersWithUniforms,
} from "three";
import type { Geom } from "../data/replay";
import type { SceneTheme } from "./theme";
import type { TextureStore } from "./textures";

/**
 * A level floor without end: a large quad that follows the camera target, with a checker pattern and grid lines
 * computed from world coordinates and filtered by screen-space derivatives. The fog hides its rim.
 */
export class Ground extends Mesh<PlaneGeometry, MeshLambertMaterial> {
  private readonly line = { value: new Color() };
  private readonly cell = { value: 1 };
  private readonly look: { readonly value: Texture } | null;
  /** A floor of the model with a colour and a texture of its own, which the theme leaves alone. */
  private readonly ownColour: Color | null;

  /**
   * @param height of the floor, in metres
   * @param cell side of a checker square, in metres
   * @param floor the geom that it stands for, whose texture takes the place of the pattern
   */
  constructor(
    height: number,
    cell: number,
    private readonly floor: Geom | null,
    textures: TextureStore,
  ) {
    const material = new MeshLambertMaterial({
      dithering: true,
      polygonOffset: true, // geoms that lie on the floor win
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
    });
    super(new PlaneGeometry(1, 1), material);
    this.cell.value = cell;
    this.position.z = height;
    this.receiveShadow = true;
    this.frustumCulled = false;
    const texture = floor?.texture?.map === "plane" ? floor.texture : null;
    this.look = texture === null ? null : { value: textures.list[texture.image]! };
    const [r, g, b] = (floor?.rgba ?? []) as [number, number, number];
    this.ownColour = texture === null ? null : new Color().setRGB(r, g, b, "srgb");
    material.onBeforeCompile = (shader) => this.addPattern(shader);
  }

  /** Keeps the quad under the camera target and beyond the fog. */
  follow(target: Vector3, reach: number): void {
    this.position.x = target.x;
    this.position.y = target.y;
    this.scale.set(2 * reach, 2 * reach, 1);
  }

  setTheme(theme: SceneTheme): void {
    this.material.color.set(this.ownColour ?? theme.ground);
    this.line.value.set(theme.line);
  }

  private addPattern(shader: WebGLProgramParametersWithUniforms): void {
    shader.uniforms["lineColour"] = this.line;
    shader.uniforms["cell"] = this.cell;
    if (this.look !== null) {
      shader.uniforms["look"] = this.look;
      Object.assign(shader.uniforms, placeOf(this.floor!));
    }
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec2 floorPoint;")
      .replace("#include <fog_vertex>", "#include <fog_vertex>\nfloorPoint = (modelMatrix * vec4(position, 1.0)).xy;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${this.look === null ? PATTERN : TEXTURE}`)
      .replace(
        "#include <color_fragment>",
        "#include <color_fragment>\ndiffuseColor.rgb = floorPattern(diffuseColor.rgb);",
      );
  }
}

/** From a point of the world to the place in the texture of a level plane. */
function placeOf(floor: Geom): Record<string, { value: Vector2 }> {
  const texture = floor.texture!;
  if (texture.map !== "plane") return {};
  const [w, x, y, z] = floor.quaternion as [number, number, number, number];
  const ahead = new Vector3(1, 0, 0).applyQuaternion(new Quaternion(x, y, z, w));
  return {
    lookOrigin: { value: new Vector2(floor.position[0], floor.position[1]) },
    lookAhead: { value: new Vector2(ahead.x, ahead.y) },
    lookScale: { value: new Vector2().fromArray(texture.scale) },
    lookOffset: { value: new Vector2().fromArray(texture.offset) },
  };
}

const TEXTURE = /* glsl */ `
varying vec2 floorPoint;
uniform sampler2D look;
uniform vec2 lookOrigin, lookAhead, lookScale, lookOffset;

vec3 floorPattern(vec3 base) {
  vec2 from = floorPoint - lookOrigin;
  vec2 at = vec2(dot(from, lookAhead), dot(from, vec2(-lookAhead.y, lookAhead.x)));
  return base * texture(look, lookScale * at + lookOffset).rgb;
}
`;

const PATTERN = /* glsl */ `
varying vec2 floorPoint;
uniform vec3 lineColour;
uniform float cell;

// Share of the pixel that a line of the given width covers; fades out where the lines get denser than the pixels.
float gridLine(vec2 at, float width) {
  vec2 pixel = fwidth(at);
  vec2 distance = abs(fract(at - 0.5) - 0.5);
  vec2 cover = 1.0 - smoothstep(vec2(width), vec2(width) + 1.5 * pixel, distance);
  cover *= clamp(width / pixel + 0.35, 0.0, 1.0);
  cover *= 1.0 - smoothstep(0.25, 0.7, pixel);
  return max(cover.x, cover.y);
}

// The checker function integrated over the pixel (a triangle wave is the integral of a square wave).
float checker(vec2 at) {
  vec2 pixel = max(fwidth(at), 1e-4);
  vec2 low = at - 0.5 * pixel;
  vec2 high = at + 0.5 * pixel;
  vec2 wave = 2.0 * (abs(fract(low * 0.5) - 0.5) - abs(fract(high * 0.5) - 0.5)) / pixel;
  return 0.5 - 0.5 * wave.x * wave.y;
}

vec3 floorPattern(vec3 base) {
  vec2 at = floorPoint / cell;
  vec3 colour = base * mix(0.965, 1.035, checker(at));
  colour = mix(colour, lineColour, 0.16 * gridLine(at * 5.0, 0.012));
  return mix(colour, lineColour, 0.55 * gridLine(at, 0.006));
}
`;
