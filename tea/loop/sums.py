"""Sums: written arithmetic, worked out exactly and compared with its written value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

_MOST_READ, _NEAR, _MOST_BITS, _MOST_SHOWN = 20_000, 300, 4_000, 80
_SIGNS = {
    ord(sign): plain
    for plain, signs in {"*": "\u00d7\u00b7\u22c5", "/": "\u00f7", "-": "\u2212"}.items()
    for sign in signs
}
_MARKUP = re.compile(r"[`$]|\\[()\[\]]|(?<![\d)])(?<![\d)]\s)\*\*|\*\*(?!\s?[\d(-])")
_LATEX = {r"\times": "*", r"\cdot": "*", r"\div": "/"}
_TIMES = re.compile(r"(?<=[\d)])[ \t]{1,3}[xX][ \t]{1,3}(?=[\d(])")
_NUMBER = r"\d{1,60}+(?:[.,]\d{1,60}+){0,12}+"
_BLANKS = r"[ \t\u00a0]{0,3}"
_TERM = rf"(?:\({_BLANKS}(?:-{_BLANKS})?){{0,6}}+{_NUMBER}(?:{_BLANKS}\)){{0,6}}"
_ARITHMETIC = rf"{_TERM}(?:{_BLANKS}(?:\*\*|[-+*/^]){_BLANKS}-?{_TERM}){{0,40}}"
_CHAIN = re.compile(
    rf"(?<![\w.,\\\u221a\u221b:])(?P<first>{_ARITHMETIC}){_BLANKS}(?P<rest>(?:={_BLANKS}-?{_ARITHMETIC}{_BLANKS})+)"
)
_SOLE = re.compile(_NUMBER)
_OPERATOR = re.compile(r"(?<=[\d)])\s*[-+*/^]")
_TASK = re.compile(
    r"\W{0,3}(?:(?:please|bitte) )?(?:what(?:'s| is| does)|(?:how much|wie ?viel|was) (?:is|are|ist|sind|ergibt|gibt)"
    r"|calculate|compute|evaluate|work out|berechne|rechne|solve)?:? ?(?:exactly |the value of )?"
    rf"(?P<sum>-?{_ARITHMETIC})\s{{0,3}}=?\s{{0,3}}(?:equal|make|aus)?[\s?.!]*"
    r"(?:(?:answer|reply|respond|give|return|print|say|only|just|use|antworte|gib|nenne|nutze)\b[^\d]{0,160})?",
    re.IGNORECASE,
)
_OTHER_RULES = re.compile(
    r"\b(?:base|bases|binary|bin\u00e4r|bitwise|boolean|concatenat\w*|hex\w*|mod|modul\w*|octal|puzzle|riddle|xor)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:false|falsch|incorrect|instead|mistake\w*|nicht|not|statt|unequal|wrong\w*)\b|n['\u2019]t\b|[?\u2260]",
    re.IGNORECASE,
)
_SCALED = re.compile(
    r"\w|[.,]\d|[ \u00a0\u202f'\u2019]\d|\s*(?:[%^*/+\u00b0:(-]|(?:million|billion|thousand|hundred|dozen|percent"
    r"|prozent|mio|mrd|tsd|tausend|million\w*|milliard\w*|remainder|rest|mod|r|k|m|bn|b)\b"
    r"|[^\W\d_]{1,12}\.?,? (?:and |und )?\d)",
    re.IGNORECASE,
)
_BEFORE = frozenset("+*/^-\u2013\u2014%!|")


class _Value(NamedTuple):
    """The value of arithmetic.

    Args:
        exact: It.
        error: How far off it may be as numbers with decimals may be rounded ones.
    """

    exact: Fraction
    error: Fraction


def wrong_sums(answer: str, task: str) -> str:
    """Return the right values of the wrong sums of an answer, in one line, empty without any.

    They are the equations written in it, and its number for a task that asks for one sum alone. An equation that is
    denied, or a task with other rules of arithmetic, has no such fault.

    Args:
        answer: The answer.
        task: The words of the task.

    Examples:
        >>> wrong_sums("4817 * 3 = 14541", "How many are there?")
        '4817 * 3 makes 14451, not 14541'
        >>> wrong_sums("14541", "What is 4817 * 3?")
        '4817 * 3 makes 14451, not 14541'
        >>> wrong_sums("14451", "What is 4817 * 3?")
        ''
    """
    task, answer = _plain(task[:_MOST_READ]), _plain(answer[:_MOST_READ])
    given = frozenset(_SOLE.findall(task))
    if _OTHER_RULES.search(f"{task}\n{answer}") or next(_wrong(task, "", given), ""):
        return ""
    found = [*_wrong(answer, task, given)] or [*_missed(answer, task)]
    return "; ".join(dict.fromkeys(found[:3]))


def _wrong(text: str, known: str, given: frozenset[str]) -> Iterator[str]:
    """Yield the right values of the wrong equations of a text, without denied and known ones."""
    for match in _CHAIN.finditer(text):
        line = text[max(0, match.start() - _NEAR) : match.start()].rpartition("\n")[2].rstrip()
        sentence = (
            re.split(r"[.;!]\s", line)[-1] + re.split(r"[.;!](?:\s|$)|\n", text[match.end() :][:_NEAR], maxsplit=1)[0]
        )
        begins = not line or not line.strip("-*+\u2013 ")
        if (not begins and (line[-1] in _BEFORE or line[-1].isdecimal())) or _DENIES.search(sentence):
            continue
        *sides, last = [match["first"], *(one.strip() for one in match["rest"].split("=")[1:])]
        rights = [*sides[1:], last]
        if _SCALED.match(text, match.end() - len(match[0]) + len(match[0].rstrip())):
            rights = rights[:-1]
        for left, right in zip(sides, rights, strict=False):
            if not _OPERATOR.search(left) or f"{left.strip()} = {right}" in known:
                continue
            of_task = given.issuperset(_SOLE.findall(left))
            readings = [left, f"-{left}"] if begins and line else [left]
            if not any(_is_right(one, right, exact=of_task) for one in readings):
                yield _words(left, right)


def _missed(answer: str, task: str) -> Iterator[str]:
    """Yield the value of the only sum of a task if no number of an answer is."""
    asked = _TASK.fullmatch(task.strip())
    if asked is None or not _OPERATOR.search(asked["sum"]):
        return
    numbers = [one for one in re.finditer(rf"(?<![\w.,])-?{_NUMBER}", answer) if one[0] not in _SOLE.findall(task)]
    if len(numbers) == 1 and not _SCALED.match(answer, numbers[0].end()):
        said = numbers[0][0]
        if not any(_is_right(asked["sum"], one, exact=True) for one in (said, said.removeprefix("-"))):
            yield _words(asked["sum"], said)


def _is_right(left: str, right: str, *, exact: bool) -> bool:
    """Return whether two sides are equal to the digits of the right one, in any way to read them."""
    readings = [(_worked_out(left, german), _worked_out(right, german), german) for german in (False, True)]
    found = [(one, other, german) for one, other, german in readings if one is not None and other is not None]
    return not found or any(_is_near(one, other, right, german, exact) for one, other, german in found)


def _is_near(left: _Value, right: _Value, written: str, german: bool, exact: bool) -> bool:
    if left.exact == right.exact:
        return True
    slack = Fraction(0) if exact else left.error
    if _OPERATOR.search(written):
        return abs(left.exact - right.exact) <= slack + right.error
    unit = 10 ** len(written.partition("," if german else ".")[2])
    scaled, said = left.exact * unit, right.exact * unit
    if scaled.denominator == 1 and not slack:
        return False
    return abs(scaled - said) <= Fraction(1, 2) + slack * unit or int(scaled) == said


def _worked_out(text: str, german: bool) -> _Value | None:
    """Return the value of arithmetic, None without one or with several."""
    point, group = (",", ".") if german else (".", ",")
    if re.search(rf"(?<![\d.,])0\d|{re.escape(point)}\d+[.,]|\{group}(?!\d{{3}}(?!\d))", text):
        return None
    try:
        return _value(
            ast.parse(text.replace(group, "").replace(point, ".").replace("^", "**").strip(), mode="eval").body
        )
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> _Value:
    match node:
        case ast.Constant(value=int() as number):
            return _Value(Fraction(number), Fraction(0))
        case ast.Constant(value=float() as number):
            exact = Fraction(str(number))
            return _Value(exact, Fraction(1, 2 * 10 ** len(str(number).partition(".")[2])))
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not _is_power(operand):
            one = _value(operand)
            return _Value(-one.exact, one.error)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _value(left), _value(right)
            return _Value(one.exact + other.exact, one.error + other.error)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            one, other = _value(left), _value(right)
            return _Value(one.exact - other.exact, one.error + other.error)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_value(left), _value(right))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            one, other = _value(left), _value(right)
            least = abs(other.exact) - other.error
            inverse = 1 / other.exact
            return _product(one, _Value(inverse, 1 / least - abs(inverse) if least > 0 else abs(inverse)))
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            one = _value(left)
            if max(one.exact.numerator.bit_length(), one.exact.denominator.bit_length()) * power > _MOST_BITS:
                raise ValueError(power)
            found = one.exact**power
            return _Value(found, (abs(one.exact) + one.error) ** power - abs(found))
        case _:
            raise ValueError(type(node).__name__)


def _is_power(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)


def _product(one: _Value, other: _Value) -> _Value:
    error = abs(one.exact) * other.error + abs(other.exact) * one.error + one.error * other.error
    return _Value(one.exact * other.exact, error)


def _words(left: str, right: str) -> str:
    value = _worked_out(left, german=False) or _worked_out(left, german=True)
    exact = Fraction(0) if value is None else value.exact
    shown = str(exact.numerator) if exact.denominator == 1 else f"{float(exact):.10g}"
    return f"{left.strip()[:_MOST_SHOWN]} makes {shown[:_MOST_SHOWN]}, not {right.strip()[:_MOST_SHOWN]}"


def _plain(text: str) -> str:
    for sign, plain in _LATEX.items():
        text = text.replace(sign, plain)
    return _TIMES.sub(" * ", _MARKUP.sub("", text.translate(_SIGNS)))
