import { Box3, MathUtils, Vector3 } from "three";
import { Clip } from "./clip";
import type { Replay } from "./data/replay";
import type { Playback } from "./playback";
import { Bodies, findFloor } from "./scene/bodies";
import { ContactMarks } from "./scene/contacts";
import { smoothPosition } from "./scene/follow";
import { fitDistance, frameClip, type Framing } from "./scene/framing";
import { GeometryStore } from "./scene/geometry";
import { Ground } from "./scene/ground";
import { Stage } from "./scene/stage";
import { DARK, LIGHT } from "./scene/theme";
import type { Toggles } from "./toggles";

/** Where the camera starts: a little to the left of what models call forward (+x), and above. */
const AZIMUTH = -52;
const ELEVATION = 17;
/** Shares of the free part of the picture that the motion fills at first. */
const FILL_WIDTH = 0.86;
const FILL_HEIGHT = 0.8;

/** The three-dimensional picture of a replay, kept in step with playback and toggles. */
export class Viewer {
  readonly bodies: Bodies;
  readonly contacts: ContactMarks;
  readonly framing: Framing;
  private readonly stage: Stage;
  private readonly clip: Clip;
  private readonly followed = new Vector3();
  private followedBody: number;
  private freeHeight = 1;
  private stale = true;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly replay: Replay,
    private readonly playback: Playback,
    private readonly toggles: Toggles,
  ) {
    this.clip = new Clip(replay);
    const geometries = new GeometryStore(replay.meshes);
    this.framing = frameClip(this.clip, geometries);
    const view = this.framing.travels ? this.framing.start : this.framing.clip;
    const size = view.getSize(new Vector3()).length();
    const model = Math.min(size, 2 * this.framing.start.getSize(new Vector3()).length()) / 1.5;

    const floor = findFloor(replay);
    const height = floor?.position[2] ?? this.framing.clip.min.z;
    this.stage = new Stage(canvas, new Ground(height, cellFor(size)), size);
    this.bodies = new Bodies(this.clip, geometries, floor);
    this.contacts = new ContactMarks(replay.contacts, model);
    this.stage.add(this.bodies, this.contacts);

    this.followedBody = Math.min(1, replay.bodies.length - 1);
    this.stage.controls.addEventListener("change", () => this.invalidate());
    playback.onChange(() => this.invalidate());
    toggles.onChange((name, on) => {
      if (name === "follow" && on) this.startFollowing();
      if (name === "shadows") this.stage.lights.shadows = on;
      if (name === "dark") this.applyTheme();
      this.invalidate();
    });
    this.stage.lights.shadows = toggles.get("shadows");
    this.applyTheme();
  }

  /** The picture is drawn anew with the next call of `draw`. */
  invalidate(): void {
    this.stale = true;
  }

  /** Draws if anything has changed. Returns whether it drew. */
  draw(): boolean {
    this.stage.controls.update();
    if (!this.stale) return false;
    this.stale = false;
    const { time, frame } = this.playback;
    this.bodies.setTime(time);
    this.contacts.show(frame, this.toggles.get("contacts"), this.toggles.get("forces"));
    if (this.toggles.get("follow")) this.goAlong(time);
    this.stage.render();
    return true;
  }

  resize(width: number, height: number, covered: number): void {
    this.freeHeight = Math.max(0.3, 1 - covered / height);
    this.stage.resize(width, height, covered);
    this.invalidate();
  }

  /** Fewer pixels for a machine that cannot keep up. */
  coarsen(): boolean {
    this.invalidate();
    return this.stage.coarsen();
  }

  /**
   * Puts the camera where it sees the whole motion, or the start of a motion that travels.
   * @param view azimuth and elevation in degrees, and zoom
   */
  resetView(view: readonly [number, number, number] = [AZIMUTH, ELEVATION, 1]): void {
    const box = this.framing.travels || this.toggles.get("follow") ? this.startBox() : this.framing.clip;
    const [azimuth, elevation, zoom] = view;
    const [a, e] = [MathUtils.degToRad(azimuth), MathUtils.degToRad(MathUtils.clamp(elevation, -89, 89))];
    const direction = new Vector3(Math.cos(a) * Math.cos(e), Math.sin(a) * Math.cos(e), Math.sin(e));
    const { camera, controls } = this.stage;
    const distance = fitDistance(camera, box, direction, FILL_WIDTH, FILL_HEIGHT * this.freeHeight);
    box.getCenter(controls.target);
    camera.position.copy(controls.target).addScaledVector(direction, distance / Math.max(zoom, 0.01));
    controls.update();
    this.invalidate();
  }

  /** Follows the body under a point of the page. Returns its name, or null if there is none. */
  followAt(x: number, y: number): string | null {
    const body = this.stage.bodyAt(x, y);
    return body === null || body === 0 ? null : this.followBody(body);
  }

  followBody(body: number): string {
    this.followedBody = body;
    this.toggles.set("follow", true);
    this.startFollowing();
    return this.replay.bodies[body]!;
  }

  get followedName(): string {
    return this.replay.bodies[this.followedBody]!;
  }

  /** The box of the first frame, carried along with the followed body. */
  private startBox(): Box3 {
    const box = this.framing.start.clone();
    if (!this.toggles.get("follow")) return box;
    const origin = smoothPosition(this.clip, this.followedBody, 0, new Vector3());
    const now = smoothPosition(this.clip, this.followedBody, this.playback.time, new Vector3());
    return box.translate(now.sub(origin));
  }

  private startFollowing(): void {
    smoothPosition(this.clip, this.followedBody, this.playback.time, this.followed);
    this.invalidate();
  }

  private goAlong(time: number): void {
    const now = smoothPosition(this.clip, this.followedBody, time, new Vector3());
    this.stage.shift(now.clone().sub(this.followed));
    this.followed.copy(now);
  }

  private applyTheme(): void {
    this.stage.setTheme(this.toggles.get("dark") ? DARK : LIGHT);
  }
}

/** Side of a checker square that suits a scene of this size: a power of ten, in metres. */
function cellFor(size: number): number {
  return 10 ** Math.round(Math.log10(Math.max(size, 1e-3) / 3));
}
