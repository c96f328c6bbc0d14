/** Curves over frames, on a canvas. */

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Room between a curve and the border of its lane, in pixels. */
const MARGIN = 3;

/** The range of all finite values, widened where it has no height. */
export function extent(series: readonly Float64Array[], fromZero: boolean): Range {
  let low = fromZero ? 0 : Infinity;
  let high = -Infinity;
  for (const values of series) {
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return { low: 0, high: 1 };
  return high > low ? { low, high } : { low: low - (fromZero ? 0 : 1), high: high + 1 };
}

type Each = (x: number, top: number, bottom: number) => void;

/**
 * Calls `each` with the highest and the lowest value per pixel column (in pixels from the top), so that a short peak is
 * not lost where there are more frames than pixels.
 */
function columns(values: Float64Array, { low, high }: Range, width: number, height: number, each: Each): void {
  const count = Math.min(values.length, Math.max(1, Math.floor(width)));
  const y = (value: number): number => height - MARGIN - ((value - low) / (high - low)) * (height - 2 * MARGIN);
  for (let column = 0; column < count; column++) {
    const from = Math.floor((column * values.length) / count);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / count));
    let [least, most] = [Infinity, -Infinity];
    for (let frame = from; frame < to; frame++) {
      const value = values[frame]!;
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    if (least <= most) each(count > 1 ? (column / (count - 1)) * width : 0, y(most), y(least));
  }
}

export function drawLine(
  context: CanvasRenderingContext2D,
  values: Float64Array,
  range: Range,
  width: number,
  height: number,
  colour: string,
): void {
  context.strokeStyle = colour;
  context.lineWidth = 1.4;
  context.lineJoin = "round";
  context.beginPath();
  columns(values, range, width, height, (x, top, bottom) => {
    context.lineTo(x, bottom);
    if (bottom - top > 0.5) context.lineTo(x, top);
  });
  context.stroke();
}

export function drawBars(
  context: CanvasRenderingContext2D,
  values: Float64Array,
  range: Range,
  width: number,
  height: number,
  colour: string,
): void {
  const floor = height - MARGIN + 1;
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  const top = new Path2D();
  const area = new Path2D();
  area.moveTo(0, floor);
  let previous: number | null = null;
  columns(values, range, width, height, (x, y) => {
    for (const path of [top, area]) {
      if (previous !== null) path.lineTo(x, previous);
      path.lineTo(x, y);
    }
    previous = y;
  });
  area.lineTo(width, floor);
  context.globalAlpha = 0.22;
  context.fill(area);
  context.globalAlpha = 1;
  context.stroke(top);
}
