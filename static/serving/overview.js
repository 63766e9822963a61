// The models with their versions.

import { chart, colorOf, number } from "./chart.js";
import { element } from "./elements.js";
import { quantile } from "./latency.js";
import { words } from "./words.js";

/**
 * @typedef {import("./server.js").ModelRecord} ModelRecord
 * @typedef {import("./server.js").VersionRecord} VersionRecord
 */

const TITLES = /** @type {const} */ ([
  "version", "state", "device", "memory", "answers", "median", "tail", "waiting",
]); // prettier-ignore

/**
 * @param {ModelRecord} model
 * @param {import("./latency.js").Latencies} latencies
 */
export function modelView(model, latencies) {
  const shown = [...model.versions].reverse();
  const head = element("tr", {}, ...TITLES.map((key) => element("th", {}, words[key])));
  const rows = shown.map((version) => servedRow(model, version));
  if (model.loading !== null) rows.unshift(otherRow(model.loading, words.loading, ""));
  const others = [
    ...model.refused.map(({ version, reason }) => otherRow(version, words.refused, reason)),
    ...model.withdrawn
      .filter((version) => !model.versions.some((each) => each.version === version))
      .map((version) => otherRow(version, words.withdrawn, "")),
  ];
  const table = element("table", {}, head, ...rows, ...others);
  const curves = model.versions.map(({ version }) => ({
    version,
    points: latencies.points(`${model.name}/${version}`),
  }));
  return element(
    "section",
    { "data-testid": `model-${model.name}` },
    element("h2", {}, model.name, " ", element("small", {}, model.policy)),
    ...(model.problem ? [element("p", { class: "bad" }, model.problem)] : []),
    element("div", { class: "scroll" }, table),
    chart(curves),
  );
}

/**
 * @param {ModelRecord} model
 * @param {VersionRecord} version
 */
function servedRow(model, version) {
  const count = version.latency.at(-1)?.[1] ?? 0;
  /** @param {number} share */
  const time = (share) => (count ? `${number(quantile([], version.latency, share))} ms` : "–");
  const labels = Object.entries(model.labels)
    .filter(([, labelled]) => labelled === version.version)
    .map(([label]) => {
      const share = model.shares[label];
      return share === undefined ? label : `${label} ${number(100 * share)} %`;
    });
  const states = [model.default === version.version ? words.default : words.served, ...labels];
  const cells = [
    states.join(", "),
    version.device,
    `${number(version.bytes / 1e6)} MB`,
    count.toLocaleString(),
    time(0.5),
    time(0.99),
    version.waiting,
  ];
  return element("tr", {}, versionCell(version.version), ...cells.map((c) => element("td", {}, c)));
}

/**
 * @param {number} version
 * @param {string} state
 * @param {string} reason
 */
function otherRow(version, state, reason) {
  const text = reason ? `${state}: ${reason}` : state;
  const cell = element("td", { colspan: TITLES.length - 1, class: reason ? "bad" : "" }, text);
  return element("tr", {}, versionCell(version), cell);
}

/** @param {number} version */
function versionCell(version) {
  const dot = element("span", { class: `dot color-${colorOf(version)}` });
  return element("td", {}, dot, " ", version);
}
