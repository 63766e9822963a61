/** The panels on the right, in the order of their tabs. A new one is a component and a line here. */

import { GraphPanel } from "./panels/graph/panel.js";
import { InspectPanel } from "./panels/inspect/panel.js";
import { LabPanel } from "./panels/lab/panel.js";
import { RunsPanel } from "./panels/runs/panel.js";
import { WatchPanel } from "./panels/watch/panel.js";

/** @typedef {"training" | "inspect" | "graph" | "runs" | "lab"} PanelName */

/**
 * @type {{name: PanelName, icon: string, Panel: () => any, besideOthers?: boolean}[]}
 *   `besideOthers`: on a wide screen it has a column of its own, and no tab
 */
export const PANELS = [
  { name: "training", icon: "watch", Panel: WatchPanel },
  { name: "inspect", icon: "inspect", Panel: InspectPanel },
  { name: "graph", icon: "graph", Panel: GraphPanel, besideOthers: true },
  { name: "runs", icon: "runs", Panel: RunsPanel },
  { name: "lab", icon: "lab", Panel: LabPanel },
];
