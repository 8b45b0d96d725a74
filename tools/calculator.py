"""Exact arithmetic, without evaluating code."""

import ast
import math
import re
from collections.abc import Callable
from typing import Any

from tea import ToolError, tool

Number = int | float

MOST_CHARACTERS = 1_000
MOST_DIGITS = 1_000

_SIGNS = {
    ord(sign): plain
    for plain, signs in {"*": "\u00d7\u00b7\u22c5", "/": "\u00f7", "-": "\u2212\u2013"}.items()
    for sign in signs
}
_TIMES = re.compile(r"(?<=[\d)])(?:\s+[xX]|(?<!\b0)[xX])\s*(?=[\d(.])")  # 3 x 4, but not 0x10
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")
_CALLED = re.compile(r"[A-Za-z]\w*\s*\(")  # where commas part arguments
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?%(?=\s*(?:$|[)*/,]))")
_ADDED_PERCENT = re.compile(r"[+-]\s*\d+(?:\.\d+)?\s?%(?=\s*(?:$|[)+,-]))")
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
}


def _round(number: Number, digits: int = 0) -> Number:
    if abs(digits) > 300:
        raise ToolError(f"{digits} digits are too many to round to.", fix="round to at most 300 digits.")
    return round(number, digits) if digits else round(number)


_CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "acos": math.acos,
    "asin": math.asin,
    "atan": math.atan,
    "ceil": math.ceil,
    "cos": math.cos,
    "degrees": math.degrees,
    "exp": math.exp,
    "floor": math.floor,
    "gcd": math.gcd,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": lambda *numbers: max(numbers),
    "min": lambda *numbers: min(numbers),
    "radians": math.radians,
    "round": _round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "sum": lambda *numbers: sum(numbers),
    "tan": math.tan,
}
_OF_SEVERAL = ("max", "min", "sum")
_FIX = "write numbers, + - * / // % **, parentheses, and functions such as sqrt, abs, round, sum, min, max, log."
_OF_PERCENT = "write 10 / 100 for 10 %, or multiply by 1.1 to add as much."


@tool(effects="reads", idempotent=True, network=False, metadata={"files": "codeless"})
async def calculator(expression: str) -> int | float:
    """Calculate; whole numbers stay exact.

    Args:
        expression: With + - * / // % ** ( ), pi, e, sqrt, round, log, max and the like.

    Examples:
        >>> await calculator("2 * (3 + 4)")
        14
        >>> await calculator("sqrt(2) ** 2 > 2")
        Traceback (most recent call last):
        tea.errors.ToolError: 'sqrt(2) ** 2 > 2' is not arithmetic. ...
        >>> await calculator("round(10 / 3, 2)")
        3.33
    """
    if len(expression) > MOST_CHARACTERS:
        raise ToolError(f"The expression is longer than {MOST_CHARACTERS} characters.", fix="split it into parts.")
    try:
        value = _value(ast.parse(_as_python(expression), mode="eval").body, expression)
    except SyntaxError as error:
        sign = (error.text or "")[(error.offset or 1) - 1 :][:1].strip()
        raise _refusal(expression, sign) from None
    except (RecursionError, MemoryError):
        raise _refusal(expression) from None
    except ZeroDivisionError:
        raise ToolError(f"{_shown(expression)} divides by zero.", fix="change the divisor.") from None
    except (ValueError, OverflowError, TypeError) as error:
        raise ToolError(f"{_shown(expression)} has no value: {error}.", fix=_FIX) from None
    return _finite(value, expression)


def _as_python(expression: str) -> str:
    """Return an expression with written signs and numbers, such as 3 x 4, 3,500, 2^10 and 10%, as Python has them.

    Raises:
        ToolError: A percentage is added, which can be read in two ways.
    """
    text = expression.translate(_SIGNS).strip().strip("`").strip().removesuffix("=").rstrip()
    text = _TIMES.sub(" * ", text).replace("^", "**")
    if not _CALLED.search(text):
        text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
    if _ADDED_PERCENT.search(text):
        raise ToolError(f"{_shown(expression)} adds a percentage, which has two meanings.", fix=_OF_PERCENT)
    return _PERCENT.sub(r"(\1 / 100)", text)


def _value(node: ast.expr, source: str) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _finite(number, source)
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="math"), attr=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, source)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, source)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, source), _value(right, source), source)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _finite(_BINARY[type(op)](_value(left, source), _value(right, source)), source)
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="math"), attr=name), args=arguments, keywords=[]
        ) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(one, source) for one in _listed(name, arguments)))
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            raise _refusal(source, name)
        case _:
            raise _refusal(source)


def _listed(name: str, arguments: list[ast.expr]) -> list[ast.expr]:
    """Return the arguments of a function, of one over several numbers also those in a list."""
    match arguments:
        case [ast.List(elts=inner) | ast.Tuple(elts=inner)] if name in _OF_SEVERAL:
            return inner
        case _:
            return arguments


def _power(base: Number, exponent: Number, source: str) -> Number:
    """Raise to a power, with its size known to be bounded before."""
    digits = abs(exponent) * math.log10(abs(base)) if base else 0
    if digits > MOST_DIGITS:
        raise ToolError(f"{_shown(source)} has more than {MOST_DIGITS} digits.", fix="use smaller numbers.")
    value = base**exponent
    if isinstance(value, complex):
        raise ToolError(f"{_shown(source)} is not a real number.", fix="avoid roots of negative numbers.")
    return _finite(value, source)


def _finite(value: Number, source: str) -> Number:
    if not (value.bit_length() <= MOST_DIGITS * 3.33 if isinstance(value, int) else math.isfinite(value)):
        raise ToolError(f"{_shown(source)} is too large.", fix="use smaller numbers.")
    return value


def _refusal(expression: str, part: str = "") -> ToolError:
    which = f": {part[:40]!r} has no meaning here" if part else ""
    return ToolError(f"{_shown(expression)} is not arithmetic{which}.", fix=_FIX)


def _shown(expression: str) -> str:
    return repr(expression if len(expression) <= 80 else expression[:77] + "...")
