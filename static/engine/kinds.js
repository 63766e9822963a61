/** What the kinds of devices can do, as `Kind` in app/playgrad/devices/kinds.py. */

import { KINDS } from "./device-kinds.js";

/**
 * @typedef {(typeof KINDS)[number]} Kind `onCores`: its devices compute on the processor's cores; `runsPlans`: they
 *   execute Plans, in a worker without Python; `isListed`: there are as many as the browser has adapters, perhaps none; `isOffered`: the
 *   page offers its devices, else programs name them
 */

/** The choices of a device: the names of kinds that are offered, after the one that leaves it to the program. */
export const CHOICES = ["auto", ...KINDS.filter((each) => each.isOffered).map(({ name }) => name)];

/** The kind of a device, or with a name; undefined for "auto" and kinds of other versions. @param {string} device @returns {Kind | undefined} */
export const kindOf = (device) => KINDS.find(({ name }) => name === device.split(":")[0]);
