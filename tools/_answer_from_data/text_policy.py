"""The steps that answer a question from texts: find the passages, take the best when it covers the question."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .answers import Outcome, answer_value
from .cleaning import Asked
from .sections import asked_section, section
from .steps import Call, History, Step, call, calls_in, given_up, result_of, step
from .text_asking import asking, cues
from .text_closed import closed, verdict
from .text_judge import best, fits
from .tokens import tokens

_MOST_LINES = 2_000
_BRIEF = 4
_ABOUT = re.compile(
    r"^(what) (?:does|do|did) (?:the |this )?[\w ]{1,30}? (?:say|says|state|tell us|tell) "
    r"(?:about|on|regarding|concerning) ",
    re.IGNORECASE,
)


def next_step(asked: Asked, files: list[str], history: History, answer: Mapping[str, Any] | None) -> Step:
    """Return the next step of the work on a question about texts."""
    if name := asked_section(asked.question):
        return _section_step(name, files, history, answer)
    question = _ABOUT.sub(r"\1 ", asked.question)
    words = f"{question} {' '.join(cues(question))}".strip()
    searches = [call("read_file", path=file, find=words, full=True) for file in files]
    results = [result_of(history, search) for search in searches]
    waiting = [search for search, result in zip(searches, results, strict=True) if result is None]
    if waiting:
        done = "Nothing was done yet." if not any(calls_in(history)) else "The files are not tables."
        return step(f"The question is: {asked.question}", done, "", "Find the passage that tells.", *waiting)
    return _judged(question, searches, results, answer)


def _section_step(name: str, files: list[str], history: History, answer: Mapping[str, Any] | None) -> Step:
    """Return the next step towards the words of a whole section."""
    readings = [call("read_file", path=file, lines=_MOST_LINES, full=True) for file in files]
    results = [result_of(history, reading) for reading in readings]
    waiting = [reading for reading, result in zip(readings, results, strict=True) if result is None]
    if waiting:
        return step(f"The section {name} is asked for.", "Nothing was done yet.", "", "Read the text.", *waiting)
    found = [
        (file, section(str(result["value"].get("text", "")).splitlines(), name))
        for file, result in zip(files, results, strict=True)
        if result is not None and result.get("ok")
    ]
    hits = [(file, hit) for file, hit in found if hit]
    if len(hits) != 1:
        return given_up(f"not one section alone is called {name}")
    file, (first, last, text) = hits[0]
    return _reported(file, first, last, text, text, answer)


def _reported(
    file: str, first: int, last: int, quote: str, words: str | bool, answer: Mapping[str, Any] | None
) -> Step:
    value = answer_value(Outcome(values=(words,)), answer, None)
    if value is None:
        return given_up("the passage is not of the wanted type")
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    evidence = [{"source": file, "detail": lines, "quote": quote[:300]}]
    done = call("done", answer=value, success=True, evidence=evidence, reason="")
    return step(f"{file}, {lines} tells.", "One passage covers the question.", "", "Report the passage.", done)


def _judged(
    question: str,
    searches: Sequence[Call],
    results: Sequence[Mapping[str, Any] | None],
    answer: Mapping[str, Any] | None,
) -> Step:
    asked = asking(question)
    fitting = [
        fit
        for search, result in zip(searches, results, strict=True)
        if result is not None and result.get("ok")
        for fit in fits(asked, str(search["arguments"]["path"]), result["value"])
    ]
    if not fitting:
        return given_up("no passage covers the words of the question")
    fit = best(fitting)
    if fit is None:
        return given_up("several passages fit equally well")
    passage = fit.passage
    words = _words(question, passage, answer)
    return _reported(fit.file, int(passage["start"]), int(passage["end"]), str(passage["text"]), words, answer)


def _words(question: str, passage: Mapping[str, Any], answer: Mapping[str, Any] | None) -> str | bool:
    """Return what answers: a number or a truth where that is wanted, else the passage."""
    kind, text = (answer or {}).get("type"), str(passage["text"])
    if kind in ("number", "integer"):
        return _only_number(question, text)
    if not closed(question):
        return _passage(question, passage)
    found = verdict(question, text, [*passage["matched"], *passage["akin"]])
    if kind == "boolean":
        return "" if found is None else found
    told = f"{text} {passage['after']}" if len(text.split()) < _BRIEF else text
    return told if found is None or re.match("yes|no", text, re.IGNORECASE) else f"{'Yes' if found else 'No'}: {told}"


def _only_number(question: str, text: str) -> str:
    """Return the one number of a passage that the question does not say itself, else nothing."""
    said = {word.text for word in tokens(question)}
    found = [number.replace(",", "") for number in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text)]
    told = [number for number in found if number not in said]
    return told[0] if len(told) == 1 else ""


def _passage(question: str, passage: Mapping[str, Any]) -> str:
    """Return the passage, with the heading above it where the question asks for such a heading: which article."""
    text, heading = str(passage["text"]), str(passage["heading"])
    asked = re.match(r"(?:in |under )?(?:which|what) (\w+)", question, re.IGNORECASE)
    named = asked and re.search(rf"\b{re.escape(asked[1])}\b", heading, re.IGNORECASE)
    if len(re.findall(r"\w{4,}", text)) <= len(passage["matched"]) + len(passage["akin"]):
        text = f"{text} {passage['after']}".strip()
    return f"{heading}: {text}" if named and heading not in text else text
