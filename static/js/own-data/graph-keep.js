import { html, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { offer } from "../files/download.js";
import { t } from "../words/locale.js";
import { missingGraphs, problemOfName, suggestedName, usedGraphs } from "./data-names.js";
import { graphCall } from "./graph-line.js";
import { NameField } from "./name-field.js";
import { beginProgram, keep, loadInProgram } from "./use.js";
import * as userData from "./user-data.js";

/**
 * @import { GraphFound } from "../../engine/messages.js"
 * @import { GraphAbout } from "./user-data.js"
 */

/** @param {GraphFound} graph @returns {GraphAbout} */
const aboutOf = ({ nodes, edges, known, features, plain, classes }) => ({
  kind: "graph",
  nodes,
  edges,
  known,
  features,
  plain,
  classes,
});

/**
 * The name of a graph, and the ways to use it.
 * @param {{graph: GraphFound, file: string, isOff: boolean}} props `file`: that of its nodes
 */
export function UseGraph({ graph, file, isOff }) {
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const [outcome, setOutcome] = useState("");
  const all = userData.entries.value?.map(({ name }) => name) ?? [];
  const name =
    typed ??
    missingGraphs.value[0] ??
    suggestedName(
      file,
      all.filter((each) => !usedGraphs.value.includes(each)),
    );
  const wrong = problemOfName(name);
  const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (graph.content);

  /** @param {typeof loadInProgram} use */
  const keepFor = (use) => () => keep(name, bytes.slice(), aboutOf(graph), use);
  function save() {
    offer(`${name}.npz`, new Blob([bytes]));
    setOutcome(t().dataGraphs.saved(name));
  }
  const words = t().data.use;
  const cannot = isOff || wrong !== "";
  return html`<section class="data-use" aria-label=${words.label}>
    <${NameField} name=${name} wrong=${wrong} onName=${setTyped}
      hint=${userData.has(name) ? t().data.names.replaces(name) : outcome} />
    <div class="data-ways">
      <button type="button" class="button primary" data-testid="graph-begin" disabled=${cannot} onClick=${keepFor(beginProgram)}
        title=${words.beginIs}>${words.begin}</button>
      <button type="button" class="button" data-testid="graph-use" disabled=${cannot} onClick=${keepFor(loadInProgram)}
        title=${words.nowIs}>${words.now}</button>
      <button type="button" class="button quiet" data-testid="data-save" disabled=${cannot} onClick=${save}><${Icon} name="save" />${words.save}</button>
    </div>
    <p class="hint"><code>${`graph = ${graphCall(name)}`}</code></p>
  </section>`;
}
