/**
 * Addresses of the page's files. Their paths begin with "/", which stands for the folder of the page:
 * a static host may have it below a path of its own.
 */

const ROOT = new URL("./../../", import.meta.url);

/** @param {string} path from the page's folder, for instance "/names.json" */
export const urlOf = (path) => new URL(path.slice(1), ROOT).href;
