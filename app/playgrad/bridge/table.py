"""The table of the bridge, which is plain data: the page reads it as JSON.

Names of other libraries are dotted paths from ``keras``, ``tensorflow`` and ``torch``; names of
playgrad are without ``playgrad.``. Members that objects of playgrad lack are under the name of
their class, ``Model.save``; members of unknown objects are under ``*``.
"""

from __future__ import annotations

from typing import Any

from playgrad.bridge import keras_rules, package_rules, tensorflow_rules, torch_rules
from playgrad.bridge.rule import Rule

ROOTS = {
    "tensorflow.keras": "keras",
    "tensorflow.compat.v1": "tensorflow",
    "tensorflow.python.keras": "keras",
    "tf_keras": "keras",
    "torch.optim.adam.Adam": "torch.optim.Adam",
    "matplotlib.pylab": "matplotlib.pyplot",
}
"""Paths that mean the same as others."""

WELL_KNOWN = {
    "tf": "tensorflow",
    "keras": "keras",
    "torch": "torch",
    "plt": "matplotlib.pyplot",
    "pd": "pandas",
    "F": "torch.nn.functional",
    "layers": "keras.layers",
    "models": "keras.models",
    "losses": "keras.losses",
    "optimizers": "keras.optimizers",
    "callbacks": "keras.callbacks",
    "regularizers": "keras.regularizers",
    "constraints": "keras.constraints",
    "to_categorical": "keras.utils.to_categorical",
}
"""Names that programs use for them, also where they forget the import."""

SPACES = {
    "keras": "",
    "keras.activations": "",
    "keras.backend": "",
    "keras.callbacks": "nn",
    "keras.constraints": "nn",
    "keras.datasets": "data",
    "keras.initializers": "nn",
    "keras.layers": "nn",
    "keras.losses": "nn",
    "keras.metrics": "nn",
    "keras.models": "",
    "keras.ops": "",
    "keras.optimizers": "optim",
    "keras.optimizers.legacy": "optim",
    "keras.optimizers.schedules": "optim",
    "keras.regularizers": "nn",
    "tensorflow": "",
    "tensorflow.data": "data",
    "tensorflow.losses": "nn",
    "tensorflow.math": "",
    "tensorflow.nn": "",
    "tensorflow.optimizers": "optim",
    "tensorflow.random": "",
    "tensorflow.train": "optim",
    "torch": "",
    "torch.nn": "nn",
    "torch.nn.functional": "",
    "torch.optim": "optim",
}
"""Modules, and the module of playgrad in which the same names mean the same."""

IMPORTABLE = [path for path in SPACES if path.startswith("keras.") and SPACES[path]]
"""Modules of which an import can be replaced by one from playgrad, without changing the rest."""

RULES: dict[str, Rule] = {
    **keras_rules.RULES,
    **tensorflow_rules.RULES,
    **torch_rules.RULES,
    **package_rules.RULES,
}

LIBRARIES = [
    *("keras", "tf_keras", "tensorflow", "torch", "torchvision", "torchtext", "torchaudio"),
    *package_rules.LIBRARIES,
]
"""Packages whose imports are not available here."""

TABLE: dict[str, Any] = {
    "roots": ROOTS,
    "wellKnown": WELL_KNOWN,
    "spaces": SPACES,
    "importable": IMPORTABLE,
    "rules": RULES,
    "absent": keras_rules.ABSENT
    | package_rules.ABSENT
    | tensorflow_rules.ABSENT
    | torch_rules.ABSENT,
    "libraries": LIBRARIES,
    "results": package_rules.RESULTS,
    "arguments": keras_rules.ARGUMENTS,
}
"""``absent``: patterns of paths, and the nearest way; one that ends in ``\\..*`` is for a whole
module, and says nothing about a name that may just be misspelt. ``arguments``: by class or
function, arguments that it does not take, with a rule; rules of a class hold for its subclasses,
rules of ``*`` for all functions."""
