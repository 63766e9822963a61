// Bundles the page's own modules and style sheets into static/bundled/, so that it opens with a few
// requests instead of hundreds. `node tools/bundle.mjs [STATIC]`.
//
// A bundled file has the path of the module that it stands for, below bundled/, and the server sends
// it for that module's URL (playgrad/server/bundled.py). Modules exist once: what one of them exports
// is the same, whether a script of the page imports it, a test, or a person at the console.
// manifest.json has the SHA-256 of every source; once one differs, the server sends the sources.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = resolve(process.argv[2] ?? join(root, "static"));
const out = join(source, "bundled");

const panels = readdirSync(join(source, "js/panels"))
  .sort()
  .map((name) => `js/panels/${name}/panel.js`)
  .filter((path) => existsSync(join(source, path)));
/** Start the page, the page in a frame, and the page of a training elsewhere. */
const starts = ["js/main.js", "js/embed-main.js", "js/watch-main.js"];
/** Modules that tests import from the open page. */
const exposed = JSON.parse(readFileSync(join(root, "tools/exposed-modules.json"), "utf8"));

/** All that takes part. @type {Set<string>} paths below static/ */
const sources = new Set();

/** @param {string} path */
const inside = (path) => relative(source, path).replaceAll("\\", "/");

/**
 * Leave the vendored modules out, which are bundles already, and Python's start, which tests exchange;
 * and keep what `import.meta.url` stands for: the folder of the source.
 * @param {string} depth the way up from the folder of a bundled file to static/
 * @param {string[]} external modules that are files of their own
 */
const asInSource = (depth, external = []) => ({
  name: "as-in-source",
  /** @param {string} path @param {string} [importer] */
  resolveId(path, importer) {
    if (!importer) return null;
    const target = inside(resolve(dirname(importer), path));
    const isOut = target.startsWith("vendor/") || external.includes(target);
    return isOut ? { id: depth + target, external: true } : null;
  },
  /** @param {string} code @param {string} id */
  transform(code, id) {
    const path = inside(id);
    if (!existsSync(join(source, path))) return null; // a helper of the bundler
    sources.add(path);
    if (!code.includes("import.meta.url")) return null;
    const moved = code.replaceAll(
      /new URL\("\.\/([^"]+)", import\.meta\.url\)/g,
      `new URL("${depth}${dirname(path)}/$1", import.meta.url)`,
    );
    return { code: moved, map: null };
  },
});

/** @param {string[]} entries @param {any} options */
async function bundle(entries, { plugins, groups }) {
  const { output } = await build({
    input: Object.fromEntries(
      entries.map((path) => [path.replace(/\.js$/, ""), join(source, path)]),
    ),
    preserveEntrySignatures: "allow-extension",
    logLevel: "warn",
    checks: { ineffectiveDynamicImport: false },
    plugins,
    output: {
      dir: out,
      format: "esm",
      // Names stay, so that an error that a visitor reports can be read.
      minify: { mangle: false, compress: true, codegen: true },
      sourcemap: true,
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name]-[hash].js",
      codeSplitting: { groups },
    },
  });
  return output;
}

/** Whether the page needs a module at once: the name of its chunk. @param {string} id @param {any} context */
function eagerly(id, context) {
  if (starts.includes(inside(id))) return null;
  const seen = new Set([id]);
  for (const each of seen) {
    if ([...starts, ...panels].includes(inside(each))) return "page";
    for (const importer of context.getModuleInfo(each)?.importers ?? []) seen.add(importer);
  }
  return null;
}

/** The style sheets of index.html and of the panels, in that order. */
function bundleStyles() {
  sources.add("index.html");
  const html = readFileSync(join(source, "index.html"), "utf8");
  const named = [...html.matchAll(/<link rel="stylesheet" href="static\/([^"]+)">/g)]
    .map(([, path]) => path)
    .filter((path) => path !== "css/early.css"); // is part of the page
  const added = panels.flatMap((panel) =>
    readdirSync(join(source, dirname(panel)))
      .filter((name) => name.endsWith(".css"))
      .sort()
      .map((name) => `${dirname(panel)}/${name}`),
  );
  const paths = [...named, ...added];
  for (const path of paths) sources.add(path);
  const text = paths.map((path) => readFileSync(join(source, path), "utf8")).join("\n");
  mkdirSync(join(out, "css"), { recursive: true });
  writeFileSync(join(out, "css/page.css"), text);
}

rmSync(out, { recursive: true, force: true });
bundleStyles();
const page = await bundle([...panels, ...starts, ...exposed], {
  plugins: [asInSource("../")],
  groups: [{ name: eagerly, debugName: "page" }],
});
const boot = "engine/python-boot.js";
const workers = ["engine/python-worker.js", "engine/cpu-worker.js"];
// What imports `boot` is no part of the chunk that `boot` imports: it would be evaluated before it.
const apart = [...workers, boot, "engine/early-start.js"];
await bundle([...workers, boot], {
  plugins: [asInSource("../", [boot])],
  groups: [
    {
      name: (id) => (apart.includes(inside(id)) ? null : "engine"),
      debugName: "engine",
    },
  ],
});
for (const worker of ["pixels", "device", "thread", "image"].map(
  (name) => `engine/${name}-worker.js`,
))
  await bundle([worker], { plugins: [asInSource("../")], groups: [] });
const scripts = readdirSync(join(source, "js"), { recursive: true, encoding: "utf8" });
for (const name of scripts.filter((each) => each.includes("/") && each.endsWith("-worker.js"))) {
  const depth = "../".repeat(name.split("/").length);
  await bundle([`js/${name}`], { plugins: [asInSource(depth)], groups: [] });
}

const main = page.find(({ fileName }) => fileName === starts[0]);
const digest = (/** @type {string} */ path) =>
  createHash("sha256")
    .update(readFileSync(join(source, path)))
    .digest("hex");
const manifest = {
  sources: Object.fromEntries([...sources].sort().map((path) => [path, digest(path)])),
  /** What the page imports at once, so that it need not wait for its first script to say so. */
  preload: "imports" in main ? main.imports.filter((path) => path.startsWith("chunks/")) : [],
};
writeFileSync(join(out, "manifest.json"), JSON.stringify(manifest));
