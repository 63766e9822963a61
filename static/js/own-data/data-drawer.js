import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { t } from "../words/locale.js";
import { ArraysForm } from "./data-arrays-form.js";
import { CameraForm } from "./data-camera-form.js";
import { GraphForm } from "./data-graph-form.js";
import { ImagesForm } from "./data-images-form.js";
import { DataList } from "./data-list.js";
import { ModelForm } from "./data-model-form.js";
import { PointsForm } from "./data-points-form.js";
import { list } from "./user-data.js";
import { DataSources } from "./data-sources.js";
import { TableForm } from "./data-table-form.js";
import { closeDrawer, opening } from "./drawer-state.js";
import { takeIn } from "./intake.js";
import { DataProblem } from "./problem.js";

/**
 * @import { Item } from "./drawer-state.js"
 * @import { Draft } from "./intake.js"
 * @typedef {Draft | {kind: "camera"} | {kind: "points"}} Stage
 */

/** @type {Record<Stage["kind"], any>} */
const FORMS = {
  table: TableForm,
  graph: GraphForm,
  arrays: ArraysForm,
  images: ImagesForm,
  model: ModelForm,
  camera: CameraForm,
  points: PointsForm,
};

/** The drawer in which visitors bring data of their own. */
export function DataDrawer() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [stage, setStage] = useState(/** @type {Stage | null} */ (null));
  const stages = useRef(0);
  const [problem, setProblem] = useState("");
  const [isReading, setReading] = useState(false);
  const request = opening.value;

  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.current?.showModal();
    list();
    return () => before?.focus?.();
  }, []);
  useEffect(() => {
    if (request?.items) take(request.items);
    else if (request?.start === "camera" || request?.start === "points")
      setStage({ kind: request.start });
  }, [request]);

  /** @param {Item[] | Promise<Item[]>} items */
  async function take(items) {
    setProblem("");
    setReading(true);
    try {
      const draft = await takeIn(await items);
      stages.current += 1; // a form for each, even if another file is of the same kind
      setStage(draft);
    } catch (failure) {
      setProblem(
        failure instanceof DataProblem
          ? failure.message
          : t().data.unreadable(/** @type {Error} */ (failure).message),
      );
    }
    setReading(false);
  }

  const Form = stage && FORMS[stage.kind];
  const words = t().data;
  const back = () => setStage(null);
  return html`<dialog class="data-drawer" data-testid="data-drawer" aria-labelledby="data-title" ref=${dialog} onClose=${closeDrawer}>
    <div class="data-head">
      ${stage && html`<button type="button" class="button quiet small" data-testid="data-back" onClick=${back}>${words.back}</button>`}
      <h2 id="data-title">${words.title}</h2>
      <button type="button" class="button quiet icon-only" aria-label=${words.close} title=${words.close} data-testid="data-close"
        onClick=${closeDrawer}><${Icon} name="close" /></button>
    </div>
    <div class="data-body">
      <p class="data-privacy">${words.privacy}</p>
      <div role="alert">${problem && html`<p class="data-problem" data-testid="data-problem">${problem}</p>`}</div>
      ${isReading && html`<p class="hint" role="status">${words.reading}</p>`}
      ${
        Form
          ? html`<${Form} key=${`${stage.kind}${stages.current}`} draft=${stage} take=${take} />`
          : html`<${DataSources} take=${take} begin=${(/** @type {"camera" | "points"} */ kind) => setStage({ kind })} /><${DataList} />`
      }
    </div>
  </dialog>`;
}
