/** The replay cannot be shown, for a reason that the reader of the page should see. */
export class ReplayError extends Error {
  /** @param where the place in the replay file, such as `geoms[3].size` */
  constructor(where: string, message: string) {
    super(`${where}: ${message}`);
    this.name = "ReplayError";
  }
}
