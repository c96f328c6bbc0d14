import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The browser of the tests: `$CHROMIUM`, or the first known one on the path; null if there is none. */
export function findChromium(): string | null {
  const chosen = process.env["CHROMIUM"];
  if (chosen) return chosen;
  const folders = ["/usr/bin", ...(process.env["PATH"] ?? "").split(delimiter)];
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path)) ?? null;
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--use-angle=swiftshader", // WebGL without a GPU
      "--enable-unsafe-swiftshader",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
