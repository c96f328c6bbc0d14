import { Box3, Quaternion, Vector3, type PerspectiveCamera } from "three";
import type { Clip } from "../clip";
import type { Replay } from "../data/replay";
import type { GeometryStore } from "./geometry";

/** How much of a clip to look at. */
export interface Framing {
  /** Bounding box of what moves, over the whole clip. */
  readonly clip: Box3;
  /** The same at the first frame alone. */
  readonly start: Box3;
  /** Whether the motion leaves its starting place so far behind that the camera should go along. */
  readonly travels: boolean;
}

const SAMPLES = 120;
/** A clip this many times larger than its first frame travels. */
const FAR = 5;

export function frameClip(clip: Clip, geometries: GeometryStore): Framing {
  const { replay } = clip;
  const balls = bodyBalls(replay, geometries);
  const moving = replay.bodies.map((_, body) => body).filter((body) => body > 0 && moves(clip, body));
  // A replay in which nothing moves is framed by all that it shows.
  const shown = moving.length > 0 ? moving : replay.bodies.map((_, body) => body);

  const whole = new Box3();
  const samples = Math.min(SAMPLES, replay.frames);
  for (let i = 0; i < samples; i++) {
    whole.union(boxAt(clip, balls, shown, (clip.duration * i) / Math.max(samples - 1, 1)));
  }
  const start = boxAt(clip, balls, shown, 0);
  if (whole.isEmpty()) {
    const unit = new Box3(new Vector3(-1, -1, 0), new Vector3(1, 1, 1));
    return { clip: unit, start: unit, travels: false };
  }
  const travels = whole.getSize(new Vector3()).length() > FAR * start.getSize(new Vector3()).length();
  return { clip: whole, start, travels };
}

interface Ball {
  readonly centre: Vector3;
  readonly radius: number;
}

/** Bounding spheres of the visible geoms of each body, in the frame of the body. Planes have no end and are left out. */
function bodyBalls(replay: Replay, geometries: GeometryStore): Ball[][] {
  const balls: Ball[][] = replay.bodies.map(() => []);
  for (const geom of replay.geoms) {
    if (geom.type === "plane" || geom.rgba[3]! <= 0) continue;
    const [w, x, y, z] = geom.quaternion as [number, number, number, number];
    const sphere = geometries.get(geom).boundingSphere;
    if (sphere === null || !(sphere.radius >= 0)) continue;
    const centre = sphere.center
      .clone()
      .applyQuaternion(new Quaternion(x, y, z, w))
      .add(new Vector3().fromArray(geom.position));
    balls[geom.body]!.push({ centre, radius: sphere.radius });
  }
  return balls;
}

function boxAt(clip: Clip, balls: Ball[][], bodies: number[], time: number): Box3 {
  const box = new Box3();
  const position = new Vector3();
  const orientation = new Quaternion();
  const centre = new Vector3();
  for (const body of bodies) {
    clip.pose(body, time, position, orientation);
    for (const ball of balls[body]!) {
      centre.copy(ball.centre).applyQuaternion(orientation).add(position);
      box.expandByPoint(centre.clone().addScalar(ball.radius)).expandByPoint(centre.addScalar(-ball.radius));
    }
  }
  return box;
}

function moves(clip: Clip, body: number): boolean {
  const [p0, p] = [new Vector3(), new Vector3()];
  const [q0, q] = [new Quaternion(), new Quaternion()];
  clip.pose(body, 0, p0, q0);
  for (let i = 1; i <= SAMPLES; i++) {
    clip.pose(body, (clip.duration * i) / SAMPLES, p, q);
    if (p.distanceTo(p0) > 1e-4 || q.angleTo(q0) > 1e-3) return true;
  }
  return false;
}

/**
 * The distance from `box`'s centre at which the camera, looking along `-direction` with +z up, sees the whole box
 * within the given shares of its view.
 */
export function fitDistance(camera: PerspectiveCamera, box: Box3, direction: Vector3, width: number, height: number): number {
  const right = new Vector3(0, 0, 1).cross(direction).normalize();
  const up = direction.clone().cross(right);
  const tall = Math.tan((camera.fov * Math.PI) / 360);
  const tanY = tall * height;
  const tanX = tall * camera.aspect * width;
  const half = box.getSize(new Vector3()).multiplyScalar(0.5);

  let distance = 0;
  for (const [x, y, z] of [[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]] as const) {
    for (const sign of [1, -1]) {
      const corner = new Vector3(x, y, z).multiply(half).multiplyScalar(sign);
      const depth = corner.dot(direction); // towards the camera
      distance = Math.max(
        distance,
        depth + Math.abs(corner.dot(right)) / tanX,
        depth + Math.abs(corner.dot(up)) / tanY,
      );
    }
  }
  return distance;
}
