import {
  Color,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
  type BufferGeometry,
} from "three";

const UP = new Vector3(0, 1, 0);
const along = new Vector3();
const middle = new Vector3();
const turn = new Quaternion();
const size = new Vector3();
const matrix = new Matrix4();
const colour = new Color();

/** Balls and rods of one opacity, drawn anew for each picture. */
export class Rods extends Group {
  readonly rods: InstancedMesh;
  private readonly balls: InstancedMesh;

  /** @param capacity how many rods and balls there are at most */
  constructor(alpha: number, capacity: { rods: number; balls: number }) {
    super();
    const opacity = Math.min(alpha, 1);
    const material = new MeshStandardMaterial({ roughness: 0.6, transparent: opacity < 1, opacity });
    this.rods = instances(new CylinderGeometry(1, 1, 1, 12, 1, true), material, capacity.rods);
    this.balls = instances(new SphereGeometry(1, 12, 8), material, capacity.balls);
    this.add(this.rods, this.balls);
  }

  begin(): void {
    this.rods.count = this.balls.count = 0;
  }

  ball(point: Vector3, radius: number, rgba: ArrayLike<number>): void {
    push(this.balls, matrix.compose(point, turn.identity(), size.setScalar(radius)), rgba);
  }

  /** A rod between two points, without balls at its ends. */
  rod(from: Vector3, to: Vector3, radius: number, rgba: ArrayLike<number>): void {
    const length = along.subVectors(to, from).length();
    turn.setFromUnitVectors(UP, length > 0 ? along.divideScalar(length) : UP);
    middle.addVectors(from, to).multiplyScalar(0.5);
    push(this.rods, matrix.compose(middle, turn, size.set(radius, length, radius)), rgba);
  }

  end(): void {
    for (const mesh of [this.rods, this.balls]) {
      // Where the pointer meets them is found by their bounds.
      mesh.boundingSphere = null;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
    }
  }
}

function push(mesh: InstancedMesh, matrix: Matrix4, rgba: ArrayLike<number>): void {
  const index = mesh.count++;
  mesh.setMatrixAt(index, matrix);
  mesh.setColorAt(index, colour.setRGB(rgba[0]!, rgba[1]!, rgba[2]!, "srgb"));
}

function instances(geometry: BufferGeometry, material: MeshStandardMaterial, capacity: number): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, capacity);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false;
  mesh.castShadow = material.opacity > 0.5;
  mesh.receiveShadow = true;
  return mesh;
}
