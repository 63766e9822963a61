import { html, useEffect } from "../../vendor/preact.js";
import { argumentOf, valueOf } from "../blocks/calls.js";
import { setArgument } from "../blocks/edits.js";
import { quoted } from "../blocks/field-values.js";
import { fitted } from "../blocks/suited.js";
import { shape } from "../words/format.js";
import { t } from "../words/locale.js";
import { OF_LIBRARY } from "../own-data/data-names.js";
import * as userData from "../own-data/user-data.js";
import { openDrawer } from "../own-data/drawer-state.js";
import { isEmbedded } from "../sharing/embedded.js";
import { Row } from "./block-fields.js";
import { change, program, readHere } from "./blocks-model.js";
import { CardProblems, problemsAt } from "./card-problems.js";
import { DataOffer, asksAbout, choseData } from "./data-offer.js";
import { termId, termOf } from "./terms.js";

/** @import { Call } from "../blocks/types.js" */

/** Data that the program loads by name: that of the visitor, or a data set of the library. @param {{call: Call, number: number}} props */
export function BroughtCard({ call, number }) {
  useEffect(() => {
    userData.list();
  }, []);
  const value = valueOf(call, "name");
  const name = value?.type === "string" ? value.value : null;
  const entry = name === null ? undefined : userData.entryOf(name);
  const about = entry?.about;
  const isLibrary = name !== null && OF_LIBRARY.includes(name);
  const id = `data-${number}`;
  const names = [...new Set([...(name === null ? [] : [name]), ...userData.names.value])];
  /** @param {any} event */
  const choose = ({ target }) => {
    change(
      setArgument(program.value, call, "name", quoted(`"${target.value}"`, program.value.text)),
      t().blocks.said.data(target.value),
    );
    choseData(target.value);
  };
  const suited = name !== null && asksAbout(name) ? fitted(program.value, readHere) : null;
  const words = t().blocks.data;
  const isWrong = problemsAt(id).length > 0;
  const isMissing = !entry && !isLibrary && name !== null && userData.entries.value !== null;
  return html`<section class="block data-card" data-testid="data-card" data-card=${id} aria-label=${words.title}
    data-problem=${isMissing || isWrong ? "" : undefined}>
    <div class="block-head">
      <h3>${words.title}</h3>
      <span class="block-measure">${
        about &&
        html`<b title=${words.shape}>${shape(about.shape)}</b>
        <span>${about.classes.length > 0 ? t().data.classes(about.classes.length) : t().data.numbers}</span>`
      }</span>
    </div>
    <div class="block-fields">
      <${Row} label=${t().blocks.fields.set} id=${id} piece=${call} term=${termOf("set")}>${
        name === null || !argumentOf(call, "name")?.literal
          ? html`<code class="block-source" id=${id}>${argumentOf(call, "name")?.text ?? "?"}</code>`
          : html`<select id=${id} data-testid="dataset-select" aria-describedby=${termId(id)} value=${name} onChange=${choose}>
            ${names.map((each) => html`<option key=${each} value=${each} selected=${each === name}>${each}</option>`)}
          </select>`
      }</${Row}>
      ${about && html`<span class="hint">${t().data.counts(about.train, about.test)}</span>`}
      <${YourDataButton} />
    </div>
    ${
      suited &&
      html`<${DataOffer} suited=${suited} question=${t().suited.unfit(name ?? "", suited.settings)}
        take=${t().suited.fit} taken=${t().suited.fitted} field=${id} />`
    }
    ${isMissing ? html`<p class="block-problem" role="alert">${words.missing(name)}</p>` : html`<${CardProblems} card=${id} />`}
    ${about && about.classes.length > 0 && html`<p class="block-from" title=${about.classes.join(", ")}>${classList(about.classes)}</p>`}
  </section>`;
}

/** @param {string[]} classes */
const classList = (classes) =>
  `${classes
    .slice(0, 12)
    .map((name, label) => `${label}: ${name}`)
    .join(", ")}${classes.length > 12 ? ", …" : ""}`;

/** Opens the drawer for data of the visitor. */
export function YourDataButton() {
  return (
    !isEmbedded &&
    html`<button type="button" class="button quiet small" data-testid="data-card-open" onClick=${() => openDrawer()}>${t().blocks.data.yours}</button>`
  );
}
