"""The calls that a Fold of the program joins, as the page shows them."""

from __future__ import annotations

import time
from typing import Annotated, Literal, TypedDict

from playgrad.inspection.joins import calls_of_sample, joins
from playgrad.networks.network import Network
from playgrad.ops.joined.fold import Fold
from playgrad.page.question import question
from playgrad.page.workspace import Workspace

MOST_JOINS = 400
MOST_CALLS = 400
"""The limit of calls of one sample: of a larger one, the first ones are sent."""


class TreesQuestion(TypedDict):
    """`fold`: a name, or any other text for the first Fold."""

    fold: str
    sample: int


class NoTrees(TypedDict):
    """`fold`: the program has none; `read`: none has read samples."""

    shows: Literal["none"]
    reason: Literal["fold", "read"]
    seconds: float


class TreeKind(TypedDict):
    """`calls`: of all samples."""

    title: str
    calls: int


class JoinedForm(TypedDict):
    """`kind`: a place in `kinds`."""

    depth: int
    kind: int
    calls: int


class TreeCall(TypedDict):
    """`takes`: the places of the calls whose values it takes; `label`: its numbers."""

    depth: int
    kind: int
    takes: list[int]
    label: str
    result: bool


class JoinedTrees(TypedDict):
    """`joins`: the first ones of `steps`; `calls`: the first ones of the sample's `size`."""

    shows: Literal["trees"]
    folds: list[str]
    fold: str
    samples: int
    sample: int
    kinds: list[TreeKind]
    joins: list[JoinedForm]
    steps: int
    depths: int
    calls: list[TreeCall]
    size: int
    seconds: float


TreesView = Annotated[NoTrees | JoinedTrees, "TreesView"]


@question("trees", "workspace")
def trees_view(workspace: Workspace, request: TreesQuestion) -> TreesView:
    """Return what the samples that a Fold has read last have in common, and one of them."""
    began = time.perf_counter()
    view = _view(_folds(workspace), request)
    view["seconds"] = time.perf_counter() - began
    return view


def _folds(workspace: Workspace) -> dict[str, Fold]:
    """Return the Folds among the program's names, and those of its models."""
    found: dict[str, Fold] = {}
    for name, value in list(workspace.namespace.items()):
        if isinstance(value, Fold):
            found[name] = value
        elif isinstance(value, Network):
            parts = list(vars(value).items())
            found |= {f"{name}.{part}": each for part, each in parts if isinstance(each, Fold)}
    return found


def _view(folds: dict[str, Fold], request: TreesQuestion) -> NoTrees | JoinedTrees:
    wanted, number = request["fold"], request["sample"]
    read = {n: f for n, f in folds.items() if f.latest is not None and len(f.latest)}
    if not read:
        return {"shows": "none", "reason": "read" if folds else "fold", "seconds": 0.0}
    name = wanted if wanted in read else next(iter(read))
    fold = read[name]
    table = fold.latest
    assert table is not None
    sample = number % len(table)
    all_joins, calls = joins(fold, table), calls_of_sample(fold, sample, table)
    totals: dict[str, int] = {kind.title: 0 for kind in fold.kinds}
    for join in all_joins:
        totals[join.title] += join.calls
    places = {title: place for place, title in enumerate(totals)}
    return {
        "shows": "trees",
        "folds": list(read),
        "fold": name,
        "samples": len(table),
        "sample": sample,
        "kinds": [{"title": title, "calls": count} for title, count in totals.items()],
        "joins": [
            {"depth": join.depth, "kind": places[join.title], "calls": join.calls}
            for join in all_joins[:MOST_JOINS]
        ],
        "steps": len(all_joins),
        "depths": 1 + max(join.depth for join in all_joins),
        "calls": [
            {
                "depth": call.depth,
                "kind": places[call.title],
                "takes": call.takes,
                "label": ", ".join(call.numbers),
                "result": call.is_result,
            }
            for call in calls[:MOST_CALLS]
        ],
        "size": len(calls),
        "seconds": 0.0,
    }
