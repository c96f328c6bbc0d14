import { beforeEach, describe, expect, test } from "vitest";
import { Playback } from "../src/playback";

let playback: Playback;
beforeEach(() => {
  playback = new Playback(61, 1 / 60); // one second
});

describe("playback", () => {
  test("moves on with its speed while it plays", () => {
    playback.advance(0.25);
    expect(playback.time).toBe(0);
    playback.play();
    playback.setSpeed(0.5);
    playback.advance(0.5);
    expect(playback.time).toBeCloseTo(0.25, 12);
    expect(playback.frame).toBe(15);
  });

  test("starts over at the end if it loops", () => {
    playback.play();
    playback.advance(1.25);
    expect(playback.time).toBeCloseTo(0.25, 12);
    expect(playback.playing).toBe(true);
  });

  test("stops at the end if it does not loop, and plays again from the start", () => {
    playback.loop = false;
    playback.play();
    playback.advance(1.25);
    expect([playback.frame, playback.playing]).toEqual([60, false]);
    playback.play();
    expect(playback.frame).toBe(0);
  });

  test("finds every frame again from its time", () => {
    for (let frame = 0; frame < playback.frames; frame++) {
      playback.seekFrame(frame);
      expect(playback.frame).toBe(frame);
    }
  });

  test("steps by frames within the clip", () => {
    playback.play();
    playback.step(-1);
    expect([playback.frame, playback.playing]).toEqual([0, false]);
    playback.step(100);
    expect(playback.frame).toBe(60);
  });

  test("keeps the speed within its bounds and steps through the listed ones", () => {
    playback.setSpeed(100);
    expect(playback.speed).toBe(4);
    playback.setSpeed(0.3);
    playback.stepSpeed(1);
    expect(playback.speed).toBe(0.5);
    playback.stepSpeed(-1);
    expect(playback.speed).toBe(0.25);
    playback.setSpeed(NaN);
    expect(playback.speed).toBe(0.25);
  });

  test("of a single frame does not play", () => {
    const still = new Playback(1, 0.1);
    still.play();
    still.advance(1);
    expect([still.playing, still.time, still.frame]).toEqual([false, 0, 0]);
  });
});
