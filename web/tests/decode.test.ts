import { describe, expect, test } from "vitest";
import { Clip } from "../src/clip";
import { mostAtOnce } from "../src/scene/markers";
import { stringPaths } from "../src/scene/strings";
import { decodeReplay } from "../src/data/decode";
import { ReplayError } from "../src/data/error";
import { base64, contactBlock, f32, f32Delta, gzipBase64 } from "./encode.ts";
import { syntheticReplay } from "./synthetic.ts";

/** One body and two frames, with values that f32 holds exactly. */
const POSES = [1, 2, 3, 1, 0, 0, 0, 1.5, -2, 3.25, 0, 1, 0, 0];
const CONTACTS = [
  [{ position: [1, 2, 0], force: [0.5, 0, 9.75] }],
  [
    { position: [-1, 0, 0.25], force: [0, 0, 4] },
    { position: [4, 5, 6], force: [7, 8, 9] },
  ],
];

function small(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    format: 1,
    name: "small",
    up: "z",
    dt_frame: 0.25,
    frames: 2,
    bodies: ["world", "ball"],
    geoms: [
      {
        body: 1,
        type: "sphere",
        size: [0.5],
        pos: [0, 0, 0],
        quat: [2, 0, 0, 0],
        rgba: [1, 0, 0, 1],
        mesh: null,
        name: "skin",
      },
    ],
    meshes: [],
    encoding: "f32",
    poses: gzipBase64(f32(POSES)),
    contacts: gzipBase64(contactBlock(CONTACTS)),
    series: { time: [0, 0.25], kinetic: [1, null] },
    summary: { steps: 2 },
    ...changes,
  };
}

/** The message with which `json` is refused. */
async function refusal(json: unknown): Promise<string> {
  const outcome = await decodeReplay(json).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(ReplayError);
  return (outcome as ReplayError).message;
}

describe("a replay", () => {
  test("is unpacked", async () => {
    const replay = await decodeReplay(small());
    expect(replay).toMatchObject({ name: "small", frames: 2, frameTime: 0.25, parents: null, summary: { steps: 2 } });
    expect([...replay.poses]).toEqual(POSES);
    expect(replay.geoms[0]).toMatchObject({ body: 1, type: "sphere", size: [0.5], mesh: null });
    expect(replay.series.kinetic).toEqual(Float64Array.of(1, NaN));
    expect(replay.series.potential).toBeUndefined();
  });

  test("has normalised geom quaternions", async () => {
    expect((await decodeReplay(small())).geoms[0]!.quaternion).toEqual([1, 0, 0, 0]);
  });

  test("keeps the contacts of each frame apart", async () => {
    const { contacts } = await decodeReplay(small());
    expect([...contacts.offsets]).toEqual([0, 1, 3]);
    expect([...contacts.values.subarray(6, 12)]).toEqual([-1, 0, 0.25, 0, 0, 4]);
    expect(contacts.values).toHaveLength(18);
  });

  test("of a world alone has no poses", async () => {
    const empty = small({ bodies: ["world"], geoms: [], poses: gzipBase64(new Uint8Array()) });
    expect((await decodeReplay(empty)).poses).toHaveLength(0);
  });
});

describe("the encoding f32-delta", () => {
  test("gives back the same bits", async () => {
    const values = [...POSES, -0, 1e-40, 3.4e38, 0.1, 0.2, 0.3, 0.4].map(Math.fround);
    const json = small({
      frames: 3,
      encoding: "f32-delta",
      poses: gzipBase64(f32Delta(values, 3)),
      contacts: gzipBase64(contactBlock([[], [], []])),
      series: {},
    });
    const { poses } = await decodeReplay(json);
    expect(new Uint32Array(poses.buffer)).toEqual(new Uint32Array(new Float32Array(values).buffer));
  });

  test("agrees with f32 on a long motion and is smaller", async () => {
    const [plain, delta] = [syntheticReplay({ encoding: "f32" }), syntheticReplay({ encoding: "f32-delta" })];
    expect((await decodeReplay(delta)).poses).toEqual((await decodeReplay(plain)).poses);
    expect(String(delta["poses"]).length).toBeLessThan(0.7 * String(plain["poses"]).length);
  });
});

