/**
 * The Python worker: boots Pyodide with NumPy and playgrad, then serves the page's requests.
 *
 * One worker serves one run: the page then replaces it by one that knows nothing of that run.
 *
 * While Python is idle, this worker sits in its event loop, and a "poke" makes Python read the
 * mailbox. While Python is busy, the worker receives no messages, and Python reads the mailbox by
 * itself.
 */

import { interruptBuffer } from "./control.js";
import { DataFiles, isPackage } from "./data-files.js";
import { DeviceLinks } from "./device-links.js";
import { LoadError } from "./downloads.js";
import { holdForLife } from "./life.js";
import { OutputLimit } from "./output-limit.js";
import { EarlyStart } from "./early-start.js";
import { bootPython } from "./python-boot.js";
import { createHost } from "./python-host.js";

/**
 * @import {
 *   DeviceWorkerRequest, Inheritance, PythonCommand, PythonEvent, PythonWorkerEvent, Template,
 *   ThreadsRequest,
 * } from "./messages.js"
 */

/**
 * `serve()` lets Python read the mailbox, and returns "" on success, "stopped" for a stop that came
 * just too late to interrupt the user's program, otherwise the traceback.
 */
const SETUP = `
import gc, sys, time, traceback

empty = sys.modules.get("playgrad_host")
if empty is not None and "of_image" in vars(empty):  # its importers have it: fill it
    del sys.modules["playgrad_host"]
    import playgrad_host
    for name in dir(playgrad_host):
        vars(empty).setdefault(name, getattr(playgrad_host, name))
    sys.modules["playgrad_host"] = empty

from playgrad.devices import _browser
from playgrad.page import controller, memory_reserve

time.sleep = _browser.sleep
controller.main()
# Objects that exist now live on: garbage collection need not visit them before every run.
gc.freeze()
memory_reserve.touch_memory(data_bytes)

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
/** @param {string} name */
const prepare = (name) => `
from playgrad.page import controller

try:
    controller.prepare(${JSON.stringify(name)})
except BaseException:
    pass  # the program that imports it is told
