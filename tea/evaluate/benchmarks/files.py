"""Files: rows of CSV and JSONL files, and the parts of the web closed to the runs of all benchmarks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tea.characters import in_sentence
from tea.errors import BadInput, TeaError
from tea.store.files import followed, parse_json_strict, read_regular
from tea.store.strict import Refused

_LIMIT = 2**30
_MOST_FIELD = 2**27
# Where data sets and their copies lie; every benchmark closes all of them to its runs.
HOSTS = (
    "huggingface.co",
    "hf.co",
    "hf-mirror.com",
    "openaipublic.blob.core.windows.net",
    "agi.safe.ai",
    "lastexam.ai",
    "kaggle.com",
    "modelscope.cn",
    "opendatalab.com",
    "paperswithcode.com",
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file, with its file and line.

    Args:
        fields: Its values by name.
        where: The file and the line.
    """

    fields: Mapping[str, Any]
    where: str

    def text(self, *names: str) -> str:
        """Return the value of the first present one of some names, as text; empty if it is null.

        Raises:
            BadInput: None is there.
        """
        for name in names:
            if name in self.fields:
                value = self.fields[name]
                return "" if value is None else str(value)
        there = ", ".join(map(repr, self.fields))[:120]
        raise BadInput(f"{self.where} has no {names[0]!r}, but: {there}.", fix="see `tea eval --help`.")

    def optional(self, *names: str) -> str:
        """Return the value as `text` does, empty if none of the names is present."""
        return self.text(*names) if any(name in self.fields for name in names) else ""


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a .csv or .jsonl file, or of a .json file with a list of objects.

    Raises:
        BadInput: It cannot be read, or is of another form.
    """
    if path.suffix == ".parquet":
        fix = "write it as JSON lines first, for example with pandas: read_parquet(...).to_json(..., orient='records', lines=True)."  # noqa: E501
        raise BadInput(f"{path.name[:80]!r} is a Parquet file.", fix=fix)
    try:
        data = read_regular(followed(path), _LIMIT)
    except (OSError, Refused) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{str(path)[-80:]!r} cannot be read: {reason}.", fix="see `tea eval --help`.") from error
    try:
        rows = list(_csv(data, path) if path.suffix == ".csv" else _json(data, path))
    except csv.Error as error:
        raise BadInput(f"{path.name[:80]!r} is not CSV: {error}.", fix="name the benchmark's own file.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name[:80]!r} is not UTF-8.", fix="save it as UTF-8.") from error
    if not rows:
        raise BadInput(f"{path.name[:80]!r} does not contain rows.", fix="name the benchmark's own file.")
    return rows


def the_file(path: Path, *names: str) -> Path:
    """Return a file itself, or the first of some names inside a folder.

    Raises:
        BadInput: None is there.
    """
    if not path.is_dir():
        return path
    for name in names:
        if (path / name).is_file():
            return path / name
    found = [one for one in sorted(path.iterdir()) if one.suffix in (".csv", ".jsonl")]
    if len(found) == 1:
        return found[0]
    problem = f"The folder {str(path)[-80:]!r} does not hold {' or '.join(names)}."
    raise BadInput(problem, fix="name the benchmark's file or its folder.")


def slugs(values: Sequence[str]) -> tuple[str, ...]:
    """Return texts as tags: small letters with hyphens, each once."""
    made = ("-".join("".join(one if one.isalnum() else " " for one in value.lower()).split()) for value in values)
    return tuple(dict.fromkeys(one for one in made if one))


def _csv(data: bytes, path: Path) -> Iterator[Row]:
    csv.field_size_limit(_MOST_FIELD)
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    name = in_sentence(path.name)
    for row in reader:
        yield Row({str(key).strip(): value for key, value in row.items()}, f"{name}, line {reader.line_num}")


def _json(data: bytes, path: Path) -> Iterator[Row]:
    if path.suffix == ".json":
        found = parse_json_strict(data, f"{path.name!r}")
        listed = cast("list[Any]", found) if isinstance(found, list) else []
        for number, one in enumerate(listed, 1):
            if isinstance(one, Mapping):
                yield Row(cast("Mapping[str, Any]", one), f"{in_sentence(path.name)}, row {number}")
        return
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{in_sentence(path.name)}, line {number}"
        try:
            one = parse_json_strict(line, "it")
        except TeaError as error:
            raise BadInput(f"{where} is not JSON: {error.problem}", fix="name the benchmark's own file.") from error
        if not isinstance(one, Mapping):
            raise BadInput(f"{where} is not a JSON object.", fix="name the benchmark's own file.")
        yield Row(cast("Mapping[str, Any]", one), where)
