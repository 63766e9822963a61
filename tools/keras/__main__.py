"""``python -m tools.keras``: write docs/keras.md from the keras package, which must be installed.

Keras is compared by names: its public classes, and the arguments of their constructors.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import playgrad as pg
from playgrad import nn
from playgrad.nn import metrics

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "keras.md"
AREAS = ("layers", "losses", "optimizers", "metrics", "callbacks")
MARKS = ("same", "other", "absent")
EVERYWHERE = {
    "dtype": "everything is float32",
    "reduction": "a loss is one number per sample, and training takes the mean",
    "data_format": "both are taken",
    "quantization_config": "everything is float32",
}
"""Arguments that playgrad never has, which do not make a class another one."""
SMALL = (
    "What a small network uses: the layers, losses, optimizers, metrics and callbacks of the "
    "classifiers and regressions that introductions to Keras build from arrays: dense, "
    "convolutional, recurrent, with embeddings or attention. They are listed under `small` in "
    "`tools/keras/reasons.toml`."
)
_SKIPPED = {"self", "args", "kwargs", "name"}


def reasons() -> dict[str, dict[str, Any]]:
    """Return the data of reasons.toml."""
    return tomllib.loads((Path(__file__).parent / "reasons.toml").read_text(encoding="utf-8"))


def arguments(cls: Any) -> list[str]:
    """Return the names of the arguments of a constructor, or of a function."""
    return [name for name in inspect.signature(cls).parameters if name not in _SKIPPED]


def inherited_arguments(cls: Any) -> list[str]:
    """Return the arguments of a constructor, including arguments of base classes."""
    names: list[str] = []
    for base in cls.__mro__ if isinstance(cls, type) else (cls,):
        if isinstance(cls, type) and "__init__" not in base.__dict__:
            continue
        function = base.__dict__["__init__"] if isinstance(cls, type) else cls
        parameters = inspect.signature(function).parameters
        names += [name for name in parameters if name not in names]
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            break
    return names


def counterpart(area: str, name: str, renamed: dict[str, str]) -> Any:
    """Return playgrad's class for one of Keras, or None."""
    ours = renamed.get(f"{area}.{name}", name)
    places: dict[str, tuple[Any, ...]] = {"optimizers": (pg.optim,), "metrics": (metrics, nn)}
    for place in places.get(area, (nn,)):
        item = getattr(place, ours, None)
        if item is not None and _fits(area, item):
            return item
    return None


def _fits(area: str, item: Any) -> bool:
    """Return whether ``item`` is of the area: names of Keras' areas are not unique."""
    if area == "metrics":
        return isinstance(item, type) and issubclass(item, metrics.Metric)
    return not (isinstance(item, type) and issubclass(item, nn.Initializer))


def _is_loss(item: Any) -> bool:
    return isinstance(item, type) and issubclass(item, nn.Loss)


def reason(table: dict[str, str], name: str) -> str:
    """Return the reason for ``name``.

    Raises:
        LookupError: there is none.
    """
    for pattern, text in table.items():
        if re.fullmatch(pattern, name):
            return text
    raise LookupError(f"tools/keras/reasons.toml has no reason for {name}")


def row(area: str, name: str, cls: type, data: dict[str, Any]) -> tuple[str, str, str]:
    """Return the name, the mark and the remark of a class of Keras."""
    ours = counterpart(area, name, data["names"])
    if ours is None and area == "metrics" and _is_loss(getattr(nn, name, None)):
        return name, "other", f"the loss `{name}` is a metric, too"
    if ours is None:
        return name, "absent", reason(data["absent"], f"{area}.{name}")
    base = name in ("Layer", "Loss", "Metric", "Optimizer", "Callback", "InputLayer")
    missing = [] if base else _missing(cls, ours)
    texts: dict[str, list[str]] = {}
    for argument in missing:
        texts.setdefault(reason(data["arguments"], argument), []).append(f"`{argument}`")
    remark = "; ".join(f"{', '.join(names)}: {text}" for text, names in texts.items())
    called = data["names"].get(f"{area}.{name}")
    if called is not None and not hasattr(nn, name):
        return name, "other", "; ".join(filter(None, [f"called `{called}`", remark]))
    return name, "other" if missing else "same", remark


def _missing(cls: type, ours: Any) -> list[str]:
    own = inherited_arguments(ours)
    if ours is nn.LambdaCallback:  # it takes the name of any method of a callback
        own += dir(nn.Callback)
    return [name for name in arguments(cls) if name not in own and name not in EVERYWHERE]


def document() -> str:
    """Return the text of the table."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras: Any = importlib.import_module("keras")
    data = reasons()
    used = {area: set(names) for area, names in data["small"].items()}
    head = [
        "# Keras beside playgrad",
        "",
        f"The public classes of Keras {keras.__version__} and the arguments of their constructors, "
        "marked *same*, *other* (another name, or fewer arguments) or *absent*, with the reason. "
        "Generated by `python -m tools.keras`. These arguments do not count: "
        + "; ".join(f"`{name}` ({text})" for name, text in EVERYWHERE.items())
        + ".",
        "",
        "| | same | other | absent | same, in small networks | available, in small networks |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    body: list[str] = []
    all_used = there = equal = 0
    for area in AREAS:
        module = getattr(keras, area)
        classes = {n: getattr(module, n) for n in dir(module) if n[0].isupper()}
        rows = [
            row(area, name, cls, data)
            for name, cls in classes.items()
            if inspect.isclass(cls) and name != "KerasTensor"
        ]
        counts = [sum(mark == wanted for _, mark, _ in rows) for wanted in MARKS]
        known = {name for name, mark, _ in rows if mark != "absent"}
        unknown = used[area] - {name for name, _, _ in rows}
        assert not unknown, f"Keras has no {sorted(unknown)}"
        here = len(used[area] & known)
        same = len(used[area] & {name for name, mark, _ in rows if mark == "same"})
        all_used, there, equal = all_used + len(used[area]), there + here, equal + same
        numbers = " | ".join(map(str, counts))
        count = len(used[area])
        head.append(f"| {area} | {numbers} | {same} of {count} | {here} of {count} |")
        body += ["", f"## {area.capitalize()}", "", "| class | | remark |", "|---|---|---|"]
        body += [f"| `{name}` | {mark} | {remark} |" for name, mark, remark in rows]
    head += [
        "",
        f"Of the names in small networks, {equal} of {all_used} are the same, "
        f"{equal / all_used:.0%}, and {there} are there, {there / all_used:.0%}. {SMALL}",
    ]
    wrapped = [line for text in head for line in _wrapped(text)]
    return "\n".join([*wrapped, *body]) + "\n"


def _wrapped(text: str) -> list[str]:
    """Return a paragraph in lines of at most 120 characters; a row of a table as it is."""
    return [text] if text.startswith("|") else textwrap.wrap(text, 120) or [text]


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
