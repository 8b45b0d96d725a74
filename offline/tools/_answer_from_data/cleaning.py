"""Read a task's side remarks: rounding, and the wording of the answer."""

import re
from dataclasses import dataclass

from .rephrasing import rephrased

_NUMBERS = {"zero": 0, "no": 0, "one": 1, "two": 2, "three": 3, "four": 4}
_DECIMALS = r"decimal(?:\s+(?:place|point|digit))?s?"
_PLACES = re.compile(
    r",?\s*\(?\b(?:please\s+)?(?:round(?:ed|ing)?|correct)\s*(?:it|the (?:answer|result|value))?\s*(?:off\s*)?to\s+"
    r"(?:the\s+nearest\s+)?"
    rf"(?:(?P<count>\w+)\s+(?:{_DECIMALS}|digits?(?:\s+after[^.?!,]*)?)"
    r"|(?P<whole>integer|whole\s+number|unit|full\s+number)|(?P<tenth>tenth|hundredth|thousandth))\)?",
    re.IGNORECASE,
)
_WHOLE = re.compile(r",?\s*\(?\bto the nearest (?P<whole>integer|whole number)\)?", re.IGNORECASE)
_DIGITS = re.compile(rf",?\s*\(?\b(?:to|with|using)\s+(?P<count>\w+)\s+{_DECIMALS}\)?", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"(?:(?<=[.?!])|^)\s*(?:please\s+)?(?:answer|respond|reply|give|return|provide|output|write|state|report)\s+"
    r"(?:(?:only|just|with|me|your answer|the answer|an?|the|as|in|using|exact|exactly|single|final|number|value|name|"
    r"names|integer|decimal|word|code|figure|count|one|digits|yes|or|no|list|comma|separated|comma-separated|plain|"
    r"of|and|nothing|else|text|numeral|numeric|itself|is enough)\s*)+[.!]?\s*$",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^\s*(?:hi|hello|hey)?[,!\s]*(?:please|kindly|(?:can|could|would) you(?: mind)?(?: please)?|"
    r"i(?: would|'d)? (?:like|want|need)(?: you)? to(?: know)?|i wonder|tell me|let me know|do you know|"
    r"help me(?: to)?(?: find(?: out)?)?|find out|i(?: was| am|'m) (?:just )?wondering|"
    r"i(?: am|'m) curious(?: to know)?|"
    r"may i ask|any idea|do you happen to know|i(?: would|'d) be interested (?:in|to know)|"
    r"what i want to know is)[,:]?\s+",
    re.IGNORECASE,
)
_LEAD = "according to|based on|given|from|in|using|looking at|as per|within|with|of|on|across|per"
_SOURCE = re.compile(
    rf"(?:^|,?\s+)(?:{_LEAD}|judging by)\s+(?:the|this|these|that|our|my|all(?: of)? the)\s+"
    r"(?:whole |entire |given |attached |provided |full |following |supplied )?"
    r"(?:data ?sets?|data|tables?|files?|spreadsheets?|csv|sheets?|csv files?|json files?|data files?|collection|"
    r"workbooks?|records|file provided|input)"
    r"(?:\s+(?:provided|given|attached|above|below))?(?=[\s,.?!:;]|$),?",
    re.IGNORECASE,
)
_COUNTING = re.compile(r"how many|(what(?:'s| is) the )?(total )?number of|count", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Hold a question and the rounding of its answer; `places` is None if nothing is said."""

    question: str
    places: int | None = None


def cleaned(task: str, files: list[str]) -> Asked:
    """Return the question alone, without courtesy, wording instructions and mentions of the data as a whole."""
    text, places = re.sub(r"\s+", " ", task).strip(), None
    for pattern in (_PLACES, _WHOLE, _DIGITS):
        if found := pattern.search(text):
            size = _places(found.groupdict())
            if size is not None:
                places = size
                text = (text[: found.start()] + text[found.end() :]).strip()
    text = re.sub(r"\b(?:no|nr|num|nb)\.? of\b|(?<!\w)# ?of\b", "number of", text, flags=re.IGNORECASE)
    text = re.sub(r"(?:\.{2,}|,|;)?\s*\bi mean\b,?", ",", text, flags=re.IGNORECASE)
    text = _INSTRUCTION.sub("", text).strip()
    text = rephrased(text)
    for _ in range(3):
        text = _POLITE.sub("", text)
    if len(files) == 1 and not _COUNTING.match(text):
        text = _without_sources(text, files)
    return Asked(question=rephrased(_SOURCE.sub(" ", text).strip(" ,:")), places=places)


def _places(groups: dict[str, str | None]) -> int | None:
    if groups.get("whole"):
        return 0
    if tenth := groups.get("tenth"):
        return {"tenth": 1, "hundredth": 2, "thousandth": 3}[tenth.lower()]
    count = (groups.get("count") or "").lower()
    return int(count) if count.isdigit() else _NUMBERS.get(count)


def _without_sources(text: str, files: list[str]) -> str:
    """Drop "according to planets.csv" if planets.csv is the only file."""
    for file in files:
        base = re.escape(file.rsplit("/", 1)[-1])
        text = re.sub(
            rf"(?:^|,?\s+)(?:{_LEAD}|(?:listed|recorded|contained) in)\s+(?:the\s+)?"
            rf"(?:file\s+|table\s+|data\s+(?:in|from)\s+|dataset\s+)?[\"'`]?{base}[\"'`]?"
            r"(?:\s+(?:file|table|dataset|data))?(?=[\s,.?!:;]|$),?",
            lambda found: "" if found.start() == 0 else " ",
            text,
            flags=re.IGNORECASE,
        )
    return text
