/** What is wrong with the trainings of the last run, and the edits that the doctor suggests. */

import { batch, computed, signal } from "../../vendor/preact.js";
import * as store from "../state/store.js";

/** @import { Finding } from "../../engine/messages.js" */

/** All findings of the run that began then, as Python reported them last. */
const reported = signal({ began: 0, all: /** @type {Finding[]} */ ([]) });
/** Findings that the visitor has dismissed or followed, by `keyOf`. */
const dismissed = signal(/** @type {ReadonlySet<string>} */ (new Set()));
const applied = signal(/** @type {ReadonlySet<string>} */ (new Set()));
/** Whether the run paused by itself because its training is lost. */
const lost = signal(false);

/** @param {Finding} finding */
export const keyOf = ({ code, line, node }) => `${code} ${line} ${node}`;

export const findings = computed(() => {
  const { began, all } = reported.value;
  const isShown = began === store.executed.value.began;
  return isShown ? all.filter((each) => !dismissed.value.has(keyOf(each))) : [];
});
export const isLost = computed(() => lost.value && store.runState.value === "paused");

/** @param {Finding[]} all @param {boolean} isLostNow */
export function report(all, isLostNow) {
  batch(() => {
    reported.value = { began: store.executed.value.began, all };
    lost.value = isLostNow;
  });
}

/** Drop the findings, because another run begins. */
export function clearFindings() {
  batch(() => {
    reported.value = { began: 0, all: [] };
    dismissed.value = new Set();
    applied.value = new Set();
    lost.value = false;
  });
}

/** @param {Finding} finding */
export const dismiss = (finding) =>
  (dismissed.value = new Set([...dismissed.value, keyOf(finding)]));

/** Note that an edit is in the code. @param {Finding} finding */
export const follow = (finding) => (applied.value = new Set([...applied.value, keyOf(finding)]));

/** @param {Finding} finding */
export const isFollowed = (finding) => applied.value.has(keyOf(finding));

/** The node of the graph that a layer's or optimizer's name stands for. @param {string} name */
export function nodeNamed(name) {
  const nodes = store.graph.value?.nodes ?? [];
  const within = nodes.filter((node) => `/${node.name}/`.includes(`/${name}/`));
  const exact = within.find((node) => node.name === name);
  return exact ?? within.find(({ phase }) => phase === "forward") ?? within[0] ?? null;
}
