import { urlOf } from "../../engine/root.js";

/** The page for a frame of another site. */
export const EMBED = urlOf("/embed");

/** Whether this is the page in a frame of another site: it shows one program, and stores nothing. */
export const isEmbedded = globalThis.location?.pathname === new URL(EMBED).pathname;
