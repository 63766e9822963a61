"""`model_from_qdq`: ONNX files whose operators stand between QuantizeLinear and DequantizeLinear.

The integers of such a file follow from its scales as those of `playgrad.quantize` do. So a file
that playgrad has written gives the network that it was written from, bit for bit; of others, each
operation is within one step of its scale.
"""

from __future__ import annotations

from playgrad.data.input_description import InputDescription
from playgrad.interchange.onnx.importing.file import OnnxGraph
from playgrad.interchange.onnx.importing.qdq.operators import OPERATORS
from playgrad.interchange.onnx.importing.qdq.reader import QDQReader
from playgrad.models.model import Model


def model_from_qdq(graph: OnnxGraph) -> Model:
    """Return the model of a file in QDQ form.

    Raises:
        CheckpointError: an operator has no integer form, or the file is damaged.
        PlaygradError: layers do not fit together.
    """
    reader = QDQReader(graph, OPERATORS)
    model = reader.model()
    model.set_weights(reader.weights)
    model.input_description = InputDescription.from_metadata(graph.metadata)
    return model
