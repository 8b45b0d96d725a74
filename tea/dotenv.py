"""The form of `.env`: variables as shells and python-dotenv write them; nothing of the process gets into them."""

from __future__ import annotations

import re

from tea.errors import BadInput

_ENTRY = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*="""
    r"""(?:[ \t]*'([^']*)'[ \t]*(?:\#.*)?$|[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(?:\#.*)?$|(.*)$)""",
    re.MULTILINE,
)
_COMMENT = re.compile(r"(?:^|\s)#")
_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LONGEST = 2**16
_MOST, _LARGEST = 1_000, 2**18  # each text of a run is searched for all that are secrets, in many forms


def parse_variables(text: str) -> dict[str, str]:
    """Return the variables set by a text, ignoring lines of other forms.

    `${NAME}` stands for what the text itself set before, and for nothing where it did not: what the process holds is
    the operator's, and a file that came with a folder may be another's. An address is taken as it is written.

    Raises:
        BadInput: A value is too long, or they are very many, or together too long, as each may hold another.
    """
    found: dict[str, str] = {}
    size = lines = 0
    for name, single, double, bare in _ENTRY.findall(text):
        value = re.sub(r'\\(["\\])', r"\1", double) or _uncommented(bare)
        if value[:1] in ('"', "'"):  # a quotation mark without its end
            continue
        found[name] = single or (value if _is_address(name, value) else _expanded(name, value, found))
        size, lines = size + len(found[name]), lines + found[name].count("\n")
        if len(found[name]) > _LONGEST:
            raise _too_long(name)
        if size > _LARGEST:
            problem = f"The values in .env have more than {_LARGEST:,} characters together."
            raise BadInput(problem, fix="leave in it what tea needs.")
        if len(found) + lines > _MOST:  # each line may hold a header with a secret
            problem = f".env sets more than {_MOST:,} variables, or values of more lines."
            raise BadInput(problem, fix="leave in it what tea needs.")
    return found


def _uncommented(bare: str) -> str:
    comment = _COMMENT.search(bare)
    return bare[: comment.start()].strip() if comment else bare.strip()


def _is_address(name: str, value: str) -> bool:
    return name.endswith("_URL") or "://" in value


def _expanded(name: str, value: str, found: dict[str, str]) -> str:
    parts, end, size = list[str](), 0, 0
    for one in _NAMED.finditer(value):
        parts += value[end : one.start()], found.get(one[1], "")
        end, size = one.end(), size + len(parts[-1])
        if size > _LONGEST:  # each may double what came before
            raise _too_long(name)
    return "".join((*parts, value[end:]))


def _too_long(name: str) -> BadInput:
    return BadInput(f"{name[:60]} in .env is longer than {_LONGEST:,} characters.", fix="mend or remove it.")
