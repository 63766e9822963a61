import { html, useEffect, useMemo, useRef, useState } from "../../../vendor/preact.js";
import { computedNodes, hasPython } from "../../engine/computed-nodes.js";
import { GraphCluster, GraphItem } from "./graph-items.js";
import { colourClass, outlines } from "./graph-outline.js";
import {
  MOST_DRAWN,
  arrowsInSight,
  clustersInSight,
  grown,
  itemNear,
  itemsInSight,
} from "./graph-sight.js";
import { lightOf } from "./step-operations.js";

/**
 * @typedef {import("./graph-model.js").Item} Item
 * @typedef {{drawing: import("./graph-view.js").Drawing, current: string, near: string,
 *            sight: import("../../../vendor/preact.js").Signal<import("./viewport.js").Sight | null>,
 *            colourOf: import("./graph-items.js").ColourOf, isMarked: (item: Item) => boolean,
 *            light: (item: Item) => import("./step-operations.js").Light | undefined,
 *            onToggle: (path: string) => void, onUse: (id: string) => void, onFocus: (id: string) => void}} Props
 *   `current`: the item that Tab moves to; `near`: the selected one, whose arrows stand out
 */

/** The most items that are added to the drawing at a time. */
const AT_ONCE = 16;
/** Pixels from an outline at which a click still selects it. */
const REACH = 4;
/** Pixels that the outline of an operation that was found is wider on each side. */
const MARK_MARGIN = 2;
/** The smallest scale at which arrows are wide enough to be seen. */
const ARROWS_SEEN = 0.2;
/** @type {ReadonlySet<string>} */
const NOTHING = new Set();

/** Scopes, arrows and items: all of them, or of a large graph the part in sight. @param {Props} props */
export function GraphDrawing(props) {
  const isLarge = props.drawing.picture.items.length > MOST_DRAWN;
  return isLarge ? html`<${PartInSight} ...${props} />` : html`<${WholeDrawing} ...${props} />`;
}

/** @param {Omit<Props, "sight">} props */
export function WholeDrawing(props) {
  const { items, clusters, arrows } = props.drawing.picture;
  return html`<${Frames} clusters=${clusters} ...${props} /><${Arrows} arrows=${arrows.keys()} ...${props} />
    <${Items} items=${items} ...${props} />`;
}

/** The heads of arrows, which `Arrows` refers to. */
export function ArrowHeads() {
  return html`<defs>${["plain", "near"].map(
    (kind) => html`
    <marker id=${`arrow-${kind}`} key=${kind} class=${`arrow-${kind}`} viewBox="0 0 8 8" refX="7"
      refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">
      <path d="M0 0.8 7 4 0 7.2z" />
    </marker>`,
  )}
  </defs>`;
}

/** Whether the search has found an operation, or one in a scope. @param {Item} item @param {ReadonlySet<string>} found */
export const isFound = (item, found) =>
  found.size > 0 &&
  (item.kind === "scope" ? item.nodes.some(({ name }) => found.has(name)) : found.has(item.id));

/**
 * The place of an item in the step that is gone through.
 * @param {Item} item @param {ReadonlyMap<string, import("./step-operations.js").Light>} lit
 */
export const lightFor = (item, lit) =>
  lit.size > 0
    ? lightOf(item.kind === "scope" ? item.nodes.map(({ name }) => name) : [item.id], lit)
    : undefined;

/** @param {Props} props */
function PartInSight(props) {
  const { drawing, current, near, sight } = props;
  const { picture, layout } = drawing;
  const drawn = useRef(NOTHING);
  const [, proceed] = useState(0);
  const seen = sight.value;
  const inSight = useMemo(
    () => seen && itemsInSight(picture.items, layout.boxes, seen),
    [drawing, seen],
  );
  // The keyboard has to find its item, and the selected one stands out.
  const wanted = new Set([current, near, ...(inSight ?? [])].filter((id) => layout.boxes[id]));
  drawn.current = grown(drawn.current, wanted, AT_ONCE);
  const shown = drawn.current;
  useEffect(() => {
    if (shown.size === wanted.size) return undefined;
    const frame = requestAnimationFrame(() => proceed((count) => count + 1));
    return () => cancelAnimationFrame(frame);
  });
  const clusters = useMemo(() => {
    if (seen && inSight) return clustersInSight(picture, layout.boxes, seen);
    return picture.clusters.filter(({ id }) => id === current);
  }, [drawing, seen, current]);
  const arrows = useMemo(
    () =>
      seen && inSight ? arrowsInSight(picture, layout, shown, seen) : { near: [], passing: "" },
    [drawing, seen, shown.size],
  );
  if (!seen) return null;
  return html`
    <${Frames} ...${props} clusters=${clusters} />
    ${
      inSight
        ? html`<path class="graph-arrow" data-passing="" d=${arrows.passing} /><${Arrows} ...${props} arrows=${arrows.near} />`
        : html`<${Outlines} ...${props} />`
    }
    <${Items} ...${props} items=${picture.items.filter(({ id }) => shown.has(id))} />
  `;
}

