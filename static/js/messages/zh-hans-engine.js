/** What the engine's workers report, in Simplified Chinese; they have it in English. */

/** Why a file does not arrive, by the code of the sentence. @type {Record<string, (values: Record<string, string | number>) => string>} */
export const ARRIVALS = {
  cut: ({ file, arrived, total }) =>
    `${file} 收到时已损坏：${total} 字节中只收到 ${arrived} 字节。`,
  damaged: ({ file }) => `${file} 收到时已损坏：校验和不正确。`,
  large: ({ file, most }) =>
    `${file} 超过 ${most} 字节，这是页面能加载的最大文件。请使用其中一部分。`,
  silent: ({ file, seconds }) => `${file}：${seconds} 秒内没有收到任何数据。`,
  refused: ({ file, answer }) => `${file}：服务器返回“${answer}”。`,
  offline: ({ file }) => `${file}：这台计算机处于离线状态。`,
  unreachable: ({ file }) => `${file}：无法连接服务器，或连接已中断。`,
};

/** Sentences and parts of sentences without values. @type {Record<string, string>} */
export const ENGINE = {
  "this browser has no WebGPU, or it is disabled": "此浏览器没有 WebGPU，或 WebGPU 已被禁用",
  "this browser has WebGPU but offers no adapter. If it had one before, its GPU process may have crashed too often: close all windows of the browser, and open it again":
    "此浏览器支持 WebGPU，但没有提供适配器。如果以前有，可能是 GPU 进程崩溃次数过多：请关闭浏览器的所有窗口，再重新打开",
  "The program calls itself too deeply: the browser's stack is full. Use a loop, or fewer nested calls.":
    "程序的自我调用过深：浏览器的栈已满。请改用循环，或减少嵌套调用。",
  "its worker did not start in time.": "它的工作线程没有及时启动。",
  "its worker could not be loaded.": "无法加载它的工作线程。",
  "its worker has ended.": "它的工作线程已结束。",
  "its worker has ended": "它的工作线程已结束",
  "it did not answer in time.": "它没有及时应答。",
  "its worker failed: it could not be loaded": "它的工作线程出错：无法加载",
  "its worker did not start: its scripts have not arrived for 12 s":
    "它的工作线程没有启动：12 秒内没有收到它的脚本",
};
