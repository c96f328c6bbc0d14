import { ReplayError } from "./error";
import { CONTACT_STRIDE, type Contacts } from "./replay";

/** Per frame a u16 count, then count × 6 f32, little-endian and without padding. */
export function decodeContacts(bytes: Uint8Array<ArrayBuffer>, frames: number): Contacts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const record = CONTACT_STRIDE * 4;
  const offsets = new Uint32Array(frames + 1);
  const values = new Float32Array(Math.max(0, Math.floor((bytes.length - 2 * frames) / 4)));

  let at = 0;
  let filled = 0;
  for (let frame = 0; frame < frames; frame++) {
    if (at + 2 > bytes.length) throw truncated(frame, bytes.length);
    const end = at + 2 + view.getUint16(at, true) * record;
    if (end > bytes.length) throw truncated(frame, bytes.length);
    for (at += 2; at < end; at += 4) values[filled++] = view.getFloat32(at, true);
    offsets[frame + 1] = filled / CONTACT_STRIDE;
  }
  if (at !== bytes.length) {
    throw new ReplayError("contacts", `${bytes.length - at} bytes left over after ${frames} frames`);
  }
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new ReplayError("contacts", `not a finite number in contact ${Math.floor(bad / CONTACT_STRIDE)}`);
  return { offsets, values };
}

function truncated(frame: number, length: number): ReplayError {
  return new ReplayError("contacts", `the ${length} bytes end inside frame ${frame}`);
}
