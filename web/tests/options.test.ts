import { expect, test } from "vitest";
import { addressOf, parseOptions } from "../src/options";
import { formatNumber } from "../src/ui/format";

test("the address sets the start", () => {
  expect(parseOptions("#frame=120&contacts=1&forces=0&play=0&speed=0.5&view=30,15,1.5")).toEqual({
    frame: 120,
    play: false,
    speed: 0.5,
    followBody: null,
    view: { azimuth: 30, elevation: 15, zoom: 1.5, target: null },
    toggles: { contacts: true, forces: false },
  });
});

test("an address leads back to the view that it was made of", () => {
  const view = { azimuth: -51.3, elevation: 10.5, zoom: 2.25, target: [0.5, -1, 0.125] };
  const options = parseOptions(addressOf(view, 42, "left foot"));
  expect(options).toMatchObject({ view, frame: 42, play: false, followBody: "left foot" });
});

test("a body can be followed by name or by default", () => {
  expect(parseOptions("#follow=torso")).toMatchObject({ followBody: "torso", toggles: { follow: true } });
  expect(parseOptions("#follow=1")).toMatchObject({ followBody: null, toggles: { follow: true } });
});

test("nonsense in the address is left aside", () => {
  expect(parseOptions("#frame=x&view=1,2&contacts=maybe&speed=&nothing")).toEqual(parseOptions(""));
});

test.each([
  [0, "0"],
  [12, "12"],
  [1.5, "1.5"],
  [-0.012345, "−0.01235"],
  [231.68, "231.7"],
  [48000, "48\u202f000"],
  [1e-9, "1.00e-9"],
  [NaN, "–"],
])("%d is shown as %s", (value, text) => {
  expect(formatNumber(value)).toBe(text);
});
