import { html } from "../../vendor/preact.js";
import { argumentOf } from "../blocks/calls.js";
import { fittingMetrics, metricOf, metricsOf, setMetric } from "../blocks/metrics.js";
import { t } from "../words/locale.js";
import { Row } from "./block-fields.js";
import { change, program, shapes } from "./blocks-model.js";
import { Definition, termId, termOf, useTerm } from "./terms.js";

/** @import { Call } from "../blocks/types.js" */

/** What is measured beside the loss. @param {{compile: Call, name: string, id: string}} props `name`: of the model */
export function Metrics({ compile, name: model, id }) {
  const names = metricsOf(compile);
  const label = t().blocks.fields.metrics;
  const explains = useTerm(`${id}-metrics`, label, termOf("metrics"));
  if (names === null) {
    return html`<${Row} label=${label} id=${`${id}-metrics`} term=${termOf("metrics")}><code class="block-source" id=${`${id}-metrics`}
      title=${t().metrics.inCode}>${argumentOf(compile, "metrics")?.text ?? "*"}</code></${Row}>`;
  }
  const chosen = names.map(metricOf);
  const last = program.value.networks.find(({ name }) => name === model)?.items.at(-1);
  const known = fittingMetrics(compile, (last && shapes.value.get(last.id)?.shape?.at(-1)) ?? null);
  const others = chosen.filter((name) => !known.some((each) => each.name === name));
  const all = [
    ...known.map(({ name }) => ({ name, title: t().metrics.names[name] })),
    ...others.map((name) => ({ name, title: name })),
  ];
  return html`<div class="block-field block-metrics" role="group" aria-labelledby=${`${id}-metrics`} aria-describedby=${termId(`${id}-metrics`)} data-testid="metrics" ...${explains.row}>
    <span id=${`${id}-metrics`} ...${explains.label} class="block-label term">${label}</span><${Definition} id=${`${id}-metrics`} text=${termOf("metrics")} />
    ${all.map(
      ({
        name,
        title,
      }) => html`<label key=${name} class="block-metric"><input type="checkbox" checked=${chosen.includes(name)}
      onChange=${(/** @type {any} */ { target }) =>
        change(
          setMetric(program.value, compile, name, target.checked),
          t().metrics[target.checked ? "measured" : "notMeasured"](title),
        )} />${title}</label>`,
    )}
  </div>`;
}
