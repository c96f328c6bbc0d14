import { MathUtils, Sphere, Vector3 } from "three";
import { Clip } from "./clip";
import type { Geom, Replay } from "./data/replay";
import type { Playback } from "./playback";
import { Bodies, findFloor } from "./scene/bodies";
import { formatStress } from "./ui/colour-bar";
import { formatNumber } from "./ui/format";
import { ContactMarks } from "./scene/contacts";
import { smoothPosition } from "./scene/follow";
import { boundsOf, fit, frameClip, sizeOf, type Balls, type Framing } from "./scene/framing";
import { GeometryStore } from "./scene/geometry";
import { Ground } from "./scene/ground";
import { Markers } from "./scene/markers";
import { SoftSurfaces } from "./scene/soft";
import { Stage } from "./scene/stage";
import { Strings } from "./scene/strings";
import { TextureStore } from "./scene/textures";
import { DARK, LIGHT } from "./scene/theme";
import type { View } from "./options";
import type { Toggles } from "./toggles";

/** Where the camera starts: a little to the left of what models call forward (+x), and above. */
const AZIMUTH = -52;
const ELEVATION = 11;
/** Shares of the free part of the picture that the motion fills at first. */
const FILL_WIDTH = 0.86;
const FILL_HEIGHT = 0.84;
/** A picture that has not changed for so many milliseconds is at rest. */
const REST = 250;

