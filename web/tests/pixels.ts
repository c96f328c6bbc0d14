import type { Browser, Page } from "playwright-core";

export interface Clipping {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Picture {
  png: Buffer;
  /** Red, green, blue, alpha of each pixel, row by row. */
  pixels: Uint8Array;
}

/** Takes screenshots and reads their pixels; the browser itself decodes the PNG, on a page of its own. */
export class Camera {
  private constructor(private readonly decoder: Page) {}

  static async open(browser: Browser): Promise<Camera> {
    return new Camera(await browser.newPage());
  }

  async take(page: Page, clip?: Clipping): Promise<Picture> {
    const png = await page.screenshot(clip === undefined ? {} : { clip });
    const encoded = await this.decoder.evaluate(
      async (source) => {
        const image = new Image();
        image.src = source;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d")!;
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        let text = "";
        for (const byte of data) text += String.fromCharCode(byte);
        return btoa(text);
      },
      `data:image/png;base64,${png.toString("base64")}`,
    );
    return { png, pixels: Buffer.from(encoded, "base64") };
  }
}

/** Number of different colours, as reduced to 4 bits per channel. */
export function colours({ pixels }: Picture): number {
  const found = new Set<number>();
  for (let i = 0; i < pixels.length; i += 4) {
    found.add(((pixels[i]! >> 4) << 8) | ((pixels[i + 1]! >> 4) << 4) | (pixels[i + 2]! >> 4));
  }
  return found.size;
}

/** Number of pixels that `test` holds for. */
export function count({ pixels }: Picture, test: (r: number, g: number, b: number) => boolean): number {
  let found = 0;
  for (let i = 0; i < pixels.length; i += 4) if (test(pixels[i]!, pixels[i + 1]!, pixels[i + 2]!)) found++;
  return found;
}

/** Number of pixels whose colours differ by more than noise. */
export function difference(a: Picture, b: Picture): number {
  let found = 0;
  for (let i = 0; i < a.pixels.length; i += 4) {
    const [r, g, blue] = [0, 1, 2].map((k) => Math.abs(a.pixels[i + k]! - b.pixels[i + k]!)) as [
      number,
      number,
      number,
    ];
    if (Math.max(r, g, blue) > 12) found++;
  }
  return found;
}