/** All scopes and items as boxes without texts, which would be too small to read. @param {Props} props */
function Outlines({ drawing, colourOf, isMarked, sight, onUse }) {
  const { picture, layout } = drawing;
  const scale = sight.value?.scale ?? 1;
  const hasArrows = scale >= ARROWS_SEEN;
  const arrows = useMemo(() => (hasArrows ? layout.paths.join("") : ""), [drawing, hasArrows]);
  const frames = useMemo(
    () => outlines(picture.clusters, layout.boxes, () => "frame").get("frame"),
    [drawing],
  );
  const boxes = useMemo(
    () => outlines(picture.items, layout.boxes, (item) => colourClass(item, colourOf)),
    [drawing, colourOf],
  );
  const marked = useMemo(() => {
    const found = picture.items.filter(isMarked);
    return outlines(found, layout.boxes, () => "marked", MARK_MARGIN / scale).get("marked");
  }, [drawing, isMarked, scale]);

  /** @param {MouseEvent} event */
  function onClick(event) {
    const matrix = /** @type {SVGGraphicsElement} */ (event.currentTarget)
      .getScreenCTM()
      ?.inverse();
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    const item = itemNear(picture.items, layout.boxes, place, REACH * (matrix?.a ?? 1));
    if (item) onUse(item.id);
  }

  return html`
    ${hasArrows && html`<path class="graph-arrow" data-passing="" d=${arrows} />`}
    <g class="graph-outlines" data-testid="graph-outlines" aria-hidden="true" onClick=${onClick}>
      <rect class="graph-ground" width=${layout.width} height=${layout.height} />
      <path class="graph-outline-frames" d=${frames} />
      ${[...boxes].map(([colour, path]) => html`<path key=${colour} class="graph-outline" data-colour=${colour} d=${path} />`)}
      ${marked && html`<path key="marked" class="graph-outline-marked" d=${marked} />`}
    </g>
  `;
}

/** @param {Pick<Props, "drawing" | "current" | "onToggle" | "onFocus"> & {clusters: import("./graph-model.js").Cluster[]}} props */
function Frames({ clusters, drawing, current, onToggle, onFocus }) {
  return clusters.map(
    (cluster) => html`
    <${GraphCluster} key=${cluster.id} cluster=${cluster} box=${drawing.layout.boxes[cluster.id]}
      isCurrent=${cluster.id === current} onFold=${onToggle} onFocus=${onFocus} />
  `,
  );
}

/** @param {Pick<Props, "drawing" | "near"> & {arrows: Iterable<number>}} props `arrows`: their positions in the picture */
function Arrows({ arrows, drawing, near }) {
  const { picture, layout } = drawing;
  return [...arrows].map((at) => {
    const { from, to, control } = picture.arrows[at];
    const isNear = from === near || to === near;
    return html`<path key=${`${from}\n${to}`} class="graph-arrow" d=${layout.paths[at]}
      data-control=${control ? "" : undefined} data-near=${isNear ? "" : undefined}
      marker-end=${`url(#arrow-${isNear ? "near" : "plain"})`} />`;
  });
}

/** @param {Omit<Props, "sight"> & {items: Item[]}} props */
function Items({ items, drawing, current, near, colourOf, isMarked, light, onUse, onFocus }) {
  const computed = computedNodes.value;
  return items.map(
    (item) => html`
    <${GraphItem} key=${item.id} item=${item} box=${drawing.layout.boxes[item.id]} colourOf=${colourOf}
      isSelected=${item.id === near} isMarked=${isMarked(item)} light=${light(item)}
      isPython=${hasPython(item.kind === "scope" ? item.nodes.map(({ name }) => name) : [item.id], computed)} isCurrent=${item.id === current} onUse=${onUse} onFocus=${onFocus} />
  `,
  );
}
