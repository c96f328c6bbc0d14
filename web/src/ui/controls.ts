import { SPEEDS, type Playback } from "../playback";
import type { Toggle, Toggles } from "../toggles";
import { element } from "./dom";
import { icon, type IconName } from "./icons";

/** The row of buttons: transport, speed, and what is shown. */
export function controlRow(
  playback: Playback,
  toggles: Toggles,
  { hasCollisionShapes, hasStress }: { hasCollisionShapes: boolean; hasStress: boolean },
): HTMLElement {
  const play = button("play", "Play (Space)", () => playback.toggle());
  play.classList.add("primary");
  const speed = speedSelect(playback);
  const update = (): void => {
    play.replaceChildren(icon(playback.playing ? "pause" : "play"));
    play.setAttribute("aria-label", playback.playing ? "Pause (Space)" : "Play (Space)");
    play.title = playback.playing ? "Pause (Space)" : "Play (Space)";
  };
  playback.onChange(update);
  update();
  return element(
    "div",
    { class: "controls" },
    group(
      play,
      button("back", "One frame back (←)", () => playback.step(-1)),
      button("forward", "One frame forward (→)", () => playback.step(1)),
      toggleButton(toggles, "loop", "Loop (L)"),
      speed,
    ),
    group(
      toggleButton(toggles, "contacts", "Contact points (C)", "Contacts"),
      toggleButton(toggles, "forces", "Contact forces (V)", "Forces"),
      toggleButton(toggles, "follow", "Follow a body (F); double-click a body to choose it", "Follow"),
      ...(hasCollisionShapes ? [toggleButton(toggles, "collision", "Collision shapes (G)", "Shapes")] : []),
      ...(hasStress ? [toggleButton(toggles, "stress", "Von Mises stress of soft bodies (M)", "Stress")] : []),
      toggleButton(toggles, "plots", "Plots (P)", "Plots"),
    ),
  );
}

/** The buttons in the corner of the page. */
export function cornerRow(
  toggles: Toggles,
  resetView: () => void,
  savePicture: () => void,
  copyLink: () => void,
): HTMLElement {
  return element(
    "nav",
    { class: "corner card" },
    button("home", "Reset the camera (R)", resetView),
    button("camera", "Save the picture as PNG", savePicture),
    button("link", "Copy a link to this view and frame", copyLink),
    toggleButton(toggles, "shadows", "Shadows (S)"),
    toggleButton(toggles, "dark", "Dark (D)"),
    toggleButton(toggles, "info", "Summary (I)"),
    toggleButton(toggles, "help", "Keys and gestures (?)"),
  );
}

function group(...children: HTMLElement[]): HTMLElement {
  return element("div", { class: "group" }, ...children);
}

function button(name: IconName, title: string, action: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", class: "tool", title, "aria-label": title }, icon(name));
  made.addEventListener("click", action);
  return made;
}

function toggleButton(toggles: Toggles, name: Toggle, title: string, text?: string): HTMLButtonElement {
  const made = button(name, title, () => toggles.flip(name));
  if (text !== undefined) made.append(element("span", { class: "text" }, text));
  const show = (): void => made.setAttribute("aria-pressed", String(toggles.get(name)));
  toggles.onChange(show);
  show();
  return made;
}

function speedSelect(playback: Playback): HTMLSelectElement {
  const select = element("select", { class: "speed", title: "Speed (↓ ↑)", "aria-label": "Speed" });
  const show = (): void => {
    const listed = SPEEDS.some((speed) => speed === playback.speed);
    const speeds = listed ? [...SPEEDS] : [...SPEEDS, playback.speed].sort((a, b) => a - b);
    if (select.options.length !== speeds.length || !listed) {
      select.replaceChildren(...speeds.map((speed) => element("option", { value: String(speed) }, `${speed}×`)));
    }
    select.value = String(playback.speed);
  };
  select.addEventListener("change", () => {
    playback.setSpeed(Number(select.value));
    select.blur(); // the arrow keys step through frames again
  });
  playback.onChange(show);
  show();
  return select;
}
