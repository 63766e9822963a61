import { html, render } from "../../../vendor/preact.js";
import { ArrowHeads, WholeDrawing, isFound, lightFor } from "./graph-drawing.js";
import { Legend } from "./graph-legend.js";

/** Around the drawing: titles of scopes and thick outlines reach beyond its boxes. */
const MARGIN = 14;
const nothing = () => {};

/**
 * All of a graph and the legend of its colours, at full size, to be saved as a picture. On the page, what is out of sight
 * may be cut off or not drawn at all.
 * @param {{drawing: import("./graph-view.js").Drawing, devices: string[], selected: string | null, marked: ReadonlySet<string>,
 *          lit: ReadonlyMap<string, import("./step-operations.js").Light>, colourOf: import("./graph-items.js").ColourOf}} props
 * @returns {{element: Element, remove: () => void}} `remove`: to be called before the browser paints
 */
export function graphSheet({ drawing, devices, selected, marked, lit, colourOf }) {
  const place = document.createElement("div");
  document.body.append(place);
  const width = drawing.layout.width + 2 * MARGIN;
  const height = drawing.layout.height + 2 * MARGIN;
  render(
    html`
    <div class="graph-sheet">
      <svg width=${width} height=${height} viewBox=${`${-MARGIN} ${-MARGIN} ${width} ${height}`}>
        <${ArrowHeads} />
        <${WholeDrawing} drawing=${drawing} current="" near=${selected ?? ""} colourOf=${colourOf}
          isMarked=${(/** @type {import("./graph-model.js").Item} */ item) => isFound(item, marked)}
          light=${(/** @type {import("./graph-model.js").Item} */ item) => lightFor(item, lit)}
          onToggle=${nothing} onUse=${nothing} onFocus=${nothing} />
      </svg>
      <${Legend} devices=${devices} />
    </div>
  `,
    place,
  );
  const element = /** @type {Element} */ (place.firstElementChild);
  return {
    element,
    remove() {
      render(null, place);
      place.remove();
    },
  };
}
