/** The bundled examples in Simplified Chinese: their programs have all of this in English. */

/** By id. The module's docstring is made of both. @type {Record<string, {title: string, description: string}>} */
export const EXAMPLES = {
  "board-moves": {
    title: "在 9 × 9 围棋盘上看出该下哪里的网络",
    description:
      "每个虚构的局面中，恰有一步能提子：它占住对方一颗孤子旁的最后一口气。网络只有卷积，81 个输出各是棋盘上一点的得分。没有人告诉它规则。在没见过的局面中，它应能在 95% 的情况下找到这一步。",
  },
  "branching-two-devices": {
    title: "有两个分支的网络，每个分支在一台设备上",
    description:
      "两个分支都对螺旋线上的点分类：一个深，一个宽。在合并之前，两者互不需要，所以两台设备可以同时计算。按设备给计算图着色，可以看到图在哪里切开、传送了哪些张量。",
  },
  captcha: {
    title: "不知道数字在哪里也能读验证码的网络",
    description:
      "三四个手写数字彼此相连，有位移，被划线，还有噪声。卷积描述图中 12 列的内容，双向 LSTM 查看每列旁边的列，CTC 损失（Graves 等，2006）自行找出哪些列属于哪个数字。没见过的验证码应有 82% 能完全读对。",
  },
  "character-gru": {
    title: "会写文字的循环网络",
    description:
      "门控循环单元一次一个字符地读一首数数儿歌，凭记忆预测下一个字符。训练之后，它能从开头几个字母起背出这首儿歌。准确率应达到 94%：一段文字的头几个字母还看不出它在儿歌的什么位置。",
  },
  "character-transformer": {
    title: "会写文字的 Transformer",
    description:
      "两个注意力模块学习根据前 16 个字符预测一首童谣的下一个字符。嵌入表同时也是输出层。训练好的网络再一个字符接一个字符地自己写出这首童谣。准确率应达到 92%。",
  },
  "citation-attention": {
    title: "学会哪些引用更重要的图网络",
    description:
      "虚构的论文引用同一主题的论文，但也与教科书相连；教科书有许多某一主题的词，却引用各个主题的论文。图卷积对所有邻居取平均。图注意力网络（Velickovic 等，2018）则根据词来决定每个邻居的分量。只有 60 篇论文有标签。其余论文的准确率应达到 91%，没有注意力时为 85%。",
  },
  "citation-graph": {
    title: "找出论文主题的图网络",
    description:
      "300 篇虚构的论文各有几个词，并引用另外三篇，大多属于同一主题。只有 30 篇有标签。图卷积（Kipf 和 Welling，2017）把一篇论文的词与邻居的词混合，使标签传到其他论文。同样的网络去掉引用，就能看出引用的价值。有引用时应达到 99%，没有时为 77%。",
  },
  "connect-four": {
    title: "从自己的对局中学会四子棋的棋手",
    description:
      "没有人教它一步好棋。网络与自己对弈，一次下 64 局，每一步之前先搜索 32 条变化（蒙特卡洛树搜索，Silver 等，2018），再从局面、搜索和结果中学习。每五代它与目前最好的自己比赛一场，最后画出它的 Elo 等级分。在“观察”中，可以在它学习时与它对弈。这里的另一个棋手只向前看一步。",
  },
  "control-dependencies": {
    title: "谁先发生：控制依赖",
    description:
      "数据流图没有行的先后：输入一到，运算就执行；变量在被改变之前先被读取。如果读取必须等待更新，就用控制依赖说明。这里以两种方式读取一个计数器，还有一个平均值，每输入一个数就变化一次。平均值应为 4、6 和 7。",
  },
  "coloured-shapes": {
    title: "彩色图形，卷积网络",
    description:
      "六种图形的小彩色图像，由程序生成：颜色、大小、位置和方向各不相同。全连接网络几乎什么也学不到；在图像上滑动的滤波器无论边和角在哪里都能找到。准确率应达到 82%。",
  },
  "custom-operation": {
    title: "自己的运算，带有自己的 GPU 内核",
    description:
      "一层径向基函数：每个单元有一个中心，输出表示一个点离中心多近。距离的平方是库里没有的运算。这里用 NumPy（结果是什么）、WGSL（GPU 怎样计算）和梯度来定义它，用有限差分检验，并在螺旋线上训练。",
  },
  "dates-with-attention": {
    title: "用带注意力的序列到序列网络改写日期",
    description:
      "人们写 “7 March 1998” 或 “September 27, 1998”，网络写出 1998-03-07。循环编码器从两个方向读取所有字符。第二个网络逐个写出字符，并用注意力选择为每个字符看哪里（Bahdanau 等，2015）。没见过的日期应有 98% 每个字符都正确。",
  },
  "deep-belief-net": {
    title: "深度信念网络：三个玻尔兹曼机层层相叠",
    description:
      "受限玻尔兹曼机不需要标签，就能学出数据由哪些特征构成：这里先是数字的特征，再是特征的特征。它用对比散度在自己的循环中训练。叠好之后变成分类器，只用 100 个有标签的数字微调（Hinton 等，2006）。准确率应达到 69%；同样的网络没有第一部分训练时只有 59%。",
  },
  "denoising-autoencoder": {
    title: "去除数字图像噪声的自编码器",
    description:
      "噪声掩盖了每幅图像的笔画。网络把带噪声的图像压缩成 64 个数，再由它们画出干净的图像，因此必须学会数字的样子。平方误差应只剩 28%。",
  },
  "digits-in-12-kb": {
    title: "12 KB 的手写数字识别，给没有浮点运算的芯片",
    description:
      "小型卷积网络先用 float32 学会认数字。然后它的权重和各层的结果变成 8 位整数：字节数只有四分之一，所用的运算每个微控制器都有。变换前后准确率都应达到 98%。从 C 编译之后，网络连同权重不到 12 KB。",
  },
  "digits-row-by-row": {
    title: "手写数字，逐行读取",
    description:
      "循环网络从上到下，一次只看一行 28 个像素，从不看到整幅图像。读完最后一行后记住的 64 个数说明这是哪个数字。前 60 个批次后准确率应达到 70%；一轮有 938 个批次。",
  },
  "dilated-convolutions": {
    title: "用膨胀卷积预测声音",
    description:
      "声音由两个音和少许噪声组成。每一层回看的距离是下一层的两倍，即 1、2、4、8 和 16 个采样点，五个小层因此能看到 32 个采样点（van den Oord 等，2016，WaveNet）。使用因果填充，任何一层都看不到未来。误差应为声音功率的 1%；而重复上一个采样点的误差是 18%。",
  },
  "distilled-digits": {
    title: "残差网络教普通网络认数字",
    description:
      "教师是一个小型残差网络，见过 20,000 个数字。它的得分比标签说得更多：这个 7 有点像 1，一点也不像 0。没有卷积的网络所需的乘法只有四分之一，它借助这些得分从 1,000 个数字中学习（Hinton 等，2015）。准确率应达到 91%；同样的网络独自学习时为 88%。",
  },
  "film-ratings": {
    title: "猜测观众怎样给电影打分的玻尔兹曼机",
    description:
      "600 个虚构的人按各自隐藏的喜好，给 50 部电影中的一些打了 1 到 5 颗星。受限玻尔兹曼机接收一个人已知的评分，略去未知的，并补全其余（Salakhutdinov 等，2007）。在没见过的评分上误差应为 0.59 颗星；用每部电影的平均分则误差为 1.11。",
  },
  "fine-tuning": {
    title: "微调别处得来的权重",
    description:
      "一个网络学会了数字 0 到 4，并保存了权重。第二个网络接过这些权重，只用 20 幅图像学习数字 5 到 9：旧的层保持冻结，只有新的最后一层在学习。应达到约 70%；从零开始的网络为 60%。",
  },
  "first-program": {
    title: "你自己的程序",
    description:
      "数据、网络、怎样学习：这几行就够了。随意修改，然后按“运行”；“积木”把同一个程序显示为卡片。编辑器认识这些名称：输入 “nn.” 或 “pg.”，或在名称上按 Ctrl+I。准确率应达到 98%。",
  },
  "go-5x5": {
    title: "从自己的对局中学会的五路围棋手",
    description:
      "规则是 Tromp 和 Taylor 的规则：没有气的棋子被提走，任何局面都不能重现，区域较大的一方获胜。网络与自己对弈，一次下 32 局，每一步之前先搜索 32 条变化（蒙特卡洛树搜索，Silver 等，2018），再从局面、搜索和结果中学习，并用上棋盘的全部八种对称。对随机走子的对手，它应每局都赢。",
  },
  "grid-world": {
    title: "深度 Q 学习：网络在尝试中找到路",
    description:
      "一个行走者在 6 × 6 的网格上，格中有墙和两个坑，它不知道地图。每走一步付出 0.04，掉进坑付出 1，到达终点得到 1。网络从记录的步中学习四种走法各自最终价值多少（Mnih 等，2015）：32 个行走者收集步，网络不久前的副本则评价一步所到的格子。应找到从全部 25 个格子出发的最短路。",
  },
  lenet: {
    title: "LeNet，第一个读数字的卷积网络",
    description:
      "LeNet-5（LeCun 等，1998）读取支票上的金额。两层滤波与平均，再接三个全连接层：除了末尾的 softmax，至今变化不大。一轮之后准确率应达到 97%。",
  },
  "letters-beside-digits": {
    title: "同时识别字母和数字的网络",
    description:
      "大写字母来自一种小字体，每个都重新绘制：大小不一，有倾斜、位移和噪声。数字是手写的（MNIST）。网络有 36 个类别。它能分清 O 和 0、I 和 1，只因为印刷和手写的笔画不同。没见过的字母准确率应达到 99%，没见过的数字为 94%。",
  },
  "logic-trees": {
    title: "计算逻辑表达式的树形网络",
    description:
      "像 (a and (b or a)) 这样的表达式是一棵树，每棵树的形状都不同。树形 LSTM（Tai 等，2015）由两个子节点的状态计算节点的状态。一个批次的所有树中，同一深度上对同一函数的调用合并在一起计算（动态批处理，Looks 等，2017）。在没见过的表达式上准确率应达到 99%，速度是逐棵计算的二十倍。",
  },
  "mnist-cnn": {
    title: "手写数字，卷积网络",
    description:
      "两个由小滤波器组成的卷积层在图像的任何位置寻找笔画。它的权重比小网络少，错误也更少。一轮之后准确率应达到 98%。",
  },
  "mnist-mlp": {
    title: "手写数字，小网络",
    description:
      "在 MNIST 的 60,000 个数字上训练一个有 128 个单元的单隐藏层网络，再用它从未见过的 10,000 个数字测试。一轮之后准确率应达到 96%。",
  },
  "module-networks": {
    title: "为每个问题重新拼装的网络",
    description:
      "“圆旁边有红色的吗？”变成一个小程序，其中的函数是各有权重的网络（神经模块网络，Andreas 等，2016）。它们只从“是”与“否”学会什么是红色和旁边。`pg.Fold` 合并计算相同的模块。新问题应答对 95%，更长的程序为 90%。",
  },
  molecules: {
    title: "预测分子能量的图网络",
    description:
      "虚构的分子是带有分支和环的原子链。化学键的能量取决于两端的原子以及是否为双键，环则要付出能量。沿化学键传递的消息乘以网络由键的种类算出的滤波器（连续滤波卷积，如 SchNet，Schuett 等，2017）；所有原子的能量相加。误差应为 0.4；网络看不到键的种类时为 1.4。",
  },
  "noise-before-a-classifier": {
    title: "把一个训练好的网络接在另一个之前",
    description:
      "分类器从干净的数字学成，遇到有噪声的数字就失败。第二个网络单独训练，用来去除噪声。把它接在分类器之前，分类器又能认出数字了，尽管它从没见过噪声。然后把两者作为一个网络一起训练。有噪声的数字应为 40%，接上去噪网络后为 73%，一起训练后为 82%。",
  },
  "pipeline-schedules": {
    title: "比较流水线的调度方式",
    description:
      "两台设备各有两层。一个批次分成八个微批次，按调度规定的次序流过它们。气泡是设备等待时间所占的比例。每个任务延迟 10 ms，用来模拟大的层，这样即使两台设备共用一个处理器也看得出调度。所有调度的损失都相同，只有 PipeDream 例外，它不等待更新，使用较旧的权重。在“实验室”中选择“由程序决定”，可以看到各自的时间线。",
  },
  "sampled-neighbours": {
    title: "图太大放不下时：对邻居采样的图网络",
    description:
      "对 3,000 篇虚构论文做图卷积，每一步都需要全部论文。这里每一步只取 50 篇论文，每篇随机取五个邻居，每个邻居再取五个邻居（GraphSAGE，Hamilton 等，2017）：一步的开销与图的大小无关。准确率应达到 97%，只看论文自己的词则为 89%。",
  },
  "schedules-raced": {
    title: "逐渐下降的学习率，来一场比赛",
    description:
      "同一个网络把同样的数字学四遍，只有学习率随时间的变化不同。高到足以学得快的学习率，往往高得无法收敛。“运行记录”把四次并排显示。学习率不变时应达到 93%，下降时为 93.5% 到 94.5%。",
  },
  segmentation: {
    title: "逐像素给形状着色的网络",
    description:
      "有噪声的图像中有大小不一的圆盘和方块。网络只有卷积（Long 等，2015）：它把图像缩小一半两次以看到整个形状，再放大回来，并加上之前的细节。它的答案是每个像素的类别：背景、圆盘或方块。答案与真值的交集应达到并集的 98%。",
  },
  "sentiment-trees": {
    title: "沿语法结构读评论的树形 LSTM",
    description:
      "“(not (very good)) but (fine and great)”是在称赞，虽然它以 not 开头。评论是编造的，写成树的形式。树形 LSTM（Tai 等，2015）由两个部分的状态得到每个短语的状态。`pg.Fold` 把所有树中相同的步骤合并计算。在比训练时更长的评论上准确率应达到 95%；只数单词的网络为 55%。",
  },
  "small-resnet": {
    title: "识别数字的小型残差网络",
    description:
      "每个模块把计算结果加到输入上（He 等，2015），梯度因此能原样传到最前面的层，网络深也无妨。在图像减半的地方，一个像素的卷积把模块的输入变成新的形状。一轮之后准确率应达到 98.5%。",
  },
  "sounds-in-four-bits": {
    title: "用 4 位权重的网络分辨三种声音",
    description:
      "关键词识别器整天都在听，所以它的网络必须很小。这个网络有 711 个权重，沿时间做卷积，分辨噪声中的音调是降、是平还是升。每个权重只有 15 种取值，文件中的权重因此从 2,844 字节变成 837 字节。float32 时准确率应为 98%，训练之后再舍入权重为 94%，带着舍入继续训练则为 97%。损失多少要看运气：换一组初始权重，事后舍入只损失 0.5 个百分点。",
  },
  spiral: {
    title: "分开螺旋线",
    description:
      "两类点在螺旋线的两条臂上。一条直线分不开它们；两层各 16 个单元把它弯曲，直到贴合两条臂。在曲线下方观察平面怎样染上各类的颜色，以及每个单元找到了什么。在没见过的点上准确率应达到 99%。",
  },
  "sync-against-async": {
    title: "有一台慢设备时的同步与异步训练",
    description:
      "两台设备训练同一个网络，第二台很慢。如果每一步都互相等待，两者都只有慢设备的速度。如果不等待，快的那台继续前进，但慢设备的梯度是过时的：它们用较旧的权重算出。在“实验室”中选择“由程序决定”，可以看到曲线和时间线。",
  },
  "tic-tac-toe": {
    title: "从自己的对局中学习的井字棋手",
    description:
      "它同时执双方，一次下 400 局，记录每个局面和那一局的结果。网络从记录中学习：一个局面对刚走完的一方会有怎样的结局；下一批对局就用它来下，在随机开局之后，每一步都走到它评价最高的局面。对随机走子的对手，它应只输 1% 的对局；训练之前要输 42%。",
  },
  "tic-tac-toe-search": {
    title: "会搜索、从自己的对局中学习的井字棋手",
    description:
      "网络与自己对弈，一次下 64 局。每一步之前它先搜索：沿着有希望的变化走下去，评价终点的局面（蒙特卡洛树搜索，Silver 等，2018）。然后它学习直接找到搜索出的着法，并预见结果。可与不搜索的 `tic-tac-toe` 比较。无论对方怎样走，它应一局也不再输。在“观察”中可以与它对弈。",
  },
  "two-graphs": {
    title: "两个图，三个会话",
    description:
      "图说明计算什么；会话保存变量的值。一个图可以在几个会话中，每个会话有自己的值；一个程序也可以有几个图。这里两个会话从不同的起点训练同一个图，第二个图算出它们最后相差多远。两者都应到达斜率 3。",
  },
  "used-car-prices": {
    title: "二手车的价格，特征的大小相差很大",
    description:
      "车龄只有几年，里程却有几万。每个特征都用训练部分的数值调整为均值 0、标准差 1，价格也一样。表格是虚构的：车随年限和里程贬值，柴油车贬得少些。平均误差应为约 560 欧元；总是猜平均价则误差为 6,300。",
  },
  "variational-autoencoder": {
    title: "画出新数字的变分自编码器",
    description:
      "编码器把图像变成一团编码，即 8 个均值和 8 个标准差；解码器由这团编码中的一个画出图像（Kingma 和 Welling，2014）。损失把这些编码团拉向正态分布，因此从正态分布抽出的编码能画出新的数字。每幅图像应为 125 纳特，8 个数应能还原没见过的图像与平均图像之差的 61%。",
  },
};