describe("soft bodies", () => {
  const triangles = base64(new Uint8Array(Uint16Array.of(0, 1, 2).buffer));
  const body = { name: "ball", rgba: [1, 0, 0, 1], nodes: 3, triangles, index_bits: 16 };
  // All zero: differences of zero in every plane.
  const positions = gzipBase64(new Uint8Array(2 * 9 * 4));

  test("are left out where there are none", async () => {
    expect((await decodeReplay(small())).soft).toEqual([]);
  });

  test("have a position for each node in each frame", async () => {
    const replay = await decodeReplay(small({ soft: [body], soft_positions: positions }));
    expect(replay.soft[0]).toMatchObject({ name: "ball", nodes: 3 });
    expect(replay.softPositions.length).toBe(18);
    expect(await refusal(small({ soft: [body, body], soft_positions: positions }))).toBe(
      "soft_positions: expected 144 bytes (2 frames × 6 nodes × 12), found 72",
    );
  });

  test("have a stress for each node in each frame, or none", async () => {
    const file = { soft: [body], soft_positions: positions };
    expect((await decodeReplay(small(file))).softStress).toBeNull();
    const values = gzipBase64(Uint8Array.of(0, 51, 255, 1, 2, 3));
    const { softStress } = await decodeReplay(small({ ...file, soft_stress: { most: 5000, values } }));
    expect(softStress).toEqual({ most: 5000, values: Uint8Array.of(0, 51, 255, 1, 2, 3) });
    const short = { most: 5000, values: gzipBase64(Uint8Array.of(1)) };
    expect(await refusal(small({ ...file, soft_stress: short }))).toBe(
      "soft_stress.values: expected 6 bytes (2 frames × 3 nodes), found 1",
    );
  });

  test("name nodes that are there", async () => {
    const bad = { ...body, nodes: 2 };
    expect(await refusal(small({ soft: [bad], soft_positions: positions }))).toBe(
      "soft[0].triangles: node 2 does not exist, there are 2",
    );
  });
});

describe("meshes", () => {
  const triangle = f32([0, 0, 0, 1, 0, 0, 0, 1, 0]);
  const indices = (values: number[]): string => base64(new Uint8Array(new Uint16Array(values).buffer));

  test("have 16 or 32 bit indices", async () => {
    const wide = base64(new Uint8Array(new Uint32Array([0, 1, 2]).buffer));
    const meshes = [
      { vertices: base64(triangle), triangles: indices([0, 1, 2]), index_bits: 16 },
      { vertices: base64(triangle), triangles: wide, index_bits: 32 },
    ];
    const replay = await decodeReplay(small({ meshes }));
    for (const mesh of replay.meshes) expect([...mesh.triangles]).toEqual([0, 1, 2]);
  });

  test("refuse an index without a vertex", async () => {
    const meshes = [{ vertices: base64(triangle), triangles: indices([0, 1, 3]), index_bits: 16 }];
    expect(await refusal(small({ meshes }))).toBe("meshes[0].triangles: vertex 3 does not exist, there are 3");
  });
});

describe("bad data is refused with its place:", () => {
  const geom = (change: Record<string, unknown>): Record<string, unknown> => {
    const [first] = small()["geoms"] as Record<string, unknown>[];
    return small({ geoms: [{ ...first, ...change }] });
  };
  const nan = POSES.with(9, NaN);

  test.each<[string, unknown, RegExp]>([
    ["not an object", 7, /^replay: expected an object, found 7/],
    ["another format", small({ format: 2 }), /^format: this page reads format 1, the file has 2/],
    ["y up", small({ up: "y" }), /^up: expected one of z/],
    ["no frames", small({ frames: 0 }), /^frames: expected an integer from 1/],
    ["a frame time of zero", small({ dt_frame: 0 }), /^dt_frame: expected a positive time/],
    ["a missing list", small({ bodies: undefined }), /^bodies: expected a list, found nothing/],
    ["an unknown geom", geom({ type: "torus" }), /^geoms\[0\]\.type: expected one of plane/],
    ["a size too short", geom({ type: "box" }), /^geoms\[0\]\.size: expected 3 numbers, found 1/],
    ["a negative size", geom({ size: [-1] }), /^geoms\[0\]\.size\[0\]: expected a length/],
    ["a body out of range", geom({ body: 2 }), /^geoms\[0\]\.body: expected an integer from 0 to 1, found 2/],
    ["a mesh out of range", geom({ type: "mesh", mesh: 0 }), /^geoms\[0\]\.mesh: expected/],
    ["a parent after its child", small({ parents: [-1, 1] }), /^parents\[1\]: expected an integer from 0 to 0/],
    ["poses that are not base64", small({ poses: "*" }), /^poses: is not base64/],
    ["poses that are not gzip", small({ poses: base64(f32(POSES)) }), /^poses: is not a complete gzip stream/],
    ["poses cut short", small({ poses: gzipBase64(f32(POSES.slice(1))) }), /^poses: expected 56 bytes .*, found 52/],
    [
      "poses that are not numbers",
      small({ poses: gzipBase64(f32(nan)) }),
      /^poses: not a finite number in frame 1, body "ball"/,
    ],
    ["an unknown encoding", small({ encoding: "f16" }), /^encoding: expected one of f32, f32-delta/],
    [
      "contacts cut short",
      small({ contacts: gzipBase64(contactBlock(CONTACTS).subarray(0, 40)) }),
      /^contacts: the 40 bytes end inside frame 1/,
    ],
    [
      "contacts left over",
      small({ contacts: gzipBase64(contactBlock([...CONTACTS, []])) }),
      /^contacts: 2 bytes left over/,
    ],
    [
      "a series of another length",
      small({ series: { time: [0] } }),
      /^series\.time: expected 2 values, one per frame, found 1/,
    ],
  ])("%s", async (_, json, message) => {
    expect(await refusal(json)).toMatch(message);
  });

  test("a gzip stream cut short", async () => {
    const whole = Buffer.from(gzipBase64(f32(POSES)), "base64");
    const cut = base64(whole.subarray(0, whole.length - 9));
    expect(await refusal(small({ poses: cut }))).toMatch(/^poses: is not a complete gzip stream/);
  });
});

