import type { Series } from "../data/replay";
import type { Playback } from "../playback";
import { element } from "./dom";
import { formatNumber } from "./format";
import { drawBars, drawLine, extent, type Range } from "./curve";

interface Curve {
  readonly label: string;
  /** Name of a CSS variable. */
  readonly colour: string;
  readonly values: Float64Array;
  readonly style: "line" | "bars";
}

interface Lane {
  readonly curves: Curve[];
  readonly range: Range;
  readonly canvas: HTMLCanvasElement;
  /** Where the current value of each curve is shown. */
  readonly values: HTMLElement[];
}

/** Energy, contacts and Newton iterations over time, aligned with the scrub bar, with a cursor at the current frame. */
export class Plots {
  readonly root = element("div", { class: "plots" });
  private readonly lanes: Lane[];
  private readonly cursor = element("div", { class: "cursor" });

  constructor(
    series: Series,
    private readonly playback: Playback,
  ) {
    this.lanes = lanesOf(series);
    const area = element("div", { class: "area" }, ...this.lanes.map((lane) => lane.canvas), this.cursor);
    const labels = element("div", { class: "labels" }, ...this.lanes.map(label));
    const ranges = element("div", { class: "ranges" }, ...this.lanes.map(bounds));
    this.root.append(labels, area, ranges);
    this.root.classList.toggle("empty", this.lanes.length === 0);

    const seek = (event: PointerEvent): void => {
      const { left, width } = area.getBoundingClientRect();
      playback.seek((playback.duration * (event.clientX - left)) / width);
    };
    area.addEventListener("pointerdown", (event) => {
      area.setPointerCapture(event.pointerId);
      seek(event);
    });
    area.addEventListener("pointermove", (event) => {
      if (area.hasPointerCapture(event.pointerId)) seek(event);
    });
  }

  get empty(): boolean {
    return this.lanes.length === 0;
  }

  /** Draws the curves, after a change of size or of colours. */
  redraw(): void {
    const style = getComputedStyle(this.root);
    const density = Math.min(devicePixelRatio, 2);
    for (const { canvas, curves, range } of this.lanes) {
      const { clientWidth: width, clientHeight: height } = canvas;
      const context = canvas.getContext("2d");
      if (width === 0 || context === null) continue;
      canvas.width = Math.round(width * density);
      canvas.height = Math.round(height * density);
      context.scale(density, density);
      for (const { values, colour, style: drawing } of curves) {
        const paint = style.getPropertyValue(colour);
        if (drawing === "bars") drawBars(context, values, range, width, height, paint);
        else drawLine(context, values, range, width, height, paint);
      }
    }
  }

  /** Moves the cursor and shows the values under it. */
  update(): void {
    const { time, duration, frame } = this.playback;
    this.cursor.style.left = `${duration > 0 ? (100 * time) / duration : 0}%`;
    for (const lane of this.lanes) {
      lane.curves.forEach(({ values }, i) => {
        lane.values[i]!.textContent = formatNumber(values[frame]!);
      });
    }
  }
}

function lanesOf(series: Series): Lane[] {
  const { kinetic, potential, contacts, newton_iterations: iterations } = series;
  const energy: Curve[] = [];
  if (kinetic) energy.push({ label: "kinetic, J", colour: "--kinetic", values: kinetic, style: "line" });
  if (potential) energy.push({ label: "potential, J", colour: "--potential", values: potential, style: "line" });
  if (kinetic && potential) {
    const total = kinetic.map((value, i) => value + potential[i]!);
    energy.push({ label: "total, J", colour: "--total", values: total, style: "line" });
  }
  const lanes: Lane[] = [];
  if (energy.length > 0) lanes.push(lane("Energy", energy));
  if (contacts) {
    lanes.push(lane("Contacts", [{ label: "contacts", colour: "--contacts", values: contacts, style: "bars" }]));
  }
  if (iterations) {
    const curve: Curve = { label: "iterations", colour: "--iterations", values: iterations, style: "bars" };
    lanes.push(lane("Newton iterations", [curve]));
  }
  return lanes;
}

function lane(title: string, curves: Curve[]): Lane {
  const range = extent(
    curves.map((curve) => curve.values),
    curves[0]?.style === "bars",
  );
  const canvas = element("canvas", { class: "lane", role: "img", title, "aria-label": `${title} over time` });
  return { curves, range, canvas, values: curves.map(() => element("b")) };
}

function label({ curves, values, canvas }: Lane): HTMLElement {
  const entries = curves.map((curve, i) =>
    element("span", { class: "entry", style: `--dot: var(${curve.colour})` }, curve.label, values[i]!),
  );
  return element("div", { class: "label", title: canvas.title }, ...entries);
}

/** The values at the upper and the lower border of a lane. */
function bounds({ range }: Lane): HTMLElement {
  const ends = [range.high, range.low].map((value) => element("span", {}, formatNumber(Number(value.toPrecision(3)))));
  return element("div", { class: "bounds" }, ...ends);
}
