import { ReplayError } from "./error";

export const ELEMENT_ID = "sapwood-replay";

/**
 * The JSON that the writer spliced into the page, or null if the page still holds its placeholder: a comment followed
 * by `null`.
 */
export function embeddedJson(document: Document): unknown {
  const text = document.getElementById(ELEMENT_ID)?.textContent?.trim();
  if (text === undefined) throw new ReplayError("page", `has no element with the id "${ELEMENT_ID}"`);
  if (/^(\/\*\w*\*\/)?\s*(null)?$/.test(text)) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ReplayError("replay", `is not valid JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}
