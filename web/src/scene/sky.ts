import { BackSide, Color, Mesh, ShaderMaterial, SphereGeometry, type Texture } from "three";
import type { SceneTheme } from "./theme";

/**
 * A dome that blends from the horizon to the zenith (+z). It stays around the camera and is drawn behind everything.
 * A trace of noise hides the bands that 8-bit colours would show.
 */
export class Sky extends Mesh<SphereGeometry, ShaderMaterial> {
  /** @param cube that surrounds the scene in the place of the blend */
  constructor(cube: Texture | null) {
    const material = new ShaderMaterial({
      side: BackSide,
      depthTest: false,
      depthWrite: false,
      toneMapped: false,
      defines: cube === null ? {} : { CUBE: "" },
      uniforms: {
        cube: { value: cube },
        zenith: { value: new Color() },
        horizon: { value: new Color() },
        nadir: { value: new Color() },
      },
      vertexShader: /* glsl */ `
        varying vec3 direction;
        void main() {
          direction = position;
          gl_Position = projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0);
          // Behind everything, and never before the near plane, however far that is.
          gl_Position.z = 0.9999 * gl_Position.w;
        }`,
      fragmentShader: /* glsl */ `
        uniform vec3 zenith, horizon, nadir;
        varying vec3 direction;
        #ifdef CUBE
        uniform samplerCube cube;
        #endif
        void main() {
          float height = normalize(direction).z;
          vec3 colour = height > 0.0
            ? mix(horizon, zenith, 1.0 - exp(-4.0 * height))
            : mix(horizon, nadir, smoothstep(0.0, 0.6, -height));
          #ifdef CUBE
          // Cubes stand upright along y.
          colour = texture(cube, vec3(direction.x, direction.z, -direction.y)).rgb;
          #endif
          float noise = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453);
          gl_FragColor = vec4(colour + (noise - 0.5) / 255.0, 1.0);
          #include <colorspace_fragment>
        }`,
    });
    super(new SphereGeometry(1, 32, 16), material);
    this.frustumCulled = false;
    this.renderOrder = -1;
  }

  setTheme(theme: SceneTheme): void {
    for (const name of ["zenith", "horizon", "nadir"] as const) {
      (this.material.uniforms[name]!.value as Color).set(theme[name]);
    }
  }
}
