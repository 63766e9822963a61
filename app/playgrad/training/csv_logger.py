"""A callback that writes the logs of epochs to a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playgrad.io.whole_files import write_whole
from playgrad.io.writing import writing
from playgrad.training.callbacks import Callback, Logs


class CSVLogger(Callback):
    """Write loss and metrics of each epoch as a line of a CSV file, after a line with their names.

    A number that later epochs add, such as the Elo rating after a match, gets a column at the end;
    the cells of epochs without it are ``NA``.

    Args:
        filename: the path of the file.
        separator: the character between values.
        append: whether to keep the lines of a file that exists; otherwise it is overwritten.
    """

    def __init__(self, filename: str | Path, separator: str = ",", append: bool = False) -> None:
        self.filename = Path(filename)
        self.separator = separator
        self.append = append
        self._names: list[str] | None = None

    def get_state(self) -> dict[str, Any]:
        return {"names": ",".join(self._names or [])}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._names = state["names"].split(",") if state["names"] else None

    def on_train_begin(self, logs: Logs) -> None:
        self._names = None

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        new = self._names is None
        names = self._names or []
        names = self._names = [*names, *sorted(logs.keys() - names)]
        writing.once(lambda: self._add(epoch, logs, names, self.append or not new))

    def _add(self, epoch: int, logs: Logs, names: Sequence[str], appends: bool) -> None:
        """Add the line of an epoch to the file.

        Raises:
            OSError: that is impossible.
        """
        keep = appends and self.filename.exists()
        text = io.StringIO(self.filename.read_bytes().decode() if keep else "", newline="")
        rows = list(csv.reader(text, delimiter=self.separator))
        titles = rows[0] if rows and rows[0][:1] == ["epoch"] else ["epoch"]
        added = [name for name in names if name not in titles]
        if added and len(titles) > 1:
            text = io.StringIO(newline="")
            csv.writer(text, delimiter=self.separator).writerows(
                [[*rows[0], *added], *([*row, *(["NA"] * len(added))] for row in rows[1:])]
            )
        titles = [*titles, *added]
        text.seek(0, io.SEEK_END)
        writer = csv.writer(text, delimiter=self.separator)
        if not rows:
            writer.writerow(titles)
        writer.writerow([epoch, *(logs.get(name, "NA") for name in titles[1:])])
        write_whole(self.filename, text.getvalue().encode())
