"""Names of Keras, and of playgrad's own objects as a Keras user knows them."""

from __future__ import annotations

from playgrad.bridge.rule import Rule

_ONLY_MNIST = (
    "Of Keras' data sets there are pg.data.mnist() and fashion_mnist(), and small colour images "
    "are made by pg.data.shapes(). pg.data.read_csv and read_npz read files."
)

_PART = "@clip({y_pred}, 1e-7, 1 - 1e-7)"
_SQUARES = "@mean(@square({y_true} - {y_pred}), axis=-1)"
_DISTANCES = "@mean(@abs({y_true} - {y_pred}), axis=-1)"
_EACH_STEP = {
    "sparse_categorical_crossentropy": f"@sparse_softmax_cross_entropy(@log({_PART}), {{y_true}})",
    "categorical_crossentropy": f"@sum(-{{y_true}} * @log({_PART}), axis=-1)",
    "binary_crossentropy": (
        f"@mean(-{{y_true}} * @log({_PART}) - (1 - {{y_true}}) * @log(1 - {_PART}), axis=-1)"
    ),
    "mean_squared_error": _SQUARES,
    "mse": _SQUARES,
    "mean_absolute_error": _DISTANCES,
    "mae": _DISTANCES,
}
"""Losses as functions, along the last axis."""

