"""Zachary's karate club."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.data_sets import data_set
from playgrad.data.edges import to_undirected
from playgrad.records import DataSetRecord

Array = np.ndarray[Any, Any]
_FRIENDS = {
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31), 1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32), 3: (7, 12, 13), 4: (6, 10), 5: (6, 10, 16), 6: (16,),
    8: (30, 32, 33), 9: (33,), 13: (33,), 14: (32, 33), 15: (32, 33), 18: (32, 33), 19: (33,),
    20: (32, 33), 22: (32, 33), 23: (25, 27, 29, 32, 33), 24: (25, 27, 31), 25: (31,),
    26: (29, 33), 27: (33,), 28: (31, 33), 29: (32, 33), 30: (32, 33), 31: (32, 33), 32: (33,),
}  # fmt: skip
_MEMBERS = 34
_OF_THE_OFFICER = (9, 14, 15, 18, 20, *range(22, _MEMBERS))


@data_set(DataSetRecord(place=13, class_names=("instructor", "officer")))
def karate_club() -> tuple[Array, Array]:
    """Return the friendships in a karate club that split in two (Zachary 1977).

    Returns:
        The friendships, int32 of shape (2, 156): sources and targets, each of 78 friendships in
        both directions. The club that each of 34 members joined afterwards, int32 of shape (34,):
        0 that of the instructor, member 0; 1 that of the officer, member 33.
    """
    pairs = [(member, friend) for member, friends in _FRIENDS.items() for friend in friends]
    clubs = np.zeros(_MEMBERS, np.int32)
    clubs[list(_OF_THE_OFFICER)] = 1
    return to_undirected(np.array(pairs, np.int32).T), clubs
