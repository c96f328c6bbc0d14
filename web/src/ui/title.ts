import type { Replay } from "../data/replay";
import { element } from "./dom";
import { formatNumber } from "./format";
import { icon } from "./icons";

/** Name of the replay and a line about its size. */
export function titleCard(replay: Replay): HTMLElement {
  const moving = replay.bodies.length - 1;
  const seconds = (replay.frames - 1) * replay.frameTime;
  const bodies = `${formatNumber(moving)} ${moving === 1 ? "body" : "bodies"}`;
  const line = `${formatNumber(Number(seconds.toFixed(2)))} s · ${bodies}`;
  return element(
    "header",
    { class: "title-card" },
    icon("rings"),
    element("div", {}, element("h1", {}, replay.name), element("p", {}, line)),
  );
}
