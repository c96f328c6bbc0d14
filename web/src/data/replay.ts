/** A decoded replay: what `docs/replay-format.md` describes, checked and unpacked. */

export const GEOM_TYPES = ["plane", "sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh", "hfield"] as const;
export type GeomType = (typeof GEOM_TYPES)[number];

/** Numbers in `size` for each type, in metres. */
export const SIZE_LENGTH: Readonly<Record<GeomType, number>> = {
  plane: 2,
  sphere: 1,
  capsule: 2,
  cylinder: 2,
  ellipsoid: 3,
  box: 3,
  mesh: 0,
  hfield: 0,
};

/** How a texture lies on a geom: see `docs/replay-format.md`. */
export type Mapping =
  | { readonly map: "plane"; readonly scale: readonly number[]; readonly offset: readonly number[] }
  | { readonly map: "cube"; readonly scale: readonly number[] }
  | {
      readonly map: "sphere" | "cylinder" | "box";
      readonly size: readonly number[];
      readonly repeat: readonly number[];
    }
  | { readonly map: "corners"; readonly repeat: readonly number[] };

export type GeomTexture = Mapping & {
  /** Index into `textures`. */
  readonly image: number;
};

export interface Texture {
  readonly kind: "2d" | "cube";
  /** A PNG file; of a cube six squares below each other. */
  readonly png: Uint8Array<ArrayBuffer>;
}

export interface Geom {
  readonly name: string;
  /** Index into `bodies`; 0 is the world. */
  readonly body: number;
  readonly type: GeomType;
  readonly size: readonly number[];
  /** Pose in the body: position in metres and unit quaternion w, x, y, z. */
  readonly position: readonly number[];
  readonly quaternion: readonly number[];
  readonly rgba: readonly number[];
  /** From 3 on hidden at first: collision shapes beside visual ones. */
  readonly group: number;
  /** Index into `meshes`, for the types mesh and hfield. */
  readonly mesh: number | null;
  /** What is laid over its colour. */
  readonly texture: GeomTexture | null;
  /** Whether it shows the paints of its mesh instead of its colour. */
  readonly painted: boolean;
}

/** What triangles of a mesh are painted with. */
export interface Paint {
  readonly rgb: readonly number[];
  /** Index into `textures`, in the place of the colour. */
  readonly image: number | null;
}

export interface Mesh {
  /** x, y, z of each vertex. */
  readonly vertices: Float32Array<ArrayBuffer>;
  /** Three vertex indices per triangle, counter-clockwise seen from outside. */
  readonly triangles: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
  /** u, v of the three corners of each triangle, from the upper left corner of a texture; or null. */
  readonly texcoords: Float32Array<ArrayBuffer> | null;
  readonly paints: readonly Paint[];
  /** Index into `paints` for each triangle, or null. */
  readonly paintOf: Uint32Array<ArrayBuffer> | null;
}

/** Stresses as parts of a scale. */
export interface SoftStress {
  /** The end of the scale, Pa. */
  readonly most: number;
  /** Frame by frame, a byte for each surface node of all soft bodies: 255 is the end of the scale, or more. */
  readonly values: Uint8Array;
}

/** The surface of a soft body. */
export interface SoftBody {
  readonly name: string;
  readonly rgba: readonly number[];
  /** Nodes on the surface; those of the bodies before come first in `softPositions`. */
  readonly nodes: number;
  /** Three nodes per triangle, counter-clockwise seen from outside. */
  readonly triangles: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
}

/** A point of a body that a string runs through, in the body's frame. */
export interface StringPoint {
  readonly body: number;
  readonly position: readonly number[];
}

/** A branch of a spatial tendon. */
export interface TendonString {
  readonly name: string;
  readonly rgba: readonly number[];
  /** In metres. */
  readonly radius: number;
  /** From 3 on hidden at first, as geoms. */
  readonly group: number;
  /** What it runs through; null stands for the next point of `stringPoints`. */
  readonly points: readonly (StringPoint | null)[];
}

/** A text of a program, shown at the frames `first .. end`. */
export interface Label {
  readonly text: string;
  /** Its middle, in the world. */
  readonly position: readonly number[];
  /** Height of capital letters, in metres. */
  readonly height: number;
  readonly rgba: readonly number[];
  readonly first: number;
  readonly end: number;
}

/** Contacts of all frames in one array; those of frame i are `offsets[i] .. offsets[i + 1]`. */
export interface Contacts {
  readonly offsets: Uint32Array;
  /** Per contact: position xyz, force xyz on the second body in newtons, world frame. */
  readonly values: Float32Array;
}

export const CONTACT_STRIDE = 6;
export const MARKER_STRIDE = 13;
export const POSE_STRIDE = 7;

export const SERIES = ["time", "kinetic", "potential", "contacts", "newton_iterations"] as const;
export type SeriesName = (typeof SERIES)[number];
/** One value per frame; NaN where the file holds null. A series that the file leaves out is missing. */
export type Series = Partial<Record<SeriesName, Float64Array>>;

export interface Replay {
  readonly name: string;
  /** Seconds between frames. */
  readonly frameTime: number;
  readonly frames: number;
  readonly bodies: readonly string[];
  /** Parent of each body (-1 for the world), or null if the file does not say. */
  readonly parents: readonly number[] | null;
  readonly geoms: readonly Geom[];
  readonly meshes: readonly Mesh[];
  readonly textures: readonly Texture[];
  /** The cube among the textures that surrounds the scene, or null. */
  readonly sky: number | null;
  /** Frame by frame, body by body without the world: position x, y, z and quaternion w, x, y, z. */
  readonly poses: Float32Array;
  readonly contacts: Contacts;
  readonly soft: readonly SoftBody[];
  /** Frame by frame, the surface nodes of all soft bodies, x, y, z of each. */
  readonly softPositions: Float32Array<ArrayBuffer>;
  /** Von Mises stresses at these nodes, or null if they were not recorded. */
  readonly softStress: SoftStress | null;
  readonly strings: readonly TendonString[];
  /** Frame by frame, the points of all strings that no body carries, x, y, z of each. */
  readonly stringPoints: Float32Array<ArrayBuffer>;
  /** Balls and rods of programs: the frames `first, end` that show it, xyz of both ends, radius, rgba. */
  readonly markers: Float32Array<ArrayBuffer>;
  readonly labels: readonly Label[];
  readonly series: Series;
  readonly summary: Readonly<Record<string, unknown>>;
}
