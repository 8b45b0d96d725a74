"""The steps that answer a question from texts: find the passages, take the best when it covers the question."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from .answers import Outcome, answer_value
from .cleaning import Asked
from .lexicon import lexicon
from .sections import asked_section, section
from .steps import Call, History, Step, call, calls_in, given_up, result_of, step
from .tokens import MONTHS, stem, tokens
from .vocabulary import grammar_words

_ENOUGH = 0.7
_MOST_LINES = 2_000
_ABOUT = re.compile(
    r"^(what) (?:does|do|did) (?:the |this )?[\w ]{1,30}? (?:say|says|state|tell us|tell) "
    r"(?:about|on|regarding|concerning) ",
    re.IGNORECASE,
)
_LEAD = 1.08
_NEAR = 0.4
_APART = 0.05
Found = tuple[str, Mapping[str, Any]]
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million)\b"
)
_YEAR = re.compile(
    r"\b\d{3,4}\b|\b\d{1,2}(?:st|nd|rd|th)?\b.*\b(?:century|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_MOMENT = re.compile(rf"\d{{1,2}}[:.]\d\d|\d ?[ap]\.?m\b|noon|midnight|{_YEAR.pattern}", re.IGNORECASE)
_DAY = re.compile(rf"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|{_YEAR.pattern}", re.IGNORECASE)
_CONDITION = re.compile(
    r"\d|\b(?:after|before|until|within|only|if|when|while|during|once|day|morning|evening|night|spring|summer|autumn|"
    rf"winter|{'|'.join(MONTHS)})\b",
    re.IGNORECASE,
)
_WHEN = re.compile(r"^(?:on|in|at) (?:what|which) (?:week)?(?:day|date|year|month|time)\b", re.IGNORECASE)
_KEY = re.compile(r"([^.:]{1,40}):\s+\S")
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (r"^(?:for |at |in )?(?:how (?:many|much|long|far|old|tall)|what (?:number|percentage|percent|age))\b", _NUMBER),
    (r"^(?:at what time|when)\b(?=.*\b(?:leav|open|clos|start|begin|end|arriv|depart|serv)\w*)", _MOMENT),
    (r"^on (?:what|which) (?:week)?day\b", _DAY),
    (r"^when (?:does|do|is|are|can|may|must|should)\b", _CONDITION),
    (r"^(?:when|in (?:what|which) year|what year|which year|on (?:what|which) (?:date|day))\b", _YEAR),
    (r"^(?:who|whose|whom)\b", re.compile(r"(?<=\s)[A-Z]\w+|^[A-Z]\w+ (?:shall|will|is|was|has|had|may|can|must)\b")),
)


def next_step(asked: Asked, files: list[str], history: History, answer: Mapping[str, Any] | None) -> Step:
    """Return the next step of the work on a question about texts."""
    if name := asked_section(asked.question):
        return _section_step(name, files, history, answer)
    question = _ABOUT.sub(r"\1 ", asked.question)
    searches = [call("read_file", path=file, find=_WHEN.sub("when", question)) for file in files]
    results = [result_of(history, search) for search in searches]
    waiting = [search for search, result in zip(searches, results, strict=True) if result is None]
    if waiting:
        done = "Nothing was done yet." if not any(calls_in(history)) else "The files are not tables."
        return step(f"The question is: {asked.question}", done, "", "Find the passage that tells.", *waiting)
    return _judged(question, searches, results, answer)


def _section_step(name: str, files: list[str], history: History, answer: Mapping[str, Any] | None) -> Step:
    """Return the next step towards the words of a whole section."""
    readings = [call("read_file", path=file, lines=_MOST_LINES) for file in files]
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


def _reported(file: str, first: int, last: int, quote: str, words: str, answer: Mapping[str, Any] | None) -> Step:
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
    found: list[Found] = []
    for search, result in zip(searches, results, strict=True):
        if result is not None and result.get("ok"):
            found += [(str(search["arguments"]["path"]), passage) for passage in result["value"].get("passages", ())]
    chosen = _by_words(question, found) or _by_meaning(question, found)
    if chosen is None:
        return given_up("no passage alone covers the question")
    file, best = chosen
    words = _only_number(question, str(best["text"])) if _wants_number(answer) else _answer(question, best)
    return _reported(file, int(best["start"]), int(best["end"]), str(best["text"]), words, answer)


def _by_words(question: str, found: Sequence[Found]) -> Found | None:
    """Return the passage that covers the words of a question, when no other does it as well."""
    fitting = [(file, passage) for file, passage in found if _fits(question, passage)]
    fitting.sort(key=lambda pair: -float(pair[1]["score"]))
    if not fitting:
        return None
    best = fitting[0][1]
    rivals = [passage for _, passage in fitting[1:] if float(passage["score"]) * _LEAD > float(best["score"])]
    if any(len(rival["matched"]) >= len(best["matched"]) and rival["text"] != best["text"] for rival in rivals):
        return None
    return fitting[0]


def _by_meaning(question: str, found: Sequence[Found]) -> Found | None:
    """Return the passage nearest to a question in meaning, of those that tell something of the kind asked for."""
    told = [pair for pair in found if _tells(question, pair[1])]
    told.sort(key=lambda pair: -float(pair[1]["fit"]))
    sure = [
        pair
        for pair in told
        if (float(pair[1]["meaning"]) >= _NEAR and _supported(question, pair[1])) or _relates(question, pair[1])
    ]
    if not sure or any(float(pair[1]["fit"]) + _APART > float(sure[0][1]["fit"]) for pair in sure[1:]):
        return None
    return sure[0]


def _supported(question: str, passage: Mapping[str, Any]) -> bool:
    """Tell whether every word that a passage lacks is near in meaning to one of its own, or says what kind is asked."""
    words = [word.norm for word in tokens(question)]
    kinds = [two for one, two in pairwise(words) if one in ("what", "which", "how")]
    names = [word.norm for word in tokens(question)[1:] if word.capital]
    lacking = [root for root in (*passage["nearby"], *passage["missing"]) if root not in passage["akin"]]
    told = [
        two.startswith(root) and any(one.startswith(other) for other in passage["missing"])
        for article, one, two in zip(words, words[1:], words[2:], strict=False)
        for root in passage["matched"]
        if article in ("the", "a", "an")
    ]
    return not any(told) and all(any(word.startswith(root) for word in (*kinds, *names)) for root in lacking)


def _relates(question: str, passage: Mapping[str, Any]) -> bool:
    """Tell whether a passage says all words of a question but its names: which thing it is about is said elsewhere."""
    names = [word.norm for word in tokens(question)[1:] if word.capital or word.number is not None]
    lacking = [*passage["nearby"], *passage["missing"]]
    told = [root for root in passage["matched"] if not any(name.startswith(root) for name in names)]
    return bool(told) and all(any(name.startswith(root) for name in names) for root in lacking)


def _tells(question: str, passage: Mapping[str, Any]) -> bool:
    """Tell whether a passage says more than the question, of the kind asked for, and of what the question names."""
    text = str(passage["text"])
    new = [word for word in tokens(_beyond(text, question)) if word.kind != "sign" and word.norm not in grammar_words()]
    if float(passage["meaning"]) <= 0 or text.rstrip().endswith("?") or not new or not _names_all(question, passage):
        return False
    wanted = _kind_wanted(question)
    return wanted is None or wanted.search(_beyond(text, question)) is not None


def _kind_wanted(question: str) -> re.Pattern[str] | None:
    return next((pattern for opening, pattern in _KINDS if re.match(opening, question, re.IGNORECASE)), None)


def _names_all(question: str, passage: Mapping[str, Any]) -> bool:
    """Tell whether names, numbers and quoted words of a question stand in a passage or around it."""
    around = f"{passage['text']} {passage['context']}".casefold()
    near = [root for root in (*passage["matched"], *passage["nearby"]) if len(root) > 1]
    for word in tokens(question)[1:]:
        name = (word.kind == "word" and word.capital) or (word.number is not None and word.norm != "one")
        known = word.text.casefold() in around or any(word.norm.startswith(root) for root in near)
        if (name or word.kind == "quoted") and not known:
            return False
    return True


def _wants_number(answer: Mapping[str, Any] | None) -> bool:
    return (answer or {}).get("type") in ("number", "integer")


def _only_number(question: str, text: str) -> str:
    """Return the one number of a passage that the question does not say itself, else nothing."""
    said = {word.text for word in tokens(question)}
    found = [number.replace(",", "") for number in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text)]
    told = [number for number in found if number not in said]
    return told[0] if len(told) == 1 else ""


def _answer(question: str, passage: Mapping[str, Any]) -> str:
    """Return the passage, with the heading above it where the question asks for such a heading: which article."""
    text, heading = str(passage["text"]), str(passage["heading"])
    asked = re.match(r"(?:in |under )?(?:which|what) (\w+)", question, re.IGNORECASE)
    named = asked and re.search(rf"\b{re.escape(asked[1])}\b", heading, re.IGNORECASE)
    return f"{heading}: {text}" if named and heading not in text else text


def _fits(question: str, passage: Mapping[str, Any]) -> bool:
    """Tell whether a passage covers the question: names and numbers always, other words mostly; and its kind."""
    matched, nearby, missing = (len(passage[key]) for key in ("matched", "nearby", "missing"))
    covered = (matched + 0.5 * nearby) / max(1, matched + nearby + missing)
    text = str(passage["text"])
    if _answers_key(question, text):
        return True
    if matched < 1 or covered < _ENOUGH or text.rstrip().endswith("?"):
        return False
    if not _names_all(question, passage):
        return False
    wanted = _kind_wanted(question)
    return wanted is None or wanted.search(_beyond(text, question)) is not None


def _answers_key(question: str, text: str) -> bool:
    """Tell whether a line such as "Telephone: 555 0173" tells all that is asked: its key, small words."""
    found = _KEY.match(text)
    if not found:
        return False
    small = grammar_words() | lexicon().fillers
    said = {stem(word.norm) for word in tokens(question) if word.kind == "word" and word.norm not in small}
    key = {stem(word.norm) for word in tokens(found[1]) if word.norm not in small}
    return bool(key) and key <= said and said - key <= lexicon().generic


def _beyond(text: str, question: str) -> str:
    """Return a passage without the words that the question itself says."""
    said = {word.text.casefold() for word in tokens(question)}
    return " ".join(word for word in text.split() if word.strip(".,;:!?\"'()").casefold() not in said)
