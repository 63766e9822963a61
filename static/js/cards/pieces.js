import { argumentOf } from "../blocks/calls.js";

/** @import { Call } from "../blocks/types.js" */

/** The text that changes with a parameter: its argument, or the end of the call. @param {Call} call @param {string} parameter */
export const pieceOf = (call, parameter) =>
  argumentOf(call, parameter) ?? call.elements.at(-1) ?? call;
