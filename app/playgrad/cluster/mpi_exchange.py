"""Exchange of Python objects between all members, of which most pairs have nothing to send."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

_TAG = 1


def exchanged(
    comm: MPI.Intracomm, outgoing: Sequence[Any], wait: Callable[[MPI.Request], None]
) -> list[Any]:
    """Send an object to each member; return what each of them has sent to this one.

    Args:
        outgoing: by the rank of the receiver; None sends nothing.
        wait: waits for a request.
    """
    contents = [b"" if each is None else pickle.dumps(each, 5) for each in outgoing]
    sizes = np.array([len(each) for each in contents], np.int64)
    expected = np.empty_like(sizes)
    wait(comm.Ialltoall(sizes, expected))
    rank = comm.rank
    buffers = [bytearray(int(size)) for size in expected]
    requests = [
        comm.Irecv([buffer, MPI.BYTE], sender, _TAG)
        for sender, buffer in enumerate(buffers)
        if buffer and sender != rank
    ]
    requests += [
        comm.Isend([content, MPI.BYTE], to, _TAG)
        for to, content in enumerate(contents)
        if content and to != rank
    ]
    for request in requests:
        wait(request)
    buffers[rank] = bytearray(contents[rank])
    return [pickle.loads(buffer) if buffer else None for buffer in buffers]
