import { PerspectiveCamera, Sphere, Vector3 } from "three";
import { describe, expect, test } from "vitest";
import { creaseNormals } from "../src/scene/crease";
import { forceScale } from "../src/scene/force-scale";
import { fit } from "../src/scene/framing";

describe("the first view", () => {
  const camera = new PerspectiveCamera(32, 1.6);
  const few = [
    new Sphere(new Vector3(3, 1, 0.2), 0.3),
    new Sphere(new Vector3(-1, 2, 1.5), 0.1),
    new Sphere(new Vector3(0, -4, 0.5), 0.5),
  ];
  const snake = Array.from({ length: 40 }, (_, i) => new Sphere(new Vector3(0.2 * i, 0, 0.05), 0.1));

  test.each([
    ["few", few, -52, 11],
    ["few", few, 0, 0],
    ["few", few, 120, 60],
    ["a snake", snake, -52, 11],
    ["a snake", snake, 2, 5],
  ])("holds everything and touches the border (%s)", (_, balls, azimuth, elevation) => {
    const { target, distance, direction } = fit(camera, balls, { azimuth, elevation }, 0.9, 0.8);
    camera.up.set(0, 0, 1);
    camera.position.copy(target).addScaledVector(direction, distance);
    camera.lookAt(target);
    camera.updateMatrixWorld();
    camera.updateProjectionMatrix();

    const tangent = Math.tan((camera.fov * Math.PI) / 360);
    const reaches = balls.map((ball) => {
      const seen = ball.center.clone().applyMatrix4(camera.matrixWorldInverse);
      const x = (Math.abs(seen.x) + ball.radius) / (-seen.z * tangent * camera.aspect * 0.9);
      const y = (Math.abs(seen.y) + ball.radius) / (-seen.z * tangent * 0.8);
      return Math.max(x, y);
    });
    expect(Math.max(...reaches)).toBeCloseTo(1, 9);
  });
});

describe("crease normals", () => {
  /** Two unit triangles that share the edge along y and bend by `angle` about it. */
  function roof(angle: number): { vertices: Float32Array; triangles: Uint16Array } {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return {
      vertices: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, -c, 0, -s, 0, 0, 0, 0, 1, 0),
      triangles: Uint16Array.of(0, 1, 2, 3, 4, 5), // the edge is stored twice, as in STL
    };
  }
  const normal = (angle: number, corner: number): number[] => {
    const { vertices, triangles } = roof(angle);
    return [...creaseNormals(vertices, triangles).normals.subarray(3 * corner, 3 * corner + 3)];
  };

  test("are shared across a gentle bend", () => {
    const angle = 0.4;
    const [x, , z] = normal(angle, 0);
    expect(Math.atan2(-x!, z!)).toBeCloseTo(angle / 2, 6);
  });

  test("are apart across a sharp one", () => {
    expect(normal(1.2, 0)).toEqual([0, 0, 1]);
  });
});

describe("the scale of force arrows", () => {
  const scaleOf = (forces: number[]): number =>
    forceScale(
      {
        offsets: Uint32Array.of(0, forces.length),
        values: Float32Array.from(forces.flatMap((force) => [0, 0, 0, 0, 0, force])),
      },
      1,
    ).newtonsPerMetre;

  test("is round and fits the ordinary force", () => {
    expect(scaleOf([300, 300, 300])).toBe(2000); // 0.15 m each
  });

  test("does not depend on many small forces nor on a rare impact", () => {
    const forces = [...Array<number>(200).fill(0.1), ...Array<number>(100).fill(300), 9000];
    expect(scaleOf(forces)).toBe(2000);
  });

  test("exists without forces", () => {
    expect(scaleOf([])).toBeGreaterThan(0);
  });
});
