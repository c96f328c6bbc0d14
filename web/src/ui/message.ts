import { element } from "./dom";
import { icon } from "./icons";

/** A card in the middle of the page that says why there is nothing to see. */
export function showMessage(root: HTMLElement, title: string, text: string, detail?: string): void {
  const card = element(
    "div",
    { class: "message card", role: "alert" },
    icon("rings"),
    element("h1", {}, title),
    element("p", {}, text),
  );
  if (detail !== undefined) card.append(element("pre", {}, detail));
  root.replaceChildren(card);
}
