import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { urlOf } from "../../engine/root.js";
import { Icon } from "../components/icons.js";
import { descriptionOf, titleOf } from "./example-titles.js";
import { selectExample } from "./examples.js";
import { isPhone } from "../frame/layout.js";
import { language, t } from "../words/locale.js";
import * as store from "../state/store.js";
import { KINDS, facts } from "./facts.js";
import { closeExamples } from "./opening.js";
import { roughly } from "./time.js";

/**
 * @import { Example } from "../state/types.js"
 * @import { Kind } from "./facts.js"
 */

/** All examples, as cards in groups, with a search. */
export function ExamplesDialog() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [kind, setKind] = useState(/** @type {Kind | "all"} */ ("all"));
  const [search, setSearch] = useState("");
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);

  const words = t().gallery.all;
  const known = store.examples.value.filter(({ id }) => facts.value[id]);
  const fitting = known.filter((example) => fits(example, search));
  const shown = fitting.filter(({ id }) => kind === "all" || facts.value[id].kind === kind);
  const groups = KINDS.map((each) => ({
    kind: each,
    examples: shown.filter(({ id }) => facts.value[id].kind === each),
  }));
  /** @param {Kind | "all"} each */
  const count = (each) =>
    fitting.filter(({ id }) => each === "all" || facts.value[id].kind === each).length;
  return html`<dialog class="examples-dialog" data-testid="examples-dialog" aria-labelledby="examples-title" ref=${dialog} onClose=${closeExamples}>
    <div class="examples-head">
      <h2 id="examples-title" tabindex="-1" autofocus=${isPhone.value}>${words.title}</h2>
      <input type="search" class="examples-search" data-testid="examples-search" aria-label=${words.search} placeholder=${words.search}
        autofocus=${!isPhone.value} value=${search} onInput=${(/** @type {any} */ event) => setSearch(event.target.value)} />
      <button type="button" class="button quiet icon-only" aria-label=${words.close} title=${words.close} data-testid="examples-close"
        onClick=${closeExamples}><${Icon} name="close" /></button>
      <div class="examples-kinds" role="group" aria-label=${words.kind}>
        ${
          /** @type {const} */ (["all", ...KINDS]).map(
            (
              each,
            ) => html`<button key=${each} type="button" class="examples-kind" data-testid="examples-kind"
          data-kind=${each} aria-pressed=${each === kind} onClick=${() => setKind(each)}>${words.kinds[each]} <span>${count(each)}</span></button>`,
          )
        }
      </div>
    </div>
    <div class="examples-body">
      <p class="visually-hidden" role="status" data-testid="examples-count">${words.found(shown.length)}</p>
      ${
        shown.length === 0 &&
        html`<p class="examples-none" data-testid="examples-none">${words.none(search)}
        <button type="button" class="link" onClick=${() => {
          setSearch("");
          setKind("all");
        }}>${words.showAll}</button></p>`
      }
      ${groups
        .filter(({ examples }) => examples.length > 0)
        .map(
          (group) => html`<section key=${group.kind} aria-labelledby=${`examples-${group.kind}`}>
        <h3 id=${`examples-${group.kind}`}>${words.kinds[group.kind]}</h3>
        <ul class="examples-cards">${group.examples.map((example) => html`<${ExampleCard} key=${example.id} example=${example} />`)}</ul>
      </section>`,
        )}
      <p class="hint examples-note">${words.times}</p>
    </div>
  </dialog>`;
}

/** @param {{example: Example}} props */
function ExampleCard({ example }) {
  const { id } = example;
  const { sentence, seconds } = facts.value[id];
  function open() {
    closeExamples();
    selectExample(id);
  }
  return html`<li>
    <button type="button" class="gallery-card" data-testid="example-card" data-example=${id} title=${descriptionOf(example)}
      aria-current=${store.exampleId.value === id ? "true" : undefined} onClick=${open}>
      <img class="examples-picture" src=${urlOf(`/static/gallery/${id}.webp`)} alt="" width="480" height="300" loading="lazy" decoding="async" onError=${omit} />
      <strong>${titleOf(example)}</strong>
      <span>${sentence[language.value]}</span>
      <span class="hint examples-time">${roughly(seconds)}</span>
    </button>
  </li>`;
}

/** Leave the ground of a picture that does not arrive. @param {Event} event */
const omit = (event) => /** @type {HTMLImageElement} */ (event.target).removeAttribute("src");

/** Whether all words of a search are in what the gallery says of an example, or in its program. @param {Example} example @param {string} search */
function fits(example, search) {
  const { sentence, kind } = facts.value[example.id];
  const text = [
    titleOf(example),
    descriptionOf(example),
    sentence[language.value],
    t().gallery.all.kinds[kind],
    example.id,
    example.source,
  ].join(" ");
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
}
