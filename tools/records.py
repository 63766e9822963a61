"""Writes ``static/js/blocks/records.js``: what the page knows of the library before Python runs.

``python -m tools.records``, which set-up runs after a change of the library. Nothing in the file is
written by hand: layers, optimizers and data sets come from their records, parameters from their
signatures.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "static" / "js" / "blocks" / "records.js"

_HEAD = """\
/** Written by tools/records.py from the library. */

"""
_TYPES = {
    "SIGNATURES": "Record<string, [name: string, value: string | null][]>",
    "LAYERS": "import('./types.js').LayerRecord[]",
    "OTHER_NAMES": "Record<string, string>",
    "OPTIMIZERS": "{kind: string, about: string}[]",
    "DATA_SETS": "Record<string, import('./types.js').DataSetRecord>",
}


def main() -> None:
    text = content()
    if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        TARGET.write_text(text, encoding="utf-8")


def content() -> str:
    """Return the text of the module."""
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
    values = {
        "SIGNATURES": dict(_signatures()),
        "LAYERS": [_layer(each) for each in layers],
        "OTHER_NAMES": {
            name: each.__name__
            for name, each in vars(nn).items()
            if each in layers and name != each.__name__
        },
        "OPTIMIZERS": [{"kind": each.__name__, "about": each.record.about} for each in offered],
        "DATA_SETS": {name: _data_set(each) for name, each in data_sets.records().items()},
    }
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
        "kind": layer.__name__, "about": record.about, "group": group, "given": record.example,
        "fields": fields, "rule": rule or None,
    }  # fmt: skip


def _data_set(record: Any) -> dict[str, Any]:
    samples = record.samples
    described = samples and {**vars(samples), "suited": vars(samples.suited)}
    return {"classNames": record.class_names, "samples": described}


def _signatures() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Yield the parameters of what Blocks reads, with their defaults, by the full name."""
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
        yield name, list(_parameters(each))


def _parameters(function: Any) -> Iterator[tuple[str, str | None]]:
    from playgrad.optim.optimizer import Optimizer

    for each in inspect.signature(function).parameters.values():
        if each.kind is each.VAR_KEYWORD and not each.annotation.startswith("Unpack"):
            continue
        if each.kind is each.VAR_KEYWORD:
            module = sys.modules[function.__module__]
            options = get_type_hints(getattr(module, each.annotation[len("Unpack[") : -1]))
            of_all = inspect.signature(Optimizer).parameters
            yield from ((n, _text(p.default)) for n, p in of_all.items() if n in options)
        elif each.name != "self":
            yield each.name, None if each.default is each.empty else _text(each.default)


def _text(value: Any) -> str:
    """Return a value as programs of the page write it."""
    return repr(value).replace("'", '"')


if __name__ == "__main__":
    main()
