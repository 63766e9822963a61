/** Which picture stands first in Watch: that of the program's task, or another that the visitor has chosen. */

/** The pictures of the tasks, as `TaskView` has them. */
const OF_TASKS = ["plane", "images", "classes", "rows", "nodes", "text"];
/** That of a task that is not known yet, or that has none. */
export const TASK = "task";

/** @typedef {import("../../../engine/messages.js").TaskView["shows"] | undefined} Shows undefined before the first answer */

/** What a visitor acts on, and the picture of the task that is shown beside it or in its place. @type {Record<string, string>} */
const OF_ACTS = { drawing: "images", board: "rows", game: "rows" };

/**
 * The names of the pictures that a program has, its own first.
 * @param {Shows} shows
 * @param {string | null} act "drawing", "board" or "game", for the visitor's way to use the network
 * @param {string[]} others the pictures of other panels that are there
 */
export function pictureNames(shows, act, others) {
  const own = shows !== undefined && OF_TASKS.includes(shows) ? [shows] : [];
  const first = act ? [act, ...own] : own.length > 0 ? own : [TASK];
  return [...first, ...others.filter((name) => name !== act)];
}

/**
 * The name of the picture that is shown. A choice holds while the task is not known, so that nothing changes
 * when a run begins; one that the program does not have counts as none.
 * @param {string[]} names that the program has, its own first
 * @param {string | undefined} chosen
 * @param {Shows} shows
 * @param {string[]} possible the pictures of all other panels
 */
export function shownPicture(names, chosen, shows, possible) {
  const [own] = names;
  if (chosen === undefined || names.includes(chosen)) return chosen ?? own;
  if (shows !== undefined && shows !== "unknown") return own;
  if (possible.includes(chosen)) return chosen;
  return chosen === OF_ACTS[own] ? TASK : own;
}
