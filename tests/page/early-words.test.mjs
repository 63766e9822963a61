// What the page says before a module arrives: in both languages, by the same choice as later.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import * as espree from "espree";
import { preferred } from "../../static/js/words/locale.js";

const source = (name) =>
  readFileSync(new URL(`../../static/js/start/${name}`, import.meta.url), "utf8");

/** The table of texts in a script. */
function wordsOf(name) {
  const code = source(name);
  const [block] = espree.parse(code, { ecmaVersion: "latest" }).body;
  const all = block.body.flatMap((each) =>
    each.type === "VariableDeclaration" ? each.declarations : [],
  );
  const { init } = all.find(({ id }) => id.name === "WORDS");
  return runInNewContext(`(${code.slice(init.start, init.end)})`);
}

for (const name of ["early-boot.js", "early-old.js"]) {
  test(`both languages of ${name} have the same texts`, () => {
    const { en, "zh-Hans": chinese, ...others } = wordsOf(name);
    assert.deepEqual(Object.keys(others), []);
    assert.deepEqual(Object.keys(chinese).sort(), Object.keys(en).sort());
    for (const [key, text] of Object.entries(chinese)) {
      assert.equal(typeof text, typeof en[key], key);
      const values = ["/a", "/b"].slice(0, en[key].length);
      const said = typeof text === "function" ? text(...values) : text;
      assert.match(said, /\p{Script=Han}/u, key);
      if (typeof text === "function")
        for (const value of values) assert.ok(said.includes(value), `${key} with ${value}`);
    }
  });
}

/** The language that the early script sets. */
function early(choice, navigator, intl = Intl) {
  const documentElement = { lang: "" };
  const localStorage = {
    getItem: (key) => (key === "playgrad.language" ? choice : assert.fail(key)),
  };
  runInNewContext(source("early-language.js"), {
    document: { documentElement },
    localStorage,
    navigator,
    Intl: intl,
  });
  return documentElement.lang;
}

test("the early language is the page's", () => {
  for (const choice of [null, "en", "zh-Hans", "klingon"]) {
    for (const languages of [
      ["zh-CN", "en"],
      ["de-DE", "zh"],
      ["zh-TW", "fr"],
      ["zh-Hant", "zh-Hans"],
      ["zh-SG"],
      ["zh-US"],
      ["en-GB", "zh-CN"],
      ["sv"],
      [],
    ]) {
      assert.equal(
        early(choice, { languages }),
        preferred(choice, languages),
        `${choice} ${languages}`,
      );
    }
  }
});

test("a language that Intl refuses gives way to the others", () => {
  for (const tag of ["C", "", "x", "POSIX_c", "en_US.UTF-8"]) {
    const navigator = { language: tag, languages: [tag, "zh-CN"] };
    assert.equal(early(null, navigator), "zh-Hans", tag);
    assert.equal(navigator.language, "zh-CN", tag);
    const alone = { language: tag, languages: [tag] };
    assert.equal(early(null, alone), "en", tag);
    assert.doesNotThrow(() => new Intl.NumberFormat(alone.language), tag);
    assert.deepEqual([...alone.languages], ["en-US"], tag);
  }
});

test("an old browser has a language, too", () => {
  assert.equal(early(null, { language: "zh-CN" }, {}), "zh-Hans");
  assert.equal(early(null, { language: "zh-TW" }, {}), "en");
  assert.equal(early(null, { language: "de" }, undefined), "en");
});
