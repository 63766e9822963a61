"""Names of PyTorch."""

# ruff: noqa: E501 - rows of a table

from __future__ import annotations

from playgrad.bridge.rule import Rule
from playgrad.nn.layer import RECORDED as LAYERS
from playgrad.nn.layer import Layer
from playgrad.optim.optimizer import RECORDED as OPTIMIZERS
from playgrad.records import CHANNELS_FIRST

_LOOP = (
    "With pg.GradientTape() as tape, compute the loss; then optimizer.apply_gradients(zip("
    "tape.gradient(loss, weights), weights)) updates the weights."
)
_FIT: Rule = {"no": _LOOP}
_TAPE = "Only a tape records gradients here."
_SCHEDULE = (
    "Pass a schedule as the rate, pg.optim.ExponentialDecay(...), which counts steps itself."
)
_PLACE = 'model.compile(device="gpu") chooses the device.'


def _loss(text: str) -> Rule:
    """Return a rule for a loss of samples, of which a function of PyTorch takes the mean."""
    call = f"@mean({text})"
    names = call.replace("{input}", "input").replace("{target}", "target")
    return {"call": call, "params": "input target", "value": f"(lambda input, target: {names})"}


def _layer(layer: type[Layer], args: str, settings: str = "") -> Rule:
    """Return the rule for a module that a layer replaces."""
    rule: Rule = {"to": f"nn.{layer.__name__}", "args": args}
    return {**rule, "set": settings} if settings else rule


_SCALED = "Images are divided by 255 already; map(function) of the data set changes them."


def _digits(name: str) -> Rule:
    """Return a rule for a data set of images, as tensors of PyTorch with their labels."""
    return {
        "call": "@data.Dataset.from_tensor_slices(("
        f"@data.{name}()[{{train:part}}][0][:, None] / np.float32(255), "
        f"@data.{name}()[{{train:part}}][1]))",
        "params": "root train",
    }


