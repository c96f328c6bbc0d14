/** Triangles for each geom type, in the frame of the geom. */

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  CylinderGeometry,
  PlaneGeometry,
  SphereGeometry,
} from "three";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";
import type { Geom, Mesh } from "../data/replay";
import { creaseNormals } from "./crease";

/** Half extent drawn for a plane without one, in metres. */
const ENDLESS = 50;
/** Bevel of a box: this share of its smallest half extent, at most so many metres. It catches the light. */
const BEVEL = 0.08;
const WIDEST_BEVEL = 0.01;

/** Makes geometries and gives the same one to geoms of the same shape. */
export class GeometryStore {
  private readonly made = new Map<string, BufferGeometry>();

  constructor(private readonly meshes: readonly Mesh[]) {}

  get(geom: Geom): BufferGeometry {
    const key = geom.mesh === null ? `${geom.type} ${geom.size.join(" ")}` : `mesh ${geom.mesh}`;
    let geometry = this.made.get(key);
    if (geometry === undefined) {
      geometry = this.make(geom);
      geometry.computeBoundingSphere();
      this.made.set(key, geometry);
    }
    return geometry;
  }

  private make(geom: Geom): BufferGeometry {
    const [a = 0, b = 0, c = 0] = geom.size;
    switch (geom.type) {
      case "plane":
        return new PlaneGeometry(2 * (a || ENDLESS), 2 * (b || ENDLESS));
      case "sphere":
        return new SphereGeometry(a, 64, 40);
      case "ellipsoid":
        return new SphereGeometry(1, 64, 40).scale(a, b, c);
      case "capsule": // three.js lays it along y
        return new CapsuleGeometry(a, 2 * b, 12, 40, 1).rotateX(Math.PI / 2);
      case "cylinder":
        return new CylinderGeometry(a, a, 2 * b, 64).rotateX(Math.PI / 2);
      case "box":
        return box(a, b, c);
      case "mesh":
      case "hfield":
        return fromMesh(this.meshes[geom.mesh ?? 0]!);
    }
  }
}

function box(a: number, b: number, c: number): BufferGeometry {
  const bevel = Math.min(BEVEL * Math.min(a, b, c), WIDEST_BEVEL);
  return bevel > 0 ? new RoundedBoxGeometry(2 * a, 2 * b, 2 * c, 3, bevel) : new BoxGeometry(2 * a, 2 * b, 2 * c);
}

function fromMesh(unsorted: Mesh): BufferGeometry {
  const geometry = new BufferGeometry();
  const mesh = sortByPaint(unsorted);
  const { positions, normals } = creaseNormals(mesh.vertices, mesh.triangles);
  if (mesh.texcoords !== null) geometry.setAttribute("place", new BufferAttribute(mesh.texcoords, 2));
  mesh.paintOf?.forEach((paint, triangle, all) => {
    if (triangle > 0 && all[triangle - 1] === paint) return;
    const end = all.lastIndexOf(paint) + 1;
    geometry.addGroup(3 * triangle, 3 * (end - triangle), paint);
  });
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new BufferAttribute(normals, 3));
  return geometry;
}

/** The same triangles, those of one paint after another. */
function sortByPaint(mesh: Mesh): Mesh {
  const { paintOf, triangles, texcoords } = mesh;
  if (paintOf === null) return mesh;
  const order = Array.from(paintOf.keys()).sort((a, b) => paintOf[a]! - paintOf[b]!);
  const sorted = triangles.slice();
  const places = texcoords?.slice() ?? null;
  order.forEach((from, to) => {
    sorted.set(triangles.subarray(3 * from, 3 * from + 3), 3 * to);
    places?.set(texcoords!.subarray(6 * from, 6 * from + 6), 6 * to);
  });
  return { ...mesh, triangles: sorted, texcoords: places, paintOf: Uint32Array.from(order, (from) => paintOf[from]!) };
}
