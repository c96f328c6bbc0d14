import { element } from "./dom";

/** Time for which the pointer has to rest, in milliseconds. */
const REST = 120;
/** Distance from the pointer, in CSS pixels. */
const OFFSET = 14;

/** A label beside the pointer that says what is under it, as `describe` does for a point of the page. */
export function hoverLabel(canvas: HTMLElement, describe: (x: number, y: number) => string | null): HTMLElement {
  const label = element("div", { class: "hover card", role: "tooltip" });
  label.hidden = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hide = (): void => {
    clearTimeout(timer);
    label.hidden = true;
  };
  canvas.addEventListener("pointermove", (event) => {
    hide();
    if (event.buttons !== 0 || event.pointerType === "touch") return;
    const { clientX: x, clientY: y } = event;
    timer = setTimeout(() => {
      const text = describe(x, y);
      if (text === null) return;
      label.textContent = text;
      label.hidden = false;
      const { offsetWidth: width, offsetHeight: height } = label;
      label.style.left = `${Math.min(x + OFFSET, window.innerWidth - width - 4)}px`;
      label.style.top = `${y + OFFSET + height > window.innerHeight ? y - OFFSET - height : y + OFFSET}px`;
    }, REST);
  });
  for (const event of ["pointerleave", "pointerdown", "wheel"]) canvas.addEventListener(event, hide);
  return label;
}
