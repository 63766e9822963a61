/**
 * The Python worker: boots Pyodide with NumPy and playgrad, then serves the page's requests.
 *
 * While Python is idle, this worker sits in its event loop and a "poke" makes Python look into the
 * mailbox. While Python is busy, no message can be received, and Python looks into the mailbox itself.
 */

import { DataFiles } from "./data-files.js";
import { DeviceLinks } from "./device-links.js";
import { PythonCommand, PythonEvent } from "./messages.js";
import { bootPython } from "./python-boot.js";
import { createHost } from "./python-host.js";
import { interruptBuffer } from "./shared-memory.js";

/**
 * `serve()` lets Python look into the mailbox, and tells how it went: "" for well, "stopped" for a
 * stop that came a moment too late to interrupt the user's program, else the traceback.
 */
const SETUP = `
import gc, time, traceback
from playgrad.devices import _browser
from playgrad.page import controller

time.sleep = _browser.sleep
controller.main()
# What is there now stays: collecting garbage need not look at it again before every run.
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

/** @type {any} the Pyodide API, once started */
let pyodide;
/** @type {(() => string) | undefined} Python's `serve`, once it can be called */
let serve;

/** @type {DeviceLinks | undefined} */
let links;

/** When each start-up phase ended, in milliseconds since the worker began. @type {Record<string, number>} */
const timings = {};

/** @param {string} phase */
function ended(phase) {
  timings[phase] = Math.round(performance.now());
}

/** @param {string} stage */
function loading(stage) {
  self.postMessage({ kind: PythonEvent.LOADING, stage });
}

const files = new DataFiles();

/** Begins before the page has even connected us. */
const runtime = boot();
runtime.catch(() => {}); // `start` will await and report it

async function boot() {
  loading("python");
  const booted = await bootPython({
    stdout: lineSink(PythonEvent.STDOUT),
    stderr: lineSink(PythonEvent.STDERR),
  });
  ended("python");
  return booted;
}

/** What Python writes before the controller has taken over its streams. @param {string} kind */
function lineSink(kind) {
  /** @param {string} line */
  return (line) => self.postMessage({ kind, text: `${line}\n` });
}

/**
 * @param {{memory: import("./shared-memory.js").SharedMemory, ports: MessagePort[],
 *          tunings: string}} ends
 */
async function start({ memory, ports, tunings }) {
  links = new DeviceLinks(memory, ports);
  pyodide = await runtime;
  const host = createHost(memory, links, files, tunings);
  pyodide.registerJsModule("playgrad_host", host);
  loading("library");
  serve = pyodide.runPython(SETUP, { globals: pyodide.toPy({}) });
  ended("library");
  self.postMessage({ kind: PythonEvent.READY, ...versions(), timings });
  // From here on a stop may interrupt; before, it would break the start in the middle.
  pyodide.setInterruptBuffer(interruptBuffer(memory.control));
  handlePending();
}

function versions() {
  const list = pyodide.runPython(VERSIONS);
  const [version, python, numpy] = list.toJs();
  list.destroy();
  return { version, python, numpy };
}

/** Let Python serve what is in the mailbox, once it is up. */
function handlePending() {
  if (!serve) return;
  try {
    const trouble = serve();
    if (trouble === "stopped") self.postMessage({ kind: PythonEvent.STATUS, state: "stopped" });
    else if (trouble) crash(trouble);
  } catch (error) {
    crash(String(error)); // not Python's error but its end
  }
}

/** @param {string} message */
function crash(message) {
  self.postMessage({ kind: PythonEvent.CRASH, message });
}

self.onmessage = ({ data }) => {
  if (data.kind === PythonCommand.START) start(data).catch((error) => crash(String(error)));
  else if (data.kind === PythonCommand.EXPECT) files.expect(data.files);
  else if (data.kind === PythonCommand.POKE) handlePending();
  else if (data.kind === PythonCommand.PORTS) links?.add(data.ports);
};
