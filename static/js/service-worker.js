// The page's service worker: it keeps the files of one version together, so that the page opens
// without a server (docs/decisions/022-offline.md). The server sends it as /service-worker.js.
// On a static host, site-files.js stands before it and fetches the files that the server would send.
//
// Each client (a page or a worker) gets its files either all from one kept version or all from the
// network, as it was decided when its page was opened. In the cache:
//   /path?sha256=…&headers=…    a file; versions with equal files share it
//   /kept/version/…             the list of a version's files, as in /version.json
//   /image/made.bin?of=…        an image of Python's memory that a page has made of these files
//   /kept/current               the name of the version to open; written when all its files are there
//   /kept/client/…              the version of a client: this worker may end and start at any time
{
  /** @type {any} a ServiceWorkerGlobalScope, which has no types beside a page's */
  const scope = self;
  /** The page's files on a static host; undefined if they come from playgrad's server. @type {Site | undefined} */
  const site = scope.site;
  /** The folder of the page: "/", but on a static host. */
  const FOLDER = new URL("./", location.href).pathname;
  /** Sites of one host share the storage. */
  const CACHE = site ? `playgrad-1 ${FOLDER}` : "playgrad-1";
  const CURRENT = "/kept/current";
  const VERSION = "/kept/version/";
  const CLIENT = "/kept/client/";
  const VERSION_HEADER = "Playgrad-Version";

  /** Paths of files that belong to a version. */
  const FILES = /^\/(static|bundle|image|pyodide|data|packages)\/|^\/(names|examples)\.json$/;
  /** The server's image of Python's memory; one that a page has made, and the files that it is made of and by. */
  const IMAGE = "/image/python.bin";
  const MADE = "/image/made.bin";
  const PARTS =
    /^\/((bundle|pyodide)\/(?!.*python_stdlib_later)|static\/engine\/image(-making|-worker)?\.js$)/;
  /** Images may come packed (engine/pixels.js), with the SHA-256 of what they unpack to. */
  const PIXELS = "application/vnd.playgrad.pixels-16";
  const UNPACKED_DIGEST = "Playgrad-Unpacked-Digest";
  /** The page, and the page in a frame of another site. */
  const PAGES = ["/", "/embed"];
  const SITE_PAGES = ["/", "/index.html"];
  /** A server that takes longer to answer is as good as none. */
  const PATIENCE_MS = 3000;
  /** Files at a time; browsers have six connections to a server. */
  const LANES = 3;
  /** For so long a client may not be listed by the browser yet. */
  const YOUNG_MS = 120_000;
  /** Of a client that uses the network. */
  const NETWORK = "";

  /**
   * @typedef {Record<string, string>} Digests SHA-256 in hex, by path
   * @typedef {{version: string, headers: string, files: Digests, extras: Digests}} List
   *   `files`: all are kept; `extras`: the ones that have been fetched
   * @typedef {{list: () => Promise<List | null>, get: (list: List, path: string, options: RequestInit) => Promise<Response>}} Site
   */

  /** What is kept, in the browser's cache storage and, for speed, here. */
  class Kept {
    /** @type {Promise<Cache> | undefined} */
    #cache;
    /** @type {Map<string, Promise<List | null>>} by version */
    #lists = new Map();
    /** @type {Map<string, string>} versions by client */
    #clients = new Map();

    /** @returns {Promise<Cache>} */
    get cache() {
      this.#cache ??= caches.open(CACHE);
      return this.#cache;
    }

    /** Forget the cache's state: the browser may have cleared its storage. */
    refresh() {
      this.#cache = undefined;
      this.#lists.clear();
    }

    /** @param {string} version @returns {Promise<List | null>} */
    list(version) {
      let list = this.#lists.get(version);
      if (!list) {
        list = this.#read(VERSION + version).then((text) => (text ? JSON.parse(text) : null));
        this.#lists.set(version, list);
      }
      return list;
    }

    /** The version to open, if there is one. @returns {Promise<List | null>} */
    async current() {
      const version = await this.#read(CURRENT);
      return version ? await this.list(version) : null;
    }

    /** Know a version, though there may be no room to keep it. @param {List} list */
    async note(list) {
      this.#lists.set(list.version, Promise.resolve(list));
      await this.write(VERSION + list.version, JSON.stringify(list));
    }

    /** Open this version from now on. @param {List} list all of whose files are kept */
    async add(list) {
      await this.note(list);
      await this.write(CURRENT, list.version);
    }

    /** @param {string} id @param {string} version */
    assign(id, version) {
      this.#clients.set(id, version);
      // Without room for it, the client is known for as long as this worker lives.
      return this.write(CLIENT + id, JSON.stringify([version, Date.now()])).catch(() => {});
    }

    /** The version of a client, if it is known without waiting. @param {string} id */
    known(id) {
      return this.#clients.get(id);
    }

    /** @param {string} id of a client */
    async versionOf(id) {
      const known = this.known(id);
      if (known !== undefined) return known;
      const text = await this.#read(CLIENT + id);
      const version = text ? String(JSON.parse(text)[0]) : await this.#guess(id);
      this.#clients.set(id, version);
      return version;
    }

    /** A worker has the version of its page, which not every browser tells. @param {string} id */
    async #guess(id) {
      const client = await scope.clients.get(id);
      if (client?.type === "window") return NETWORK;
      const pages = await scope.clients.matchAll({ type: "window" });
      const versions = new Set(
        await Promise.all(pages.map((/** @type {any} */ page) => this.versionOf(page.id))),
      );
      return versions.size === 1 ? [...versions][0] : NETWORK;
    }

    /** @param {string} key @returns {Promise<Response | undefined>} */
    async match(key) {
      return await (await this.cache).match(key, { ignoreVary: true });
    }

    /** @param {string} key */
    async #read(key) {
      return (await (await this.match(key))?.text()) ?? "";
    }

    /** @param {string} key @param {string} text */
    async write(key, text) {
      await (await this.cache).put(key, new Response(text));
    }

    /** Delete files that no open page and no later visit needs. */
    async sweep() {
      const cache = await this.cache;
      const open = new Set(
        (await scope.clients.matchAll({ type: "all" })).map((/** @type {any} */ { id }) => id),
      );
      const keys = (await cache.keys()).map(({ url }) => keyOf(url));
      const used = new Set([await this.#read(CURRENT)]);
      for (const key of keys.filter((each) => each.startsWith(CLIENT))) {
        const [version, since] = JSON.parse((await this.#read(key)) || '["", 0]');
        if (open.has(key.slice(CLIENT.length)) || Date.now() - since < YOUNG_MS) used.add(version);
        else await cache.delete(key);
      }
      const lists = await Promise.all(
        [...used].filter(Boolean).map((version) => this.list(version)),
      );
      const needed = new Set(lists.flatMap((list) => (list ? keysOf(list) : [])));
      for (const key of keys) {
        if (key === CURRENT || key.startsWith(CLIENT) || needed.has(key)) continue;
        if (key.startsWith(VERSION) && used.has(key.slice(VERSION.length))) continue;
        await cache.delete(key);
      }
    }
  }

  const kept = new Kept();

  /** @param {string} url of this server @returns {string} */
  const keyOf = (url) => new URL(url).pathname + new URL(url).search;

  /** @param {List} list @param {string} path */
  const fileKey = (list, path) =>
    `${path}?sha256=${list.files[path] ?? list.extras[path]}&headers=${list.headers}`;

  /** @param {List} list */
  const keysOf = (list) =>
    [...Object.keys(list.files), ...Object.keys(list.extras)]
      .map((path) => fileKey(list, path))
      .concat(madeKey(list));

  /** Where the image is kept that a page makes of these files. @param {Pick<List, "files">} list */
  function madeKey({ files }) {
    const paths = Object.keys(files).filter((path) => PARTS.test(path));
    const digests = paths.sort().map((path) => files[path].slice(0, 16));
    return `${MADE}?of=${digests.join("")}`;
  }

  /** Keep a response if its content is the right one. @param {string} key @param {Response} response */
  async function keep(key, response) {
    const content = await response.clone().arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
    const actual = hex(String.fromCharCode(...digest));
    // Packed images unpack to the file of the list, which the page checks.
    if (response.headers.has(UNPACKED_DIGEST) && actual !== digestOf(response)) return false;
    if (!key.includes(`?sha256=${fileOf(response, actual)}&`)) return false;
    await (await kept.cache).put(key, response);
    return true;
  }

  /** The SHA-256 that an answer says to have. @param {Response} response */
  function digestOf(response) {
    const [, digest = ""] =
      /sha-256=:([^:]+):/.exec(response.headers.get("Playgrad-Digest") ?? "") ?? [];
    return hex(atob(digest));
  }

  /** The SHA-256 of the file that an answer stands for. @param {Response} response @param {string} own of the answer's content */
  const fileOf = (response, own) => response.headers.get(UNPACKED_DIGEST) ?? own;

  // Opening the page

  /** @param {any} event a request for a page @param {string} path */
  async function open(event, path) {
    const asked = fetch(event.request);
    asked.catch(() => {});
    kept.refresh();
    const list = await kept.current().catch(() => null);
    const response = list ? await inTime(asked) : await asked;
    const isGone = !response || response.status >= 500;
    if (list && (isGone || response.headers.get(VERSION_HEADER) === list.version)) {
      const page = await kept.match(fileKey(list, path));
      if (page) {
        event.waitUntil(kept.assign(event.resultingClientId, list.version));
        return page;
      }
    }
    // Another version, which this visit takes from the network, or not playgrad's server at all.
    event.waitUntil(kept.assign(event.resultingClientId, NETWORK));
    return response ?? (await asked);
  }

  /** Open the page of a static host: the version that is there, or, without the host, the kept one. @param {any} event @param {Site} host */
  async function openSite(event, host) {
    kept.refresh();
    const asked = host.list();
    asked.catch(() => {});
    const current = await kept.current().catch(() => null);
    const found = await (current ? inTime(asked) : asked.catch(() => undefined));
    const list = found === undefined ? current : found;
    if (!list) {
      // Something else is there now; or the first page, which tries again, and says what is wrong.
      event.waitUntil(kept.assign(event.resultingClientId, NETWORK));
      return await fetch(event.request);
    }
    if (list !== current) await kept.note(list).catch(() => {});
    event.waitUntil(kept.assign(event.resultingClientId, list.version));
    const page = (await kept.match(fileKey(list, "/"))) ?? (await replace(event, list, "/"));
    return page.ok ? page : await fetch(event.request);
  }

  /** The answer, or undefined if there is none for a while. @template T @param {Promise<T>} asked */
  function inTime(asked) {
    /** @type {Promise<undefined>} */
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    return Promise.race([asked.catch(() => undefined), late]);
  }

  /** @param {any} event a request for a file @param {string} path */
  async function answer(event, path) {
    const version = await kept.versionOf(event.clientId);
    if (event.resultingClientId) event.waitUntil(kept.assign(event.resultingClientId, version));
    const list = version === NETWORK ? null : await kept.list(version);
    if (path === MADE) return (list && (await kept.match(madeKey(list)))) ?? NONE();
    if (!list) return await fetch(event.request);
    if (!(path in list.files) && !(path in list.extras)) return refusal(path);
    const isDoubted = event.request.cache === "reload"; // the copy may be damaged
    return (
      (isDoubted ? undefined : await kept.match(fileKey(list, path))) ??
      (await replace(event, list, path))
    );
  }

  /** An answer without a content. */
  const NONE = () => new Response(null, { status: 204 });

  /** Fetch a file that is not kept, or damaged, and keep it. @param {any} event @param {List} list @param {string} path */
  async function replace(event, list, path) {
    const key = fileKey(list, path);
    const response = await (
      site ? site.get(list, path, { cache: event.request.cache }) : fetch(event.request)
    ).catch(() => undefined);
    const digest = response && fileOf(response, digestOf(response));
    if (response?.ok && digest && key.includes(`?sha256=${digest}&`)) {
      event.waitUntil(keep(key, response.clone()).catch(() => false)); // there may be no room
      return response;
    }
    const copy = await kept.match(key);
    if (copy) return copy;
    // A version with a part missing is of no use: the next visit takes the page from the server.
    if (path in list.files) await (await kept.cache).delete(CURRENT);
    else if (response) return response.ok ? refusal(path) : response;
    return Response.error();
  }

  /** @param {string} bytes */
  const hex = (bytes) =>
    Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");

  /** @param {string} path */
  const lack = (path) =>
    path.startsWith("/packages/")
      ? "this page comes without Python packages"
      : `this version of the page has no such ${path}. Reload the page`;

  /** @param {string} path */
  const refusal = (path) =>
    new Response(`404 Not Found: ${lack(path)}`, {
      status: 404,
      headers: { "Content-Type": "text/plain", "Cross-Origin-Resource-Policy": "same-origin" },
    });

  // Keeping a version

  /** Updates, one after the other. */
  const updates = { last: Promise.resolve() };

  /** Keep the server's version, as a whole or not at all. @param {string[]} wanted extras that are worth fetching */
  function keepVersion(wanted) {
    updates.last = updates.last
      .then(() => update(wanted))
      .catch((error) => {
        console.info(`The page was not kept for visits without a network: ${error}`);
        // What has arrived spares the next update its way, unless it takes room that is needed.
        if (error.name !== "QuotaExceededError") throw error;
      })
      .then(() => kept.sweep())
      .catch(() => {});
    return updates.last;
  }

  /** The version that there is now. @returns {Promise<List | null>} */
  async function newest() {
    if (site) return await site.list();
    const response = await fetch("/version.json", { cache: "no-cache" });
    return response.ok ? await response.json() : null;
  }

  /** @param {string[]} wanted */
  async function update(wanted) {
    kept.refresh();
    const list = await newest();
    if (!list) return;
    const present = new Set((await (await kept.cache).keys()).map(({ url }) => keyOf(url)));
    const isMissing = (/** @type {string} */ path) => !present.has(fileKey(list, path));
    const missing = Object.keys(list.files).filter(isMissing);
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (let path = missing.pop(); path; path = missing.pop()) await obtain(list, path);
      }),
    );
    await kept.add(list);
    const isNeeded = (/** @type {string} */ path) => path !== IMAGE || !present.has(madeKey(list));
    for (const path of Object.keys(list.extras).filter(isMissing).filter(isNeeded)) {
      await obtain(list, path, wanted.includes(path)).catch(() => {});
    }
  }

  /** Fetch a file, at best from the browser's own cache. @param {List} list @param {string} path @param {boolean} [online] */
  async function obtain(list, path, online = true) {
    const key = fileKey(list, path);
    const packed = `${PIXELS}, */*`;
    /** The page has asked for images packed or as they are. @type {[RequestCache, string][]} */
    const ways = [
      ["only-if-cached", packed],
      ["only-if-cached", "*/*"],
    ];
    if (online) ways.push(["force-cache", packed], ["reload", packed]);
    for (const [cache, Accept] of ways) {
      /** @type {RequestInit} */
      const options = { cache, mode: "same-origin", headers: { Accept } };
      const asked = site ? site.get(list, path, options) : fetch(path, options);
      // The browser rejects what it does not have.
      const response = await (cache === "only-if-cached" ? asked.catch(() => null) : asked);
      if (response?.ok && (await keep(key, response))) return;
    }
    throw new Error(`${path} is not the one of version ${list.version}`);
  }

  scope.addEventListener("install", () => scope.skipWaiting());

  /**
   * Keep an image of Python's memory for the current version, if it is made of that version's files.
   * @param {{content: ArrayBuffer, sha256: string, of: Digests}} made
   */
  async function keepImage({ content, sha256, of }) {
    const list = await kept.current();
    const isOfThese =
      list && Object.entries(of).every(([path, digest]) => list.files[path] === digest);
    if (!isOfThese || madeKey(list) !== madeKey({ files: of })) return;
    const bytes = sha256.replace(/../g, (byte) => String.fromCharCode(parseInt(byte, 16)));
    const headers = {
      "Content-Type": "application/octet-stream",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Playgrad-Digest": `sha-256=:${btoa(bytes)}:`,
      "Unencoded-Length": String(content.byteLength),
    };
    await (await kept.cache).put(madeKey(list), new Response(content, { headers }));
  }

  scope.addEventListener("message", (/** @type {any} */ event) => {
    const { data } = event;
    if (data?.kind === "update") event.waitUntil(keepVersion(data.wanted));
    if (data?.kind === "image")
      event.waitUntil(updates.last.then(() => keepImage(data)).catch(() => {})); // there may be no room
  });

  scope.addEventListener("fetch", (/** @type {any} */ event) => {
    const { request, clientId, resultingClientId } = event;
    const { origin, pathname, search } = new URL(request.url);
    if (
      request.method !== "GET" ||
      origin !== location.origin ||
      !pathname.startsWith(FOLDER) ||
      (search && !site) ||
      request.headers.has("Range")
    )
      return;
    const path = pathname.slice(FOLDER.length - 1);
    const isUnknown = resultingClientId || kept.known(clientId) !== NETWORK;
    if (request.mode === "navigate") {
      if (site && SITE_PAGES.includes(path)) event.respondWith(openSite(event, site));
      else if (!site && PAGES.includes(path)) event.respondWith(open(event, path));
    } else if (FILES.test(path) && isUnknown) {
      event.respondWith(answer(event, path));
    }
  });
}
