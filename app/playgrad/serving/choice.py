"""The choice of versions to serve, in ``serving.json`` beside the versions of a model.

The server reads the file again whenever it changes; a model without one serves its latest version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from playgrad.errors import DataError, ReadError
from playgrad.io.whole_files import write_whole
from playgrad.json_text import parse_json
from playgrad.serving.names import is_name
from playgrad.serving.store import ModelStore

FILE = "serving.json"
POLICIES = ("latest", "all", "specific")
STABLE = "stable"
"""The label of the version that answers requests without a label, if there is one."""
_LARGEST = 1 << 20


@dataclass(frozen=True)
class ServingChoice:
    """The versions of a model to serve.

    Attributes:
        policy: "latest" serves the version with the highest number, "all" all of them, "specific"
            those of ``versions``. A version with a label is always served.
        versions: for "specific".
        withdrawn: the versions that `rollback` has taken back, which are not served.
        labels: the version of each label.
        shares: the share of requests without label and version that the version of a label
            answers, from 0 to 1; the rest goes to `STABLE`, or else to the latest version.
    """

    policy: str = "latest"
    versions: Sequence[int] = ()
    withdrawn: Sequence[int] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise DataError(f"the policy {self.policy!r:.50} is not one of {', '.join(POLICIES)}.")
        if self.policy == "specific" and not self.versions:
            raise DataError("the policy specific needs versions.")
        numbers = [*self.versions, *self.withdrawn, *self.labels.values()]
        if not all(type(number) is int and 0 < number < 10**9 for number in numbers):
            raise DataError("versions are whole numbers from 1 to 999,999,999.")
        if not all(is_name(label) for label in self.labels):
            raise DataError("labels have letters, digits, hyphens and underscores only.")
        for label, share in self.shares.items():
            if label not in self.labels:
                raise DataError(f"there is no label {label!r:.50} to give a share of requests to.")
            if type(share) not in (int, float) or not 0 <= share <= 1:
                raise DataError(f"a share must be from 0 to 1, got {share!r:.50} for {label!r}.")
        if sum(self.shares.values()) > 1 + 1e-9:
            raise DataError(f"the shares must add up to at most 1, got {sum(self.shares.values())}")

    def served(self, versions: Sequence[int]) -> list[int]:
        """Return which of ``versions`` to serve, in order."""
        left = [number for number in versions if number not in self.withdrawn]
        chosen = {"latest": left[-1:], "all": left, "specific": self.versions}[self.policy]
        labelled = self.labels.values()
        return [number for number in left if number in chosen or number in labelled]

    def rolled_back(self, versions: Sequence[int], to: int | None = None) -> ServingChoice:
        """Return the choice after a rollback to a version.

        The versions above it are withdrawn, it and those below it are not. A version that is added
        later is served: it is the one that mends the fault.

        Args:
            versions: all versions of the model.
            to: None for the one before the latest version that is not withdrawn.

        Raises:
            DataError: there is no such version, or another policy chooses versions.
        """
        if self.policy == "specific":
            raise DataError(
                "the policy is specific, so that the latest version has no part in it.",
                hint="Name the versions to serve: playgrad models set NAME --versions N.",
            )
        left = [number for number in versions if number not in self.withdrawn]
        if to is None:
            if len(left) < 2:
                raise DataError("there is no earlier version to go back to.")
            to = left[-2]
        if to not in versions:
            known = ", ".join(map(str, versions))
            raise DataError(f"there is no version {to}.", hint=f"There are: {known}.")
        held = [label for label, number in self.labels.items() if number > to]
        if held:
            raise DataError(
                f"the label {', '.join(held)} is on a version that would be withdrawn.",
                hint=f"Move it first: playgrad models set NAME --label {held[0]}={to}.",
            )
        return replace(self, withdrawn=tuple(number for number in versions if number > to))


def read_choice(store: ModelStore, name: str) -> ServingChoice:
    """Return the choice for a model; the default one if it has no file.

    Raises:
        ReadError: the file is damaged.
    """
    path = store.model_folder(name) / FILE
    try:
        with open(path, "rb") as file:
            data = parse_json(file.read(_LARGEST))
        return ServingChoice(**data)
    except (FileNotFoundError, NotADirectoryError):
        return ServingChoice()
    except (OSError, TypeError, AttributeError, ValueError) as error:
        raise ReadError(f"{path} cannot be used: {error}") from None


def write_choice(store: ModelStore, name: str, choice: ServingChoice) -> None:
    """Replace the choice for a model, whole or not at all."""
    path: Path = store.model_folder(name) / FILE
    write_whole(path, json.dumps(asdict(choice), indent=1).encode())
