"""The rule that a version has the signature of the one before it, unless it says otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from playgrad.errors import DataError
from playgrad.serving.signature import ModelSignature
from playgrad.serving.store import ModelStore


def accepted_signature(
    store: ModelStore, name: str, versions: Iterable[int]
) -> tuple[ModelSignature | None, dict[int, str]]:
    """Go through versions in order, as their manifests describe them.

    The answer depends on the folder alone, so that a server that starts again takes up the same
    versions.

    Returns:
        The signature that a further version must have, None if there is none yet; and for each
        version that may not be served how its signature differs.
    """
    accepted: ModelSignature | None = None
    refused: dict[int, str] = {}
    for number in versions:
        try:
            manifest = store.manifest(name, number)
            signature = ModelSignature.from_json(manifest.signature)
        except DataError:
            continue  # it cannot be loaded
        if accepted is None or manifest.allow_new_signature or signature == accepted:
            accepted = signature
        else:
            refused[number] = accepted.difference(signature)
    return accepted, refused
