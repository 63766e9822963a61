import { html, useEffect, useState } from "../../../vendor/preact.js";
import { lazy } from "../../components/lazy.js";
import { computedNodes } from "../../engine/computed-nodes.js";
import { nodeKernel } from "../../engine/questions.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";
import { KernelLimit } from "./kernel-limit.js";
import { useAnswer } from "./node-answer.js";

const Bench = lazy(
  async () => (await import("./kernel-bench.js")).KernelBench,
  () => ({
    name: t().bench.title,
    waiting: t().nodeTabs.loading,
  }),
);

/** The most names of operations that are listed. */
const MOST_NAMES = 24;

/** The kernel that computes a node. @param {{node: import("../../../engine/messages.js").GraphNode}} props */
export function NodeKernel({ node }) {
  const words = t().nodeTabs;
  const { answer, waiting } = useAnswer(
    () => nodeKernel(node.name),
    [node.name, store.liveModel.value],
  );
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [node.name]);
  if (!answer?.kernel) return waiting;
  const { device, within, fused, commands, total } = answer.kernel;
  const isCompiled = computedNodes.value?.compiled.has(node.name);
  const others = fused.filter((name) => name !== within);
  return html`
    ${commands.length === 0 && html`<p>${(isCompiled ? words.compiled : words.numpy)(node.op, device)}</p>`}
    ${within && html`<p>${words.within} <${NodeLink} name=${within} /></p>`}
    ${others.length > 0 && html`<p>${words.together} <${Names} names=${others} /></p>`}
    ${
      commands.length > 0 &&
      html`<button type="button" class="button small" data-testid="open-kernel-bench" aria-expanded=${isOpen}
      title=${t().bench.openAbout} onClick=${() => setOpen(!isOpen)}>${isOpen ? t().bench.close : t().bench.open}</button>`
    }
    ${!isOpen && commands.length > 0 && html`<${KernelLimit} name=${node.name} />`}
    ${isOpen && html`<${Bench} name=${node.name} />`}
    ${
      !isOpen &&
      commands.map(
        ({ family, workgroups, nodes, wgsl, length }, at) => html`
      <section class="node-dispatch" key=${at}>
        <dl>
          <div><dt>${words.family}</dt><dd><code>${family}</code></dd></div>
          <div><dt>${words.workgroups}</dt><dd data-testid="node-workgroups">${workgroups.join(" × ")}</dd></div>
        </dl>
        ${nodes.length > 1 && html`<p>${words.merged(nodes.length)} <${Names} names=${nodes} /></p>`}
        <pre class="node-wgsl" tabindex="0" aria-label=${words.source} data-testid="node-wgsl"><code>${wgsl}</code></pre>
        ${wgsl.length < length && html`<p class="hint">${words.beginning(wgsl.length, length)}</p>`}
      </section>
    `,
      )
    }
    ${commands.length > 0 && html`<p class="hint">${words.dispatches(total)}</p>`}
  `;
}

/** @param {{names: string[]}} props */
function Names({ names }) {
  return html`${names.slice(0, MOST_NAMES).map((name, at) => html`${at > 0 && ", "}<${NodeLink} key=${name} name=${name} />`)}${
    names.length > MOST_NAMES ? " …" : ""
  }`;
}

/** A node that can be selected, if it is drawn. @param {{name: string}} props */
function NodeLink({ name }) {
  const isDrawn = store.graph.value?.nodes.some((node) => node.name === name);
  if (!isDrawn) return html`<code>${name}</code>`;
  return html`<button type="button" class="link" onClick=${() => (store.selectedNode.value = name)}><code>${name}</code></button>`;
}
