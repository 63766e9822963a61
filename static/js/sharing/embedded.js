/** Whether this is the page in a frame of another site: it shows one program, and stores nothing. */
export const isEmbedded = globalThis.location?.pathname === "/embed";
