"""Naming: the meaning of a name: of a function called otherwise, of an agent or a file by the words around it."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePath

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]")
_BEFORE = 3  # words between a word of use and the name: `use your own browser`
_USES = """
    use using with via through by in into on at let have ask open start call run make write create build generate need
    want mit im am per nutze verwende benutze lass öffne mach erstelle avec dans sur utilise con en usa abre crea
"""
_SMALL = """
    a an the to and or for at on in of from that which who whose if whether so then please with by as is are be about
    agent der die das den dem ein eine einen einem und oder um zu für auf von ob le la les un une et ou pour à de que
    el los las una y o para si
"""
_HABITS = {  # names of functions in other libraries, without marks between their words
    "fetch_page": "browse browseurl browsepage fetch fetchurl fetchwebpage getpage geturl httpget openpage openurl"
    " readpage readurl readwebpage urlfetch visit visitpage visiturl webbrowse webfetch webfetcher webreader",
}
_KINDS = ("agent", "environment", "tool")
_CALLS = ("call", "invoke", "run")  # what is called of a component in code
_NEAR, _MOST_NAMES = 80, 20  # characters before a name, and names behind an order
_FILE = re.compile(r"[\w-]++(\.[A-Za-z][A-Za-z0-9]{1,4}\b)?")  # also of a word without an ending, read once so
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;]\s|\n")
_SAVES = re.compile(
    r"(?:add|append|creat|export|generat|mak|output|produc|sav|stor|writ|schreib|speicher|erstell|écri|enregistr"
    r"|escrib|guard)\w*",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,500}\"|\u201c[^\u201d\n]{1,500}\u201d|\u201e[^\u201c\u201d\n]{1,500}[\u201c\u201d]"
    r"|\u00ab[^\u00bb\n]{1,500}\u00bb|`[^`\n]{1,500}`|(?<!\w)'[^'\n]{1,500}'(?!\w)"
)
_WHOLE_SENTENCE = re.compile(r"(?<=[!?;])\s|(?<=[^\d\s]\.)\s|\n")  # with its mark; `5. Lind` is one
_CHANGES = re.compile(  # verbs that order, of adding, of taking away, of what may be kept elsewhere, and of all else
    r"(?:\A\W*|[,:.] |\b(?:also|and|bitte|et|now|please|puis|then|und|(?:can|could|will|would) you"
    r"|(?P<mild>shall|should|you|(?<!how )to)) )"
    r"(?:(?P<more>add|append|enter|insert|put|(?P<write>write)|erg\u00e4nze|f\u00fcge?|h\u00e4nge?|(?P<text>schreibe?)|trage?"
    r"|ajoute[rz]?|ins(?:\u00e8re|\u00e9re[rz])|inscri(?:re|s|vez))"
    r"|(?P<less>cross out|delete|drop(?! in\b)|remove|strike|entferne|l\u00f6sche|streiche?|enl\u00e8ve|supprime[rz]?)"
    r"|(?P<kept>clean|format|normali[sz]e|order|re(?:format|order)|round|sort|trim|ordne|sortiere)"
    r"|correct(?= (?:an?|all|any|both|each|every|it|its|that|the|them|this|these|those)\b| \w+\.\w)"
    r"|(?P<whole>(?:overwrite|update)(?= (?:the )?(?:file |table )?[\"'`]?[\w-]+\.[a-z]))"
    r"|(?:change|edit|fix|repair|update)(?! (?:between|by|for|from|in|me|of|on|over|since|to)\b)"
    r"|(?P<look>debug|see to|take care of)|adapt|adjust|mend|modify|overwrite|refactor|rename|replace|rewrite"
    r"|set(?= (?:its|the)\b)|\u00e4ndere|behebe|ersetze|korrigiere|repariere"
    r"|chang(?:er|ez)|corrige[rz]?|modifie[rz]?|remplace[rz]?)\b(?! up\b|:)",
    re.IGNORECASE,
)
_ITSELF = re.compile(
    r"\b(?:directly|in place|in (?:that|the(?: same)?|this) file|itself|overwrit\w+|direkt|selbst)\b", re.IGNORECASE
)
_COLUMN = re.compile(r"(?: (?!in(?:to)?\b|to\b)[^\s,]+){0,3} (?:column|field|spalte|colonne)s?\b", re.IGNORECASE)
_ADDED = re.compile(  # what is added to a text, as opposed to numbers added up
    r"(?: the(?: following)?)? (?:[\"'`]|(?:another|an?|comments?|columns?|docstrings?|entr(?:y|ies)|fields?|functions?"
    r"|header|headings?|items?|lines?|links?|notes?|one|paragraphs?|records?|rows?|sections?|sentences?|tests?|titles?"
    r"|type hints|words?|eine?n?|zeilen?|une?|(?:her|his|its|their) \w+)\b)",
    re.IGNORECASE,
)
_ADDS_UP = re.compile(r"(?:add|put)\Z", re.IGNORECASE)
_IF = re.compile(
    r"\A\W*(?:if|unless|falls|wenn|si)\b|\b(?:as|if|where(?:ver)?) (?:appropriate|need\w*|necessary|required|so)\b"
    r"|\b(?:falls|wenn|wo|si) (?:n\u00f6tig|n\u00e9cessaire)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(r"\W*(?:please )?(?:can|could|will|would) you\b", re.IGNORECASE)
_IT = re.compile(r" (?:it|them)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:answer|average|calculate|compare|compute|count|give|how|list|many|plot|print|report|return|say|show"
    r"|(?<!the )sum|tell|wh(?:at|en|ere|ich|ose|om?|y)|berechne|nenne|sag|welche\w?|wie|was)\b",
    re.IGNORECASE,
)
_PLACE = (
    r"(?:above|at|below|in|inside|into|onto|to|(?:beginning|bottom|end|head|last (?:line|row)|start|top) of"
    r"|as (?:an?|the) (?:\w+ )?(?:column|line|row) of|an|ende (?:von|der)|zu|\u00e0|au|dans)"
)
_INTO = re.compile(
    rf"\b{_PLACE} (?:(?:the|der|die|la|le) )?(?:(?:file|table|datei|tabelle|fichier) )?[\"'`]?\Z", re.IGNORECASE
)
_TO = re.compile(
    r"\b(?:into|onto|to|zu|\u00e0|(?:end|last (?:line|row)|top) of) (?:(?:the|der|die) )?(?:\w+ )?[\"'`]?\Z",
    re.IGNORECASE,
)
_TEXT_TO = re.compile(
    r"\b(?:alternative|answer|code|commands?|functions?|guide|introduction|letter|macro|mail|program|quer(?:ies|y)"
    r"|repl(?:ies|y)|response|scripts?|SQL|\w*(?:antwort|brief|funktion|mitteilung|nachricht|programm|skript)"
    r"|entwurf|zusammenfassung)\b",
    re.IGNORECASE,
)
_ONLY_USED = re.compile(
    r"\b(?:as in|by|like|per|see|using|with|mit) (?:(?:the|der) )?[\"'`]?\Z"
    r"|\A th(?:ese|is) .*\b(?:by|from|per|using|with)\b"
    r"|\b(?:by|using|with|mit|avec) (?:(?:den|der|les|the) )?\w+ (?:from|of|aus|von|de) \Z",
    re.IGNORECASE,
)
READS = re.compile(  # words of a wish to know something
    r"\b(?:according|analy[sz]e|book|browse|check|click|compare|consult|count|crawl|describe|download|evaluate|extract"
    r"|fetch|fill|find|follow|get|give|go|how|list|load|look|name|open|read|report|retrieve|review|scrape|search|see"
    r"|show|study|summari[sz]e|summary|tell|translate|use|using|visit|wh(?:at|en|ere|ich|om?|ose|y)"
    r"|besuch\w*|finde|laut|lies|nenne|\u00f6ffne|siehe|suche|wann|was|welche[rs]?|wer|wie|wo)\b",
    re.IGNORECASE,
)
_TALKS = re.compile(  # of a text, which the answer may be itself
    r"\?|\b(?:as|convert|correct|draft|explain|fasse|interpret|(?:re)?phrase|proofread|(?:re)?write|solve|suggest"
    r"|add up|clean|format|order|plot|rank|round|sort|sum|total|addiere|ordne|sortiere|summe"
    r"|beschreibe?|entwirf|erkl\u00e4re?|formuliere|schreibe?|\u00fcbersetze?|verfasse|combien|donne|\u00e9cri[st]"
    r"|explique|quel\w*|r\u00e9dige|r\u00e9sume|tradui[st])\b",
    re.IGNORECASE,
)
_TABLES = (
    ".csv",
    ".json",
    ".jsonl",
    ".ods",
    ".parquet",
    ".tsv",
    ".xls",
    ".xlsx",
)  # rows of these are left out to count
OF_CODE = frozenset(
    (".c", ".cpp", ".go", ".ipynb", ".java", ".js", ".php", ".pl", ".py", ".r", ".rb", ".rs", ".sh", ".ts")
)
_SIGN = re.compile(
    r"\b(?:(?P<out>to|into|as|named|called|in|nach|als|namens|comme|dans|como|en)"
    r"|(?P<given>from|of|read\w*|open\w*|load\w*|using|with|by|between|and|aus|von|mit|und|de|du|avec|con|desde))\b",
    re.IGNORECASE,
)


def plain_names(name: str) -> list[str]:
    """Return the possible names of a function given in the notation of components or of code, the likeliest first.

    Args:
        name: The name as a model wrote it.

    Examples:
        >>> plain_names("environment:shell#python")
        ['shell_python']
        >>> plain_names("tool:table_query@1.0.0"), plain_names("table_query.call")
        (['table_query'], ['table_query.call', 'table_query', 'call'])
    """
    kind, mark, rest = name.strip().partition(":")
    bare = rest if mark and kind.casefold() in _KINDS else name.strip()
    component, _, action = bare.partition("#")
    component, action = component.partition("@")[0], action.partition("@")[0]
    whole = "_".join(filter(None, (component, action)))
    before, dot, last = whole.rpartition(".")
    called = [before] if last in _CALLS else []
    return [whole, *called, last.strip()] if dot else [whole]


def habitual_name(name: str, candidates: Iterable[str]) -> str:
    """Return the function meant by its name in other libraries, empty if it is not among the candidates.

    Args:
        name: The name as a model wrote it.
        candidates: Names of functions.

    Examples:
        >>> habitual_name("web_fetch", ["fetch_page", "calculator"])
        'fetch_page'
    """
    letters, there = _letters(name), {*candidates}
    return next((one for one, others in _HABITS.items() if one in there and letters in others.split()), "")


def nearest_name(name: str, candidates: Iterable[str], shortened: Iterable[str]) -> str:
    """Return the function meant by a name, empty if there are none or several.

    Args:
        name: The name as a model wrote it.
        candidates: Names that may be written with other letters or marks between their words.
        shortened: Names that may be written as their last words, as `python` for `shell_python`.
    """
    names = list(candidates)
    if name in names:
        return name
    alike = [one for one in names if _letters(one) == _letters(name)]
    alike = alike or [one for one in shortened if one.endswith(f"_{name}")]
    return alike[0] if len(alike) == 1 else ""


def _letters(name: str) -> str:
    """Return a name in small letters and without the marks between its words."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def is_addressed(word: str, text: str) -> bool:
    """Return whether a text asks to use the component named by a noun, instead of only mentioning the noun.

    `use the browser` and `open it in the browser` do; `browser market share`, `which browser` and `computer science`
    do not.

    Args:
        word: The noun, in small letters.
        text: The task.
    """
    tokens = _TOKEN.findall(text.casefold())
    for at, token in enumerate(tokens):
        if token != word:
            continue
        before = tokens[max(0, at - _BEFORE) : at]
        if "@" in before[-1:]:
            return True
        after = tokens[at + 1] if at + 1 < len(tokens) else "."
        if (not after[0].isalpha() or after in _SMALL.split()) and (
            not before or any(one in _USES.split() for one in before)
        ):
            return True
    return False