`;
const VERSIONS = `
import platform, numpy, playgrad
[playgrad.__version__, platform.python_version(), numpy.__version__]
`;

/** The worker's Python, from the page's first message on. */
class PythonWorker {
  #files = new DataFiles((request) => this.#send(request));
  /** When each phase of the start ended, in milliseconds. @type {Record<string, number>} */
  #timings = {};
  /** @type {Inheritance} */
  #inheritance = { tunings: "", kept: new Map(), files: new Map() };
  /** @type {DeviceLinks | undefined} */
  #links;
  /** To the page. */
  #port;
  /** @type {(() => string) | undefined} Python's `serve`, once it can be called */
  #serve;
  /** Imports a package, once Python can. @type {((name: string) => void) | undefined} */
  #import;
  /** Whether the page has sent a request. */
  #poked = false;
  /** @type {OutputLimit[]} */
  #limits = [];

  /** @type {EarlyStart | undefined} */
  #early;

  /**
   * @param {Extract<PythonCommand, {kind: "start"}>} command
   * @param {EarlyStart} [early] what was begun before it
   */
  constructor(command, early) {
    this.#early = early;
    this.#port = command.port;
    this.#port.onmessage = ({ data }) => this.#receive(data);
    holdForLife(command.lock, () => this.#send({ kind: "alive" }));
    this.#start(command).catch((error) => {
      if (error instanceof LoadError) this.#crash(error.message, error.sentence);
      else this.#crash(String(error));
    });
  }

  /** @param {PythonCommand} command */
  #receive(command) {
    switch (command.kind) {
      case "inherit":
        Object.assign(this.#inheritance, command);
        this.#files.add(command.files);
        break;
      case "files":
        this.#files.add(command.files);
        break;
      case "prepare":
        this.#files.add(command.files);
        this.#prepare(
          [...command.files.keys()].filter(isPackage).map((path) => path.split("/").at(-1) ?? ""),
        );
        break;
      case "poke":
        this.#servePending();
        break;
      case "ports":
        this.#links?.add(command.ports);
    }
  }

  /** @param {PythonWorkerEvent | PythonEvent | DeviceWorkerRequest | ThreadsRequest} event @param {Transferable[]} [transfer] */
  #send(event, transfer = []) {
    this.#port.postMessage(event, transfer);
  }

  /** @param {string} message @param {import("./messages.js").Sentence} [problem] the message, if it is one of ours */
  #crash(message, problem) {
    this.#send({ kind: "crash", message, problem });
  }

  /** @param {boolean} withoutImage @param {Template} [template] of an earlier interpreter */
  async #boot(withoutImage, template) {
    this.#send({ kind: "loading", stage: "python" });
    // For output before the controller takes over Python's streams, or past them.
    /** @type {(kind: "stdout" | "stderr") => (line: string) => void} */
    const sink = (kind) => {
      const limit = new OutputLimit((output) => this.#send({ kind, ...output }));
      this.#limits.push(limit);
      return (line) => limit.write(`${line}\n`);
    };
    /** @type {(state: import("./load-report.js").LoadState) => void} */
    const report = (state) => this.#send({ kind: "loading", stage: "python", ...state });
    const streams = { stdout: sink("stdout"), stderr: sink("stderr") };
    const booted = this.#early
      ? await this.#early.boot(streams, report, template, withoutImage)
      : await bootPython(streams, report, template, withoutImage);
    this.#ended("python");
    return booted;
  }

  /** @param {Extract<PythonCommand, {kind: "start"}>} command */
  async #start({ memory, ports, template, withoutImage, dataBytes }) {
    /** @type {(event: PythonEvent | PythonWorkerEvent | DeviceWorkerRequest | ThreadsRequest, transfer?: Transferable[]) => void} */
    const send = (event, transfer) => {
      for (const limit of this.#limits) limit.flush();
      this.#send(event, transfer);
    };
    this.#links = new DeviceLinks(memory, ports, send);
    const { pyodide, template: own, isQuick } = await this.#boot(withoutImage, template);
    const host = createHost(memory, this.#links, this.#files, this.#inheritance, send);
    pyodide.registerJsModule("playgrad_host", host);
    send({ kind: "loading", stage: "library" });
    this.#serve = pyodide.runPython(SETUP, { globals: pyodide.toPy({ data_bytes: dataBytes }) });
    this.#import = (name) => pyodide.runPython(prepare(name));
    this.#ended("library");
    const isRestored = Boolean(template ?? own);
    send({ kind: "ready", ...versions(pyodide), isRestored, isQuick, timings: this.#timings });
    if (own) this.#sendTemplate(await own()); // before a program occupies the thread
    // From here on a stop may interrupt Python; earlier, it would break the start.
    pyodide.setInterruptBuffer(interruptBuffer(memory.control));
    // The mailbox alone does not tell: the inheritance, sent before a request, may not be here yet.
    if (this.#poked) this.#servePending();
  }

  /** Give away the bytes that this worker needs no more. @param {Template} template */
  #sendTemplate(template) {
    const bytes = [template.image, ...Object.values(template.runtime)];
    this.#send({ kind: "template", template }, [...new Set(bytes.map(({ buffer }) => buffer))]);
  }

  /** @param {string} phase */
  #ended(phase) {
    this.#timings[phase] = Math.round(performance.now());
  }

  /** Import packages, one after the other, until there is a request. @param {string[]} names */
  #prepare(names) {
    const [first, ...rest] = names;
    if (first === undefined || this.#poked) return;
    this.#import?.(first);
    setTimeout(() => this.#prepare(rest));
  }

  /** Let Python serve the requests in the mailbox, once it is up. */
  #servePending() {
    this.#poked = true;
    if (!this.#serve) return;
    try {
      const outcome = this.#serve();
      if (outcome === "stopped") this.#send({ kind: "status", state: "stopped" });
      else if (outcome) this.#crash(outcome);
    } catch (error) {
      this.#crash(endOfPython(error)); // not an error of Python, but its end
    }
  }
}

/** Say why Python has ended. @param {unknown} error */
function endOfPython(error) {
  const isOverflow = error instanceof RangeError && error.message.includes("call stack");
  return isOverflow
    ? "The program calls itself too deeply: the browser's stack is full. Use a loop, or fewer nested calls."
    : String(error);
}

/** @param {import("./python-boot.js").Pyodide} pyodide */
function versions(pyodide) {
  const list = pyodide.runPython(VERSIONS);
  const [version, python, numpy] = list.toJs();
  list.destroy();
  return { version, python, numpy };
}

/** Wait for the page, and begin before it is there if the document says so. */
function awaitStart() {
  /** @type {EarlyStart | undefined} */
  let early;
  /** @param {MessageEvent<PythonCommand>} event */
  const first = ({ data }) => {
    if (data.kind === "begin") {
      self.postMessage("begun");
      early ??= new EarlyStart();
    } else if (data.kind === "start") {
      self.removeEventListener("message", first);
      new PythonWorker(data, early);
    }
  };
  self.addEventListener("message", first);
}

awaitStart();
