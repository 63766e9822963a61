/**
 * The worker of a processor other than `cpu:0`: a second Python interpreter, which computes for the
 * Python worker. `app/playgrad/devices/remote_cpu.py` sends its requests.
 */

import { holdForLife, stopFlagAtWork } from "./life.js";
import { bootPython } from "./python-boot.js";
import { RingWriter } from "./ring.js";

/** @import { DeviceCall, DeviceCommand, DeviceEnds, DeviceEvent, Template } from "./messages.js" */

const SETUP = `
from playgrad.runtime.cpu_server import Server

server = Server(lambda: bool(stop_requested()))

def serve(text, buffers):
    return server.serve(text, [buffer.to_bytes() for buffer in buffers])

serve
`;

/** @param {DeviceEvent} event */
const send = (event) => self.postMessage(event);

/** The interpreter of this worker, which serves one Python worker after the other. */
class Processor {
  #serve;
  #stopRequested = () => false;
  /** @type {MessagePort | undefined} */
  #port;

  /** @param {any} pyodide */
  constructor(pyodide) {
    const globals = pyodide.toPy({ stop_requested: () => this.#stopRequested() });
    this.#serve = pyodide.runPython(SETUP, { globals });
  }

  /** Boot an interpreter. @param {string} device @param {Template} [template] of another one */
  static async start(device, template) {
    const log = (/** @type {string} */ line) => console.log(`${device}: ${line}`);
    const { pyodide } = await bootPython(
      { stdout: log, stderr: log },
      (state) => send({ kind: "loading", stage: "python", ...state }),
      template,
    );
    return new Processor(pyodide);
  }

  /** Serve the calls of a Python worker, in place of the last one. @param {DeviceEnds} ends */
  connect({ port, control, reply }) {
    this.#port?.close();
    this.#port = port;
    const answers = new RingWriter(reply, control);
    this.#stopRequested = stopFlagAtWork(control, answers);
    /** @param {MessageEvent<DeviceCall>} event */
    port.onmessage = ({ data }) => {
      const answer = this.#serve(data.text, data.buffers);
      push(answers, answer);
      answer.destroy();
    };
  }
}

/** @param {RingWriter} answers @param {any} answer Python's pair of text and bytes */
function push(answers, answer) {
  const text = answer.get(0);
  const payload = answer.get(1);
  const view = payload.getBuffer("u8"); // no call of Python from here on: memory might grow
  try {
    answers.pushBlocking(text, view.data);
  } finally {
    view.release();
    payload.destroy();
  }
}

class CpuWorker {
  /** @type {Promise<Processor> | undefined} */
  #processor;

  /** @param {DeviceEnds} ends @param {Template} [template] */
  async connect(ends, template) {
    const { device } = ends;
    /** @param {"starting" | "ready"} state */
    const report = (state) => send({ kind: "device_worker", device, state });
    if (this.#processor) report("starting");
    else holdForLife(ends.lock, () => report("starting"));
    this.#processor ??= Processor.start(device, template);
    (await this.#processor).connect(ends);
    report("ready");
  }
}

const worker = new CpuWorker();
/** @param {MessageEvent<DeviceCommand>} event */
self.onmessage = ({ data }) => {
  if (data.kind !== "connect") return;
  worker.connect(data, data.template).catch((error) => {
    // Thrown uncaught, it tells the page that this worker cannot be used.
    setTimeout(() => {
      throw error;
    });
  });
};
