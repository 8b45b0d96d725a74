"""Weights: upper bounds of the size of a source's constants, and of the work to make them, found without making them.

A constant is made when a file is imported, so an expression of a few characters must not stand for gigabytes. Names are
followed through all files of a component: what one line makes large, the next could make larger.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

from tea.source.bindings import loop_keys, loop_names, zipped_keys
from tea.source.field_patterns import pattern_weight
from tea.source.names import KNOWN_NAMES, Names, declared
from tea.source.text import parsed_expression

MOST, MOST_TOGETHER = 2.0**20, 2.0**24  # of one expression, and of all of a file; an item or a character weighs 1
_MOST_BITS = 2**16
_FLOAT_BITS, _LENGTH_BITS, _UNKNOWN, _LARGE = 1_024, 32, 1_000.0, 8.0  # a set, a dict or a function is large
_MOST_PLACES = 1_000  # that a number is rounded to: Python makes the power of ten
_COUNTED = {"len": _LENGTH_BITS, "ord": 21}
_NUMERIC = frozenset({"abs", "float", "int", "max", "min", "round"})
_EXACT = frozenset({"decimal.Decimal", "fractions.Fraction"})
# What makes an exact number whole takes the square of its signs, many in the time of one step.
_WHOLE, _SIGNS = frozenset({"int", "round"}), 1_000
_MOST_DIGITS = 4_300  # of an exact number in a text, as Python has it for whole ones
_LONG_EXPONENT = re.compile(r"e\D*(?:\d\D*){4}", re.IGNORECASE)
# What takes the square of what it is given, divided so; the first two only if they are given two values.
_SQUARES = {"sum": 1, "str": 100, "logging.getLogger": 1, "re.compile": 2_000}
_CHARACTERS, _SHORTEST_SET = 2.0**13, 5  # how much a set of characters weighs that ignores case, and its length
_WIDE, _SLASH = re.compile(r"[^\x00-\xff]|\\[uUN]|\\\Z"), re.compile(r"[^\x00-\xff]|\\")
_IGNORES_CASE = re.compile(r"\(\?[a-zA-Z-]*i")
_PATTERNED = frozenset({"pydantic.Field", "pydantic.StringConstraints"})
_HASHED = frozenset({"dict", "dict.fromkeys", "frozenset", "set"})
# Each sign of a text is compared with each of another, so many in the time of one step.
_SEEKING, _PAIRED = frozenset({"lstrip", "rsplit", "rstrip", "strip"}), 100
_LETTERS = frozenset({"casefold", "lower", "title", "upper"})  # one letter may become three
_SHORT = frozenset({"__debug__", "__file__", "__name__", "__package__"})
_PLACES = re.compile(r"\d{4}")
# How many entries of a set or a dict, squared, are compared in the time of one step, should all hashes be the same.
_COMPARED = 32
_OF_TEXTS = frozenset({"rsplit", "split", "splitlines"})
_TEXTS = frozenset(
    {"casefold", "join", "lower", "lstrip", "removeprefix", "removesuffix", "rstrip", "strip", "title", "upper"}
)
_DESCRIBED = 16  # of what words and values beside types weigh, described in the time of one step
_TYPE_MAKERS = frozenset({"NamedTuple", "NewType", "ParamSpec", "TypeVar", "TypeVarTuple", "TypedDict"})
_NAMED = 8  # steps for a field of a named tuple, described for each use
_COMPREHENSIONS = (ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.SetComp)

Local = Mapping[str, float]


def weight(node: ast.expr, names: Names) -> float:
    """Return an upper bound of a value's size and of the work to make it; infinite if unknown.

    A name weighs as much as the largest value that its file gives it, at the top level or in a class.
    """
    return _Scale(names.top or names).weigh(node)


def compiled_weight(node: ast.expr, names: Names) -> float:
    """Return an upper bound of the work of compiling a text as a part of a pattern, possibly ignoring case."""
    return _Scale(names.top or names).weigh_pattern(node)


def expand(node: ast.expr, names: Names) -> None:
    """Count the work of describing a type: all types it consists of, each name as often as it is used.

    Raises:
        BadComponent: They are more than the component may have.
    """
    _Scale(names.top or names).expand(node, frozenset())


def is_unpacked(value: ast.expr, names: Names) -> bool:
    """Return whether unpacking a value into a list makes one of modest length."""
    scale = _Scale(names.top or names)
    return scale.weigh(value) + scale.count(value) <= MOST


def length(node: ast.expr, names: Names) -> float:
    """Return how many items a value has at most."""
    return _Scale(names.top or names).count(node)


def is_modest(names: Names) -> bool:
    """Return whether all values weighed for a file so far are small enough together."""
    return sum(names.weights.values()) <= MOST_TOGETHER


class _Scale:
    """A scale for expressions of one file.

    Args:
        names: Those of the file.
        local: The weights of the variables of loops around the expression.
        given: What those loops go through, by their variables.
    """

    def __init__(self, names: Names, local: Local | None = None, given: Mapping[str, ast.expr] | None = None) -> None:
        self._names, self._given = names, given or {}
        self._local: Local = local or {}
        self._weights = {} if local else names.weights  # what depends on a loop is known of its round alone
        self._measures = {} if local else names.measures

    def weigh(self, node: ast.expr) -> float:
        """Return an upper bound of a value's size."""
        known = self._weights
        if id(node) not in known:
            self._names.effort.spend()
            known[id(node)] = math.inf  # as long as it is worked out: a value made of itself has no bound
            known[id(node)] = self._weigh(node)
        return known[id(node)]

    def weigh_pattern(self, node: ast.expr) -> float:
        """Return the work of compiling a text, possibly ignoring case."""
        return self.weigh(node) ** 2 / _SQUARES["re.compile"] + self._pattern([node, node])

    def _cached(self, what: str, node: ast.expr, measure: Callable[[ast.expr], float], inside: float) -> float:
        """Return a measure of a value, cached; `inside` is its measure in a value containing itself."""
        key = what, id(node)
        if key not in self._measures:
            self._names.effort.spend()
            self._measures[key] = inside
            self._measures[key] = measure(node)
        return self._measures[key]

    def _weigh(self, node: ast.expr) -> float:
        match node:
            case ast.Constant(value=str() | bytes() as text):
                return len(text) + 1.0
            case ast.Constant(value=int() as number):
                return 1 + number.bit_length() / 8
            case ast.Name(id=name) if name in self._local:
                return self._local[name]
            case ast.Name(id=name) if name.startswith("__") and name not in _SHORT:
                return math.inf  # a docstring, or all that a module holds
            case ast.Attribute(attr=name) if name.startswith("__"):
                return math.inf
            case ast.Name() | ast.Attribute():
                return max((scale.weigh(one) for scale, one in self._values(node)), default=self._unheld(node))
            case ast.BinOp():
                return self._operation(node)
            case ast.Call():
                return self._call(node)
            case ast.DictComp() | ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                return self._loops(node)
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                return _formatted((2 if conversion < 0 else 12) * self.weigh(value), spec)
            case ast.Starred(value=value):
                return self.weigh(value) + self.count(value)
            case ast.Compare(comparators=others):
                return 1 + self._parts(node) + sum(map(self.count, others))  # `in` may go through all of a range
            case ast.Set(elts=inner) | ast.Dict(keys=inner):
                return _LARGE + self._parts(node) + self._compared([one for one in inner if one is not None])
            case ast.Lambda(args=given):
                return _LARGE + self._parts(given)  # its body is weighed where it is called
            case ast.Subscript(value=value, slice=inner):
                return self.weigh(value) + self.weigh(inner)  # brackets after a type keep what is in them
            case _:
                return 1 + self._parts(node)

    def expand(self, node: ast.expr, path: frozenset[int]) -> int:
        """Count the types a type consists of, without those on the `path` to it, and return their number."""
        key = "types", id(node)
        if path or key not in self._measures:  # a path is empty within an expression: its parts are counted once
            left = self._names.effort.left
            self._expand(node, path)
            count = left - self._names.effort.left
            if not path:
                self._measures[key] = count
            return count
        count = int(self._measures[key])
        self._names.effort.spend(count)
        return count

    def _expand(self, node: ast.expr, path: frozenset[int]) -> None:
        self._names.effort.spend()
        match node:
            case ast.Name() | ast.Attribute():
                for scale, one in self._values(node):
                    if id(one) not in path:
                        scale.expand(one, path | {id(one)})
            case ast.Constant(value=str() as text):
                self._names.effort.spend(len(text) // _DESCRIBED)
                for one in _parsed(text):
                    self.expand(one, path | {id(node)})
            case ast.BinOp(op=ast.Add() | ast.Mult() | ast.Mod()) | ast.JoinedStr():
                self._spend_on_words(node)
            case ast.Subscript(value=value, slice=inner):  # what an alias holds in place of each of its variables
                places = self.expand(value, path)
                self._names.effort.spend((places - 1) * self.expand(inner, path))
            case ast.Call(func=called, args=given):
                origin = self._names.origin(called) or ""
                if origin == "collections.namedtuple":
                    self._names.effort.spend(_NAMED * int(min(sum(map(self.count, _values(node)[1:])), MOST)))
                elif origin.rpartition(".")[2] not in _TYPE_MAKERS:
                    self._spend_on_words(node)
                for one in given[1:]:
                    self.expand(one, path)
            case _:
                for one in ast.iter_child_nodes(node):
                    if isinstance(one, ast.expr):
                        self.expand(one, path)

    def _spend_on_words(self, node: ast.expr) -> None:
        """Count the work of describing values beside types, for each use of the types."""
        self._names.effort.spend(int(min(self.weigh(node), MOST)) // _DESCRIBED)

    def _compared(self, entries: Sequence[ast.expr]) -> float:
        """Return the work of comparing the entries of a set or a dict, possibly all of one hash."""
        alike = 0.0
        for one in entries:
            if isinstance(one, ast.Starred):
                alike += 0 if self._are_distinct(one.value) else self.count(one.value)
            else:
                alike += not self._is_distinct(one)
        return alike * alike / _COMPARED

    def _is_distinct(self, node: ast.expr) -> bool:
        """Return whether a value is a text, or a number of a range: few of them have the same hash."""
        match node:
            case ast.Constant(value=int() as number):
                return number.bit_length() < _LENGTH_BITS
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.Name(id=name) if name in self._given:
                return self._are_distinct(self._given[name])
            case ast.Call(func=ast.Attribute(attr=name)):
                return name in _TEXTS
            case ast.Call(func=ast.Name(id=name)):
                return name in ("chr", "str") and self._names.origin(node.func) == name
            case _:
                return False

    def _are_distinct(self, node: ast.expr) -> bool:
        """Return whether the items of a loop over a value are distinct."""
        return bool(self._cached("distinct", node, self._all_distinct, False))

    def _all_distinct(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str() | bytes()):
                return True
            case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Set(elts=inner):
                return all(map(self._is_distinct, inner))
            case ast.Call(func=ast.Attribute(attr=name)) if name in _OF_TEXTS:
                return True
            case ast.Call(func=ast.Name(id="range")):
                return True
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self._are_distinct(value)
            case ast.Dict(keys=keys):
                return all(one is not None and self._is_distinct(one) for one in keys)
            case ast.Call(func=ast.Name(id="sorted"), args=[inner]):
                return self._are_distinct(inner)
            case ast.Name() if node.id not in self._local:
                held = self._values(node)
                return bool(held) and all(scale._are_distinct(one) for scale, one in held)
            case _:
                return False

    def _parts(self, node: ast.AST) -> float:
        return sum(self.weigh(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))

    def _values(self, node: ast.expr) -> Sequence[tuple[_Scale, ast.expr]]:
        """Return the possible values of a name or an attribute, each with the scale of its file."""
        found = self._held(node)
        self._names.effort.spend(len(found))
        return found

    def _held(self, node: ast.expr) -> list[tuple[_Scale, ast.expr]]:
        names, found = self._names, list[tuple[_Scale, ast.expr]]()
        own = _Scale(names) if self._local else self  # no value of the top level depends on a loop elsewhere
        origin = names.origin(node) or ""
        if isinstance(node, ast.Name) and origin[:1] != ".":
            held = (*names.made.get(node.id, ()), *names.members.get(node.id, ()))
            found += [(own, one) for one in held if one is not None]
            if found or origin:
                return found
        name = origin.rpartition(".")[2] or (node.attr if isinstance(node, ast.Attribute) else "")
        name = name or (node.id if isinstance(node, ast.Name) else "")
        if origin[:1] in (".", ""):
            names.effort.spend(len(names.files))
            for file in names.files or (names,):
                held = (*file.made.get(name, ()), *file.members.get(name, ()))
                found += [(own if file is names else _Scale(file), one) for one in held if one is not None]
        return found

    def _unheld(self, node: ast.expr) -> float:
        """Return the weight of a name or an attribute assigned in no file."""
        origin = self._names.origin(node)
        if isinstance(node, ast.Attribute) and origin is None:
            return self.weigh(node.value)
        name = (origin or "").rpartition(".")[2] or (node.id if isinstance(node, ast.Name) else "")
        if (origin or ".")[0] == "." and (own := self._defined(name)):
            return own
        is_known = origin is None or origin[0] == "." or origin in KNOWN_NAMES or origin.startswith("math.")
        return 1.0 if is_known else _UNKNOWN

    def _defined(self, name: str) -> float:
        """Return the weight of the classes of a name: their names, and the values held or made by each instance."""
        weight = 0.0
        for file in self._names.files or (self._names,):
            found = file.definitions.get(name)
            if not isinstance(found, ast.ClassDef):
                continue
            scale = self if file is self._names and not self._local else _Scale(file)
            values = [one.value for one in found.body if isinstance(one, ast.Assign | ast.AnnAssign) and one.value]
            made = [part.body for one in values for part in ast.walk(one) if isinstance(part, ast.Lambda)]
            weight += 1 + len(name) + sum(len(bound) for one in found.body for bound in declared(one))
            weight += sum(map(scale.weigh, [*values, *made, *found.bases]))
        return weight

    def _operation(self, node: ast.BinOp) -> float:
        bits = self._bits(node)
        if not math.isinf(bits):
            return bits / 8 + 1
        left, right = node.left, node.right
        match node.op:
            case ast.Mult():
                return min(self._repeated(left, right), self._repeated(right, left))
            case ast.Mod() if isinstance(left, ast.Constant) and isinstance(left.value, str):
                wide = any(one.isdigit() or one == "*" for one in left.value)
                times = max(1, left.value.count("%("))  # one value may be named in many places
                return math.inf if wide else 12 * (self.weigh(left) + times * self.weigh(right))
            case ast.Pow() | ast.LShift() | ast.Mod() | ast.MatMult():
                return math.inf
            case ast.FloorDiv():
                return self.weigh(left) + self.weigh(right) * (1 + self.weigh(left) / _PAIRED)
            case _:
                return self.weigh(left) + self.weigh(right)

    def _repeated(self, what: ast.expr, times: ast.expr) -> float:
        """Return the weight of a value repeated as often as an expression says, if it is a number."""
        return self.weigh(what) * max(1.0, self._times(times))

    def _call(self, node: ast.Call) -> float:
        bits, given = self._bits(node), _values(node)
        if not math.isinf(bits):
            return bits / 8 + sum(map(self.weigh, given))
        origin = self._names.origin(node.func)
        if (origin in _EXACT and not all(map(self._is_short, given))) or self._rounds_far(node):
            return math.inf
        own = (_LARGE if origin in _HASHED else 1) + sum(self.weigh(one) + self.count(one) for one in given)
        if origin in _PATTERNED:
            own += sum(self._field_pattern(one.value) for one in node.keywords if one.arg == "pattern")
        own += self.weigh(node.func) if isinstance(node.func, ast.Name) else 0
        if origin == "dict.fromkeys":
            own += sum(self.count(given[0]) * self.weigh(one) for one in given[1:])
        if origin in _HASHED and given:
            own += self._compared([ast.Starred(zipped_keys(given[0]) if origin == "dict" else given[0])])
        if origin in _WHOLE and any(map(self._may_be_exact, given)):
            own += own * own / _SIGNS
        if origin in _SQUARES and (origin not in KNOWN_NAMES or len(given) > 1):
            return own + own * own / _SQUARES[origin] + (self._pattern(given) if origin == "re.compile" else 0.0)
        match node.func:
            case ast.Attribute(value=value, attr="join"):
                return own + sum(map(self.count, given)) * self.weigh(value)
            case ast.Attribute(value=value, attr=name):
                times = 3 if name in _LETTERS else 1 + own / _PAIRED if name in _SEEKING else 1
                return own + times * self.weigh(value)
            case _:
                return own

    def _pattern(self, arguments: Sequence[ast.expr]) -> float:
        """Return the work of a pattern with its flags: a wide set takes many steps if case is ignored."""
        match arguments:
            case [ast.Constant(value=str() as text), *flags]:
                return _CHARACTERS * text.count("[") if flags or _IGNORES_CASE.search(text) else 0.0
            case [text, *_] if self._holds(_WIDE, text):
                return _CHARACTERS * self.weigh(text) / _SHORTEST_SET
            case _:
                return 0.0

    def _field_pattern(self, node: ast.expr) -> float:
        """Return the work of a field's pattern in either engine of pydantic; infinite unless it is written out."""
        match node:
            case ast.Constant(value=str() as text):
                return pattern_weight(text) + self.weigh(node) ** 2 / _SQUARES["re.compile"] + self._pattern([node])
            case ast.Name(id=name) if name not in self._local and (held := self._values(node)):
                return max(scale._field_pattern(one) for scale, one in held)
            case _:
                return 0.0 if isinstance(node, ast.Constant) else math.inf

    def _holds(self, sought: re.Pattern[str], node: ast.expr) -> bool:
        """Return whether a text may hold a sought one, by its parts."""
        return bool(self._cached(sought.pattern, node, partial(self._is_held, sought), True))

    def _is_held(self, sought: re.Pattern[str], node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str() as text):
                return bool(sought.search(text))
            case ast.Constant(value=bytes()):
                return True
            case ast.Name(id=name) if name in self._given:
                return self._holds(sought, self._given[name])
            case ast.Name(id=name):
                held = self._values(node)
                free = self._names.origin(node) in (None, name)  # a variable of a loop that is weighed with the loop
                return any(scale._holds(sought, one) for scale, one in held) if held else not free
            case ast.Subscript(value=value):
                return self._holds(_SLASH, value)
            case ast.Call(func=ast.Attribute(value=value, attr="join"), args=[inner]):
                return self._holds(sought, value) or self._holds(sought, inner)
            case ast.Call(func=called, args=[inner]) if self._names.origin(called) == "re.escape":
                return self._holds(_SLASH, inner)
            case ast.FormattedValue(value=value, format_spec=None):
                return self._holds(sought, value)
            case ast.BinOp(op=ast.Add() | ast.Mult(), left=left, right=right):
                return self._holds(sought, left) or self._holds(sought, right)
            case ast.Constant() | ast.JoinedStr() | ast.List() | ast.Tuple():
                inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
                return any(self._holds(sought, one) for one in inner)
            case ast.GeneratorExp(elt=made, generators=loops) | ast.ListComp(elt=made, generators=loops):
                given = {**self._given, **{name: loop.iter for loop in loops for name in loop_names(loop)}}
                return _Scale(self._names, dict.fromkeys(given, 1.0), given)._holds(sought, made)
            case _:
                return True

    def _loops(self, node: ast.DictComp | ast.GeneratorExp | ast.ListComp | ast.SetComp) -> float:
        """Return the weight of all rounds: each value of a loop is a part of the iterated one."""
        none, whole, through = dict(self._local), dict(self._local), dict(self._given)
        given = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        work, rounds, fewest = 0.0, 1.0, 1.0

        def summed(least: float, most: float) -> float:
            return rounds * least + (rounds / fewest * most if most > least else 0.0)

        for loop in node.generators:
            large, small = _Scale(self._names, whole, through), _Scale(self._names, none, through)
            work += summed(small.weigh(loop.iter), large.weigh(loop.iter))
            count = large.count(loop.iter)
            rounds = max(1.0, summed(small.count(loop.iter), count))
            fewest = max(1.0, count if fewest == 1.0 else min(fewest, count))
            targets = loop_names(loop)
            through.update(dict.fromkeys(targets, loop.iter))
            through.update(loop_keys(loop))
            none.update(dict.fromkeys(targets, 1.0))
            whole.update(dict.fromkeys(targets, 1 + large.weigh(loop.iter)))
            given += loop.ifs
        hashed = isinstance(node, ast.DictComp | ast.SetComp)
        if hashed and not _Scale(self._names, whole, through)._is_distinct(given[0]):
            work += rounds * rounds / _COMPARED
        least = sum(_Scale(self._names, none, through).weigh(one) for one in given)
        return work + rounds + summed(least, sum(_Scale(self._names, whole, through).weigh(one) for one in given))

    def count(self, node: ast.expr) -> float:
        """Return how many values a loop over a value gives at most."""
        return self._cached("count", node, self._counted, math.inf)

    def _counted(self, node: ast.expr) -> float:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=given):
                return max((self._times(one) for one in given), default=1.0)
            case ast.List(elts=inner) | ast.Tuple(elts=inner) | ast.Set(elts=inner) if not any(
                isinstance(one, ast.Starred) for one in inner
            ):
                return float(len(inner))
            case ast.Call(func=ast.Attribute(value=value, attr="items" | "keys" | "values"), args=[]):
                return self.count(value)
            case ast.Call(func=called, args=[keys, *_]) if self._names.origin(called) == "dict.fromkeys":
                return self.count(keys)
            case ast.Call(func=ast.Name(id="list" | "reversed" | "set" | "sorted" | "tuple"), args=[inner]):
                return self.count(inner)
            case ast.Name() if node.id not in self._local and not self._is_looped(node):
                return max((scale.count(one) for scale, one in self._values(node)), default=self._unheld(node))
            case ast.Dict(keys=keys) if None not in keys:
                return float(len(keys))
            case _:
                return self.weigh(node)

    def _is_looped(self, node: ast.expr) -> bool:
        return math.isinf(self.weigh(node))

    def _times(self, node: ast.expr) -> float:
        """Return an upper bound of a whole number."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return float(abs(node.value)) if node.value.bit_length() < _LENGTH_BITS else math.inf
        bits = self._bits(node)
        return 2.0**bits if bits <= _LENGTH_BITS else math.inf

    def _bits(self, node: ast.expr) -> float:
        """Return how many bits a number has at most; infinite for other values, and for too many."""
        found = self._cached("bits", node, self._measured, math.inf)
        return found if found <= _MOST_BITS else math.inf

    def _measured(self, node: ast.expr) -> float:
        match node:
            case ast.Constant(value=bool() | int() as value):
                return float(value.bit_length())
            case ast.Constant(value=float() | complex()):
                return _FLOAT_BITS
            case ast.UnaryOp(operand=operand):
                return self._bits(operand) + 1
            case ast.BinOp(op=operation, left=left, right=right):
                return self._combined(operation, left, right)
            case ast.IfExp(body=left, orelse=right):
                return max(self._bits(left), self._bits(right))
            case ast.Compare():
                return 1.0
            case ast.Call(func=ast.Name(id=name)) if name in _COUNTED and self._names.origin(node.func) == name:
                return float(_COUNTED[name])
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]) if name in _NUMERIC:
                own = self._names.origin(node.func) == name and not self._rounds_far(node)
                return max(_FLOAT_BITS, *map(self._bits, given)) if own else math.inf
            case ast.Name(id=name) if name in self._local:
                return math.inf
            case ast.Name() | ast.Attribute() if not math.isinf(self.weigh(node)):
                held = self._values(node)
                if not held:
                    return _FLOAT_BITS if (self._names.origin(node) or "").startswith("math.") else math.inf
                return max(scale._bits(one) for scale, one in held)
            case _:
                return math.inf

    def _rounds_far(self, node: ast.Call) -> bool:
        """Return whether a number is rounded to many places, or to as many as another value says."""
        places = [*node.args[1:], *(one.value for one in node.keywords)]
        return self._names.origin(node.func) == "round" and any(self._times(one) > _MOST_PLACES for one in places)

    def _combined(self, operation: ast.operator, left: ast.expr, right: ast.expr) -> float:
        one, two = self._bits(left), self._bits(right)
        match operation:
            case ast.Mult():
                return one + two
            case ast.Pow():
                return max(one, 1) * max(self._times(right), 1) if math.isfinite(one + two) else math.inf
            case ast.LShift():
                return one + self._times(right)
            case ast.MatMult():
                return math.inf
            case _:
                return max(one, two) + 1

    def _is_short(self, node: ast.expr) -> bool:
        """Return whether the argument of an exact number is a number, or its text without a long exponent."""
        return bool(self._cached("short", node, self._shortness, False))

    def _may_be_exact(self, node: ast.expr) -> bool:
        """Return whether a value may be, or hold, a Decimal or Fraction."""
        return bool(self._cached("exact", node, self._is_exact, False))

    def _is_exact(self, node: ast.expr) -> bool:
        for part in ast.walk(node):
            match part:
                case ast.Call(func=called) if self._names.origin(called) in _EXACT:
                    return True
                case ast.Name(id=name) if name in self._given:
                    found = self._may_be_exact(self._given[name])
                case ast.Name() | ast.Attribute():
                    found = any(scale._may_be_exact(one) for scale, one in self._values(part))
                case _:
                    continue
            if found:
                return True
        return False

    def _shortness(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str() as text):
                return len(text) <= _MOST_DIGITS and not _LONG_EXPONENT.search(text)
            case ast.Call(func=function) if self._names.origin(function) in _EXACT:
                return all(map(self._is_short, node.args))
            case ast.Name() if not math.isinf(self.weigh(node)):
                held = self._values(node)
                return bool(held) and all(scale._is_short(one) for scale, one in held)
            case _:
                return not math.isinf(self._bits(node))


def _formatted(once: float, spec: ast.expr | None) -> float:
    """Return the weight of a value in a format, by its plain one; infinite unless width and precision are written."""
    match spec:
        case None:
            return once
        case ast.JoinedStr(values=[ast.Constant(value=str() as text)]):
            times = max(1, text.count("%"))  # a date writes its parts, or the name of its time zone, for each
            return math.inf if _PLACES.search(text) else times * (once + _UNKNOWN + len(text))
        case _:
            return math.inf


def _values(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(one.value for one in node.keywords)]


@lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[ast.expr, ...]:
    """Return the expression of a text possibly standing for a type, or nothing."""
    try:
        return (parsed_expression(text),)
    except (SyntaxError, ValueError):
        return ()
