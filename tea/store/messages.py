"""Messages to a run: files beside its journal, added by any process and consumed only by the run's holder.

On disk, `<root>/<run>/messages/00000001.json` and so on: one JSON object each, with time and text, that never changes.
The numbers are the order, and have no gap: whoever adds one links a whole and durable file to the first free number, so
a message is there or not. What the holder takes over it makes durable first, so no number is given twice.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

from tea.errors import BadInput
from tea.store.files import read_regular, reading, write_all, writing
from tea.store.scratch import PRIVATE_FOLDER, Scratch, sync_folder
from tea.store.strict import Refused, as_json_object, dumps, loads

_FILE_LIMIT = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """One message to a run.

    Args:
        number: Its place among all messages to the run, from 1.
        time: When it was added, ISO 8601 in UTC.
        text: What it says.
        mark: A mark of who added it, empty without one.
    """

    number: int
    time: str
    text: str
    mark: str = ""


class Messages(Protocol):
    """The messages to one run; every method but `waits` blocks."""

    def add(self, time: str, text: str, mark: str = "") -> int:
        """Add a message after all others, durably, and return its number.

        Raises:
            BadInput: The run was removed.
            StorageError: It cannot be written. It is not there, unless the disk alone did not confirm it.
        """
        ...

    def waits(self, after: int) -> bool:
        """Return whether there is a message after the given number; one look, without waiting."""
        ...

    def read(self, after: int) -> list[StoredMessage]:
        """Return the messages after the given number, in their order.

        Raises:
            StorageError: One of them cannot be read.
            Damaged: One of them is not what was written.
        """
        ...

    def sync(self) -> None:
        """Make all messages survive a loss of power, including those added by other processes.

        Raises:
            StorageError: The disk does not confirm.
        """
        ...


class FileMessages:
    """The `Messages` in a folder of a run.

    Args:
        folder: Made with the first message.
        scratch: Where a message lies until it is whole.
    """

    def __init__(self, folder: Path, scratch: Scratch) -> None:
        self._folder = folder
        self._scratch = scratch

    def add(self, time: str, text: str, mark: str = "") -> int:
        """See `Messages.add`."""
        data = dumps({"time": time, "text": text, "mark": mark}) + b"\n"
        with writing(self._folder), self._scratch.file() as (temporary, descriptor):
            write_all(descriptor, data)
            os.fsync(descriptor)
            self._make_folder()
            number = self._link(temporary)
            sync_folder(self._folder)
        return number

    def waits(self, after: int) -> bool:
        """See `Messages.waits`."""
        return os.path.lexists(f"{self._folder}/{_name(after + 1)}")

    def read(self, after: int) -> list[StoredMessage]:
        """See `Messages.read`."""
        return list(self._messages_after(after))

    def sync(self) -> None:
        """See `Messages.sync`."""
        with writing(self._folder):
            sync_folder(self._folder)

    def _make_folder(self) -> None:
        try:
            with suppress(FileExistsError):
                os.mkdir(self._folder, PRIVATE_FOLDER)
        except FileNotFoundError:
            problem = f"The run {self._folder.parent.name!r} was removed."
            raise BadInput(problem, fix="list the runs with `tea runs`.") from None
        sync_folder(self._folder.parent)

    def _link(self, temporary: Path) -> int:
        taken = set(os.listdir(self._folder))
        number = next(one for one in count(1) if _name(one) not in taken)
        while True:
            try:
                os.link(temporary, self._folder / _name(number))
            except FileExistsError:
                number += 1
            else:
                return number

    def _messages_after(self, after: int) -> Iterator[StoredMessage]:
        for number in count(after + 1):
            path = self._folder / _name(number)
            if not os.path.lexists(path):
                return
            with reading(path):
                found = as_json_object(loads(read_regular(path, _FILE_LIMIT)))
                time, text, mark = found.get("time"), found.get("text"), found.get("mark", "")
                if not isinstance(time, str) or not isinstance(text, str) or not isinstance(mark, str):
                    raise Refused("it is not a message")
            yield StoredMessage(number=number, time=time, text=text, mark=mark)


def _name(number: int) -> str:
    return f"{number:08d}.json"
