import {
  html,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "../../../vendor/preact.js";
import { t } from "../../words/locale.js";
import { onResize } from "../../training/observe.js";
import { ArrowHeads, GraphDrawing, isFound, lightFor } from "./graph-drawing.js";
import { titleBox } from "./graph-items.js";
import { scopeId } from "./graph-model.js";
import { Viewport } from "./viewport.js";

/**
 * @typedef {import("./graph-model.js").Picture} Picture
 * @typedef {import("./graph-layout.js").Layout} Layout
 * @typedef {{picture: Picture, layout: Layout, toggled: string | null}} Drawing
 *   `toggled`: path of the scope that was just collapsed or expanded
 */

const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/** The smallest scale at which text is readable: that at which the smallest has its 11 pixels. */
const READABLE = 1;

/**
 * Fit the drawing, or show its beginning if the whole would be too small to read.
 * @param {Viewport | null} view
 * @param {Picture} picture
 * @param {Layout} layout
 */
function openOn(view, picture, layout) {
  const first =
    picture.items.find((item) => item.kind === "node" && item.node.phase === "input") ??
    picture.items[0];
  view?.fit(layout, READABLE, first && layout.boxes[first.id]);
}

/**
 * The drawing of a graph, with panning, zooming and arrow keys.
 * @param {{drawing: Drawing, selected: string | null, marked: ReadonlySet<string>,
 *          lit: ReadonlyMap<string, import("./step-operations.js").Light>, wheelZooms: boolean,
 *          sight: import("../../../vendor/preact.js").Signal<import("./viewport.js").Sight | null>,
 *          colourOf: import("./graph-items.js").ColourOf, onToggle: (path: string) => void,
 *          onSelect: (name: string | null) => void, handle: {current: Viewport | null}}} props
 */
export function GraphView({
  drawing,
  selected,
  marked,
  lit,
  wheelZooms,
  sight,
  colourOf,
  onToggle,
  onSelect,
  handle,
}) {
  const svg = useRef(/** @type {SVGSVGElement | null} */ (null));
  const content = useRef(/** @type {SVGGElement | null} */ (null));
  const before = useRef(/** @type {Layout | null} */ (null));
  const [current, setCurrent] = useState("");
  /** Whether the scope was collapsed or expanded by keyboard. */
  const keyboard = useRef(false);
  /** The id of the item that is to have the focus. */
  const awaited = useRef("");
  const { picture, layout, toggled } = drawing;
  const shown = useRef(drawing);
  shown.current = drawing;
  const chosen = useRef(selected);
  chosen.current = selected;
  const known = layout.boxes[current] ? current : (picture.items[0]?.id ?? "");

  useLayoutEffect(() => {
    if (!svg.current || !content.current) return undefined;
    const view = new Viewport(svg.current, content.current, (seen) => (sight.value = seen));
    handle.current = view;
    const end = onResize(svg.current, () => {
      const box = chosen.current && shown.current.layout.boxes[chosen.current];
      if (view.framing === "whole") view.fit(shown.current.layout);
      else if (box)
        view.show(box); // the details have taken room from the drawing
      else if (view.framing === "beginning")
        openOn(view, shown.current.picture, shown.current.layout);
    });
    return () => {
      end();
      view.destroy();
    };
  }, []);
  useEffect(() => {
    if (handle.current) handle.current.wheelZooms = wheelZooms;
  }, [wheelZooms]);

  useLayoutEffect(() => {
    const view = handle.current;
    const id = toggled === null ? null : scopeId(toggled);
    const was = id && before.current?.boxes[id];
    const now = id && layout.boxes[id];
    if (was && now) {
      view?.keep(was, now);
      view?.show(now);
    } else openOn(view, picture, layout);
    if (chosen.current && layout.boxes[chosen.current]) view?.show(layout.boxes[chosen.current]);
    before.current = layout;
    // The focused element may have been replaced, such as a collapsed scope by its frame.
    if (keyboard.current && toggled !== null) focus(known);
    keyboard.current = false;
  }, [layout]);

  useEffect(() => {
    if (selected && layout.boxes[selected]) handle.current?.show(layout.boxes[selected], READABLE);
  }, [selected]);

  const light = (/** @type {import("./graph-model.js").Item} */ item) => lightFor(item, lit);
  useEffect(() => {
    const item = picture.items.find((each) => light(each) === "current");
    if (item && layout.boxes[item.id]) handle.current?.show(layout.boxes[item.id]);
  }, [lit, layout]);

  const near = selected ?? "";
  const isMarked = useCallback(
    (/** @type {import("./graph-model.js").Item} */ item) => isFound(item, marked),
    [marked],
  );

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const view = handle.current;
    if (event.key === "+" || event.key === "=") view?.zoom(1.25);
    else if (event.key === "-") view?.zoom(0.8);
    else if (event.key === "0") view?.fit(layout);
    else if (event.key === "Escape" && selected) onSelect(null);
    else if (event.key === "Enter" || event.key === " ") {
      keyboard.current = true;
      use(known);
    } else if (ARROWS[event.key]) walk(ARROWS[event.key]);
    else return;
    event.preventDefault();
  }

  /** @param {string} id */
  function use(id) {
    const cluster = picture.clusters.find((each) => each.id === id);
    const item = picture.items.find((each) => each.id === id);
    if (cluster) onToggle(cluster.path);
    else if (item?.kind === "scope") onToggle(item.path);
    else if (item) onSelect(item.id === selected ? null : item.id);
  }

  const used = useRef(use);
  used.current = use;
  const onUse = useCallback((/** @type {string} */ id) => used.current(id), []);

  /** Return the boxes in which the focus is seen, by id: of a frame, the title. */
  function places() {
    const titles = picture.clusters.map((each) => [each.id, titleBox(each, layout.boxes[each.id])]);
    return { ...layout.boxes, ...Object.fromEntries(titles) };
  }

  /** Move the focus to the nearest box in a direction. @param {[number, number]} direction */
  function walk([dx, dy]) {
    const boxes = places();
    const here = boxes[known];
    let best = { id: "", distance: Infinity };
    for (const { id } of [...picture.items, ...picture.clusters]) {
      const { x, y } = boxes[id];
      const ahead = (x - here.x) * dx + (y - here.y) * dy;
      const aside = Math.abs((x - here.x) * dy) + Math.abs((y - here.y) * dx);
      const distance = ahead + 2.5 * aside;
      if (ahead > 1 && distance < best.distance) best = { id, distance };
    }
    if (best.id) focus(best.id);
  }

  /** @param {string} id */
  function focus(id) {
    handle.current?.show(places()[id]);
    setCurrent(id);
    awaited.current = id;
    focusAwaited();
  }

  /** Move the focus to its item once that is drawn: of a large graph only a part is. */
  function focusAwaited() {
    const element =
      awaited.current && svg.current?.querySelector(`[data-id="${CSS.escape(awaited.current)}"]`);
    if (!(element instanceof SVGElement)) return;
    awaited.current = "";
    element.focus();
  }
  useLayoutEffect(focusAwaited);

  return html`
    <svg class="graph-svg" ref=${svg} role="group" aria-label=${t().graph.keys}
      onKeyDown=${onKeyDown}>
      <${ArrowHeads} />
      <g ref=${content}>
        <${GraphDrawing} drawing=${drawing} current=${known} near=${near} sight=${sight} colourOf=${colourOf}
          isMarked=${isMarked} light=${light} onToggle=${onToggle} onUse=${onUse} onFocus=${setCurrent} />
      </g>
    </svg>
  `;
}
