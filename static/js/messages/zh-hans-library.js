/**
 * Texts of playgrad itself that the page shows as its own, in Simplified Chinese: the choices of the Lab,
 * and the sentences of the bridge. Python has them in English, which is where they are looked up from.
 */

/** @type {Record<string, string>} */
export const LAB = {
  "One device": "单个设备",
  "Trains on one device, whatever the program says. Run it first: the others are compared with it.":
    "不使用策略，无论程序如何指定。请先运行它：其他策略都与它比较。",
  "As the program says": "由程序决定",
  "Each model trains with the strategy that the program gives it, for as long as it says. Every fit becomes a row below: for programs that compare strategies themselves.":
    "每个模型都用程序指定的策略训练，步数也由程序决定。每次 fit 在下方各占一行，适合自行比较策略的程序。",
  "Placed by the program": "由程序放置",
  "Data parallel, synchronous": "同步数据并行",
  "Each device has all layers and takes its share of every batch. The gradients are averaged, then all make the same update. The result is that of one device.":
    "每个设备都有全部的层，并各自处理每个批次的一部分。梯度取平均后，所有设备做相同的更新。结果与单个设备相同。",
  Pipeline: "流水线",
  "The layers are divided among the devices, and parts of the batch pass through them one after the other. The result is that of one device.":
    "层分配到各个设备上，批次的各部分依次流过它们。结果与单个设备相同。",
  "Data parallel, asynchronous": "异步数据并行",
  "Each device has all layers and updates the shared weights without waiting for the others. A slow device does not hold up the rest, but gradients may come from older weights.":
    "每个设备都有全部的层，更新共享权重时不等待其他设备。慢设备不会拖住其余设备，但梯度可能来自较旧的权重。",
  "Local SGD": "本地 SGD",
  "Each device trains on its share of the data on its own. Every few steps the devices average their weights: less to send, and a slightly different result.":
    "每个设备各自在自己那份数据上训练，每隔几步把权重取平均：通信更少，结果略有不同。",
  "Overlapped steps": "步间重叠",
  "The input of the next step is prepared while this one is computed. The result is the same.":
    "计算当前步的同时准备下一步的输入。结果不变。",
  GPipe: "GPipe",
  "All parts forward, then all parts backward.": "所有部分先全部前向，再全部反向。",
  "1F1B": "1F1B",
  "Forward and backward in turn: as fast as GPipe, using less memory.":
    "前向与反向交替进行：与 GPipe 一样快，占用内存更少。",
  Interleaved: "交错",
  "Several groups of layers on each device: shorter gaps, more transfers.":
    "每个设备上有若干组层：空隙更短，传输更多。",
  Bidirectional: "双向",
  "Two streams, from both ends, each filling the other's gaps.":
    "两条数据流从两端进入，互相填补空隙。",
  "Zero bubble": "零气泡",
  "1F1B whose gradients of weights are computed while a device would wait.":
    "在 1F1B 的基础上，利用设备的等待时间计算权重的梯度。",
  DualPipe: "DualPipe",
  "Two streams, from both ends, whose gradients of weights fill the gaps that are left.":
    "两条数据流从两端进入，剩余的空隙用来计算权重的梯度。",
  PipeDream: "PipeDream",
  "An update after every part, so a device may compute with weights that lack the last few updates: not the result of one device.":
    "每个部分之后都更新一次，因此设备可能用缺少最近几次更新的权重计算：结果与单个设备不同。",
  Automatic: "自动",
  "The algorithm that should be fastest for each size.": "按数据大小选用预计最快的算法。",
  "Through one device": "经由一个设备",
  "One device computes the sum and sends it back.": "由一个设备求和，再把结果发回。",
  Fastest: "最快",
  "By the transport where that should be faster. The last digits may differ.":
    "如果预计更快，就由传输层完成。末几位数字可能不同。",
  "By the transport": "由传输层完成",
  "One operation between all: on several machines that of MPI.":
    "所有设备之间的一次操作：在多台机器上由 MPI 完成。",
  Ring: "环",
  "Each device sends parts to its neighbour: most even load, most messages.":
    "每个设备把各部分发给相邻设备：负载最均衡，消息最多。",
  Tree: "树",
  "Pairs add up, then pairs of pairs: few rounds.": "先两两相加，再逐级合并：轮次少。",
  Devices: "设备数",
  "How many devices share the work.": "有多少个设备分担工作。",
  "Micro-batches": "微批次",
  "Parts of each batch: more parts, less waiting.": "每个批次分成的份数：份数越多，等待越少。",
  Chunks: "分组",
  "Groups of layers on each device. The network needs a layer for each.":
    "每个设备上的层分成的组数。网络中每组至少要有一层。",
  "Staleness bound": "陈旧度上限",
  "Batches that a device may be ahead of the slowest before it waits. Empty: no limit.":
    "设备在等待之前，最多可以领先最慢设备多少个批次。留空：不限。",
  "Average every": "平均间隔",
  "Steps that each device takes on its own before all devices average.":
    "每个设备独自训练多少步之后，所有设备取一次平均。",
  Steps: "步数",
  "0: as many as the program says.": "0：由程序决定。",
};

