import { html } from "../../../vendor/preact.js";
import { count, kernelTime, tick } from "../../words/format.js";
import { t } from "../../words/locale.js";

/** @import { KernelTimes } from "../../../engine/messages.js" */

/** The times of a kernel beside the physical limit. @param {{times: KernelTimes, isChanged: boolean}} props */
export function KernelTable({
  times: { before, after, limit, moved, operations, runs },
  isChanged,
}) {
  const words = t().bench;
  const rows = [
    { name: words.compiled, seconds: before },
    ...(isChanged ? [{ name: words.edited, seconds: after }] : []),
    { name: words.limit, seconds: limit },
  ];
  const longest = Math.max(...rows.map(({ seconds }) => seconds));
  return html`
    <table class="kernel-times" data-testid="kernel-times">
      ${isChanged && html`<caption>${words.ratio(tick(after / before))}</caption>`}
      <tbody>${rows.map(
        ({ name, seconds }) => html`<tr key=${name}>
        <th scope="row">${name}</th>
        <td><meter min="0" max=${longest} value=${seconds} aria-hidden="true"></meter></td>
        <td class="kernel-seconds">${kernelTime(seconds)}</td>
        <td class="kernel-share">${seconds === limit ? "" : words.share(tick((100 * limit) / seconds))}</td>
      </tr>`,
      )}</tbody>
    </table>
    <p class="hint">${words.how(runs, count(moved), count(operations))}</p>
  `;
}
