/** The keys that work anywhere on the page, and which commands are open to the user right now. */

import { computed } from "../vendor/preact.js";
import * as actions from "./actions.js";
import * as store from "./store.js";

/** @typedef {"run"|"pause"|"resume"|"step"|"reset"|"stop"} Command */

/** Which commands make sense now. */
export const enabled = computed(() => {
  const { runState, intent, engine, queuedRun } = store;
  const state = runState.value;
  const queued = queuedRun.value !== null;
  const settling = intent.value === "stop" || intent.value === "reset";
  const up = engine.value === "up";
  const open = up && !settling && !queued;
  return {
    run: !store.active.value && !queued && store.source.value.trim() !== "",
    pause: open && state === "running" && intent.value !== "pause",
    resume: open && state === "paused",
    step: open ? state !== "running" : !up && !queued && engine.value === "starting",
    reset: up ? intent.value !== "reset" : false,
    stop: queued || (store.active.value && up && !settling),
  };
});

/** @type {{command: Command, keys: string, aria: string, matches: (e: KeyboardEvent) => boolean}[]} */
export const shortcuts = [
  { command: "run", keys: "Ctrl+Enter", aria: "Control+Enter", matches: (e) => ctrl(e) && e.key === "Enter" },
  { command: "pause", keys: "F8", aria: "F8", matches: (e) => e.key === "F8" },
  { command: "resume", keys: "F8", aria: "F8", matches: (e) => e.key === "F8" },
  { command: "step", keys: "F10", aria: "F10", matches: (e) => e.key === "F10" },
  { command: "stop", keys: "Ctrl+.", aria: "Control+.", matches: (e) => ctrl(e) && !e.shiftKey && e.code === "Period" },
  { command: "reset", keys: "Ctrl+Shift+.", aria: "Control+Shift+.", matches: (e) => ctrl(e) && e.shiftKey && e.code === "Period" },
];

/** @param {KeyboardEvent} event */
const ctrl = (event) => event.ctrlKey || event.metaKey;

/** Listen for as long as the page lives. */
export function listenForShortcuts() {
  window.addEventListener("keydown", (event) => {
    const fitting = shortcuts.filter(({ matches }) => matches(event));
    if (fitting.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat && fitting[0].command !== "step") return;
    // From the keyboard, Run also means "stop this and run what I have changed".
    const restart = fitting[0].command === "run" && store.active.value && store.intent.value === null;
    const open = fitting.find(({ command }) => enabled.value[command]);
    if (restart) actions.run();
    else if (open) actions[open.command]();
  }, { capture: true });
}
