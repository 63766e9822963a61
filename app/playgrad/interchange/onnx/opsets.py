"""The versions of ONNX: the first opset that has each operator as it is written, and the files' IR.

A file has the lowest opset that its operators need, so that old readers open it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WRITTEN = range(13, 24)
"""The opsets that files can have."""
_IR = {13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11}
_BY_OPSET = {
    13: """
        Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool Cast Ceil Clip Concat
        ConstantOfShape Conv ConvTranspose Cos Cosh CumSum DequantizeLinear Div Elu Equal Erf Exp
        Expand Floor Gather GatherElements Gemm Greater GreaterOrEqual HardSigmoid Identity IsInf
        IsNaN Less LessOrEqual Log LogSoftmax MatMul Max MaxPool Min Mod Mul Neg Not Or Pad Pow
        QuantizeLinear Range Reciprocal ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu
        Reshape Resize Round Selu Shape Sigmoid Sign Sin Sinh Slice Softmax Softplus Softsign Sqrt
        Squeeze Sub Tan Tanh TopK Transpose Unsqueeze Where Xor
    """,
    14: "HardSwish",
    17: "LayerNormalization",
    18: "Mish",
    20: "Gelu",
}
OPSETS = {name: opset for opset, names in _BY_OPSET.items() for name in names.split()}
"""The first opset with each operator that playgrad writes; what is older counts as 13."""
_OF_DTYPES = {
    **{(n, kind): 14 for n in ("Add", "Div", "Mul", "Sub") for kind in ("uint8", "int8")},
    ("CumSum", "float16"): 14,
    ("IsInf", "float16"): 20,
    ("Relu", "int32"): 14,
    ("ReduceMax", "bool"): 20,
    ("ReduceMin", "bool"): 20,
}
"""The first opset with an operator for inputs of a dtype."""
_WITH = {("Reshape", "allowzero"): 14}
"""The first opset with an attribute of an operator."""
AXES_AS_INPUT = 18
"""From this opset on, the reductions other than the sum take their axes as an input."""
REDUCTIONS = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd")


def opset_of(operator: str, dtype: str, attributes: Mapping[str, Any]) -> int:
    """Return the first opset with ``operator`` for inputs of ``dtype`` with these attributes."""
    added = [_WITH.get((operator, name), 0) for name in attributes]
    return max(OPSETS[operator], _OF_DTYPES.get((operator, dtype), 0), *added, 0)


def ir_version(opset: int) -> int:
    """Return the version of the file format that came with ``opset``."""
    return _IR[opset]
