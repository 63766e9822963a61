/** The words of the page, in the language of the browser. */

import { MOST_PIXELS } from "../js/pictures/image-size.js";

const ENGLISH = {
  about: "A trained network. It runs in this file, and nothing you enter leaves it.",
  madeWith: (/** @type {string} */ parameters) => `${parameters} parameters · made with playgrad`,
  backends: {
    gpu: "WebGPU",
    webassembly: "WebAssembly",
    "gpu-lost": "WebAssembly: the GPU was lost",
  },
  input: "Input",
  output: "Output",
  draw: "Draw here",
  board: "Drawing board. Arrow keys move the pen, space puts it down or lifts it, Delete clears.",
  clear: "Clear",
  openPicture: "Open a picture…",
  unreadable: (/** @type {string} */ name) =>
    `The browser cannot read ${name}. The file may be damaged.`,
  otherFormat: (/** @type {string} */ name) =>
    `${name} is not a PNG, JPEG, GIF, WebP or BMP picture. Convert it to one of these formats.`,
  tooLarge: (/** @type {string} */ name) =>
    `${name} has more than ${MOST_PIXELS / 1e6} million pixels. Make it smaller.`,
  samples: "Samples from the data",
  sample: (/** @type {number} */ number) => `Sample ${number}`,
  column: (/** @type {number} */ number) => `Input ${number}`,
  numbers: (/** @type {string} */ shape, /** @type {number} */ count) =>
    `${count} numbers, shape ${shape}`,
  notNumbers: (/** @type {number} */ found, /** @type {number} */ count) =>
    `This needs ${count} numbers; there are ${found}.`,
  notNumber: (/** @type {string} */ word) => `“${word}” is not a number.`,
  otherKind: (/** @type {number} */ value, /** @type {string} */ dtype) =>
    `The network takes numbers of the kind ${dtype}, and ${value} is none.`,
  prompt: (/** @type {number} */ least) =>
    least > 1 ? `Text to continue, at least ${least} tokens` : "Text to continue",
  unknownTokens: (/** @type {string} */ tokens) => `The network does not know ${tokens}.`,
  tooShort: (/** @type {number} */ least) => `It needs at least ${least} tokens.`,
  temperature: "Temperature",
  write: "Write",
  pressWrite: "Press Write, and the network continues the text on the left.",
  stop: "Stop",
  next: "Expected next",
  verdict: (/** @type {string} */ label, /** @type {string} */ chance) => `${label} (${chance})`,
  largest: (/** @type {string} */ label) => `${label} has the highest score`,
  classNumber: (/** @type {number} */ number) => `Class ${number}`,
  outputNumber: (/** @type {number} */ number) => `Output ${number}`,
  waiting: "Enter something on the left.",
  failed: (/** @type {string} */ message) => `The network could not answer: ${message}`,
  outside: (/** @type {string} */ operation) =>
    `an index that '${operation}' looks up is out of bounds.`,
  oldBrowser: "This browser has no WebAssembly SIMD. Use one from 2023 or later.",
  damaged: (/** @type {string} */ message) => `This file is damaged: ${message}`,
  picture: "The picture that the network gives",
  more: (/** @type {number} */ count) => `and ${count} more`,
};

/** @type {typeof ENGLISH} */
const CHINESE = {
  about: "一个训练好的网络。它就在这个文件里运行，你输入的内容不会离开这里。",
  madeWith: (parameters) => `${parameters} 个参数 · 由 playgrad 制作`,
  backends: { gpu: "WebGPU", webassembly: "WebAssembly", "gpu-lost": "WebAssembly：GPU 已丢失" },
  input: "输入",
  output: "输出",
  draw: "在这里画",
  board: "画板。方向键移动画笔，空格键落笔或抬笔，Delete 键清空。",
  clear: "清空",
  openPicture: "打开图片…",
  unreadable: (name) => `浏览器无法读取 ${name}，文件可能已损坏。`,
  otherFormat: (name) => `${name} 不是 PNG、JPEG、GIF、WebP 或 BMP 图片。请先转换成其中一种格式。`,
  tooLarge: (name) => `${name} 超过 ${MOST_PIXELS / 1e4} 万像素。请先缩小图片。`,
  samples: "数据中的样本",
  sample: (number) => `样本 ${number}`,
  column: (number) => `输入 ${number}`,
  numbers: (shape, count) => `${count} 个数，形状 ${shape}`,
  notNumbers: (found, count) => `需要 ${count} 个数，现在有 ${found} 个。`,
  notNumber: (word) => `“${word}”不是数字。`,
  otherKind: (value, dtype) => `网络需要 ${dtype} 类型的数，${value} 不是。`,
  prompt: (least) => (least > 1 ? `要续写的文字，至少 ${least} 个词元` : "要续写的文字"),
  unknownTokens: (tokens) => `网络不认识 ${tokens}。`,
  tooShort: (least) => `至少需要 ${least} 个词元。`,
  temperature: "温度",
  write: "续写",
  pressWrite: "按“续写”，网络会接着左侧的文字写下去。",
  stop: "停止",
  next: "预计的下一个",
  verdict: (label, chance) => `${label}（${chance}）`,
  largest: (label) => `${label} 得分最高`,
  classNumber: (number) => `类别 ${number}`,
  outputNumber: (number) => `输出 ${number}`,
  waiting: "请在左侧输入。",
  failed: (message) => `网络无法作答：${message}`,
  outside: (operation) => `“${operation}”查找的下标超出范围。`,
  oldBrowser: "此浏览器没有 WebAssembly SIMD。请使用 2023 年以后的浏览器。",
  damaged: (message) => `文件已损坏：${message}`,
  picture: "网络给出的图片",
  more: (count) => `还有 ${count} 个`,
};

export const isChinese = navigator.language.toLowerCase().startsWith("zh");
export const words = isChinese ? CHINESE : ENGLISH;

/** @param {number} chance from 0 to 1 */
export const percent = (chance) => `${(100 * chance).toFixed(1)}%`;

/** A number as a person reads it: four digits, and all of those before the point. @param {number} value */
export const numberText = (value) =>
  Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(4)));

/**
 * The shortest text of a number that stands for the same value.
 * @param {number} value
 * @param {(other: number) => boolean} isSame
 */
export function exactText(value, isSame) {
  if (isSame(0)) return "0";
  for (let digits = 1; digits <= 17; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (isSame(rounded)) return String(rounded);
  }
  return String(value);
}

/** A float32 as it was written. @param {number} value */
export const float32Text = (value) =>
  exactText(value, (other) => Math.fround(other) === Math.fround(value));
