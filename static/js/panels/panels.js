/**
 * The panels on the right. Each is a folder of `panels/`: its `panel.js` registers it, and the server puts that script
 * and the folder's styles into the page. So a new panel is a new folder, and changes no other file.
 */

import { signal } from "../../vendor/preact.js";

/**
 * @typedef {object} Panel
 * @property {string} name in links, sessions and test ids; the name of its folder, but for the first one
 * @property {number} order the panels stand in ascending order; the first one is open at first
 * @property {string} outline its icon: a path on a grid of 16 by 16
 * @property {() => string} title in the language of the page
 * @property {(props: any) => any} Panel the component
 * @property {boolean} [besideOthers] on a wide screen it has a column of its own, and no tab
 * @property {boolean} [inBar] on a phone it has a place of its own in the bar below the page
 * @property {boolean} [isFixed] the sender of a link cannot hide it
 * @property {MainPicture[]} [pictures] its pictures that Watch can show in place of the task's
 *
 * @typedef {object} MainPicture
 * @property {string} name in links and sessions
 * @property {() => string} title in the language of the page
 * @property {() => boolean} isThere whether the program has it
 * @property {(props: {title?: any}) => any} Picture the component
 * @property {boolean} [comesFirst] it is the program's own, and is there before a network is, too
 * @property {boolean} [hasHead] it draws the head of the picture, with the title that it gets
 */

const registered = signal(/** @type {Panel[]} */ ([]));

/** All panels, in the order of their tabs. */
export const panels = () => registered.value;

/** Add a panel to the page. @param {Panel} panel @throws {Error} there is a panel of this name */
export function register(panel) {
  if (panels().some(({ name }) => name === panel.name))
    throw new Error(`There are two panels with the name "${panel.name}".`);
  registered.value = [...panels(), panel].sort((one, other) => one.order - other.order);
}
