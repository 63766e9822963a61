/**
 * The worker of a processor other than `cpu:0`: a second Python interpreter, which computes for the
 * Python worker. `app/playgrad/devices/remote_cpu.py` sends its requests.
 */

import { holdForLife, stopFlagAtWork } from "./life.js";
import { bootPython } from "./python-boot.js";
import { RingWriter } from "./ring.js";

/** @import { DeviceCall, DeviceCommand, DeviceEnds, DeviceEvent } from "./messages.js" */

const SETUP = `
from playgrad.runtime.cpu_server import Server

server = Server(lambda: bool(stop_requested()))

def serve(text, buffers):
    return server.serve(text, [buffer.to_bytes() for buffer in buffers])

serve
`;

/** @param {DeviceEvent} event */
const send = (event) => self.postMessage(event);

/** @param {DeviceEnds} ends */
async function start({ device, lock, port, control, reply }) {
  /** @param {"starting" | "ready"} state */
  const report = (state) => send({ kind: "device_worker", device, state });
  holdForLife(lock, () => report("starting"));
  const log = (/** @type {string} */ line) => console.log(`${device}: ${line}`);
  const pyodide = await bootPython({ stdout: log, stderr: log });
  const answers = new RingWriter(reply, control);
  const globals = pyodide.toPy({ stop_requested: stopFlagAtWork(control, answers) });
  const serve = pyodide.runPython(SETUP, { globals });
  /** @param {MessageEvent<DeviceCall>} event */
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

/** @param {MessageEvent<DeviceCommand>} event */
self.onmessage = ({ data }) => {
  if (data.kind !== "connect") return;
  start(data).catch((error) => {
    // Thrown uncaught, it tells the page that this worker cannot be used.
    setTimeout(() => {
      throw error;
    });
  });
};
