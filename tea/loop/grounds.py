"""Grounds of a proposed answer: the results read by a run, and the sure facts in the heads of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple, cast

from tea.loop.checks import is_about, numbers_stand_in, standing_in, stands_in
from tea.loop.claims import retells, was_shown
from tea.loop.nearby import MOST_READ, nearest_number
from tea.loop.observation import Observation
from tea.loop.opening import Head, described
from tea.loop.shown import Listed, named_whole, of_named, picked, shared_years
from tea.loop.values import holds_value, shown_values
from tea.models.rendering import rendered
from tea.types import JsonValue, as_text

QUERY = "table_query"
_IN_NONE, _FROM_NONE = "in no result and", "from none by simple arithmetic"
_STATUS = re.compile(r"\bstatus (\d{3})\b")
_UNKNOWN = re.compile(rf"(?P<numbers>.+) stands? {_IN_NONE} follows? {_FROM_NONE}")


class Grounds(NamedTuple):
    """The texts and results for checking the values of an answer.

    Args:
        task: The task in words, and what the person said since.
        stated: What else was stated before and beside the work, such as its conversation and facts.
        heads: Heads of files, in the first question or as descriptions.
        results: What else calls gave.
        quoted: Passages of the heads that the answer names as its evidence.
        spoken: Contributions to the conversation before the task, also among what was stated.
        asked: Arguments of calls that only read, such as the bounds of a query.
        silent: Ids of results that show nothing: of calls that only wrote, or of texts written by hand and read back.
        today: The date of the run.
    """

    task: str
    stated: str
    heads: Sequence[Head]
    results: Sequence[Observation]
    quoted: Sequence[str] = ()
    spoken: Sequence[str] = ()
    asked: Sequence[str] = ()
    silent: Collection[str] = ()
    today: str = ""

    @classmethod
    def of(
        cls,
        task: str,
        stated: Iterable[str],
        heads: Iterable[Head],
        results: Iterable[Observation],
        quotes: Iterable[str] = (),
        spoken: Sequence[str] = (),
        asked: Sequence[str] = (),
        silent: Collection[str] = (),
        today: str = "",
    ) -> Grounds:
        """Return the grounds of a run; the description of a table counts as a head, a status of a failure as stated."""
        heads, results = list(heads), list(results)
        stated = [*stated, *(code for one in results if not one.ok for code in _STATUS.findall(str(one.error)))]
        known = [one for one in results if one.ok and not one.repeated]
        found = [(one, described(one.value)) for one in known]
        return cls(
            task,
            "\n".join(stated),
            [*heads, *(head for one, head in found if head is not None and one.id not in silent)],
            [one for one, head in found if head is None],
            [one for one in quotes if any(head.prose and stands_in(one, head.all) for head in heads)],
            spoken,
            asked,
            silent,
            today,
        )

    @property
    def shown(self) -> list[Observation]:
        """The results showing anything."""
        return [one for one in self.results if one.id not in self.silent]

    @property
    def whole(self) -> list[Head]:
        """The heads showing all of their files."""
        return [one for one in self.heads if one.whole]

    @property
    def sure(self) -> str:
        """The sure facts in the heads."""
        return "\n".join([*(one.sure for one in self.heads), *self.quoted])

    def sure_of(self, answer: JsonValue) -> str:
        """Return the sure facts for an answer: only column sizes and quotes if values are named without any result."""
        named = {} if self.results else self._of_named(answer)
        if not named:
            return self.sure
        counts = (str(len(one.values)) for one in named.values() if one.all)
        return "\n".join([*named, *counts, *self.quoted])

    def _of_named(self, answer: JsonValue) -> dict[str, Listed]:
        """Return the values of columns named by the task or an answer, each with its column."""
        return of_named(f"{self.task}\n{as_text(answer)}", [each for one in self.heads for each in one.listed])

    def _names_unspoken(self, answer: JsonValue) -> bool:
        """Return whether without results a value of a column is named, and the conversation tells nothing of it."""
        named = {} if self.results else self._of_named(answer)
        return bool(named.keys() - of_named("\n".join(self.spoken), named.values()).keys())

    def examples(self, answer: JsonValue) -> list[str]:
        """Return the values of an answer known only as examples in a head."""
        read = (rendered(one.value) for one in self.shown)
        known = "\n".join([self.task, self.stated, self.today, self.sure, *read])
        return picked(answer, [each for one in self.heads for each in one.listed], known)

    def numbers(self, answer: JsonValue) -> list[str]:
        """Return the numbers of an answer found nowhere and following from nothing."""
        from tea.loop.numbers import unfounded  # answers of solvers are not asked for it

        begun = [one.text for one in self.heads if one.prose]
        years = shared_years(each for one in self.heads for each in one.listed) if self.results else []
        stated = "\n".join([self.stated, self.sure_of(answer), *begun, *self._named(answer), *self.asked, *years])
        queried = {name for one in self.shown if one.name == QUERY for name in _files_of(one)}
        tables = [one.text for one in self.whole if one.name in queried]
        read: list[JsonValue] = [*(one.text for one in self.whole if one.name not in queried)]
        read += [one.value for one in self.shown]
        read += () if self._names_unspoken(answer) else self.spoken
        is_read = bool(read or not self.heads)
        return unfounded(answer, self.task, read, stated, wording=is_read, queried=tables, today=self.today)

    def near(self, number: str) -> str:
        """Return a number with the nearest one among the results beside it; alone if none is near."""
        read = "\n".join([*(one.text for one in self.whole), *(one.text for one in self.shown)])
        found = nearest_number(number, read[:MOST_READ])
        return f"{number} (a result holds {found})" if found else number

    def tells(self, text: str) -> bool:
        """Return whether words need no call: they were shown before, or follow from the conversation."""
        spoken = "\n".join(self.spoken)
        shown = was_shown(text, "\n".join([self.task, spoken, self.sure_of(text)]), spoken)
        return shown or self.shows(text) or self.follows(text)

    def follows(self, answer: str) -> bool:
        """Return whether all numbers of an answer follow from the conversation before the task, or it retells that."""
        if retells(answer, "\n".join(self.spoken)):
            return True
        if not any(map(str.isdecimal, answer)) or not any(map(str.isdecimal, "".join(self.spoken))):
            return False
        return not (self.numbers(answer) or self.examples(answer))

    def begun(self, answer: JsonValue) -> list[str]:
        """Return the files known by their first lines alone, without a passage quoted by the answer."""
        begun = [one.name for one in self.heads if one.prose]
        return [] if self.quoted or not begun or self.shows(answer) else begun

    def doubt(self, answer: JsonValue) -> str:
        """Return the unknown values of an answer, in one line; empty without any."""
        examples, numbers, begun = self.examples(answer), self.numbers(answer), self.begun(answer)
        held = set(map(str.casefold, examples))
        left = [one for one in numbers if one.casefold() not in held]
        words = [f"only the head of a file shows {', '.join(examples)}, as one of several values"] if examples else []
        words += [unknown_words(left)] if left else []
        if not words and begun and not self.results:
            words = [f"only the first lines of {', '.join(begun)} were read"]
        return "; ".join(words)

    def shows(self, answer: JsonValue) -> bool:
        """Return whether the heads tell an answer for sure."""
        text = as_text(answer)
        sure = "\n".join([self.sure_of(answer), *self._named(answer)])
        known = numbers_stand_in(text, f"{self.task}\n{sure}") and not self.examples(answer)
        return known and holds_value(text, self.task, [shown_values(sure)])

    def _named(self, answer: JsonValue) -> list[str]:
        return named_whole(answer, [each for one in self.heads for each in one.listed])


def _files_of(result: Observation) -> list[str]:
    """Return the names of the files of a call."""
    files: Any = result.arguments.get("files")
    return [files] if isinstance(files, str) else list(map(str, cast("list[Any]", files or [])))


def narrowed(doubt: str, given: str, answer: str, known: Callable[[str], bool]) -> str:
    """Return the part of a doubt about one answer concerning another, empty if there is none.

    Args:
        doubt: What is not known of the first answer.
        given: The first answer.
        answer: The other one.
        known: Tells whether numbers are known otherwise to whoever gives that.
    """
    kept, stand = list[str](), standing_in(answer)
    for piece in doubt.split("; "):
        if found := _UNKNOWN.fullmatch(piece):
            numbers = found["numbers"].split(", ")
            left = [one for one in numbers if stand(one) and not known(one)]
            kept += [unknown_words(left)] if left else []
        elif is_about(piece, answer) or stand(given):
            kept.append(piece)
    return "; ".join(kept)


def unknown_words(numbers: Sequence[str]) -> str:
    """Return the doubt about unknown numbers."""
    stand, follow = ("stands", "follows") if len(numbers) == 1 else ("stand", "follow")
    return f"{', '.join(numbers)} {stand} {_IN_NONE} {follow} {_FROM_NONE}"
