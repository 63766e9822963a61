// The first page of a static host, which sends no headers: it starts the service worker, which adds
// them, and opens the page again. From then on the worker answers in its place.
{
  /** It opens the page again so often, and no more if that was of no use for so long. */
  const MOST_TRIES = 3;
  const TRIES_MS = 20_000;

  const WORDS = {
    en: {
      opening: "Opening playgrad…",
      now: "Try again now",
      insecure:
        "Here playgrad needs an address that begins with https://. Ask whoever gave you this one.",
      noWorkers:
        "This browser window does not let a page keep files, which playgrad needs here. Open it in a window that is not private, in a recent Chrome, Edge, Firefox or Safari.",
      failed: (/** @type {string} */ reason) => `The page could not be opened: ${reason}`,
      missing: "The host does not have all files of the page, or does not answer.",
    },
    "zh-Hans": {
      opening: "正在打开 playgrad…",
      now: "立即重试",
      insecure: "在这里，playgrad 需要以 https:// 开头的网址。请向提供此网址的人询问。",
      noWorkers:
        "此浏览器窗口不允许页面保存文件，而 playgrad 在这里需要这样做。请在较新的 Chrome、Edge、Firefox 或 Safari 的非隐私窗口中打开。",
      failed: (/** @type {string} */ reason) => `无法打开页面：${reason}`,
      missing: "主机缺少页面的部分文件，或没有响应。",
    },
  };
  const words = WORDS[document.documentElement.lang === "zh-Hans" ? "zh-Hans" : "en"];
  const byId = (/** @type {string} */ id) =>
    /** @type {HTMLElement} */ (document.getElementById(id));
  const button = byId("early-retry");

  /** @param {string} problem */
  function say(problem) {
    byId("early-note").textContent = "";
    byId("early-problem").textContent = problem;
    button.hidden = false;
  }

  /** Open the page again, a few times. */
  function again() {
    const { tries = 0, since = Date.now() } = history.state?.site ?? {};
    const isStale = Date.now() - since > TRIES_MS;
    if (tries >= MOST_TRIES && !isStale) return say(words.missing);
    const site = isStale ? { tries: 1, since: Date.now() } : { tries: tries + 1, since };
    history.replaceState({ ...history.state, site }, "");
    location.reload();
  }

  /** @param {ServiceWorker | null} worker */
  const activated = (worker) =>
    new Promise((resolve) => {
      const look = () => {
        if (!worker || worker.state === "activated" || worker.state === "redundant") resolve(null);
      };
      if (worker) worker.addEventListener("statechange", look);
      look();
    });

  async function open() {
    if (!isSecureContext) return say(words.insecure);
    if (!navigator.serviceWorker) return say(words.noWorkers);
    try {
      const options = /** @type {const} */ ({ updateViaCache: "none" });
      const registration = await navigator.serviceWorker.register("service-worker.js", options);
      await registration.update(); // another one may be there, of a server that was here before
      await activated(registration.installing || registration.waiting);
      await navigator.serviceWorker.ready;
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      return say(name === "SecurityError" ? words.noWorkers : words.failed(message));
    }
    again();
  }

  byId("early-note").textContent = words.opening;
  button.textContent = words.now;
  button.addEventListener("click", () => location.reload());
  open();
}
