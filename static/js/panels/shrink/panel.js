import { lazy } from "../../components/lazy.js";
import { t } from "../../words/locale.js";
import { register } from "../panels.js";

/** Smaller versions of the trained network, loaded when the tab is first opened. */
const ShrinkPanel = lazy(
  async () => (await import("./shrink-panel.js")).ShrinkPanel,
  () => ({ name: t().panels.shrink, waiting: t().shrink.loading }),
);

register({
  name: "shrink",
  order: 45,
  title: () => t().panels.shrink,
  Panel: ShrinkPanel,
  outline: "M2 2h5.5v1.5H3.5v4H2zm6.5 11h4v-4H14v5.5H8.5zM5.5 5.5h5v5h-5z",
});