describe("strings", () => {
  const points = [{ body: 0, pos: [0, 0, 2] }, null, { body: 1, pos: [0, 0, 0.5] }];
  const string = { name: "rope", rgba: [1, 0, 0, 1], radius: 0.01, group: 0, points };
  const free = gzipBase64(f32Delta([1, 0, 0, 3, 0, 4].map(Math.fround), 2));

  test("are left out where there are none", async () => {
    expect((await decodeReplay(small())).strings).toEqual([]);
  });

  test("run through points of bodies, and others between their frames", async () => {
    const replay = await decodeReplay(small({ strings: [string], string_points: free }));
    expect(replay.strings[0]).toMatchObject({ name: "rope", radius: 0.01 });
    const clip = new Clip(replay);
    const path = stringPaths(clip, replay.frameTime / 2).get(replay.strings[0]!)!;
    expect(path[0]!.toArray()).toEqual([0, 0, 2]);
    expect(path[1]!.toArray()).toEqual([2, 0, 2]);
    expect(stringPaths(clip, replay.frameTime).get(replay.strings[0]!)![1]!.toArray()).toEqual([3, 0, 4]);
  });

  test("have all their points, of bodies that are there", async () => {
    expect(await refusal(small({ strings: [string, string], string_points: free }))).toBe(
      "string_points: expected 48 bytes (2 frames × 2 points × 12), found 24",
    );
    const bad = { ...string, points: [{ body: 7, pos: [0, 0, 0] }] };
    expect(await refusal(small({ strings: [bad] }))).toMatch(/^strings\[0\]\.points\[0\]\.body: /);
  });
});

describe("markers and texts", () => {
  const ball = [0, 2, 1, 2, 3, 1, 2, 3, 0.1, 1, 0, 0, 1];
  const rod = [1, 2, 0, 0, 0, 0, 0, 1, 0.02, 0, 1, 0, 0.5];
  const label = { text: "goal\nhere", pos: [0, 0, 1], height: 0.1, rgba: [0, 0, 0, 1], frames: [1, 2] };

  test("are left out where there are none", async () => {
    expect(await decodeReplay(small())).toMatchObject({ markers: new Float32Array(0), labels: [] });
  });

  test("have the frames that show them", async () => {
    const replay = await decodeReplay(small({ markers: gzipBase64(f32([...ball, ...rod])), labels: [label] }));
    expect([...replay.markers]).toEqual([...ball, ...rod].map(Math.fround));
    expect(replay.labels[0]).toMatchObject({ text: "goal\nhere", position: [0, 0, 1], height: 0.1, first: 1, end: 2 });
    expect(mostAtOnce([ball, rod])).toBe(2);
    expect(mostAtOnce([[0, 1], [1, 2], [0, 1], [1, 3]])).toBe(2);
  });

  test("are whole", async () => {
    expect(await refusal(small({ markers: gzipBase64(f32(ball.slice(1))) }))).toMatch(/^markers: holds 12 numbers/);
    expect(await refusal(small({ labels: [{ ...label, height: 0 }] }))).toMatch(/^labels\[0\]\.height: /);
    expect(await refusal(small({ labels: [{ ...label, frames: [0, 3] }] }))).toMatch(/^labels\[0\]\.frames\[1\]: /);
  });
});
