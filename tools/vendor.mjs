// Bundles the page's third-party modules into static/vendor/, one ES module each, so that the page
// needs no bundler and no CDN. Shared code goes into chunks, so that there is exactly one Preact in
// the page. A declaration file next to each module has the types of its packages.

import { readFileSync, readdirSync, rmSync, mkdirSync, writeFileSync, copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "static", "vendor");

const exportAll = (/** @type {string[]} */ ...names) =>
  names.map((name) => `export * from "${name}";\n`).join("");

const html = `export * from "./htm.js";\n`;

/** The source of each vendored module, and its types if they differ from the source. */
const modules = {
  htm: {
    source: `import htm from "htm"; import { h } from "preact";
export default htm; export const html = htm.bind(h);\n`,
    types: `import htm from "htm"; import { VNode } from "preact"; export default htm;
export declare const html: (strings: TemplateStringsArray, ...values: any[]) => VNode<any>;\n`,
  },
  signals: { source: exportAll("@preact/signals") },
  preact: {
    source: exportAll("preact", "preact/hooks", "@preact/signals") + html,
    types: exportAll("preact", "preact/hooks", "@preact/signals") + html,
  },
  uplot: { source: `export { default } from "uplot"; export { default as uPlot } from "uplot";\n` },
  dagre: {
    source: `import dagre from "@dagrejs/dagre"; export default dagre;
export const graphlib = dagre.graphlib; export const layout = dagre.layout;\n`,
    types: `export { default, graphlib, layout } from "@dagrejs/dagre";\n`,
  },
  "d3-force": {
    source: `export { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";\n`,
    types: `type Body = { x?: number, y?: number };
type Force = { distance(length: number): Force, strength(strength: number): Force, theta(theta: number): Force,
  distanceMax(distance: number): Force };
type Simulation = { alpha(alpha: number): Simulation, alphaDecay(decay: number): Simulation, force(name: string, force: Force): Simulation,
  stop(): Simulation, tick(): Simulation };
export declare function forceSimulation(bodies: Body[]): Simulation;
export declare function forceLink(lines: { source: number, target: number }[]): Force;
export declare function forceManyBody(): Force;
export declare function forceX(): Force;
export declare function forceY(): Force;\n`,
  },
  umap: { source: `export { UMAP } from "umap-js";\n` },
  qr: { source: `export { encode } from "uqr";\n` },
  codemirror: {
    source:
      exportAll(
        "@codemirror/state",
        "@codemirror/view",
        "@codemirror/commands",
        "@codemirror/language",
        "@codemirror/lint",
        "@codemirror/autocomplete",
        "@codemirror/search",
        "@codemirror/lang-python",
      ) + `export { tags, tagHighlighter, classHighlighter } from "@lezer/highlight";\n`,
  },
};

/** Resolves `vendor:NAME`, and `./NAME.js` inside these modules, to the table above. */
const fromTable = {
  name: "vendor-table",
  resolveId(/** @type {string} */ path, /** @type {string | undefined} */ importer) {
    if (!importer) return path;
    return importer.startsWith("vendor:") && path.startsWith("./")
      ? `vendor:${path.slice(2, -3)}`
      : null;
  },
  load(/** @type {string} */ id) {
    if (!id.startsWith("vendor:")) return null;
    return modules[/** @type {keyof typeof modules} */ (id.slice("vendor:".length))].source;
  },
};

/**
 * Makes CodeMirror's style-mod use constructed style sheets in documents too, not only in shadow
 * roots. Its <style> elements are forbidden by the page's Content-Security-Policy, and every browser
 * with WebGPU supports constructed style sheets.
 */
const constructedStyleSheets = {
  name: "constructed-style-sheets",
  transform(/** @type {string} */ source, /** @type {string} */ id) {
    if (!/style-mod[\\/]src[\\/]style-mod\.js$/.test(id)) return null;
    const documentsExcluded = "!root.head && root.adoptedStyleSheets";
    if (source.split(documentsExcluded).length !== 2) {
      throw new Error("style-mod has changed: check how it chooses constructed style sheets");
    }
    return { code: source.replace(documentsExcluded, "root.adoptedStyleSheets"), map: null };
  },
};

/** The licences of every package in the bundle, which their terms require. */
function licences(/** @type {string[]} */ paths) {
  const packages = new Set(
    paths.flatMap((path) => {
      const match = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
      return match ? [match[1]] : [];
    }),
  );
  return [...packages]
    .sort()
    .map((name) => {
      const folder = join(root, "node_modules", name);
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file ? readFileSync(join(folder, file), "utf8") : `${manifest.license}\n`;
      return `${name} ${manifest.version}\n\n${text}`;
    })
    .join(`\n${"-".repeat(72)}\n\n`);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const { output } = await build({
  input: Object.fromEntries(Object.keys(modules).map((name) => [name, `vendor:${name}`])),
  cwd: root,
  plugins: [fromTable, constructedStyleSheets],
  logLevel: "warn",
  output: {
    dir: out,
    format: "esm",
    minify: true,
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "chunk-[hash].js",
  },
});
// What stand-alone pages of networks consist of: the modules of static/standalone/ as one script.
await build({
  input: join(root, "static/standalone/player.js"),
  logLevel: "warn",
  output: { dir: join(out, "player"), format: "iife", comments: false },
});
copyFileSync(join(root, "static/standalone/player.css"), join(out, "player", "player.css"));
copyFileSync(join(root, "node_modules/uplot/dist/uPlot.min.css"), join(out, "uplot.css"));
for (const [name, entry] of Object.entries(modules)) {
  writeFileSync(join(out, `${name}.d.ts`), "types" in entry ? entry.types : entry.source);
}
writeFileSync(
  join(out, "LICENSES.txt"),
  licences(output.flatMap((chunk) => ("moduleIds" in chunk ? chunk.moduleIds : []))),
);
