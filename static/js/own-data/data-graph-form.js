import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { count } from "../words/format.js";
import { t } from "../words/locale.js";
import * as store from "../state/store.js";
import { exchanged, graphFiles, problemIn } from "./graph-file.js";
import { ColumnSelect, FeatureChoice } from "./graph-columns.js";
import { UseGraph } from "./graph-keep.js";
import { ClassCounts } from "./class-counts.js";
import { describeGraph } from "./data-list.js";

/**
 * @import { GraphChoice, GraphFiles } from "../../engine/messages.js"
 * @import { TableFile } from "./intake.js"
 */

/** Two tables as a graph: which has the nodes, and what the columns are. @param {{draft: {files: [TableFile, TableFile]}}} props */
export function GraphForm({ draft: { files } }) {
  const [answer, setAnswer] = useState(/** @type {GraphFiles | null} */ (null));
  const [problem, setProblem] = useState("");
  const [isReading, setReading] = useState(true);
  const latest = useRef(0);

  /** @param {GraphChoice} [choice] */
  async function read(choice) {
    latest.current += 1;
    const asked = latest.current;
    setReading(true);
    if (choice) setAnswer((before) => before && { ...before, choice });
    try {
      const next = await graphFiles(files, choice);
      if (asked !== latest.current) return; // another choice was made meanwhile
      setProblem("");
      setAnswer(next);
    } catch (failure) {
      if (asked !== latest.current) return;
      setProblem(problemIn(failure));
    }
    setReading(false);
  }
  useEffect(() => {
    read();
    return () => {
      latest.current += 1;
    };
  }, [files]);

  const words = t().dataGraphs;
  const wrong = problem || (answer?.problem && words.problem(answer.problem)) || "";
  const waits = store.engine.value === "starting" ? words.waiting : words.reading;
  return html`<section class="data-form" data-testid="graph-form" aria-label=${words.label(files[0].name, files[1].name)} aria-busy=${String(isReading)}>
    <h3>${words.label(files[0].name, files[1].name)}</h3>
    ${answer && html`<${Choices} files=${files} answer=${answer} choose=${read} />`}
    <div role="alert">${wrong && html`<p class="data-problem" data-testid="data-problem">${wrong}</p>`}</div>
    <p class="hint graph-reading" role="status">${isReading && waits}</p>
    ${
      answer?.graph &&
      !wrong &&
      html`<div class="data-summary" data-testid="graph-summary">
          <p>${describeGraph(answer.graph)}</p>
          <${ClassCounts} counts=${answer.graph.classes.map((name, label) => ({
            name,
            number: answer.graph?.counts[label] ?? 0,
            text: count(answer.graph?.counts[label] ?? 0),
          }))} label=${words.byClass} />
        </div>
        <${UseGraph} graph=${answer.graph} file=${files[answer.choice.nodes].name} isOff=${isReading} />`
    }
  </section>`;
}

/** @param {{files: [TableFile, TableFile], answer: GraphFiles, choose: (choice: GraphChoice) => void}} props */
function Choices({ files, answer: { sides, choice }, choose }) {
  const change = (/** @type {Partial<GraphChoice>} */ some) => choose({ ...choice, ...some });
  const [node, edge] = [sides[choice.nodes], sides[1 - choice.nodes]];
  const words = t().dataGraphs;
  return html`
    <fieldset class="graph-side">
      <legend>${words.nodes}</legend>
      <div class="data-fields">
        <label class="data-field"><span>${words.file(count(node.rows))}</span>
          <select data-testid="graph-nodes" onChange=${() => choose(exchanged(sides, choice))}>
            ${files.map(({ name }, at) => html`<option key=${at} value=${at} selected=${at === choice.nodes}>${name}</option>`)}
          </select></label>
        <${ColumnSelect} label=${words.id} name="graph-id" columns=${node.columns} value=${choice.id}
          choose=${(/** @type {string} */ id) => change({ id })} />
        <${ColumnSelect} label=${words.target} name="graph-label" columns=${node.columns.filter((each) => each !== choice.id)} value=${choice.label}
          none=${words.noLabel} choose=${(/** @type {string | null} */ label) => change({ label })} />
      </div>
      <${FeatureChoice} side=${node} choice=${choice} change=${change} />
    </fieldset>
    <fieldset class="graph-side">
      <legend>${words.edges}</legend>
      <div class="data-fields">
        <p class="data-field"><span>${words.file(count(edge.rows))}</span><b>${files[1 - choice.nodes].name}</b></p>
        <${ColumnSelect} label=${words.source} name="graph-source" columns=${edge.columns} value=${choice.source}
          choose=${(/** @type {string} */ source) => change({ source })} />
        <${ColumnSelect} label=${words.ends} name="graph-target" columns=${edge.columns} value=${choice.target}
          choose=${(/** @type {string} */ target) => change({ target })} />
        <label class="data-check" title=${words.directedIs}><input type="checkbox" data-testid="graph-directed" checked=${choice.directed}
          onChange=${(/** @type {any} */ event) => change({ directed: event.target.checked })} />
          ${words.directed}</label>
      </div>
    </fieldset>`;
}
