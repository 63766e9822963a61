import { t } from "../words/locale.js";

/** @import { Answers } from "../../engine/messages.js" */

/**
 * Save a file of Python's, if all its bytes are as Python wrote them.
 * @param {Answers["export"]} file
 * @throws {Error} bytes have changed; nothing is saved
 */
export async function download({ filename, bytes, sha256 }) {
  await check(bytes, sha256, t().exporting.damagedOnTheWay(filename));
  const blob = new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)], {
    type: "application/octet-stream",
  });
  // The browser copies bytes into a blob, and the blob into the file.
  await check(await blob.arrayBuffer(), sha256, t().exporting.damagedCopy(filename));
  offer(filename, blob);
}

/** Have the browser save a file. @param {string} filename @param {Blob} content */
export function offer(filename, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = filename;
  document.body.append(link);
  link.click();
  link.remove();
  // A download that has begun keeps the content.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {string} sha256 in hexadecimal
 * @param {string} problem what to say if they differ
 */
async function check(bytes, sha256, problem) {
  const digest = await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes));
  const text = Array.from(new Uint8Array(digest), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  if (text === sha256) return;
  throw new Error(problem);
}
