// The requests of the page.

/**
 * @typedef {{ name: string, dtype: string, shape: (number | null)[] }} TensorRecord
 * @typedef {{
 *   version: number, device: string, bytes: number, waiting: number,
 *   signature: { inputs: TensorRecord[], outputs: TensorRecord[] },
 *   latency: import("./latency.js").Histogram,
 * }} VersionRecord
 * @typedef {{
 *   name: string, policy: string, default: number | null, labels: Record<string, number>,
 *   shares: Record<string, number>, withdrawn: number[], problem: string, loading: number | null,
 *   versions: VersionRecord[], refused: { version: number, reason: string }[],
 * }} ModelRecord
 * @typedef {{ models: ModelRecord[], freeing: number }} Overview
 */

const TOKEN = "token";

/** An answer with a status that is not 200. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Keep a token for this tab.
 * @param {string} token
 */
export const useToken = (token) => sessionStorage.setItem(TOKEN, token);

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
async function answer(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = new Headers(token ? { Authorization: `Bearer ${token}` } : {});
  const response = await fetch(path, { ...options, headers });
  const data = await response.json();
  if (!response.ok) throw new Refused(response.status, data.error);
  return data;
}

/** @returns {Promise<Overview>} */
export const overview = () => answer("/overview");

/**
 * Return the outputs of a version for one sample, by their names.
 * @param {ModelRecord} model
 * @param {VersionRecord} version
 * @param {unknown} sample
 * @returns {Promise<Record<string, unknown>>}
 */
export async function outputs(model, version, sample) {
  const path = `/v1/models/${model.name}/versions/${version.version}:predict`;
  const body = JSON.stringify({ instances: [sample] });
  const [row] = (await answer(path, { method: "POST", body })).predictions;
  const names = version.signature.outputs.map((each) => each.name);
  return names.length > 1 ? row : { [names[0]]: row };
}
