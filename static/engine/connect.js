/** Joins the page, a Python worker and its device workers: shared memory, ports, first messages. */

import { DeviceCommand, PythonCommand } from "./messages.js";
import { Mailbox, createSharedMemory } from "./shared-memory.js";

/**
 * Give both sides their ends and start Python. To restart Python, terminate its worker and call
 * this again with a new one: the device workers can stay, and drop what the old Python owned.
 *
 * @param {Worker} python a new python-worker.js
 * @param {Worker[]} devices device-worker.js, one per logical device
 * @returns {{memory: import("./shared-memory.js").SharedMemory, mailbox: Mailbox}}
 */
export function connectWorkers(python, devices) {
  const memory = createSharedMemory(devices.length);
  const { control } = memory;
  const ports = devices.map((device, index) => {
    const { port1, port2 } = new MessageChannel();
    const reply = memory.replies[index];
    device.postMessage({ kind: DeviceCommand.CONNECT, control, reply, port: port2 }, [port2]);
    return port1;
  });
  python.postMessage({ kind: PythonCommand.START, memory, ports }, ports);
  const mailbox = new Mailbox(memory, () => python.postMessage({ kind: PythonCommand.POKE }));
  return { memory, mailbox };
}
