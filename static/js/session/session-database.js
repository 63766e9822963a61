/**
 * The browser's database of sessions and of the visitor's data. `docs/decisions/013-sessions-are-saved-in-the-browser.md`
 * describes its records.
 */

import { t } from "../words/locale.js";

const NAME = "playgrad";
/** Version 2 added the visitor's data. */
const VERSION = 2;
/** Key of each object store. Stores of their own, so that code never waits for a checkpoint. */
const STORES = {
  sessions: "id",
  code: ["session", "part"],
  parts: ["session", "part"],
  checkpoints: ["session", "part"],
  data: "name",
  data_files: "name",
};
/** The stores of which each record belongs to a session. */
export const OF_SESSIONS = /** @type {const} */ (["sessions", "code", "parts", "checkpoints"]);
/** How long the browser may take to open the database, and to answer. */
const OPEN_MS = 8000;
const WAIT_MS = 30_000;

/** @typedef {keyof typeof STORES} StoreName */

/** Storage that does not work. `reason`: "full", or "unavailable" for any other cause. */
export class StorageFailure extends Error {
  /** @param {unknown} cause */
  constructor(cause) {
    const { name, message } = /** @type {Error} */ (cause);
    super(message || String(name));
    /** @type {"full" | "unavailable"} */
    this.reason = name === "QuotaExceededError" ? "full" : "unavailable";
  }
}

export class SessionDatabase {
  /** @type {IDBDatabase | null} */
  #open = null;

  /**
   * Open the database, unless it is open.
   * @throws {StorageFailure}
   */
  async open() {
    try {
      this.#open ??= await inTime(connect(), OPEN_MS);
    } catch (problem) {
      throw new StorageFailure(problem);
    }
    const closed = () => (this.#open = null);
    this.#open.onclose = closed; // the visitor has cleared the site's data
    this.#open.onversionchange = () => {
      this.#open?.close(); // a newer page wants to change it
      closed();
    };
  }

  /**
   * All records of a store, or of one session. A record that the browser cannot read any more
   * has only its key.
   * @param {StoreName} store
   * @param {string} [session]
   * @returns {Promise<any[]>}
   * @throws {StorageFailure}
   */
  async all(store, session) {
    await this.open();
    const objects = this.#begin([store], "readonly").objectStore(store);
    try {
      const keys = await inTime(
        answer(objects.getAllKeys(session === undefined ? null : ofSession(session))),
        WAIT_MS,
      );
      const records = keys.map((key) =>
        answer(objects.get(key)).catch(() => {
          if (!Array.isArray(key)) return { [/** @type {string} */ (STORES[store])]: key };
          const [owner, part] = /** @type {string[]} */ (key);
          return { session: owner, part };
        }),
      );
      return await inTime(Promise.all(records), WAIT_MS);
    } catch (problem) {
      throw new StorageFailure(problem);
    }
  }

  /**
   * A record, undefined if there is none.
   * @param {StoreName} store
   * @param {string} key
   * @throws {StorageFailure}
   */
  async get(store, key) {
    await this.open();
    try {
      return await inTime(
        answer(this.#begin([store], "readonly").objectStore(store).get(key)),
        WAIT_MS,
      );
    } catch (problem) {
      throw new StorageFailure(problem);
    }
  }

  /**
   * Write records of several stores, and remove others: all or nothing.
   * @param {{store: StoreName, records?: any[], removed?: string[]}[]} changes
   * @throws {StorageFailure}
   */
  async writeAll(changes) {
    await this.open();
    await this.#change(
      changes.map(({ store }) => store),
      (transaction) => {
        for (const { store, records = [], removed = [] } of changes) {
          for (const key of removed) transaction.objectStore(store).delete(key);
          for (const record of records) transaction.objectStore(store).put(record);
        }
      },
    );
  }

  /**
   * Write records, and remove the records with the given keys. Begins at once, if the database is open:
   * a page that is about to close cannot wait.
   * @param {StoreName} store
   * @param {any[]} records
   * @param {IDBValidKey[]} [removed]
   * @throws {StorageFailure}
   */
  async write(store, records, removed = []) {
    if (!this.#open) await this.open();
    await this.#change([store], (transaction) => {
      for (const key of removed) transaction.objectStore(store).delete(key);
      for (const record of records) transaction.objectStore(store).put(record);
    });
  }

  /** Remove everything of a session. @param {string} session @throws {StorageFailure} */
  async remove(session) {
    await this.open();
    await this.#change([...OF_SESSIONS], (transaction) => {
      for (const store of OF_SESSIONS) {
        const key = store === "sessions" ? session : ofSession(session);
        transaction.objectStore(store).delete(key);
      }
    });
  }

  /** @param {StoreName[]} stores @param {(transaction: IDBTransaction) => void} work */
  async #change(stores, work) {
    const transaction = this.#begin(stores, "readwrite");
    const ended = inTime(endOf(transaction), WAIT_MS);
    try {
      work(transaction);
      transaction.commit(); // a page that closes does not live to see the requests succeed
      await ended;
    } catch (problem) {
      ended.catch(() => {}); // this problem says more
      abort(transaction);
      throw new StorageFailure(problem);
    }
  }

  /** @param {StoreName[]} stores @param {IDBTransactionMode} mode */
  #begin(stores, mode) {
    try {
      return /** @type {IDBDatabase} */ (this.#open).transaction(stores, mode);
    } catch (problem) {
      this.#open = null; // it was closed, so the next use opens it again
      throw new StorageFailure(problem);
    }
  }
}

/** The page's connection. */
export const database = new SessionDatabase();

/** @param {IDBTransaction} transaction */
function abort(transaction) {
  try {
    transaction.abort();
  } catch {
    // It has ended by itself.
  }
}

/** @returns {Promise<IDBDatabase>} */
function connect() {
  return new Promise((resolve, reject) => {
    if (!globalThis.indexedDB) throw new Error(t().sessions.database.missing);
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      const { objectStoreNames: existing } = request.result;
      for (const [name, keyPath] of Object.entries(STORES)) {
        if (!existing.contains(name)) request.result.createObjectStore(name, { keyPath });
      }
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error(t().sessions.database.blocked));
  });
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function answer(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault(); // the other records may be fine
      reject(request.error);
    };
  });
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function endOf(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () =>
      reject(transaction.error ?? new Error(t().sessions.database.gaveUp));
  });
}

/**
 * @template T
 * @param {Promise<T>} work
 * @param {number} milliseconds
 * @returns {Promise<T>}
 */
function inTime(work, milliseconds) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(t().sessions.database.silent)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The keys [session, anything]. @param {string} session */
const ofSession = (session) => IDBKeyRange.bound([session], [session, []]);
