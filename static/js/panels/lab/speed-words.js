/** The words of the measurement of this machine, which most visits do without, in every language of the page. */

import { language } from "../../words/locale.js";

/** Also what is passed on is in English. */
export const en = {
  about:
    "Trains five small networks and multiplies two matrices on each device that you choose, about 10 seconds each. " +
    "What is measured stays in this page: nothing is sent anywhere.",
  docs: "About GPUs",
  devices: "Measure on",
  gpu: (/** @type {string} */ name, /** @type {boolean} */ isSoftware) =>
    isSoftware ? `GPU: ${name} (software, slow)` : `GPU: ${name}`,
  noGpu: "GPU: none here",
  cpu: (/** @type {string} */ name) => `CPU: ${name}`,
  threads: (/** @type {number} */ threads) => `compiled, SIMD, ${threads} threads`,
  oneThread: "compiled, SIMD",
  plain: "NumPy",
  measure: "Measure",
  again: "Measure again",
  stop: "Stop",
  stopping: "Stopping…",
  copy: "Copy as text",
  copied: "Copied: a table in Markdown, in English.",
  notCopied: "The browser does not allow copying. Save it as JSON instead.",
  save: "Save as JSON",
  whileTraining: "A program is running, which would disturb the measurement.",
  left: "A run has begun, so the measurement was left.",
  waiting: "Python is starting.",
  progress: (
    /** @type {string} */ title,
    /** @type {string} */ device,
    /** @type {string} */ state,
    /** @type {number} */ number,
    /** @type {number} */ total,
  ) => `${number} of ${total}: ${title} on the ${device}, ${state}`,
  done: (/** @type {number} */ total) => `Measured: ${total} rows.`,
  stopped: (/** @type {number} */ done, /** @type {number} */ total) =>
    `Stopped: ${done} of ${total} rows were measured.`,
  caption: "Milliseconds of a training step, and billions of operations a second",
  label: "Table of the measurement",
  here: "Here",
  work: "Network",
  once: "in a row, ms",
  each: "each read, ms",
  gflops: "GFLOP/s",
  states: {
    waiting: "waiting",
    compiling: "compiling",
    "in a row": "steps in a row",
    "each read": "steps that are read",
    done: "done",
    failed: "failed",
  },
  names: /** @type {Record<string, string>} */ ({}),
  batch: (/** @type {string} */ name) => name,
  explained:
    "In a row: many steps, then one read, as fit() trains. Each read: the loss of every step is read. " +
    "A device that computes wrong losses gets an error instead of a time.",
  card: (
    /** @type {string} */ name,
    /** @type {string} */ date,
    /** @type {string} */ runner,
    /** @type {string} */ driver,
  ) => `${name}: measured on ${date} in ${runner}, with driver ${driver}.`,
};

/** @type {typeof en} */
const zhHans = {
  about:
    "在你选择的每个设备上训练五个小网络，并把两个矩阵相乘，每个设备约 10 秒。测得的数只留在这个页面里，不会发送到任何地方。",
  docs: "关于 GPU（英文）",
  devices: "测量设备",
  gpu: (name, isSoftware) => (isSoftware ? `GPU：${name}（软件模拟，慢）` : `GPU：${name}`),
  noGpu: "GPU：这里没有",
  cpu: (name) => `CPU：${name}`,
  threads: (threads) => `编译，SIMD，${threads} 个线程`,
  oneThread: "编译，SIMD",
  plain: "NumPy",
  measure: "测量",
  again: "重新测量",
  stop: "停止",
  stopping: "正在停止……",
  copy: "复制为文本",
  copied: "已复制：一张英文的 Markdown 表格。",
  notCopied: "浏览器不允许复制。请改存为 JSON。",
  save: "存为 JSON",
  whileTraining: "有程序正在运行，会干扰测量。",
  left: "有程序开始运行，测量已中止。",
  waiting: "Python 正在启动。",
  progress: (title, device, state, number, total) =>
    `第 ${number} 项，共 ${total} 项：${device} 上的 ${title}，${state}`,
  done: (total) => `测量完成：${total} 行。`,
  stopped: (done, total) => `已停止：${total} 行中测了 ${done} 行。`,
  caption: "一个训练步的毫秒数，以及每秒十亿次运算数",
  label: "测量结果表",
  here: "本机",
  work: "网络",
  once: "连续，毫秒",
  each: "逐步读取，毫秒",
  gflops: "GFLOP/s",
  states: {
    waiting: "等待",
    compiling: "编译中",
    "in a row": "连续训练",
    "each read": "逐步读取",
    done: "完成",
    failed: "失败",
  },
  names: {
    tiny: "极小网络",
    mlp: "多层感知机",
    wide: "宽网络",
    lenet: "LeNet",
    convnet: "卷积网络",
    product: "矩阵乘积",
  },
  batch: (name) => name.replace(", batch ", "，批量 "),
  explained:
    "连续：训练许多步后只读取一次，fit() 就是这样训练的。逐步读取：每一步的损失都读取。算出错误损失的设备得到错误说明，而不是时间。",
  card: (name, date, runner, driver) =>
    `${name}：${date} 在 ${runner} 中测得，驱动程序 ${driver}。`,
};

const WORDS = { en, "zh-Hans": zhHans };

/** The words in the language of the page; a component that reads one is drawn again when the language changes. */
export const words = () => WORDS[language.value];

/** The name of a row in the language of the page. @param {string} title Python's: "W1 mlp, batch 64" */
export function named(title) {
  const { names, batch } = words();
  return batch(
    title.replace(/\b[a-z]{3,}\b/, (name) => (Object.hasOwn(names, name) ? names[name] : name)),
  );
}
