/**
 * Links that contain a program: JSON, compressed (DEFLATE, RFC 1951) and in base64url (RFC 4648), in
 * the fragment of the address, which browsers do not send to the server.
 */

import { fit } from "../editor/line-locks.js";
import { t } from "../words/locale.js";
import { SHARED } from "../session/session-shapes.js";
import { through } from "../state/streams.js";

/**
 * @typedef {{version: 1, exampleId: string, title: string, code: string, device: string,
 *            view: string, picture?: string, lab: import("../state/types.js").LabSettings | null, hidden?: string[],
 *            locked?: import("../editor/line-locks.js").LineRange[], expected: Expected | null}} Shared
 *   `lab`: the settings of the Lab, if the run was made there; `hidden`: parts of the page; `locked`: lines of `code`;
 *   `picture`: the main picture of Watch, if it is not the program's own
 * @typedef {{losses: import("./landmarks.js").Landmarks, steps: number, device: string}} Expected
 *   the run of the sender; `device`: in words
 */

const PREFIX = "#program=";
/** More than browsers and chat programs pass on. */
const LONGEST = 200_000;
/** Bytes of a decompressed program. */
const LARGEST = 2_000_000;

/** A link that cannot be opened; the message says why and what to do. */
export class LinkError extends Error {}

/** Whether an address has a program, or was cut off where that begins. @param {string} hash of an address */
export const isLink = (hash) =>
  hash.startsWith(PREFIX) || (hash.length > 1 && PREFIX.startsWith(hash));

/** @param {Shared} shared @returns {Promise<string>} the fragment, with "#" @throws {LinkError} */
export async function encode(shared) {
  expectCompression();
  const bytes = await through(
    new Blob([JSON.stringify(shared)]),
    new CompressionStream("deflate-raw"),
  );
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const hash = PREFIX + text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (hash.length > LONGEST) throw new LinkError(t().link.tooLong);
  return hash;
}

/** @param {string} hash @returns {Promise<Shared>} @throws {LinkError} */
export async function decode(hash) {
  expectCompression();
  if (hash.length > LONGEST) throw new LinkError(broken(t().link.isTooLong));
  /** @type {any} */
  let value;
  try {
    const text = atob(hash.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const json = await through(new Blob([bytes]), new DecompressionStream("deflate-raw"), LARGEST);
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch {
    throw new LinkError(broken(t().link.isDamaged));
  }
  if (Number.isInteger(value?.version) && value.version > 1) {
    throw new LinkError(t().link.isNewer);
  }
  if (!SHARED(value)) throw new LinkError(broken(t().link.isDamaged));
  if (value.locked && !fit(value.code, value.locked))
    throw new LinkError(broken(t().link.locksOther));
  return value;
}

function expectCompression() {
  if (typeof CompressionStream !== "undefined") return;
  throw new LinkError(t().link.noCompression);
}

/** @param {string} why */
const broken = (why) => t().link.broken(why);
