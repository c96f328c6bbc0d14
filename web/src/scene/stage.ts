import {
  ACESFilmicToneMapping,
  Fog,
  PCFShadowMap,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
  type Intersection,
  type Object3D,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Ground } from "./ground";
import { Lights } from "./lights";
import { Resolution } from "./resolution";
import { Sky } from "./sky";
import type { TextureStore } from "./textures";
import type { SceneTheme } from "./theme";

const FIELD_OF_VIEW = 32;

/** Renderer, camera and surroundings: all of the picture except what the replay brings. */
export class Stage {
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW);
  readonly controls: OrbitControls;
  readonly lights: Lights;
  readonly resolution = new Resolution();
  private readonly glides = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  private readonly scene = new Scene();
  private readonly renderer: WebGLRenderer;
  private readonly sky: Sky;
  private readonly fog = new Fog("white");

  /**
   * @param ground the floor, which the stage keeps under the camera
   * @param size of what there is to see, in metres
   */
  constructor(
    canvas: HTMLCanvasElement,
    private readonly ground: Ground,
    private readonly size: number,
    sky: number | null,
    private readonly textures: TextureStore,
  ) {
    this.sky = new Sky(sky === null ? null : textures.list[sky]!);
    this.renderer = new WebGLRenderer({
      canvas,
      antialias: this.resolution.multisampling,
      powerPreference: "high-performance",
    });
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.lights = new Lights(this.resolution.shadowMap);
    this.scene.fog = this.fog;
    this.scene.add(this.sky, ground, this.lights);

    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = this.glides;
    this.controls.dampingFactor = 0.12;
    this.controls.zoomToCursor = true;
    this.controls.minDistance = 0.02 * size;
    this.controls.maxDistance = 60 * size;
  }

  add(...objects: Object3D[]): void {
    this.scene.add(...objects);
  }

  setTheme(theme: SceneTheme): void {
    this.sky.setTheme(theme);
    this.ground.setTheme(theme);
    this.lights.setTheme(theme);
    this.fog.color.set(this.textures.horizon ?? theme.horizon);
    this.renderer.toneMappingExposure = theme.exposure;
  }

  /** @param covered height of the panel that hides the lower end of the picture, in CSS pixels */
  resize(width: number, height: number, covered: number): void {
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.setViewOffset(width, height, 0, covered / 2, width, height);
  }

  /** @param density pixels per CSS pixel */
  render(density: number): void {
    if (this.renderer.getPixelRatio() !== density) this.renderer.setPixelRatio(density);
    const { target } = this.controls;
    const distance = this.camera.position.distanceTo(target);
    const reach = 14 * Math.max(distance, this.size);
    this.fog.near = 0.12 * reach;
    this.fog.far = reach;
    this.camera.near = distance / 100;
    this.camera.far = 2 * reach;
    this.camera.updateProjectionMatrix();
    this.ground.follow(target, 1.5 * reach);
    this.lights.cover(target, Math.min(0.9 * this.size, 1.4 * distance));
    this.renderer.render(this.scene, this.camera);
  }

  /** The objects under a point of the page, the nearest first; hidden ones are not among them. */
  hitsAt(x: number, y: number): Intersection[] {
    const bounds = this.renderer.domElement.getBoundingClientRect();
    const at = new Vector2((2 * (x - bounds.left)) / bounds.width - 1, 1 - (2 * (y - bounds.top)) / bounds.height);
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray.intersectObjects(this.scene.children).filter(({ object }) => isShown(object));
  }

  /** Ends a movement of the camera that glides to a halt. */
  halt(): void {
    this.controls.enableDamping = false;
    this.controls.update();
    this.controls.enableDamping = this.glides;
  }

  /** Turns to a point: what stood in the middle of the picture moves aside, and the distance stays. */
  centre(point: Vector3): void {
    this.halt();
    this.shift(point.clone().sub(this.controls.target));
    this.controls.update();
  }

  /** The picture as it is now, as PNG. */
  png(density: number): Promise<Blob | null> {
    this.render(density);
    // In the same task: afterwards the browser may clear the drawing buffer.
    return new Promise((done) => this.renderer.domElement.toBlob(done, "image/png"));
  }

  /** Moves camera and target together. */
  shift(by: Vector3): void {
    this.camera.position.add(by);
    this.controls.target.add(by);
  }
}

function isShown(object: Object3D): boolean {
  for (let at: Object3D | null = object; at !== null; at = at.parent) if (!at.visible) return false;
  return true;
}
