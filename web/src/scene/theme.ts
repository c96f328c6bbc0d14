/** Colours of the surroundings for light and dark surfaces. */

export interface SceneTheme {
  readonly zenith: string;
  readonly horizon: string;
  readonly nadir: string;
  readonly ground: string;
  readonly line: string;
  readonly sun: number;
  readonly sky: number;
  readonly rim: number;
  readonly exposure: number;
}

export const LIGHT: SceneTheme = {
  zenith: "#8fb0d0",
  horizon: "#e9edf1",
  nadir: "#c6ccd3",
  ground: "#d3d7dc",
  line: "#7d8792",
  sun: 2.9,
  sky: 1.5,
  rim: 0.7,
  exposure: 0.95,
};

export const DARK: SceneTheme = {
  zenith: "#0a0d12",
  horizon: "#262e38",
  nadir: "#12161c",
  ground: "#343d49",
  line: "#59677a",
  sun: 3,
  sky: 1,
  rim: 1.1,
  exposure: 0.95,
};
