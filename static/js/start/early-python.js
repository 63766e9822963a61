// A classic script inside the page: it starts Python's worker, which begins while the page's own
// modules arrive. The page's first interpreter takes the worker over (class Interpreter of the engine).
{
  if (self.crossOriginIsolated && self.WebAssembly) {
    const worker = new Worker("static/engine/python-worker.js", { type: "module", name: "python" });
    const early = { worker, hasBegun: false };
    worker.onmessage = () => (early.hasBegun = true);
    // Without it the page starts one of its own, and says what is wrong.
    worker.onerror = (event) => {
      event.preventDefault();
      Reflect.deleteProperty(self, "earlyPython");
    };
    worker.postMessage({ kind: "begin" });
    Reflect.set(self, "earlyPython", early);
  }
}
