import type { Playback } from "./playback";
import { isToggle, type Toggles } from "./toggles";
import type { Viewer } from "./viewer";

/** What scripts can do with the page, as `window.sapwoodReplay`. */
export interface ReplayApi {
  /** The first picture has been drawn. */
  ready: boolean;
  /** Playback is paused and the picture shows the current state, as finely as it gets. */
  readonly settled: boolean;
  /** Why there is no picture, if there is none. */
  error: string | null;
  readonly frame: number;
  readonly frames: number;
  readonly playing: boolean;
  readonly speed: number;
  /** Pauses nothing; moves to the start of a frame. */
  seek(frame: number): void;
  play(): void;
  pause(): void;
  setSpeed(speed: number): void;
  toggle(name: string, on: boolean): void;
  readonly counts: { readonly geoms: number; readonly contactsShown: number };
}

declare global {
  interface Window {
    sapwoodReplay: ReplayApi;
  }
}

/** The face of a page that has nothing to play. */
export function idleApi(error: string | null): ReplayApi {
  const nothing = (): void => undefined;
  return {
    ready: false,
    settled: false,
    error,
    frame: 0,
    frames: 0,
    playing: false,
    speed: 1,
    seek: nothing,
    play: nothing,
    pause: nothing,
    setSpeed: nothing,
    toggle: nothing,
    counts: { geoms: 0, contactsShown: 0 },
  };
}

export function replayApi(playback: Playback, toggles: Toggles, viewer: Viewer): ReplayApi {
  return {
    ready: false,
    error: null,
    get settled() {
      return viewer.settled;
    },
    get frame() {
      return playback.frame;
    },
    get frames() {
      return playback.frames;
    },
    get playing() {
      return playback.playing;
    },
    get speed() {
      return playback.speed;
    },
    seek: (frame) => playback.seekFrame(frame),
    play: () => playback.play(),
    pause: () => playback.pause(),
    setSpeed: (speed) => playback.setSpeed(speed),
    toggle: (name, on) => {
      if (!isToggle(name)) throw new RangeError(`no toggle is named "${name}"`);
      toggles.set(name, on);
    },
    get counts() {
      return { geoms: viewer.bodies.drawn, contactsShown: viewer.contacts.shown };
    },
  };
}
