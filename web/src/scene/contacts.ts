import {
  Color,
  ConeGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
  type BufferGeometry,
  type Material,
  type Object3D,
} from "three";
import { CONTACT_STRIDE, type Contacts } from "../data/replay";
import { forceScale } from "./force-scale";

const POINT_COLOUR = "#12b5a6";
const FORCE_COLOUR = "#ef5b4c";
/** Sizes as shares of the size of the model. */
const POINT = 0.008;
const SHAFT = 0.0035;
const HEAD_WIDTH = 0.0115;
const HEAD_LENGTH = 0.034;
/** Opacity of the part of a mark that a body hides. */
const GHOST = 0.28;

const Z = new Vector3(0, 0, 1);

/** Contact points as balls and contact forces as arrows, for one frame at a time. */
export class ContactMarks extends Group {
  /** Newtons per metre of arrow. */
  readonly newtonsPerMetre: number;
  /** Contacts of the frame shown last, if points or forces are on. */
  shown = 0;
  private readonly longest: number;
  /** The first contact of the frame shown last. */
  private first = 0;
  private readonly points: Marks;
  private readonly shafts: Marks;
  private readonly heads: Marks;

  /** @param size of the model, in metres, which the marks are scaled to */
  constructor(
    private readonly contacts: Contacts,
    private readonly size: number,
  ) {
    super();
    const most = contacts.offsets.reduce(
      (most, end, i) => Math.max(most, i > 0 ? end - contacts.offsets[i - 1]! : 0),
      0,
    );
    this.points = new Marks(new SphereGeometry(POINT * size, 16, 10), POINT_COLOUR, most);
    // Unit length along z, from the origin up; a head has its base at the origin.
    this.shafts = new Marks(
      new CylinderGeometry(SHAFT * size, SHAFT * size, 1, 12).translate(0, 0.5, 0).rotateX(Math.PI / 2),
      FORCE_COLOUR,
      most,
    );
    this.heads = new Marks(
      new ConeGeometry(HEAD_WIDTH * size, HEAD_LENGTH * size, 20)
        .translate(0, 0.5 * HEAD_LENGTH * size, 0)
        .rotateX(Math.PI / 2),
      FORCE_COLOUR,
      most,
    );
    this.add(this.points, this.shafts, this.heads);
    const scale = forceScale(contacts, size);
    this.newtonsPerMetre = scale.newtonsPerMetre;
    this.longest = scale.longest;
  }

  show(frame: number, points: boolean, forces: boolean): void {
    const from = this.contacts.offsets[frame]!;
    const to = this.contacts.offsets[frame + 1]!;
    this.shown = points || forces ? to - from : 0;
    this.first = from;
    this.points.begin();
    this.shafts.begin();
    this.heads.begin();
    for (let contact = from; contact < to; contact++) {
      const values = this.contacts.values;
      const at = contact * CONTACT_STRIDE;
      position.set(values[at]!, values[at + 1]!, values[at + 2]!);
      if (points) this.points.push(matrix.makeTranslation(position));
      if (forces) this.pushArrow(force.set(values[at + 3]!, values[at + 4]!, values[at + 5]!));
    }
    this.points.end();
    this.shafts.end();
    this.heads.end();
  }

  /** The force of the contact whose point this object is, in newtons, or null if it is none. */
  forceOf(object: Object3D, instance: number | undefined): number | null {
    if (instance === undefined || !this.points.shows(object)) return null;
    const { values } = this.contacts;
    const at = (this.first + instance) * CONTACT_STRIDE + 3;
    return Math.hypot(values[at]!, values[at + 1]!, values[at + 2]!);
  }

  /** An arrow from `position` along `force`, at most `longest` long. */
  private pushArrow(force: Vector3): void {
    const newtons = force.length();
    if (newtons === 0) return;
    const length = Math.min(newtons / this.newtonsPerMetre, this.longest);
    turn.setFromUnitVectors(Z, force.divideScalar(newtons));
    // A short arrow is a smaller head without a shaft.
    const head = Math.min(length, HEAD_LENGTH * this.size);
    const shaft = length - head;
    const shrink = head / (HEAD_LENGTH * this.size);
    if (shaft > 0) this.shafts.push(matrix.compose(position, turn, scale.set(1, 1, shaft)));
    position.addScaledVector(force, shaft);
    this.heads.push(matrix.compose(position, turn, scale.setScalar(shrink)));
  }
}

const position = new Vector3();
const force = new Vector3();
const scale = new Vector3();
const turn = new Quaternion();
const matrix = new Matrix4();

/** Instances of one shape, drawn solid where they can be seen and faintly where something hides them. */
class Marks extends Group {
  private used = 0;
  private readonly solid: InstancedMesh;
  private readonly ghost: InstancedMesh;

  constructor(geometry: BufferGeometry, colour: string, capacity: number) {
    super();
    const color = new Color(colour);
    const emissive = color.clone().multiplyScalar(0.35);
    this.solid = instances(geometry, new MeshStandardMaterial({ color, emissive, roughness: 0.5 }), capacity);
    this.ghost = instances(
      geometry,
      new MeshBasicMaterial({
        color,
        transparent: true,
        opacity: GHOST,
        depthTest: false,
        depthWrite: false,
        fog: false,
      }),
      capacity,
    );
    this.ghost.instanceMatrix = this.solid.instanceMatrix;
    this.ghost.renderOrder = 1;
    this.solid.castShadow = false;
    this.add(this.solid, this.ghost);
  }

  begin(): void {
    this.used = 0;
  }

  /** Whether an object is drawn by these marks. */
  shows(object: Object3D): boolean {
    return object === this.solid || object === this.ghost;
  }

  push(matrix: Matrix4): void {
    this.solid.setMatrixAt(this.used++, matrix);
  }

  end(): void {
    // Where the pointer meets them is found by their bounds.
    this.solid.boundingSphere = this.ghost.boundingSphere = null;
    this.solid.count = this.used;
    this.ghost.count = this.used;
    this.visible = this.used > 0;
    this.solid.instanceMatrix.needsUpdate = true;
  }
}

function instances(geometry: BufferGeometry, material: Material, capacity: number): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, Math.max(capacity, 1));
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false;
  return mesh;
}
