import { frameAt } from "./frame";

export const SLOWEST = 0.1;
export const FASTEST = 4;
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4] as const;

/** The clock of the replay: where it stands and how it moves on. */
export class Playback {
  private now = 0;
  private running = false;
  private rate = 1;
  private listeners: (() => void)[] = [];
  loop = true;

  /**
   * @param frames number of frames
   * @param frameTime seconds between frames
   */
  constructor(
    readonly frames: number,
    readonly frameTime: number,
  ) {}

  get duration(): number {
    return (this.frames - 1) * this.frameTime;
  }

  get time(): number {
    return this.now;
  }

  get frame(): number {
    return frameAt(this.now, this.frameTime, this.frames);
  }

  get playing(): boolean {
    return this.running;
  }

  get speed(): number {
    return this.rate;
  }

  /** Calls `listener` after every change of time, speed or state. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  play(): void {
    if (this.running || this.frames < 2) return;
    if (this.now >= this.duration) this.now = 0;
    this.running = true;
    this.changed();
  }

  pause(): void {
    if (!this.running) return;
    this.running = false;
    this.changed();
  }

  toggle(): void {
    if (this.running) this.pause();
    else this.play();
  }

  seek(time: number): void {
    if (!Number.isFinite(time)) return;
    this.now = Math.min(Math.max(time, 0), this.duration);
    this.changed();
  }

  seekFrame(frame: number): void {
    this.seek(Math.round(frame) * this.frameTime);
  }

  /** Pauses and moves by whole frames. */
  step(by: number): void {
    this.pause();
    this.seekFrame(this.frame + by);
  }

  setSpeed(speed: number): void {
    if (!Number.isFinite(speed)) return;
    this.rate = Math.min(Math.max(speed, SLOWEST), FASTEST);
    this.changed();
  }

  /** The next slower (-1) or faster (+1) of the listed speeds. */
  stepSpeed(direction: -1 | 1): void {
    const next =
      direction > 0
        ? SPEEDS.find((speed) => speed > this.rate + 1e-9)
        : SPEEDS.findLast((speed) => speed < this.rate - 1e-9);
    if (next !== undefined) this.setSpeed(next);
  }

  /** Moves on by `elapsed` seconds of wall clock. */
  advance(elapsed: number): void {
    if (!this.running) return;
    this.now += elapsed * this.rate;
    if (this.now >= this.duration) {
      if (this.loop) {
        this.now %= this.duration;
      } else {
        this.now = this.duration;
        this.running = false;
      }
    }
    this.changed();
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
