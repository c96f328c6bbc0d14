/** Base64 and gzip blocks inside the JSON, and little-endian numbers inside those. */

import { string } from "./check";
import { ReplayError } from "./error";

export function base64(value: unknown, where: string): Uint8Array<ArrayBuffer> {
  let characters: string;
  try {
    characters = atob(string(value, where));
  } catch (cause) {
    if (cause instanceof ReplayError) throw cause;
    throw new ReplayError(where, "is not base64");
  }
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** Decodes base64(gzip(bytes)). */
export async function gunzipBase64(value: unknown, where: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = base64(value, where);
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new ReplayError(where, `is not a complete gzip stream (${packed.length} bytes)`);
  }
}

const HOST_IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** The bytes as little-endian f32. Every current browser runs little-endian, so nothing is copied there. */
export function float32(bytes: Uint8Array<ArrayBuffer>, where: string): Float32Array<ArrayBuffer> {
  return new Float32Array(littleEndian(bytes, 4, where), 0, bytes.length / 4);
}

export function uint32(bytes: Uint8Array<ArrayBuffer>, where: string): Uint32Array<ArrayBuffer> {
  return new Uint32Array(littleEndian(bytes, 4, where), 0, bytes.length / 4);
}

export function uint16(bytes: Uint8Array<ArrayBuffer>, where: string): Uint16Array<ArrayBuffer> {
  return new Uint16Array(littleEndian(bytes, 2, where), 0, bytes.length / 2);
}

function littleEndian(bytes: Uint8Array<ArrayBuffer>, width: number, where: string): ArrayBuffer {
  if (bytes.length % width !== 0) {
    throw new ReplayError(where, `holds ${bytes.length} bytes, which is not a multiple of ${width}`);
  }
  if (!HOST_IS_LITTLE_ENDIAN) {
    for (let i = 0; i < bytes.length; i += width) bytes.subarray(i, i + width).reverse();
  }
  return bytes.byteOffset === 0 ? bytes.buffer : bytes.slice().buffer;
}
