"""Unified diffs: reading and applying them, by the context of each hunk."""

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tea import ToolError

NOWHERE = "/dev/null"
MOST_DIFF = 1_000_000
MOST_HUNKS = 5_000  # of a file
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
    lines = diff.replace("\r\n", "\n").rstrip("\n").split("\n")
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
            if len(found[-1].hunks) > MOST_HUNKS:
                raise ToolError(f"A file has more than {MOST_HUNKS:,} hunks.", fix="apply the diff in parts.")
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
            end = next(further for further in range(at, len(lines)) if lines[further])  # the last line is not empty
            if lines[end].startswith(("diff ", "--- ")):  # they stand between files only
                return end
            hunk.lines += [(" ", "")] * (end - at)
            at = end
            continue
        elif line[0] in " -+":
            hunk.lines.append((line[0], line[1:]))
        else:
            raise _unreadable(at, line)
        at += 1
    return at


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
    mark = "\r" if "\r\n" in text else ""
    places = _Places([line.removesuffix("\r") for line in lines])
    made, least, drift = list[str](), 0, 0
    for number, hunk in enumerate(patch.hunks, 1):
        old, new = hunk.side("-"), hunk.side("+")
        start = max(hunk.line - 1 if old else hunk.line, 0)  # without old lines it is the line before
        at = places.nearest(old, start + drift, least)
        if at is None:
            raise _missing(places.lines, patch, number, old, least)
        made += lines[least:at]
        if at + len(old) == len(lines):
            ended = "+" not in hunk.unended and (ended or "-" in hunk.unended or not (made or old))
        made += [line + mark for line in new]
        least, drift = at + len(old), at - start
    made += lines[least:]
    joined = "\n".join(made)
    return joined + "\n" if ended and made else joined.removesuffix("\r")


class _Places:
    """The places of lines in a file, found in time that grows with the file and not with how much repeats in it.

    Args:
        lines: Those of the file, without line ends.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._text = "\n" + "".join(f"{line}\n" for line in lines)
        self._reversed = self._text[::-1]
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def nearest(self, old: Sequence[str], near: int, least: int) -> int | None:
        """Return the place of some lines nearest to one, None if they stand nowhere behind the least."""
        near = min(max(near, least), len(self.lines))
        if not old:
            return near
        wanted = "\n" + "".join(f"{line}\n" for line in old)
        whole, here = len(self._text), self._starts[near]
        after = self._text.find(wanted, here)
        back = self._reversed.find(wanted[::-1], max(whole - here + 1 - len(wanted), 0), whole - self._starts[least])
        before = -1 if back < 0 else whole - back - len(wanted)
        found = [bisect(self._starts, place) - 1 for place in (before, after) if place >= 0]
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
