/** The built page in a real browser, opened from `file://`. */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findChromium, launch } from "./chromium.ts";
import { Camera, colours, count, difference, type Picture } from "./pixels.ts";
import { base64, f32, png } from "./encode.ts";
import { splice } from "./splice.ts";
import { syntheticReplay } from "./synthetic.ts";

const executable = findChromium();
if (executable === null) {
  console.warn("SKIPPED: the browser test needs Chromium; set CHROMIUM to its path");
}

const PAGE = readFileSync(fileURLToPath(new URL("../dist/replay.html", import.meta.url)), "utf8");
const MOST_BYTES = 900_000;

test("the page is one small file", () => {
  expect(Buffer.byteLength(PAGE)).toBeLessThan(MOST_BYTES);
  expect(PAGE).not.toMatch(/<script[^>]+src=|<link[^>]+href="(?!data:)|@import|url\((?!["']?data:)/);
});

test.runIf(executable === null && process.env["CI"])("a browser is there", () => {
  throw new Error("no Chromium found, and CI is set: the browser test may not be skipped");
});

describe.skipIf(executable === null)("in the browser", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "sapwood-replay-"));
  const screenshots = process.env["SCREENSHOTS"] ?? folder;
  let browser: Browser;
  let camera: Camera;
  let page: Page;
  let requests: string[];
  let complaints: string[];

  beforeAll(async () => {
    browser = await launch(executable!);
    camera = await Camera.open(browser);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    console.log(`screenshots are in ${screenshots}`);
  });

  beforeEach(async () => {
    page = await browser.newPage({
      viewport: { width: 960, height: 640 },
      colorScheme: "light",
      reducedMotion: "reduce", // the camera stops where the mouse stops
    });
    requests = [];
    complaints = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !isDriverNote(message.text()))
        complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
  });

  afterEach(async () => {
    await page.close();
    expect(complaints).toEqual([]);
    // The icon is part of the file as well.
    expect(requests.filter((url) => !url.startsWith("data:"))).toHaveLength(1);
    expect(requests[0]).toMatch(/^file:/);
  });

  /** Opens the page with a replay in it (null for none) and waits until it shows something. */
  async function open(replay: unknown, hash = ""): Promise<void> {
    const path = join(folder, "replay.html");
    writeFileSync(path, splice(PAGE, replay));
    // Another part after # alone would not load the page anew.
    await page.goto("about:blank");
    requests = [];
    await page.goto(pathToFileURL(path).href + hash);
    await page.waitForFunction(() => window.sapwoodReplay?.ready || document.querySelector(".message"), null, {
      timeout: 60_000,
    });
  }

  /** Waits until the picture shows the current state. */
  async function settle(): Promise<void> {
    // A key or a movement of the mouse takes effect with the next frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await page.waitForFunction(() => window.sapwoodReplay.settled, null, { timeout: 60_000 });
  }

  /** The part of the page above the controls, in its current state. */
  async function picture(): Promise<Picture> {
    await settle();
    return camera.take(page, { x: 0, y: 60, width: 960, height: 360 });
  }

  async function screenshot(name: string): Promise<void> {
    await page.screenshot({ path: join(screenshots, `${name}.png`) });
  }

  const frame = (): Promise<number> => page.evaluate(() => window.sapwoodReplay.frame);
  const toggle = (name: string, on: boolean): Promise<void> =>
    page.evaluate(([name, on]) => window.sapwoodReplay.toggle(name, on), [name, on] as const);

  test("shows the replay, with its contacts and forces", async () => {
    await open(syntheticReplay(), "#frame=150&play=0&contacts=0&forces=0");
    expect(await frame()).toBe(150);
    // All but the floor and the hidden geom.
    expect(await page.evaluate(() => window.sapwoodReplay.counts)).toEqual({ geoms: drawnGeoms(), contactsShown: 0 });

    const plain = await picture();
    expect(colours(plain)).toBeGreaterThan(60);

    await toggle("contacts", true);
    const points = await picture();
    const teal = (r: number, g: number, b: number): boolean => g > 120 && b > 110 && r < 0.75 * g;
    expect(count(points, teal)).toBeGreaterThan(count(plain, teal) + 50);
    expect((await page.evaluate(() => window.sapwoodReplay.counts)).contactsShown).toBeGreaterThan(4);

    await toggle("forces", true);
    const arrows = await picture();
    const coral = (r: number, g: number, b: number): boolean => r > 200 && g < 0.6 * r && b < 0.6 * r;
    expect(count(arrows, coral)).toBeGreaterThan(count(points, coral) + 50);
    await screenshot("light");

    await toggle("contacts", false);
    await toggle("forces", false);
    expect(difference(await picture(), plain)).toBeLessThan(50);
  });

  test("plays at the chosen speed, pauses, and loops", async () => {
    await open(syntheticReplay({ frames: 60 }), "#play=0");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => window.sapwoodReplay.frame > 5);
    await page.evaluate(() => window.sapwoodReplay.setSpeed(4));
    let before = 0;
    for (let looped = false; !looped;) {
      const now = await frame();
      looped = now < before;
      before = now;
    }
    await page.keyboard.press("Space");
    const paused = await frame();
    expect(await page.evaluate(() => window.sapwoodReplay.playing)).toBe(false);
    await page.waitForTimeout(400);
    expect(await frame()).toBe(paused);
  });

  test("moves slowly when told to", async () => {
    await open(syntheticReplay(), "#play=0&speed=0.1");
    const start = Date.now();
    await page.evaluate(() => window.sapwoodReplay.play());
    await page.waitForFunction(() => window.sapwoodReplay.frame >= 6);
    // At a tenth of the speed, six frames of 1/60 s take a second; a slow machine may be late but never early.
    expect(Date.now() - start).toBeGreaterThan(950);
  });

  test("goes where the scrub bar, the keys and the plots say", async () => {
    await open(syntheticReplay(), "#play=0");
    const first = await picture();
    await page.locator(".scrub").fill("2.5");
    expect(await frame()).toBe(150);
    expect(difference(await picture(), first)).toBeGreaterThan(500);

    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    expect(await frame()).toBe(151);
    await page.keyboard.press("Home");
    expect(await frame()).toBe(0);

    const area = (await page.locator(".plots .area").boundingBox())!;
    await page.mouse.click(area.x + area.width / 2, area.y + 10);
    expect(await frame()).toBe(149);
  });

  test("orbits with the mouse and comes back", async () => {
    await open(syntheticReplay(), "#play=0&frame=60");
    const before = await picture();
    await page.mouse.move(480, 200);
    await page.mouse.down();
    await page.mouse.move(620, 230, { steps: 4 });
    await page.mouse.up();
    expect(difference(await picture(), before)).toBeGreaterThan(5000);
    await page.keyboard.press("r");
    expect(difference(await picture(), before)).toBeLessThan(200);
  });

  test("follows a body, and shows panels by key", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    await open(syntheticReplay(), "#play=0&frame=30&forces=1&follow=pelvis&info=1");
    await page.locator(".panel.info").waitFor();
    expect(await page.locator(".panel.info").innerText()).toContain("mean iterations");
    await settle();
    await screenshot("dark");
    await page.keyboard.press("?");
    await page.locator(".panel.help").waitFor();
    expect(await page.locator(".panel.info").isHidden()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.locator(".panel.help").isHidden()).toBe(true);
  });

  test("an address with a frame shows the body that it follows", async () => {
    await open(syntheticReplay(), "#play=0&frame=150&follow=pelvis");
    const { y: covered } = (await page.locator(".dock").boundingBox())!;
    await page.mouse.dblclick(480, covered / 2);
    expect(await page.locator(".toast").innerText()).toMatch(/^Following /);
    // Where no body is named the view of the first frame is carried along, whatever frame the page starts with.
    await open(syntheticReplay(), "#play=0&follow=1");
    await page.evaluate(() => window.sapwoodReplay.seek(140));
    const carried = await picture();
    await open(syntheticReplay(), "#play=0&frame=140&follow=1");
    expect(difference(await picture(), carried)).toBeLessThan(200);
  });

  test("follows the body that is double-clicked", async () => {
    const replay = syntheticReplay();
    const head = (replay["bodies"] as string[]).indexOf("head");
    const geoms = (replay["geoms"] as { body: number }[]).filter(({ body }) => body === head);
    await open({ ...replay, geoms }, "#play=0"); // the head alone fills the free part of the page
    const { y: covered } = (await page.locator(".dock").boundingBox())!;
    await page.mouse.dblclick(480, covered / 2);
    expect(await page.locator(".toast").innerText()).toBe("Following head");
    expect(await page.locator("button[aria-pressed=true]", { hasText: "Follow" }).count()).toBe(1);
  });

  test("shows collision shapes on demand, and no ground where there is none", async () => {
    const replay = syntheticReplay();
    const geoms = replay["geoms"] as { type: string; body: number; rgba: number[] }[];
    const bodies = geoms.filter(({ type, rgba }) => type !== "plane" && rgba[3]! > 0);
    const shapes = bodies.map((geom) => ({ ...geom, group: 3, rgba: [1, 0, 0, 1] }));
    await open({ ...replay, geoms: [...bodies, ...shapes] }, "#play=0&contacts=0");
    const drawn = (): Promise<number> => page.evaluate(() => window.sapwoodReplay.counts.geoms);
    expect(await drawn()).toBe(bodies.length);
    const hidden = await picture();
    await page.keyboard.press("g");
    expect(await drawn()).toBe(2 * bodies.length);
    const red = (r: number, g: number, b: number): boolean => r > 150 && g < 0.4 * r && b < 0.4 * r;
    expect(count(await picture(), red)).toBeGreaterThan(count(hidden, red) + 500);
    await screenshot("collision");
  });

  test("shows collision shapes where there is nothing else", async () => {
    const replay = syntheticReplay();
    const geoms = replay["geoms"] as { type: string; rgba: number[] }[];
    const shapes = geoms.filter(({ type, rgba }) => type !== "plane" && rgba[3]! > 0);
    await open({ ...replay, geoms: shapes.map((geom) => ({ ...geom, group: 3 })) }, "#play=0&contacts=0");
    expect(await page.evaluate(() => window.sapwoodReplay.counts.geoms)).toBe(shapes.length);
    expect(await page.locator("button", { hasText: "Shapes" }).count()).toBe(0);
  });

  test("names what is under the pointer, and saves the picture", async () => {
    const replay = syntheticReplay();
    const head = (replay["bodies"] as string[]).indexOf("head");
    const geoms = (replay["geoms"] as { body: number }[]).filter(({ body }) => body === head);
    await open({ ...replay, geoms: geoms.map((geom) => ({ ...geom, name: "skull" })) }, "#play=0&contacts=0");
    await settle();
    const { y: covered } = (await page.locator(".dock").boundingBox())!;
    await page.mouse.move(480, covered / 2);
    await page.locator(".hover:visible").waitFor();
    expect(await page.locator(".hover").innerText()).toBe("head · skull");
    await page.mouse.move(20, covered / 2);
    await page.locator(".hover").waitFor({ state: "hidden" });

    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the picture as PNG" }).click();
    const path = await (await download).path();
    expect(readFileSync(path).subarray(1, 4).toString()).toBe("PNG");
    expect(readFileSync(path).length).toBeGreaterThan(10_000);
    // The picture is handed over as an address inside the page.
    requests = requests.filter((url) => !url.startsWith("blob:"));
  });

  test("shows textures and paints", async () => {
    const red = (r: number, g: number, b: number): boolean => r > 120 && g < 0.5 * r && b < 0.5 * r;
    const green = (r: number, g: number, b: number): boolean => g > 150 && r < 0.8 * g && b < 0.6 * g;
    const blue = (r: number, g: number, b: number): boolean => b > 110 && r < 0.6 * b && g < 0.75 * b;
    const replay = syntheticReplay({ frames: 2 });
    // A floor of red and blue squares, a ball that is green above, a square that is half red and half blue.
    const squares = png(32, 32, (x, y) => (x < 16 === y < 16 ? [255, 0, 0] : [0, 0, 255]));
    const cube = png(4, 24, (_, y) => (Math.floor(y / 4) === 4 ? [0, 255, 0] : [255, 255, 255]));
    const place = { body: 1, pos: [0, 0, 0.3], quat: [1, 0, 0, 0], rgba: [1, 1, 1, 1], mesh: null };
    const ball = { ...place, type: "sphere", size: [0.4], texture: { image: 1, map: "cube", scale: [1, 1, 1] } };
    const floor = { ...place, body: 0, pos: [0, 0, 0], type: "plane", size: [0, 0] };
    const texture = { image: 0, map: "plane", scale: [1, -1], offset: [0, 0] };
    const sheet = { ...place, type: "mesh", size: [], mesh: 0, painted: true };
    const mesh = {
      vertices: base64(f32([0, -1, 0, 0, 1, 0, 0, 1, 1, 0, -1, 1])),
      triangles: base64(Buffer.from(Uint16Array.of(0, 1, 2, 0, 2, 3).buffer)),
      index_bits: 16,
      paints: [{ rgb: [1, 0, 0] }, { rgb: [0, 0, 1] }],
      paint_of: base64(Buffer.from(Uint32Array.of(1, 0).buffer)),
    };
    const textures = [
      { kind: "2d", png: squares },
      { kind: "cube", png: cube },
    ];
    const look = { ...replay, textures, meshes: [mesh] };
    await open({ ...look, geoms: [{ ...floor, texture }, ball] }, "#play=0&contacts=0");
    const one = await picture();
    await screenshot("textures");
    for (const colour of [red, green, blue]) expect(count(one, colour)).toBeGreaterThan(1500);
    await open({ ...look, geoms: [sheet] }, "#play=0&contacts=0&view=0,5,1");
    const two = await picture();
    await screenshot("paints");
    for (const colour of [red, blue]) expect(count(two, colour)).toBeGreaterThan(3000);
    requests.splice(1);
  });

  test("gives a link to the view", async () => {
    await open(syntheticReplay(), "#play=0&frame=60");
    await page.mouse.move(480, 200);
    await page.mouse.down();
    await page.mouse.move(620, 230, { steps: 4 });
    await page.mouse.up();
    await page.mouse.wheel(0, -300);
    const turned = await picture();
    await page.getByRole("button", { name: "Copy a link to this view and frame" }).click();
    const hash = await page.evaluate(() => location.hash);
    expect(hash).toMatch(/^#view=.*&frame=60&play=0$/);
    await page.locator(".toast", { hasText: "view" }).waitFor();
    await page.goto("about:blank");
    await open(syntheticReplay(), hash + "&contacts=1");
    expect(difference(await picture(), turned)).toBeLessThan(400);
    requests = requests.filter((url) => url !== "about:blank").slice(0, 1);
  });

  test("fits a telephone", async () => {
    await page.setViewportSize({ width: 390, height: 780 });
    await open(syntheticReplay(), "#play=0&frame=150&forces=1");
    await settle();
    await screenshot("telephone");
    const overflow = await page.evaluate(
      () =>
        [...document.querySelectorAll("button, input, .dock")].filter((item) => {
          const { left, right, width } = item.getBoundingClientRect();
          return width > 0 && (left < -8 || right > innerWidth + 8);
        }).length,
    );
    expect(overflow).toBe(0);
  });

  test("says that there is no replay in it", async () => {
    const path = join(folder, "empty.html");
    writeFileSync(path, PAGE);
    await page.goto(pathToFileURL(path).href);
    await page.locator(".message").waitFor();
    expect(await page.locator(".message").innerText()).toContain("No replay in this page");
    await screenshot("empty");
  });

  test("shows what is wrong with damaged data", async () => {
    await open({ ...syntheticReplay(), frames: 7 });
    expect(await page.locator(".message").innerText()).toMatch(/cannot be shown[^]*poses: expected \d+ bytes/);
    expect(await page.evaluate(() => window.sapwoodReplay.error)).toMatch(/^poses: expected/);
    await screenshot("damaged");
  });

  test("shows names and summaries as text, whatever they hold", async () => {
    const name = "</script><script>document.title='broken'</script><b>$&";
    await open({ ...syntheticReplay(), name, summary: { [name]: name } }, "#play=0&info=1");
    expect(await page.locator(".title-card h1").innerText()).toBe(name);
    expect(await page.title()).toContain(name);
  });

  test("shows a model that stands still and has no contacts", async () => {
    const still = { ...syntheticReplay({ frames: 1 }), series: {} };
    await open(still);
    expect(await page.evaluate(() => window.sapwoodReplay.frames)).toBe(1);
    expect(colours(await picture())).toBeGreaterThan(40);
  });
});

/** Geoms of the synthetic replay that are drawn as bodies: neither hidden nor the floor. */
function drawnGeoms(): number {
  const geoms = syntheticReplay({ frames: 1 })["geoms"] as { type: string; rgba: number[] }[];
  return geoms.filter(({ type, rgba }) => rgba[3]! > 0 && type !== "plane").length;
}

/** Chromium notes on the console that WebGL runs without a GPU, and that reading pixels back is slow. */
function isDriverNote(text: string): boolean {
  return /GL Driver Message|software WebGL|GPU stall/i.test(text);
}
