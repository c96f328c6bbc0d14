import {
  Color,
  Mesh,
  MeshLambertMaterial,
  PlaneGeometry,
  type Vector3,
  type WebGLProgramParametersWithUniforms,
} from "three";
import type { SceneTheme } from "./theme";

/**
 * A level floor without end: a large quad that follows the camera target, with a checker pattern and grid lines
 * computed from world coordinates and filtered by screen-space derivatives. The fog hides its rim.
 */
export class Ground extends Mesh<PlaneGeometry, MeshLambertMaterial> {
  private readonly line = { value: new Color() };
  private readonly cell = { value: 1 };

  /**
   * @param height of the floor, in metres
   * @param cell side of a checker square, in metres
   */
  constructor(height: number, cell: number) {
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
    material.onBeforeCompile = (shader) => this.addPattern(shader);
  }

  /** Keeps the quad under the camera target and beyond the fog. */
  follow(target: Vector3, reach: number): void {
    this.position.x = target.x;
    this.position.y = target.y;
    this.scale.set(2 * reach, 2 * reach, 1);
  }

  setTheme(theme: SceneTheme): void {
    this.material.color.set(theme.ground);
    this.line.value.set(theme.line);
  }

  private addPattern(shader: WebGLProgramParametersWithUniforms): void {
    shader.uniforms["lineColour"] = this.line;
    shader.uniforms["cell"] = this.cell;
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec2 floorPoint;")
      .replace("#include <fog_vertex>", "#include <fog_vertex>\nfloorPoint = (modelMatrix * vec4(position, 1.0)).xy;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${PATTERN}`)
      .replace(
        "#include <color_fragment>",
        "#include <color_fragment>\ndiffuseColor.rgb = floorPattern(diffuseColor.rgb);",
      );
  }
}

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
