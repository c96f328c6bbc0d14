import { readFileSync } from "node:fs";
import type { Plugin, Rolldown } from "vite";

/**
 * Puts the one script and the one style sheet of the bundle inside the page, so that the page is a single file that
 * opens from `file://`, where browsers refuse external module scripts.
 *
 * @param libraries whose licences ask that their text goes along with every copy
 */
export function singleFile(libraries: readonly string[]): Plugin {
  return {
    name: "sapwood-single-file",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = Object.values(bundle).find(
        (file): file is Rolldown.OutputAsset => file.type === "asset" && file.fileName.endsWith(".html"),
      );
      if (page === undefined) throw new Error("the bundle has no HTML page");

      let html = String(page.source);
      for (const file of Object.values(bundle)) {
        if (file === page) continue;
        html = replaceTag(html, file.fileName, inlineTag(file));
        delete bundle[file.fileName];
      }
      page.source = html.replace("</body>", () => `${libraries.map(notice).join("\n")}\n  </body>`);
    },
  };
}

function notice(library: string): string {
  const text = readFileSync(new URL(`../node_modules/${library}/LICENSE`, import.meta.url), "utf8");
  if (text.includes("--")) throw new Error(`the licence of ${library} cannot stand in a comment`);
  return `<!-- This page holds ${library}.\n\n${text.trim()}\n-->`;
}

function inlineTag(file: Rolldown.OutputAsset | Rolldown.OutputChunk): string {
  if (file.type === "chunk") {
    // A literal "</script" inside the code would end the tag early.
    return `<script type="module">${file.code.replaceAll("</script", "<\\/script")}</script>`;
  }
  if (file.fileName.endsWith(".css")) return `<style>${String(file.source)}</style>`;
  throw new Error(`cannot put ${file.fileName} inside the page`);
}

/** Replaces the `<script src>` or `<link href>` that names `fileName`. */
function replaceTag(html: string, fileName: string, replacement: string): string {
  const name = fileName.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const tag = new RegExp(`<script[^>]*${name}[^>]*></script>|<link[^>]*${name}[^>]*>`);
  if (!tag.test(html)) throw new Error(`the page does not refer to ${fileName}`);
  return html.replace(tag, () => replacement); // a function: the code may hold "$&"
}
