/** The trainings of a program: `compile`, `fit`, optimizers and learning rates. */

import { argumentOf, readCall } from "./calls.js";

/** @import { Source } from "./calls.js" */
/** @import { Argument, Call, Network, Training } from "./types.js" */

/** @type {Training} */
const NONE = {
  name: "",
  scope: "",
  compile: null,
  isRecompiled: false,
  fit: null,
  optimizer: null,
  schedule: null,
};

export class Trainings {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    /** @type {{training: Training, network: Network | null}[]} */
    this.list = [];
    /** Optimizers and schedules, in their order. @type {Call[]} */
    this.calls = [];
  }

  /** @param {Call} call of something in `pg.optim` */
  note(call) {
    this.calls.push(call);
  }

  /** @param {Call} call of compile or fit @param {string} name the model @param {string} scope @param {Network | null} network */
  add(call, name, scope, network) {
    let entry = this.list.find(({ training, network: other }) =>
      network ? other === network : !other && training.name === name && training.scope === scope,
    );
    if (!entry) {
      // Many objects have a method "fit"; a model has been compiled before.
      if (call.kind === "fit" && !network) return;
      const training = { ...NONE, name, scope };
      entry = { training, network };
      this.list.push(entry);
    }
    if (call.kind === "fit") entry.training.fit ??= call;
    else if (entry.training.compile) entry.training.isRecompiled = true;
    else {
      entry.training.compile = call;
      entry.training.optimizer = this.callOf(argumentOf(call, "optimizer"));
      entry.training.schedule = this.callOf(argumentOf(entry.training.optimizer, "learning_rate"));
    }
  }

  /** The call that an argument is, or that its name stands for. @param {Argument | null} argument */
  callOf(argument) {
    if (!argument) return null;
    const node = this.source.expression(argument.text);
    const call = argument.call ?? (node && readCall(node, this.source));
    return call?.name.startsWith("optim.") ? call : null;
  }

  /** @returns {Training[]} */
  found() {
    const trainings = this.list.map(({ training }) => training);
    const used = new Set(
      trainings.flatMap(({ optimizer, schedule }) => [optimizer?.from, schedule?.from]),
    );
    const loose = this.calls.filter(
      ({ kind, from }) => !used.has(from) && !kind.includes("Decay") && kind !== "OneCycle",
    );
    for (const optimizer of loose) {
      const schedule = this.callOf(argumentOf(optimizer, "learning_rate"));
      trainings.push({ ...NONE, optimizer, schedule });
    }
    return trainings;
  }
}
