// Every text of the page is in the message files: English and its translation say the same things.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import * as espree from "espree";
import { preferred } from "../../static/js/words/locale.js";
import { en } from "../../static/js/messages/en.js";
import { zhHans } from "../../static/js/messages/zh-hans.js";

const SOURCE = new URL("../../static/js/", import.meta.url);
const modules = readdirSync(SOURCE, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".js") && !name.startsWith("messages/"));

/** The texts of a message file by their paths: strings, and functions that make them. */
function* texts(node, path = []) {
  if (typeof node === "string" || typeof node === "function") yield [path.join("."), node];
  else for (const [key, child] of Object.entries(node)) yield* texts(child, [...path, key]);
}

/** The texts of the page; the bundled examples have theirs in their programs. */
const textsOf = (messages) => new Map(texts({ ...messages, examples: {} }));
const english = textsOf(en);
const chinese = textsOf(zhHans);

test("both languages have the same texts, with the same values in them", () => {
  assert.deepEqual([...chinese.keys()].sort(), [...english.keys()].sort());
  for (const [path, text] of english) {
    assert.equal(typeof chinese.get(path), typeof text, path);
    if (typeof text === "function") assert.ok(chinese.get(path).length <= text.length, path);
  }
});

test("no text is empty or left in English", () => {
  // Names that are the same in both languages have no word of English in them that is not a name.
  const words = (text) => text.match(/\b[a-z]{4,}\b/g) ?? [];
  for (const [path, text] of chinese) {
    assert.notEqual(text, "", path);
    if (typeof text === "string" && !/\p{Script=Han}/u.test(text))
      assert.deepEqual(words(text), [], `${path}: ${text}`);
  }
});

test("every bundled example has a title and a description", () => {
  const folder = new URL("../../static/examples/", import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".py"));
  assert.deepEqual(
    Object.keys(zhHans.examples).sort(),
    names.map((name) => name.slice(0, -3)).sort(),
  );
  // Both say the same: of the sizes of the data, for instance, and what to expect.
  const numbers = (text) => (text.match(/\d+(?:[.,]\d+)*/g) ?? []).sort();
  for (const [id, { title, description }] of Object.entries(zhHans.examples)) {
    for (const text of [title, description]) assert.match(text, /\p{Script=Han}/u, id);
    const [, docstring] = /^"""([^]*?)"""/.exec(readFileSync(new URL(`${id}.py`, folder), "utf8"));
    assert.deepEqual(numbers(`${title} ${description}`), numbers(docstring), id);
  }
});

test("every text is used", () => {
  const code = modules.map((name) => readFileSync(new URL(name, SOURCE), "utf8")).join("\n");
  const names = new Set(["examples", ...[...english.keys()].map((path) => path.split(".")[0])]);
  for (const section of names)
    assert.match(code, new RegExp(`t\\(\\)\\.${section}\\b`), `the section ${section}`);
});

test("no component has a text of its own", () => {
  const visible = [];
  for (const name of modules) {
    for (const markup of templates(readFileSync(new URL(name, SOURCE), "utf8"))) {
      visible.push(...wordsOf(markup).map((text) => `${name}: ${text}`));
    }
  }
  assert.deepEqual(visible, []);
});

/** The markup of all html`...` templates of a module, with `\0` for each expression in it. */
function templates(code) {
  const all = [];
  const visit = (node) => {
    if (!node || typeof node.type !== "string") return;
    if (node.type === "TaggedTemplateExpression" && node.tag.name === "html") {
      all.push(node.quasi.quasis.map(({ value }) => value.raw).join("\0"));
    }
    for (const child of Object.values(node)) {
      if (Array.isArray(child)) child.forEach(visit);
      else if (child && typeof child === "object") visit(child);
    }
  };
  visit(espree.parse(code, { ecmaVersion: "latest", sourceType: "module" }));
  return all;
}

/** Texts between tags, and texts of attributes that people read or hear. */
function wordsOf(markup) {
  const between = markup.replace(/<[^>]*>/g, "\n").split(/[\n\0]/);
  const read = [
    ...markup.matchAll(
      /\b(?:aria-label|title|placeholder|alt|aria-description|about|label)="([^"]*)"/g,
    ),
  ].map(([, text]) => text);
  return [...between, ...read]
    .map((text) => text.trim())
    .filter((text) => /\p{L}{2,}/u.test(text) && !NAMES.has(text));
}

/** Names that are the same in every language, and what a network writes in a picture. */
const NAMES = new Set(["playgrad", "five, six,", "pick up st"]);

test("the language is the visitor's choice, else the first of the browser's that there is", () => {
  assert.equal(preferred(null, ["de-DE", "zh-CN", "en"]), "zh-Hans");
  assert.equal(preferred(null, ["zh"]), "zh-Hans");
  assert.equal(preferred(null, ["zh-TW", "fr"]), "en");
  assert.equal(preferred(null, ["en-GB", "zh-CN"]), "en");
  assert.equal(preferred(null, []), "en");
  assert.equal(preferred("zh-Hans", ["en"]), "zh-Hans");
  assert.equal(preferred("klingon", ["en"]), "en");
});
