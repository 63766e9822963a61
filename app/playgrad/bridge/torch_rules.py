"""Names of PyTorch."""

from __future__ import annotations

from playgrad.bridge.rule import Rule

_LOOP = (
    "model.fit runs the loop; in a loop of your own, optimizer.minimize(loss) updates the weights."
)
_FIT: Rule = {"no": _LOOP}
_POOL = "kernel_size>pool_size stride>strides"
_CONV = "-in_channels out_channels>filters kernel_size stride>strides"
_RECURRENT = "-input_size hidden_size>units -num_layers bias>use_bias -batch_first"

RULES: dict[str, Rule] = {
    "torch.nn.Linear": {"to": "nn.Dense", "args": "-in_features out_features>units bias>use_bias"},
    "torch.nn.Conv1d": {"to": "nn.Conv1D", "args": _CONV},
    "torch.nn.Conv2d": {"to": "nn.Conv2D", "args": _CONV},
    "torch.nn.ConvTranspose2d": {"to": "nn.Conv2DTranspose", "args": _CONV},
    "torch.nn.MaxPool1d": {"to": "nn.MaxPool1D", "args": _POOL},
    "torch.nn.MaxPool2d": {"to": "nn.MaxPool2D", "args": _POOL},
    "torch.nn.AvgPool2d": {"to": "nn.AveragePool2D", "args": _POOL},
    "torch.nn.AdaptiveAvgPool2d": {"to": "nn.GlobalAveragePooling2D", "args": "-output_size"},
    "torch.nn.BatchNorm1d": {"to": "nn.BatchNormalization", "args": "-num_features eps>epsilon"},
    "torch.nn.BatchNorm2d": {"to": "nn.BatchNormalization", "args": "-num_features eps>epsilon"},
    "torch.nn.LayerNorm": {"to": "nn.LayerNormalization", "args": "-normalized_shape eps>epsilon"},
    "torch.nn.Dropout": {"to": "nn.Dropout", "args": "p>rate -inplace"},
    "torch.nn.Dropout2d": {"to": "nn.SpatialDropout2D", "args": "p>rate -inplace"},
    "torch.nn.ReLU": {"to": "nn.ReLU", "args": "-inplace"},
    "torch.nn.Tanh": {"call": '@nn.Activation("tanh")'},
    "torch.nn.Sigmoid": {"call": '@nn.Activation("sigmoid")'},
    "torch.nn.GELU": {"call": '@nn.Activation("gelu")'},
    "torch.nn.SiLU": {"call": '@nn.Activation("silu")'},
    "torch.nn.Softmax": {"to": "nn.Softmax", "args": "dim>axis"},
    "torch.nn.LSTM": {"to": "nn.LSTM", "args": _RECURRENT, "set": "return_sequences=True"},
    "torch.nn.GRU": {"to": "nn.GRU", "args": _RECURRENT, "set": "return_sequences=True"},
    "torch.nn.Embedding": {"to": "nn.Embedding", "args": "num_embeddings>input_dim "
                           "embedding_dim>output_dim -padding_idx"},
    "torch.nn.Sequential": {"to": "Sequential", "list": True},
    "torch.nn.CrossEntropyLoss": {
        "to": "nn.SparseCategoricalCrossentropy", "args": "", "set": "from_logits=True",
    },
    "torch.nn.NLLLoss": {"to": "nn.SparseCategoricalCrossentropy", "args": ""},
    "torch.nn.MSELoss": {"to": "nn.MeanSquaredError", "args": ""},
    "torch.nn.L1Loss": {"to": "nn.MeanAbsoluteError", "args": ""},
    "torch.nn.SmoothL1Loss": {"to": "nn.Huber", "args": "-size_average"},
    "torch.nn.BCELoss": {"to": "nn.BinaryCrossentropy", "args": ""},
    "torch.nn.BCEWithLogitsLoss": {
        "to": "nn.BinaryCrossentropy", "args": "", "set": "from_logits=True",
    },
    "torch.nn.Module": {
        "no": "A network is pg.Sequential([...]) or pg.Model(inputs, outputs); a layer of your own "
        "is a subclass of nn.Layer with build and call.",
    },
    "torch.nn.Parameter": {"to": "Variable"},
    "torch.nn.functional.cross_entropy": {
        "call": "@reduce_mean(@sparse_softmax_cross_entropy({input}, {target}))",
        "params": "input target",
    },
    "torch.nn.functional.mse_loss": {
        "call": "@reduce_mean(@squared_difference({input}, {target}))", "params": "input target",
    },
    "torch.nn.functional.softmax": {"to": "softmax", "args": "input>x dim>axis"},
    "torch.nn.functional.log_softmax": {"to": "log_softmax", "args": "input>x dim>axis"},
    "torch.nn.functional.one_hot": {"to": "one_hot"},
    "torch.nn.functional.dropout": {"to": "dropout", "args": "input>x p>rate"},
    "torch.nn.functional.max_pool2d": {"to": "max_pool2d"},
    **{
        f"torch.optim.{name}": {"to": f"optim.{name}", "args": "-params lr>learning_rate"}
        for name in ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad")
    },
    "torch.optim.SGD": {
        "to": "optim.SGD", "args": "-params lr>learning_rate momentum -dampening",
    },
    "torch.tensor": {"to": "constant"},
    "torch.from_numpy": {"to": "constant"},
    "torch.manual_seed": {"to": "reset_default_graph"},
    "torch.randn": {"call": "@random_normal({*:shape})"},
    "torch.rand": {"call": "@random_uniform({*:shape})"},
    "torch.zeros": {"call": "@zeros({*:shape})"},
    "torch.ones": {"call": "@ones({*:shape})"},
    "torch.cat": {"to": "concatenate"},
    "torch.unsqueeze": {"to": "expand_dims"},
    "torch.mm": {"to": "matmul"},
    "torch.sum": {"to": "reduce_sum", "args": "input>x dim>axis"},
    "torch.mean": {"to": "reduce_mean", "args": "input>x dim>axis"},
    "torch.no_grad": {"no": "model.predict computes no gradients."},
    "torch.device": {"no": 'model.compile(device="gpu") chooses the device.'},
    "torch.save": {"no": "model.save_weights(file) saves the weights."},
    "torch.load": {"no": "model.load_weights(file) loads weights into a model."},
    "*.backward": _FIT,
    "*.zero_grad": {**_FIT, "drop": True},
    "*.state_dict": {"no": "model.get_weights() returns the weights by name."},
    "optim.Optimizer.zero_grad": {**_FIT, "drop": True},
    "optim.Optimizer.step": _FIT,
    "Model.parameters": {"call": "{self}.trainable_variables"},
    "Model.state_dict": {"call": "{self}.get_weights()"},
    "Model.eval": {"no": "predict and evaluate know that they do not train.", "drop": True},
    "Model.train": {"no": "fit knows that it trains.", "drop": True},
    "Model.to": {"no": 'model.compile(device="gpu") chooses the device.', "drop": True},
    "Model.cuda": {"no": 'model.compile(device="gpu") chooses the device.', "drop": True},
}  # fmt: skip

ABSENT = {
    r"torch\.utils\.data.*": "Use pg.data.Dataset.from_tensor_slices((x, y)).shuffle(n).batch(n).",
    r"torch\.optim\.lr_scheduler\..*": (
        "Pass a schedule as the rate: pg.optim.ExponentialDecay(...)."
    ),
    r"torch\.optim\..*": "pg.optim.Adam and pg.optim.AdamW cover its uses.",
    r"torch\.cuda.*": 'model.compile(device="gpu") chooses the device.',
    r"torchvision.*": "pg.data.mnist() has the digits; pg.data.read_npz reads arrays.",
    r"torch\.nn\.functional\..*": "Operations have NumPy's names in playgrad, such as pg.relu.",
    r"torch\.nn\..*": "Layers have the names of Keras: nn.Dense, nn.Conv2D.",
    r"torch\..*": "Operations have NumPy's names in playgrad; the reference lists them.",
}
