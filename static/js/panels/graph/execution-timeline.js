import {
  html,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "../../../vendor/preact.js";
import { Icon } from "../../components/icons.js";
import { Tracks } from "../../components/tracks.js";
import { offer } from "../../files/download.js";
import * as format from "../../words/format.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { ExecutionTable } from "./execution-table.js";
import { MOST_ZOOM, eventOf, measured, nodeOf, scrollAfterZoom } from "./execution.js";

/** @import { Execution, ExecutionEvent } from "../../../engine/messages.js" */

const STEP = 1.6;

/** The timeline of the measured step, with a table of its slowest operations. */
export function ExecutionTimeline() {
  const execution = measured.value;
  return execution && html`<${Timeline} execution=${execution} />`;
}

/** @param {{execution: Execution}} props */
function Timeline({ execution }) {
  const words = t().execution;
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const [zoom, zoomBy] = useZoom(scroller, execution);
  const devices = useMemo(
    () => [...new Set(execution.events.map(({ device }) => device))].sort(),
    [execution],
  );
  const [used, setUsed] = useState(/** @type {ExecutionEvent | null} */ (null));
  const node = store.selectedNode.value;
  const chosen = node !== null && used?.nodes.includes(node) ? used : eventOf(execution, node);

  /** @param {ExecutionEvent} event */
  function use(event) {
    const name = nodeOf(event, store.graph.value);
    setUsed(event);
    if (name !== null) store.selectedNode.value = name;
    else store.note(words.notInGraph(event.name));
  }

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const factor = /** @type {Record<string, number>} */ ({
      "+": STEP,
      "=": STEP,
      "-": 1 / STEP,
      0: 0,
    })[event.key];
    if (factor === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoomBy(factor);
  }

  if (execution.events.length === 0) return html`<p class="hint">${words.nothing}</p>`;
  return html`
    <div class="execution-timeline" data-testid="timeline" role="group" aria-label=${words.title} onKeyDown=${onKeyDown}>
      <div class="execution-bar">
        <p class="hint" data-testid="timeline-summary">${words.summary(execution.events.length + execution.left_out, format.milliseconds(execution.duration))}</p>
        <div class="tools" role="group" aria-label=${words.zoom}>
          <${Tool} id="timeline-zoom-out" icon="minus" label=${words.zoomOut} off=${zoom <= 1} onClick=${() => zoomBy(1 / STEP)} />
          <${Tool} id="timeline-zoom-in" icon="plus" label=${words.zoomIn} off=${zoom >= MOST_ZOOM} onClick=${() => zoomBy(STEP)} />
          <${Tool} id="timeline-fit" icon="fit" label=${words.fit} off=${zoom <= 1} onClick=${() => zoomBy(0)} />
          <button type="button" class="button quiet small" data-testid="timeline-save" title=${words.saveAbout}
            onClick=${() => offer("training-step.trace.json", new Blob([execution.chrome], { type: "application/json" }))}>
            <${Icon} name="save" />${words.save}</button>
        </div>
      </div>
      <${Tracks} id="timeline" devices=${devices} events=${execution.events} duration=${execution.duration} zoom=${zoom}
        scroller=${scroller} chosen=${chosen} describe=${describe} hint=${words.hint} onUse=${use} />
      ${devices.map((device) => html`<p key=${device} class="hint execution-clock">${clockOf(execution, device)}</p>`)}
      ${execution.left_out > 0 && html`<p class="hint execution-clock">${words.leftOut(execution.left_out)}</p>`}
      <${ExecutionTable} execution=${execution} chosen=${chosen} onUse=${use} />
    </div>
  `;
}

/**
 * The zoom of the tracks, which starts at 1 for each measured step. The time in the middle stays, or that under the
 * pointer.
 * @param {{current: HTMLElement | null}} scroller
 * @param {Execution} execution
 * @returns {[number, (factor: number, x?: number) => void]} the zoom, and a function that multiplies it; 0 is all
 */
function useZoom(scroller, execution) {
  const [zoom, setZoom] = useState(1);
  const current = useRef({ zoom: 1, scroll: 0 });
  current.current.zoom = zoom;
  useEffect(() => setZoom(1), [execution]);
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollLeft = current.current.scroll;
  }, [zoom]);

  /** @param {number} factor @param {number} [x] */
  function zoomBy(factor, x) {
    const area = scroller.current;
    if (!area) return;
    const before = current.current.zoom;
    const next = Math.min(MOST_ZOOM, Math.max(1, before * factor));
    current.current.scroll = scrollAfterZoom(
      area.scrollLeft,
      x ?? area.clientWidth / 2,
      next / before,
    );
    setZoom(next);
  }

  useEffect(() => {
    const area = scroller.current;
    if (!area) return undefined;
    const onWheel = (/** @type {WheelEvent} */ event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault(); // of the browser's zoom
      zoomBy(Math.exp(-event.deltaY / 200), event.clientX - area.getBoundingClientRect().left);
    };
    area.addEventListener("wheel", onWheel, { passive: false });
    return () => area.removeEventListener("wheel", onWheel);
  }, [execution]);
  return [zoom, zoomBy];
}

/** @param {ExecutionEvent} event */
function describe({ name, device, kind, start, end, bytes, kernel }) {
  const { timeline, kinds } = t().lab;
  const what = /** @type {Record<string, string>} */ (kinds)[kind] ?? kind;
  return timeline.task({
    device,
    name,
    kind: kernel ? t().execution.kernel(what, kernel) : what,
    took: format.milliseconds(end - start),
    size: bytes > 0 ? format.bytes(bytes) : "",
    start: format.milliseconds(start),
  });
}

/** @param {Execution} execution @param {string} device */
function clockOf({ clocks, round_trips: trips }, device) {
  const words = /** @type {Record<string, string | undefined>} */ (t().execution.clocks)[
    clocks[device]
  ];
  if (!words) return "";
  return t().execution.clock(
    device,
    words,
    device in trips ? format.milliseconds(trips[device]) : "",
  );
}

/** @param {{id: string, icon: "minus" | "plus" | "fit", label: string, off: boolean, onClick: () => void}} props */
function Tool({ id, icon, label, off, onClick }) {
  return html`<button type="button" class="button quiet icon-only" data-testid=${id} aria-label=${label} title=${label}
    aria-disabled=${off ? "true" : undefined} onClick=${() => !off && onClick()}><${Icon} name=${icon} /></button>`;
}
