import {
  html,
  signal,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useSignal,
  useState,
} from "../../../vendor/preact.js";
import { lookAtComputedNodes } from "../../engine/computed-nodes.js";
import { alone } from "../../start/alone.js";
import { Icon } from "../../components/icons.js";
import { SavePicture } from "../../components/save-picture-button.js";
import { language, t } from "../../words/locale.js";
import { register } from "../panels.js";
import * as store from "../../state/store.js";
import { ExecutionDock } from "./execution-dock.js";
import { matches } from "./graph-find.js";
import { UNKNOWN, heat, heatClass, heatProblem, isMeasuring, measureHeat } from "./graph-heat.js";
import { layouts } from "./graph-layout.js";
import { Legend, deviceClass, deviceOf } from "./graph-legend.js";
import { Minimap } from "./graph-minimap.js";
import { mainScopes, picture, scopesOf } from "./graph-model.js";
import { GraphSearch } from "./graph-search.js";
import { graphSheet } from "./graph-sheet.js";
import { GraphView } from "./graph-view.js";
import { NodeDetails } from "./node-details.js";
import { lit } from "./step-operations.js";

/** @typedef {import("../../../engine/messages.js").GraphNode} GraphNode */
/** @typedef {import("./graph-view.js").Drawing} Drawing */

/** Width by height from which a graph runs from left to right. */
const WIDE = 1.5;
/** @type {ReadonlySet<string>} */
const NONE_OPEN = new Set();

/** The open scopes, which outlive the panel; `toggled`: the one that was opened or closed last. */
const opened = signal({ scopes: NONE_OPEN, toggled: /** @type {string | null} */ (null) });
/** The graph that scopes were opened for. @type {{graph: import("../../../engine/messages.js").Graph | null}} */
const openedFor = { graph: null };
/** @param {{scopes: ReadonlySet<string>, toggled: string | null}} next */
const setOpen = (next) => (opened.value = next);

/**
 * The dataflow graph of a training step.
 * @param {{title?: any}} props `title`: of the main picture of Watch, where only the drawing has room
 */
