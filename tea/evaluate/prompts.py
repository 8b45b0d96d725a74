"""Prompts: the words of published judges, read from the installed package with them."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tea.errors import BadInput, MissingExtra
from tea.store.files import followed, read_regular
from tea.store.strict import Refused

_PACKAGE = "inspect_evals"
_WANTED = "inspect-evals>=0.26,<1"
_LIMIT = 256 * 1024
# Where the package keeps the words: a file, the name of the template, and what fills its `instructions`.
_PLACES = {
    "simpleqa": ("simpleqa/grader_templates.py", "SIMPLEQA_GRADER_TEMPLATE", "SIMPLEQA_GRADING_INSTRUCTIONS"),
    "hle": ("hle/prompts.py", "JSON_OUTPUT_PROMPT", ""),
    "browsecomp": ("browse_comp/prompts.py", "GRADER_TEMPLATE", ""),
}
_NAMES = {
    "question": "task",
    "criterion": "expected",
    "target": "expected",
    "correct_answer": "expected",
    "answer": "answer",
    "response": "answer",
    "predicted_answer": "answer",
}
_FIELD = re.compile(r"\{\{|\}\}|\{(" + "|".join((*_NAMES, "instructions")) + r")\}")


def filled(template: str, task: str, expected: str, answer: str) -> str:
    """Return a template with its fields filled; braces around anything else stay as they are.

    Args:
        template: Words with `{question}`, `{criterion}` and `{answer}`, or the other names that judges use for them.
        task: The task in words.
        expected: The expected answer.
        answer: The answer.
    """
    values = {"task": task, "expected": expected, "answer": answer}
    return _replaced(template, {name: values[value] for name, value in _NAMES.items()})


@cache
def published(scorer: str) -> str:
    """Return the template of a benchmark's judge, from the package `inspect_evals`; it is parsed, not executed.

    Raises:
        MissingExtra: It is not installed, or keeps its words elsewhere.
    """
    path, name, instructions = _PLACES[scorer]
    found = find_spec(_PACKAGE)
    problem = f"The judge of {scorer!r} needs a prompt of the package {_PACKAGE!r}, which is not installed."
    fix = f"{_install_command()}; or give your own words with --judge-prompt FILE."
    if found is None or not found.submodule_search_locations:
        raise MissingExtra(problem, fix=fix)
    try:
        source = (Path(found.submodule_search_locations[0]) / path).read_text(encoding="utf-8")
        texts = _texts(source)
        return _replaced(texts[name], {"instructions": texts[instructions]}) if instructions else texts[name]
    except (OSError, KeyError, SyntaxError, ValueError) as error:
        problem = f"The installed package {_PACKAGE!r} has no prompt for {scorer!r} in {path}."
        raise MissingExtra(problem, fix=fix) from error


def read_template(path: Path) -> str:
    """Return the words for a judge in a file.

    Raises:
        BadInput: It cannot be read, or names neither the answer nor what is expected.
    """
    try:
        text = read_regular(followed(path), _LIMIT).decode("utf-8-sig")
    except (OSError, Refused, UnicodeDecodeError) as error:
        fix = "name a small text file in UTF-8."
        raise BadInput(f"The judge's prompt {str(path)[-80:]!r} cannot be read.", fix=fix) from error
    fields = {_NAMES[one] for one in _FIELD.findall(text) if one in _NAMES}
    if not {"expected", "answer"} <= fields:
        problem = f"The judge's prompt {str(path)[-80:]!r} does not hold {{criterion}} and {{answer}}."
        raise BadInput(problem, fix="write {question}, {criterion} and {answer} where they belong.")
    return text


def _install_command() -> str:
    """Return the command to install the package without its dependencies: it is only read, never run."""
    return f"{shlex.quote(sys.executable)} -m pip install --no-deps '{_WANTED}'"


def _replaced(template: str, values: dict[str, str]) -> str:
    def one(found: re.Match[str]) -> str:
        whole = found[0]
        return values.get(found[1], whole) if found[1] else whole[0] if "instructions" not in values else whole

    return _FIELD.sub(one, template)


def _texts(source: str) -> dict[str, str]:
    """Return the texts assigned to names in Python source, directly or as the `prompt` of a call."""
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Call):
                value = next((one.value for one in value.keywords if one.arg == "prompt"), value)
            text = _constant(value)
            if text is not None:
                found[node.targets[0].id] = text
    return found


def _constant(node: ast.expr) -> str | None:
    """Return the text of a constant, perhaps in parts to be added or stripped."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Call(func=ast.Attribute(value=value, attr="strip"), args=[]):
            text = _constant(value)
            return None if text is None else text.strip()
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _constant(left), _constant(right)
            return None if one is None or other is None else one + other
        case _:
            return None
