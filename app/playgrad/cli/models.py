"""``playgrad models``: versions of trained models in a folder, and their server."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from playgrad.cli.lists import print_table
from playgrad.errors import DataError, PlaygradError
from playgrad.interchange.readers import whole_file
from playgrad.serving.choice import ServingChoice, read_choice, write_choice
from playgrad.serving.names import checked_name
from playgrad.serving.servable import servable_of
from playgrad.serving.signature import ModelSignature
from playgrad.serving.signature_rule import accepted_signature
from playgrad.serving.store import ModelStore

_REPLICAS = 2
_PACKAGES = ("uvicorn", "httptools", "starlette", "orjson", "prometheus_client")


def add(options: argparse.Namespace) -> int:
    """Check the model of a file, and write it as a new version.

    Raises:
        CheckpointError, GraphError, NonFiniteError: the file has no model that can be served.
        DataError: its signature differs from the version before.
    """
    store = ModelStore(options.folder)
    name = checked_name(options.name)
    content, ending = whole_file(options.file)
    servable = servable_of(content, f"{options.file.name.removesuffix(ending)}{ending}", "cpu")
    try:
        servable.warm([1, 2])
        signature = servable.signature
    finally:
        servable.close()
    if not options.allow_new_signature:
        _expect_signature(store, name, signature)
    file_name = f"model{ending}"
    number = store.add(name, file_name, content, signature.to_json(), options.allow_new_signature)
    print(f"{name}: version {number} in {store.version_folder(name, number)}")
    return 0


def _expect_signature(store: ModelStore, name: str, signature: ModelSignature) -> None:
    withdrawn = read_choice(store, name).withdrawn
    left = [number for number in store.versions(name) if number not in withdrawn]
    accepted, _ = accepted_signature(store, name, left)
    if accepted is not None and accepted != signature:
        raise DataError(
            f"the signature differs from that of the version before: "
            f"{accepted.difference(signature)}.",
            hint="If that is intended, add --allow-new-signature.",
        )


def list_models(options: argparse.Namespace) -> int:
    """Print the models with their versions."""
    store = ModelStore(options.folder)
    rows = [row for name in store.models() for row in _rows(store, name)]
    if options.json:
        print(json.dumps(rows))
        return 0
    if not rows:
        print(f"There are no models in {options.folder}: playgrad models add NAME FILE")
        return 0
    titles = ["model", "version", "added", "size", "state"]
    print_table([titles, *([str(row[title]) for title in titles] for row in rows)])
    return 0


def _rows(store: ModelStore, name: str) -> list[dict[str, Any]]:
    choice, versions = read_choice(store, name), store.versions(name)
    served = choice.served(versions)
    rows = []
    for number in versions:
        labels = [label for label, labelled in choice.labels.items() if labelled == number]
        states = ["served"] if number in served else []
        states += ["withdrawn"] if number in choice.withdrawn else []
        row = {"model": name, "version": number, "added": "", "size": ""}
        try:
            manifest = store.manifest(name, number)
            added = datetime.fromtimestamp(manifest.added).astimezone()
            row |= {"added": f"{added:%Y-%m-%d %H:%M}", "size": f"{manifest.size:,}"}
        except PlaygradError as error:
            states = [f"cannot be served: {error}"]
        rows.append(row | {"state": ", ".join([*states, *labels])})
    return rows


def rollback(options: argparse.Namespace) -> int:
    """Withdraw the latest version, or all after the one named.

    Raises:
        DataError: there is none to go back to.
    """
    store = ModelStore(options.folder)
    versions = store.expect(options.name)
    choice = read_choice(store, options.name).rolled_back(versions, options.to)
    write_choice(store, options.name, choice)
    print(_now_serving(options.name, choice.served(versions)))
    return 0


def _now_serving(name: str, versions: Iterable[int]) -> str:
    numbers = ", ".join(map(str, versions))
    return f"{name}: now serving {numbers}" if numbers else f"{name}: nothing is served"


def set_choice(options: argparse.Namespace) -> int:
    """Change which versions are served.

    Raises:
        DataError: there is no such version or label.
    """
    store = ModelStore(options.folder)
    versions = store.expect(options.name)
    before = read_choice(store, options.name)
    labels = {**before.labels, **dict(options.label)}
    shares = {**before.shares, **dict(options.share)}
    for label in options.remove_label:
        if labels.pop(label, None) is None:
            raise DataError(f"there is no label {label!r:.80} to remove.")
        shares.pop(label, None)
    choice = replace(before, labels=labels, shares=shares)
    if options.policy or options.versions:
        chosen = tuple(options.versions or ())
        choice = replace(choice, policy=options.policy or "specific", versions=chosen)
    _expect_versions(choice, versions)
    write_choice(store, options.name, choice)
    print(_now_serving(options.name, choice.served(versions)))
    return 0


def _expect_versions(choice: ServingChoice, versions: list[int]) -> None:
    for number in (*choice.versions, *choice.labels.values()):
        if number not in versions:
            raise DataError(
                f"there is no version {number}.",
                hint=f"There are: {', '.join(map(str, versions))}.",
            )
        if number in choice.withdrawn:
            raise DataError(
                f"version {number} was withdrawn.",
                hint=f"Take it back first: playgrad models rollback NAME --to {number}.",
            )


def serve(options: argparse.Namespace) -> None:
    """Serve until interrupted.

    Raises:
        DataError: the packages of the server are missing, or there is no folder.
        DeviceError: Ray cannot be used.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise DataError(
            f"the model server needs packages that are missing: {', '.join(missing)}.",
            hint='Install them: pip install "playgrad[models]".',
        )
    if not options.folder.is_dir():
        raise DataError(
            f"there is no folder {options.folder}.", hint="playgrad models add NAME FILE makes it."
        )
    from playgrad.serving.settings import ServingSettings

    settings = ServingSettings(
        device=options.device,
        max_batch=options.max_batch,
        batch_timeout=options.batch_timeout_ms / 1000,
        max_queue=options.max_queue,
        max_body=options.max_body << 20,
        max_instances=options.max_instances,
        request_seconds=options.request_seconds,
        max_connections=options.max_connections,
        allow_new_signature=options.allow_new_signature,
        poll_seconds=options.poll_seconds,
    )
    where = (options.folder, options.host, options.port, settings)
    who = (options.allow_host, options.token_file, not options.no_access_log)
    if options.ray is None:
        from playgrad.serving.serve import serve_models

        serve_models(*where, *who)
    else:
        from playgrad.serving.ray_serve import serve_models_on_ray

        serve_models_on_ray(*where, options.ray, options.replicas or _REPLICAS, *who)
