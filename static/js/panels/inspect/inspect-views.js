/** The views of the panel Inspect, in their order. A new one is a component and a line here. */

import { lazy } from "../../components/lazy.js";
import { t } from "../../locale.js";

/** @typedef {{name: string, title: () => string, View: (props: any) => any}} InspectView `name`: of its test ids */

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
  view(
    "histograms",
    () => t().inspectHistograms.name,
    async () => (await import("./inspect-histograms.js")).HistogramsView,
  ),
];
