// A classic script inside the page: it starts Python's worker, which begins while the page's own
// modules arrive (engine/early-start.js). The page's first interpreter takes the worker over (engine/interpreter.js).
{
  if (self.crossOriginIsolated && self.WebAssembly) {
    const worker = new Worker("static/engine/python-worker.js", { type: "module", name: "python" });
    // Without it the page starts one of its own, and says what is wrong.
    worker.onerror = (event) => {
      event.preventDefault();
      Reflect.deleteProperty(self, "earlyPython");
    };
    worker.postMessage({ kind: "begin" });
    Reflect.set(self, "earlyPython", worker);
  }
}
