"""Questions for a whole section of a text: which one is meant, and its words."""

import re

from .tokens import stem, tokens

_KINDS = r"(?:section|chapter|article|part|paragraph|clause)"
_ASKED = re.compile(
    r"(?:what (?:does|do|did)|what (?:is|'s) (?:(?:said|written|stated) )?(?:in|under)|quote|read|(?:show|give) me)"
    rf" (?:the )?(?:{_KINDS} (?:on |about |called |named |titled )?(?P<after>[^?]+?)|(?P<before>[^?]+?) {_KINDS})"
    r"(?: (?:say|state|cover|contain|describe|tell|deal with|require|read)\b.*)?",
    re.IGNORECASE,
)
_LINE = re.compile(r"(?:#{1,6}\s+)?(?P<title>(?:\d+(?:\.\d+)*[.):]?\s+)?[A-Z][^.!?:;|]{0,70}[^.!?;|:,])")
_MOST_CHARACTERS = 1_200


def asked_section(question: str) -> str:
    """Return the name of the section that a question asks for, empty when it asks for anything else."""
    found = _ASKED.fullmatch(question.strip().rstrip("?.! "))
    return (found["after"] or found["before"]).strip("\"'“”") if found else ""


def section(lines: list[str], name: str) -> tuple[int, int, str] | None:
    """Return the first line, the last line and the words of the section of that name, or None unless there is one.

    Args:
        lines: The text.
        name: Words or the number of its heading.
    """
    titles = [index for index in range(len(lines)) if _is_title(lines, index)]
    hits = [index for index in titles if _named(lines[index], name)]
    if len(hits) != 1:
        return None
    end = next((index for index in titles if index > hits[0]), len(lines))
    body = " ".join(line.strip() for line in lines[hits[0] + 1 : end] if line.strip())
    last = max((index for index in range(hits[0], end) if lines[index].strip()), default=hits[0])
    return (hits[0] + 1, last + 1, body) if 0 < len(body) <= _MOST_CHARACTERS else None


def _is_title(lines: list[str], index: int) -> bool:
    line, before = lines[index].strip(), lines[index - 1].strip() if index else ""
    numbered = re.match(r"\d|#", line) is not None
    return (
        _LINE.fullmatch(line) is not None
        and not before
        and (numbered or not "".join(lines[index + 1 : index + 2]).strip())
    )


def _named(line: str, name: str) -> bool:
    title, said = _words(line), _words(name)
    return bool(said) and (said == title or said == title[: len(said)][:1] or said == title[1:])


def _words(text: str) -> list[str]:
    return [stem(word.norm) for word in tokens(text) if word.norm.isalnum() and word.norm not in ("the", "section")]
