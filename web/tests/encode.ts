/** The writing side of the binary blocks, as `docs/replay-format.md` describes it. */

import { gzipSync } from "node:zlib";

export interface SyntheticContact {
  position: readonly number[];
  force: readonly number[];
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
export const gzipBase64 = (bytes: Uint8Array): string => base64(gzipSync(bytes));

export function f32(values: readonly number[]): Uint8Array {
  return new Uint8Array(new Float32Array(values).buffer);
}

/** Channel-major differences of bit patterns in byte planes: the encoding "f32-delta". */
export function f32Delta(values: readonly number[], frames: number): Uint8Array {
  const bits = new Uint32Array(new Float32Array(values).buffer);
  const channels = bits.length / frames;
  const bytes = new Uint8Array(bits.length * 4);
  let to = 0;
  for (let channel = 0; channel < channels; channel++) {
    let previous = 0;
    for (let at = channel; at < bits.length; at += channels, to++) {
      const difference = bits[at]! - previous;
      previous = bits[at]!;
      for (let plane = 0; plane < 4; plane++) bytes[plane * bits.length + to] = difference >>> (8 * plane);
    }
  }
  return bytes;
}

export function contactBlock(frames: readonly (readonly SyntheticContact[])[]): Uint8Array {
  return Buffer.concat(
    frames.flatMap((contacts) => [
      new Uint8Array(new Uint16Array([contacts.length]).buffer),
      ...contacts.map(({ position, force }) => f32([...position, ...force])),
    ]),
  );
}
