/**
 * Evaluated in a blank page of playgrad's own server: runs a program in the page's real workers.
 * Gives a function; its outcome has the events of interest with the time since navigation.
 */
async ({ source, device, milliseconds }) => {
  const { EngineClient } = await import("/static/js/engine-client.js");
  const marks = { client: performance.now() };
  let text = "";
  const ended = new Promise((resolve, reject) => {
    setTimeout(reject, milliseconds, new Error("playgrad does not come to an end"));
    const client = new EngineClient((event) => {
      const { kind, state, stage } = event;
      const mark = [kind, state, stage].filter(Boolean).join(" ");
      marks[mark] ??= performance.now();
      if (kind === "stdout") text += event.text;
      if (kind === "ready") {
        marks.timings = event.timings;
        client.post("run", { id: 0, source, options: { device, paused: false } });
      }
      if (kind === "crash" || kind === "error") resolve((text = JSON.stringify(event)));
      if (kind === "status" && state === "done") resolve(null);
    });
    client.start();
  });
  const error = await ended;
  return { marks, text, error, origin: performance.timeOrigin };
}
