"""Queries that find nodes by their values, such as ``grad(dense_*) |max| > 10``.

The grammar::

    query       part "(" pattern ")" statistic comparison number
    part        "value" | "grad"
    pattern     a name of nodes, in which "*" stands for any characters and "?" for one
    statistic   "|max|" | "max" | "min" | "mean" | "std" | "zeros" | "nan" | "inf"
    comparison  ">" | ">=" | "<" | "<=" | "=" | "!="
    number      such as 10, -0.5, 1e-3, inf or 50%
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from playgrad.inspection.problem import Unavailable

PARTS = {"value": "value", "grad": "gradient", "gradient": "gradient"}
STATISTICS = ("|max|", "max", "min", "mean", "std", "zeros", "nan", "inf")
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
_FORM = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*([^\s<>=!]*)\s*([<>=!]*)\s*(\S*)\s*")


@dataclass(frozen=True)
class Query:
    """A query.

    Attributes:
        part: "value" or "gradient".
        pattern: of the names of nodes.
        statistic: one of `STATISTICS`.
        comparison: one of `COMPARISONS`.
        number: the statistic is compared with it.
    """

    part: str
    pattern: str
    statistic: str
    comparison: str
    number: float

    def selects(self, name: str) -> bool:
        """Return whether the pattern fits the name of a node."""
        return fnmatchcase(name, self.pattern)

    def holds(self, statistics: dict[str, float | None]) -> bool:
        """Return whether the comparison holds; not for a number that there is not."""
        value = statistics[self.statistic]
        return value is not None and COMPARISONS[self.comparison](value, self.number)


def parse(text: str) -> Query:
    """Return the query that ``text`` is.

    Raises:
        Unavailable: it is not a query; the reason says which part is wrong.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise Unavailable("query_form")
    part, pattern, statistic, comparison, number = match.groups()
    if part.lower() not in PARTS:
        raise Unavailable("query_part", word=part)
    if not pattern.strip():
        raise Unavailable("query_pattern")
    if statistic.lower() not in STATISTICS:
        raise Unavailable("query_statistic", word=statistic)
    if comparison not in COMPARISONS:
        raise Unavailable("query_comparison", word=comparison)
    return Query(
        PARTS[part.lower()], pattern.strip(), statistic.lower(), comparison, _number(number)
    )


def _number(text: str) -> float:
    """Return a number, or a percentage as a share."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise Unavailable("query_number", word=text) from None
