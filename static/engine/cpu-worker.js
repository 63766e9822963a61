/**
 * The worker of a processor other than the first: a Python of its own, which computes what the
 * Python worker asks for. What it is asked, `app/playgrad/devices/remote_cpu.py` tells.
 */

import { holdForLife, stopFlagAtWork } from "./life.js";
import { DeviceCommand, DeviceEvent } from "./messages.js";
import { bootPython } from "./python-boot.js";
import { RingWriter } from "./shared-memory.js";

const SETUP = `
from playgrad.runtime.cpu_server import Server

server = Server(lambda: bool(stop_requested()))

def serve(text, buffers):
    return server.serve(text, [buffer.to_bytes() for buffer in buffers])

serve
`;

/**
 * @param {{device: string, lock: string, port: MessagePort, control: SharedArrayBuffer,
 *          reply: SharedArrayBuffer}} ends
 */
async function start({ device, lock, port, control, reply }) {
  /** @param {"starting" | "ready"} state */
  const report = (state) => self.postMessage({ kind: DeviceEvent.WORKER, device, state });
  holdForLife(lock, () => report("starting"));
  const log = (/** @type {string} */ line) => console.log(`${device}: ${line}`);
  const pyodide = await bootPython({ stdout: log, stderr: log });
  const answers = new RingWriter(reply, control);
  const globals = pyodide.toPy({ stop_requested: stopFlagAtWork(control, answers) });
  const serve = pyodide.runPython(SETUP, { globals });
  port.onmessage = ({ data }) => {
    const answer = serve(data.text, data.buffers);
    push(answers, answer);
    answer.destroy();
  };
  report("ready");
}

/** @param {RingWriter} answers @param {any} answer Python's pair of text and bytes */
function push(answers, answer) {
  const payload = answer.get(1);
  const view = payload.getBuffer("u8");
  try {
    answers.pushBlocking(answer.get(0), view.data);
  } finally {
    view.release();
    payload.destroy();
  }
}

self.onmessage = ({ data }) => {
  if (data.kind !== DeviceCommand.CONNECT) return;
  start(data).catch((error) => {
    // Uncaught, it tells the page that this worker cannot be used.
    setTimeout(() => {
      throw error;
    });
  });
};
