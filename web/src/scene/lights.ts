import { DirectionalLight, Group, HemisphereLight, Vector3 } from "three";
import type { SceneTheme } from "./theme";

/** Where the sun stands, seen from the target: to the right of the first view, so that shapes show by their shading. */
const SUN = new Vector3(0.7, 0.12, 1).normalize();

/** Where a second, cooler light comes from that sets shapes off against the background. */
const RIM = new Vector3(-0.8, 0.5, 0.35).normalize();

/** A sun with soft shadows, a rim light, and the light of the sky. */
export class Lights extends Group {
  private readonly sun = new DirectionalLight("#fff4e6");
  private readonly rim = new DirectionalLight("#cfe0ff");
  private readonly sky = new HemisphereLight("#e3ecf7", "#9a948b");

  /** @param mapSize side of the shadow map, in texels */
  constructor(private readonly mapSize: number) {
    super();
    this.sky.position.set(0, 0, 1); // three.js defaults to +y as up
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(mapSize, mapSize);
    this.sun.shadow.radius = 3;
    this.sun.shadow.bias = -0.0002;
    this.rim.position.copy(RIM);
    this.add(this.sky, this.rim, this.sun, this.sun.target);
  }

  set shadows(on: boolean) {
    this.sun.castShadow = on;
  }

  setTheme(theme: SceneTheme): void {
    this.sun.intensity = theme.sun;
    this.rim.intensity = theme.rim;
    this.sky.intensity = theme.sky;
  }

  /**
   * Casts shadows within `radius` of `centre`. The frustum moves in whole texels, so that the edges of shadows do not
   * crawl while it follows something.
   */
  cover(centre: Vector3, radius: number): void {
    const camera = this.sun.shadow.camera;
    if (camera.right !== radius) {
      camera.left = camera.bottom = -radius;
      camera.right = camera.top = radius;
      camera.near = radius * 0.1;
      camera.far = radius * 5;
      camera.updateProjectionMatrix();
      this.sun.shadow.normalBias = (3 * radius) / this.mapSize;
    }
    const texel = (2 * radius) / this.mapSize;
    const right = new Vector3(0, 0, 1).cross(SUN).normalize();
    const up = SUN.clone().cross(right);
    const target = this.sun.target.position.set(0, 0, 0);
    for (const axis of [right, up]) target.addScaledVector(axis, Math.round(centre.dot(axis) / texel) * texel);
    target.addScaledVector(SUN, centre.dot(SUN));
    this.sun.position.copy(target).addScaledVector(SUN, 2.5 * radius);
    this.sun.shadow.camera.up.set(0, 0, 1);
  }
}
