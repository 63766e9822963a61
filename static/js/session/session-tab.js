/**
 * The session of this tab. A tab keeps its session's id in its sessionStorage, and holds a Web Lock
 * of that name while it is open, so that no two tabs ever write to the same session: a duplicated
 * tab finds the lock taken.
 */

import { recallInTab, rememberInTab } from "../state/storage.js";
import { isBarred } from "./opening.js";

/** @import { SessionSummary } from "../state/types.js" */

const KEY = "session";
const LOCK = "playgrad.session.";
/** Held while a tab chooses, so that two tabs that open together do not choose the same session. */
const CHOICE = "playgrad.sessions";
/** How long a page that is being left may hold its lock when its successor starts. */
const PATIENCE_MS = 1000;

/**
 * @typedef {{id: string, from: string | null, barred: string | null, isCopy: boolean, isGuarded: boolean}} Claim
 *   `from`: the session to begin with, null for none; `barred`: the one left out, because the page could not be opened
 *   with it; `isCopy`: only its code and choices; `isGuarded`: this tab holds the lock of `id`
 */

/**
 * Choose the session of this tab: the tab's own; otherwise, if no other tab is open, the latest one;
 * otherwise a new one, with the code of the latest.
 * @param {() => Promise<SessionSummary[]>} list sessions, the one to continue first
 * @returns {Promise<Claim>}
 */
export async function claimSession(list) {
  const mine = recallInTab(KEY);
  const barred = null;
  if (!navigator.locks) {
    // It cannot be known whether a session is in use, so each visit continues a copy.
    const latest = (await list())[0]?.id ?? null;
    const from = mine ?? latest;
    if (from && (await isBarred(from)))
      return claimed({ id: newId(), from: null, barred: from, isCopy: false, isGuarded: false });
    return claimed({ id: newId(), from, barred, isCopy: false, isGuarded: false });
  }
  return await navigator.locks.request(CHOICE, async () => {
    if (mine && !(await isBarred(mine)) && (await hold(mine, PATIENCE_MS)))
      return claimed({ id: mine, from: mine, barred, isCopy: false, isGuarded: true });
    const [sessions, open] = await Promise.all([list(), openSessions()]);
    const [latest] = sessions;
    const from = mine ?? latest?.id ?? null;
    const isFresh = from !== null && (await isBarred(from));
    if (!isFresh && open.size === 0 && latest && (await hold(latest.id))) {
      return claimed({ id: latest.id, from: latest.id, barred, isCopy: false, isGuarded: true });
    }
    const id = newId();
    await hold(id);
    if (isFresh) return claimed({ id, from: null, barred: from, isCopy: false, isGuarded: true });
    return claimed({ id, from, barred, isCopy: true, isGuarded: true });
  });
}

/** @param {Claim} claim */
function claimed(claim) {
  rememberInTab(KEY, claim.id);
  return claim;
}

/** Continue another session after the next load of this tab. @param {string} id */
export function switchTo(id) {
  rememberInTab(KEY, id);
}

/** @returns {Promise<Set<string>>} ids of the sessions of open tabs */
export async function openSessions() {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return new Set(
    held.flatMap(({ name }) => (name?.startsWith(LOCK) ? [name.slice(LOCK.length)] : [])),
  );
}

/**
 * Take a session's lock, for the lifetime of the page.
 * @param {string} id
 * @param {number} [patience] milliseconds
 * @returns {Promise<boolean>} whether the lock was free
 */
function hold(id, patience = 0) {
  return new Promise((resolve) => {
    const forever = () => {
      resolve(true);
      return new Promise(() => {});
    };
    const options =
      patience > 0 ? { signal: AbortSignal.timeout(patience) } : { ifAvailable: true };
    navigator.locks
      .request(LOCK + id, options, (lock) => (lock ? forever() : resolve(false)))
      .catch(() => resolve(false));
  });
}

/** Also where the page is not secure, so without `crypto.randomUUID`. */
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
