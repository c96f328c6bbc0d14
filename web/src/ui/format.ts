/** Numbers and values as text for people. */

/** Four significant digits, with a narrow space between thousands. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7))
    return value.toExponential(2).replace("e+", "e");
  const decimals = Number.isInteger(value) ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
  const [whole = "", part] = Math.abs(value).toFixed(decimals).split(".");
  const grouped = whole.length > 4 ? whole.replaceAll(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  const trimmed = part?.replace(/0+$/, "");
  return `${value < 0 ? "−" : ""}${grouped}${trimmed ? `.${trimmed}` : ""}`;
}

/** Seconds with two decimals. */
export function formatTime(seconds: number): string {
  return seconds.toFixed(2);
}

/** A key such as `newton_iterations` as words. */
export function formatKey(key: string): string {
  return key.replaceAll("_", " ");
}

/** A value of the summary that is not an object. */
export function formatValue(value: unknown): string {
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(formatValue).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
