import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Mesh, MeshStandardMaterial, Sphere } from "three";
import type { Clip } from "../clip";
import type { SoftBody, SoftStress } from "../data/replay";
import { scaleColour } from "./colour-scale";

/** The surfaces of soft bodies, smoothly shaded, their nodes interpolated between frames. */
export class SoftSurfaces extends Group {
  private readonly surfaces: Surface[] = [];
  private isStressed = false;

  constructor(private readonly clip: Clip) {
    super();
    let first = 0;
    for (const body of clip.replay.soft) {
      const surface = new Surface(body, first);
      this.surfaces.push(surface);
      this.add(surface.mesh);
      first += body.nodes;
    }
  }

  /** Colours by stress, where it was recorded, or each body's own colour. */
  showStress(on: boolean): void {
    this.isStressed = on && this.clip.replay.softStress !== null;
    for (const surface of this.surfaces) surface.paint(this.isStressed);
  }

  /** The stress at a node of a surface in a frame, Pa; null where it was not recorded. */
  stressAt(object: object, node: number, frame: number): number | null {
    const { softStress, softPositions, frames } = this.clip.replay;
    const surface = this.surfaces.find(({ mesh }) => mesh === object);
    if (softStress === null || surface === undefined) return null;
    const nodes = softPositions.length / frames / 3;
    return (softStress.values[frame * nodes + surface.first + node]! / 255) * softStress.most;
  }

  setTime(time: number): void {
    if (this.surfaces.length === 0) return;
    const { replay } = this.clip;
    const frame = this.clip.frameAt(time);
    const next = Math.min(frame + 1, replay.frames - 1);
    const part = Math.min(Math.max(time / replay.frameTime - frame, 0), 1);
    const stride = replay.softPositions.length / replay.frames;
    for (const surface of this.surfaces) {
      surface.show(replay.softPositions, frame * stride, next * stride, part);
      if (this.isStressed) surface.showStress(replay.softStress!, (frame * stride) / 3, (next * stride) / 3, part);
    }
  }
}

/** Balls around the soft bodies in one frame. */
export function softBalls({ replay }: Clip, frame: number): Sphere[] {
  const stride = replay.softPositions.length / replay.frames;
  let from = frame * stride;
  return replay.soft.map(({ nodes }) => {
    const positions = new BufferAttribute(replay.softPositions.subarray(from, from + 3 * nodes), 3);
    from += 3 * nodes;
    const geometry = new BufferGeometry().setAttribute("position", positions);
    geometry.computeBoundingSphere();
    return geometry.boundingSphere!;
  });
}

/** The colours of the scale as the shader takes them. */
const COLOURS = Array.from({ length: 256 }, (_, i) =>
  new Color().setRGB(...scaleColour(i / 255), "srgb"),
);

class Surface {
  readonly mesh: Mesh;
  private readonly positions: BufferAttribute;
  private readonly colours: BufferAttribute;
  private readonly own: Color;
  private readonly material: MeshStandardMaterial;
  private readonly geometry = new BufferGeometry();

  /** @param first its first node among those of all soft bodies */
  constructor(
    body: SoftBody,
    readonly first: number,
  ) {
    const [r, g, b, alpha] = body.rgba as [number, number, number, number];
    this.positions = new BufferAttribute(new Float32Array(3 * body.nodes), 3).setUsage(DynamicDrawUsage);
    this.geometry.setAttribute("position", this.positions);
    this.geometry.setIndex(new BufferAttribute(body.triangles, 1));
    this.own = new Color().setRGB(r, g, b, "srgb");
    this.colours = new BufferAttribute(new Float32Array(3 * body.nodes), 3).setUsage(DynamicDrawUsage);
    const look = { color: this.own, roughness: 0.7, transparent: alpha < 1, opacity: alpha };
    this.material = new MeshStandardMaterial(look);
    this.mesh = new Mesh(this.geometry, this.material);
    this.mesh.name = body.name;
    this.mesh.userData["soft"] = body.name;
    this.mesh.castShadow = alpha > 0.5;
    this.mesh.receiveShadow = true;
  }

  /** With colours of its nodes, or its own. */
  paint(byNode: boolean): void {
    if (byNode) this.geometry.setAttribute("color", this.colours);
    else this.geometry.deleteAttribute("color");
    this.material.vertexColors = byNode;
    this.material.color = byNode ? new Color(0xffffff) : this.own;
    this.material.needsUpdate = true;
  }

  showStress({ values }: SoftStress, frame: number, next: number, part: number): void {
    for (let i = 0; i < this.colours.count; i++) {
      const [here, there] = [values[frame + this.first + i]!, values[next + this.first + i]!];
      const { r, g, b } = COLOURS[Math.round(here + part * (there - here))]!;
      this.colours.setXYZ(i, r, g, b);
    }
    this.colours.needsUpdate = true;
  }

  show(all: Float32Array, frame: number, next: number, part: number): void {
    const { array } = this.positions;
    const [here, there] = [frame + 3 * this.first, next + 3 * this.first];
    for (let i = 0; i < array.length; i++) array[i] = all[here + i]! + part * (all[there + i]! - all[here + i]!);
    this.positions.needsUpdate = true;
    this.geometry.computeVertexNormals();
    this.geometry.computeBoundingSphere();
  }
}
