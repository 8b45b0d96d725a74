"""Unified diffs: reading and applying them, by the context of each hunk."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tea import ToolError

NOWHERE = "/dev/null"
MOST_DIFF = 1_000_000
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


@dataclass(slots=True, kw_only=True)
class Hunk:
    """A part of a diff: signed lines without line ends, and its presumed first line in the old file."""

    line: int
    lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unended: set[str] = field(default_factory=set[str])

    def side(self, sign: str) -> list[str]:
        """Return the lines before (`-`) or after (`+`)."""
        return [text for mark, text in self.lines if mark in (" ", sign)]


@dataclass(slots=True, kw_only=True)
class FilePatch:
    """The hunks for one file; `old` or `new` is `/dev/null` for an added or removed file."""

    old: str
    new: str
    hunks: list[Hunk] = field(default_factory=list[Hunk])


def read_diff(diff: str) -> list[FilePatch]:
    """Return the files of a unified diff.

    Raises:
        ToolError: It is not a unified diff; the error names the line.
    """
    lines = diff.replace("\r\n", "\n").split("\n")
    found, at = list[FilePatch](), 0
    while at < len(lines):
        line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            found.append(FilePatch(old=_name(line), new=_name(following)))
            at += 2
        elif (match := _HUNK.match(line)) and found:
            hunk = Hunk(line=int(match[1]))
            at = _read_hunk(lines, at + 1, hunk)
            found[-1].hunks.append(hunk)
        elif line[:1] in ("+", "-", " ", "@") and line.strip() and (line[0] != " " or found):
            raise _unreadable(at, line)
        else:
            at += 1
    if not found or not all(one.hunks for one in found):
        fix = "begin with '--- a/NAME', '+++ b/NAME', then '@@ -1 +1 @@' and lines that begin with ' ', '-' or '+'."
        raise ToolError("The diff changes no file.", fix=fix)
    return found


def _read_hunk(lines: Sequence[str], at: int, hunk: Hunk) -> int:
    """Read the lines of a hunk, and return the position after them."""
    while at < len(lines):
        line = lines[at]
        heads = line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
        if heads or line.startswith(("@@ ", "diff ")):
            break
        if line.startswith("\\"):
            sign = hunk.lines[-1][0] if hunk.lines else " "
            hunk.unended |= {"-", "+"} if sign == " " else {sign}
        elif line == "":
            if all(not rest for rest in lines[at:]) or _ends(lines, at):
                break
            hunk.lines.append((" ", ""))
        elif line[0] in " -+":
            hunk.lines.append((line[0], line[1:]))
        else:
            raise _unreadable(at, line)
        at += 1
    return at


def _ends(lines: Sequence[str], at: int) -> bool:
    """Return whether empty lines stand between files only."""
    rest = next((line for line in lines[at:] if line), "")
    return rest.startswith(("diff ", "--- "))


def _unreadable(at: int, line: str) -> ToolError:
    return ToolError(
        f"Line {at + 1} of the diff cannot be read: {line[:60]!r}.",
        fix="begin lines of a hunk with ' ', '-' or '+', and a file with '--- a/NAME' and '+++ b/NAME'.",
    )


def _name(line: str) -> str:
    name = line[4:].partition("\t")[0].strip()
    return name if name == NOWHERE else re.sub(r"^[ab]/", "", name)


def apply(text: str, patch: FilePatch) -> str:
    """Return a text with all hunks of a patch applied.

    Lines have to be exactly those of the file, but for the kind of line end; numbers only choose among equal places.

    Raises:
        ToolError: The lines of a hunk do not stand in the text; the error tells the first that does not.
    """
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    plain, mark = [line.removesuffix("\r") for line in lines], "\r" if "\r\n" in text else ""
    offset, least = 0, 0
    for number, hunk in enumerate(patch.hunks, 1):
        old, new = hunk.side("-"), hunk.side("+")
        start = max(hunk.line - 1 if old else hunk.line, 0)  # without old lines it is the line before
        at = _place(plain, old, start + offset, least)
        if at is None:
            raise _missing(plain, patch, number, old, least)
        if at + len(old) == len(plain):
            ended = "+" not in hunk.unended and (ended or "-" in hunk.unended or not plain)
        lines[at : at + len(old)] = [line + mark for line in new]
        plain[at : at + len(old)] = new
        offset, least = at - start + len(new) - len(old), at + len(new)
    joined = "\n".join(lines)
    return joined + "\n" if ended and lines else joined.removesuffix("\r")


def _place(lines: Sequence[str], old: Sequence[str], near: int, least: int) -> int | None:
    """Return the place of some lines nearest to one, None if they stand nowhere behind the least."""
    if not old:
        return min(max(near, least), len(lines))
    places = [at for at in range(least, len(lines) - len(old) + 1) if lines[at] == old[0]]
    found = [at for at in places if list(lines[at : at + len(old)]) == list(old)]
    return min(found, key=lambda at: abs(at - near)) if found else None


def _missing(lines: Sequence[str], patch: FilePatch, number: int, old: Sequence[str], least: int) -> ToolError:
    name = patch.old if patch.old != NOWHERE else patch.new
    rest = set(lines[least:])
    lacking = next((line for line in old if line not in rest), None)
    if lacking is None:
        problem = f"The lines of hunk {number} of {name[:80]!r} do not follow one another in the file."
    else:
        problem = f"Hunk {number} of {name[:80]!r} does not fit: no line {lacking[:80]!r} in the file."
    return ToolError(problem, fix="read the file, and copy its lines exactly; nothing was changed.")
