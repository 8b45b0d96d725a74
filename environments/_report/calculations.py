"""Calculations beside claims, as `(30 - 24) / 24 * 100 = 25`: done again, their values held against the sources."""

import ast
import re
from collections.abc import Callable, Iterator

LONGEST = 500  # characters of a calculation
MOST_COUNTED = 12  # integers up to here may be counts, as of the values of a mean
SCALES = ("100", "1000")  # of percent and of units

_CODE = re.compile(r"`+([^`\n]+)`+")
_VALUE = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)*")
_SHAPE = re.compile(r"[\d.\s()+*/-]+")
_THOUSANDS = re.compile(r"(?<=\d)[,'\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_SIGNS = (("×", "*"), ("·", "*"), ("÷", "/"), ("−", "-"), ("–", "-"), ("%", " "))


def calculated(sentence: str, known: Callable[[str], bool]) -> Iterator[str]:
    """Yield the results of right calculations in code, each from known values and earlier results.

    Args:
        sentence: Markdown.
        known: Tells whether a source holds a number.
    """
    found = set[str]()
    for match in _CODE.finditer(sentence):
        left, is_equal, right = match[1].partition("=")
        result = _plain(right)
        if not is_equal or len(match[1]) > LONGEST or not _VALUE.fullmatch(result.removeprefix("-")):
            continue
        values = _VALUE.findall(left)
        if all(one in found or _counts(one) or known(one) for one in values) and _is_right(left, result):
            found.add(result.removeprefix("-"))
            yield result.removeprefix("-")


def _counts(value: str) -> bool:
    return value in SCALES or (value.isdigit() and int(value) <= MOST_COUNTED)


def _plain(text: str) -> str:
    for sign, plain in _SIGNS:
        text = text.replace(sign, plain)
    return text.strip()


def _is_right(left: str, result: str) -> bool:
    """Return whether the left side gives the result, rounded as that is written."""
    plain, wanted = (_THOUSANDS.sub("", _plain(one)).replace(",", ".") for one in (left, result))
    if not _SHAPE.fullmatch(plain):
        return False
    try:
        value = _value(ast.parse(plain, mode="eval").body)
        half = 0.5 * 10.0 ** -len(wanted.partition(".")[2])
        return abs(value - float(wanted)) <= half * 1.001
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return False


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
