import { CanvasTexture, Group, Sprite, SpriteMaterial, SRGBColorSpace, Vector3 } from "three";
import { MARKER_STRIDE, type Label, type Replay } from "../data/replay";
import { Rods } from "./rods";

/** Balls, rods and texts that a program drew, those of one frame at a time. */
export class Markers extends Group {
  private readonly bundles: Bundle[];
  private readonly signs: Sign[] = [];

  constructor(private readonly replay: Replay) {
    super();
    const rows = Array.from({ length: replay.markers.length / MARKER_STRIDE }, (_, i) =>
      replay.markers.subarray(i * MARKER_STRIDE, (i + 1) * MARKER_STRIDE),
    );
    const alphas = new Set(rows.map((row) => row[12]!).filter((alpha) => alpha > 0));
    this.bundles = [...alphas].map((alpha) => new Bundle(rows.filter((row) => row[12] === alpha)));
    for (const bundle of this.bundles) this.add(bundle);
  }

  show(frame: number): void {
    for (const bundle of this.bundles) bundle.show(frame);
    const labels = this.replay.labels.filter(({ first, end }) => first <= frame && frame < end);
    while (this.signs.length < labels.length) {
      const sign = new Sign();
      this.signs.push(sign);
      this.add(sign);
    }
    this.signs.forEach((sign, i) => sign.show(labels[i] ?? null));
  }
}

const from = new Vector3();
const to = new Vector3();

/** Markers of one opacity. */
class Bundle extends Group {
  private readonly rods: Rods;

  constructor(private readonly rows: readonly Float32Array[]) {
    super();
    const most = mostAtOnce(rows);
    this.rods = new Rods(rows[0]![12]!, { rods: most, balls: 2 * most });
    this.add(this.rods);
  }

  show(frame: number): void {
    this.rods.begin();
    for (const row of this.rows) {
      if (frame < row[0]! || row[1]! <= frame) continue;
      const [radius, rgba] = [row[8]!, row.subarray(9)];
      this.rods.ball(from.fromArray(row, 2), radius, rgba);
      if (to.fromArray(row, 5).equals(from)) continue;
      this.rods.ball(to, radius, rgba);
      this.rods.rod(from, to, radius, rgba);
    }
    this.rods.end();
  }
}

/** How many of the markers one frame shows at most. */
export function mostAtOnce(rows: readonly ArrayLike<number>[]): number {
  // Ends come before beginnings at the same frame.
  const changes = rows.flatMap((row) => [
    { frame: row[0]!, by: 1 },
    { frame: row[1]!, by: -1 },
  ]);
  changes.sort((a, b) => a.frame - b.frame || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of changes) most = Math.max(most, (now += by));
  return most;
}

/** Pixels of capital letters in the texture, from one line to the next and around the text in such heights. */
const PIXELS = 48;
const LINE = 1.6;
const MARGIN = 0.6;
/** Height of capital letters of the font in its sizes. */
const CAPITALS = 0.73;

/** A text that faces the camera, over all else. */
class Sign extends Sprite {
  private readonly canvas = document.createElement("canvas");
  private drawn = "";

  constructor() {
    super(new SpriteMaterial({ depthTest: false, depthWrite: false, transparent: true, fog: false }));
    this.renderOrder = 2;
  }

  show(label: Label | null): void {
    this.visible = label !== null;
    if (label === null) return;
    const key = JSON.stringify([label.text, label.rgba]);
    if (key !== this.drawn) {
      this.drawn = key;
      this.paint(label);
    }
    const perPixel = label.height / PIXELS;
    this.position.fromArray(label.position);
    this.scale.set(this.canvas.width * perPixel, this.canvas.height * perPixel, 1);
  }

  private paint({ text, rgba }: Label): void {
    const lines = text.split("\n");
    const font = `${PIXELS / CAPITALS}px "DejaVu Sans", Verdana, sans-serif`;
    const pen = this.canvas.getContext("2d")!;
    pen.font = font;
    const widest = Math.max(...lines.map((line) => pen.measureText(line).width));
    this.canvas.width = Math.ceil(widest + 2 * MARGIN * PIXELS);
    this.canvas.height = Math.ceil((LINE * lines.length + 2 * MARGIN) * PIXELS);
    // A canvas of another size forgets its font.
    Object.assign(pen, { font, textAlign: "center", textBaseline: "alphabetic", lineJoin: "round" });
    const [red, green, blue] = rgba.map((part) => Math.round(255 * part));
    const isLight = 0.299 * red! + 0.587 * green! + 0.114 * blue! > 127;
    lines.forEach((line, i) => {
      const baseline = (MARGIN + LINE * (i + 0.5) + 0.5) * PIXELS;
      pen.lineWidth = 0.24 * PIXELS;
      pen.strokeStyle = isLight ? "rgb(0 0 0 / 75%)" : "rgb(255 255 255 / 75%)";
      pen.strokeText(line, this.canvas.width / 2, baseline);
      pen.fillStyle = `rgb(${red} ${green} ${blue})`;
      pen.fillText(line, this.canvas.width / 2, baseline);
    });
    this.material.map?.dispose();
    const map = new CanvasTexture(this.canvas);
    map.colorSpace = SRGBColorSpace;
    this.material.map = map;
    this.material.opacity = rgba[3]!;
    this.material.needsUpdate = true;
  }
}
