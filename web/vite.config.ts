import { defineConfig, type Plugin } from "vitest/config";
import { singleFile } from "./build/single-file.ts";
import { splice } from "./tests/splice.ts";
import { syntheticReplay } from "./tests/synthetic.ts";

/** `npm run dev` plays the synthetic replay of the tests. */
function syntheticData(): Plugin {
  return {
    name: "sapwood-synthetic-data",
    apply: "serve",
    transformIndexHtml: { order: "pre", handler: (html) => splice(html, syntheticReplay()) },
  };
}

export default defineConfig({
  base: "./",
  plugins: [syntheticData(), singleFile(["three"])],
  server: { open: "/replay.html" },
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 900,
    rolldownOptions: { input: "replay.html" },
  },
  test: {
    include: ["tests/**/*.test.ts"],
    testTimeout: 20_000,
  },
});
