import { BackSide, BoxGeometry, Color, Mesh, MeshBasicMaterial, PMREMGenerator, Scene, SphereGeometry, type Texture, type WebGLRenderer } from "three";
import type { SceneTheme } from "./theme";

/** What shiny surfaces mirror: the sky as a sphere, with a soft box overhead and two at the sides, as in a studio. */
export function environmentMap(renderer: WebGLRenderer, theme: SceneTheme): Texture {
  const scene = new Scene();
  const dome = new Mesh(
    new SphereGeometry(10, 24, 12),
    new MeshBasicMaterial({ side: BackSide, color: new Color(theme.horizon).lerp(new Color("white"), 0.35) }),
  );
  const floor = panel([20, 20, 0.1], [0, 0, -4], new Color(theme.ground).multiplyScalar(0.6));
  scene.add(
    dome,
    floor,
    panel([4, 4, 0.1], [-2, -1, 7], new Color(6, 6, 6)),
    panel([0.1, 6, 2], [8, 0, 3], new Color(2.5, 2.5, 2.6)),
    panel([6, 0.1, 2], [0, -8, 3], new Color(2, 1.9, 1.8)),
  );
  const generator = new PMREMGenerator(renderer);
  const map = generator.fromScene(scene, 0.03).texture;
  generator.dispose();
  return map;
}

function panel(size: [number, number, number], position: [number, number, number], color: Color): Mesh {
  const mesh = new Mesh(new BoxGeometry(...size), new MeshBasicMaterial({ color }));
  mesh.position.set(...position);
  return mesh;
}
