/** Parameters of the calls that Blocks reads, by full name: in their order, with their defaults, as Python writes them. */

import { SIGNATURES } from "../records/layers.js";

/** @typedef {{name: string, default: string | null}} Parameter `default` null: it must be given */

/** Whether a call of the library makes a layer: it takes a name, and is not a loss. @param {string} full */
export function makesLayer(full) {
  const names = (full.startsWith("nn.") && parametersOf(full)?.map(({ name }) => name)) || [];
  return names.includes("name") && !names.includes("reduction");
}

/** @param {string} full @returns {Parameter[] | null} null if it is not known */
export function parametersOf(full) {
  if (!Object.hasOwn(SIGNATURES, full)) return null;
  return (SIGNATURES[full].match(/\w+(=(\([^=]*\)|[^,]*))?/g) ?? []).map((each) => {
    const [name, ...value] = each.split("=");
    return { name, default: value.length > 0 ? value.join("=") : null };
  });
}
