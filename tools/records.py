"""Writes ``static/js/records/``: what the page knows of the library before Python runs.

``python -m tools.records``, which set-up runs after a change of the library. Nothing in the files
is written by hand: layers, optimizers and data sets come from their records, parameters from their
signatures. The page loads ``texts.js`` at once, and ``layers.js`` with Blocks.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "static" / "js" / "records"

_HEAD = """\
/** Written by tools/records.py from the library. */

"""
_TYPES = {
    "SIGNATURES": "Record<string, string>",
    "LAYERS": "import('../blocks/types.js').LayerRecord[]",
    "OTHER_NAMES": "Record<string, string>",
    "LAYER_TEXTS": "Record<string, string>",
    "OPTIMIZER_TEXTS": "Record<string, string>",
    "DATA_SETS": "Record<string, import('../blocks/types.js').DataSetRecord>",
}


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    for name, text in modules().items():
        if written(name) != text:
            (TARGET / name).write_text(text, encoding="utf-8")


def written(name: str) -> str:
    """Return the text of a module as it is now; "" if there is none."""
    path = TARGET / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def modules() -> dict[str, str]:
    """Return the texts of the modules by their names."""
    sys.path.insert(0, str(ROOT / "app"))
    from playgrad import nn, optim
    from playgrad.data import data_sets
    from playgrad.nn.layer import RECORDED
    from playgrad.optim.optimizer import RECORDED as OPTIMIZERS

    layers = [each for each in RECORDED.values() if vars(nn).get(each.__name__) is each]
    layers.sort(key=lambda each: each.record.menu[1] if each.record.menu else len(layers))
    offered = [each for each in OPTIMIZERS.values() if each.record.about]
    offered.sort(key=lambda each: each.record.place)
    assert vars(optim).keys() >= {each.__name__ for each in offered}
    of_layers = {
        "SIGNATURES": dict(_signatures()),
        "LAYERS": [_layer(each) for each in layers],
        "OTHER_NAMES": {
            name: each.__name__
            for name, each in vars(nn).items()
            if each in layers and name != each.__name__
        },
    }
    texts = {
        "LAYER_TEXTS": {e.__name__: e.record.about for e in layers if e.record.about},
        "OPTIMIZER_TEXTS": {each.__name__: each.record.about for each in offered},
        "DATA_SETS": {name: _data_set(each) for name, each in data_sets.records().items()},
    }
    return {"layers.js": _module(of_layers), "texts.js": _module(texts)}


def _module(values: dict[str, Any]) -> str:
    return _HEAD + "\n".join(
        f"/** @type {{{_TYPES[name]}}} */\nexport const {name} = {_json(value)};\n"
        for name, value in values.items()
    )


def _json(value: Any) -> str:
    """Return JSON with a line for each item."""
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_line(item)}" for key, item in value.items()]
        return "{\n" + "".join(f"  {line},\n" for line in lines) + "}"
    return "[\n" + "".join(f"  {_line(item)},\n" for item in value) + "]"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _layer(layer: Any) -> dict[str, Any]:
    record = layer.record
    rule = [int(each) if each.lstrip("-").isdigit() else each for each in record.rule.split()]
    fields = [field.plain() for field in record.fields]
    group = record.menu[0] if record.menu else None
    return {
        "kind": layer.__name__, "group": group, "given": record.example,
        "fields": fields, "rule": rule or None,
    }  # fmt: skip


def _data_set(record: Any) -> dict[str, Any]:
    samples = record.samples
    described = samples and {**vars(samples), "suited": vars(samples.suited)}
    return {"classNames": record.class_names, "samples": described}


def _signatures() -> Iterator[tuple[str, str]]:
    """Yield the full name and the parameters of what Blocks reads: "units, activation=None"."""
    import playgrad as pg
    from playgrad import data, nn, optim
    from playgrad.data import data_sets
    from playgrad.models.model import Model
    from playgrad.nn.layer import Layer
    from playgrad.nn.loss import Loss
    from playgrad.nn.regularizers import Regularizer
    from playgrad.optim.optimizer import Optimizer
    from playgrad.optim.schedules import Schedule

    of_layers = [
        (f"nn.{n}", each)
        for n, each in vars(nn).items()
        if isinstance(each, type)
        and issubclass(each, (Layer, Loss, Regularizer))
        and each not in (Layer, Loss, Regularizer)
    ]
    of_optim = [
        (f"optim.{n}", each)
        for n in optim.__all__
        if isinstance(each := getattr(optim, n), type) and each not in (Optimizer, Schedule)
    ]
    sets = [n for n, each in data_sets.records().items() if each.samples]
    others: list[tuple[str, Any]] = [
        ("nn.Input", nn.Input), ("nn.Sequential", nn.Sequential), ("nn.Model", nn.Model),
        *((f"data.{n}", getattr(data, n)) for n in [*sets, "load"]),
        ("reset_default_graph", pg.reset_default_graph),
        ("Model.compile", Model.compile), ("Model.fit", Model.fit),
    ]  # fmt: skip
    for name, each in [*of_layers, *of_optim, *others]:
        yield name, ", ".join(_parameters(each))


def _parameters(function: Any) -> Iterator[str]:
    from playgrad.optim.optimizer import Optimizer

    for each in inspect.signature(function).parameters.values():
        if each.kind is each.VAR_KEYWORD and not each.annotation.startswith("Unpack"):
            continue
        if each.kind is each.VAR_KEYWORD:
            module = sys.modules[function.__module__]
            options = get_type_hints(getattr(module, each.annotation[len("Unpack[") : -1]))
            of_all = inspect.signature(Optimizer).parameters
            yield from (f"{n}={_text(p.default)}" for n, p in of_all.items() if n in options)
        elif each.name != "self":
            default = "" if each.default is each.empty else f"={_text(each.default)}"
            yield f"{each.name}{default}"


def _text(value: Any) -> str:
    """Return a value as programs of the page write it."""
    return repr(value).replace("'", '"')


if __name__ == "__main__":
    main()
