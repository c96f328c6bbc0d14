/** The writing side of the binary blocks, as `docs/replay-format.md` describes it. */

import { crc32, deflateSync, gzipSync } from "node:zlib";

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

/** Base64 of a PNG picture: red, green and blue of every pixel, row by row. */
export function png(width: number, height: number, pixel: (x: number, y: number) => readonly number[]): string {
  const rows = Buffer.alloc(height * (3 * width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows.set(pixel(x, y), y * (3 * width + 1) + 1 + 3 * x);
  }
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]).toString("base64");
}
