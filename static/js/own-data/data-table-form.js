import { html, useMemo, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { TYPES, labelType, withType } from "./columns.js";
import { DELIMITERS, readTable } from "./csv.js";
import { GraphOffer } from "./graph-offer.js";
import { SplitFields, UseData } from "./data-use.js";
import { DataProblem } from "./problem.js";
import { asUsed, describeColumns, firstChoices, leftOut, tableSet } from "./table-set.js";

/**
 * @import { Column, ColumnType } from "./columns.js"
 * @import { TableChoices } from "./table-set.js"
 */

const ROWS = 6;
const COLUMNS = 60;
const REMARKS = 20;
const NAMES = /** @type {const} */ ({ ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" });

/**
 * @template T
 * @param {() => T} make
 * @returns {{value: T | null, problem: string}}
 */
export function attempt(make) {
  try {
    return { value: make(), problem: "" };
  } catch (failure) {
    if (!(failure instanceof DataProblem)) throw failure;
    return { value: null, problem: failure.message };
  }
}

/**
 * A table: its columns, its label, and the treatment of missing values.
 * @param {{draft: {name: string, text: string, isGuess: boolean}, take: (items: import("./drawer-state.js").Item[]) => void}} props
 */
export function TableForm({ draft: { name, text, isGuess }, take }) {
  const [reading, setReading] = useState(
    /** @type {{delimiter?: string, hasHeader?: boolean}} */ ({}),
  );
  const { value: table, problem } = useMemo(
    () => attempt(() => readTable(text, name, reading)),
    [text, reading],
  );
  const words = t().dataForms.table;
  const key = `${table?.delimiter}${table?.hasHeader}`;
  return html`<section class="data-form" aria-label=${words.label(name)}>
    <h3>${name}</h3>
    <div class="data-fields">
      <label class="data-field"><span>${words.delimiter}</span>
        <select data-testid="data-delimiter" value=${table?.delimiter ?? reading.delimiter}
          onChange=${(/** @type {any} */ event) => setReading({ delimiter: event.target.value })}>
          ${DELIMITERS.map((each) => html`<option key=${each} value=${each} selected=${each === (table?.delimiter ?? reading.delimiter)}>${words.delimiters[NAMES[/** @type {","} */ (each)]]}</option>`)}
        </select></label>
      <label class="data-check"><input type="checkbox" data-testid="data-header" checked=${table?.hasHeader ?? false}
        onChange=${(/** @type {any} */ event) => setReading({ ...reading, hasHeader: event.target.checked })} />
        ${words.header}</label>
    </div>
    ${problem && html`<p class="data-problem" role="alert" data-testid="data-problem">${problem}</p>`}
    <${GraphOffer} ...${{ name, text, titles: table?.titles ?? [], take }} />
    ${table && html`<${TableChoicesForm} key=${key} table=${table} name=${name} isGuess=${isGuess} />`}
  </section>`;
}

/** @param {{table: import("./csv.js").Table, name: string, isGuess: boolean}} props `isGuess`: the encoding */
function TableChoicesForm({ table, name, isGuess }) {
  const [columns, setColumns] = useState(() => describeColumns(table));
  const [choices, setChoices] = useState(() => firstChoices(columns));
  const change = (/** @type {Partial<TableChoices>} */ some) => setChoices({ ...choices, ...some });
  const { value: set, problem } = useMemo(
    () => attempt(() => tableSet(columns, choices)),
    [columns, choices],
  );
  const used = useMemo(() => asUsed(columns, choices), [columns, choices]);
  const holes = useMemo(() => leftOut(used, { ...choices, missing: "drop" })?.rows ?? 0, [used]);
  const label = columns[choices.label];
  const words = t().dataForms.table;

  const setType = (/** @type {number} */ index, /** @type {ColumnType} */ type) =>
    setColumns(columns.map((column, at) => (at === index ? withType(column, type) : column)));
  return html`
    <p class="hint">${words.size(table.rows.length, columns.length)}</p>
    <${Remarks} ...${{ table, columns: used, choices, isGuess }} />
    <${Preview} table=${table} columns=${columns} label=${choices.label} setType=${setType}
      setLabel=${(/** @type {number} */ index) => change({ label: index, labelType: labelType(columns[index]) })} />
    <div class="data-fields">
      <label class="data-field"><span>${words.target}</span>
        <select data-testid="data-label" value=${choices.label} onChange=${(
          /** @type {any} */ { target },
        ) =>
          change({
            label: Number(target.value),
            labelType: labelType(columns[Number(target.value)]),
          })}>
          ${columns.map(({ title }, index) => html`<option key=${index} value=${index} selected=${index === choices.label}>${title}</option>`)}
        </select></label>
      <label class="data-field"><span>${words.targetIs(label.title)}</span>
        <select data-testid="data-label-type" value=${choices.labelType} onChange=${(/** @type {any} */ event) => change({ labelType: event.target.value })}>
          <option value="category" selected=${choices.labelType === "category"}>${words.aClass}</option>
          <option value="number" selected=${choices.labelType === "number"}>${words.aNumber}</option>
        </select></label>
      <${SplitFields} test=${choices.test} seed=${choices.seed} change=${change} />
      ${
        holes > 0 &&
        html`<label class="data-field"><span>${words.holes(holes)}</span>
        <select data-testid="data-missing" value=${choices.missing} onChange=${(/** @type {any} */ event) => change({ missing: event.target.value })}>
          <option value="drop" selected=${choices.missing === "drop"}>${words.drop}</option>
          <option value="mean" selected=${choices.missing === "mean"}>${words.mean}</option>
        </select></label>`
      }
      <label class="data-check" title=${t().dataForms.normalizeIs}>
        <input type="checkbox" data-testid="data-normalize" checked=${choices.normalized}
          onChange=${(/** @type {any} */ event) => change({ normalized: event.target.checked })} />
        ${t().dataForms.normalize}</label>
    </div>
    <${UseData} set=${set} problem=${problem} file=${name} />`;
}

/** How the file was read, where that is not plain. @param {{table: import("./csv.js").Table, columns: Column[], choices: TableChoices, isGuess: boolean}} props */
function Remarks({ table, columns, choices, isGuess }) {
  const { ragged, lines } = table;
  const words = t().dataForms.table;
  const remarks = [
    ...(isGuess ? [words.otherEncoding] : []),
    ...(table.seemsHeader ? [words.seemsHeader(lines[0], words.header)] : []),
    ...(ragged.length > 0 ? [raggedRemark(ragged)] : []),
    ...columns.filter(({ odd }) => odd > 0).map((column) => oddRemark(column, lines)),
    ...columns.flatMap(({ title, type, example }) =>
      type === "number" && example
        ? [words.numberRead(title, example.cell, example.value, example.other)]
        : [],
    ),
  ];
  const without = leftOut(columns, choices);
  if (without)
    remarks.unshift(
      words.leftOut(
        without.rows,
        table.rows.length,
        without.column.title,
        without.holes,
        lines[without.first],
      ),
    );
  if (remarks.length === 0) return null;
  return html`<ul class="data-warning" data-testid="data-remarks">
    ${remarks.slice(0, REMARKS).map((remark) => html`<li key=${remark}>${remark}</li>`)}
    ${remarks.length > REMARKS && html`<li>${words.moreRemarks(remarks.length - REMARKS)}</li>`}
  </ul>`;
}

/** @param {number[]} lines */
function raggedRemark(lines) {
  const words = t().dataForms.table;
  return lines.length === 1
    ? words.raggedLine(lines[0])
    : words.raggedLines(lines.length, lines.slice(0, 8), lines.length > 8);
}

/** @param {Column} column @param {number[]} lines of the rows */
function oddRemark({ title, type, odd, firstOdd }, lines) {
  if (!firstOdd || (type !== "number" && type !== "date")) return "";
  const words = t().dataForms.table;
  const line = lines[firstOdd.row];
  return odd === 1
    ? words.oddCell(title, type, firstOdd.cell, line)
    : words.oddCells(title, odd, type, firstOdd.cell, line);
}

/**
 * @param {{table: import("./csv.js").Table, columns: Column[], label: number,
 *          setType: (index: number, type: ColumnType) => void, setLabel: (index: number) => void}} props
 */
function Preview({ table, columns, label, setType, setLabel }) {
  const words = t().dataForms.table;
  const shown = columns.slice(0, COLUMNS);
  return html`<div class="data-preview" tabindex="0" role="region" aria-label=${words.preview}>
    <table data-testid="data-preview">
      <thead>
        <tr>${shown.map(
          (
            { title },
            index,
          ) => html`<th key=${index} scope="col" data-label=${index === label ? "" : undefined}>
          <button type="button" class="data-title" aria-pressed=${index === label} title=${words.predict(title)}
            onClick=${() => setLabel(index)}>${title}</button></th>`,
        )}</tr>
        <tr>${shown.map(
          (column, index) => html`<td key=${index} data-label=${index === label ? "" : undefined}>
          ${
            index === label
              ? html`<b class="data-is-label">${words.isTarget}</b>`
              : html`<select aria-label=${words.typeOf(column.title)} data-testid="data-type"
            value=${column.type} onChange=${(/** @type {any} */ event) => setType(index, event.target.value)}>
            ${TYPES.map((type) => html`<option key=${type} value=${type} selected=${type === column.type}>${words.types[type]}</option>`)}
          </select>`
          }</td>`,
        )}</tr>
      </thead>
      <tbody>${table.rows.slice(0, ROWS).map(
        (row, at) => html`<tr key=${at}>
        ${shown.map(
          (column, index) => html`<td key=${index} data-label=${index === label ? "" : undefined}
          data-out=${column.type === "text" && index !== label ? "" : undefined}>${row[index]}</td>`,
        )}</tr>`,
      )}</tbody>
    </table>
  </div>
  ${columns.length > COLUMNS && html`<p class="hint">${words.moreColumns(columns.length - COLUMNS)}</p>`}`;
}
