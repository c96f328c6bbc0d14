/** Line icons on a 24 × 24 grid, drawn for this page. */

const PATHS = {
  play: '<path d="M8 5.5v13l10.5-6.5z" fill="currentColor"/>',
  pause: '<path d="M8 5.5v13M16 5.5v13" stroke-width="3"/>',
  back: '<path d="M15.5 6.5 9 12l6.5 5.5zM6 6v12" />',
  forward: '<path d="M8.5 6.5 15 12l-6.5 5.500zM18 6v12" />',
  loop: '<path d="M5 12a5.5 5.5 0 0 1 5.5-5.500H18M15 3.500l3 3-3 3M19 12a5.5 5.5 0 0 1-5.5 5.500H6M9 20.500l-3-3 3-3"/>',
  contacts:
    '<circle cx="12" cy="14" r="3" fill="currentColor"/><path d="M3 19h18M5.5 10.500l1.5 1.500M18.5 10.5 17 12M12 5.500v2"/>',
  forces: '<path d="M12 19V5M7 10l5-5 5 5M4 20.500h16"/>',
  follow: '<circle cx="12" cy="12" r="3"/><path d="M4 8V4h4M20 8V4h-4M4 16v4h4M20 16v4h-4"/>',
  shadows:
    '<circle cx="12" cy="9" r="5.5"/><path d="M5 19.500c0-1.1 3.1-2 7-2s7 .9 7 2" /><path d="M9.5 9A2.5 2.5 0 0 1 12 6.5"/>',
  plots: '<path d="M4 4v16h16M7.5 15l3.5-5 3 3 4.5-7"/>',
  collision: '<path d="M12 3.500 19.500 8v8L12 20.500 4.500 16V8zM4.500 8 12 12.500 19.500 8M12 12.500v8"/>',
  stress: '<path d="M4 19.500h16M6 16V9.500M10 16V6M14 16V11M18 16V4.500" stroke-width="2.4"/>',
  camera: '<path d="M4 8.500h3.500L9 6h6l1.5 2.500H20V18.500H4z"/><circle cx="12" cy="13" r="3.2"/>',
  link: '<path d="M10.500 13.500a3.500 3.500 0 0 0 5 0l3-3a3.500 3.500 0 0 0-5-5l-1 1M13.500 10.500a3.500 3.500 0 0 0-5 0l-3 3a3.500 3.500 0 0 0 5 5l1-1"/>',
  home: '<path d="M4 11.5 12 5l8 6.500M6.5 10v9h11v-9"/>',
  info: '<circle cx="12" cy="12" r="8.5"/><path d="M12 11v5.500M12 7.500v.2" stroke-width="2.2"/>',
  help: '<rect x="3" y="6" width="18" height="12" rx="2.5"/><path d="M6.5 10h.1M10 10h.1M13.8 10h.1M17.4 10h.1M8 14.200h8" stroke-width="2"/>',
  dark: '<path d="M19.5 14.500A8 8 0 0 1 9.5 4.500a8 8 0 1 0 10 10z"/>',
  close: '<path d="M6 6l12 12M18 6 6 18"/>',
  rings: '<circle cx="12" cy="12" r="9.5"/><circle cx="11.4" cy="12.5" r="5.8"/><circle cx="10.9" cy="12.8" r="2.3"/>',
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  svg.innerHTML = PATHS[name];
  return svg;
}
