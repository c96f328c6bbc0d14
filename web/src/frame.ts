/**
 * The last frame at or before `time`. A time computed as frame × frameTime may fall short of its frame by round-off,
 * so a millionth of a frame counts as arrived.
 */
export function frameAt(time: number, frameTime: number, frames: number): number {
  return Math.min(Math.max(Math.floor(time / frameTime + 1e-6), 0), frames - 1);
}
