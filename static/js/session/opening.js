/**
 * Whether what the page is about to open lets it come up. A mark is set before a session or a link is opened, and
 * taken away once the page can be used. What has left two marks is not opened a third time without being asked for.
 */

import { recall, remember } from "../storage.js";

const KEY = "opening.";
const MOST_ATTEMPTS = 2;
/** How long a page must answer after it has opened something; what it shows is drawn within that time. */
const CALM_MS = 2000;

/** @param {string} id */
const attempts = (id) => Number(recall(KEY + id)) || 0;

/** Whether the page did not come up twice with a session or a link. @param {string} id */
export const isBarred = (id) => attempts(id) >= MOST_ATTEMPTS;

/** Allow the session or the link again. @param {string} id */
export const allow = (id) => remember(KEY + id, null);

/**
 * Note that a session or a link is being opened. If the visitor leaves meanwhile, a page that still answers
 * without an error is not at fault.
 * @param {string} id
 * @returns {{isOpen: () => Promise<void>}} `isOpen` is called when everything has been handed to the page
 */
export function beginOpening(id) {
  const before = attempts(id);
  remember(KEY + id, String(before + 1));
  let hasFailed = false;
  const failed = () => (hasFailed = true);
  const left = () => hasFailed || remember(KEY + id, before ? String(before) : null);
  const listeners = /** @type {const} */ ([
    ["error", failed],
    ["unhandledrejection", failed],
    ["pagehide", left],
  ]);
  for (const [event, listener] of listeners) addEventListener(event, listener);
  return {
    async isOpen() {
      if (document.readyState !== "complete")
        await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
      await new Promise((resolve) => setTimeout(resolve, CALM_MS));
      for (const [event, listener] of listeners) removeEventListener(event, listener);
      if (!hasFailed) allow(id);
    },
  };
}
