/**
 * Runs as one HTML file that needs nothing else: no network, no scripts, no fonts. All that comes
 * from programs is text in it, whatever it contains.
 */

import * as format from "../../words/format.js";
import { language, t } from "../../words/locale.js";
import { geometry } from "../../pictures/plot-geometry.js";
import { summaryOf } from "./run-summary.js";
import { changesSince, labSettingInWords, stateInWords, titleOf } from "./runs.js";
import { changeInWords } from "../../state/setting-changes.js";

/** @import { Run } from "./runs.js" */

const FRAME = { width: 720, height: 280, left: 56, right: 14, top: 12, bottom: 30 };
const MOST_ROWS = 60;
/** On white and on black, as on the page. */
const COLOURS = [
  ["#2458b8", "#8db2ff"],
  ["#b45309", "#f0a35c"],
  ["#0f766e", "#4fc3b3"],
  ["#7a3fa0", "#c79aec"],
  ["#b42318", "#ff8a7d"],
  ["#5c6b00", "#c4cf5a"],
  ["#a8246b", "#f291c0"],
  ["#3d5563", "#9db7c6"],
];

const STYLE = `
:root { color-scheme: light dark; }
body { max-width: 860px; margin: 0 auto; padding: 24px 18px 60px; font: 15px/1.5 system-ui, sans-serif;
  color: light-dark(#1b1f1e, #e6eae8); background: light-dark(#ffffff, #191d1c); }
h1 { font-size: 24px; margin: 0; } h2 { font-size: 19px; margin: 36px 0 6px; } h3 { font-size: 15px; margin: 20px 0 6px; }
p.about { margin: 4px 0 18px; color: light-dark(#565d5b, #a3adaa); }
svg { display: block; width: 100%; height: auto; }
svg text { fill: light-dark(#565d5b, #a3adaa); font: 12px system-ui, sans-serif; }
svg .grid { stroke: light-dark(#ecece6, #2b3130); fill: none; }
svg .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
svg .mark { stroke: light-dark(#565d5b, #a3adaa); stroke-dasharray: 4 3; fill: none; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { padding: 3px 16px 3px 0; text-align: left; vertical-align: top; border-bottom: 1px solid light-dark(#ecece6, #2b3130); }
th { font-weight: 500; color: light-dark(#565d5b, #a3adaa); }
.number { text-align: right; }
pre { padding: 12px 14px; overflow-x: auto; border: 1px solid light-dark(#deded6, #2b3130); border-radius: 8px;
  background: light-dark(#f8f8f5, #151918); font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0 0 6px; padding: 0; list-style: none; }
.legend svg { display: inline-block; width: 14px; height: 8px; margin-right: 6px; }
${COLOURS.map(([light, dark], at) => `.c${at} { stroke: light-dark(${light}, ${dark}); }`).join("\n")}
`;

/** @param {unknown} text */
const escaped = (text) =>
  String(text)
    .replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`)
    // Other control characters are not allowed in HTML.
    .replace(/[^\P{Cc}\n\t]/gu, "\uFFFD");

/**
 * @param {Run[]} runs to be shown
 * @param {Run[]} all in order, to list the changes
 * @param {Record<string, string>} [versions] of playgrad, Python and NumPy
 * @param {Date} [now]
 * @returns {string}
 */
export function report(runs, all, versions = {}, now = new Date()) {
  const words = t().report;
  const title =
    runs.length === 1 ? words.run(runs[0].number, titleOf(runs[0])) : words.runs(runs.length);
  const made = t().numbers.list(
    Object.entries(versions).map(([name, version]) => `${name} ${version}`),
  );
  return `<!doctype html>
<html lang="${language.value}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p class="about">${escaped(words.saved(now.toISOString().slice(0, 16).replace("T", " "), made))}</p>
${runs.length > 1 ? comparison(runs) : ""}
${runs.map((run) => section(run, all[all.findIndex(({ id }) => id === run.id) - 1], runs.length > 1)).join("\n")}
</body>
</html>
`;
}

/** All curves over each other, and the results side by side. @param {Run[]} runs */
function comparison(runs) {
  const { columns } = t().report;
  const rows = runs.map(
    (
      run,
    ) => `<tr><td>${run.number}</td><td>${escaped(titleOf(run))}</td><td class="number">${format.count(run.step)}</td>
<td class="number">${escaped(format.duration(run.seconds))}</td><td class="number">${escaped(format.loss(run.loss))}</td>
<td class="number">${escaped(format.percent(run.testAccuracy))}</td></tr>`,
  );
  return `${chart(runs)}