def file_names(text: str) -> list[str]:
    """Return the names of files in a text; parts of an address do not count."""
    return [name[0] for name in _files(_ADDRESS.sub(" ", text))]


def to_be_written(text: str) -> set[str]:
    """Return the names of files to be written, as opposed to inputs.

    A name is one of them behind a word of writing in its sentence, unless what stands between them reads it, as in
    `write a summary of notes.txt`.
    """
    found: dict[str, bool] = {}
    for sentence in _SENTENCE.split(_ADDRESS.sub(" ", text)):
        saves, signs = [one.end() for one in _SAVES.finditer(sentence)], list(_SIGN.finditer(sentence))
        ends = [one.end() for one in signs]
        for name in _files(sentence):
            last, at = bisect(saves, name.start()) - 1, bisect(ends, name.start()) - 1
            is_out = last >= 0 and (at < 0 or signs[at].start() < saves[last] or signs[at]["out"] is not None)
            found[name[0]] = found.get(name[0], True) and is_out
    return {name for name, is_out in found.items() if is_out}


def to_be_changed(text: str, given: Collection[str]) -> set[str]:
    """Return the names of given files to be changed, as opposed to read.

    A name is one of them as the first one behind an order to change something, as in `fix the bug in cart.py`; behind
    one to add something it follows a word of place; where the order names none, it is the only one named elsewhere. A
    table is left alone by an order to leave rows out of a count, and a file by one to sort it, unless that is to happen
    in the file itself.

    Args:
        text: The task.
        given: The names of its files.
    """
    return {name for name, _ in _changes(text, given)}


