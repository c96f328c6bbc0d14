/** What a clip shows, and from where to look at it. */

import { Box3, MathUtils, Quaternion, Sphere, Vector3, type PerspectiveCamera } from "three";
import type { Clip } from "../clip";
import type { Replay } from "../data/replay";
import { hidesCollisionShapes, isCollisionShape } from "./bodies";
import type { GeometryStore } from "./geometry";
import { softBalls } from "./soft";
import { stringBalls } from "./strings";

/** Balls around what there is to see, in the world. */
export type Balls = readonly Sphere[];

export interface Framing {
  /** What moves, at sampled times of the whole clip. */
  readonly clip: Balls;
  /** The same at the first frame alone. */
  readonly start: Balls;
  /** Whether the motion leaves its starting place so far behind that the camera should go along. */
  readonly travels: boolean;
}

const SAMPLES = 60;
/** A clip this many times larger than its first frame travels. */
const FAR = 5;
/** What is framed if nothing is drawn: the surroundings of the origin. */
const NOTHING = [new Sphere(new Vector3(0, 0, 0.5), 1)];

export function frameClip(clip: Clip, geometries: GeometryStore): Framing {
  const { replay } = clip;
  const balls = bodyBalls(replay, geometries);
  const moving = replay.bodies.map((_, body) => body).filter((body) => body > 0 && moves(clip, body));
  // A replay in which nothing moves is framed by all that it shows.
  const shown = moving.length > 0 || replay.soft.length > 0 ? moving : replay.bodies.map((_, body) => body);

  const samples = Math.min(SAMPLES, replay.frames);
  const times = Array.from({ length: samples }, (_, i) => (clip.duration * i) / Math.max(samples - 1, 1));
  const at = (time: number): Sphere[] => [
    ...ballsAt(clip, balls, shown, time),
    ...softBalls(clip, clip.frameAt(time)),
    ...stringBalls(clip, time),
  ];
  const whole = times.flatMap(at);
  const start = at(0);
  if (start.length === 0) return { clip: NOTHING, start: NOTHING, travels: false };
  return { clip: whole, start, travels: sizeOf(whole) > FAR * sizeOf(start) };
}

/** The length of the diagonal of the bounding box, in metres. */
export function sizeOf(balls: Balls): number {
  return Math.max(boundsOf(balls).getSize(new Vector3()).length(), 1e-3);
}

export function boundsOf(balls: Balls): Box3 {
  const box = new Box3();
  const one = new Box3();
  for (const ball of balls) box.union(ball.getBoundingBox(one));
  return box;
}

/** Bounding spheres of the visible geoms of each body, in its frame. Planes have no end and are left out. */
function bodyBalls(replay: Replay, geometries: GeometryStore): Sphere[][] {
  const balls: Sphere[][] = replay.bodies.map(() => []);
  const hides = hidesCollisionShapes(replay);
  for (const geom of replay.geoms) {
    if (geom.type === "plane" || geom.rgba[3]! <= 0) continue;
    if (hides && isCollisionShape(geom)) continue;
    const sphere = geometries.get(geom).boundingSphere;
    if (sphere === null || !(sphere.radius >= 0)) continue;
    const [w, x, y, z] = geom.quaternion as [number, number, number, number];
    const centre = sphere.center
      .clone()
      .applyQuaternion(new Quaternion(x, y, z, w))
      .add(new Vector3().fromArray(geom.position));
    balls[geom.body]!.push(new Sphere(centre, sphere.radius));
  }
  return balls;
}

function ballsAt(clip: Clip, balls: Sphere[][], bodies: number[], time: number): Sphere[] {
  const position = new Vector3();
  const orientation = new Quaternion();
  return bodies.flatMap((body) => {
    clip.pose(body, time, position, orientation);
    return balls[body]!.map(
      ({ center, radius }) => new Sphere(center.clone().applyQuaternion(orientation).add(position), radius),
    );
  });
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

export interface View {
  /** Degrees from the x axis, counter-clockwise seen from above. */
  readonly azimuth: number;
  /** Degrees above the horizon. */
  readonly elevation: number;
}

/**
 * The target and the distance from which the camera sees all balls centred within the given shares of its picture.
 *
 * With the camera at p, a ball at c of radius r is within the picture's width or height if, along that axis and towards the camera,
 * |c_a − p_a| + r ≤ t (p_d − c_d), t the tangent of half the angle of view. The nearest such p is the middle between the extremes of
 * t c_d ± c_a + r, as far away as the wider axis needs.
 */
export function fit(
  camera: PerspectiveCamera,
  balls: Balls,
  view: View,
  width: number,
  height: number,
): { target: Vector3; distance: number; direction: Vector3 } {
  const azimuth = MathUtils.degToRad(view.azimuth);
  const elevation = MathUtils.degToRad(MathUtils.clamp(view.elevation, -89, 89));
  const direction = new Vector3(
    Math.cos(azimuth) * Math.cos(elevation),
    Math.sin(azimuth) * Math.cos(elevation),
    Math.sin(elevation),
  );
  const right = new Vector3(0, 0, 1).cross(direction).normalize();
  const up = direction.clone().cross(right);
  const tangent = Math.tan(MathUtils.degToRad(camera.fov / 2));
  const axes = [
    { axis: right, tangent: tangent * camera.aspect * width },
    { axis: up, tangent: tangent * height },
  ];

  // The target is as deep as the middle of all.
  const target = boundsOf(balls).getCenter(new Vector3());
  const depth = target.dot(direction);
  let distance = 0;
  for (const { axis, tangent } of axes) {
    let [low, high] = [-Infinity, -Infinity];
    for (const { center, radius } of balls) {
      const [along, across] = [tangent * center.dot(direction) + radius, center.dot(axis)];
      low = Math.max(low, along - across);
      high = Math.max(high, along + across);
    }
    distance = Math.max(distance, (low + high) / (2 * tangent) - depth);
    target.addScaledVector(axis, (high - low) / 2 - target.dot(axis));
  }
  return { target, distance, direction };
}
