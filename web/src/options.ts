import { isToggle, type Toggle } from "./toggles";

/** Where the camera stands. */
export interface View {
  /** Degrees from the x axis, counter-clockwise seen from above. */
  readonly azimuth: number;
  /** Degrees above the horizon. */
  readonly elevation: number;
  /** 2 is twice as near as where all is seen. */
  readonly zoom: number;
  /** Where it looks, in metres; null for the middle of what there is to see. */
  readonly target: readonly number[] | null;
}

/** What the part of the address after `#` asks for, such as `#frame=120&contacts=1&play=0`. */
export interface Options {
  readonly frame: number | null;
  readonly play: boolean;
  readonly speed: number;
  /** Name of the body to follow. */
  readonly followBody: string | null;
  readonly view: View | null;
  readonly toggles: Partial<Record<Toggle, boolean>>;
}

const SWITCHES: Readonly<Record<string, boolean>> = {
  "1": true,
  on: true,
  true: true,
  "0": false,
  off: false,
  false: false,
};

/** Reads the options; what it does not know or understand it leaves at the default. */
export function parseOptions(hash: string): Options {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const toggles: Partial<Record<Toggle, boolean>> = {};
  for (const [name, value] of given) {
    const on = SWITCHES[value];
    if (isToggle(name) && on !== undefined) toggles[name] = on;
  }
  const follow = given.get("follow");
  const followBody = follow !== null && SWITCHES[follow] === undefined ? follow : null;
  if (followBody !== null) toggles.follow = true;

  return {
    frame: finite(given.get("frame")),
    play: SWITCHES[given.get("play") ?? "1"] ?? true,
    speed: finite(given.get("speed")) ?? 1,
    followBody,
    view: parseView(given.get("view")),
    toggles,
  };
}

function parseView(text: string | null): View | null {
  const numbers = text?.split(",").map(Number) ?? [];
  if (![3, 6].includes(numbers.length) || !numbers.every(Number.isFinite)) return null;
  const [azimuth, elevation, zoom, ...target] = numbers as [number, number, number, ...number[]];
  return { azimuth, elevation, zoom, target: target.length === 3 ? target : null };
}

/** The part of an address after `#` that starts with a view and a frame, paused. */
export function addressOf(view: View, frame: number, followBody: string | null): string {
  const { azimuth, elevation, zoom, target } = view;
  const rounded = [azimuth, elevation, zoom, ...(target ?? [])].map((x) => Number(x.toPrecision(5)));
  const follow = followBody === null ? "" : `&follow=${encodeURIComponent(followBody)}`;
  return `#view=${rounded.join(",")}&frame=${frame}&play=0${follow}`;
}

function finite(text: string | null): number | null {
  const value = text === null || text === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
