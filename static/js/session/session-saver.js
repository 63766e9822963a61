/**
 * Saves changes, part by part: soon after it changed, but no part so often that saving
 * takes a noticeable share of the page's time.
 */

import { signal } from "../../vendor/preact.js";
import { StorageFailure } from "./session-database.js";
import { VERSION } from "./session-parts.js";

/** @import { SessionDatabase, StoreName } from "./session-database.js" */

/** Between a change and its saving. */
const SOON_MS = 300;
/** The largest share of the page's time to spend. */
const SHARE = 0.01;
/** After a failure, and after a change to the part that failed. */
const RETRY_MS = 15_000;
const RETRY_CHANGED_MS = 2000;

/**
 * @typedef {{store: StoreName, part: string, capture: () => any, rest: number,
 *            longest: number, isUrgent?: boolean, began?: () => number}} Item
 *   One record of the session. `capture`: its value, null to remove it; `rest`: milliseconds between
 *   two savings, at least; `longest`: milliseconds until a change is saved, at most; `isUrgent`:
 *   each change is saved at once; `began`: when the run began to which it belongs
 * @typedef {{item: Item, isDirty: boolean, writes: number, due: number, last: number, cost: number,
 *            failure: StorageFailure | null}} State
 *   `writes`: under way; `cost`: of the last one, in milliseconds
 */

export class SessionSaver {
  #database;
  #session;
  #report;
  /** @type {Map<string, State>} by part */
  #states = new Map();
  /** @type {Set<Promise<void>>} */
  #writing = new Set();
  #timer = 0;
  #timerDue = Infinity;
  /** The parts with changes that are not known to be stored. */
  unsaved = signal(/** @type {ReadonlySet<string>} */ (new Set()));

  /**
   * @param {SessionDatabase} database
   * @param {string} session
   * @param {(failures: {item: Item, failure: StorageFailure}[]) => void} report is called with all
   *   parts that cannot be saved whenever they change
   */
  constructor(database, session, report) {
    this.#database = database;
    this.#session = session;
    this.#report = report;
  }

  /** Save an item soon, because it has changed. @param {Item} item */
  changed(item) {
    const state = this.#states.get(item.part) ?? {
      item,
      isDirty: false,
      writes: 0,
      due: 0,
      last: -Infinity,
      cost: 0,
      failure: null,
    };
    this.#states.set(item.part, state);
    state.item = item;
    if (item.isUrgent && !state.failure) {
      this.#save(state);
      return;
    }
    const now = performance.now();
    if (state.failure) state.due = Math.min(state.due, now + RETRY_CHANGED_MS);
    else if (state.isDirty) return;
    else {
      const pace = Math.min(Math.max(state.cost / SHARE, item.rest), item.longest);
      state.due = Math.max(now + SOON_MS, state.last + pace);
    }
    state.isDirty = true;
    this.#count();
    this.#arm(state.due);
  }

  /** Save all changes now. @returns {Promise<void>} resolves when they are stored, or have failed */
  async flush() {
    for (const state of this.#dirty()) this.#save(state);
    await Promise.all(this.#writing);
  }

  /** Try failed writes again. */
  async retry() {
    for (const state of this.#states.values()) if (state.failure) state.isDirty = true;
    await this.flush();
  }

  #dirty() {
    return [...this.#states.values()].filter(({ isDirty }) => isDirty);
  }

  #count() {
    const states = [...this.#states.values()];
    this.unsaved.value = new Set(
      states.flatMap(({ item, isDirty, writes }) => (isDirty || writes > 0 ? [item.part] : [])),
    );
  }

  /** @param {number} due */
  #arm(due) {
    if (this.#timerDue <= due) return;
    clearTimeout(this.#timer);
    this.#timerDue = due;
    this.#timer = setTimeout(() => this.#saveDue(), Math.max(0, due - performance.now()));
  }

  #saveDue() {
    this.#timerDue = Infinity;
    const now = performance.now();
    for (const state of this.#dirty()) {
      if (state.writes > 0) continue; // the end of the writing looks again
      if (state.due <= now) this.#save(state);
      else this.#arm(state.due);
    }
  }

  /** @param {State} state */
  #save(state) {
    const written = this.#saved(state);
    this.#writing.add(written);
    written.finally(() => this.#writing.delete(written));
  }

  /** @param {State} state */
  async #saved(state) {
    const { item } = state;
    state.isDirty = false;
    state.writes += 1;
    const began = performance.now();
    try {
      const written = this.#write(item);
      state.cost = performance.now() - began; // copying; the browser writes in another process
      await written;
      state.failure = null;
    } catch (problem) {
      state.failure = problem instanceof StorageFailure ? problem : new StorageFailure(problem);
    }
    state.writes -= 1;
    state.last = performance.now();
    if (state.failure) {
      state.isDirty = true;
      state.due = state.last + RETRY_MS;
    }
    if (state.isDirty) this.#arm(state.due);
    this.#count();
    this.#report(
      [...this.#states.values()].flatMap(({ item: failed, failure }) =>
        failure ? [{ item: failed, failure }] : [],
      ),
    );
  }

  /** @param {Item} item */
  #write({ store, part, capture, began }) {
    const value = capture();
    const session = this.#session;
    const stamp = { version: VERSION, saved: Date.now(), ...(began && { began: began() }) };
    if (store === "sessions")
      return this.#database.write(store, [{ id: session, ...stamp, ...value }]);
    if (value === null) return this.#database.write(store, [], [[session, part]]);
    return this.#database.write(store, [{ session, part, ...stamp, value }]);
  }
}
