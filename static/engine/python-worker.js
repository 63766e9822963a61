/**
 * The Python worker: boots Pyodide with NumPy and playgrad, then serves the page's requests.
 *
 * While Python is idle, this worker sits in its event loop, and a "poke" makes Python read the
 * mailbox. While Python is busy, the worker receives no messages, and Python reads the mailbox by
 * itself.
 */

import { interruptBuffer } from "./control.js";
import { DataFiles } from "./data-files.js";
import { DeviceLinks } from "./device-links.js";
import { bootPython } from "./python-boot.js";
import { createHost } from "./python-host.js";

/**
 * @import { PythonCommand, PythonEvent, PythonWorkerEvent } from "./messages.js"
 */

/**
 * `serve()` lets Python read the mailbox, and returns "" on success, "stopped" for a stop that came
 * just too late to interrupt the user's program, otherwise the traceback.
 */
const SETUP = `
import gc, time, traceback
from playgrad.devices import _browser
from playgrad.page import controller

time.sleep = _browser.sleep
controller.main()
# Objects that exist now live on: garbage collection need not visit them before every run.
gc.freeze()

def serve():
    try:
        controller.handle_pending()
        return ""
    except KeyboardInterrupt:
        return "stopped"
    except BaseException:
        return traceback.format_exc()

serve
`;
const VERSIONS = `
import platform, numpy, playgrad
[playgrad.__version__, platform.python_version(), numpy.__version__]
`;

/** @param {PythonWorkerEvent | PythonEvent} event */
const send = (event) => self.postMessage(event);

/**
 * A sink for what Python writes before the controller takes over its streams.
 * @param {"stdout" | "stderr"} kind
 * @returns {(line: string) => void}
 */
const lineSink = (kind) => (line) => send({ kind, text: `${line}\n` });

/** @param {string} message */
const crash = (message) => send({ kind: "crash", message });

/** The worker's Python, from the start of its download. */
class PythonWorker {
  #files = new DataFiles();
  /** When each phase of the start ended, in milliseconds. @type {Record<string, number>} */
  #timings = {};
  /** @type {DeviceLinks | undefined} */
  #links;
  /** @type {(() => string) | undefined} Python's `serve`, once it can be called */
  #serve;
  /** Pyodide; begins to load before the page has connected this worker. */
  #runtime = this.#boot();

  constructor() {
    this.#runtime.catch(() => {}); // `#start` awaits and reports it
  }

  /** @param {PythonCommand} command */
  receive(command) {
    switch (command.kind) {
      case "start":
        this.#start(command).catch((error) => crash(String(error)));
        break;
      case "expect":
        this.#files.expect(command.files);
        break;
      case "poke":
        this.#servePending();
        break;
      case "ports":
        this.#links?.add(command.ports);
    }
  }

  async #boot() {
    send({ kind: "loading", stage: "python" });
    const pyodide = await bootPython({ stdout: lineSink("stdout"), stderr: lineSink("stderr") });
    this.#ended("python");
    return pyodide;
  }

  /** @param {Extract<PythonCommand, {kind: "start"}>} command */
  async #start({ memory, ports, tunings }) {
    this.#links = new DeviceLinks(memory, ports);
    const pyodide = await this.#runtime;
    const host = createHost(memory, this.#links, this.#files, tunings);
    pyodide.registerJsModule("playgrad_host", host);
    send({ kind: "loading", stage: "library" });
    this.#serve = pyodide.runPython(SETUP, { globals: pyodide.toPy({}) });
    this.#ended("library");
    send({ kind: "ready", ...versions(pyodide), timings: this.#timings });
    // From here on a stop may interrupt Python; earlier, it would break the start.
    pyodide.setInterruptBuffer(interruptBuffer(memory.control));
    this.#servePending();
  }

  /** @param {string} phase */
  #ended(phase) {
    this.#timings[phase] = Math.round(performance.now());
  }

  /** Let Python serve the requests in the mailbox, once it is up. */
  #servePending() {
    if (!this.#serve) return;
    try {
      const outcome = this.#serve();
      if (outcome === "stopped") send({ kind: "status", state: "stopped" });
      else if (outcome) crash(outcome);
    } catch (error) {
      crash(String(error)); // not an error of Python, but its end
    }
  }
}

/** @param {import("./python-boot.js").Pyodide} pyodide */
function versions(pyodide) {
  const list = pyodide.runPython(VERSIONS);
  const [version, python, numpy] = list.toJs();
  list.destroy();
  return { version, python, numpy };
}

const worker = new PythonWorker();
/** @param {MessageEvent<PythonCommand>} event */
self.onmessage = ({ data }) => worker.receive(data);
