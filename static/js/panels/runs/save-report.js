/** Saves runs as an HTML file that needs nothing else. */

import { offer } from "../../files/download.js";
import { t } from "../../words/locale.js";
import * as store from "../../state/store.js";

/** @param {import("./runs.js").Run[]} runs */
export async function saveReport(runs) {
  try {
    const { report } = await import("./report.js");
    const text = report(runs, store.runs.value, store.versions.value);
    offer(
      runs.length > 1 ? "report-of-runs.html" : `report-run-${runs[0].number}.html`,
      new Blob([text], { type: "text/html" }),
    );
  } catch (failure) {
    store.note(t().report.failed(/** @type {Error} */ (failure).message));
  }
}
