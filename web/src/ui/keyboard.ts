import type { Playback } from "../playback";
import type { Toggle, Toggles } from "../toggles";

const TOGGLE_KEYS: Readonly<Record<string, Toggle>> = {
  l: "loop",
  c: "contacts",
  v: "forces",
  f: "follow",
  g: "collision",
  m: "stress",
  s: "shadows",
  p: "plots",
  i: "info",
  d: "dark",
  "?": "help",
  h: "help",
};

/** Keys that work wherever the focus is, except those that the focused control needs itself. */
export function listenToKeys(playback: Playback, toggles: Toggles, resetView: () => void): void {
  const actions: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    " ": () => playback.toggle(),
    ArrowLeft: (event) => playback.step(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => playback.step(event.shiftKey ? 10 : 1),
    ArrowUp: () => playback.stepSpeed(1),
    ArrowDown: () => playback.stepSpeed(-1),
    Home: () => playback.seek(0),
    End: () => playback.seek(playback.duration),
    Escape: () => {
      toggles.set("help", false);
      toggles.set("info", false);
    },
    r: resetView,
  };
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLSelectElement && event.key !== "Escape") return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const toggle = TOGGLE_KEYS[key];
    const action = toggle === undefined ? actions[key] : () => toggles.flip(toggle);
    if (action === undefined) return;
    event.preventDefault(); // also keeps the space bar from pressing the focused button
    action(event);
  });
}
