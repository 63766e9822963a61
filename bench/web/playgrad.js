/**
 * Evaluated in a blank page of playgrad's own server: runs a program in the page's real workers,
 * `runs` times. Gives a function; its outcome has what each run printed, and the events of interest
 * with the time since navigation.
 *
 * A run begins once its interpreter is ready, as after a visitor has read the curves.
 */
async ({ source, device, runs, milliseconds }) => {
  const { EngineClient } = await import("/static/js/engine/engine-client.js");
  const marks = { client: performance.now() };
  const texts = [];
  const begun = [];
  const ended = new Promise((resolve, reject) => {
    setTimeout(reject, milliseconds, new Error("playgrad does not come to an end"));
    const run = () => {
      if (texts.length === runs) return resolve(null);
      if (!client.canBegin) return setTimeout(run, 20);
      texts.push("");
      begun.push(performance.now());
      client.post({ kind: "run", source, options: { device, paused: false } });
    };
    const client = new EngineClient((event) => {
      const { kind, state, stage } = event;
      const mark = [kind, state, stage].filter(Boolean).join(" ");
      marks[mark] ??= performance.now();
      if (kind === "stdout") texts[texts.length - 1] += event.text;
      if (kind === "ready") marks.timings ??= event.timings; // of the first interpreter
      if (kind === "crash" || kind === "error") resolve(JSON.stringify(event));
      const started = kind === "ready" && texts.length === 0; // each run has its own interpreter
      if (started || (kind === "status" && state === "done")) run();
    });
    client.start();
    client.expect(source);
  });
  const error = await ended;
  return { marks, texts, begun, error, origin: performance.timeOrigin };
};
