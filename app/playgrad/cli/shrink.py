"""``playgrad shrink``: a smaller model in a file, and a table of what that costs."""

from __future__ import annotations

import argparse
import json
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from playgrad.cli.export import export, written
from playgrad.cli.saved_model import saved_model
from playgrad.compression.cluster import cluster
from playgrad.compression.compressed_model import CompressedModel
from playgrad.compression.prune import PolynomialSparsity, prune
from playgrad.compression.quantize import quantize
from playgrad.data.arrays_file import load_arrays
from playgrad.data.data_sets import functions
from playgrad.errors import DataError
from playgrad.io.weights import read_file
from playgrad.models.model import Model
from playgrad.nn.activation_layers import Softmax
from playgrad.nn.cross_entropy_losses import BinaryCrossentropy, SparseCategoricalCrossentropy
from playgrad.nn.layer_calls import layers_of
from playgrad.nn.ratio_metrics import BinaryAccuracy
from playgrad.optim.adam import Adam

Array = np.ndarray[Any, Any]
_RATE = 5e-4
_GROWING = 0.6
"""The part of the training in which sparsity grows; the rest mends what it has broken."""


class _Samples(NamedTuple):
    train: tuple[Array, Array]
    test: tuple[Array, Array]


def shrink(options: argparse.Namespace) -> int:
    """Make the model of ``options.source`` smaller, print the report and write the file.

    Raises:
        CheckpointError, GraphError: it cannot be loaded, made smaller or written.
        DataError, ShapeError, DTypeError: the data cannot be read or does not fit.
    """
    samples = None if options.data is None else _samples(options.data)
    model = saved_model(options.source)
    if samples is not None and not model.is_compiled:
        _compile(model, samples.train[1])
    small = _shrunk(model, options, samples)
    report = small.report() if samples is None else small.report(samples.test, latency=True)
    if not options.json:
        print(report, flush=True)  # it is not lost if the file cannot be written
    if options.output is not None:
        if options.output.suffix == ".safetensors":
            small.save_weights(options.output)
        else:
            export(small, str(options.output))
    if options.json:
        print(json.dumps(report.as_dict()))
    elif options.output is not None:
        print(f"{written(options.output)}: {os.path.getsize(options.output):,} bytes")
    return 0


def _shrunk(model: Model, options: argparse.Namespace, samples: _Samples | None) -> CompressedModel:
    small: Any = model
    if options.sparsity is not None:
        schedule = None
        if options.epochs is not None and samples is not None and not options.structured:
            steps = options.epochs * math.ceil(len(samples.train[0]) / options.batch_size)
            growing = max(1, int(steps * _GROWING))
            schedule = PolynomialSparsity(growing, every=min(50, growing))
        small = prune(small, options.sparsity, schedule, structured=options.structured)
        _train(small, options, samples)
    if options.clusters is not None:
        small = cluster(small, options.clusters)
        _train(small, options, samples)
    if options.form == "float16":
        small = quantize(small, weights="float16", activations=None)
    elif options.form is not None:
        assert samples is not None
        small = quantize(small, samples.train[0], weights=options.form)
    return small


def _train(model: Model, options: argparse.Namespace, samples: _Samples | None) -> None:
    if options.epochs is None or samples is None:
        return
    x, y = samples.train
    model.fit(x, y, options.batch_size, options.epochs, verbose=0 if options.json else 1)


def _samples(name: str) -> _Samples:
    """Return training and test data by the name of a data set or of a file.

    Raises:
        DataError, ReadError, CheckpointError: there is no such data, or it is damaged.
    """
    if name in functions():
        pairs: Any = functions()[name]()
    elif Path(name).suffix == ".npz":
        pairs = load_arrays(read_file(Path(name)), Path(name).name)
    else:
        raise DataError(
            f"there is no data set {name!r:.80}.",
            hint=f"Use an .npz file, or one of: {', '.join(sorted(functions()))}.",
        )
    try:
        (x_train, y_train), (x_test, y_test) = pairs
    except (TypeError, ValueError):
        raise DataError(
            f"the data set '{name}' is not divided into training and test data.",
            hint="Use mnist, fashion_mnist or an .npz file.",
        ) from None
    return _Samples((x_train, y_train), (x_test, y_test))


def _compile(model: Model, y: Array) -> None:
    """Compile a model whose file has no loss, for the kind of its targets and outputs."""
    is_whole = y.dtype.kind in "iub"
    has_one_output = model.outputs[0].shape[-1] == 1
    if not is_whole or (has_one_output and not np.isin(y, (0, 1)).all()):
        model.compile(Adam(_RATE), "mse")
        return
    call = layers_of(model.graph).calls.get(model.outputs[0])
    layer: Any = None if call is None else call.layer
    activation = "softmax" if isinstance(layer, Softmax) else getattr(layer, "activation", None)
    if has_one_output:
        are_scores = activation != "sigmoid"
        right = BinaryAccuracy("accuracy", 0.0 if are_scores else 0.5)
        model.compile(Adam(_RATE), BinaryCrossentropy(from_logits=are_scores), [right])
        return
    loss = SparseCategoricalCrossentropy(from_logits=activation != "softmax")
    model.compile(Adam(_RATE), loss, ["accuracy"])
