"""The error function, which neither NumPy nor WGSL has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# erf(x) = x * P(x * x) / Q(x * x) for |x| <= 4, where float32 rounds it to 1. The coefficients, by
# rising powers, minimize the largest relative error, which is 2.5e-8 before rounding.
NUMERATOR = (
    1.1283791065216064,
    0.19354748725891113,
    0.053102023899555206,
    0.00388343702070415,
    0.0002845661365427077,
    1.9867393348249607e-06,
)
DENOMINATOR = (
    1.0,
    0.5048595666885376,
    0.11535096168518066,
    0.015207437798380852,
    0.0011855902848765254,
    3.7419740692712367e-05,
)

_exact = np.frompyfunc(math.erf, 1, 1)


def erf(x: Any) -> Any:
    """Return the error function of ``x``: of float64 exactly, of float32 to 5e-7 of the result."""
    kind = np.result_type(x)
    if kind == np.float64:
        return np.asarray(_exact(x), kind)
    bounded = np.clip(x, -4.0, 4.0)
    square = bounded * bounded
    quotient = _horner(NUMERATOR, square)
    quotient *= bounded
    quotient /= _horner(DENOMINATOR, square)
    return np.clip(quotient, -1.0, 1.0)


def _horner(coefficients: tuple[float, ...], z: Any) -> Any:
    """Return a polynomial of the float32 array or number ``z``, without temporary arrays."""
    result = z * np.float32(coefficients[-1])
    for coefficient in coefficients[-2:0:-1]:
        result += np.float32(coefficient)
        result *= z
    result += np.float32(coefficients[0])
    return result


def wgsl_polynomial(coefficients: tuple[float, ...], z: str) -> str:
    """Return WGSL for the polynomial of ``z`` with these coefficients, by rising powers."""
    text = repr(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        text = f"({coefficient!r} + {z} * {text})"
    return text
