/** The views of the panel Inspect, in their order. A new one is a component and a line here. */

import { t } from "./locale.js";

/**
 * @typedef {{name: string, title: () => string, View: () => any}} InspectView `name`: of its test ids
 * @type {InspectView[]}
 */
export const INSPECT_VIEWS = [
];
