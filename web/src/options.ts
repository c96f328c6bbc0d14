import { isToggle, type Toggle } from "./toggles";

/** What the part of the address after `#` asks for, such as `#frame=120&contacts=1&play=0`. */
export interface Options {
  readonly frame: number | null;
  readonly play: boolean;
  readonly speed: number;
  /** Name of the body to follow. */
  readonly followBody: string | null;
  /** Azimuth and elevation of the camera in degrees, and its zoom (2 is twice as near). */
  readonly view: readonly [number, number, number] | null;
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

  const view = given.get("view")?.split(",").map(Number) ?? [];
  return {
    frame: finite(given.get("frame")),
    play: SWITCHES[given.get("play") ?? "1"] ?? true,
    speed: finite(given.get("speed")) ?? 1,
    followBody,
    view: view.length === 3 && view.every(Number.isFinite) ? (view as [number, number, number]) : null,
    toggles,
  };
}

function finite(text: string | null): number | null {
  const value = text === null || text === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
