import { element } from "./dom";
import { panel } from "./panel";

const KEYS: readonly (readonly [string, string])[] = [
  ["Space", "play, pause"],
  ["← →", "one frame back, forward"],
  ["Shift ← →", "ten frames"],
  ["Home End", "start, end"],
  ["↓ ↑", "slower, faster"],
  ["L", "loop"],
  ["C", "contact points"],
  ["V", "contact forces"],
  ["F", "follow a body"],
  ["G", "collision shapes"],
  ["M", "stress of soft bodies"],
  ["S", "shadows"],
  ["P", "plots"],
  ["R", "reset the camera"],
  ["I", "summary"],
  ["D", "dark, light"],
  ["?", "this help"],
];

const POINTER: readonly (readonly [string, string])[] = [
  ["Drag", "orbit (one finger)"],
  ["Right-drag", "pan (two fingers)"],
  ["Wheel", "zoom (pinch)"],
  ["Double-click", "follow the body there"],
  ["Hover", "names, contact force"],
];

export function helpPanel(close: () => void): HTMLElement {
  return panel("Keys and gestures", "help", close, table(KEYS), table(POINTER));
}

function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  const list = rows.flatMap(([keys, meaning]) => [
    element("dt", {}, ...keys.split(" ").map((key) => element("kbd", {}, key))),
    element("dd", {}, meaning),
  ]);
  return element("section", {}, element("dl", { class: "keys" }, ...list));
}
