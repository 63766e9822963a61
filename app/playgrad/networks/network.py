"""Networks: layers with their structure, their weights and their session."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from playgrad import io
from playgrad.data.input_description import InputDescription
from playgrad.errors import CheckpointError, ExportError, GraphError, SequenceLengthError
from playgrad.graph.eager import at_once, is_building, is_detached
from playgrad.graph.graph import FLOAT32, MIXED, Graph, checked_precision
from playgrad.graph.scopes import is_unicode
from playgrad.graph.source import user_source
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.io.file_kinds import is_keras
from playgrad.io.hdf5.layout import is_hdf5
from playgrad.io.tensor_entry import as_numbers, converted
from playgrad.io.weights import named_after, path_or_bytes, read_file, write_file
from playgrad.networks.formats import formats
from playgrad.networks.inference import InferenceGraph, inference_graph
from playgrad.networks.named_inputs import in_order
from playgrad.networks.shared_session import shared_session
from playgrad.networks.structure import Structure
from playgrad.networks.summary import summary_text
from playgrad.nn.call_context import training_context
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall, cast_with_mask, layers_of
from playgrad.nn.stateful import StatefulLayer
from playgrad.ops.arrays.shape import identity
from playgrad.ops.core.build import as_tensor
from playgrad.ops.state import Variable
from playgrad.runtime.options import get_options
from playgrad.runtime.phrases import phrase
from playgrad.runtime.session import Session

if TYPE_CHECKING:
    from playgrad.networks.compile_settings import CompileSettings

Array = np.ndarray[Any, Any]
_id = attrgetter("id")


class Network:
    """Layers between inputs and outputs, with their weights and their session.

    A model is a network that can be trained.

    Attributes:
        graph: the graph of the layers and their variables.
        name: shown in the summary and in errors.
        source: (file, line) where the user created the network.
        layers_of_keras: the layers by the paths of their weights in files of Keras, if the network
            is from such a file.
        input_keys: the keys of the dictionary that ``call`` of a class takes; None for another.
        output_keys: the keys of the dictionary of its outputs; None for another.
        takes_dictionary: whether the last data was a dictionary by the names of the inputs.
        compiled_precision: the argument ``precision`` of ``compile``.
        packs_weights: whether weights files have each weight in its smallest exact form.
    """

    packs_weights = False

    def __init__(self, graph: Graph, structure: Structure | None, name: str | None) -> None:
        self.graph = graph
        self.name = str(name or type(self).__name__.lower())
        if not is_unicode(self.name):
            raise GraphError(f"{self.name!r} cannot name a model: it is not valid Unicode.")
        self.source = user_source()
        self._structure = structure
        self.layers_of_keras: Mapping[str, Layer] = {}
        self.input_keys: list[str] | None = None
        self.output_keys: list[str] | None = None
        self.takes_dictionary = False
        self._device = "auto"
        self.compiled_precision = FLOAT32
        self._computes: tuple[Structure, Session, Callable[..., list[Array]]] | None = None

    def take_settings(self, other: Network) -> None:
        """Take over the source line, the device and the precision of ``other``, of which this is a
        copy."""
        self.source, self._device = other.source, other._device
        self.compiled_precision = other.compiled_precision
        self.output_keys = other.output_keys

    # Structure

    @property
    def structure(self) -> Structure:
        """The layer calls and operations between the inputs and the outputs.

        Raises:
            GraphError: the model has not been built.
        """
        if self._structure is None:
            raise GraphError(
                f"the model '{self.name}' is not built: the shape of its samples is unknown.",
                source=self.source,
                hint="Train it, or call model.build(sample_shape).",
            )
        return self._structure

    @property
    def built(self) -> bool:
        """True once the shape of the samples is known and the layers have their variables."""
        return self._structure is not None

    @property
    def layers(self) -> list[Layer]:
        """The layers in the order of their first calls."""
        return self.structure.layers

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return self.structure.inputs

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return self.structure.outputs

    @property
    def input_shape(self) -> Shape:
        """The shape of the first input, with None for the batch."""
        return self.inputs[0].shape

    @property
    def input_dtype(self) -> str:
        """The dtype of the first input."""
        return self.inputs[0].dtype

    @property
    def output_shape(self) -> Shape:
        """The shape of the first output, with None for the batch."""
        return self.outputs[0].shape

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the outputs for ``inputs``. A subclass can override it; see `Model`."""
        return Network.__call__(self, inputs, training)

    def __call__(self, inputs: Any, training: bool | None = None) -> Any:
        """Apply the model to other tensors of its graph, with the same weights.

        Args:
            inputs: a tensor or array for each input of the model, in a list or in a dictionary by
                the names of the inputs; one alone needs no list. To get arrays for arrays, use
                ``model.predict``.
            training: whether layers such as `Dropout` act as in a training step; None takes
                it from the layer or model that makes the call, or else False.

        Returns:
            A tensor, or a list of tensors if the model has several outputs, or a dictionary.

        Raises:
            GraphError: the number of tensors is wrong, or one belongs to another graph.
            DataError: the names in a dictionary differ from the inputs' names.
        """
        if isinstance(inputs, Mapping):
            inputs = list(in_order(self, inputs, f"the input of '{self.name}'").values())
        several = isinstance(inputs, (list, tuple))
        values = list(inputs) if several else [inputs]
        if not is_building():
            values = [self._computed(x) for x in values]
        is_at_once = all(is_detached(x) or not isinstance(x, Tensor) for x in values)
        with at_once() if is_at_once else nullcontext(), training_context(training) as training:
            return self._call([as_tensor(x, self.graph) for x in values], training)

    def _computed(self, x: Any) -> Any:
        """Return a tensor of another graph with its value, if it has one."""
        if isinstance(x, Tensor) and x.graph is not self.graph and not is_detached(x):
            with at_once():
                return identity(x)
        return x

    def _call(self, tensors: Sequence[Tensor], training: bool) -> Any:
        if len(tensors) != len(self.inputs):
            raise GraphError(
                f"the model '{self.name}' takes {len(self.inputs)} inputs, got {len(tensors)}."
            )
        for tensor in tensors:
            if tensor.graph is not self.graph and not tensor.node.detached:
                raise GraphError(
                    f"'{tensor.name}' does not belong to the graph of '{self.name}'.",
                    hint="A Sequential model has a graph of its own. Continue from its outputs: "
                    "pg.Model(model.inputs, layer(model.outputs[0])). To join several models, "
                    "make each of them with pg.Model(inputs, outputs).",
                )
        return self.arranged(self.apply(tensors, training))

    def arranged(self, outputs: Sequence[Any]) -> Any:
        """Return values of the outputs in the model's form: one value, a list or a dictionary."""
        if self.output_keys is not None:
            return dict(zip(self.output_keys, outputs, strict=True))
        return outputs[0] if len(outputs) == 1 else outputs

    def apply(
        self, inputs: Sequence[Tensor], training: bool, devices: Sequence[str | None] = ()
    ) -> list[Tensor]:
        """Return all outputs for ``inputs``, which are cast to the dtypes that the model takes.

        Args:
            devices: the device scope of each item of the structure; empty for their own.
        """
        pairs = zip(inputs, self.inputs, strict=True)
        cast_inputs = [cast_with_mask(x, tensor.dtype) for x, tensor in pairs]
        return self.structure.replay(cast_inputs, training, devices)

    def expect_outputs(self) -> None:
        """Raise GraphError if the network, which is built, has no outputs."""
        if not self.outputs:
            raise GraphError(
                f"the class of '{self.name}' has no method call(self, inputs), so the model has no "
                "outputs: it can be trained, but not called, evaluated or exported.",
                source=self.source,
                hint="Write call, or use the models that are its parts.",
            )

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs in logs: their keys, or the layers that compute them."""
        if self.output_keys is not None:
            return self.output_keys
        calls = layers_of(self.graph).calls
        names = {layer: name for name, layer in self.named_layers()}
        return [
            names[calls[output].layer] if output in calls else output.node.name
            for output in self.outputs
        ]

    def called_layers(self) -> list[Layer]:
        """Return the layers that the outputs depend on, in the order of their first calls."""
        return self.structure.layers

    def named_layers(self) -> list[tuple[str, Layer]]:
        """Return the layers with their names in this model, numbered from 1 within each kind.

        These are the layers' names in the graph unless several models share it; names that the user
        gave stay as they are.
        """
        layers = self.called_layers()
        taken = {layer.given_name for layer in layers}
        counts: dict[str, int] = {}
        named: list[tuple[str, Layer]] = []
        for layer in layers:
            name = layer.given_name or layer.name or layer.kind
            if layer.given_name is None:
                kind = name.rpartition("_")[0]
                while True:
                    counts[kind] = counts.get(kind, 0) + 1
                    name = f"{kind}_{counts[kind]}"
                    if name not in taken:
                        break
            named.append((name, layer))
        return named

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return the layer called ``name``, or layer number ``index`` of ``layers``.

        Raises:
            GraphError: there is no such layer, or not exactly one of the two is given.
        """
        if (name is None) == (index is None):
            raise GraphError("get_layer takes a name or an index.", source=self.source)
        layers = self.layers
        if index is not None:
            if not -len(layers) <= index < len(layers):
                raise GraphError(
                    f"the model '{self.name}' has {len(layers)} layers, so none at index {index}.",
                    source=self.source,
                )
            return layers[index]
        named = self.named_layers() if self.built else [(layer.name, layer) for layer in layers]
        known = [str(each) for each, _ in named if each is not None]
        if name not in known:
            raise GraphError(
                f"the model '{self.name}' has no layer '{name}'.",
                source=self.source,
                hint=f"Its layers are: {', '.join(known)}."
                if known
                else "Layers have numbers in their names once the model is built.",
            )
        return dict(named)[name]

    # Weights

    @property
    def weights(self) -> list[Variable]:
        """The variables of the layers without the states of stateful ones, in the order of Keras.

        In a model with branches, the layers farthest from the outputs come first.
        """
        return [
            variable
            for layer in self.layers_in_order()
            for name, variable in layer.variables.items()
            if not _is_state(layer, name)
        ]

    @property
    def variables(self) -> list[Variable]:
        """All variables of the layers, with the states of stateful ones."""
        return list(self.named_variables.values())

    @property
    def named_variables(self) -> dict[str, Variable]:
        """The variables of the layers by name: ``dense_1/kernel``."""
        return {
            f"{layer_name}/{name}": variable
            for layer_name, layer in self.named_layers()
            for name, variable in layer.variables.items()
        }

    @property
    def trainable(self) -> bool:
        """True if training changes any layer; setting it sets that of every layer."""
        return any(layer.trainable for layer in self.layers)

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        for layer in self.layers:
            layer.trainable = trainable

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that training changes."""
        return [variable for variable in self.weights if variable.trainable]

    @property
    def trainable_weights(self) -> list[Variable]:
        """The variables that training changes."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The weights that training does not change, such as moving averages."""
        return [variable for variable in self.weights if not variable.trainable]

    @property
    def losses(self) -> list[Tensor]:
        """The penalties of the layers' regularizers, as scalars, added to the graph at each use.

        ``fit`` adds them to the loss; a training loop of your own must do so itself. The penalties
        of activity regularizers, which depend on the batch, are not among them.
        """
        return [
            regularizer(layer.variables[name])
            for layer in self.layers
            for name, regularizer in layer.regularizers.items()
        ]

    def layers_in_order(self) -> list[Layer]:
        """Return the layers in the order in which Keras has their weights."""
        return self.structure.layers_by_distance()

    def count_params(self) -> int:
        """Return the number of weights, trainable or not."""
        return sum(math.prod(weight.spec.static_shape) for weight in self.weights)

    def weight_specs(self) -> dict[str, TensorSpec]:
        """Return the shapes and dtypes of all weights by name, as in files."""
        return {
            f"{layer_name}/{name}": spec
            for layer_name, layer in self.named_layers()
            for name, spec in layer.weight_specs().items()
        }

    def get_weights(self) -> list[Array]:
        """Return the values of ``weights``, in the order of Keras; see `named_weights`."""
        weights = self.named_weights()
        return [weights[name] for name in self._listed_specs()]

    def _listed_specs(self) -> dict[str, TensorSpec]:
        """Return shapes and dtypes of the weights by name, in the order of `get_weights`."""
        names = {layer: name for name, layer in self.named_layers()}
        return {
            f"{names[layer]}/{name}": spec
            for layer in self.layers_in_order()
            for name, spec in layer.weight_specs().items()
            if not _is_state(layer, name)
        }

    def named_weights(self) -> dict[str, Array]:
        """Return all weights by name, as in files: the parts of a sharded weight are joined."""
        layers = self.named_layers()
        variables = [v for _, layer in layers for v in layer.variables.values()]
        # All at once: the weights of one step, even if the device is lost meanwhile.
        values = dict(zip(variables, self.session.values(variables), strict=True))
        return {
            f"{layer_name}/{name}": array
            for layer_name, layer in layers
            for name, array in layer.joined(
                {name: values[v] for name, v in layer.variables.items()}
            ).items()
        }

    def set_weights(self, values: Sequence[Array] | Mapping[str, Array]) -> None:
        """Replace all weights. On an error, no weight changes.

        Args:
            values: a list as that of ``get_weights()``, or an array for each name of
                ``named_weights()``. Lists of numbers are arrays, too.

        Raises:
            CheckpointError: an array is missing or superfluous, is not one of numbers, a shape
                differs, a named array is of another dtype, or a dtype cannot hold a value.
        """
        is_named = isinstance(values, Mapping)
        expected = self.weight_specs() if is_named else self._listed_specs()
        checked = io.check_match(self._by_name(values, expected), expected)
        assigned: dict[Variable, Array] = {}
        for layer_name, layer in self.named_layers():
            names = [name for name in layer.weight_specs() if f"{layer_name}/{name}" in checked]
            parts = layer.divided({name: checked[f"{layer_name}/{name}"] for name in names})
            assigned.update((layer.variables[name], array) for name, array in parts.items())
        self.session.assign(assigned)

    def _by_name(
        self, values: Sequence[Array] | Mapping[str, Array], specs: Mapping[str, TensorSpec]
    ) -> Mapping[str, Array]:
        if isinstance(values, Mapping):
            return {
                name: as_numbers(name, value, None if name not in specs else specs[name].dtype)
                for name, value in values.items()
            }
        if not isinstance(values, (list, tuple)):
            raise CheckpointError(
                "weights are set from a list of arrays, or by name, {'dense_1/kernel': array}, "
                f"got {type(values).__name__}."
            )
        if len(values) != len(specs):
            raise CheckpointError(
                f"the model '{self.name}' has {len(specs)} weights, got {len(values)} arrays."
            )
        return {
            name: converted(name, as_numbers(name, value), specs[name].dtype)
            for name, value in zip(specs, values, strict=True)
        }

    def save_weights(self, file: str | Path | BinaryIO, format: str | None = None) -> None:
        """Write all weights to a file; in safetensors files with the description of the layers.

        ``pg.load_model`` makes the model from such a file, unless a function is among the
        arguments of its layers.

        Args:
            file: a path that ends in ``.safetensors`` or ``.npz``, or an open binary file; or in
                ``.weights.h5``, for Keras' format, or ``.keras``, for its format of whole models.
            format: "safetensors" or "npz"; None takes it from the path, or "safetensors".

        Raises:
            CheckpointError: the file cannot be written, or not in that format.
            ExportError: Keras has no equivalent of the model.
        """
        ending = "" if format or not isinstance(file, (str, Path)) else Path(file).suffix.lower()
        if ending == ".keras":
            self.export(file, "keras")  # type: ignore[arg-type]
            return
        if ending == ".h5":
            content = formats().keras_weights_bytes(self.layer_graph(), self.named_weights())
            write_file(file, content)  # type: ignore[arg-type]
            return
        metadata, packed = self.file_metadata(), self.packs_weights
        io.save(self.named_weights(), file, format, metadata, packed)

    def file_metadata(self) -> dict[str, str]:
        """Return the description of the network in weights files, as texts by name."""
        return {}

    @property
    def input_description(self) -> InputDescription | None:
        """The way from a picture to the input of the network; None if it is not known."""
        return None

    def layer_graph(self) -> dict[str, Any]:
        """Return the calls of layers as plain data, for formats that have layers.

        Raises:
            ExportError: the network cannot be described in this way.
        """
        raise ExportError(f"the network '{self.name}' does not describe its layers.")

    def compile_settings(self) -> CompileSettings | None:
        """Return the settings of training; None if the network cannot be trained, or not yet."""
        return None

    def _expect_known_sizes(self) -> None:
        """Raise SequenceLengthError if the operations of a layer depend on sizes left open."""
        for node in sorted(ancestors([output.node for output in self.outputs]), key=_id):
            if node.op.expand is not None:
                layer, _, _ = node.name.rpartition("/")
                raise SequenceLengthError(
                    f"the model '{self.name}' takes sequences of any length, but its operations, "
                    f"the first in layer '{layer}', depend on the length.",
                    op=layer,
                    source=node.source,
                    inputs=[(each.shape[1:], each.dtype) for each in self.inputs],
                    hint="Save it to a .keras file, and load that for one length: "
                    "pg.load_model(file, sequence_length=50).",
                )

    def inference_graph(self) -> InferenceGraph:
        """Return how the outputs are computed, with the values of the weights.

        Raises:
            SequenceLengthError: that depends on sizes that the inputs leave open.
        """
        self.expect_outputs()
        self._expect_known_sizes()
        return inference_graph(
            self.name, self.inputs, self.outputs, self.session.values, self.input_description
        )

    def export(self, path: str | Path, format: str | None = None, opset: int | None = None) -> None:
        """Write the network to a file that other libraries open.

        Args:
            path: a path; its ending chooses the format.
            format: the name of a format, whatever the path's ending is.
            opset: the version of ONNX's operators; the lowest that the network needs if None.

        Raises:
            CheckpointError: there is no such format, or the file cannot be written.
            ExportError: the format has no equivalent of a layer or an operation of the network, or
                the opset lacks an operator.
        """
        formats().export(self, path, format, opset)

    def load_weights(self, file: str | Path | BinaryIO | bytes) -> None:
        """Load all weights from a safetensors, npz, PyTorch or Keras file; on an error, none.

        A ``state_dict`` of PyTorch, in a file of ``torch.save``, safetensors or npz, is matched by
        names, shapes and the order of layers, and its layouts are converted, as
        `pg.match_weights` shows; each of its tensors must have its place. In a file of Keras
        (``.weights.h5``, ``.keras``), layers are matched by their classes and their order. Of a
        SavedModel or a checkpoint of TensorFlow (its folder, or ``…/ckpt-7``), the variables are
        matched as those of PyTorch are. Nothing in a file is executed.

        Args:
            file: a path, an open binary file, or the bytes of a file.

        Raises:
            CheckpointError: the file is truncated, in another format, or of another model.
            ExportError: the file is one of Keras, which has no equivalent of the model.
        """
        file = path_or_bytes(file)
        if is_hdf5(file) or is_keras(file):
            specs = self.weight_specs()
            with named_after(file):
                content = file if isinstance(file, bytes) else read_file(file, specs)
                self.set_weights(
                    formats().weights_from_keras(
                        content, is_keras(file), self.layers_of_keras, self.layer_graph, specs
                    )
                )
        else:
            self.set_weights(formats().weights_of_file(self, file))

    def reset_states(self) -> None:
        """Set the states of stateful recurrent layers to 0, as before the first batch."""
        layers = [layer for layer in self.layers if isinstance(layer, StatefulLayer)]
        states = [variable for layer in layers for variable in layer.states]
        self.session.assign({v: np.zeros(v.spec.static_shape, np.float32) for v in states})

    # Session

    @property
    def session(self) -> Session:
        """The session that holds the values of the variables, in the precision of this model;
        models of one graph share it."""
        return self.open_session()

    def open_session(
        self, seconds: float | None = None, step_seconds: float | None = None
    ) -> Session:
        """Return `session`; if it is not open, "auto" depends on the arguments, as in `Session`."""
        shared = shared_session(self.graph)
        session = shared.on(self.graph, self._device, seconds, step_seconds)
        return session.in_precision(self.precision)

    @property
    def precision(self) -> str:
        """The argument of `Model.compile`: float32 or mixed; an option of the host overrides it."""
        return checked_precision(get_options().precision or self.compiled_precision)

    def compute_outputs(self, *arrays: Array) -> list[Array]:
        """Return the outputs for arrays of the inputs' dtypes and shapes.

        Raises:
            FeedError: an array does not fit its input.
        """
        session, structure = self.session, self.structure
        known = self._computes
        if known is None or known[0] is not structure or known[1] is not session:
            call = session.make_callable(list(structure.outputs), structure.inputs)
            known = self._computes = structure, session, call
        return known[2](*arrays)

    def close(self) -> None:
        """Free the session's buffers; the weights are lost."""
        self._computes = None
        shared_session(self.graph).close()

    def ensure_built(self, arrays: Sequence[Array], keys: Sequence[str] | None = None) -> None:
        """Build the network for samples such as ``arrays`` if it is not built yet.

        Args:
            keys: the names of the arrays, for a class whose ``call`` takes a dictionary.
        """

    def summary(self, print_fn: Callable[[str], Any] = print) -> None:
        """Print a table of the layers with their output shapes and numbers of parameters."""
        # Calls for data of one size, as steps of training make them, leave open sizes open here.
        calls = () if self._structure is None else self._structure.items
        shapes = {c.layer: c.outputs[0].shape for c in calls if isinstance(c, LayerCall)}
        title = f"{type(self).__name__} '{self.name}'"
        print_fn(summary_text(title, self._summary_rows(), shapes))
        if self.precision == MIXED:
            print_fn(phrase("mixed"))

    def _summary_rows(self) -> list[tuple[str, Layer]]:
        return self.named_layers()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.name}'>"


def _is_state(layer: Layer, name: str) -> bool:
    """Return whether a variable of ``layer`` is a state that it keeps for the next batch."""
    states = layer.states if isinstance(layer, StatefulLayer) else ()
    return any(layer.variables.get(name) is state for state in states)