function GraphPanel({ title }) {
  const graph = store.graph.value;
  const open = opened.value;
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  const [isLarge, setLarge] = useFullPage(panel);
  useEffect(() => (graph ? undefined : setLarge(false)), [graph]);
  const stage = useRef(/** @type {HTMLElement | null} */ (null));
  const view = useRef(/** @type {import("./viewport.js").Viewport | null} */ (null));
  const sight = useSignal(/** @type {import("./viewport.js").Sight | null} */ (null));

  // A new run keeps the open scopes, and opens the ones that hold nearly all of its graph.
  useEffect(() => {
    if (graph === openedFor.graph) return;
    openedFor.graph = graph;
    setOpen({
      scopes: new Set([...opened.value.scopes, ...(graph ? mainScopes(graph) : [])]),
      toggled: null,
    });
  }, [graph]);
  const { drawing, activity } = useDrawing(graph, open, stage, isLarge);
  useComputedNodes(graph);

  const devices = useMemo(() => [...new Set(graph?.nodes.map(deviceOf))].sort(), [graph]);
  const colourOf = useColours(graph, devices);

  /** @param {string} path */
  function toggle(path) {
    const scopes = new Set(open.scopes);
    if (!scopes.delete(path)) scopes.add(path);
    setOpen({ scopes, toggled: path });
  }

  /** @param {Set<string>} scopes */
  function reveal(scopes) {
    if ([...scopes].some((path) => !opened.value.scopes.has(path))) {
      setOpen({ scopes: new Set([...opened.value.scopes, ...scopes]), toggled: null });
    }
  }

  const marked = useMemo(() => new Set(matches.value), [matches.value]);
  const allOpen = () => setOpen({ scopes: new Set(graph ? scopesOf(graph) : []), toggled: null });
  const selected = store.selectedNode.value;
  const node = graph?.nodes.find(({ name }) => name === selected);
  const words = t().graph;
  const map =
    drawing &&
    html`<${Minimap} drawing=${drawing} colourOf=${colourOf} sight=${sight} view=${view} />`;
  const isWhole = !title || isLarge;
  return html`
    <section class="panel graph" aria-labelledby=${title ? "picture-title" : "graph-title"} ref=${panel} data-large=${isLarge ? "" : undefined}
      role=${isLarge ? "dialog" : undefined} aria-modal=${isLarge ? "true" : undefined}>
      <div class="panel-head">
        ${title ?? html`<h2 id="graph-title">${words.title}</h2>`}
        ${
          graph &&
          html`
          <span class="hint">${words.operations(graph.nodes.length)}</span>
          <${ColourChoice} />
          <div class="tools" role="group" aria-label=${words.view}>
            <${Tool} icon="minus" label=${words.zoomOut} onClick=${() => view.current?.zoom(0.8)} />
            <${Tool} icon="plus" label=${words.zoomIn} onClick=${() => view.current?.zoom(1.25)} />
            <${Tool} icon="fit" label=${words.fit} onClick=${() => drawing && view.current?.fit(drawing.layout)} />
            ${
              open.scopes.size > 0
                ? html`<${Tool} icon="fold" label=${words.collapse} onClick=${() => setOpen({ scopes: NONE_OPEN, toggled: null })} />`
                : html`<${Tool} icon="fold" label=${words.expand} onClick=${allOpen} />`
            }
            <${SavePicture} of=${() => drawing && graphSheet({ drawing, devices, selected, marked, lit: lit.value, colourOf })} name="graph" what=${words.inPicture} id="graph" />
            <button type="button" class="button quiet small" data-testid="graph-full-page"
              onClick=${() => setLarge(!isLarge)}>${isLarge ? words.exitFullPage : words.fullPage}</button>
          </div>
        `
        }
      </div>
      ${graph && isWhole && html`<${GraphSearch} onReveal=${reveal} />`}
      <div class="graph-body">
        <div class="graph-stage" data-testid="graph-view" ref=${stage}>
          ${activity && html`<p class="graph-busy" role="status">${activity}</p>`}
          ${
            drawing
              ? html`
            <div class="graph-room">
              <${GraphView} drawing=${drawing} selected=${selected} marked=${marked} lit=${lit.value} colourOf=${colourOf} handle=${view}
                sight=${sight} wheelZooms=${isLarge} onToggle=${toggle}
                onSelect=${(/** @type {string | null} */ name) => (store.selectedNode.value = name)} />
              ${!node && map}
            </div>
            <${Legend} devices=${devices} />
          `
              : html`<p class="figure-empty">${graph ? words.drawing : words.empty}</p>`
          }
        </div>
        ${node && html`<${NodeDetails} node=${node} map=${map} onLeave=${() => setLarge(false)} />`}
      </div>
      ${isWhole && html`<${ExecutionDock} />`}
    </section>
  `;
}

/**
 * Let a panel fill the page. Meanwhile nothing else can have the focus; Escape leaves.
 * @param {{current: HTMLElement | null}} panel
 * @returns {[boolean, (isLarge: boolean) => void]}
 */
