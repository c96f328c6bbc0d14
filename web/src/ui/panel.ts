import { element } from "./dom";
import { icon } from "./icons";

/** A panel at the side with a title and a button that closes it. */
export function panel(title: string, name: string, close: () => void, ...content: HTMLElement[]): HTMLElement {
  const button = element("button", { type: "button", class: "tool", "aria-label": "Close" }, icon("close"));
  button.addEventListener("click", close);
  return element(
    "aside",
    { class: `panel card ${name}`, "aria-label": title },
    element("header", {}, element("h2", {}, title), button),
    element("div", { class: "body" }, ...content),
  );
}