<div class="wide"><table><thead><tr><th>${columns.run}</th><th>${columns.program}</th><th class="number">${columns.steps}</th><th class="number">${columns.time}</th>
<th class="number">${columns.loss}</th><th class="number">${columns.testAccuracy}</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></div>`;
}

/** @param {Run} run @param {Run | undefined} before @param {boolean} isOneOfMany */
function section(run, before, isOneOfMany) {
  const changes = changesSince(before, run);
  const words = t().report;
  const { facts: names } = words;
  const facts = [
    [names.program, titleOf(run)],
    [names.began, words.utc(new Date(run.id).toISOString().slice(0, 19).replace("T", " "))],
    [names.device, words.device(run.ranOn, run.device)],
    [names.seed, seedOf(run.code)],
    ...Object.entries(run.lab ?? {}).map(([name, value]) => [
      words.lab(labSettingInWords(name)),
      value,
    ]),
    [
      names.result,
      words.result(stateInWords(run.state), run.step, run.totalSteps, format.duration(run.seconds)),
    ],
    [names.loss, format.loss(run.loss)],
    [names.accuracy, format.percent(run.accuracy)],
    [names.testAccuracy, format.percent(run.testAccuracy)],
    ...(run.settings ?? []).map((change) => [names.changed, changeInWords(change)]),
    [names.changes, before ? t().numbers.clauses(changes) || t().runs.nothing : words.isFirst],
  ];
  return `${isOneOfMany ? `<h2>${escaped(words.run(run.number, titleOf(run)))}</h2>` : ""}
<table><tbody>${facts.map(([name, value]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(value)}</td></tr>`).join("\n")}</tbody></table>
<p>${escaped(t().numbers.sentences(summaryOf(run)))}</p>
<h3>${words.loss}</h3>
${chart([run])}
<h3>${words.program}</h3>
<pre>${escaped(run.code)}</pre>
<h3>${run.steps.length > MOST_ROWS ? words.sampleByStep : words.byStep}</h3>
${table(run)}`;
}

/** The seed of the graph's random numbers, as far as it is written in the code. @param {string} code */
function seedOf(code) {
  const call = /^[^#\n\r\u2028\u2029]*\breset_default_graph\(\s*(?:seed\s*=\s*)?(\d+)/m.exec(code);
  return call ? call[1] : t().report.defaultSeed;
}

/** @param {Run[]} runs */
function chart(runs) {
  const series = runs.map(({ steps, losses }) => ({
    x: steps,
    y: losses.map((loss) => loss ?? NaN),
  }));
  const { across, up, marks } = geometry(series, FRAME, false);
  const [right, bottom] = [FRAME.width - FRAME.right, FRAME.height - FRAME.bottom];
  const changes = runs.length === 1 ? (runs[0].settings ?? []) : [];
  const words = t().report;
  const summary = t().numbers.list(
    runs.map((run) => words.endsAt(run.number, format.loss(run.loss))),
  );
  const legend = runs.map(
    (run, at) =>
      `<li><svg viewBox="0 0 14 8" aria-hidden="true"><path class="line c${at % COLOURS.length}" d="M0 4H14"/></svg>${words.legend(run.number)}</li>`,
  );
  return `${runs.length > 1 ? `<ul class="legend">${legend.join("")}</ul>` : ""}
<svg viewBox="0 0 ${FRAME.width} ${FRAME.height}" role="img" aria-label="${escaped(t().curves.summary(words.loss, summary))}">
${up.ticks.map(({ place, label }) => `<path class="grid" d="M${FRAME.left} ${place}H${right}"/><text x="${FRAME.left - 7}" y="${place + 4}" text-anchor="end">${label}</text>`).join("\n")}
${across.ticks.map(({ place, label }) => `<path class="grid" d="M${place} ${FRAME.top}V${bottom}"/><text x="${place}" y="${bottom + 18}" text-anchor="middle">${label}</text>`).join("\n")}
<text x="${right}" y="${bottom - 6}" text-anchor="end">${words.step}</text>
${changes.map((change) => `<path class="mark" d="M${across.place(change.step)} ${FRAME.top}V${bottom}"><title>${escaped(changeInWords(change))}</title></path>`).join("\n")}
${marks.map(({ d }, at) => `<path class="line c${at % COLOURS.length}" d="${d}"/>`).join("\n")}
</svg>`;
}

/** @param {Run} run */
function table({ steps, losses }) {
  const every = Math.ceil(steps.length / MOST_ROWS) || 1;
  const rows = steps.flatMap((step, at) =>
    (steps.length - 1 - at) % every === 0
      ? [
          `<tr><td class="number">${step}</td><td class="number">${escaped(format.loss(losses[at]))}</td></tr>`,
        ]
      : [],
  );
  return `<table><thead><tr><th class="number">${t().report.table.step}</th><th class="number">${t().report.table.loss}</th></tr></thead><tbody>${rows.join("\n")}</tbody></table>`;
}
