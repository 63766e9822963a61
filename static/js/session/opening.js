/**
 * Whether the page starts with the session or link that it opens. A visible page sets a mark before it opens a session or a link, and
 * removes it once the page can be used. The page holds a Web Lock of the mark's name while it lives: a mark without
 * its lock is of a page that died or failed. A session or link with two such marks is not opened a third time without being asked for.
 */

import { recalledKeys, remember } from "../state/storage.js";

const KEY = "opening.";
const LOCK = "playgrad.opening.";
const MOST_ATTEMPTS = 2;
/** How long a page must answer after it has opened something; everything is drawn within that time. */
const CALM_MS = 2000;

/** @typedef {{isOpen: () => Promise<void>, fail: () => void, giveUp: () => void}} Opening */

/** What this page is opening. @type {Set<Opening>} */
const openings = new Set();

/** The marks that are set, of all pages. */
const marks = () =>
  recalledKeys(KEY).flatMap((key) => {
    const [, id, name] = /^(.*) (.*)$/.exec(key.slice(KEY.length)) ?? [];
    return name ? [{ key, id, name }] : [];
  });

/** The sessions and links with which the page could not be opened twice. @returns {Promise<Set<string>>} */
export async function barred() {
  const { held = [] } = (await globalThis.navigator?.locks?.query()) ?? {};
  const alive = new Set(held.map((each) => each.name));
  /** @type {Map<string, number>} */
  const attempts = new Map();
  for (const { id, name } of marks())
    if (!alive.has(LOCK + name)) attempts.set(id, (attempts.get(id) ?? 0) + 1);
  return new Set([...attempts].flatMap(([id, count]) => (count >= MOST_ATTEMPTS ? [id] : [])));
}

/** @param {string} id of a session or a link */
export const isBarred = async (id) => (await barred()).has(id);

/** Allow the session or the link again. @param {string} id */
export function allow(id) {
  for (const mark of marks()) if (mark.id === id) remember(mark.key, null);
}

/** Hold a lock while the page lives. @param {string} name @returns {Promise<void>} settled once it is held */
const hold = (name) =>
  new Promise((resolve) => {
    if (!navigator.locks) return resolve();
    const forever = () => {
      resolve();
      return new Promise(() => {});
    };
    navigator.locks.request(name, forever).catch(() => resolve());
  });

/**
 * Note that a session or a link is being opened. A page that is hidden or left meanwhile still answers, so it is
 * not at fault.
 * @param {string} id
 * @returns {Promise<Opening>} `isOpen` is called when everything has been handed to the page, `fail` when that
 *   cannot be done, `giveUp` when something else is at fault
 */
export async function beginOpening(id) {
  const name = Math.random().toString(36).slice(2);
  await hold(LOCK + name); // before the mark, which would count without it
  const key = `${KEY}${id} ${name}`;
  const unmark = () => remember(key, null);
  const mark = () => (document.visibilityState === "hidden" ? unmark() : remember(key, "opening"));
  /** @returns {boolean} whether it has not ended before */
  const end = () => {
    document.removeEventListener("visibilitychange", mark);
    removeEventListener("pagehide", unmark);
    return openings.delete(opening);
  };
  /** @type {Opening} */
  const opening = {
    async isOpen() {
      if (document.readyState !== "complete")
        await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
      await new Promise((resolve) => setTimeout(resolve, CALM_MS));
      if (end()) allow(id);
    },
    fail: () => void (end() && remember(key, "failed")),
    giveUp: () => void (end() && unmark()),
  };
  openings.add(opening);
  document.addEventListener("visibilitychange", mark);
  addEventListener("pagehide", unmark);
  mark();
  return opening;
}

/** What is being opened cannot be drawn. */
export function failOpenings() {
  for (const opening of openings) opening.fail();
}
