import { SCALE } from "../scene/colour-scale";
import { element } from "./dom";
import { formatNumber } from "./format";

const UNITS = [
  ["GPa", 1e9],
  ["MPa", 1e6],
  ["kPa", 1e3],
  ["Pa", 1],
] as const;

/** A stress with the unit that suits the end of its scale. */
export function formatStress(stress: number, most: number): string {
  const [unit, size] = UNITS.find(([, size]) => most >= size) ?? UNITS[UNITS.length - 1]!;
  return `${formatNumber(stress / size)} ${unit}`;
}

/** What the colours of soft bodies mean: a bar from 0 to `most`, Pa, with numbers. */
export function colourBar(most: number): HTMLElement {
  const ticks = [1, 0.5, 0].map((part) => {
    const more = part === 1 ? "≥ " : "";
    return element("span", {}, more + formatStress(part * most, most));
  });
  const bar = element("div", { class: "bar" });
  bar.style.background = `linear-gradient(to top, ${SCALE.join(", ")})`;
  return element(
    "aside",
    { class: "colour-bar card", "aria-label": "Von Mises stress" },
    element("h2", {}, "von Mises stress"),
    element("div", { class: "scale" }, bar, element("div", { class: "ticks" }, ...ticks)),
  );
}
