"""Items: the pieces of a report in the workspace, one file each, to let writers work side by side."""

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from tea import RootedFolder, ToolError, open_resolved

FOLDER = ".reports"
MOST_ITEMS = 1_000
MOST_CHARACTERS = 1_000_000
_WRITTEN = "written.json"
_MOST_REPORTS = 200
FIGURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_CITED = re.compile(r"(?<![!\\\w\]])\[([1-9]\d{0,3})\](?:\(<?([^()<>\s]*(?:\([^()\s]*\)[^()<>\s]*)*)>?\))?")
_SENTENCE = re.compile(r".{1,600}?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
_MARKUP = re.compile(
    r"[ \t]?\[\d{1,4}\]\([^)\n]*\)|!?\[([^\]\n]*)\]\([^)\n]*\)|^#{1,6}[ \t]+.*$|^[ \t]*(?:[-*+]|\d+[.)])[ \t]+|[`*_]",
    re.MULTILINE,
)
_MOST_BEGUN = 5_000  # characters of a piece, in which its first sentences stand
_CONTENT = ("content", "text", "answer", "markdown", "fact")
_SOURCE = ("source", "url", "path", "link", "address", "file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of a report.

    Args:
        content: Its Markdown, with the citations as they were written.
        summary: Two or three sentences.
        references: Its sources, each with number, source, description and quote.
    """

    content: str
    summary: str
    references: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def mark(self) -> str:
        """Return the common mark of two equal pieces."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


class Items:
    """The pieces of one report, in order of addition.

    Args:
        workspace: The folder of the run's files.
        report: Name of the report.

    Raises:
        ToolError: The name is not valid.
    """

    def __init__(self, workspace: Path, report: str) -> None:
        if not _NAME.fullmatch(report):
            fix = "use up to 64 small letters, digits, - and _."
            raise ToolError(f"{report[:60]!r} is not the name of a report.", fix=fix)
        self._files = RootedFolder(workspace)
        self._report = report
        self._files.inside(self._name(1))

    def add(self, item: Item) -> int:
        """Add a piece and return its number; an equal piece keeps its own.

        Raises:
            ToolError: The report is full, or cannot be written.
        """
        data = json.dumps(asdict(item), ensure_ascii=False).encode("utf-8", "replace")
        try:
            with self._files:
                for number in range(1, MOST_ITEMS + 1):
                    if self._read(number) is None:
                        with suppress(FileExistsError):  # another writer took the number in between
                            self._files.write(self._name(number), data, replace=False)
                            return number
                    if (found := self._read(number)) is not None and found.mark == item.mark:
                        return number
        except OSError as error:
            raise ToolError(f"The report cannot be kept: {error.strerror or error}.", fix="free space.") from error
        raise ToolError(f"The report holds {MOST_ITEMS} pieces.", fix="complete it, and begin another.")

    def note_written(self, digests: dict[str, str]) -> None:
        """Note the digests of the files written of the report, by name."""
        with suppress(OSError), self._files:
            self._files.write(f"{FOLDER}/{self._report}/{_WRITTEN}", json.dumps(digests).encode(), replace=True)

    @staticmethod
    def all_written(workspace: Path) -> set[tuple[str, str]]:
        """Return the names and digests of the files written of the reports of a workspace."""
        found, folder = set[tuple[str, str]](), workspace / RootedFolder(workspace).inside(FOLDER)
        for one in sorted(folder.iterdir())[:_MOST_REPORTS] if folder.is_dir() else ():
            with suppress(OSError, ValueError, ToolError), RootedFolder(workspace) as files:
                with files.reading(f"{FOLDER}/{one.name}/{_WRITTEN}") as file:
                    told: Any = json.load(file)
                if isinstance(told, dict):
                    found |= {(name, str(digest)) for name, digest in cast("dict[str, Any]", told).items()}
        return found

    def read(self) -> list[Item]:
        """Return the pieces, each once."""
        found: dict[str, Item] = {}
        with self._files:
            for number in range(1, MOST_ITEMS + 1):
                if (item := self._read(number)) is None:
                    break
                found.setdefault(item.mark, item)
        return list(found.values())

    def _read(self, number: int) -> Item | None:
        try:
            with self._files.reading(self._name(number)) as file:
                return Item(**json.load(file))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, RecursionError) as error:
            problem = f"Piece {number} of the report is damaged."
            raise ToolError(problem, fix=f"delete {FOLDER}/{self._report}, and add what it held again.") from error

    def _name(self, number: int) -> str:
        return f"{FOLDER}/{self._report}/{number:04}.json"

    @staticmethod
    def overview(workspace: Path, most: int) -> dict[str, Any]:
        """Return the summaries of the added pieces, by report.

        Args:
            workspace: The folder of the run's files.
            most: Most pieces of each.
        """
        folder = workspace / RootedFolder(workspace).inside(FOLDER)
        names = sorted(one.name for one in folder.iterdir() if _NAME.fullmatch(one.name)) if folder.is_dir() else []
        return {
            "reports": [
                {"report": name, "pieces": len(items), "summaries": [one.summary for one in items[:most]]}
                for name in names[:most]
                if (items := Items(workspace, name).read())
            ]
        }


def item_of(
    text: str, data: dict[str, Any] | None, file: Path | None, name: str, summary: str, references: list[dict[str, Any]]
) -> Item:
    """Return the piece made of a text, an object or a file.

    Args:
        text: Markdown.
        data: An object.
        file: Path of the file.
        name: Name of the file.
        summary: Its summary; by default the object's own, else the first sentences.
        references: Its sources, beside those that it cites or an object lists.

    Raises:
        ToolError: The file holds no text, or it is too long.
    """
    if file is not None:
        text, data = _of_file(file, name)
    if data is not None:
        text, summary, references = _of_object(data, summary, references)
    if len(text) > MOST_CHARACTERS:
        raise ToolError(f"The piece is longer than {MOST_CHARACTERS:,} characters.", fix="add it in parts.")
    listed = _collected(text, references)
    if file is not None and not listed and not text.startswith("!["):
        listed = [{"number": 1, "source": name, "description": "", "quote": ""}]
        text = f"{text.rstrip()} [1](<{name}>)" if re.search(r"[\s()]", name) else f"{text.rstrip()} [1]({name})"
    return Item(content=text.strip(), summary=summary.strip() or _summary(text), references=listed)


def _of_file(file: Path, name: str) -> tuple[str, dict[str, Any] | None]:
    if file.suffix.lower() in FIGURES:
        alt = re.sub(r"[\[\]\\]", " ", file.stem)
        return f"![{alt}](<{name}>)" if re.search(r"[\s()]", name) else f"![{alt}]({name})", None
    if file.stat().st_size > 4 * MOST_CHARACTERS:
        raise ToolError(f"{name[:100]!r} is too long for a report.", fix="add the part that matters as text.")
    try:
        with open_resolved(file) as opened:
            text = opened.read().decode()
    except (OSError, UnicodeDecodeError) as error:
        fix = "read it with `read_file`, and add what it says as text."
        raise ToolError(f"{name[:100]!r} holds no UTF-8 text.", fix=fix) from error
    if file.suffix.lower() == ".json":
        try:
            found: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ToolError(f"{name[:100]!r} holds no JSON.", fix="mend it, or add it as text.") from error
        return text, cast("dict[str, Any]", found) if isinstance(found, dict) else {"content": found}
    return text, None


def _of_object(
    data: dict[str, Any], summary: str, references: list[dict[str, Any]]
) -> tuple[str, str, list[dict[str, Any]]]:
    """Return the text, summary and references in an object."""
    key = next((one for one in _CONTENT if data.get(one)), "")
    value: Any = (
        data.get(key) if key else {name: one for name, one in data.items() if name not in ("summary", "references")}
    )
    given: Any = data.get("references")
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    own = [cast("dict[str, Any]", one) if isinstance(one, dict) else {"source": str(one)} for one in listed]
    own += [data] if key and any(isinstance(data.get(one), str) and data.get(one) for one in _SOURCE) else []
    text = _markdown(value)
    if own and not _CITED.search(text):
        numbered = [{**one, "number": _number(one, n)} for n, one in enumerate(own, start=1)]
        text, own = f"{text} {''.join('[{number}]'.format_map(one) for one in numbered)}", numbered
    return text, summary or str(data.get("summary") or ""), [*references, *own]


def _markdown(value: Any) -> str:
    """Return a value in words: objects and lists as lists of their members."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return "\n".join(f"- **{name}**: {_inline(one)}" for name, one in members.items())
    if isinstance(value, list):
        return "\n".join(f"- {_inline(one)}" for one in cast("list[Any]", value))
    return _inline(value)


def _inline(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _collected(text: str, references: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each source once: the given ones, then those only in the text."""
    found = [
        {
            "number": _number(one, n),
            "source": next((str(one[key]) for key in _SOURCE if one.get(key)), ""),
            "description": str(one.get("description") or one.get("title") or ""),
            "quote": "\n".join(str(one[key]) for key in ("quote", "detail") if one.get(key)),
        }
        for n, one in enumerate(references, start=1)
    ]
    known = {one["source"] for one in found}
    for match in _CITED.finditer(text):
        if match[2] and match[2] not in known:
            known.add(match[2])
            found.append({"number": int(match[1]), "source": match[2], "description": "", "quote": ""})
    return found


def _number(reference: dict[str, Any], otherwise: int) -> int:
    given = reference.get("number", reference.get("id"))
    text = str(given) if isinstance(given, int | str) and not isinstance(given, bool) else ""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 5 else otherwise


def _summary(text: str) -> str:
    """Return the first three sentences of a piece, without its marks."""
    plain = " ".join(_MARKUP.sub(lambda match: match[1] or "", text[:_MOST_BEGUN]).split())
    return " ".join(one[0].strip() for _, one in zip(range(3), _SENTENCE.finditer(plain), strict=False)).strip()[:1_000]
