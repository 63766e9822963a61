/** How many devices the page may have. */

const AT_LEAST = 4;

/** As many as the machine has cores, and four anyhow: a strategy wants several to be seen. */
export const mostDevices = () => Math.max(AT_LEAST, navigator.hardwareConcurrency ?? 1);
