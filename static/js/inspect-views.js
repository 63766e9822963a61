/** The views of the panel Inspect, in their order. A new one is a component and a line here. */

import { lazy } from "./components/lazy.js";
import { t } from "./locale.js";

const Histograms = lazy(
  async () => (await import("./components/inspect-histograms.js")).HistogramsView,
  () => ({ name: t().inspectHistograms.name, waiting: t().inspect.asking }),
);

/**
 * @typedef {{name: string, title: () => string, View: () => any}} InspectView `name`: of its test ids
 * @type {InspectView[]}
 */
export const INSPECT_VIEWS = [
  { name: "histograms", title: () => t().inspectHistograms.name, View: Histograms },
  {
    name: "layers", title: () => t().inspectLayers.title,
    View: lazy(async () => (await import("./components/inspect-layers.js")).InspectLayers,
      () => ({ name: t().inspectLayers.name, waiting: t().inspect.asking })),
  },
  { name: "samples", title: () => t().inspectSamples.title, View: lazy(async () => (await import("./components/inspect-samples.js")).SamplesView, () => ({ name: t().inspectSamples.title, waiting: t().inspect.asking })) },
  { name: "projection", title: () => t().inspectProjection.title, View: lazy(async () => (await import("./components/inspect-projection.js")).ProjectionPanel, () => ({ name: t().inspectProjection.title, waiting: t().inspect.asking })) },
];
