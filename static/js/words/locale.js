/** The language of the page: the browser's, until the visitor chooses one. */

import { computed, signal } from "../../vendor/preact.js";
import { en } from "../messages/en.js";
import { recall, remember } from "../state/storage.js";

/** @typedef {import("../messages/en.js").Messages} Messages */

/** The languages by their BCP 47 tags, each with its name in itself. */
export const LANGUAGES = /** @type {const} */ ({ en: "English", "zh-Hans": "简体中文" });

/** @typedef {keyof typeof LANGUAGES} Language */

/** Files of messages that are loaded when they are needed. @type {Record<Exclude<Language, "en">, () => Promise<Messages>>} */
const FILES = {
  "zh-Hans": async () => (await import("../messages/zh-hans.js")).zhHans,
};

const loaded = signal(
  /** @type {{language: Language, messages: Messages}} */ ({ language: "en", messages: en }),
);

export const language = computed(() => loaded.value.language);

/** The messages in the language of the page; a component that reads one is drawn again when the language changes. */
export const t = () => loaded.value.messages;

/** @param {string} tag @returns {tag is Language} */
const isKnown = (tag) => Object.hasOwn(LANGUAGES, tag);

/** The language for a visitor: the one that was chosen here, else the first of the browser's that there is. */
export function preferred(choice = recall("language"), tags = navigator.languages) {
  if (choice !== null && isKnown(choice)) return choice;
  for (const tag of tags) {
    const { language: name, script } = new Intl.Locale(tag).maximize();
    const known = [name, `${name}-${script}`].find(isKnown);
    if (known) return known;
  }
  return "en";
}

/**
 * Show the page in a language.
 * @param {Language} wanted
 * @throws {Error} its messages could not be loaded; the language stays
 */
export async function show(wanted) {
  try {
    const messages = wanted === "en" ? en : await FILES[wanted]();
    loaded.value = { language: wanted, messages };
  } finally {
    document.documentElement.lang = loaded.value.language; // early-language.js has set the one that was expected
  }
}

/** Show the page in the visitor's language. If it does not arrive, the page stays in English. @param {(problem: string) => void} report */
export async function showPreferred(report) {
  const wanted = preferred();
  if (wanted !== "en")
    await show(wanted).catch((failure) => report(t().header.languageFailed(failure.message)));
}

/** Show the page in a language from now on. @param {Language} wanted @throws {Error} as `show` */
export async function choose(wanted) {
  await show(wanted);
  remember("language", wanted);
}
