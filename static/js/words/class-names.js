/** The names of the classes that a network tells apart. */

import { t } from "./locale.js";
import { CLASSES, loadedGraphs, loadedNames, namedSet } from "../own-data/data-names.js";
import { entryOf, graphOf } from "../own-data/user-data.js";
import * as store from "../state/store.js";

/** The names of the classes, if the program that ran loads one data set or graph that has some. @returns {string[]} */
export function classNames() {
  const set = namedSet(store.executed.value.source);
  if (set) return CLASSES[set];
  const graphs = loadedGraphs(store.executed.value.source).map(graphOf);
  const [entry, ...others] = [...loadedEntries(), ...graphs.filter((each) => each !== undefined)];
  return entry && others.length === 0 ? entry.about.classes : [];
}

/** The names of the features of a table, if the program that ran loads one of the visitor's. @returns {string[]} */
export function columnNames() {
  const [entry, ...others] = loadedEntries();
  return entry && others.length === 0 ? entry.about.columns : [];
}

const loadedEntries = () =>
  loadedNames(store.executed.value.source)
    .map(entryOf)
    .filter((each) => each !== undefined);

/** A class in words. @param {number} label @param {string[]} names as far as known */
export const nameOfClass = (label, names) => names[label] ?? t().task.classNumber(label);
