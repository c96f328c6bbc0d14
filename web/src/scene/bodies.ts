import { Color, DoubleSide, FrontSide, Group, Mesh, MeshStandardMaterial, Quaternion, Vector3 } from "three";
import type { Clip } from "../clip";
import type { Geom, GeomTexture, Replay } from "../data/replay";
import type { GeometryStore } from "./geometry";
import { bodyColours, usesDefaultGrey } from "./palette";
import { layOn, type TextureStore } from "./textures";

/** Geoms of this group and above are drawn only when they are asked for. */
export const COLLISION_GROUP = 3;

/** Whether a geom is one that is drawn only when collision shapes are. */
export function isCollisionShape(geom: Geom): boolean {
  return geom.group >= COLLISION_GROUP;
}

/** Whether some geoms are hidden at first: there are collision shapes, and something else to see. */
export function hidesCollisionShapes(replay: Replay): boolean {
  const shown = replay.geoms.filter((geom) => geom.rgba[3]! > 0 && geom.type !== "plane");
  return shown.some(isCollisionShape) && !shown.every(isCollisionShape);
}

/** The geoms of all bodies, as one group per body that is moved by the clip. */
export class Bodies extends Group {
  private readonly groups: Group[];
  private readonly visual: Mesh[] = [];
  private readonly collision: Mesh[] = [];

  /** @param floor the geom that the endless ground stands for, if any */
  constructor(
    private readonly clip: Clip,
    geometries: GeometryStore,
    floor: Geom | null,
    textures: TextureStore,
  ) {
    super();
    const { replay } = clip;
    this.groups = replay.bodies.map((name) => Object.assign(new Group(), { name }));
    this.add(...this.groups);

    const materials = new MaterialStore(replay, textures);
    for (const geom of replay.geoms) {
      if (geom.rgba[3]! <= 0 || geom === floor) continue;
      const mesh = new Mesh(geometries.get(geom), materials.get(geom));
      const [x, y, z] = geom.position as [number, number, number];
      const [qw, qx, qy, qz] = geom.quaternion as [number, number, number, number];
      mesh.position.set(x, y, z);
      mesh.quaternion.set(qx, qy, qz, qw);
      mesh.name = geom.name;
      mesh.userData["body"] = geom.body;
      mesh.userData["geom"] = geom;
      mesh.castShadow = geom.rgba[3]! > 0.5;
      mesh.receiveShadow = true;
      this.groups[geom.body]!.add(mesh);
      (isCollisionShape(geom) ? this.collision : this.visual).push(mesh);
    }
  }

  /** Geoms that are drawn: those with an alpha above zero, except the floor and collision shapes that are hidden. */
  get drawn(): number {
    const shown = this.collision.filter((mesh) => mesh.visible).length;
    return this.visual.length + shown;
  }

  showCollisionShapes(on: boolean): void {
    for (const mesh of this.collision) mesh.visible = on;
  }

  setTime(time: number): void {
    this.groups.forEach((group, body) => this.clip.pose(body, time, group.position, group.quaternion));
  }
}

/** Makes materials and gives the same one to geoms of the same colour. */
class MaterialStore {
  private readonly made = new Map<string, MeshStandardMaterial>();
  private readonly colours: Color[];

  constructor(
    private readonly replay: Replay,
    private readonly textures: TextureStore,
  ) {
    this.colours = bodyColours(replay);
  }

  /** One material, or one for every paint of a mesh. */
  get(geom: Geom): MeshStandardMaterial | MeshStandardMaterial[] {
    const [r, g, b, alpha] = geom.rgba as [number, number, number, number];
    if (geom.painted) {
      const { paints, texcoords } = this.replay.meshes[geom.mesh!]!;
      return paints.map(({ rgb, image }) => {
        const shown = texcoords === null ? null : image;
        const [r, g, b] = shown === null ? (rgb as [number, number, number]) : [1, 1, 1];
        const texture = shown === null ? null : { image: shown, map: "corners" as const, repeat: [1, 1] };
        return this.make(geom, new Color().setRGB(r, g, b, "srgb"), alpha, texture);
      });
    }
    const own = usesDefaultGrey(geom) && geom.texture === null;
    const colour = own ? this.colours[geom.body]! : new Color().setRGB(r, g, b, "srgb");
    return this.make(geom, colour, alpha, geom.texture);
  }

  private make(geom: Geom, colour: Color, alpha: number, texture: GeomTexture | null): MeshStandardMaterial {
    // Height fields and free-standing meshes may be open surfaces.
    const open = geom.type === "hfield" || geom.type === "mesh" || geom.type === "plane";
    const key = `${colour.getHexString()} ${alpha} ${open} ${JSON.stringify(texture)}`;
    let material = this.made.get(key);
    if (material === undefined) {
      material = new MeshStandardMaterial({
        color: colour,
        roughness: 0.52,
        metalness: 0,
        dithering: true,
        side: open ? DoubleSide : FrontSide,
        transparent: alpha < 1,
        opacity: Math.min(alpha, 1),
        depthWrite: alpha >= 1,
      });
      if (texture !== null) layOn(material, this.textures.list[texture.image]!, texture);
      this.made.set(key, material);
    }
    return material;
  }
}

const UP = new Vector3(0, 0, 1);

/** The level plane on the world that the endless ground stands for: the highest one that faces up. */
export function findFloor(replay: Replay): Geom | null {
  const level = replay.geoms.filter((geom) => {
    if (geom.type !== "plane" || geom.body !== 0 || geom.rgba[3]! <= 0) return false;
    const [w, x, y, z] = geom.quaternion as [number, number, number, number];
    return UP.clone().applyQuaternion(new Quaternion(x, y, z, w)).z > 0.9999;
  });
  return level.reduce<Geom | null>(
    (best, geom) => (best === null || geom.position[2]! > best.position[2]! ? geom : best),
    null,
  );
}