/** Their comments, docstrings of functions, and strings that are shown, by the English ones as they are in the code. @type {Record<string, string>} */
export const TEXTS = {
  // board-moves
  "Return the four neighbours of each point: (boards, SIZE, SIZE, 4), False off the board.":
    "返回每个点的四个邻点：(boards, SIZE, SIZE, 4)，棋盘以外为 False。",
  "Boards (count, SIZE, SIZE, 3): own stones, others, all points; and the number of a move.":
    "棋盘 (count, SIZE, SIZE, 3)：己方棋子、对方棋子、所有的点；以及一步棋的编号。",
  "moves found {model.evaluate(*positions(UNSEEN))[1]:.1%}":
    "找到的着法 {model.evaluate(*positions(UNSEEN))[1]:.1%}",
  // branching-two-devices
  'or gpu=2, and "gpu:0" below': '或者 gpu=2，下面写 "gpu:0"',
  "{len(second)} operations are on the second device, starting with {second[0]}":
    "第二台设备上有 {len(second)} 个运算，从 {second[0]} 开始",
  "accuracy {model.evaluate(x, y)[1]:.1%}": "准确率 {model.evaluate(x, y)[1]:.1%}",
  // captcha
  "Images (count, HEIGHT, WIDTH, 1), and the digits of each plus 1, then zeros.":
    "图像 (count, HEIGHT, WIDTH, 1)，以及每幅图像的数字加 1，其后补零。",
  "0 is the blank of CTC": "0 是 CTC 的空白符",
  "from (4, 12, 32)": "原为 (4, 12, 32)",
  "of the blank and ten digits, for each column": "每列对空白符和十个数字的得分",
  "(400, 12): the labels of each, then -1": "(400, 12)：每幅图像的标签，其后为 -1",
  "{digits} read as {answer}": "{digits} 读成 {answer}",
  "{(read == truth).all(axis=1).mean():.1%} of the captchas are read right":
    "{(read == truth).all(axis=1).mean():.1%} 的验证码读对了",
  // character-gru, character-transformer
  "y: the next character of each": "y：每个字符的下一个字符",
  "accuracy {model.evaluate(x, y, verbose=0)[1]:.1%}":
    "准确率 {model.evaluate(x, y, verbose=0)[1]:.1%}",
  // citation-attention
  "words that any paper uses": "任何论文都会用的词",
  "of the topic": "本主题的词",
  '"exercise", "chapter", "solution"': "“习题”“章”“解答”",
  "sources and targets": "起点和终点",
  "the mean over all neighbours": "对所有邻居取平均",
  "a batch of one graph": "只含一个图的批次",
  "Train a network of two layers; return its accuracy on the papers without a label.":
    "训练一个两层的网络；返回它在没有标签的论文上的准确率。",
  "accuracy without attention {accuracy(False):.1%}": "没有注意力时的准确率 {accuracy(False):.1%}",
  "accuracy with attention {accuracy(True):.1%}": "有注意力时的准确率 {accuracy(True):.1%}",
  // citation-graph
  "Train two graph convolutions; return the scores of all papers, (papers, topics).":
    "训练两个图卷积；返回所有论文的得分 (papers, topics)。",
  without: "没有",
  with: "有",
  "accuracy {name} citations {(guess == topics)[~labelled].mean():.1%}":
    "{name}引用时的准确率 {(guess == topics)[~labelled].mean():.1%}",
  // coloured-shapes
  "Images of 24 x 24 pixels in red, green and blue.": "24 x 24 像素的图像，有红、绿、蓝三色。",
  "12 filters of 3 x 3 pixels in three colours": "12 个滤波器，3 x 3 像素，三种颜色",
  "a score for each shape": "每种图形一个得分",
  // connect-four
  "more make it stronger": "越多越强",
  "before training: {games.match(game, me, other, games=20)}":
    "训练前：{games.match(game, me, other, games=20)}",
  "after training: {games.match(game, me, other, games=20)}":
    "训练后：{games.match(game, me, other, games=20)}",
  "Elo rating": "Elo 等级分",
  generation: "代",
  // control-dependencies
  "its input is the value from before the run": "它的输入是运行之前的值",
  "read where this control edge puts it": "在这条控制边规定的时刻读取",
  "To fetch this sum is to move the average, too: a control edge is an edge.":
    "获取这个和，也会更新平均值：控制边也是边。",
  "the counter before it is increased: {before:.0f}, after: {after:.0f}":
    "计数器增加之前：{before:.0f}，之后：{after:.0f}",
  "fed 8, the average is {session.run(answer, {number: 8.0}):.0f}":
    "输入 8，平均值为 {session.run(answer, {number: 8.0}):.0f}",
  // custom-operation
  "From (points, features) and (units, features) to (points, units).":
    "由 (points, features) 和 (units, features) 得到 (points, units)。",
  "How close each point is to each of ``units`` centres.": "每个点离 ``units`` 个中心各有多近。",
  // dates-with-attention
  'characters of "September 27, 1998" and "1998-03-07"':
    '"September 27, 1998" 和 "1998-03-07" 的字符数',
  "Dates as people write them, and as the network should.":
    "人们所写的日期，以及网络应写出的日期。",
  '"^" and all characters but the last': '"^" 和除最后一个以外的所有字符',
  "What has been written before each character.": "每个字符之前已经写出的内容。",
  "the most probable character, one after the other": "逐个写出最可能的字符",
  "{right:.1%} of the dates are right": "{right:.1%} 的日期正确",
  // deep-belief-net
  "Train one machine on ``data``; return what its hidden units make of it.":
    "用 ``data`` 训练一个玻尔兹曼机；返回它的隐藏单元对数据的输出。",
  "{machine.units} units: error {error:.4f}, variance {data.var(axis=0).mean():.4f}":
    "{machine.units} 个单元：误差 {error:.4f}，方差 {data.var(axis=0).mean():.4f}",
  "Put a classifier on top of ``machines``, and train it on the labelled digits.":
    "在 ``machines`` 之上加一个分类器，用有标签的数字训练。",
  "accuracy with pre-training {accuracy(machines):.1%}":
    "有预训练时的准确率 {accuracy(machines):.1%}",
  "accuracy without {accuracy(machines):.1%}": "没有预训练时的准确率 {accuracy(machines):.1%}",
  // denoising-autoencoder
  "squared error {before:.4f} with noise, {after:.4f} restored: {after / before:.0%} left":
    "平方误差：有噪声时 {before:.4f}，还原后 {after:.4f}，剩下 {after / before:.0%}",
  // digits-in-12-kb
  "bytes, as a camera delivers them": "字节，与相机给出的一样",
  "Strides of 2 halve the image, so that there is less to compute and to keep.":
    "步幅为 2，图像逐层减半，要计算和保存的就更少。",
  "8,578 weights in all": "总共 8,578 个权重",
  "A few hundred digits show how large the results of each layer become: their range is divided":
    "几百个数字就能看出每一层的结果有多大：它们的范围分成",
  "into 255 steps. Digits that the network has not seen show what the rounding costs. NumPy computes":
    "255 级。网络没见过的数字则能看出舍入的代价。NumPy 用整数",
  "no faster with integers, but a chip without floating-point numbers does.":
    "并不算得更快，没有浮点运算的芯片却会。",
  "Take the network away as a C file: choose int8 in the page's tab Shrink and save it as C.":
    "把网络存成 C 文件带走：在页面的“压缩”标签中选择 int8，保存为 C。",
  'Or, outside of the page, write small.export("digits.c").':
    '在页面之外，可以写 small.export("digits.c")。',
  // digits-row-by-row
  "(28, 28): 28 steps of 28 pixels": "(28, 28)：28 步，每步 28 个像素",
  "The same weights are used 28 times, so gradients may become large:":
    "同样的权重用了 28 次，梯度可能变得很大：",
  "clip them to a length of 1.": "把它们的范数裁剪到 1。",
  // dilated-convolutions
  seconds: "秒",
  "Sounds of two tones, (count, LENGTH + 1, 1), with a mean power of 1.":
    "由两个音组成的声音，(count, LENGTH + 1, 1)，平均功率为 1。",
  "The first 32 samples of a sound are predicted from less than the network could see.":
    "预测声音的前 32 个采样点时，网络看到的还不足它能看的范围。",
  "error {error:.1%} of the power; repeating the last sample {repeated:.1%}":
    "误差为功率的 {error:.1%}；重复上一个采样点时为 {repeated:.1%}",
  // distilled-digits
  "Halve the image; add the results to the input, as in the small residual network.":
    "把图像减半；把结果加到输入上，与小型残差网络相同。",
  "Train ``model`` with ``count`` digits; return its accuracy on new ones.":
    "用 ``count`` 个数字训练 ``model``；返回它在新数字上的准确率。",
  "teacher {fit(teacher, MANY, epochs=1, rate=0.01):.1%}":
    "教师 {fit(teacher, MANY, epochs=1, rate=0.01):.1%}",
  "student alone {fit(student(), FEW, epochs=20, rate=0.003):.1%}":
    "学生独自学习 {fit(student(), FEW, epochs=20, rate=0.003):.1%}",
  "A Distiller is a model that trains the student: a tenth of the loss is that of the labels, the":
    "Distiller 是训练学生的模型：损失的十分之一来自标签，",
  "rest is the distance from the teacher's probabilities. A temperature above 1 makes those softer,":
    "其余是与教师的概率之间的距离。温度高于 1 时，概率变得更平缓，",
  "so that small ones count, too.": "小的概率也有分量。",
  "student with the teacher {fit(distiller, FEW, epochs=20, rate=0.003):.1%}":
    "学生跟教师学习 {fit(distiller, FEW, epochs=20, rate=0.003):.1%}",
  // film-ratings
  "not shown to the machine": "不给玻尔兹曼机看",
  "error {error(guesses(ratings)):.2f} stars; {error(means):.2f} with the mean of each film":
    "误差 {error(guesses(ratings)):.2f} 颗星；用每部电影的平均分时为 {error(means):.2f}",
  // fine-tuning
  "with layers from elsewhere: {accuracy(tuned):.0%}": "用别处得来的层：{accuracy(tuned):.0%}",
  "from nothing: {accuracy(fresh):.0%}": "从零开始：{accuracy(fresh):.0%}",
  // go-5x5
  "after training: {result}": "训练后：{result}",
  "won {100 * result.score:.0f}% against random moves": "对随机走子赢得 {100 * result.score:.0f}%",
  "the end of its last game": "最后一局的终局",
  // grid-world
  "where a walk can start": "可以作为起点的格子",
  "Return the next places, the rewards, and whether the walks end there.":
    "返回下一个位置、奖励，以及行走是否在那里结束。",
  "From one-hot fields (batch, 36) to the worth of each move (batch, 4), now and some time ago.":
    "由独热编码的格子 (batch, 36) 得到每种走法的价值 (batch, 4)：现在的，和不久前的。",
  "The reward of a step, and the worth of the best move after it.":
    "一步的奖励，加上其后最佳走法的价值。",
  "(places, moves, rewards, next places, ends) of WALKERS steps":
    "WALKERS 步的（位置、走法、奖励、下一个位置、是否结束）",
  "The shortest ways to the goal, by comparing neighbours, and the network's ways.":
    "通过比较相邻的格子求出到终点的最短路，以及网络所走的路。",
  "goal reached from {arrived.sum()} of {len(fields)} fields, {shortest.sum()} shortest ways":
    "到达终点：{arrived.sum()} / {len(fields)} 个格子，最短路 {shortest.sum()} 条",
  // lenet
  "400 numbers": "400 个数",
  // letters-beside-digits
  "Seven rows of five dots for each letter, a row being a number in base 32.":
    "每个字母有七行，每行五个点，一行是一个三十二进制数。",
  "Images (count, 14, 14) from 0 to 1, and their classes, 10 to 35.":
    "图像 (count, 14, 14)，取值 0 到 1，以及它们的类别，10 到 35。",
  "Where in the font each pixel looks, and how near that is to each row and column of dots.":
    "每个像素在字体中的位置，以及该位置离各行各列的点有多近。",
  "The digits, at half their size, and ``count`` letters, with noise on all.":
    "缩小一半的数字和 ``count`` 个字母，都带有噪声。",
  digits: "数字",
  letters: "字母",
  "{(guess == y)[part].mean():.1%} of the {what} are right":
    "{(guess == y)[part].mean():.1%} 的{what}认对了",
  "{NAMES[wrong[0, i]]} read as {NAMES[wrong[1, i]]}: {counts[i]} times":
    "{NAMES[wrong[0, i]]} 认成 {NAMES[wrong[1, i]]}：{counts[i]} 次",
  // logic-trees
  "Return a random tree: a value, or (left, right, operator, value).":
    "返回一棵随机的树：一个值，或者（左，右，运算符，值）。",
  "State, scores and the loss of the whole tree, from what its two children returned.":
    "由两个子节点的结果得到状态、得分和整棵树的损失。",
  "Call a function for each node, as if there were one tree only.":
    "为每个节点调用一个函数，就像只有一棵树一样。",
  "Train on each of ``batches``; return the seconds of the fastest.":
    "在每个 ``batches`` 上训练；返回最快一次所用的秒数。",
  "accuracy {right.mean():.1%}": "准确率 {right.mean():.1%}",
  "{1000 * together:.2f} ms a tree, {1000 * alone:.2f} ms one by one: {alone / together:.0f}x":
    "每棵树 {1000 * together:.2f} ms，逐棵计算 {1000 * alone:.2f} ms：{alone / together:.0f} 倍",
  // mnist-cnn, mnist-mlp
  "add one grey channel": "加一个灰度通道",
  "8 filters of 5 x 5 pixels": "8 个 5 x 5 像素的滤波器",
  "16 filters over 8 channels": "16 个滤波器，跨 8 个通道",
  "Decay the learning rate to a tenth in one epoch (938 batches of 64).":
    "学习率在一轮之内降到十分之一（938 个批次，每批 64 个样本）。",
  "Images of 28 x 28 bytes, and their labels: the digits 0 to 9.":
    "28 x 28 字节的图像，以及它们的标签：数字 0 到 9。",
  "bytes to numbers from 0 to 1": "把字节变成 0 到 1 的数",
  "28 x 28 pixels to 784 inputs": "28 x 28 个像素变成 784 个输入",
  "try 32 or 512 units": "试试 32 或 512 个单元",
  "a score for each digit": "每个数字一个得分",
  // module-networks
  "Return noisy features of each of 3 x 3 fields, and which words hold there: none if empty.":
    "返回 3 x 3 个格子各自带噪声的特征，以及哪些词对它成立：空格子没有。",
  'Return a random program: a word, ("beside", program) or ("and", program, program).':
    '返回一个随机的程序：一个词、("beside", 程序) 或 ("and", 程序, 程序)。',
  "Return the fields that a program finds, by the truth about the picture.":
    "按图片的真实内容，返回程序找到的格子。",
  "Return programs, pictures, and whether there is a field that the program finds.":
    "返回程序、图片，以及程序能否找到格子。",
  "accuracy {(answers == y).mean():.1%} with programs of depth {depth}":
    "准确率 {(answers == y).mean():.1%}，程序深度为 {depth}",
  // molecules
  "of single and of double bonds": "单键和双键的",
  "Return a molecule with its energy.": "返回一个分子和它的能量。",
  "both ways": "两个方向",
  "The sum of the features of neighbours, each times the filter of its bond.":
    "邻居特征之和，每个乘以其化学键的滤波器。",
  "Train a network; return its mean error on molecules that it has not seen.":
    "训练一个网络；返回它在没见过的分子上的平均误差。",
  "of atoms, of bonds, of molecules": "原子、键和分子的个数",
  "error without the kinds of bonds {error(without):.2f}":
    "看不到键的种类时的误差 {error(without):.2f}",
  "error with them {error(molecules):.2f}": "看到时的误差 {error(molecules):.2f}",
  // noise-before-a-classifier
  "accuracy on noisy digits: {alone:.0%}": "有噪声的数字上的准确率：{alone:.0%}",
  "Models are called like layers, and keep their weights.": "模型可以像层一样调用，权重保持不变。",
  "behind the cleaner: {both.evaluate(images, truth, verbose=0)[1]:.0%}":
    "接上去噪网络之后：{both.evaluate(images, truth, verbose=0)[1]:.0%}",
  "trained together: {both.evaluate(images, truth, verbose=0)[1]:.0%}":
    "一起训练之后：{both.evaluate(images, truth, verbose=0)[1]:.0%}",
  // pipeline-schedules
  "schedule       bubble measured  by formula  steps/s    loss":
    "调度                  实测气泡      按公式    步/秒    损失",
  // sampled-neighbours
  "words of the topic": "本主题的词",
  "Return SAMPLES neighbours of each paper: (..., SAMPLES).":
    "返回每篇论文的 SAMPLES 个邻居：(..., SAMPLES)。",
  "A model of the words of papers, of their neighbours, and of the neighbours of those.":
    "一个模型，输入是论文的词、邻居的词和邻居的邻居的词。",
  "each hop uses up the outermost neighbours": "每一跳用掉最外层的邻居",
  "Train on some papers; return the accuracy on the others.":
    "在一部分论文上训练；返回其余论文上的准确率。",
  "accuracy without neighbours {accuracy(0):.1%}": "没有邻居时的准确率 {accuracy(0):.1%}",
  "accuracy with neighbours {accuracy(2):.1%}": "有邻居时的准确率 {accuracy(2):.1%}",
  // schedules-raced
  constant: "恒定值",
  exponential: "指数式",
  cosine: "余弦式",
  "one cycle": "单周期",
  "the same initial weights for all": "所有网络的初始权重相同",
  "{name:12} test accuracy {accuracy:.1%}, loss {loss:.4f}":
    "{name:12} 测试准确率 {accuracy:.1%}，损失 {loss:.4f}",
  // segmentation
  "Images (count, SIZE, SIZE, 1) and the class of each pixel.":
    "图像 (count, SIZE, SIZE, 1) 和每个像素的类别。",
  disc: "圆盘",
  square: "方块",
  "{name}: the overlap is {(a & b).sum() / (a | b).sum():.0%} of the union":
    "{name}：交集为并集的 {(a & b).sum() / (a | b).sum():.0%}",
  // sentiment-trees
  "Return a random tree of about so many words, and its score from -2 to 2.":
    "返回一棵大约有这么多单词的随机的树，以及它从 -2 到 2 的得分。",
  "State and cell of a phrase, from those of its two parts.":
    "由两个部分的状态和单元得到短语的状态和单元。",
  "Return trees, how often each word occurs in them, and classes: negative, mixed, positive.":
    "返回树、每个单词在其中出现的次数，以及类别：贬、中、褒。",
  "trees of any size": "任意大小的树",
  "accuracy of the trees {model.evaluate(new_x, new_y, verbose=0)[1]:.1%}":
    "树的准确率 {model.evaluate(new_x, new_y, verbose=0)[1]:.1%}",
  "accuracy of counted words {bag.evaluate(new_counts, new_y, verbose=0)[1]:.1%}":
    "只数单词的准确率 {bag.evaluate(new_counts, new_y, verbose=0)[1]:.1%}",
  // small-resnet
  "A convolution whose results have mean 0 and deviation 1 in each batch.":
    "一个卷积，它的结果在每个批次中均值为 0、标准差为 1。",
  // sounds-in-four-bits
  "Tones in noise, (count, LENGTH, 1), and their kinds: 0 falls, 1 stays, 2 rises.":
    "噪声中的音调 (count, LENGTH, 1)，以及它们的种类：0 降，1 平，2 升。",
  "cycles per sound, half way through it": "声音正中处的频率，以整段声音的周期数计",
  "6 filters of 16 samples": "6 个滤波器，各 16 个采样点",
  "each sees 44 samples": "每个看到 44 个采样点",
  "each sees 156": "每个看到 156 个",
  "wherever in the sound": "不论在声音的何处",
  "float32: {accuracy(model):.1%}": "float32 的准确率：{accuracy(model):.1%}",
  "rounded to 4 bits: {accuracy(rounded):.1%}": "舍入到 4 位：{accuracy(rounded):.1%}",
  "In this copy each step computes with rounded weights and results, and improves those that are":
    "在这个副本中，每一步都用舍入后的权重和结果计算，而更新的是",
  "not: so the network learns to live with the rounding. quantize then gives what was trained.":
    "未舍入的权重：网络因此学会适应舍入。quantize 给出的就是训练好的网络。",
  "trained with 4 bits: {accuracy(small):.1%}": "带着 4 位舍入训练：{accuracy(small):.1%}",
  // spiral
  "500 points of the plane, and their classes 0 and 1: four fifths to train, the others to test.":
    "平面上的 500 个点和它们的类别 0 和 1：五分之四用来训练，其余用来测试。",
  "Try pg.data.xor, circle, moons or gauss.": "试试 pg.data.xor、circle、moons 或 gauss。",
  'try 4 units, or "tanh"': '试试 4 个单元，或 "tanh"',
  "a score for each class": "每个类别一个得分",
  "accuracy on new points {100 * history.history['val_accuracy'][-1]:.1f}%":
    "新点上的准确率 {100 * history.history['val_accuracy'][-1]:.1f}%",
  // sync-against-async
  "seconds of delay per task": "每个任务延迟的秒数",
  "Records the time at which each loss is reached.": "记录达到每个损失值的时间。",
  "{name}: {len(history.losses)} steps, {speed:.1f} steps/s, loss {loss:.3f}":
    "{name}：{len(history.losses)} 步，{speed:.1f} 步/秒，损失 {loss:.3f}",
  "{loss:.2f} at {seconds:.1f} s": "{loss:.2f} 于 {seconds:.1f} 秒",
  "one device": "单个设备",
  synchronous: "同步",
  asynchronous: "异步",
  "asynchronous, at most 1 batch ahead": "异步，最多领先 1 个批次",
  // tic-tac-toe
  "Boards (..., 9) of 1 and -1 as the network sees them: stones of ``side``, of the other.":
    "1 和 -1 的棋盘 (..., 9) 在网络眼中的样子：``side`` 一方的棋子，对方的棋子。",
  "Return the best move on each board; a random one if it has less than ``opening`` stones.":
    "返回每个棋盘上最好的一步；棋子少于 ``opening`` 个时随机走一步。",
  "Return the boards after each move, which of them were still played, and the winners.":
    "返回每一步之后的棋盘、其中哪些对局还在进行，以及胜者。",
  "Return the share of games that the network loses, half of them as the first player.":
    "返回网络输掉的对局的比例，其中一半由它先走。",
  "lost before training {lost():.1%}": "训练前输掉 {lost():.1%}",
  "the result does not depend on chance any more": "结果不再取决于运气",
  "lost after training {lost():.1%}": "训练后输掉 {lost():.1%}",
  // tic-tac-toe-search
  "Return the games that ``me`` can lose, against every reply; it begins, or it does not.":
    "返回 ``me`` 面对一切应着可能输掉的对局；由它先走，或不由它先走。",
  "ways to lose before training: {lost(me, True) + lost(me, False)}":
    "训练前的输法：{lost(me, True) + lost(me, False)}",
  "ways to lose after training: {lost(me, True) + lost(me, False)}":
    "训练后的输法：{lost(me, True) + lost(me, False)}",
  "against random moves: {result}": "对随机走子：{result}",
  // two-graphs
  "its own value of the variable": "变量在这个会话中的值",
  "step {step:2}: slopes {a:.3f} and {b:.3f}, {gap:.3f} apart":
    "第 {step:2} 步：斜率 {a:.3f} 和 {b:.3f}，相差 {gap:.3f}",
  // used-car-prices
  "years, kilometres, kilowatts, diesel or not; euros": "年数、公里数、千瓦数、是否柴油；欧元",
  "mean error {error:.0f} euros; {guess:.0f} if all prices were the mean":
    "平均误差 {error:.0f} 欧元；都猜平均价时为 {guess:.0f}",
  "{car[0]:.0f} years, {car[1]:,.0f} km, {car[2]:.0f} kW: {euros:,.0f} euros":
    "{car[0]:.0f} 年，{car[1]:,.0f} km，{car[2]:.0f} kW：{euros:,.0f} 欧元",
  // variational-autoencoder
  "The noise is a factor beside the weights, so that gradients pass (reparametrization).":
    "噪声是权重之外的一个因子，梯度因此能够通过（重参数化）。",
  "The logits of the pixels, (batch, 784), of codes (batch, CODES).":
    "由编码 (batch, CODES) 得到像素的 logits，(batch, 784)。",
  "The Kullback-Leibler divergence of the clouds from the normal distribution, in nats.":
    "编码团与正态分布的 KL 散度，单位为纳特。",
  "the cross-entropy is the mean over 784 pixels": "交叉熵是 784 个像素的平均",
  "{history.history['loss'][-1]:.0f} nats per image":
    "每幅图像 {history.history['loss'][-1]:.0f} 纳特",
  "{1 - ((unseen - restored) ** 2).mean() / variance:.0%} of the variance restored":
    "还原了方差的 {1 - ((unseen - restored) ** 2).mean() / variance:.0%}",
  "every other row": "每隔一行",
};
