import { html, useState } from "../../vendor/preact.js";
import { Icon } from "../components/icons.js";
import { offer } from "../files/download.js";
import * as store from "../state/store.js";
import { t } from "../words/locale.js";
import { inMemory } from "./data-list.js";
import { missingGraphs, problemOfName, suggestedName, usedGraphs } from "./data-names.js";
import { closeDrawer } from "./drawer-state.js";
import { graphCall } from "./graph-line.js";
import { beginGraphProgram, loadGraphInProgram } from "./graph-use.js";
import { NameField } from "./name-field.js";
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

  /** @param {(about: GraphAbout) => void} then */
  const keep = (then) => async () => {
    const about = aboutOf(graph);
    const entry = await userData.keep(name, bytes.slice(), about);
    then(about);
    closeDrawer();
    if (entry.failure) store.note(inMemory(entry.failure));
  };
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
      <button type="button" class="button primary" data-testid="graph-begin" disabled=${cannot} onClick=${keep((about) => beginGraphProgram(name, about))}
        title=${words.beginIs}>${words.begin}</button>
      <button type="button" class="button" data-testid="graph-use" disabled=${cannot} onClick=${keep(() => loadGraphInProgram(name))}
        title=${words.nowIs}>${words.now}</button>
      <button type="button" class="button quiet" data-testid="data-save" disabled=${cannot} onClick=${save}><${Icon} name="save" />${words.save}</button>
    </div>
    <p class="hint"><code>${`graph = ${graphCall(name)}`}</code></p>
  </section>`;
}
