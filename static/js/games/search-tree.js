import { html, useState } from "../../vendor/preact.js";
import { t } from "../words/locale.js";
import { actionName, signed, stoneName } from "./game-words.js";
import { pointedAt } from "./match.js";

/** @import { Game, Search, TreeNode } from "../../engine/messages.js" */

/**
 * The most visited moves with their replies, three levels deep. A branch that was unfolded stays so by its place among
 * the others, so that nothing moves while the network trains.
 * @param {{game: Game, search: Search, player: number}} props `player`: who is to move
 */
export function SearchTree({ game, search, player }) {
  const [unfolded, setUnfolded] = useState(/** @type {ReadonlySet<string>} */ (new Set(["0"])));
  const words = t().game;
  const rows = placed(search.tree).filter(
    ({ parent }) => parent === "" || isShown(parent, unfolded),
  );
  const most = Math.max(1, ...search.tree.map(({ visits }) => visits));
  function toggle(/** @type {string} */ place) {
    const next = new Set(unfolded);
    if (!next.delete(place)) next.add(place);
    setUnfolded(next);
  }
  return html`
    <table class="play-tree" data-testid="play-tree">
      <caption class="visually-hidden">${words.tree}</caption>
      <thead><tr><th scope="col">${words.move}</th><th scope="col" title=${words.about.policy}>${words.heats.policy}</th>
        <th scope="col" title=${words.about.visits}>${words.heats.visits}</th><th scope="col" title=${words.about.q}>${words.heats.q}</th></tr></thead>
      <tbody onPointerLeave=${() => (pointedAt.value = null)}>
        ${rows.map(({ node, place, hasReplies }) => {
          const { path } = node;
          const mover = (player + path.length - 1) % 2;
          const name = actionName(game, path[path.length - 1]);
          const isOpen = unfolded.has(place);
          return html`<tr key=${place} data-level=${path.length} data-testid="play-tree-row" onPointerEnter=${() => (pointedAt.value = path[0])}>
            <th scope="row">${
              hasReplies
                ? html`<button type="button" class="play-unfold" aria-expanded=${isOpen} aria-label=${words.replies(name)} data-testid="play-unfold" onClick=${() => toggle(place)}><span aria-hidden="true">${isOpen ? "▾" : "▸"}</span></button>`
                : html`<span class="play-unfold"></span>`
            }<span class="play-tree-stone" data-owner=${mover + 1} title=${stoneName(game, mover)}></span>${name}</th>
            <td>${percent(node.prior)}</td>
            <td class="play-visits"><span class="play-visit-bar" style=${{ "--part": `${(100 * node.visits) / most}%` }}></span><span>${node.visits}</span></td>
            <td>${node.visits > 0 ? signed(node.q) : "–"}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  `;
}

const percent = (/** @type {number} */ part) => `${(100 * part).toFixed(0)} %`;

/**
 * The nodes with their places: "0" is the first move, "0.1" the second reply to it.
 * @param {TreeNode[]} tree depth first
 * @returns {{node: TreeNode, place: string, parent: string, hasReplies: boolean}[]}
 */
export function placed(tree) {
  /** @type {number[]} the number of the last node of each level */
  const counts = [];
  return tree.map((node, at) => {
    const level = node.path.length;
    counts.length = Math.min(counts.length, level);
    counts[level - 1] = (counts[level - 1] ?? -1) + 1;
    return {
      node,
      place: counts.slice(0, level).join("."),
      parent: counts.slice(0, level - 1).join("."),
      hasReplies: (tree[at + 1]?.path.length ?? 0) > level,
    };
  });
}

/** Whether a branch and all above it are unfolded. @param {string} place @param {ReadonlySet<string>} unfolded */
function isShown(place, unfolded) {
  const parts = place.split(".");
  return parts.every((_, at) => unfolded.has(parts.slice(0, at + 1).join(".")));
}
