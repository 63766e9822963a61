import { html } from "../../../vendor/preact.js";
import { isPhone } from "../../frame/layout.js";
import { GamePicture } from "../../games/game-picture.js";
import { playsItself } from "../../games/programs.js";
import { t } from "../../words/locale.js";
import { register } from "../panels.js";
import { ShrunkBadge } from "../shrink/shrunk-badge.js";
import { hidden } from "../../sharing/hidden.js";
import { isWatching } from "../../watching/watched.js";
import { BoardPicture } from "./board-picture.js";
import { CurvesPanel } from "./curves-panel.js";
import { Gallery, isChoosing } from "./gallery.js";
import { LazyDoctor } from "./lazy-doctor.js";
import { shownProgram } from "./shown-program.js";
import { TaskPanel } from "./task-panel.js";
import { isOfTicTacToe } from "./tic-tac-toe.js";
import { WeightsPanel } from "./weights-panel.js";

/**
 * What the visitor came for: the ways to begin, and from the choice of one, what the network does, in one place before,
 * while and after it trains; the curves are below it.
 */
function WatchPanel() {
  if (isWatching) return html`<${CurvesPanel} />`;
  if (isChoosing() && !hidden.value.has("gallery")) return html`<${Gallery} />`;
  return html`
    <${ShrunkBadge} />
    <${TaskPanel} />
    <${CurvesPanel} />
    <${WeightsPanel} />
    ${isPhone.value && html`<${LazyDoctor} />`}
  `;
}

register({
  name: "training",
  order: 10,
  title: () => t().panels.training,
  Panel: WatchPanel,
  isFixed: true,
  inBar: true,
  pictures: [
    {
      name: "game",
      title: () => t().game.title,
      isThere: () => playsItself(shownProgram()),
      Picture: GamePicture,
      comesFirst: true,
    },
    {
      name: "board",
      title: () => t().board.title,
      isThere: () => isOfTicTacToe(shownProgram()) && !playsItself(shownProgram()),
      Picture: BoardPicture,
      comesFirst: true,
    },
  ],
  outline: "M2 2h1.5v10.5H14V14H2zm3 7.6 2.6-3.1 2 1.7 2.9-4 1.2.9-3.8 5.2-2.1-1.8-1.7 2z",
});
