import { replayApi } from "./api";
import type { Replay } from "./data/replay";
import { addressOf, parseOptions, type Options } from "./options";
import { Playback } from "./playback";
import type { TextureStore } from "./scene/textures";
import { Toggles } from "./toggles";
import { colourBar } from "./ui/colour-bar";
import { controlRow, cornerRow } from "./ui/controls";
import { element } from "./ui/dom";
import { formatNumber } from "./ui/format";
import { helpPanel } from "./ui/help";
import { infoPanel } from "./ui/info";
import { listenToKeys } from "./ui/keyboard";
import { Plots } from "./ui/plots";
import { Timeline } from "./ui/timeline";
import { titleCard } from "./ui/title";
import { toaster } from "./ui/toast";
import { hoverLabel } from "./ui/hover";
import { hidesCollisionShapes } from "./scene/bodies";
import { runLoop } from "./loop";
import { Viewer } from "./viewer";

/** Below this height of the page the plots start hidden, in CSS pixels. */
const LOW_PAGE = 560;

/** Builds the page for a replay and starts it. */
export function startApp(root: HTMLElement, replay: Replay, textures: TextureStore): void {
  document.title = `${replay.name} · Sapwood replay`;
  const options = parseOptions(location.hash);
  const playback = new Playback(replay.frames, replay.frameTime);
  const toggles = new Toggles({
    contacts: true,
    collision: !hidesCollisionShapes(replay),
    stress: replay.softStress !== null,
    shadows: true,
    loop: true,
    plots: window.innerHeight >= LOW_PAGE,
    dark: document.documentElement.dataset["theme"] === "dark",
    ...options.toggles,
  });
  applyTheme(toggles);

  const canvas = element("canvas", { class: "stage", tabindex: "0", "aria-label": `Animation of ${replay.name}` });
  const viewer = new Viewer(canvas, replay, playback, toggles, textures);
  const resetView = (): void => viewer.resetView();
  const timeline = new Timeline(playback);
  const plots = new Plots(replay.series, playback);
  const hasStress = replay.softStress !== null;
  const buttons = controlRow(playback, toggles, { hasCollisionShapes: hidesCollisionShapes(replay), hasStress });
  const dock = element("footer", { class: "dock card" }, timeline.root, plots.root, buttons);
  const info = infoPanel(replay, viewer.contacts.newtonsPerMetre, () => toggles.set("info", false));
  const help = helpPanel(() => toggles.set("help", false));
  const toast = toaster();
  const savePicture = (): void => void viewer.png().then((blob) => save(blob, `${replay.name} ${playback.frame}.png`));
  const corner = cornerRow(toggles, resetView, savePicture, () => {
    const followed = toggles.get("follow") ? viewer.followedName : null;
    location.hash = addressOf(viewer.view, playback.frame, followed);
    // Not every page may write to the clipboard; the address is there all the same.
    const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error("no clipboard"));
    copied.then(
      () => toast.show("Link to this view copied"),
      () => toast.show("The address now leads to this view"),
    );
  });
  const hover = hoverLabel(canvas, (x, y) => viewer.describeAt(x, y));
  const title = titleCard(replay);
  title.classList.toggle("on-dark", textures.skyIsDark);
  const bar = replay.softStress === null ? null : colourBar(replay.softStress.most);
  root.replaceChildren(canvas, title, corner, info, help, toast.root, hover, dock, ...(bar === null ? [] : [bar]));

  const layout = (): void => {
    viewer.resize(window.innerWidth, window.innerHeight, window.innerHeight - dock.offsetTop);
    plots.redraw();
  };
  const showPanels = (): void => {
    info.hidden = !toggles.get("info");
    help.hidden = !toggles.get("help");
    if (bar !== null) bar.hidden = !toggles.get("stress");
    plots.root.hidden = plots.empty || !toggles.get("plots");
  };
  showPanels();
  layout();
  new ResizeObserver(layout).observe(dock);
  window.addEventListener("resize", layout);

  playback.loop = toggles.get("loop");
  playback.onChange(() => {
    timeline.update();
    plots.update();
  });
  toggles.onChange((name, on) => {
    if (name === "info" && on) toggles.set("help", false);
    if (name === "help" && on) toggles.set("info", false);
    if (name === "loop") playback.loop = on;
    if (name === "dark") {
      applyTheme(toggles);
      plots.redraw();
    }
    if (name === "follow" && on) toast.show(`Following ${viewer.followedName}`);
    if (name === "forces" && on)
      toast.show(`10 cm of arrow = ${formatNumber(0.1 * viewer.contacts.newtonsPerMetre)} N`);
    showPanels();
  });
  canvas.addEventListener("dblclick", (event) => {
    const name = viewer.followAt(event.clientX, event.clientY);
    if (name !== null) toast.show(`Following ${name}`);
  });
  listenToKeys(playback, toggles, resetView);

  const api = replayApi(playback, toggles, viewer);
  window.sapwoodReplay = api;
  start(options, replay, playback, viewer);
  plots.update();
  runLoop(playback, viewer, () => {
    api.ready = true;
  });
}

/** Brings the page to where the address says it should start. */
function start(options: Options, replay: Replay, playback: Playback, viewer: Viewer): void {
  if (options.frame !== null) playback.seekFrame(options.frame);
  playback.setSpeed(options.speed);
  const chosen = options.followBody === null ? -1 : replay.bodies.indexOf(options.followBody);
  // Before the view: that of a motion that travels begins where the followed body is.
  if (chosen > 0) viewer.followBody(chosen);
  else if (options.toggles.follow ?? viewer.framing.travels) viewer.followBody();
  viewer.resetView(options.view ?? undefined);
  if (chosen > 0 && !options.view?.target) viewer.centre();
  if (options.play) playback.play();
}

/** Hands a file to the user. */
function save(blob: Blob | null, name: string): void {
  if (blob === null) return;
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name.replaceAll(/[^\w .-]+/g, "_") }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function applyTheme(toggles: Toggles): void {
  document.documentElement.dataset["theme"] = toggles.get("dark") ? "dark" : "light";
}
