"""Batches like an earlier one, of which a prediction need not check shape and dtype again.

For one sample, the checks take longer than a small network does.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from playgrad.networks.network import Network
from playgrad.networks.structure import Structure
from playgrad.training.data_checks import check_finite
from playgrad.training.index_checks import check_indices, checks_indices

Array = np.ndarray[Any, Any]
_DTYPES = (np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.uint8))
"""The dtypes that the checks of data leave as they are."""
_MOST = 16
"""The most shapes that are kept for a network."""


class _Known(NamedTuple):
    """What was found out about batches of a shape and dtype.

    Attributes:
        structure: the structure that took such a batch.
        dtype: that of its input.
        has_indices: whether its values are indices, which must be checked.
    """

    structure: Structure
    dtype: np.dtype[Any]
    has_indices: bool


_known: WeakKeyDictionary[Network, dict[Any, _Known]] = WeakKeyDictionary()


def known_batch(network: Network, x: Any, most: int, name: str) -> Array | None:
    """Return ``x`` for the only input of ``network`` if it is a batch like one of `note_batch`, of
    at most ``most`` samples, or else None.

    Args:
        name: the name of ``x`` in errors.

    Raises:
        DataError: a value is not finite, or an index outside its table.
    """
    of_network = _known.get(network)
    if of_network is None or type(x) is not np.ndarray:
        return None
    known = of_network.get((x.shape, x.dtype))
    if known is None or len(x) > most or known.structure is not network.structure:
        return None
    check_finite(x, name)
    if known.has_indices:
        check_indices(network, [x], name)
    network.takes_dictionary = False
    return np.ascontiguousarray(x, known.dtype)


def note_batch(network: Network, x: Any) -> None:
    """Note that ``x`` has passed all checks, if those of other values could only differ in whether
    the values are finite or, for indices, within their tables."""
    if type(x) is not np.ndarray or x.dtype not in _DTYPES or len(network.inputs) != 1:
        return
    dtype = np.dtype(network.inputs[0].dtype)
    if dtype not in (x.dtype, np.float32):  # a conversion that depends on the values
        return
    known = _known.setdefault(network, {})
    if len(known) >= _MOST:
        known.clear()
    known[x.shape, x.dtype] = _Known(network.structure, dtype, checks_indices(network, [x]))
