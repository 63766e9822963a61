/**
 * Every text of the page in English, by part of the page; a text with values in it is a function. A
 * translation has the same names and functions: `Messages` is the type of both.
 *
 * What Python prints, and the errors of playgrad itself, are English in every language.
 */

import { count } from "../format.js";

/** "1 step", "2,000 steps". @param {number} number @param {string} one @param {string} [many] */
export const plural = (/** @type {number} */ number, /** @type {string} */ one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export const en = {
  header: {
    example: "Example",
    docs: "Docs",
    useTheme: { dark: "Use the dark theme", light: "Use the light theme" },
    language: "Language",
    languageFailed: (/** @type {string} */ reason) => `The language could not be loaded: ${reason}`,
  },
  panels: {
    training: "Watch", graph: "Graph", runs: "Runs", lab: "Lab", build: "Build",
    label: "Views", parts: "Parts of the page", skip: "Skip",
    skipTo: { build: "Skip to the network", panels: "Skip to what it does" },
  },
  commands: {
    section: "Run",
    group: "Commands",
    run: { label: "Run", about: "Run the code from the top" },
    pause: { label: "Pause", about: "Pause after the current batch" },
    resume: { label: "Resume", about: "Continue training" },
    step: { label: "Step", about: "Train one batch or one epoch, then pause" },
    stop: { label: "Stop", about: "Stop the run; keep curves and weights" },
    reset: { label: "Reset", about: "Clear curves and weights; keep the code" },
    queued: "Queued",
    pending: { pause: "Pausing", stop: "Stopping", reset: "Resetting" },
    stepLength: "Length of a step",
    batch: "batch",
    epoch: "epoch",
  },
  status: {},
  notes: {},
  progress: {},
  devices: {},
  gallery: {},
  examples: {},
  editor: {},
  codeHelp: {},
  bridge: {},
  errors: {},
  output: {},
  prompt: {},
  watch: {},
  curves: {},
  task: {},
  digits: {},
  weights: {},
  pictures: {},
  graph: {},
  runs: {},
  report: {},
  lab: {},
  share: {},
  link: {},
  exporting: {},
  projects: {},
  sessions: {},
  projectFile: {},
  blocks: {},
  layers: {},
  shapes: {},
  data: {},
  dataForms: {},
  dataFiles: {},
  loading: {},
  numbers: {},
};

/** @typedef {typeof en} Messages */
