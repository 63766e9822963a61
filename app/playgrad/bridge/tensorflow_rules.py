"""Names of TensorFlow 1, and of the parts of TensorFlow 2 beside Keras."""

from __future__ import annotations

from playgrad.bridge.rule import Rule

_INITIALIZED = "Variables have their values at once: nothing is to be initialized."
_STRATEGY = "A strategy is an argument of compile: strategy=pg.parallel.DataParallel()."
_DTYPES = ("bool", "float16", "float32", "float64", "int32", "int64", "int8", "uint8", "uint32")

RULES: dict[str, Rule] = {
    **{f"tensorflow.{name}": {"value": f'"{name}"'} for name in _DTYPES},
    "tensorflow.global_variables_initializer": {"call": "@group()", "no": _INITIALIZED},
    "tensorflow.local_variables_initializer": {"call": "@group()", "no": _INITIALIZED},
    "tensorflow.initialize_all_variables": {"call": "@group()", "no": _INITIALIZED},
    "tensorflow.InteractiveSession": {"to": "Session"},
    "tensorflow.ConfigProto": {"no": "pg.Session(device=...) chooses the device."},
    "tensorflow.get_variable": {
        "call": "@Variable({initializer|@truncated_normal({shape}, stddev=0.1)}, {name})",
        "params": "name shape dtype initializer",
    },
    "tensorflow.assign": {"call": "{ref}.assign({value})", "params": "ref value"},
    "tensorflow.assign_add": {"call": "{ref}.assign_add({value})", "params": "ref value"},
    "tensorflow.multiply": {"to": "mul"},
    "tensorflow.subtract": {"to": "sub"},
    "tensorflow.divide": {"to": "div"},
    "tensorflow.negative": {"to": "neg"},
    "tensorflow.math.multiply": {"to": "mul"},
    "tensorflow.math.subtract": {"to": "sub"},
    "tensorflow.arg_max": {"to": "argmax"},
    "tensorflow.convert_to_tensor": {"to": "constant"},
    "tensorflow.random.normal": {"to": "random_normal"},
    "tensorflow.random.uniform": {"to": "random_uniform"},
    "tensorflow.random.truncated_normal": {"to": "truncated_normal"},
    "tensorflow.random.set_seed": {"to": "reset_default_graph"},
    "tensorflow.set_random_seed": {"to": "reset_default_graph"},
    "tensorflow.clip_by_value": {
        "call": "@clip({t}, {clip_value_min}, {clip_value_max})",
        "params": "t clip_value_min clip_value_max",
    },
    "tensorflow.nn.softmax_cross_entropy_with_logits": {
        "call": "@softmax_cross_entropy({logits}, {labels})",
        "params": "labels logits",
    },
    "tensorflow.nn.softmax_cross_entropy_with_logits_v2": {
        "call": "@softmax_cross_entropy({logits}, {labels})",
        "params": "labels logits",
    },
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits": {
        "call": "@sparse_softmax_cross_entropy({logits}, {labels})",
        "params": "labels logits",
    },
    "tensorflow.nn.bias_add": {"to": "add"},
    "tensorflow.nn.dropout": {
        "call": "@dropout({x}, {rate|1 - {keep_prob}})", "params": "x rate",
    },
    "tensorflow.losses.mean_squared_error": {
        "call": "@reduce_mean(@squared_difference({labels}, {predictions}))",
        "params": "labels predictions",
    },
    "tensorflow.losses.sparse_softmax_cross_entropy": {
        "call": "@reduce_mean(@sparse_softmax_cross_entropy({logits}, {labels}))",
        "params": "labels logits",
    },
    "tensorflow.layers.dense": {
        "call": "@nn.Dense({units}, activation={activation|None})({inputs})",
        "params": "inputs units activation",
    },
    "tensorflow.layers.flatten": {"call": "@nn.Flatten()({inputs})", "params": "inputs"},
    "tensorflow.train.AdamOptimizer": {"to": "optim.Adam"},
    "tensorflow.train.GradientDescentOptimizer": {"to": "optim.SGD"},
    "tensorflow.train.MomentumOptimizer": {"to": "optim.Momentum"},
    "tensorflow.train.RMSPropOptimizer": {"to": "optim.RMSprop", "args": "learning_rate decay>rho"},
    "tensorflow.train.AdagradOptimizer": {"to": "optim.Adagrad"},
    "tensorflow.function": {
        "call": "{func}", "params": "func", "drop": True,
        "no": "Loops with pg.GradientTape need no decorator; @pg.function(model) compiles a step.",
    },
    "tensorflow.__version__": {"value": "@__version__"},
    "tensorflow.version.VERSION": {"value": "@__version__"},
    "tensorflow.newaxis": {"value": "None"},
    "tensorflow.data.experimental.AUTOTUNE": {"to": "data.AUTOTUNE"},
    "tensorflow.expand_dims": {"to": "expand_dims", "args": "input>x axis"},
    "tensorflow.squeeze": {"to": "squeeze", "args": "input>x axis"},
    "tensorflow.reduce_sum": {"to": "reduce_sum", "args": "input_tensor>x axis keepdims"},
    "tensorflow.reduce_mean": {"to": "reduce_mean", "args": "input_tensor>x axis keepdims"},
    "tensorflow.argmax": {"to": "argmax", "args": "input>x axis -output_type"},
    "tensorflow.distribute.MirroredStrategy": {"no": _STRATEGY, "drop": True},
    "tensorflow.strategy.scope": {"call": '@name_scope("replica")', "no": _STRATEGY},
    "tensorflow.strategy.num_replicas_in_sync": {"value": "1", "no": _STRATEGY},
    "tensorflow.Module": {"value": "object"},
    "tensorflow.initializer.run": {"no": _INITIALIZED, "drop": True},
    "tensorflow.train.Saver": {"no": "pg.io saves arrays; model.save_weights(file) a model's."},
    "tensorflow.enable_eager_execution": {"no": "Use with pg.eager(): to compute at once."},
    "tensorflow.disable_v2_behavior": {
        "no": "Graphs and sessions are usual here.", "drop": True,
    },
    "tensorflow.disable_eager_execution": {
        "no": "Graphs and sessions are usual here.", "drop": True,
    },
}  # fmt: skip

ABSENT = {
    r"tensorflow\.summary.*": "The page draws the curves, and nn.CSVLogger(file) writes them.",
    r"tensorflow\.(app|flags|logging|gfile|estimator|contrib|io|image|strings)\b.*": (
        "It is not part of playgrad; Python and NumPy can do most of it."
    ),
    r"tensorflow\.distribute.*": _STRATEGY,
    r"tensorflow\.string": "Text is not a tensor here: make it numbers with pg.data.Vocabulary.",
    r"tensorflow\.saved_model.*": "playgrad saves weights: model.save_weights(file).",
    r"tensorflow\..*": "Operations have NumPy's names in playgrad; the reference lists them.",
}
