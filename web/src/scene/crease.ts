/** Shading normals of a triangle mesh: smooth over gentle bends, sharp across creases. */

/** Faces that bend by more than this are divided by a crease. */
const CREASE = (35 * Math.PI) / 180;

/**
 * Unrolls the triangles into three corners each. The normal of a corner is the area-weighted mean of the faces around
 * its vertex that bend by less than the crease angle from its own face. Vertices at the same place count as one, since
 * formats such as STL repeat them for every face.
 */
export function creaseNormals(
  vertices: Float32Array,
  triangles: Uint16Array | Uint32Array,
): { positions: Float32Array<ArrayBuffer>; normals: Float32Array<ArrayBuffer> } {
  const positions = new Float32Array(triangles.length * 3);
  for (let corner = 0; corner < triangles.length; corner++) {
    positions.set(vertices.subarray(3 * triangles[corner]!, 3 * triangles[corner]! + 3), 3 * corner);
  }
  const faces = faceNormals(positions);
  const around = facesAround(weld(vertices), triangles);

  const normals = new Float32Array(positions.length);
  const limit = Math.cos(CREASE);
  for (let corner = 0; corner < triangles.length; corner++) {
    const own = 3 * Math.floor(corner / 3);
    const sum = [0, 0, 0];
    for (const face of around(corner)) {
      const at = 3 * face;
      const cosine =
        faces.unit[own]! * faces.unit[at]! +
        faces.unit[own + 1]! * faces.unit[at + 1]! +
        faces.unit[own + 2]! * faces.unit[at + 2]!;
      if (cosine < limit) continue;
      for (let k = 0; k < 3; k++) sum[k]! += faces.unit[at + k]! * faces.area[face]!;
    }
    const length = Math.hypot(sum[0]!, sum[1]!, sum[2]!) || 1;
    for (let k = 0; k < 3; k++) normals[3 * corner + k] = sum[k]! / length;
  }
  return { positions, normals };
}

/** Unit normal and (twice the) area of each face, from three corners a face. */
function faceNormals(corners: Float32Array): { unit: Float32Array; area: Float32Array } {
  const count = corners.length / 9;
  const unit = new Float32Array(3 * count);
  const area = new Float32Array(count);
  for (let face = 0; face < count; face++) {
    const at = 9 * face;
    const edge = (to: number, axis: number): number => corners[at + 3 * to + axis]! - corners[at + axis]!;
    const x = edge(1, 1) * edge(2, 2) - edge(1, 2) * edge(2, 1);
    const y = edge(1, 2) * edge(2, 0) - edge(1, 0) * edge(2, 2);
    const z = edge(1, 0) * edge(2, 1) - edge(1, 1) * edge(2, 0);
    const length = Math.hypot(x, y, z);
    area[face] = length;
    unit.set(length > 0 ? [x / length, y / length, z / length] : [0, 0, 0], 3 * face);
  }
  return { unit, area };
}

/** For each vertex the first vertex at the same place. */
function weld(vertices: Float32Array): Uint32Array {
  const first = new Map<string, number>();
  const welded = new Uint32Array(vertices.length / 3);
  for (let vertex = 0; vertex < welded.length; vertex++) {
    const key = `${vertices[3 * vertex]} ${vertices[3 * vertex + 1]} ${vertices[3 * vertex + 2]}`;
    const known = first.get(key);
    if (known === undefined) first.set(key, vertex);
    welded[vertex] = known ?? vertex;
  }
  return welded;
}

/** Lists the faces that share the vertex of a corner. */
function facesAround(welded: Uint32Array, triangles: Uint16Array | Uint32Array): (corner: number) => Uint32Array {
  const start = new Uint32Array(welded.length + 1);
  for (const vertex of triangles) start[welded[vertex]! + 1]! += 1;
  for (let vertex = 0; vertex < welded.length; vertex++) start[vertex + 1]! += start[vertex]!;
  const filled = start.slice();
  const list = new Uint32Array(triangles.length);
  triangles.forEach((vertex: number, corner: number) => {
    const at = welded[vertex]!;
    list[filled[at]!] = Math.floor(corner / 3);
    filled[at]! += 1;
  });
  return (corner) => {
    const vertex = welded[triangles[corner]!]!;
    return list.subarray(start[vertex], start[vertex + 1]);
  };
}
