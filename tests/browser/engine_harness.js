// Evaluated in a blank page: the page's own engine client, with promises for the tests to wait on.
async () => {
  const { EngineClient } = await import("/static/js/engine/engine-client.js");
  const log = [];
  const waiting = new Set();
  const client = new EngineClient((event) => {
    log.push(event);
    for (const each of waiting) {
      if (!each.accepts(event)) continue;
      waiting.delete(each);
      each.resolve(event);
    }
  });
  const next = (accepts) => new Promise((resolve) => waiting.add({ accepts, resolve }));
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  let running;
  /** Interrupt the run; as in the page, Python is restarted if it does not stop in time. */
  const stop = () =>
    new Promise((resolve) => {
      client.stop(() => {
        client.start();
        resolve({ state: "restarted" });
      });
    });
  const REST = ["done", "stopped", "error", "idle"];

  globalThis.engine = {
    client,
    next,
    events: (kind) => log.filter((event) => !kind || event.kind === kind),
    async start() {
      const up = next(({ kind }) => kind === "ready" || kind === "crash");
      client.start();
      return up;
    },
    /** Run code until its first output; `end` waits for its end. */
    async begin(source) {
      const output = next(({ kind }) => kind === "stdout");
      running = globalThis.engine.run(source, null);
      await Promise.race([output, running]);
    },
    end: () => running,
    stop: () => Promise.race([running, stop()]),
    async run(source, stopAfter, devices = null) {
      const from = log.length;
      const begun = next(({ kind, state }) => kind === "status" && state === "running");
      const rest = next(
        ({ kind, state }) => kind === "crash" || (kind === "status" && REST.includes(state)),
      );
      client.post({ kind: "run", source, options: { device: "auto", paused: false, devices } });
      let stopped = 0;
      let ended = rest;
      if (stopAfter !== null) {
        await begun; // it may wait for its interpreter
        await pause(stopAfter);
        stopped = performance.now();
        ended = Promise.race([rest, stop()]);
      }
      const { state, message } = await ended;
      const stop_ms = performance.now() - stopped;
      client.atRest();
      const events = log.slice(from);
      const text = (kind) =>
        events
          .filter((event) => event.kind === kind)
          .map(({ text }) => text)
          .join("");
      const error = events.find(({ kind }) => kind === "error") ?? null;
      return {
        state: state ?? `crash: ${message}`,
        stdout: text("stdout"),
        stderr: text("stderr"),
        error,
        stop_ms,
      };
    },
  };
};