RULES: dict[str, Rule] = {
    # Layers under other names
    "keras.layers.AvgPool1D": {"to": "nn.AveragePool1D"},
    "keras.layers.AvgPool2D": {"to": "nn.AveragePool2D"},
    "keras.layers.Convolution1D": {"to": "nn.Conv1D"},
    "keras.layers.Convolution2D": {"to": "nn.Conv2D"},
    "keras.layers.Convolution2DTranspose": {"to": "nn.Conv2DTranspose"},
    "keras.layers.GlobalAvgPool1D": {"to": "nn.GlobalAveragePooling1D"},
    "keras.layers.GlobalAvgPool2D": {"to": "nn.GlobalAveragePooling2D"},
    "keras.layers.GlobalMaxPool1D": {"to": "nn.GlobalMaxPooling1D"},
    "keras.layers.GlobalMaxPool2D": {"to": "nn.GlobalMaxPooling2D"},
    "keras.layers.SeparableConvolution2D": {"to": "nn.SeparableConv2D"},
    "keras.layers.CuDNNLSTM": {"to": "nn.LSTM"},
    "keras.layers.CuDNNGRU": {"to": "nn.GRU"},
    "keras.layers.InputLayer": {"to": "Input", "args": "input_shape>shape batch_size dtype"},
    "keras.layers.concatenate": {
        "call": "@nn.Concatenate(axis={axis|-1})({inputs})", "params": "inputs axis",
    },
    "keras.layers.add": {"call": "@nn.Add()({inputs})", "params": "inputs"},
    "keras.layers.average": {"call": "@nn.Average()({inputs})", "params": "inputs"},
    "keras.layers.maximum": {"call": "@nn.Maximum()({inputs})", "params": "inputs"},
    "keras.layers.multiply": {"call": "@nn.Multiply()({inputs})", "params": "inputs"},
    "keras.layers.subtract": {"call": "@nn.Subtract()({inputs})", "params": "inputs"},
    # Losses and metrics
    # Regularizers, constraints and initializers by their functions
    "keras.regularizers.l1": {"to": "nn.L1"},
    "keras.regularizers.l2": {"to": "nn.L2"},
    "keras.regularizers.l1_l2": {"to": "nn.L1L2"},
    "keras.constraints.max_norm": {"to": "nn.MaxNorm"},
    "keras.constraints.non_neg": {"to": "nn.NonNeg"},
    "keras.constraints.unit_norm": {"to": "nn.UnitNorm"},
    "keras.constraints.min_max_norm": {"to": "nn.MinMaxNorm"},
    "keras.initializers.he_normal": {"to": "nn.HeNormal"},
    "keras.initializers.glorot_uniform": {"to": "nn.GlorotUniform"},
    **{
        f"keras.losses.{name}": {"value": f'"{name}"', "call": call, "params": "y_true y_pred"}
        for name, call in _EACH_STEP.items()
    },
    "keras.activations.linear": {"value": '"linear"'},
    # Data and utilities
    "keras.datasets.mnist.load_data": {"call": "@data.mnist()"},
    "keras.datasets.fashion_mnist.load_data": {"call": "@data.fashion_mnist()"},
    **{
        f"data.{name}.load_data": {"no": _ONLY_MNIST}
        for name in ("boston_housing", "cifar10", "cifar100", "imdb")
    },
    "data.fashion_mnist.load_data": {"call": "{self}()"},
    "data.mnist.load_data": {"call": "{self}()"},
    "keras.utils.to_categorical": {
        "call": "np.eye({num_classes|int(np.max({x})) + 1})[{x}]", "params": "x num_classes",
    },
    "keras.utils.normalize": {
        "call": "{x} / np.linalg.norm({x}, axis={axis|-1}, keepdims=True)", "params": "x axis",
    },
    "keras.utils.plot_model": {
        "call": "{model}.summary()", "params": "model",
        "no": "The page shows the graph of the network; model.summary() prints its layers.",
    },
    "keras.utils.set_random_seed": {
        "to": "reset_default_graph",
        "no": "The seed belongs to the graph: pg.reset_default_graph(seed).",
    },
    "keras.backend.clear_session": {"to": "reset_default_graph"},
    "keras.saving.load_model": {"to": "load_model"},
    "keras.utils.pad_sequences": {
        "call": "np.array([(list(each) + [0] * {maxlen})[:{maxlen}] for each in {sequences}])",
        "params": "sequences maxlen",
        "no": "Padding is at the end here, where layers expect it.",
    },
    "keras.preprocessing.sequence.pad_sequences": {
        "call": "np.array([(list(each) + [0] * {maxlen})[:{maxlen}] for each in {sequences}])",
        "params": "sequences maxlen",
        "no": "Padding is at the end here, where layers expect it.",
    },
    "keras.Loss": {"to": "nn.Loss"},
    "keras.Layer": {"to": "nn.Layer"},
    "keras.random.SeedGenerator": {"call": "{seed|None}", "params": "seed"},
    "keras.random.normal": {"call": "{shape:normal}", "params": "shape"},
    "keras.random.uniform": {"to": "random_uniform", "args": "shape minval maxval -dtype -seed"},
    "keras.ops.shape": {"call": "{x}.shape", "params": "x"},
    "keras.callbacks.TensorBoard": {
        "call": "@nn.Callback()", "no": "The page draws the curves by itself.",
    },
    "keras.models.model_from_json": {"to": "model_from_json"},
    "keras.models.clone_model": {"call": "{model}.clone()", "params": "model"},
    "keras.utils.image_dataset_from_directory": {"to": "data.image_dataset_from_directory"},
    "keras.preprocessing.image_dataset_from_directory": {
        "to": "data.image_dataset_from_directory"
    },
    # Methods of models and layers
    "Model.predict_classes": {
        "call": "{self}.predict({x}).argmax(axis=-1)", "params": "x",
    },
    "Model.fit_generator": {
        "call": "{self}.fit({*})", "no": "fit takes generators and data sets.",
    },
    "Model.predict_on_batch": {"call": "{self}.predict({x})", "params": "x"},
    "Model.add_loss": {"no": "Regularizers add to the loss; for other losses write a loop."},
    "optim.Optimizer.lr": {"value": "{self}.learning_rate"},
}  # fmt: skip

