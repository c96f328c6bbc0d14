import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Mesh, MeshStandardMaterial, Sphere } from "three";
import type { Clip } from "../clip";
import type { SoftBody } from "../data/replay";

/** The surfaces of soft bodies, smoothly shaded, their nodes interpolated between frames. */
export class SoftSurfaces extends Group {
  private readonly surfaces: Surface[] = [];

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

  setTime(time: number): void {
    if (this.surfaces.length === 0) return;
    const { replay } = this.clip;
    const frame = this.clip.frameAt(time);
    const next = Math.min(frame + 1, replay.frames - 1);
    const part = Math.min(Math.max(time / replay.frameTime - frame, 0), 1);
    const stride = replay.softPositions.length / replay.frames;
    for (const surface of this.surfaces) surface.show(replay.softPositions, frame * stride, next * stride, part);
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

class Surface {
  readonly mesh: Mesh;
  private readonly positions: BufferAttribute;
  private readonly geometry = new BufferGeometry();

  /** @param first its first node among those of all soft bodies */
  constructor(
    body: SoftBody,
    private readonly first: number,
  ) {
    const [r, g, b, alpha] = body.rgba as [number, number, number, number];
    this.positions = new BufferAttribute(new Float32Array(3 * body.nodes), 3).setUsage(DynamicDrawUsage);
    this.geometry.setAttribute("position", this.positions);
    this.geometry.setIndex(new BufferAttribute(body.triangles, 1));
    const color = new Color().setRGB(r, g, b, "srgb");
    const material = new MeshStandardMaterial({ color, roughness: 0.7, transparent: alpha < 1, opacity: alpha });
    this.mesh = new Mesh(this.geometry, material);
    this.mesh.name = body.name;
    this.mesh.userData["soft"] = body.name;
    this.mesh.castShadow = alpha > 0.5;
    this.mesh.receiveShadow = true;
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
