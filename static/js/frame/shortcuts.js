/** Keyboard shortcuts, and the commands that are available now. */

import { computed } from "../../vendor/preact.js";
import * as actions from "../state/actions.js";
import * as store from "../state/store.js";
import { isWatching } from "../watching/watched.js";

/** @typedef {"run"|"pause"|"resume"|"step"|"reset"|"stop"} Command */

/** What a training that runs elsewhere takes. @type {Record<Command, boolean>} */
const NONE = { run: false, pause: false, resume: false, step: false, reset: false, stop: false };

/** The availability of each command. */
export const enabled = computed(() => {
  if (isWatching) return NONE;
  const { runState, intent, engine, queuedRun } = store;
  const state = runState.value;
  const queued = queuedRun.value !== null;
  const ending = intent.value === "stop" || intent.value === "reset";
  const up = engine.value === "up";
  const ready = up && !ending && !queued;
  const hasProgram = store.source.value.trim() !== "";
  return {
    run: !store.active.value && !queued && hasProgram,
    pause: ready && state === "running" && intent.value !== "pause",
    resume: ready && (state === "paused" || store.resumable.value !== null),
    step:
      (hasProgram || state === "paused") &&
      (ready ? state !== "running" : !up && !queued && engine.value === "starting"),
    reset: up ? intent.value !== "reset" : false,
    stop: queued || (store.active.value && up && !ending),
  };
});

/** @type {{command: Command, keys: string, aria: string, matches: (e: KeyboardEvent) => boolean}[]} */
export const shortcuts = [
  {
    command: "run",
    keys: "Ctrl+Enter",
    aria: "Control+Enter",
    matches: (e) => ctrl(e) && e.key === "Enter",
  },
  { command: "pause", keys: "F8", aria: "F8", matches: (e) => e.key === "F8" },
  { command: "resume", keys: "F8", aria: "F8", matches: (e) => e.key === "F8" },
  { command: "step", keys: "F10", aria: "F10", matches: (e) => e.key === "F10" },
  {
    command: "stop",
    keys: "Ctrl+.",
    aria: "Control+.",
    matches: (e) => ctrl(e) && !e.shiftKey && e.code === "Period",
  },
  {
    command: "reset",
    keys: "Ctrl+Shift+.",
    aria: "Control+Shift+.",
    matches: (e) => ctrl(e) && e.shiftKey && e.code === "Period",
  },
];

/** @param {KeyboardEvent} event */
const ctrl = (event) => event.ctrlKey || event.metaKey;

/** Listen for shortcuts, for the lifetime of the page. */
export function listenForShortcuts() {
  window.addEventListener(
    "keydown",
    (event) => {
      const matching = shortcuts.filter(({ matches }) => matches(event));
      if (matching.length === 0) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.repeat && matching[0].command !== "step") return;
      // From the keyboard, Run also means "stop, then run my changes".
      const restart =
        matching[0].command === "run" && store.active.value && store.intent.value === null;
      const available = matching.find(({ command }) => enabled.value[command]);
      if (restart) actions.run();
      else if (available) actions[available.command]();
    },
    { capture: true },
  );
}
