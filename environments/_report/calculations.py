"""Calculations beside claims, as `(30 - 24) / 24 * 100 = 25`: done again, their values held against the sources."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

LONGEST = 500  # characters of a calculation
MOST_COUNTED = 12  # integers up to here may be counts, as of the values of a mean
MOST_OPERANDS = 8  # stated numbers of which each two are combined
FEW_OPERANDS = 4  # for a number with so few digits that it would often follow by chance
LEAST_EXACT = 100
SCALES = ("100", "1000")  # of percent and of units

_CODE = re.compile(r"(?<!`)`++([^`\n]++)`+")
_VALUE = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)*")
_SHAPE = re.compile(r"[\d.\s()+*/-]+")
_OPERATOR = re.compile(r"[\d)]\s*[-+*/]")
_UNIT = re.compile(r"\s*[^\W\d_][^\d]*$|[€$£°]")
_COMMAS = re.compile(r"(?<=\d)[,'\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_POINTS = re.compile(r"(?<=\d)[.'\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_SIGNS = (("×", "*"), ("·", "*"), ("÷", "/"), ("−", "-"), ("–", "-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """A calculation in code.

    Args:
        end: The place behind its code.
        values: The numbers it begins with.
        result: Its result, without a sign.
        is_right: Whether the numbers give the result, rounded as that is written.
    """

    end: int
    values: tuple[str, ...]
    result: str
    is_right: bool


def calculations(sentence: str) -> Iterator[Calculation]:
    """Yield the calculations in code, done again: sums, products and quotients of numbers.

    Args:
        sentence: Markdown.
    """
    for match in _CODE.finditer(sentence):
        left, is_equal, right = match[1].partition("=")
        if not is_equal or len(match[1]) > LONGEST:
            continue
        result = _UNIT.sub("", _plain(right).replace("%", " ")).strip()
        if not _VALUE.fullmatch(result.removeprefix("-")):
            continue
        if (right_ := _is_right(_plain(left), result)) is not None:
            values = tuple(_VALUE.findall(left))
            yield Calculation(end=match.end(), values=values, result=result.removeprefix("-"), is_right=right_)


def calculated(sentence: str, is_known: Callable[[str], bool]) -> Iterator[str]:
    """Yield the results of right calculations in code, each from known values and earlier results.

    Args:
        sentence: Markdown.
        is_known: Tells whether a source holds a number.
    """
    found = set[str]()
    for one in calculations(sentence):
        if one.is_right and all(each in found or _counts(each) or is_known(each) for each in one.values):
            found.add(one.result)
            yield one.result


def follows(value: str, known: Sequence[float], *, is_share: bool) -> bool:
    """Return whether a number follows from two stated ones: their sum, difference or quotient, rounded as written.

    Args:
        value: The number, with a point before its decimals.
        known: The few stated ones.
        is_share: Whether it is a percentage.
    """
    number, near = float(value), 0.5 * 10.0 ** -len(value.partition(".")[2])
    exact = near < 0.5 or number >= LEAST_EXACT
    if len(known) > (MOST_OPERANDS if exact else FEW_OPERANDS):
        return False
    for one, other in permutations(known, 2):
        parts = [one / other, abs(one - other) / other] if other else []
        found = [100 * each for each in parts] if is_share else parts[:1]
        found += [abs(one - other), one + other] if exact else []
        if any(abs(each - number) <= near * 1.001 for each in found):
            return True
    return False


def differs(value: str, known: Sequence[float]) -> bool:
    """Return whether a number is the difference of two of a few others, rounded as written.

    Args:
        value: The number, with a point before its decimals.
        known: The others.
    """
    number, near = float(value), 0.5 * 10.0 ** -len(value.partition(".")[2])
    if len(known) > MOST_OPERANDS or (near >= 0.5 and number < LEAST_EXACT):
        return False
    return any(abs(abs(one - other) - number) <= near * 1.001 for one, other in combinations(known, 2))


def _counts(value: str) -> bool:
    return value in SCALES or (value.isdigit() and int(value) <= MOST_COUNTED)


def _plain(text: str) -> str:
    for sign, plain in _SIGNS:
        text = text.replace(sign, plain)
    return text.strip()


def _is_right(left: str, result: str) -> bool | None:
    """Return whether the left side gives the result in any reading of marks and percents; None for no calculation."""
    percents = (left.replace("%", " "), left.replace("%", "/100")) if "%" in left else (left,)
    found = [
        _agrees(*(marks.sub("", side).replace(",", ".") for side in (one, result)))
        for one in percents
        for marks in (_COMMAS, _POINTS)
    ]
    told = [one for one in found if one is not None]
    return any(told) if told else None


def _agrees(left: str, result: str) -> bool | None:
    if not _SHAPE.fullmatch(left) or not _OPERATOR.search(left):
        return None
    try:
        value = _value(ast.parse(left.strip(), mode="eval").body)
        half = 0.5 * 10.0 ** -len(result.partition(".")[2])
        return abs(value - float(result)) <= half * 1.001
    except ZeroDivisionError:
        return False
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) / _value(right)
        case _:
            raise ValueError(ast.dump(node)[:LONGEST])
