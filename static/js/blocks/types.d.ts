/** The structure that Blocks reads from a program: plain data, with positions in its text. */

import type { Field } from "./catalogue.js";

/** The library's record of a layer. */
export interface LayerRecord {
  kind: string;
  /** Of the menu; null for a layer that is not in it. */
  group: string | null;
  /** Arguments of a new layer. */
  given: string;
  fields: readonly Field[];
  /** The name of its rule of shapes, and the rule's arguments. */
  rule: readonly (string | number)[] | null;
}

/** The library's record of a data set. */
export interface DataSetRecord {
  /** Of label 0 first; none if classes have no names. */
  classNames: string[];
  /** For a data set that Blocks offers. */
  samples: null | {
    sort: "points" | "images";
    /** Of a sample. */
    shape: number[];
    dtype: string;
    classes: number;
    /** Its name in English. */
    title: string;
    /** An expression for the words by which comments name it. */
    names: string;
    /** In a title. */
    noun: string;
    /** A sentence, in which it is named. */
    about: string;
    /** An expression for what comments say of it alone; "" for nothing. */
    traits: string;
    suited: Settings;
  };
}

/** Settings that suit a data set, as texts of a program. */
export interface Settings {
  optimizer: string;
  learning_rate: string;
  batch_size: string;
  epochs: string;
}

/** Positions of a piece of the program's text. */
export interface Range {
  from: number;
  to: number;
}

/** A change to the program's text, as the editor takes it. */
export interface Change extends Range {
  insert: string;
}

/** The value of an expression of literals and constants. */
export type Value =
  | { type: "int" | "float"; value: number }
  | { type: "string"; value: string }
  | { type: "bool"; value: boolean }
  | { type: "none"; value: null }
  | { type: "tuple" | "list"; value: Value[] };

/** An argument of a call, by its position or by its name. */
export interface Argument extends Range {
  /** The name in the text; null for an argument by position. */
  keyword: string | null;
  /** The parameter that it sets; null if that is not known. */
  parameter: string | null;
  /** Null if the program computes it. */
  value: Value | null;
  /** Whether the text is one literal, which can be replaced. */
  literal: boolean;
  /** The text of the value. */
  text: string;
  /** Where the value begins. */
  at: number;
  /** A call as the value, such as an optimizer. */
  call: Call | null;
}

/** A call of something from the library. */
export interface Call extends Range {
  /** The full name, such as "nn.Dense" or "data.mnist"; "" if it is not the library's. */
  name: string;
  /** The last part of the name, such as "Dense". */
  kind: string;
  /** The last part of the name in the text. */
  kindAt: Range;
  arguments: Argument[];
  /** Between the parentheses. */
  inside: Range;
  /** Everything between commas there. */
  elements: Range[];
  /** Whether it has starred arguments, so that parameters after them are not known. */
  starred: boolean;
}

/** The shape of one sample, without the batch; null in it for any size. */
export type Shape = (number | null)[];

/** A set of samples: data, or the input of a network. */
export interface Samples {
  shape: Shape;
  dtype: string;
  /** Of targets that are class numbers, how many classes there are; 0 for targets that are numbers to predict. */
  classes?: number;
}

/** The samples and targets of a data set of the visitor, by its name; null if there is none. */
export type Brought = (name: string) => { samples: Samples; targets: Samples } | null;

/** A remedy for a layer that does not fit: a layer before it, or another value of a parameter. */
export type LayerMend =
  | { before: [kind: string, given: string] }
  | { set: [parameter: string, value: string] };

/** A change that mends a problem, with the words of its button. */
export interface Mend {
  words: string;
  changes: Change[];
}

/** A problem of a card. */
export interface Problem {
  /** The card: "block-0-2", "training-0" or "data-0". */
  card: string;
  /** The parameter that is wrong, if it is one with a field. */
  parameter?: string;
  words: string;
  mends: Mend[];
  /** Whether the last run ended with it. */
  ran?: boolean;
}

/** A way to change the text of a layer. */
export type Place =
  | { type: "list"; list: Range; index: number; elements: Range[] }
  | { type: "add"; statement: Range; line: boolean }
  | { type: "call"; call: Range; argument: Range | null; statement: Range; target: string; line: boolean }
  | { type: "fixed" };

/** A card: a layer, an input, or code that Blocks cannot read. */
export interface Item extends Range {
  type: "layer" | "input" | "join" | "code";
  /** Its number in the program; the card keeps it as long as layers before it do not change. */
  id: number;
  /** Null for code. */
  call: Call | null;
  /** The text of code. */
  text: string;
  /** The items that it takes; null where that is not known. */
  inputs: (number | null)[];
  place: Place;
}

export interface Network {
  type: "sequential" | "functional";
  /** The variable that holds it, or the function that returns it. */
  name: string;
  /** The function it is in; "" for the module. */
  scope: string;
  items: Item[];
  /** The samples that `fit` trains it with; null if that is not known. */
  input: Samples | null;
  /** The targets that `fit` takes; null if they are not known. */
  targets: Samples | null;
  range: Range;
  /** Where the first layer of an empty network goes. */
  list: Range | null;
}

/** `compile` and `fit` of one model. */
export interface Training {
  /** The variable that holds the model. */
  name: string;
  scope: string;
  compile: Call | null;
  /** Whether there are further calls of compile: which one holds when fit begins is not known. */
  isRecompiled: boolean;
  fit: Call | null;
  /** Null if it is a name such as "adam", or not known. */
  optimizer: Call | null;
  /** A schedule of the learning rate. */
  schedule: Call | null;
}

/** The names by which the program calls the library. */
export interface Names {
  /** From a name of the program to the full name: "pg" to "", "nn" to "nn", "Dense" to "nn.Dense". */
  imported: Map<string, string>;
  /** Where the last import of the beginning ends; 0 without imports. */
  importsEnd: number;
}

export interface Program {
  text: string;
  names: Names;
  data: (Call & { target: string })[];
  networks: Network[];
  trainings: Training[];
  /** `pg.reset_default_graph(seed)` of the module. */
  seed: Call | null;
  /** Whether the syntax has an error, so that cards may be missing. */
  broken: boolean;
}
