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

  /** Of both languages here: before a module arrives, there are no message files. */
  const WORDS = {
    en: {
      opening: "Opening playgrad…",
      notOpen: "playgrad is not open yet.",
      now: "Try again now",
      trying: "Trying again…",
      again: (/** @type {string} */ sentence, /** @type {number} */ seconds) =>
        `${sentence} Trying again in ${seconds} s.`,
      offline: "This computer is offline. playgrad opens as soon as it is online again.",
      missing: (/** @type {number} */ status, /** @type {string} */ path) =>
        `A part of the page is missing: the server answers ${status} for ${path}.`,
      silent: "The server does not answer.",
      unreachable: "The server cannot be reached. Is it running, and is the network up?",
      cut: (/** @type {string} */ path) =>
        `A part of the page did not arrive whole (${path}, or what it needs).`,
      broken: (/** @type {string} */ message) =>
        `The page could not start: ${message}. If this stays so, try a recent Chrome, Edge, Firefox or Safari.`,
      slow: (/** @type {number} */ files, /** @type {number} */ seconds) =>
        `The server is slow to answer: ${files === 1 ? "1 file has" : `${files} files have`} arrived, and none in the last ${seconds} s.`,
    },
    "zh-Hans": {
      opening: "正在打开 playgrad…",
      notOpen: "playgrad 尚未打开。",
      now: "立即重试",
      trying: "正在重试…",
      again: (/** @type {string} */ sentence, /** @type {number} */ seconds) =>
        `${sentence}${seconds} 秒后重试。`,
      offline: "这台计算机处于离线状态。恢复联网后 playgrad 会立即打开。",
      missing: (/** @type {number} */ status, /** @type {string} */ path) =>
        `缺少页面的一部分：服务器对 ${path} 返回 ${status}。`,
      silent: "服务器没有响应。",
      unreachable: "无法连接服务器。它在运行吗？网络是否正常？",
      cut: (/** @type {string} */ path) => `页面的一部分没有完整到达（${path} 或它所需的文件）。`,
      broken: (/** @type {string} */ message) =>
        `页面无法启动：${message}。如果一直如此，请换用较新的 Chrome、Edge、Firefox 或 Safari。`,
      slow: (/** @type {number} */ files, /** @type {number} */ seconds) =>
        `服务器响应缓慢：已收到 ${files} 个文件，最近 ${seconds} 秒内没有新文件到达。`,
    },
  };
  const words = () => WORDS[document.documentElement.lang === "zh-Hans" ? "zh-Hans" : "en"];

  const byId = (/** @type {string} */ id) =>
    /** @type {HTMLElement} */ (document.getElementById(id));
  const [app, early, note, problem, button] = [
    "app",
    "early",
    "early-note",
    "early-problem",
    "early-retry",
  ].map(byId);

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

  /** Report a problem, and try again later. @param {string} sentence @param {number} [seconds] without it, only on request */
  function report(sentence, seconds) {
    clearInterval(retryTimer);
    early.dataset.problem = "";
    note.textContent = words().notOpen;
    button.hidden = false;
    if (seconds === undefined) {
      problem.textContent = sentence;
      return;
    }
    const at = performance.now() + 1000 * seconds;
    const tick = () => {
      const left = Math.ceil((at - performance.now()) / 1000);
      if (left > 0) problem.textContent = words().again(sentence, left);
      else retry();
    };
    retryTimer = setInterval(tick, 1000);
    tick();
  }

  /** Stop saying that something is wrong. */
  function calm() {
    clearInterval(retryTimer);
    delete early.dataset.problem;
    note.textContent = words().opening;
    problem.textContent = "";
    button.hidden = true;
  }

  /** @param {{first: number, most: number}} limits */
  const delay = ({ first, most }) => Math.min(most, first * Math.pow(2, tries));

  /** @param {string} sentence about a failure */
  function fail(sentence) {
    hasStopped = true;
    if (!navigator.onLine) report(words().offline);
    else report(sentence, delay(AFTER_FAILURE));
  }

  /** Open the page again, as soon as the server answers. */
  async function retry() {
    clearInterval(retryTimer);
    tries += 1;
    button.hidden = true;
    problem.textContent = words().trying;
    try {
      await Promise.all(["./", ...(hasStopped ? suspects() : [])].map(refetch));
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
    return new Set([
      ...failed,
      ...loaded.filter((url) => /\/static\/.*\.(js|css)$/.test(pathOf(url))),
    ]);
  }

  /** Replace a file in the browser's cache, where it may be damaged. @param {string} url */
  async function refetch(url) {
    const overdue = new AbortController();
    const timer = setTimeout(() => overdue.abort(), PATIENCE_MS * Math.min(tries, 4));
    try {
      const response = await fetch(url, { cache: "reload", signal: overdue.signal });
      if (!response.ok) {
        throw new Error(words().missing(response.status, pathOf(url)));
      }
      await response.arrayBuffer();
    } catch (error) {
      if (overdue.signal.aborted) throw new Error(words().silent, { cause: error });
      if (!(error instanceof TypeError)) throw error;
      throw new Error(words().unreachable, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  addEventListener(
    "error",
    (event) => {
      const { target } = event;
      if (target instanceof HTMLScriptElement || target instanceof HTMLLinkElement) {
        const url = target instanceof HTMLScriptElement ? target.src : target.href;
        if (target instanceof HTMLLinkElement && target.rel !== "stylesheet") return; // only a hint
        failed.add(url);
        fail(words().cut(pathOf(url)));
      } else if (!isUp() && target === window) {
        hasStopped = true;
        const again = tries < MOST_ERRORS ? delay(AFTER_FAILURE) : undefined;
        report(words().broken(event.message), again);
      }
    },
    true,
  );

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
    report(words().slow(arrived, PATIENCE_MS / 1000), delay(AFTER_SILENCE));
  }
  const watch = setInterval(look, 500);
  button.textContent = words().now;
  if ("old" in early.dataset)
    clearInterval(watch); // early-old.js has said all there is to say
  else note.textContent = words().opening;

  addEventListener("online", () => isUp() || retry());
  button.addEventListener("click", retry);
}
