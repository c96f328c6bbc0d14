/** Checks that turn untyped JSON into typed values, with errors that name the place and what was expected. */

import { ReplayError } from "./error";

export type JsonObject = Record<string, unknown>;

export function object(value: unknown, where: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw expected("an object", value, where);
  return value as JsonObject;
}

export function array(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) throw expected("a list", value, where);
  return value;
}

export function string(value: unknown, where: string): string {
  if (typeof value !== "string") throw expected("a text", value, where);
  return value;
}

export function number(value: unknown, where: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw expected("a finite number", value, where);
  return value;
}

/** An integer in `least ..= most`. */
export function integer(value: unknown, where: string, least: number, most: number): number {
  const whole = number(value, where);
  if (!Number.isInteger(whole) || whole < least || whole > most) {
    throw expected(`an integer from ${least} to ${most}`, value, where);
  }
  return whole;
}

export function numbers(value: unknown, where: string, length: number): number[] {
  const list = array(value, where);
  if (list.length !== length) throw new ReplayError(where, `expected ${length} numbers, found ${list.length}`);
  return list.map((item, i) => number(item, `${where}[${i}]`));
}

export function oneOf<T extends string | number>(value: unknown, where: string, choices: readonly T[]): T {
  if (!choices.includes(value as T)) throw expected(`one of ${choices.join(", ")}`, value, where);
  return value as T;
}

function expected(what: string, found: unknown, where: string): ReplayError {
  const shown = found === undefined ? "nothing" : (JSON.stringify(found) ?? String(found));
  return new ReplayError(where, `expected ${what}, found ${shown.length > 60 ? `${shown.slice(0, 60)}…` : shown}`);
}