ABSENT = {
    r"keras\.datasets\.(cifar10|cifar100|imdb|reuters|.*_housing)": _ONLY_MNIST,
    r"keras\.datasets\..*": _ONLY_MNIST,
    r"keras\.(preprocessing|utils\.(image_dataset|text_dataset|timeseries).*).*": (
        "Prepare data with NumPy; nn.RandomFlip, RandomRotation and others augment images."
    ),
    r"keras\.utils\.get_file": (
        "The page downloads nothing: open your data under Data, and read it with pg.data.read_csv "
        "or read_npz."
    ),
    r"keras\.applications\..*": (
        "Pretrained models are not here; model.load_weights(file) loads weights that you have."
    ),
    r"keras\.callbacks\.(BackupAndRestore|RemoteMonitor|ProgbarLogger).*": (
        "nn.LambdaCallback calls functions of yours; runs are resumed by themselves."
    ),
    r"keras\.callbacks\..*": "Write a subclass of nn.Callback, or use nn.LambdaCallback.",
    r"keras\.layers\..*3D.*": "Windows have one or two dimensions: nn.Conv2D, nn.MaxPool2D.",
    r"keras\.layers\.(Attention|AdditiveAttention)": "The nearest is nn.MultiHeadAttention.",
    r"keras\.layers\.(RNN|.*Cell|ConvLSTM.*)": "Use nn.LSTM, nn.GRU or nn.SimpleRNN, or pg.scan.",
    r"keras\.layers\..*": "Write a layer of a few lines (a subclass of nn.Layer), or nn.Lambda.",
    r"keras\.losses\..*": "A function of (y_true, y_pred) is a loss.",
    r"keras\.metrics\..*": "A function of (y_true, y_pred) is a metric.",
    r"keras\.optimizers\.schedules\..*": "A subclass of pg.optim.Schedule is a schedule.",
    r"keras\.optimizers\..*": "pg.optim.Adam and pg.optim.AdamW cover its uses.",
    r"keras\.mixed_precision.*": (
        'model.compile(precision="mixed") rounds the operands of products to float16; there is no '
        "loss to scale."
    ),
}

_FLOAT = "everything is float32"


def _gone(names: str, why: str) -> dict[str, Rule]:
    return {name: {"no": why, "drop": True} for name in names.split()}


ARGUMENTS: dict[str, dict[str, Rule]] = {
    # Functions of TensorFlow 1 and PyTorch that have the same name here
    "*": {
        "dim": {"to": "axis"},
        "reduction_indices": {"to": "axis"},
        "keepdim": {"to": "keepdims"},
        "keep_dims": {"to": "keepdims"},
        "input": {"to": "x"},
        "tensors": {"to": "values"},
        **_gone("inplace", "operations return new tensors"),
        **_gone("requires_grad", "pg.gradients(loss, variables) differentiates by any variable"),
    },
    "nn.Layer": {
        **_gone(
            "input_shape input_dim batch_input_shape input_length",
            "the shape comes from the data, or from pg.Input(shape) as the first item",
        ),
        **_gone("dtype", _FLOAT),
        **_gone("trainable", "set layer.trainable after creating it"),
        **_gone("activity_regularizer", "use kernel_regularizer"),
        "alpha": {"to": "negative_slope"},
        "rate": {"to": "rate"},
    },
    "optim.Optimizer": {
        "lr": {"to": "learning_rate"},
        "decay": {"no": "use a schedule, such as pg.optim.InverseTimeDecay", "drop": True},
        **_gone("jit_compile", "every step is compiled"),
        "betas": {"no": "use beta_1 and beta_2", "drop": True},
        "eps": {"to": "epsilon"},
    },
    "Model.fit": {
        **_gone("workers use_multiprocessing max_queue_size", "data needs no workers"),
        **_gone("validation_batch_size validation_freq", "validation runs after each epoch"),
        "nb_epoch": {"to": "epochs"},
    },
    "Model.compile": {
        **_gone("run_eagerly", "use with pg.eager(): to look around"),
        **_gone("jit_compile steps_per_execution", "every step is compiled"),
        "lr": {"no": "pass an optimizer: pg.optim.Adam(0.01)", "drop": True},
    },
    "Model.evaluate": _gone("callbacks", "evaluate has no callbacks"),
    "Model.predict": _gone("callbacks", "predict has no callbacks"),
    "Model.summary": _gone("line_length expand_nested show_trainable", "it prints all layers"),
    "Sequential.build": {
        "input_shape": {"call": "tuple({value})[1:]", "no": "build takes the shape of one sample"},
    },
    "nn.Callback": _gone("verbose", "callbacks print nothing"),
    "nn.Loss": _gone("name", "losses and metrics are named by their kind"),
    "plot": {
        **_gone(
            "color c linewidth lw linestyle ls marker markersize ms alpha figsize zorder",
            "the page chooses colours and lines",
        ),
    },
    "show": {
        **_gone("interpolation aspect origin alpha", "the page draws each number as a square"),
        "cmap": {"no": 'use colours="grey" or "diverging"', "drop": True},
        "vmin": {"to": "low"},
        "vmax": {"to": "high"},
    },
    "nn.Metric": _gone("dtype", _FLOAT),
    "Input": _gone("sparse ragged tensor", "an input is a dense array"),
}
