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

/** Why a move breaks the rules of a game, as the end of a sentence. @type {Record<string, string>} */
export const GAME_RULES = {
  "the game has ended": "这一局已经结束",
  "the point is taken": "这个点上已经有子",
  "the column is full": "这一列已经满了",
  "the stone would have no liberty (suicide)": "这枚棋子会没有气（自杀）",
  "it would bring back an earlier position (superko)": "它会使先前的局面重现（全局同形）",
  "there is a point to play at": "还有可以落子的点",
  "it encloses no stone of the other player": "它没有夹住对方的棋子",
};

/** What kinds of errors mean, by their names in Python and in the page. @type {Record<string, string>} */
export const ERRORS = {
  ShapeError: "形状不符",
  DTypeError: "数据类型不符",
  GraphError: "计算图有误",
  MembersDifferError: "各进程不一致",
  FeedError: "输入有误",
  DataError: "数据无法使用",
  ReadError: "文件无法读取",
  NonFiniteError: "损失不是有限的数",
  UnsupportedOpError: "设备不支持此运算",
  KernelError: "内核有误",
  DeviceError: "设备有误",
  DeviceLostError: "设备已丢失",
  DeviceTimeoutError: "设备没有应答",
  GameError: "棋局有误",
  OutOfMemoryError: "内存不足",
  CheckpointError: "权重文件有误",
  SequenceLengthError: "序列长度未定",
  ExportError: "无法导出",
  EngineError: "Python 出错",
  LoadError: "无法加载",
  SyntaxError: "语法错误",
  IndentationError: "缩进错误",
  NameError: "名称未定义",
  UnboundLocalError: "变量尚未赋值",
  TypeError: "类型错误",
  ValueError: "值不合适",
  AttributeError: "没有此属性",
  IndexError: "下标超出范围",
  KeyError: "没有此键",
  ZeroDivisionError: "除以零",
  ImportError: "无法导入",
  ModuleNotFoundError: "没有此模块",
  MemoryError: "内存不足",
  RecursionError: "递归过深",
  FileNotFoundError: "没有此文件",
  AssertionError: "断言不成立",
  NotImplementedError: "尚未实现",
  RuntimeError: "运行时错误",
};

/**
 * Why two tables are no graph, by the code of the error.
 * @type {Record<string, (values: Record<string, string | number>) => string>}
 */
export const GRAPH_FILES = {
  "table-not-text": ({ file }) => `${file} 不是文本表格。请先把它存为 CSV。`,
  "table-empty": ({ file }) => `${file} 是空的。`,
  "table-no-rows": ({ file }) => `${file} 只有表头，没有数据行。`,
  "table-open-quote": ({ file, line }) => `${file} 第 ${line} 行：有一个引号没有闭合。`,
  "table-long-cell": ({ file, line, most }) =>
    `${file} 第 ${line} 行：有一个单元格超过 ${most} 个字符。是否有引号没有闭合？`,
  "graph-large-file": ({ file, most }) => `${file} 超过 ${most} MiB。请使用较小的图。`,
  "graph-no-header": ({ file, line }) => `${file} 第 ${line} 行：没有表头。请在这一行写上列名。`,
  "graph-ragged": ({ file, line, width }) =>
    `${file} 第 ${line} 行：这一行不像其他行那样有 ${width} 个单元格。`,
  "graph-many-columns": ({ file, columns, most }) => `${file}：有 ${columns} 列，最多 ${most} 列。`,
  "graph-no-column": ({ file, column }) => `${file}：没有名为“${column}”的列。`,
  "graph-unnamed": ({ file, line }) => `${file} 第 ${line} 行：节点没有名称。`,
  "graph-long-name": ({ file, line, most }) =>
    `${file} 第 ${line} 行：节点名称超过 ${most} 个字符。`,
  "graph-twice": ({ file, line, name, first }) =>
    `${file} 第 ${line} 行：节点“${name}”在第 ${first} 行已经出现过。`,
  "graph-label-is-name": ({ file, column }) => `${file}：“${column}”列是节点名称，不能同时是类别。`,
  "graph-no-labels": ({ file, column }) => `${file}：“${column}”列是空的。`,
  "graph-no-class": ({ file }) =>
    `${file}：没有说明节点类别的列。请选择一列，或添加一列，写上部分节点的类别。`,
  "graph-one-class": ({ file, column, only }) =>
    `${file}：“${column}”列只有一个类别“${only}”，没有可区分的内容。`,
  "graph-many-classes": ({ file, column, classes, most }) =>
    `${file}：“${column}”列有 ${classes} 个类别，最多 ${most} 个。`,
  "graph-not-number": ({ file, line, column, cell }) =>
    `${file} 第 ${line} 行：“${column}”列的“${cell}”不是数。请不使用这一列，或写成数或少数几个类别。`,
  "graph-large-number": ({ file, line, column, cell }) =>
    `${file} 第 ${line} 行：“${column}”列的“${cell}”对 float32 来说太大。`,
  "graph-empty-cell": ({ file, line, column }) =>
    `${file} 第 ${line} 行：“${column}”列的单元格是空的。请填上它，或不使用这一列。`,
  "graph-many-nodes": ({ file, nodes, most }) =>
    `${file}：没有特征列，而 ${nodes} 个节点太多，不能各作一个特征。请添加特征列，或最多使用 ${most} 个节点。`,
  "graph-many-features": ({ file, features, rows }) =>
    `${file}：${rows} 行、每行 ${features} 个特征太多了。`,
  "graph-same-ends": ({ file, column }) => `${file}：起点和终点都是“${column}”列。`,
  "graph-unknown-node": ({ file, line, name, nodes }) =>
    `${file} 第 ${line} 行：${nodes} 中没有节点“${name}”。`,
};
