import type { Playback } from "./playback";
import type { Viewer } from "./viewer";

/** A gap between frames longer than this (a hidden tab, a slow machine) counts as this long, in seconds. */
const LONGEST_TICK = 0.25;
/** Frames slower than this, in seconds, for so many frames in a row, make the picture coarser. */
const SLOW_FRAME = 1 / 24;
const PATIENCE = 12;
/** After a gap longer than this, in seconds, the page has been hidden rather than slow. */
const HIDDEN = 2;

/** Advances playback and draws with every refresh of the screen. Nothing is drawn while nothing changes. */
export function runLoop(playback: Playback, viewer: Viewer, onFirstPicture: () => void): void {
  let last: number | null = null;
  let slow = 0;
  let waiting = true;
  const tick = (now: number): void => {
    requestAnimationFrame(tick);
    const elapsed = last === null ? 0 : (now - last) / 1000;
    last = now;
    playback.advance(Math.min(elapsed, LONGEST_TICK));
    if (!viewer.draw(now)) return;
    if (waiting) {
      waiting = false;
      onFirstPicture();
    }
    slow = playback.playing && elapsed > SLOW_FRAME && elapsed < HIDDEN ? slow + 1 : 0;
    if (slow >= PATIENCE) {
      viewer.coarsen();
      slow = 0;
    }
  };
  requestAnimationFrame(tick);
}