function useFullPage(panel) {
  const [isLarge, setLarge] = useState(false);
  useLayoutEffect(() => {
    if (!isLarge || !panel.current) return undefined;
    const opener = document.activeElement;
    const release = alone(panel.current);
    const leave = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape" && !event.defaultPrevented) setLarge(false);
    };
    window.addEventListener("keydown", leave);
    return () => {
      window.removeEventListener("keydown", leave);
      release();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, [isLarge]);
  return [isLarge, setLarge];
}

/**
 * The picture of the graph with these scopes open, and its layout. The last drawing stays until the
 * next is ready.
 * @param {import("../../../engine/messages.js").Graph | null} graph
 * @param {{scopes: ReadonlySet<string>, toggled: string | null}} open
 * @param {{current: HTMLElement | null}} stage
 * @param {boolean} isLarge
 */
function useDrawing(graph, open, stage, isLarge) {
  const [drawing, setDrawing] = useState(/** @type {Drawing | null} */ (null));
  const [activity, setActivity] = useState("");
  useEffect(() => {
    if (!graph) return setDrawing(null);
    let isWanted = true;
    const slow = setTimeout(() => setActivity(t().graph.layingOut), 250);
    const done = (outcome = "") => {
      clearTimeout(slow);
      setActivity(outcome);
    };
    const drawn = picture(graph, open.scopes);
    const { clientWidth = 0, clientHeight = 0 } = stage.current ?? {};
    layouts.layOut(drawn, clientWidth > WIDE * clientHeight ? "LR" : "TB").then(
      (layout) => {
        if (!isWanted) return;
        done();
        setDrawing({ picture: drawn, layout, toggled: open.toggled });
      },
      (problem) => isWanted && done(t().graph.failed(problem.message)),
    );
    return () => {
      isWanted = false;
      done();
    };
  }, [graph, open, isLarge, language.value]); // boxes are as wide as their texts
  return { drawing, activity };
}

/**
 * The colours of operations, by the visitor's choice. Times and values are measured when they are
 * chosen, and again when a run stops: measuring must not slow it down.
 * @param {import("../../../engine/messages.js").Graph | null} graph
 * @param {string[]} devices
 * @returns {import("./graph-items.js").ColourOf}
 */
function useColours(graph, devices) {
  const by = store.graphColours.value;
  const state = store.runState.value;
  const known = store.executed.value.began;
  const measured = heat.value;
  useEffect(() => {
    if (graph && (by === "time" || by === "magnitude")) measureHeat(by);
  }, [graph, by, state, known]);
  return useCallback(
    (node) => {
      if (by === "phase") return node.phase;
      if (by === "device") return deviceClass(devices, node);
      const isOfThis = measured?.graph === graph && measured?.measure === by;
      return isOfThis ? heatClass(by, measured.values, node.name) : UNKNOWN;
    },
    [by, devices, graph, measured],
  );
}

/** Learn how operations are computed: once training has begun, and again when it has ended. @param {unknown} graph */
function useComputedNodes(graph) {
  const state = store.runState.value;
  const live = store.liveModel.value;
  useEffect(() => {
    if (graph) lookAtComputedNodes();
  }, [graph, state, live]);
}

function ColourChoice() {
  const words = t().graph;
  return html`
    <span class="hint" role="status" data-testid="graph-heat-note">${isMeasuring.value ? words.measuring : heatProblem.value}</span>
    <label class="toggle">${words.colourBy}
      <select value=${store.graphColours.value} data-testid="graph-colours"
        onChange=${(/** @type {any} */ event) => (store.graphColours.value = event.target.value)}>
        <option value="phase">${words.role}</option>
        <option value="device">${words.device}</option>
        <option value="time">${words.time}</option>
        <option value="magnitude">${words.magnitude}</option>
      </select>
    </label>
  `;
}

/** @param {{icon: string, label: string, onClick: () => void}} props */
function Tool({ icon, label, onClick }) {
  return html`<button type="button" class="button quiet icon-only" aria-label=${label} title=${label}
    onClick=${onClick}><${Icon} name=${icon} /></button>`;
}

register({
  name: "graph",
  order: 30,
  title: () => t().panels.graph,
  Panel: GraphPanel,
  besideOthers: true,
  pictures: [
    {
      name: "graph",
      title: () => t().graph.title,
      isThere: () => store.graph.value !== null,
      Picture: GraphPanel,
      hasHead: true,
    },
  ],
  outline:
    "M3.5 2a2 2 0 0 1 1.9 2.7l2 2.3a2 2 0 0 1 1.2 0l2-2.3A2 2 0 1 1 11.7 5.7l-2 2.3a2 2 0 1 1-3.4 0l-2-2.3A2 2 0 1 1 3.5 2z",
});