RULES: dict[str, Rule] = {
    **{
        f"torch.nn.{name}": _layer(each, *rule)
        for each in LAYERS.values()
        for name, rule in each.record.from_torch.items()
    },
    "torch.nn.Identity": {"to": "nn.Identity", "args": ""},
    "torch.nn.LogSoftmax": {
        "call": "@nn.Lambda(lambda x: @log_softmax(x, axis={dim|-1}))", "params": "dim",
    },
    "torch.nn.Tanh": {"call": '@nn.Activation("tanh")'},
    "torch.nn.Sigmoid": {"call": '@nn.Activation("sigmoid")'},
    "torch.nn.GELU": {"call": '@nn.Activation("gelu")'},
    "torch.nn.SiLU": {"call": '@nn.Activation("silu")'},
    "torch.nn.TransformerEncoderLayer": {
        "no": "nn.TransformerEncoder(intermediate_dim, num_heads) is one block, of sequences with "
        "the batch first.",
    },
    "torch.nn.TransformerEncoder": {
        "no": "nn.TransformerEncoder(intermediate_dim, num_heads) is one block: make a list of them.",
    },
    "torch.nn.MultiheadAttention": {
        "no": "nn.MultiHeadAttention(num_heads, key_dim) takes sequences with the batch first.",
    },
    "torch.nn.Sequential": {"to": "Sequential", "list": True},
    "torch.nn.CrossEntropyLoss": {
        "to": "nn.SparseCategoricalCrossentropy", "args": "", "set": "from_logits=True",
    },
    "torch.nn.NLLLoss": {  # of logarithms of probabilities, which are logits, too
        "to": "nn.SparseCategoricalCrossentropy", "args": "", "set": "from_logits=True",
    },
    "torch.nn.MSELoss": {"to": "nn.MeanSquaredError", "args": ""},
    "torch.nn.L1Loss": {"to": "nn.MeanAbsoluteError", "args": ""},
    "torch.nn.SmoothL1Loss": {"to": "nn.Huber", "args": "-size_average"},
    "torch.nn.BCELoss": {"to": "nn.BinaryCrossentropy", "args": ""},
    "torch.nn.BCEWithLogitsLoss": {
        "to": "nn.BinaryCrossentropy", "args": "", "set": "from_logits=True",
    },
    "torch.nn.Module": {"to": "Model"},
    "torch.nn.Parameter": {"to": "Variable"},
    "torch.nn.functional.cross_entropy": _loss("@sparse_softmax_cross_entropy({input}, {target})"),
    "torch.nn.functional.nll_loss": _loss("@sparse_softmax_cross_entropy({input}, {target})"),
    "torch.nn.functional.mse_loss": _loss("@squared_difference({input}, {target})"),
    "torch.nn.functional.l1_loss": _loss("@abs({input} - {target})"),
    "torch.nn.functional.binary_cross_entropy": _loss(
        '@nn.BinaryCrossentropy()({target}, {input})'
    ),
    "torch.nn.functional.binary_cross_entropy_with_logits": _loss(
        '@nn.BinaryCrossentropy(from_logits=True)({target}, {input})'
    ),
    "torch.nn.functional.softmax": {"to": "softmax", "args": "input>x dim>axis"},
    "torch.nn.functional.log_softmax": {"to": "log_softmax", "args": "input>x dim>axis"},
    "torch.nn.functional.one_hot": {"to": "one_hot"},
    "torch.nn.functional.dropout": {"to": "dropout", "args": "input>x p>rate"},
    "torch.nn.functional.max_pool2d": {
        "call": f"@nn.MaxPool2D({{kernel_size}}, {{stride|None}}, {CHANNELS_FIRST})({{input}})",
        "params": "input kernel_size stride",
    },
    "torch.nn.functional.avg_pool2d": {
        "call": f"@nn.AveragePool2D({{kernel_size}}, {{stride|None}}, {CHANNELS_FIRST})({{input}})",
        "params": "input kernel_size stride",
    },
    "torch.nn.functional.relu": {"to": "relu", "args": "input>x -inplace"},
    "torch.nn.functional.leaky_relu": {
        "to": "leaky_relu", "args": "input>x negative_slope -inplace",
    },
    **{
        f"torch.optim.{each.__name__}": {
            "to": f"optim.{each.__name__}", "args": each.record.from_torch,
        }
        for each in OPTIMIZERS.values() if each.record.from_torch
    },
    "torch.tensor": {"call": "np.array({data}, {dtype|None})", "params": "data"},
    "torch.as_tensor": {"call": "np.asarray({data}, {dtype|None})", "params": "data"},
    "torch.Tensor": {"call": 'np.array({data}, "float32")', "params": "data"},
    "torch.FloatTensor": {"call": 'np.array({data}, "float32")', "params": "data"},
    "torch.LongTensor": {"call": 'np.array({data}, "int32")', "params": "data"},
    "torch.from_numpy": {"call": "{ndarray}", "params": "ndarray"},
    "torch.manual_seed": {"call": "np.random.seed({seed})", "params": "seed"},
    "torch.cuda.manual_seed": {"no": _PLACE, "drop": True},
    "torch.cuda.manual_seed_all": {"no": _PLACE, "drop": True},
    "torch.randn": {"call": 'np.random.standard_normal({*:sizes}).astype("float32")'},
    "torch.rand": {"call": 'np.random.random({*:sizes}).astype("float32")'},
    "torch.zeros": {"call": 'np.zeros({*:sizes}, {dtype|"float32"})'},
    "torch.ones": {"call": 'np.ones({*:sizes}, {dtype|"float32"})'},
    "torch.empty": {"call": 'np.zeros({*:sizes}, {dtype|"float32"})'},
    "torch.full": {"call": "np.full({size}, {fill_value})", "params": "size fill_value"},
    "torch.eye": {"call": 'np.eye({n}, dtype="float32")', "params": "n"},
    "torch.randn_like": {"call": "@nn.GaussianNoise(1.0)(@zeros_like({input}), training=True)", "params": "input"},
    "torch.rand_like": {"call": "@random_uniform({input}.shape)", "params": "input"},
    "torch.zeros_like": {"to": "zeros_like", "args": "input>x"},
    "torch.ones_like": {"to": "ones_like", "args": "input>x"},
    "torch.randint": {"call": "np.random.randint({*:bounds})"},
    "torch.randperm": {"call": "np.random.permutation({n})", "params": "n"},
    "torch.arange": {"call": "np.arange({*:numbers})"},
    "torch.linspace": {"call": 'np.linspace({*:numbers}).astype("float32")'},
    "torch.cat": {"to": "concatenate", "args": "tensors>values dim>axis"},
    "torch.stack": {"to": "stack", "args": "tensors>values dim>axis"},
    "torch.unsqueeze": {"to": "expand_dims", "args": "input>x dim>axis"},
    "torch.squeeze": {"to": "squeeze", "args": "input>x dim>axis"},
    "torch.mm": {"to": "matmul"},
    "torch.bmm": {"to": "matmul"},
    "torch.flatten": {
        "call": "@nn.Flatten()({input})", "params": "input",
    },
    "torch.reshape": {"to": "reshape", "args": "input>x shape"},
    "torch.pow": {"call": "({input} ** {exponent})", "params": "input exponent"},
    "torch.eq": {"call": "@equal({input}, {other})", "params": "input other"},
    "torch.softmax": {"to": "softmax", "args": "input>x dim>axis"},
    "torch.log_softmax": {"to": "log_softmax", "args": "input>x dim>axis"},
    "torch.argmax": {"to": "argmax", "args": "input>x dim>axis keepdim>keepdims"},
    "torch.sum": {"to": "reduce_sum", "args": "input>x dim>axis keepdim>keepdims"},
    "torch.mean": {"to": "reduce_mean", "args": "input>x dim>axis keepdim>keepdims"},
    "torch.max": {
        "call": "({input}.max(axis={dim}), {input}.argmax(axis={dim}))", "params": "input dim",
        "no": "It returns the numbers and where they are.",
    },
    "torch.min": {
        "call": "({input}.min(axis={dim}), {input}.argmin(axis={dim}))", "params": "input dim",
        "no": "It returns the numbers and where they are.",
    },
    **{
        f"torch.{name}": {"value": f'"{dtype}"'}
        for name, dtype in {
            "float": "float32", "float32": "float32", "double": "float32", "float64": "float32",
            "half": "float16", "float16": "float16", "long": "int32", "int64": "int32",
            "int": "int32", "int32": "int32", "uint8": "uint8", "int8": "int8", "bool": "bool",
        }.items()
    },
    "torch.__version__": {"value": "@__version__"},
    "torch.no_grad": {"call": "@eager()", "drop": True, "no": _TAPE},
    "torch.inference_mode": {"call": "@eager()", "drop": True, "no": _TAPE},
    "torch.device": {"call": "{type}", "params": "type"},
    "torch.cuda.is_available": {"call": 'any("gpu" in str(each) for each in @devices())'},
    "torch.backends.mps.is_available": {"call": "False"},
    "torch.compile": {"call": "{model}", "params": "model", "no": "Every step is compiled."},
    "torch.nn.utils.clip_grad_norm_": {
        "no": "pg.optim.Adam(global_clipnorm=1.0) clips gradients.", "drop": True,
    },
    "torch.utils.data.TensorDataset": {"call": "@data.Dataset.from_tensor_slices(({*}))"},
    "torch.utils.data.DataLoader": {
        "call": "@data.Dataset.from_sequence({dataset}){shuffle:shuffled}.batch({batch_size|1})",
        "params": "dataset batch_size shuffle",
    },
    "torch.utils.data.Dataset": {"value": "object"},
    "torch.utils.data.random_split": {
        "call": "[{dataset}.skip(sum({lengths}[:i])).take(n) for i, n in enumerate({lengths})]",
        "params": "dataset lengths",
    },
    "torchvision.datasets.MNIST": _digits("mnist"),
    "torchvision.datasets.FashionMNIST": _digits("fashion_mnist"),
    "torchvision.transforms.Compose": {"no": _SCALED, "drop": True},
    "torchvision.transforms.ToTensor": {"no": _SCALED, "drop": True},
    "torchvision.transforms.Normalize": {"no": _SCALED, "drop": True},
    "torch.save": {"no": "model.save_weights(file) saves the weights."},
    "torch.load": {"no": "model.load_weights(file) loads weights into a model."},
    "torch.Tensor.backward": _FIT,
    "torch.Tensor.zero_grad": {**_FIT, "drop": True},
    "optim.Optimizer.zero_grad": {**_FIT, "drop": True},
    "optim.Optimizer.step": _FIT,
    "optim.Optimizer.state_dict": {"no": "model.save_weights(file) saves weights alone."},
    "torch.Tensor.grad": {"no": "tape.gradient(loss, [x]) returns the gradients."},
    "torch.Tensor.state_dict": {"call": "{self}.named_weights()"},
    "torch.Tensor.load_state_dict": {"call": "{self}.set_weights({state_dict})", "params": "state_dict"},
    "torch.Tensor.parameters": {"call": "{self}.trainable_variables"},
    "torch.Tensor.eval": {"call": "{self}", "no": "predict and evaluate know that they do not train.", "drop": True},
    "torch.Tensor.train": {"call": "{self}", "no": "fit knows that it trains.", "drop": True},
    "torch.Tensor.register_buffer": {
        "no": "Keep the array in an attribute: self.name = array.",
    },
    **{
        f"torch.Tensor.{name}": {"call": "{self}"}
        for name in ("to", "cuda", "cpu", "clone", "contiguous", "requires_grad_")
    },
    "torch.Tensor.detach": {"call": "@stop_gradient({self})"},
    "torch.Tensor.data": {"value": "{self}"},
    "torch.Tensor.dataset": {"value": "{self}.unbatch()"},
    "torch.Tensor.size": {"call": "{self}.shape[{dim|:}]", "params": "dim"},
    "torch.Tensor.dim": {"call": "len({self}.shape)"},
    "torch.Tensor.view": {"call": "{self}.reshape({*})"},
    "torch.Tensor.view_as": {"call": "{self}.reshape({other}.shape)", "params": "other"},
    "torch.Tensor.permute": {"call": "{self}.transpose({*})"},
    "torch.Tensor.t": {"call": "{self}.transpose()"},
    "torch.Tensor.float": {"call": '{self}.astype("float32")'},
    "torch.Tensor.long": {"call": '{self}.astype("int32")'},
    "torch.Tensor.int": {"call": '{self}.astype("int32")'},
    "torch.Tensor.type": {"call": "{self}.astype({dtype})", "params": "dtype"},
    "torch.Tensor.pow": {"call": "({self} ** {exponent})", "params": "exponent"},
    "torch.Tensor.eq": {"call": "@equal({self}, {other})", "params": "other"},
    "torch.Tensor.unsqueeze": {"call": "@expand_dims({self}, {dim})", "params": "dim"},
    "torch.Tensor.add_": {"no": "Operations return new tensors: x = x + y."},
    "torch.Tensor.matmul": {"call": "({self} @ {other})", "params": "other"},
    "torch.Tensor.mm": {"call": "({self} @ {other})", "params": "other"},
    **{
        f"torch.Tensor.{name}": {"call": f"@{name}({{self}})"}
        for name in ("exp", "log", "sqrt", "abs", "sigmoid", "tanh", "relu", "round")
    },
    "nn.Layer.weight": {"value": "{self}.variables['kernel']"},
    "nn.Layer.bias": {"value": "{self}.variables['bias']"},
    "Model.parameters": {"call": "{self}.trainable_variables"},
    "Model.state_dict": {"call": "{self}.get_weights()"},
    "Model.eval": {"call": "{self}", "no": "predict and evaluate know that they do not train.", "drop": True},
    "Model.train": {"call": "{self}", "no": "fit knows that it trains.", "drop": True},
    "Model.to": {"call": "{self}", "no": 'model.compile(device="gpu") chooses the device.', "drop": True},
    "Model.cuda": {"call": "{self}", "no": 'model.compile(device="gpu") chooses the device.', "drop": True},
}  # fmt: skip

