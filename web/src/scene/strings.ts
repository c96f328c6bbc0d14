import { Group, Quaternion, Sphere, Vector3, type Object3D } from "three";
import type { Clip } from "../clip";
import type { TendonString } from "../data/replay";
import { COLLISION_GROUP } from "./bodies";
import { Rods } from "./rods";

/** Spatial tendons as rods from point to point with balls between them, moved by the clip. */
export class Strings extends Group {
  private readonly bundles: Bundle[] = [];

  constructor(private readonly clip: Clip) {
    super();
    const { strings } = clip.replay;
    const kind = ({ rgba, group }: TendonString): string => `${rgba[3]} ${group >= COLLISION_GROUP}`;
    for (const key of new Set(strings.map(kind))) {
      const bundle = new Bundle(strings.filter((one) => kind(one) === key));
      this.bundles.push(bundle);
      this.add(bundle);
    }
  }

  /** The name of the tendon that an instance of an object shows, or null if it shows none. */
  nameOf(object: Object3D, instance: number | undefined): string | null {
    const bundle = this.bundles.find((bundle) => bundle.has(object));
    return bundle === undefined || instance === undefined ? null : bundle.nameOf(object, instance);
  }

  showCollisionShapes(on: boolean): void {
    for (const bundle of this.bundles) bundle.visible = on || !bundle.isCollision;
  }

  setTime(time: number): void {
    if (this.bundles.length === 0) return;
    const paths = stringPaths(this.clip, time);
    for (const bundle of this.bundles) bundle.show(paths);
  }
}

/** The points that each string runs through, in the world. */
export function stringPaths(clip: Clip, time: number): Map<TendonString, Vector3[]> {
  const { strings, stringPoints, frames, frameTime } = clip.replay;
  const frame = clip.frameAt(time);
  const part = Math.min(Math.max(time / frameTime - frame, 0), 1);
  const stride = stringPoints.length / frames;
  let here = frame * stride;
  const ahead = (Math.min(frame + 1, frames - 1) - frame) * stride;
  const position = new Vector3();
  const orientation = new Quaternion();
  const paths = new Map<TendonString, Vector3[]>();
  for (const one of strings) {
    const path = one.points.map((point) => {
      if (point !== null) {
        clip.pose(point.body, time, position, orientation);
        return new Vector3().fromArray(point.position).applyQuaternion(orientation).add(position);
      }
      const place = new Vector3().fromArray(stringPoints, here);
      place.lerp(new Vector3().fromArray(stringPoints, here + ahead), part);
      here += 3;
      return place;
    });
    paths.set(one, path);
  }
  return paths;
}

/** A ball around each string. */
export function stringBalls(clip: Clip, time: number): Sphere[] {
  return [...stringPaths(clip, time).values()].map((path) => new Sphere().setFromPoints(path));
}

/** Strings of one opacity. */
class Bundle extends Group {
  readonly isCollision: boolean;
  private readonly rods: Rods;
  /** The string of each rod, and of each ball. */
  private readonly ofRod: TendonString[];
  private readonly ofBall: TendonString[];

  constructor(private readonly strings: readonly TendonString[]) {
    super();
    this.ofBall = strings.flatMap((one) => one.points.map(() => one));
    this.ofRod = strings.flatMap((one) => one.points.slice(1).map(() => one));
    this.isCollision = strings[0]!.group >= COLLISION_GROUP;
    this.rods = new Rods(strings[0]!.rgba[3]!, { rods: this.ofRod.length, balls: this.ofBall.length });
    this.add(this.rods);
  }

  nameOf(object: Object3D, instance: number): string | null {
    return (object === this.rods.rods ? this.ofRod : this.ofBall)[instance]?.name ?? null;
  }

  has(object: Object3D): boolean {
    return this.rods.children.includes(object);
  }

  show(paths: Map<TendonString, Vector3[]>): void {
    this.rods.begin();
    for (const one of this.strings) {
      let before: Vector3 | null = null;
      for (const point of paths.get(one)!) {
        this.rods.ball(point, one.radius, one.rgba);
        if (before !== null) this.rods.rod(before, point, one.radius, one.rgba);
        before = point;
      }
    }
    this.rods.end();
  }
}