/** Settings in the titles of runs. @type {[RegExp, string][]} */
const SETTINGS = [
  [/^(\d+) micro-batch(?:es)?$/, "$1 个微批次"],
  [/^(\d+) chunks$/, "$1 个分组"],
  [/^every (\d+)$/, "每 $1 步"],
  [/^at most (\d+) ahead$/, "最多领先 $1"],
  [/^([\d.]+) ms delay$/, "延迟 $1 ms"],
];

/** A run's title: a strategy, and settings. @param {string} title */
export function titled(title) {
  const strategy = Object.keys(LAB).find((each) => title === each || title.startsWith(`${each}, `));
  if (strategy === undefined) return title;
  const settings = title
    .slice(strategy.length + 2)
    .split(", ")
    .filter(Boolean);
  return [LAB[strategy], ...settings.map(setting)].join("，");
}

/** @param {string} text */
function setting(text) {
  const [pattern, words] = SETTINGS.find(([each]) => each.test(text)) ?? [];
  return pattern && words ? text.replace(pattern, words) : (LAB[text] ?? text);
}

/** @type {Record<string, string>} */
export const BRIDGE = {
  "The page shows the graph of the network; model.summary() prints its layers.":
    "页面会显示网络的计算图；model.summary() 打印各层。",
  "The seed belongs to the graph: pg.reset_default_graph(seed).":
    "种子属于计算图：pg.reset_default_graph(seed)。",
  "fit takes generators and data sets.": "fit 接受生成器和数据集。",
  "Regularizers add to the loss; for other losses write a loop.":
    "正则化项会加到损失中；其他损失请自己写训练循环。",
  "Variables have their values at once: nothing is to be initialized.":
    "变量创建时就有值，不需要初始化。",
  "pg.Session(device=...) chooses the device.": "用 pg.Session(device=...) 选择设备。",
  "pg.io saves arrays; model.save_weights(file) a model's.":
    "pg.io 保存数组；model.save_weights(file) 保存模型的权重。",
  "Use with pg.eager(): to compute at once.": "用 with pg.eager(): 立即计算。",
  "Graphs and sessions are usual here.": "这里本来就使用计算图和会话。",
  'model.compile(device="gpu") chooses the device.': '用 model.compile(device="gpu") 选择设备。',
  "model.save_weights(file) saves the weights.": "model.save_weights(file) 保存权重。",
  "model.load_weights(file) loads weights into a model.":
    "model.load_weights(file) 把权重载入模型。",
  "predict and evaluate know that they do not train.": "predict 和 evaluate 本来就不处于训练模式。",
  "fit knows that it trains.": "fit 本来就处于训练模式。",
  "Of Keras' data sets there are pg.data.mnist() and fashion_mnist(), and small colour images are made by pg.data.shapes(). pg.data.read_csv and read_npz read files.":
    "Keras 的数据集中有 pg.data.mnist() 和 fashion_mnist()，小彩色图像由 pg.data.shapes() 生成。pg.data.read_csv 和 read_npz 可以读取文件。",
  "Prepare data with NumPy; nn.RandomFlip, RandomRotation and others augment images.":
    "请用 NumPy 准备数据；nn.RandomFlip、RandomRotation 等可以做图像增强。",
  "Pretrained models are not here; model.load_weights(file) loads weights that you have.":
    "这里没有预训练模型；可以用 model.load_weights(file) 载入权重。",
  "The page draws the curves, and nn.CSVLogger(file) writes them.":
    "页面会绘制曲线，nn.CSVLogger(file) 可以把它们写入文件。",
  "nn.LambdaCallback calls functions of yours; runs are resumed by themselves.":
    "nn.LambdaCallback 可以调用自己的函数；中断的运行会自动恢复。",
  "Write a subclass of nn.Callback, or use nn.LambdaCallback.":
    "请写一个 nn.Callback 的子类，或使用 nn.LambdaCallback。",
  "Windows have one or two dimensions: nn.Conv2D, nn.MaxPool2D.":
    "窗口只有一维或二维：nn.Conv2D、nn.MaxPool2D。",
  "The nearest is nn.MultiHeadAttention.": "最接近的是 nn.MultiHeadAttention。",
  "Use nn.LSTM, nn.GRU or nn.SimpleRNN, or pg.scan.":
    "请使用 nn.LSTM、nn.GRU、nn.SimpleRNN 或 pg.scan。",
  "Write a layer of a few lines (a subclass of nn.Layer), or nn.Lambda.":
    "几行代码就能写一个层（nn.Layer 的子类），也可以用 nn.Lambda。",
  "A function of (y_true, y_pred) is a loss.": "任何 (y_true, y_pred) 的函数都可以作为损失。",
  "A function of (y_true, y_pred) is a metric.": "任何 (y_true, y_pred) 的函数都可以作为指标。",
  "A subclass of pg.optim.Schedule is a schedule.": "pg.optim.Schedule 的子类就是学习率调度。",
  "pg.optim.Adam and pg.optim.AdamW cover its uses.":
    "pg.optim.Adam 和 pg.optim.AdamW 可以代替它。",
  'model.compile(precision="mixed") rounds the operands of products to float16; there is no loss to scale.':
    'model.compile(precision="mixed") 把矩阵乘积的操作数舍入为 float16；损失无需缩放。',
  "It is not part of playgrad; Python and NumPy can do most of it.":
    "这不属于 playgrad；大部分可以用 Python 和 NumPy 完成。",
  "playgrad saves weights: model.save_weights(file).":
    "playgrad 保存的是权重：model.save_weights(file)。",
  "Operations have NumPy's names in playgrad; the reference lists them.":
    "playgrad 的操作沿用 NumPy 的名称，参考文档中有完整列表。",
  "Use pg.data.Dataset.from_tensor_slices((x, y)).shuffle(n).batch(n).":
    "请使用 pg.data.Dataset.from_tensor_slices((x, y)).shuffle(n).batch(n)。",
  "pg.data.mnist() has the digits; pg.data.read_npz reads arrays.":
    "pg.data.mnist() 提供手写数字；pg.data.read_npz 读取数组。",
  "Operations have NumPy's names in playgrad, such as pg.relu.":
    "playgrad 的操作沿用 NumPy 的名称，例如 pg.relu。",
  "Layers have the names of Keras: nn.Dense, nn.Conv2D.":
    "层沿用 Keras 的名称：nn.Dense、nn.Conv2D。",
  // Reasons of arguments, which end a sentence.
  "the shape comes from the data, or from pg.Input(shape) as the first item":
    "形状来自数据，或来自放在最前面的 pg.Input(shape)",
  "everything is float32": "一切都是 float32",
  "operations return new tensors": "运算返回新的张量",
  "pg.gradients(loss, variables) differentiates by any variable":
    "pg.gradients(loss, variables) 可以对任何变量求导",
  "set layer.trainable after creating it": "请在创建层之后设置 layer.trainable",
  "use kernel_regularizer": "请使用 kernel_regularizer",
  "use a schedule, such as pg.optim.InverseTimeDecay":
    "请使用学习率调度，例如 pg.optim.InverseTimeDecay",
  "every step is compiled": "每一步都会编译",
  "use beta_1 and beta_2": "请使用 beta_1 和 beta_2",
  "data needs no workers": "读取数据不需要工作进程",
  "validation runs after each epoch": "每轮之后都会验证",
  "use with pg.eager(): to look around": "要查看中间结果，请使用 pg.eager()",
  "pass an optimizer: pg.optim.Adam(0.01)": "请传入优化器：pg.optim.Adam(0.01)",
  "evaluate has no callbacks": "evaluate 没有回调",
  "predict has no callbacks": "predict 没有回调",
  "it prints all layers": "它总是打印所有层",
  "build takes the shape of one sample": "build 接受单个样本的形状",
  "callbacks print nothing": "回调不打印任何内容",
  "an input is a dense array": "输入是稠密数组",
  "A strategy is an argument of compile: strategy=pg.parallel.DataParallel().":
    "策略是 compile 的参数：strategy=pg.parallel.DataParallel()。",
  "Curves and images of the page have axes, a legend and a frame of their own.":
    "页面中的曲线和图像自带坐标轴、图例和边框。",
  "Every step is compiled.": "每一步都会编译。",
  "Images are divided by 255 already; map(function) of the data set changes them.":
    "图像已经除以 255；用数据集的 map(function) 可以再作修改。",
  "It returns the numbers and where they are.": "它返回数值及其位置。",
  "Keep the array in an attribute: self.name = array.": "把数组保存在属性中：self.name = array。",
  "Loops with pg.GradientTape need no decorator; @pg.function(model) compiles a step.":
    "使用 pg.GradientTape 的循环不需要装饰器；@pg.function(model) 编译一个训练步。",
  "Names follow Keras and NumPy: nn.Dense, pg.gradients.":
    "名称与 Keras 和 NumPy 相同：nn.Dense、pg.gradients。",
  "Of these data sets there are pg.data.mnist() and fashion_mnist(), and small colour images are made by pg.data.shapes(); read_npz reads yours.":
    "这些数据集中有 pg.data.mnist() 和 fashion_mnist()，pg.data.shapes() 生成小的彩色图像；read_npz 读取您自己的数据。",
  "Only a tape records gradients here.": "这里只有 tape 会记录梯度。",
  "Operations return new tensors: x = x + y.": "操作返回新的张量：x = x + y。",
  "Padding is at the end here, where layers expect it.": "这里在末尾填充，各层也这样要求。",
  "Pass a schedule as the rate, pg.optim.ExponentialDecay(...), which counts steps itself.":
    "把调度作为学习率传入：pg.optim.ExponentialDecay(...)，它会自己计步。",
  "Shuffle with np.random.permutation, and slice; fit takes validation_split=0.2.":
    "用 np.random.permutation 打乱后切片；fit 也接受 validation_split=0.2。",
  "Text is not a tensor here: make it numbers with pg.data.Vocabulary.":
    "这里文本不是张量：请用 pg.data.Vocabulary 把它变成数字。",
  "The page downloads nothing: open your data under Data, and read it with pg.data.read_csv or read_npz.":
    "页面不会下载文件：请在“数据”中打开您的数据，再用 pg.data.read_csv 或 read_npz 读取。",
  "The page downloads nothing: open your data under Data.":
    "页面不会下载文件：请在“数据”中打开您的数据。",
  "The page draws the curves and keeps the runs.": "页面会画出曲线并保留各次运行。",
  "The page draws the curves by itself.": "页面会自动画出曲线。",
  "There is none of it here: NumPy and pg.data have toy data and simple statistics.":
    "这里没有：NumPy 和 pg.data 提供玩具数据和简单的统计。",
  "There is none of it here: NumPy and playgrad's operations cover common functions.":
    "这里没有：NumPy 和 playgrad 的操作涵盖常用函数。",
  "There is none of it here; Python and NumPy can do most of it.":
    "这里没有；Python 和 NumPy 可以完成其中大部分工作。",
  "There is none of it here; docs/compared.md says what else there is.":
    "这里没有；docs/compared.md 说明了还有哪些选择。",
  "There is none, because data sets cannot be downloaded: pg.data has mnist(), fashion_mnist(), shapes() and others; read_npz and read_csv read yours.":
    "这里没有，因为无法下载数据集：pg.data 有 mnist()、fashion_mnist()、shapes() 等；read_npz 和 read_csv 读取您自己的数据。",
  "There is none, because trained models cannot be downloaded: build the model of layers, and model.load_weights(file) loads weights of PyTorch that you have.":
    "这里没有，因为无法下载训练好的模型：请用各层搭建模型，再用 model.load_weights(file) 载入您已有的 PyTorch 权重。",
  "There is none, because trained models cannot be downloaded: build the model of layers, or open an ONNX file.":
    "这里没有，因为无法下载训练好的模型：请用各层搭建模型，或打开 ONNX 文件。",
  "There is none, because trained models cannot be downloaded: build the model of layers.":
    "这里没有，因为无法下载训练好的模型：请用各层搭建模型。",
  "There is none, because trained models cannot be downloaded: build the model of nn.TransformerEncoder and nn.Embedding, or open an ONNX file.":
    "这里没有，因为无法下载训练好的模型：请用 nn.TransformerEncoder 和 nn.Embedding 搭建模型，或打开 ONNX 文件。",
  "There is none: write the environment as a class with reset and step, as the examples of games do.":
    "这里没有：请像游戏示例那样，把环境写成带有 reset 和 step 的类。",
  "With pg.GradientTape() as tape, compute the loss; then optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights)) updates the weights.":
    "在 with pg.GradientTape() as tape 中计算损失，再用 optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights)) 更新权重。",
  "losses and metrics are named by their kind": "损失和指标按其种类命名",
  "model.fit runs the loop, with callbacks.": "model.fit 会执行训练循环，并接受回调。",
  "model.save_weights(file) saves weights alone.": "model.save_weights(file) 只保存权重。",
  "model.summary() prints the layers.": "model.summary() 打印各层。",
  "nn.MultiHeadAttention(num_heads, key_dim) takes sequences with the batch first.":
    "nn.MultiHeadAttention(num_heads, key_dim) 接受批次在第一维的序列。",
  "nn.Normalization learns mean and variance by adapt(x); np.unique numbers classes.":
    "nn.Normalization 通过 adapt(x) 得到均值和方差；np.unique 给类别编号。",
  "nn.RandomFlip, nn.RandomRotation and others augment images, as layers; map(function) of a data set changes samples.":
    "nn.RandomFlip、nn.RandomRotation 等层用于图像增强；数据集的 map(function) 修改样本。",
  "nn.TransformerEncoder(intermediate_dim, num_heads) is one block, of sequences with the batch first.":
    "nn.TransformerEncoder(intermediate_dim, num_heads) 是一个块，序列的批次在第一维。",
  "nn.TransformerEncoder(intermediate_dim, num_heads) is one block: make a list of them.":
    "nn.TransformerEncoder(intermediate_dim, num_heads) 是一个块：请把多个块放进列表。",
  'pg.data.read_csv(file, label="column") reads a table, into arrays or into a Dataset.':
    'pg.data.read_csv(file, label="column") 把表格读成数组或 Dataset。',
  "pg.data.read_png(file) reads an image as an array; open other formats under Data.":
    "pg.data.read_png(file) 把图像读成数组；其他格式请在“数据”中打开。",
  "pg.optim.Adam(global_clipnorm=1.0) clips gradients.":
    "pg.optim.Adam(global_clipnorm=1.0) 会裁剪梯度。",
  "pg.plot(x, y) draws curves, pg.show(array) images, both in the page.":
    "pg.plot(x, y) 画曲线，pg.show(array) 显示图像，都在页面中。",
  "tape.gradient(loss, [x]) returns the gradients.": "tape.gradient(loss, [x]) 返回梯度。",
  "the page chooses colours and lines": "颜色和线型由页面选择",
  "the page draws each number as a square": "页面把每个数画成一个方格",
  'use colours="grey" or "diverging"': '请用 colours="grey" 或 "diverging"',
};
