"""Claims of a proposed end: steps only announced, missing files, words shown before any call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from tea.components.context import Context
from tea.loop.checks import numbers_stand_in

MOST_FILES = 8  # looked up for one end
_LONGEST = 300  # characters of a sentence that may announce a step
_QUESTIONS = ("?", "\uff1f", "\u061f")
_FEW_WORDS = 6
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n")
_FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_DOING = (
    "analy[sz]e|begin|calculate|call|check|collect|compare|compute|convert|count|create|determine|examine|explore"
    "|extract|fetch|filter|find|gather|get|identify|inspect|investigate|list|load|look|need|open|parse|proceed|query"
    "|read|retrieve|review|run|search|see|simulate|solve|start|sum|try|use|verify|write"
)
_ANNOUNCES = re.compile(
    r"^(?:[-*>#\s]{0,8})(?:(?:now|next|first|then|so|okay|ok|alright|sure|great|thought|step \d+)[,.:]? ){0,2}"
    r"(?:(?:i(?:'|\u2019)ll|i will|i am going to|i(?:'|\u2019)m going to|i need to|i have to|i should|i must"
    r"|let me|let(?:'|\u2019)s|let us|we need to|we will|we should)"
    rf" (?:(?:now|first|next|then|also|start by|begin by|quickly|simply) ){{0,2}}(?:{_DOING})"
    r"|(?:(?:ich werde|(?:(?:nun|jetzt|zuerst|dann|als n\u00e4chstes) )werde ich|lass(?:en sie)? mich)|je vais"
    r"|(?:(?:ahora|primero|luego),? )?voy a) )\b",
    re.IGNORECASE,
)
_AROUND = " \n.!*_`'\"\u201c\u201d\u201e"
_LONGEST_CHOICE = 40
_OR = "(?:or|oder|ou|o)"
_LONGEST_REASON = 1_200  # characters of words that only say why there is no answer
_KNOWING = "answer|calculat|comput|deduc|deriv|determin|establish|identif|infer"
_HEDGING = r"although|but|certain\w*|exact\w*|however|precise\w*|though|while"
_GIVES_UP = re.compile(
    rf"\b(?:can(?:not|(?:'|\u2019)t| not)|could(?: not|n(?:'|\u2019)t)) be (?:reliably )?(?:{_KNOWING})\w*"
    r"|\b(?:i|we) (?:can(?:not|(?:'|\u2019)t| not)|could(?: not|n(?:'|\u2019)t)"
    r"|(?:am|are|was|were) (?:unable|not able) to)"
    rf" (?:{_KNOWING}|access|complete|do|find|give|help|open|perform|provide|read|say|see|tell)\w*"
    r"|\b(?:i|we) (?:do not|don(?:'|\u2019)t) (?:\w+ )?have"
    r" (?:direct |the |any )?(?:access|ability|capability|means) to\b"
    rf"|\b(?:impossible|not possible|no way) to (?:{_KNOWING})\w*"
    r"|(?:kann|k\u00f6nnen|l\u00e4sst sich|lassen sich)\b.{0,120}\bnicht (?:beantwort|berechn|bestimm|ermittel)\w*"
    r"|\bne peu(?:t|vent) (?:pas )?\u00eatre (?:calcul|d\u00e9termin|\u00e9tabli)\w*"
    r"|\bno (?:se )?pued\w+ (?:calcular|determinar|establecer|responder)\w*",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(  # the end of words that tell what is missing
    rf"\b(?:so|hence|thus|therefore),? (?:(?!{_HEDGING}).){{0,100}}"
    rf"\b(?:can(?:not|(?:'|\u2019)t| not)|could(?: not|n(?:'|\u2019)t)) be (?:{_KNOWING}|given|told)\w*\W*\Z",
    re.IGNORECASE,
)
_TOLD = "documented|given|included|known|listed|measured|mentioned|provided|recorded|reported|specified|stated"
_LACKS = re.compile(  # a thing of which nothing is told
    rf"(?P<one>[^,;:.]{{3,120}}?)(?:,[^,;:.]{{1,80}},)? (?:(?:is|was|are|were)(?: not|n(?:'|\u2019)t)"
    rf"|(?:has|have)(?: not|n(?:'|\u2019)t) been)(?: \w{{2,12}}ly)?"
    rf" (?:{_TOLD}|available|in the (?:data|files?|tables?))\b"
    r"|(?:the|this|that|these|those|my|your) (?:\w+ )?(?:data(?: ?set)?|documents?|files?|notes?|pages?|tables?|texts?)"
    r" (?:(?:does|do|did)(?: not|n(?:'|\u2019)t))"
    r" (?:contain|give|hold|include|list|mention|record|report|say|show|state|tell)"
    r" (?P<other>[^,;:.]{3,120})",
    re.IGNORECASE,
)
_ASKS_VALUE = re.compile(r"\b(?:what|when|where|which|who|whom|whose|how (?!many\b|much\b)\w+)\b", re.IGNORECASE)
_SMALL = 3  # letters of a word that says nothing of a thing
_NOT_GIVEN = re.compile(
    r"\b(?:not|n(?:'|\u2019)t) (?:yet )?(?:attached|available|given|have|included|provided|shared)\b", re.IGNORECASE
)
_ASKS_FOR = re.compile(r"\bplease (?:attach|give|provide|send|share|upload)\b", re.IGNORECASE)
_HEDGES = re.compile(rf"\b(?:{_HEDGING})\b", re.IGNORECASE)
_ABOUT_KNOWING = re.compile(rf"\b(?:be|to) (?:{_KNOWING})\w*", re.IGNORECASE)
_FENCE = "```"
_LANGUAGES = frozenset(("bash", "py", "python", "python3", "sh", "shell", "sql", "sqlite", "tool_code", "zsh"))
_SQL = frozenset(("sql", "sqlite"))
_OPENS = re.compile(r"^[ \t>]{0,8}```[ \t]{0,3}(\w{1,20})[ \t]*\n", re.MULTILINE)
_QUERY = re.compile(r"(?:[^\n:]{0,40}:\s{0,3})?(?:SELECT|WITH)\s.+?\sFROM\s")
_OF_PROGRAMS = re.compile(
    r"\b(?:codes?|coded?|command|function|implement\w*|one-liner|program\w*|query|queries|regex|script\w*"
    r"|snippet|syntax|befehl|code|programm\w*|skript\w*|requ\u00eate|consulta|c\u00f3digo)\b",
    re.IGNORECASE,
)
_IN_A_LANGUAGE = re.compile(r"\b(?:bash|python|shell|sql)\b", re.IGNORECASE)
_BY_PROGRAM = re.compile(  # how the task is to be done, not what it asks for
    r"\b(?:by|execute|run(?:ning)?|through|using|via|with|mit) (?:(?:a|an|some|the|your|einem|dem) )?(?:own )?"
    r"(?:(?:bash|python|shell|short|sql) )?(?:codes?|command|program\w*|quer(?:y|ies)|script\w*|skript\w*)\b",
    re.IGNORECASE,
)
_WANTS_RESULT = re.compile(r"\b(?:calculate|compute|execute|how (?:many|much)|run|simulate)\b", re.IGNORECASE)
_EXPRESSION = re.compile(r"[\d\s.,()*/+\u00d7\u00f7^%-]{1,300}")
_OPERATION = re.compile(r"\d\)?\s*(?:\*{1,2}|[+\u00d7\u00f7^])\s*[(-]?\d")
_FILE = re.compile(r"(?<![\w./:@-])[\w][\w./-]{0,150}\.[A-Za-z][A-Za-z0-9]{1,4}(?![\w/@-])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PLACE = re.compile(r"\[\d{1,3}\]")
_LABEL = re.compile(r"\A\s*(?:\*\*|#+ )?(?:the |my )?final answer(?:\*\*)?\s*:(?:\*\*)?\s*", re.IGNORECASE)
_THOUGHT = re.compile(r"\A\s*(?:\*\*)?Thought(?:\*\*)?\s{0,3}:", re.IGNORECASE)
_AFTER_THOUGHT = re.compile(r"^[ \t*]{0,4}Final Answer[ \t*]{0,4}:[ \t*]{0,4}", re.MULTILINE | re.IGNORECASE)
_LATEX_SIGN = re.compile(r"\\([%$&#_])")
_TAG, _ENDS, _BOX = "<answer>", "</answer>", "\\boxed{"
_AFTER_BOX = " \t\n.$*)]\\"


_SPOKE = (
    "asked answered mentioned question questions said told wanted frage gefragt gesagt demand\u00e9 preguntado dijo"
)
_OF_SPEAKERS = (
    "about and answer before earlier first i it is last me my second so that the then this us was we were what you your"
    " das du erste haben hast ich letzte mich nach sie war avez vous moi usted"
)


def announces(text: str) -> bool:
    """Return whether a text ends with the announcement of a step, instead of an answer."""
    sentences = [one.strip() for one in _SENTENCE.split(text.strip()[-4 * _LONGEST :]) if one.strip()]
    return bool(sentences) and _ANNOUNCES.match(sentences[-1][:_LONGEST]) is not None


def gives_up(text: str, task: str) -> bool:
    """Return whether words give no answer, but only say so, or ask for missing material.

    Args:
        text: The words.
        task: The task; one about what can be known is answered so.

    Examples:
        >>> gives_up("The profit cannot be determined: there are no costs.", "Which product had the highest profit?")
        True
        >>> gives_up("A is 17. The stock of B is not known, so the total cannot be given.", "How many are there?")
        True
        >>> gives_up("The wind at Cedar was not recorded; rain was.", "What was the wind at Cedar?")
        True
        >>> gives_up("It cannot be determined exactly, but is about 5.", "How long is it?")
        False
    """
    said = text.strip()
    if len(said) > _LONGEST_REASON or _ABOUT_KNOWING.search(task):
        return False
    first = _FIRST_SENTENCE.split(said, maxsplit=1)[0]
    if _CONCLUDES.search(said):
        return True
    if _HEDGES.search(first):
        return False
    lacks = _NOT_GIVEN.search(first) is not None and _ASKS_FOR.search(said) is not None
    return lacks or _GIVES_UP.search(first) is not None or _lacks_what_is_asked(first, task)


def _lacks_what_is_asked(sentence: str, task: str) -> bool:
    """Return whether a sentence calls the thing asked for, in the words of the task, missing."""
    found = _LACKS.match(sentence)
    if found is None or not _ASKS_VALUE.search(task) or re.search(rf"\b(?:{_TOLD}|not|n't|missing)\b", task):
        return False
    named = {one for one in _words(found["one"] or found["other"]) if len(one) > _SMALL}
    return bool(named) and named <= {*_words(task)}


def is_choice(text: str, task: str) -> bool:
    """Return whether a text is one of the choices given by a task, such as yes or no.

    Examples:
        >>> is_choice("Yes.", "Was it sold? Answer only yes or no.")
        True
        >>> is_choice("Yes.", "Was it sold?")
        False
    """
    said = text.strip(_AROUND)
    if not said or len(said) > _LONGEST_CHOICE:
        return False
    choice = rf"(?<!\w)[\"'`*]*{re.escape(said)}[\"'`*]*(?!\w)"
    before, behind = rf"\b{_OR}\s+{choice}", rf"{choice}(?:\s*,[^.?!\n]{{0,80}})?\s+{_OR}\b"
    return re.search(rf"{before}|{behind}|{choice}\s*/|/\s*{choice}", task, re.IGNORECASE) is not None


def is_program(text: str, task: str) -> bool:
    r"""Return whether a text ends with code or a query instead of an answer, for a task asking for neither.

    A task that names a language asks for code, unless it wants a result or the words before announce a step.

    Examples:
        >>> is_program("```python\nprint(6 * 7)\n```", "How much is 6 times 7? Use Python.")
        True
        >>> is_program("```python\nprint(6 * 7)\n```", "Multiply two numbers in Python.")
        False
    """
    said = text.strip()
    *before, block = said.removesuffix(_FENCE).split(_FENCE)
    if before and (said.endswith(_FENCE) or len(before) % 2):
        written = block.partition("\n")[0].strip().casefold() in _LANGUAGES
    else:
        written = _QUERY.match(said.rpartition("\n")[2][:_LONGEST]) is not None
    return written and not _asks_for_program(said, task)


def holds_program(text: str, task: str, *, code: bool, sql: bool) -> bool:
    r"""Return whether a text holds code for a function to run, for a task asking for none.

    Args:
        text: The words.
        task: The task.
        code: Whether a function runs programs and commands.
        sql: Whether a function runs queries.

    Examples:
        >>> words = "I run:\n```python\nprint(6 * 7)\n```\nIt gives 42."
        >>> holds_program(words, "How much is 6 times 7?", code=True, sql=True)
        True
        >>> holds_program(words, "How much is 6 times 7?", code=False, sql=True)
        False
    """
    run = (_LANGUAGES - _SQL if code else frozenset[str]()) | (_SQL if sql else frozenset[str]())
    found = any(one[1].casefold() in run for one in _OPENS.finditer(text))
    return found and not _asks_for_program(text.strip(), task)


def _asks_for_program(said: str, task: str) -> bool:
    """Return whether a task asks for code; one naming a language alone may want the result of a step."""
    if _OF_PROGRAMS.search(_BY_PROGRAM.sub(" ", task)):
        return True
    is_step = announces(said.partition(_FENCE)[0]) or _WANTS_RESULT.search(task) is not None
    return not is_step and _IN_A_LANGUAGE.search(task) is not None


def is_expression(answer: object) -> bool:
    """Return whether an answer is arithmetic without its value; a date, a range, or a fraction is none."""
    text = answer.strip() if isinstance(answer, str) else ""
    return _EXPRESSION.fullmatch(text) is not None and _OPERATION.search(text) is not None


def without_label(text: str, task: str = "") -> str:
    r"""Return an answer in words without its scaffolding: `Final answer:`, `Thought:`, `<answer>` or `\boxed{}`.

    Args:
        text: The answer.
        task: The words of the task; a mark named there stays.

    Examples:
        >>> without_label("**Final answer:** Oslo")
        'Oslo'
        >>> without_label("Thought: I know it.\nFinal Answer: Oslo")
        'Oslo'
        >>> without_label("<answer>Oslo</answer>")
        'Oslo'
    """
    if _THOUGHT.match(text) and (ends := [*_AFTER_THOUGHT.finditer(text)]):
        text = text[ends[-1].end() :].strip() or text
    text = _LABEL.sub("", text, count=1) or text
    if _TAG not in task.casefold():
        text = _tagged(text) or text
    return text if "boxed" in task.casefold() else _boxed(text) or text


def _tagged(text: str) -> str:
    """Return the content of the only `<answer>` at the end of a text, empty if there is none."""
    before, tag, inner = text.strip().partition(_TAG)
    ends = tag and inner.endswith(_ENDS) and _TAG not in inner and inner.count(_ENDS) == 1
    return inner.removesuffix(_ENDS).strip() if ends and _FENCE not in before else ""


def _boxed(text: str) -> str:
    r"""Return the content of the only `\boxed{}` at the end of a text, empty if there is none."""
    before, box, inner = text.rstrip(_AFTER_BOX).partition(_BOX)
    if not box or not inner.endswith("}") or _BOX in inner or _FENCE in before:
        return ""
    inner, depth = inner[:-1], 0
    for sign in inner:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:  # the box ends before the text
            return ""
    said = inner.strip()
    wrapped = said.startswith("\\text{") and said.endswith("}") and said.count("{") == 1
    return _LATEX_SIGN.sub(r"\1", said[len("\\text{") : -1].strip() if wrapped else said)


def is_talk(line: str, reply: str) -> bool:
    """Return whether a reply in a conversation needs nothing read: it asks back, or the line asked nothing.

    A line that asks nothing is a few words without a question mark, such as thanks; the reply holds no number.
    """
    if any(map(str.isdecimal, reply)):
        return False
    asks = any(sign in line for sign in _QUESTIONS)
    return reply.rstrip().endswith(_QUESTIONS) or (not asks and len(line.split()) <= _FEW_WORDS)


def file_names(text: str) -> list[str]:
    """Return the names of files in a text, each once; a part of an address does not count."""
    return list(dict.fromkeys(_FILE.findall(text)))


async def looked_up(ctx: Context, names: Iterable[str]) -> dict[str, bool]:
    """Return for each name whether the workspace has such a file; empty if there is no workspace to ask.

    Args:
        ctx: What the agent may reach.
        names: Names of files; at most 8 are looked up.
    """
    found = dict[str, bool]()
    for name in list(dict.fromkeys(names))[:MOST_FILES]:
        response = await ctx.ecp.invoke("workspace#list_files", {"names": [name], "limit": 1})
        if response.ok:
            found[name] = bool(cast("dict[str, Any]", response.value)["files"])
    return found


def was_shown(answer: str, shown: str, spoken: str) -> bool:
    """Return whether an answer was shown before any call: its numbers anywhere, else its words in the conversation.

    Words alone, such as one of the values of a column, may be a guess. Some may tell only who said the others.

    Args:
        answer: The answer in words.
        shown: The task, its conversation, and the heads of its files.
        spoken: The conversation alone.
    """
    bare = _PLACE.sub(" ", answer)
    if any(map(str.isdecimal, bare)):
        return numbers_stand_in(bare, shown)
    return set(_words(bare)) <= set(_words(spoken)) or retells(answer, spoken)


def retells(answer: str, spoken: str) -> bool:
    """Return whether an answer only retells a conversation, in its own words.

    Examples:
        >>> retells("You asked how many lamps there are.", "How many lamps are there?")
        True
        >>> retells("You asked how many desks there are.", "How many lamps are there?")
        False
    """
    said, verbs, known = set(_words(answer)), set(_SPOKE.split()), set(_words(spoken))
    own = said - verbs - set(_OF_SPEAKERS.split())
    held = own <= known and any(len(one) > _SMALL for one in own)
    return held and bool(said & verbs) and numbers_stand_in(answer, spoken)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
