"""playgrad: a dataflow-graph engine and a neural-network playground.

    import playgrad as pg

    (x_train, y_train), (x_test, y_test) = pg.data.mnist()
    model = pg.Sequential([pg.nn.Rescaling(1 / 255), pg.nn.Flatten(),
                           pg.nn.Dense(128, activation="relu"), pg.nn.Dense(10)])
    model.compile(pg.optim.Adam(0.001),
                  loss=pg.nn.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(x_train, y_train, batch_size=64, epochs=1, validation_data=(x_test, y_test))

The lower level is TensorFlow's: ``Graph``, ``placeholder``, ``Variable``, ``gradients``,
``Session``, ``control_dependencies``, ``device``.
"""

# ruff: noqa: E402
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from playgrad.signals import guard_command_line

guard_command_line()  # before NumPy is imported

from playgrad import cluster as _package  # noqa: F401
from playgrad import data, io, nn, optim, parallel
from playgrad.contract.check_op import OpReport, check_op
from playgrad.devices.registry import list_devices as devices
from playgrad.devices.registry import set_logical_devices
from playgrad.doctor.diagnose import diagnose
from playgrad.errors import (
    CheckpointError,
    DataError,
    DeviceError,
    DeviceLostError,
    DTypeError,
    FeedError,
    GameError,
    GraphError,
    KernelError,
    NonFiniteError,
    OutOfMemoryError,
    PlaygradError,
    ReadError,
    SequenceLengthError,
    ShapeError,
    UnsupportedOpError,
)
from playgrad.figures.drawing import plot, show
from playgrad.graph.autodiff import gradients
from playgrad.graph.eager import eager
from playgrad.graph.graph import (
    Graph,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
    reset_default_graph,
)
from playgrad.graph.opdef import InvalidSample, OpDef, Sample
from playgrad.graph.opdef import register_custom as register
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.verify import verify
from playgrad.inspection.inspect import inspect
from playgrad.interchange.matching.matching import match_weights
from playgrad.interchange.readers import load_model
from playgrad.models import eager_values as eager_values
from playgrad.models.checkpoints import load
from playgrad.models.generating import generate
from playgrad.models.loading import model_from_json
from playgrad.networks.formats import Formats, provide_formats
from playgrad.nn import Input, Model, Sequential
from playgrad.nn.layer import provide_layers
from playgrad.ops import *  # noqa: F403 - the operations are the library's vocabulary
from playgrad.ops import __all__ as _operations
from playgrad.ops.custom.register_op import register_op
from playgrad.ops.expression import expr
from playgrad.parallel.ray_cluster import Ray
from playgrad.parallel.replicate import replicate
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Trace
from playgrad.sweeps.function_sweep import sweep
from playgrad.sweeps.halving import Halving
from playgrad.sweeps.space import between
from playgrad.training.function import CompiledFunction, function
from playgrad.training.gradient_tape import GradientTape

__version__ = "0.1.0"


def _formats() -> Formats:
    from playgrad.interchange import formats

    return formats


provide_formats(_formats)

if TYPE_CHECKING:
    from playgrad import games
    from playgrad.compression.cluster import cluster
    from playgrad.compression.distiller import Distiller
    from playgrad.compression.prune import PolynomialSparsity, prune
    from playgrad.compression.quantization_aware import quantization_aware
    from playgrad.compression.quantize import quantize
    from playgrad.games.self_play import SelfPlay
else:
    # pg.cluster is a function. A package that has been imported once does not take its name again.
    del cluster
    _LATER = {
        "Distiller": "compression.distiller",
        "PolynomialSparsity": "compression.prune",
        "SelfPlay": "games.self_play",
        "cluster": "compression.cluster",
        "prune": "compression.prune",
        "quantization_aware": "compression.quantization_aware",
        "quantize": "compression.quantize",
    }

    def __getattr__(name: str) -> Any:
        """Import what makes networks smaller, or games, when first used: most pages never do."""
        if name == "games":
            return import_module("playgrad.games")
        if name not in _LATER:
            text = f"module 'playgrad' has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=sys.modules[__name__])
        value = getattr(import_module(f"playgrad.{_LATER[name]}"), name)
        globals()[name] = value
        return value


provide_layers(lambda: import_module("playgrad.compression.quantize"))

__all__ = [
    "CheckpointError",
    "CompiledFunction",
    "DTypeError",
    "DataError",
    "DeviceError",
    "DeviceLostError",
    "Distiller",
    "FeedError",
    "GradientTape",
    "Graph",
    "GameError",
    "GraphError",
    "Halving",
    "Input",
    "InvalidSample",
    "KernelError",
    "Model",
    "Node",
    "NonFiniteError",
    "OpDef",
    "OpReport",
    "OutOfMemoryError",
    "PlaygradError",
    "PolynomialSparsity",
    "Ray",
    "ReadError",
    "Sample",
    "SelfPlay",
    "SequenceLengthError",
    "Sequential",
    "Session",
    "ShapeError",
    "Tensor",
    "Trace",
    "UnsupportedOpError",
    "between",
    "check_op",
    "cluster",
    "control_dependencies",
    "data",
    "device",
    "devices",
    "diagnose",
    "eager",
    "expr",
    "function",
    "games",
    "generate",
    "get_default_graph",
    "gradients",
    "graph_from_json",
    "graph_to_json",
    "inspect",
    "io",
    "load",
    "load_model",
    "match_weights",
    "model_from_json",
    "name_scope",
    "nn",
    "optim",
    "parallel",
    "plot",
    "prune",
    "quantization_aware",
    "quantize",
    "register",
    "register_op",
    "replicate",
    "reset_default_graph",
    "set_logical_devices",
    "show",
    "sweep",
    "verify",
    *_operations,
]
