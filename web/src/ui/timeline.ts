import type { Playback } from "../playback";
import { element } from "./dom";
import { formatTime } from "./format";

/** The scrub bar with the time readout. */
export class Timeline {
  readonly root: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly time = element("output", { class: "time" });
  private readonly frame = element("span", { class: "frame" });

  constructor(private readonly playback: Playback) {
    const { duration, frames, frameTime } = playback;
    this.range = element("input", {
      type: "range",
      class: "scrub",
      min: "0",
      max: String(duration),
      step: "any",
      value: "0",
      "aria-label": "Time",
    });
    this.range.disabled = frames < 2;
    // The value is set as seconds, so a drag lands between frames as well; steps of the keyboard are whole frames.
    this.range.addEventListener("input", () => playback.seek(Number(this.range.value)));
    this.range.addEventListener("keydown", (event) => {
      if (event.key === "Home") playback.seek(0);
      else if (event.key === "End") playback.seek(duration);
      else return;
      event.preventDefault();
    });
    this.root = element(
      "div",
      { class: "timeline" },
      element(
        "div",
        { class: "readout" },
        this.time,
        element("span", { class: "total" }, ` / ${formatTime(duration)} s`),
      ),
      this.range,
      this.frame,
    );
    this.frame.title = `${(1 / frameTime).toFixed(0)} frames per second of simulated time`;
    this.update();
  }

  update(): void {
    const { time, duration, frame, frames } = this.playback;
    this.time.textContent = formatTime(time);
    this.frame.textContent = `${frame} / ${frames - 1}`;
    this.range.value = String(time);
    this.range.setAttribute("aria-valuetext", `${formatTime(time)} seconds`);
    this.range.style.setProperty("--done", `${duration > 0 ? (100 * time) / duration : 0}%`);
  }
}
