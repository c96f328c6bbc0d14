import type { Replay } from "../data/replay";
import { element } from "./dom";
import { formatKey, formatNumber, formatTime, formatValue } from "./format";
import { panel } from "./panel";

/** The panel with what the replay holds and the summary that the simulation wrote. */
export function infoPanel(replay: Replay, newtonsPerMetre: number, close: () => void): HTMLElement {
  const contacts = replay.contacts.offsets.at(-1)!;
  const facts: [string, string][] = [
    ["duration", `${formatTime((replay.frames - 1) * replay.frameTime)} s`],
    ["frames", `${formatNumber(replay.frames)}, ${formatNumber(1 / replay.frameTime)} per second`],
    ["bodies", formatNumber(replay.bodies.length - 1)],
    ["geoms", formatNumber(replay.geoms.length)],
    ["contacts per frame", formatNumber(contacts / replay.frames)],
  ];
  if (contacts > 0) facts.push(["10 cm of force arrow", `${formatNumber(0.1 * newtonsPerMetre)} N`]);
  return panel("Summary", "info", close, section("Replay", facts), ...summarySections(replay.summary));
}

/** Plain values first, then one section per nested object and per list of texts. */
function summarySections(summary: Readonly<Record<string, unknown>>): HTMLElement[] {
  const plain: [string, string][] = [];
  const sections: HTMLElement[] = [];
  for (const [key, value] of Object.entries(summary)) {
    if (Array.isArray(value) && value.some((item) => typeof item === "string")) {
      const items = value.map((item) => element("li", {}, formatValue(item)));
      sections.push(
        element("section", {}, element("h3", {}, `${formatKey(key)} (${value.length})`), element("ul", {}, ...items)),
      );
    } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const rows = Object.entries(value).map(([inner, item]): [string, string] => [inner, formatValue(item)]);
      sections.push(section(formatKey(key), rows));
    } else {
      plain.push([key, formatValue(value)]);
    }
  }
  return plain.length > 0 ? [section("Simulation", plain), ...sections] : sections;
}

function section(title: string, rows: readonly [string, string][]): HTMLElement {
  const list = rows.flatMap(([key, value]) => [element("dt", {}, formatKey(key)), element("dd", {}, value)]);
  return element("section", {}, element("h3", {}, title), element("dl", {}, ...list));
}
