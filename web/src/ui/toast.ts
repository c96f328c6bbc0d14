import { element } from "./dom";

const SHOWN_FOR = 2600;

/** A short note above the controls that goes away by itself. */
export function toaster(): { root: HTMLElement; show(text: string): void } {
  const root = element("div", { class: "toast card", role: "status" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    root,
    show(text) {
      root.textContent = text;
      root.classList.add("on");
      clearTimeout(timer);
      timer = setTimeout(() => root.classList.remove("on"), SHOWN_FOR);
    },
  };
}
