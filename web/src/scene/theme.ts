/** Colours of the surroundings for light and dark surfaces. */

export interface SceneTheme {
  readonly zenith: string;
  readonly horizon: string;
  readonly nadir: string;
  readonly ground: string;
  readonly line: string;
  readonly sun: number;
  readonly sky: number;
  readonly environment: number;
  readonly exposure: number;
}

export const LIGHT: SceneTheme = {
  zenith: "#a9c1d9",
  horizon: "#eceff2",
  nadir: "#cfd4d9",
  ground: "#d5d9dd",
  line: "#a7aeb6",
  sun: 2.6,
  sky: 0.9,
  environment: 0.55,
  exposure: 1,
};

export const DARK: SceneTheme = {
  zenith: "#0b0e13",
  horizon: "#232a33",
  nadir: "#10141a",
  ground: "#2b323b",
  line: "#566270",
  sun: 2.4,
  sky: 0.6,
  environment: 0.4,
  exposure: 1,
};
