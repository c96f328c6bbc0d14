import { CONTACT_STRIDE, type Contacts } from "../data/replay";

/** Length of an ordinary and of the longest arrow, as shares of the size of the model. */
const ORDINARY_LENGTH = 0.15;
const LONGEST = 0.4;

export interface ForceScale {
  /** Newtons per metre of arrow, so that 10 cm stand for 1, 2 or 5 × a power of ten. */
  readonly newtonsPerMetre: number;
  /** Arrows are cut off at this length, in metres. */
  readonly longest: number;
}

export function forceScale(contacts: Contacts, size: number): ForceScale {
  const count = contacts.offsets.at(-1)!;
  const magnitudes: number[] = [];
  for (let contact = 0; contact < count; contact++) {
    const at = contact * CONTACT_STRIDE + 3;
    const newtons = Math.hypot(contacts.values[at]!, contacts.values[at + 1]!, contacts.values[at + 2]!);
    if (newtons > 0) magnitudes.push(newtons);
  }
  const ordinary = weightedMedian(magnitudes) ?? 1;
  return { newtonsPerMetre: 10 * roundUp(ordinary / (ORDINARY_LENGTH * size) / 10), longest: LONGEST * size };
}

/** The least of 1, 2 or 5 × a power of ten that is not below `value`. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((step) => step * power >= value * (1 - 1e-9)) ?? 10);
}

/**
 * The force below which half of the sum of all forces lies. Many small forces weigh little in it, and so do impacts,
 * which are large but rare: it is what carries most of the weight most of the time.
 */
function weightedMedian(magnitudes: number[]): number | undefined {
  magnitudes.sort((a, b) => a - b);
  const half = magnitudes.reduce((sum, newtons) => sum + newtons, 0) / 2;
  let sum = 0;
  return magnitudes.find((newtons) => (sum += newtons) >= half);
}
