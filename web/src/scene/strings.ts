import {
  Color,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  Quaternion,
  Sphere,
  SphereGeometry,
  Vector3,
  type BufferGeometry,
  type Object3D,
} from "three";
import type { Clip } from "../clip";
import type { TendonString } from "../data/replay";
import { COLLISION_GROUP } from "./bodies";

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
    const bundle = this.bundles.find((bundle) => bundle.children.includes(object));
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

const UP = new Vector3(0, 1, 0);
const along = new Vector3();
const middle = new Vector3();
const turn = new Quaternion();
const size = new Vector3();
const matrix = new Matrix4();

/** Strings of one opacity. */
class Bundle extends Group {
  readonly isCollision: boolean;
  private readonly rods: InstancedMesh;
  private readonly balls: InstancedMesh;
  /** The string of each rod, and of each ball. */
  private readonly ofRod: TendonString[];
  private readonly ofBall: TendonString[];

  constructor(private readonly strings: readonly TendonString[]) {
    super();
    this.ofBall = strings.flatMap((one) => one.points.map(() => one));
    this.ofRod = strings.flatMap((one) => one.points.slice(1).map(() => one));
    this.isCollision = strings[0]!.group >= COLLISION_GROUP;
    const alpha = Math.min(strings[0]!.rgba[3]!, 1);
    const material = new MeshStandardMaterial({ roughness: 0.6, transparent: alpha < 1, opacity: alpha });
    this.rods = instances(new CylinderGeometry(1, 1, 1, 12, 1, true), material, this.ofRod);
    this.balls = instances(new SphereGeometry(1, 12, 8), material, this.ofBall);
    this.add(this.rods, this.balls);
  }

  nameOf(object: Object3D, instance: number): string | null {
    return (object === this.rods ? this.ofRod : this.ofBall)[instance]?.name ?? null;
  }

  show(paths: Map<TendonString, Vector3[]>): void {
    let [rod, ball] = [0, 0];
    for (const one of this.strings) {
      const { radius } = one;
      let before: Vector3 | null = null;
      for (const point of paths.get(one)!) {
        this.balls.setMatrixAt(ball++, matrix.compose(point, turn.identity(), size.setScalar(radius)));
        if (before !== null) {
          const length = along.subVectors(point, before).length();
          turn.setFromUnitVectors(UP, length > 0 ? along.divideScalar(length) : UP);
          middle.addVectors(before, point).multiplyScalar(0.5);
          this.rods.setMatrixAt(rod++, matrix.compose(middle, turn, size.set(radius, length, radius)));
        }
        before = point;
      }
    }
    for (const mesh of [this.rods, this.balls]) {
      // Where the pointer meets them is found by their bounds.
      mesh.boundingSphere = null;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}

function instances(geometry: BufferGeometry, material: MeshStandardMaterial, of: readonly TendonString[]): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, of.length);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false;
  mesh.castShadow = material.opacity > 0.5;
  mesh.receiveShadow = true;
  const colour = new Color();
  of.forEach(({ rgba }, i) => mesh.setColorAt(i, colour.setRGB(rgba[0]!, rgba[1]!, rgba[2]!, "srgb")));
  return mesh;
}