def possibly_changed(text: str, given: Collection[str]) -> set[str]:
    """Return the names of given files to be changed, or, of a task without a known order or question, all its files.

    Args:
        text: The task.
        given: The names of its files.
    """
    if found := to_be_changed(text, given):
        return found
    own, plain = _own_names(text, given)
    asks = any(one.search(plain) for one in (_ASKS, READS, _TALKS))
    return set() if asks or {*file_names(plain)} - {PurePath(one).name for one in given} else own


def ordered_changes(text: str, given: Collection[str]) -> set[str]:
    """Return the names of given files to be changed by a clear order.

    A question orders nothing, nor does a wish to know what a table or a text would give after a change.

    Args:
        text: The task.
        given: The names of its files.
    """
    return {name for name, is_ordered in _changes(text, given) if is_ordered}


def is_worked_out(name: str, text: str) -> bool:
    """Return whether a task asks for the result of a change to a table; words about it claim no change then."""
    return PurePath(name).suffix.casefold() in _TABLES and _ASKS.search(without_quotes(text)) is not None


def without_quotes(text: str) -> str:
    """Return a text without its quotations of several words, such as a line to be added."""
    return _QUOTED.sub(lambda found: '""' if " " in found[0].strip("\"'`") else found[0], text)


def _changes(text: str, given: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield the given files to be changed, each with the clearness of the order."""
    own, plain = _own_names(text, given)
    sole, asks = next(iter(own)) if len(own) == 1 else "", _ASKS.search(plain) is not None
    for sentence in _WHOLE_SENTENCE.split(plain):
        names, itself = list(_files(sentence)), _ITSELF.search(sentence) is not None
        starts, is_question = [one.start() for one in names], sentence.rstrip().endswith("?")
        is_asked, is_open = is_question and not _POLITE.match(sentence), _IF.search(sentence) is not None
        for order in _CHANGES.finditer(sentence):
            if order["kept"] and not itself:
                continue
            at, end, is_added = bisect(starts, order.end()), order.end(), order["more"] is not None
            adds_up = _ADDS_UP.search(order[0]) and not _ADDED.match(sentence, end)
            signs = (
                (one, sentence[max(end, one.start() - _NEAR) : one.start()]) for one in names[at : at + _MOST_NAMES]
            )
            place = _TO if order["write"] else _INTO
            fits = (one for one in signs if (place.search(one[1]) if is_added else not _ONLY_USED.search(one[1])))
            found, before = next(fits, (None, ""))
            if found is None and at and not (is_added or order["less"]) and _IT.match(sentence, end):
                found = names[at - 1]
            if found is None and sole and not (names or adds_up or order["write"] or is_question):
                yield sole, False
            is_text = (order["write"] or order["text"]) and _TEXT_TO.search(before)
            if found is None or (name := found[0]) not in own or is_text:
                continue
            ending, is_put = PurePath(name).suffix.casefold(), is_added and _TO.search(before) is not None
            is_told = order["whole"] or (is_put and not _COLUMN.match(sentence, end))
            only_asks = not is_told and asks and (ending in _TABLES or not (is_added or ending in OF_CODE))
            if order["less"] and only_asks and ending in _TABLES:
                continue
            if is_asked and (order["mild"] or "you" in order[0].casefold()):
                continue
            yield (
                name,
                not (only_asks or is_asked or is_open or (adds_up and not is_put) or order["look"] or order["mild"]),
            )


def _own_names(text: str, given: Collection[str]) -> tuple[set[str], str]:
    """Return the given files named in a text, or the only one given, and the text without quotations and addresses."""
    own, plain = {PurePath(one).name for one in given}, without_quotes(_ADDRESS.sub(" ", text))
    return own & {*file_names(plain)} or (own if len(own) == 1 else set()), plain


def _files(text: str) -> Iterator[re.Match[str]]:
    return (found for found in _FILE.finditer(text) if found[1])
