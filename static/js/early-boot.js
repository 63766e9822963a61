// A classic script inside the page, which runs before anything else is loaded. If a part of the page
// fails to arrive, is damaged or keeps the page waiting, it says so and opens the page again: a
// browser may remember for the life of a document that a module failed.
{
  /** Nothing has arrived for so long: say so. */
  const PATIENCE_MS = 8000;
  /** Seconds until the page is opened again: at first, and at most, after a failure or a silence. */
  const AFTER_FAILURE = { first: 2, most: 60 };
  const AFTER_SILENCE = { first: 12, most: 120 };
  /** An error of the page's own may be the fault of a damaged file; but not for ever. */
  const MOST_ERRORS = 3;

  const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  const [app, early, note, problem, button] =
    ["app", "early", "early-note", "early-problem", "early-retry"].map(byId);

  /** How often the page was opened again; part of the history, so that it survives that. */
  let tries = (history.state && history.state.tries) || 0;
  /** Files that failed. @type {Set<string>} */
  const failed = new Set();
  let hasStopped = false;
  let arrived = 0;
  let lastArrival = performance.now();
  let retryTimer = 0;

  const isUp = () => app.childElementCount > 0 && !hasStopped;
  const resources = () => performance.getEntriesByType("resource");

  /** @param {string} url */
  const pathOf = (url) => new URL(url, location.href).pathname;

  /** Say what is wrong, and try again later. @param {string} sentence @param {number} [seconds] without it, only on request */
  function report(sentence, seconds) {
    clearInterval(retryTimer);
    early.dataset.problem = "";
    note.textContent = "playgrad is not open yet.";
    button.hidden = false;
    if (seconds === undefined) {
      problem.textContent = sentence;
      return;
    }
    const at = performance.now() + 1000 * seconds;
    const tick = () => {
      const left = Math.ceil((at - performance.now()) / 1000);
      if (left > 0) problem.textContent = `${sentence} Trying again in ${left} s.`;
      else retry();
    };
    retryTimer = setInterval(tick, 1000);
    tick();
  }

  /** Stop saying that something is wrong. */
  function calm() {
    clearInterval(retryTimer);
    delete early.dataset.problem;
    note.textContent = "Opening playgrad…";
    problem.textContent = "";
    button.hidden = true;
  }

  /** @param {{first: number, most: number}} limits */
  const delay = ({ first, most }) => Math.min(most, first * Math.pow(2, tries));

  /** @param {string} sentence about a failure */
  function fail(sentence) {
    hasStopped = true;
    if (!navigator.onLine) report("This computer is offline. playgrad opens as soon as it is online again.");
    else report(sentence, delay(AFTER_FAILURE));
  }

  /** Open the page again, as soon as the server answers. */
  async function retry() {
    clearInterval(retryTimer);
    tries += 1;
    button.hidden = true;
    problem.textContent = "Trying again…";
    try {
      await Promise.all(["/", ...(hasStopped ? suspects() : [])].map(refetch));
    } catch (error) {
      fail(/** @type {Error} */ (error).message);
      return;
    }
    remember(tries);
    location.reload();
  }

  /** @param {number} count */
  function remember(count) {
    history.replaceState(Object.assign({}, history.state, { tries: count }), "");
  }

  /**
   * Files of which one may be missing or damaged. A failed module does not say which of its imports it
   * was, and what arrived once may be damaged in the browser's cache.
   */
  function suspects() {
    if (tries === 1 && failed.size > 0) return failed;
    const loaded = resources().map(({ name }) => name);
    return new Set([...failed, ...loaded.filter((url) => /^\/static\/.*\.(js|css)$/.test(pathOf(url)))]);
  }

  /** Replace a file in the browser's cache, where it may be damaged. @param {string} url */
  async function refetch(url) {
    const overdue = new AbortController();
    const timer = setTimeout(() => overdue.abort(), PATIENCE_MS * Math.min(tries, 4));
    try {
      const response = await fetch(url, { cache: "reload", signal: overdue.signal });
      if (!response.ok) {
        throw new Error(`A part of the page is missing: the server answers ${response.status} for ${pathOf(url)}.`);
      }
      await response.arrayBuffer();
    } catch (error) {
      if (overdue.signal.aborted) throw new Error("The server does not answer.", { cause: error });
      if (!(error instanceof TypeError)) throw error;
      throw new Error("The server cannot be reached. Is it running, and is the network up?", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  addEventListener("error", (event) => {
    const { target } = event;
    if (target instanceof HTMLScriptElement || target instanceof HTMLLinkElement) {
      const url = target instanceof HTMLScriptElement ? target.src : target.href;
      if (target instanceof HTMLLinkElement && target.rel !== "stylesheet") return; // only a hint
      failed.add(url);
      fail(`A part of the page did not arrive whole (${pathOf(url)}, or what it needs).`);
    } else if (!isUp() && target === window) {
      hasStopped = true;
      const again = tries < MOST_ERRORS ? delay(AFTER_FAILURE) : undefined;
      report(`The page could not start: ${event.message}. If this stays so, try a recent Chrome, Edge, Firefox or Safari.`, again);
    }
  }, true);

  /** Look whether the page is up, or still on its way. */
  function look() {
    if (isUp()) {
      clearInterval(watch);
      calm();
      if (tries > 0) remember(0);
      return;
    }
    if (hasStopped) return;
    const count = resources().length;
    if (count > arrived) {
      [arrived, lastArrival] = [count, performance.now()];
      calm();
    }
    if ("problem" in early.dataset || performance.now() - lastArrival < PATIENCE_MS) return;
    if (!navigator.onLine) {
      fail("");
      return;
    }
    const files = arrived === 1 ? "1 file has" : `${arrived} files have`;
    report(`The server is slow to answer: ${files} arrived, and none in the last ${PATIENCE_MS / 1000} s.`,
      delay(AFTER_SILENCE));
  }
  const watch = setInterval(look, 500);
  if ("old" in early.dataset) clearInterval(watch); // early-old.js has said all there is to say

  addEventListener("online", () => isUp() || retry());
  button.addEventListener("click", retry);
}