/** The three-dimensional picture of a replay, kept in step with playback and toggles. */
export class Viewer {
  readonly bodies: Bodies;
  readonly contacts: ContactMarks;
  readonly framing: Framing;
  private readonly soft: SoftSurfaces;
  private readonly strings: Strings;
  private readonly markers: Markers;
  private readonly stage: Stage;
  private readonly clip: Clip;
  private readonly followed = new Vector3();
  private followedBody: number;
  private freeHeight = 1;
  private stale = true;
  /** When a still picture is to be drawn, if the one on the screen is coarser; in milliseconds of `draw`. */
  private refineAt: number | null = null;
  private drawn = false;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly replay: Replay,
    private readonly playback: Playback,
    private readonly toggles: Toggles,
    textures: TextureStore,
  ) {
    this.clip = new Clip(replay);
    const geometries = new GeometryStore(replay.meshes);
    this.framing = frameClip(this.clip, geometries);
    const size = sizeOf(this.framing.travels ? this.framing.start : this.framing.clip);

    const floor = findFloor(replay);
    const height = floor?.position[2] ?? boundsOf(this.framing.clip).min.z;
    const ground = new Ground(height, cellFor(size), floor, textures);
    // A model that stands on nothing is not drawn on a floor.
    ground.visible = floor !== null;
    this.stage = new Stage(canvas, ground, size, replay.sky, textures);
    this.bodies = new Bodies(this.clip, geometries, floor, textures);
    this.contacts = new ContactMarks(replay.contacts, Math.min(size, sizeOf(this.framing.start)));
    this.soft = new SoftSurfaces(this.clip);
    this.strings = new Strings(this.clip);
    this.markers = new Markers(replay);
    this.stage.add(this.bodies, this.soft, this.strings, this.contacts, this.markers);

    this.followedBody = Math.min(1, replay.bodies.length - 1);
    this.stage.controls.addEventListener("change", () => this.invalidate());
    playback.onChange(() => this.invalidate());
    toggles.onChange((name, on) => {
      if (name === "follow" && on) this.startFollowing();
      if (name === "collision") this.showCollisionShapes(on);
      if (name === "stress") this.soft.showStress(on);
      if (name === "shadows") this.stage.lights.shadows = on;
      if (name === "dark") this.applyTheme();
      this.invalidate();
    });
    this.stage.lights.shadows = toggles.get("shadows");
    this.showCollisionShapes(toggles.get("collision"));
    this.soft.showStress(toggles.get("stress"));
    this.applyTheme();
  }

  /** Whether the picture shows the current state, as finely as it gets. */
  get settled(): boolean {
    return !this.stale && this.refineAt === null && !this.playback.playing;
  }

  /** The picture is drawn anew with the next call of `draw`. */
  invalidate(): void {
    this.stale = true;
  }

  /**
   * Draws if anything has changed, and once more, finer, after the picture has come to rest.
   * @param now in milliseconds
   * @returns whether it drew what has changed
   */
  draw(now: number): boolean {
    this.stage.controls.update();
    const { still, inMotion } = this.stage.resolution;
    if (!this.stale) {
      if (this.refineAt === null || now < this.refineAt || this.playback.playing) return false;
      this.refineAt = null;
      this.stage.render(still);
      return false;
    }
    this.stale = false;
    const { time, frame } = this.playback;
    this.bodies.setTime(time);
    this.soft.setTime(time);
    this.strings.setTime(time);
    this.markers.show(frame);
    this.contacts.show(frame, this.toggles.get("contacts"), this.toggles.get("forces"));
    if (this.toggles.get("follow")) this.goAlong(time);
    const density = this.drawn || this.playback.playing ? inMotion : still;
    this.stage.render(density);
    this.drawn = true;
    this.refineAt = density < still ? now + REST : null;
    return true;
  }

  resize(width: number, height: number, covered: number): void {
    this.freeHeight = Math.max(0.3, 1 - covered / height);
    this.stage.resize(width, height, covered);
    this.invalidate();
  }

  /** Draws fewer pixels of moving pictures from now on, for a machine that cannot keep up. */
  coarsen(): void {
    this.stage.resolution.coarsen();
  }

  /**
   * Puts the camera where it sees the whole motion, or the start of a motion that travels.
   * @param view azimuth and elevation in degrees, zoom, and where to look in the place of the middle of it all
   */
  resetView(view: View = { azimuth: AZIMUTH, elevation: ELEVATION, zoom: 1, target: null }): void {
    const balls = this.framing.travels || this.toggles.get("follow") ? this.startBalls() : this.framing.clip;
    const { camera, controls } = this.stage;
    this.stage.halt();
    const { target, distance, direction } = this.fitted(balls, view);
    if (view.target !== null) target.fromArray(view.target);
    controls.target.copy(target);
    camera.position.copy(target).addScaledVector(direction, distance / Math.max(view.zoom, 0.01));
    controls.update();
    this.invalidate();
  }

  /** The present view, as `resetView` takes it. */
  get view(): View {
    const { camera, controls } = this.stage;
    const { x, y, z } = camera.position.clone().sub(controls.target);
    const azimuth = MathUtils.radToDeg(Math.atan2(y, x));
    const elevation = MathUtils.radToDeg(Math.atan2(z, Math.hypot(x, y)));
    const balls = this.framing.travels || this.toggles.get("follow") ? this.startBalls() : this.framing.clip;
    const { distance } = this.fitted(balls, { azimuth, elevation });
    return { azimuth, elevation, zoom: distance / Math.hypot(x, y, z), target: controls.target.toArray() };
  }

  private fitted(balls: Balls, view: { azimuth: number; elevation: number }): ReturnType<typeof fit> {
    return fit(this.stage.camera, balls, view, FILL_WIDTH, FILL_HEIGHT * this.freeHeight);
  }

  /** Follows the body under a point of the page. Returns its name, or null if there is none. */
  followAt(x: number, y: number): string | null {
    const body = this.stage.hitsAt(x, y).map(({ object }) => object.userData["body"] as unknown);
    const nearest = body.find((body) => typeof body === "number");
    if (nearest === undefined || nearest === 0) return null;
    this.followBody(nearest);
    this.centre();
    return this.followedName;
  }

  /** What is under a point of the page: a contact's force, or the names of a body and its geom; null for nothing. */
  describeAt(x: number, y: number): string | null {
    for (const { object, instanceId, face } of this.stage.hitsAt(x, y)) {
      const force = this.contacts.forceOf(object, instanceId);
      if (force !== null) return `contact: ${formatNumber(force)} N`;
      const tendon = this.strings.nameOf(object, instanceId);
      if (tendon !== null) return tendon === "" ? "tendon" : tendon;
      const soft = object.userData["soft"] as string | undefined;
      if (soft !== undefined) {
        const stress = this.soft.stressAt(object, face?.a ?? 0, this.playback.frame);
        const most = this.replay.softStress?.most ?? 1;
        return (soft === "" ? "soft body" : soft) + (stress === null ? "" : ` · ${formatStress(stress, most)}`);
      }
      const geom = object.userData["geom"] as Geom | undefined;
      if (geom !== undefined) {
        const body = this.replay.bodies[geom.body]!;
        return geom.name === "" || geom.name === body ? body : `${body} · ${geom.name}`;
      }
    }
    return null;
  }

  /** The picture as it is now, without panels, as PNG. */
  png(): Promise<Blob | null> {
    this.bodies.setTime(this.playback.time);
    this.soft.setTime(this.playback.time);
    this.strings.setTime(this.playback.time);
    const blob = this.stage.png(this.stage.resolution.still);
    this.invalidate();
    return blob;
  }

  /** Follows a body from where it is now; the camera stays where it is. */
  followBody(body = this.followedBody): void {
    this.followedBody = body;
    this.toggles.set("follow", true);
    this.startFollowing();
  }

  /** Turns the camera to the followed body. */
  centre(): void {
    this.stage.centre(this.followed);
  }

  get followedName(): string {
    return this.replay.bodies[this.followedBody]!;
  }

  /** What the first frame shows, carried along with the followed body. */
  private startBalls(): Balls {
    if (!this.toggles.get("follow")) return this.framing.start;
    const way = smoothPosition(this.clip, this.followedBody, this.playback.time, new Vector3());
    way.sub(smoothPosition(this.clip, this.followedBody, 0, new Vector3()));
    return this.framing.start.map(({ center, radius }) => new Sphere(center.clone().add(way), radius));
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

  private showCollisionShapes(on: boolean): void {
    this.bodies.showCollisionShapes(on);
    this.strings.showCollisionShapes(on);
  }

  private applyTheme(): void {
    this.stage.setTheme(this.toggles.get("dark") ? DARK : LIGHT);
  }
}

/** Side of a checker square that suits a scene of this size: a power of ten, in metres. */
function cellFor(size: number): number {
  return 10 ** Math.round(Math.log10(Math.max(size, 1e-3) / 3));
}
