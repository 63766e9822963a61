"""Names of packages beside Keras, TensorFlow and PyTorch, which the page does not have."""

# ruff: noqa: E501, SIM905 - rows of a table

from __future__ import annotations

from playgrad.bridge.rule import Rule

_AXES = "Curves and images of the page have axes, a legend and a frame of their own."
_CURVES = "The page draws the curves by itself."
_DECORATION = (
    "figure title xlabel ylabel legend grid show axis tight_layout colorbar ylim xlim xticks yticks "
    "gray suptitle subplots_adjust close clf cla draw pause savefig subplot subplots gca gcf "
    "set_title set_xlabel set_ylabel set_xlim set_ylim set_xticks set_yticks set_axis_off "
    "get_xaxis get_yaxis axhline axvline"
).split()
_PLOTS = ("matplotlib.pyplot", "matplotlib.Axes")

RULES: dict[str, Rule] = {
    **{
        f"{owner}.{name}": {"no": _AXES, "drop": True} for owner in _PLOTS for name in _DECORATION
    },
    **{f"{owner}.plot": {"to": "plot", "args": "x y -fmt"} for owner in _PLOTS},
    **{
        f"{owner}.scatter": {"to": "plot", "args": "x y -s -c", "set": 'style="points"'}
        for owner in _PLOTS
    },
    **{f"{owner}.imshow": {"to": "show", "args": "X>array"} for owner in _PLOTS},
    "tqdm.tqdm": {"call": "{iterable}", "params": "iterable"},
    "tqdm.auto.tqdm": {"call": "{iterable}", "params": "iterable"},
    "tqdm.notebook.tqdm": {"call": "{iterable}", "params": "iterable"},
    "tqdm.trange": {"call": "range({n})", "params": "n"},
    "torch.utils.tensorboard.SummaryWriter": {
        "no": _CURVES, "drop": True,
    },
    **{
        f"torch.utils.tensorboard.writer.{name}": {"no": _CURVES, "drop": True}
        for name in (
            "add_scalar", "add_scalars", "add_graph", "add_image", "add_images", "add_histogram",
            "add_figure", "add_text", "flush", "close",
        )
    },
}  # fmt: skip

ABSENT = {
    r"matplotlib.*": "pg.plot(x, y) draws curves, pg.show(array) images, both in the page.",
    r"seaborn.*|plotly.*": "pg.plot(x, y) draws curves, pg.show(array) images, both in the page.",
    r"pandas.*": (
        'pg.data.read_csv(file, label="column") reads a table, into arrays or into a Dataset.'
    ),
    r"(PIL|cv2|skimage|imageio).*": (
        "pg.data.read_png(file) reads an image as an array; open other formats under Data."
    ),
    r"sklearn\.model_selection.*": (
        "Shuffle with np.random.permutation, and slice; fit takes validation_split=0.2."
    ),
    r"sklearn\.preprocessing.*": (
        "nn.Normalization learns mean and variance by adapt(x); np.unique numbers classes."
    ),
    r"sklearn.*": "There is none of it here: NumPy and pg.data have toy data and simple statistics.",
    r"scipy.*": "There is none of it here: NumPy and playgrad's operations cover common functions.",
    r"(transformers|datasets|tokenizers|accelerate|timm|peft|diffusers).*": (
        "There is none, because trained models cannot be downloaded: build the model of "
        "nn.TransformerEncoder and nn.Embedding, or open an ONNX file."
    ),
    r"tensorflow_(hub|text).*": (
        "There is none, because trained models cannot be downloaded: build the model of layers, "
        "or open an ONNX file."
    ),
    r"tensorflow_datasets.*": (
        "There is none, because data sets cannot be downloaded: pg.data has mnist(), "
        "fashion_mnist(), shapes() and others; read_npz and read_csv read yours."
    ),
    r"(gymnasium|gym).*": (
        "There is none: write the environment as a class with reset and step, as the examples of "
        "games do."
    ),
    r"(torchinfo|torchsummary).*": "model.summary() prints the layers.",
    r"(wandb|tensorboard|tensorboardX|mlflow).*": "The page draws the curves and keeps the runs.",
    r"(requests|urllib3|wget|gdown|kagglehub|kaggle).*": (
        "The page downloads nothing: open your data under Data."
    ),
    r"(pytorch_lightning|lightning|ignite|fastai).*": "model.fit runs the loop, with callbacks.",
    r"(jax|flax|optax|haiku).*": "Names follow Keras and NumPy: nn.Dense, pg.gradients.",
    r"(keras_nlp|keras_cv|keras_hub|keras_tuner|kerastuner).*": (
        "There is none, because trained models cannot be downloaded: build the model of layers."
    ),
    r"(tqdm|torchmetrics|einops|nltk|spacy|gensim|sentencepiece).*": (
        "There is none of it here; Python and NumPy can do most of it."
    ),
}

LIBRARIES = tuple(
    "matplotlib seaborn plotly pandas PIL cv2 skimage imageio sklearn scipy transformers datasets "
    "tokenizers accelerate timm peft diffusers tensorflow_hub tensorflow_text tensorflow_datasets "
    "gymnasium gym torchinfo torchsummary wandb tensorboard tensorboardX mlflow requests urllib3 "
    "wget gdown kagglehub kaggle pytorch_lightning lightning ignite fastai jax flax optax haiku "
    "keras_nlp keras_cv keras_hub keras_tuner kerastuner tqdm torchmetrics einops nltk spacy gensim "
    "sentencepiece".split()
)
"""Packages that programs import, of which the page has none."""

RESULTS = {
    "matplotlib.pyplot.subplot": "matplotlib.Axes",
    "matplotlib.pyplot.gca": "matplotlib.Axes",
    "matplotlib.pyplot.subplots": "matplotlib.Axes",
    "matplotlib.pyplot.figure": "matplotlib.Figure",
    "tensorflow.distribute.MirroredStrategy": "tensorflow.strategy",
    "tensorflow.global_variables_initializer": "tensorflow.initializer",
    "tensorflow.initialize_all_variables": "tensorflow.initializer",
    "torch.utils.tensorboard.SummaryWriter": "torch.utils.tensorboard.writer",
}
"""Names under which the rules have the members of a call's result."""
