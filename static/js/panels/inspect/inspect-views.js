/** The views of the panel Inspect, in their order. A new one is a component and a line here. */

import { html } from "../../../vendor/preact.js";
import { lazy } from "../../components/lazy.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";

/**
 * @typedef {{name: string, title: () => string, View: (props: any) => any, isThere?: () => boolean}} InspectView
 *   `name`: of its test ids; `isThere`: whether it has something to show without a model, too
 */

/**
 * @param {string} name
 * @param {() => string} title
 * @param {() => Promise<(props: any) => any>} load imports its component
 * @returns {InspectView}
 */
const view = (name, title, load) => ({
  name,
  title,
  View: lazy(load, () => ({ name: title(), waiting: t().inspect.asking })),
});

/** @type {InspectView[]} */
export const INSPECT_VIEWS = [
  view(
    "layers",
    () => t().inspectLayers.title,
    async () => (await import("./inspect-layers.js")).InspectLayers,
  ),
  view(
    "samples",
    () => t().inspectSamples.title,
    async () => (await import("./inspect-samples.js")).SamplesView,
  ),
  view(
    "projection",
    () => t().inspectProjection.title,
    async () => (await import("./inspect-projection.js")).ProjectionPanel,
  ),
  view(
    "attention",
    () => t().inspectAttention.title,
    async () => (await import("./inspect-attention.js")).AttentionPanel,
  ),
  view(
    "next",
    () => t().inspectNext.title,
    async () => (await import("./inspect-next-tokens.js")).NextTokensPanel,
  ),
  {
    ...view(
      "trees",
      () => t().inspectTrees.title,
      async () => (await import("./inspect-trees.js")).TreesPanel,
    ),
    isThere: () => store.hasNamespace.value,
  },
  view(
    "histograms",
    () => t().inspectHistograms.name,
    async () => (await import("./inspect-histograms.js")).HistogramsView,
  ),
];

/** Whether the program is of a task. @param {...string} shown as `TaskView` has it */
const isOf = (...shown) => shown.includes(store.task.value?.shows ?? "");

/** Whether the points of the plane have classes. */
const hasClasses = () =>
  store.task.value?.shows === "plane" && store.task.value.data?.scale !== "linear";

/** What Watch can show of them, too. @type {import("../panels.js").MainPicture[]} */
export const PICTURES = [
  {
    ...picture(
      "confusion",
      () => t().inspectSamples.matrix,
      async () => (await import("./inspect-samples.js")).ConfusionPicture,
    ),
    isThere: () => isOf("images") || hasClasses(),
  },
  {
    ...picture(
      "hardest",
      () => t().inspectSamples.hardestTitle,
      async () => (await import("./inspect-samples.js")).HardestPicture,
    ),
    isThere: () => isOf("plane", "images", "classes", "rows"),
  },
  {
    ...picture(
      "next",
      () => t().inspectNext.title,
      async () => (await import("./inspect-next-tokens.js")).NextTokensPanel,
    ),
    isThere: () => isOf("text"),
  },
];

/** @param {string} name @param {() => string} title @param {() => Promise<(props: any) => any>} load */
function picture(name, title, load) {
  const { View } = view(name, title, load);
  return { name, title, Picture: () => html`<div class="inspect"><${View} /></div>` };
}
