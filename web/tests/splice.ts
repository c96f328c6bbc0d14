/** The literal text in the page that a writer replaces by the JSON of the replay. */
export const PLACEHOLDER = "/*SAPWOOD_REPLAY*/null";

/** Does to the page what a writer does: puts the replay in place of the placeholder. */
export function splice(page: string, replay: unknown): string {
  if (page.split(PLACEHOLDER).length !== 2) throw new Error("the page must hold the placeholder exactly once");
  // "<" is escaped so that no text of the replay can end the script element.
  const json = JSON.stringify(replay).replaceAll("<", "\\u003c");
  return page.replace(PLACEHOLDER, () => json);
}