ABSENT = {
    r"torch\.(distributions|distributed|multiprocessing|jit|quantization|fx|onnx)\b.*": (
        "There is none of it here; docs/compared.md says what else there is."
    ),
    r"torch\.utils\.data.*": "Use pg.data.Dataset.from_tensor_slices((x, y)).shuffle(n).batch(n).",
    r"torch\.optim\.lr_scheduler.*": _SCHEDULE,
    r"torch\.optim\..*": "pg.optim.Adam and pg.optim.AdamW cover its uses.",
    r"torch\.(amp|autocast|cuda\.amp|GradScaler)\b.*": (
        'model.compile(precision="mixed") rounds the operands of products to float16; there is no '
        "loss to scale."
    ),
    r"torch\.cuda.*": 'model.compile(device="gpu") chooses the device.',
    r"torchvision\.models.*": (
        "There is none, because trained models cannot be downloaded: build the model of layers, "
        "and model.load_weights(file) loads weights of PyTorch that you have."
    ),
    r"torchvision\.transforms.*": (
        "nn.RandomFlip, nn.RandomRotation and others augment images, as layers; "
        "map(function) of a data set changes samples."
    ),
    r"torchvision\.datasets.*": (
        "Of these data sets there are pg.data.mnist() and fashion_mnist(), and small colour images "
        "are made by pg.data.shapes(); read_npz reads yours."
    ),
    r"torchvision.*": "pg.data.mnist() has the digits; pg.data.read_npz reads arrays.",
    r"torch\.nn\.functional\..*": "Operations have NumPy's names in playgrad, such as pg.relu.",
    r"torch\.nn\..*": "Layers have the names of Keras: nn.Dense, nn.Conv2D.",
    r"torch\..*": "Operations have NumPy's names in playgrad; the reference lists them.",
}
