"""The imports missing in a source, added after its docstring, before anything is hashed."""

from __future__ import annotations

import ast
from collections import defaultdict

from tea.source.names import annotated_names, dotted, free_names
from tea.source.text import ParsedFile, first_line, words

# What components may take from tea: its public names but for those that start runs of their own.
VOCABULARY = words(
    """
    Agent Attempted BadOutput Budget BudgetExceeded Context DataPart Environment Evidence Fact Message Operated
    Result RootedFolder Said Sandbox SandboxService StaticEmbedder Task TeaError TextPart Texts ToolCall ToolError
    action addresses_in ask_for budget_share clipped consult conversation copied_name follow has_searches heads
    keep_picture make_film merge_patch named_file nearest number_elements numbers_following open_resolved operate
    png_of require_extra same show_files tool unified_diff work
    """
)

_MODULES = words(
    """
    abc array ast asyncio base64 binascii bisect calendar codecs collections colorsys contextlib contextvars
    copy csv dataclasses datetime decimal difflib email enum fnmatch fractions functools glob gzip hashlib heapq
    hmac html http importlib inspect io itertools json keyword locale logging math mimetypes numbers operator os
    pathlib platform pprint queue random re secrets shlex shutil socket sqlite3 ssl stat statistics string
    struct subprocess sys tempfile textwrap threading time tokenize tomllib traceback types typing unicodedata
    urllib uuid warnings weakref xml zipfile zlib zoneinfo concurrent multiprocessing
    """
)
_SUBMODULES = words(
    """
    collections.abc concurrent.futures email.message email.utils http.client importlib.metadata
    importlib.resources importlib.util logging.handlers urllib.error urllib.parse urllib.request
    xml.etree.ElementTree
    """
)
_MEMBERS = {
    "abc": "ABC abstractmethod",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "collections.abc": """AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Coroutine Generator
        Hashable ItemsView Iterable Iterator KeysView Mapping MutableMapping MutableSequence MutableSet Sequence Sized
        ValuesView""",
    "contextlib": "AsyncExitStack ExitStack asynccontextmanager closing contextmanager nullcontext suppress",
    "copy": "deepcopy",
    "dataclasses": "asdict astuple dataclass field",
    "datetime": "date timedelta timezone",
    "decimal": "Decimal InvalidOperation",
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto",
    "fractions": "Fraction",
    "functools": "cache cached_property lru_cache partial reduce total_ordering wraps",
    "io": "BytesIO StringIO",
    "itertools": "accumulate chain combinations groupby islice pairwise permutations product takewhile zip_longest",
    "math": "ceil comb cos exp factorial floor gcd hypot inf isclose isfinite isinf isnan log10 log2 nan pi sin sqrt",
    "operator": "attrgetter itemgetter",
    "pathlib": "Path PurePath PurePosixPath",
    "statistics": "fmean mean median stdev",
    "textwrap": "dedent indent shorten",
    "typing": """Annotated Any ClassVar Dict Final Generic List Literal LiteralString NamedTuple Never NewType NoReturn
        NotRequired Optional ParamSpec Protocol Required Self Set Tuple Type TypeAlias TypeGuard TypeVar TypedDict Union
        cast get_args get_origin get_type_hints overload""",
    "urllib.parse": "parse_qs quote unquote urlencode urljoin urlparse urlsplit urlunsplit",
    "uuid": "UUID uuid4 uuid5",
    "zoneinfo": "ZoneInfo",
}
_HOMES = {name: module for module, names in _MEMBERS.items() for name in names.split()}
_NAMESAKES = frozenset({"copy", "datetime", "glob", "pprint"})  # modules with a member of their own name
_DATETIME_METHODS = words(
    """
    combine fromisocalendar fromisoformat fromtimestamp now strptime today utcfromtimestamp utcnow
    """
)


def complete(file: ParsedFile) -> tuple[ParsedFile, tuple[str, ...]]:
    """Add the imports of well-known names used but not bound in a file.

    Returns:
        The file, and each line that was written in. A complete file comes back as it is.

    Raises:
        BadComponent: Names stay undefined, or there is no place for the imports.
    """
    missing = free_names(file)
    unknown = sorted(name for name in missing if not _is_known(name))
    if unknown:
        raise file.refuse(*_undefined(unknown), _first_use(file.tree, unknown[0]))
    if not missing:
        return file, ()
    lines = _import_lines(missing, _uses(file.tree))
    whole = ParsedFile.read(_inserted(file, lines), file.path)
    if len(whole.tree.body) != len(file.tree.body) + len(lines) or free_names(whole):
        raise file.refuse("misses imports, and there is no place to write them in.", f"write {'; '.join(lines)}.")
    return whole, tuple(lines)


def _is_known(name: str) -> bool:
    return name in _MODULES or name in _HOMES or name in VOCABULARY


def _undefined(names: list[str]) -> tuple[str, str]:
    shown = ", ".join(name[:40] for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"names are used and never defined: {shown}.", "define or import them in the source."


def _first_use(tree: ast.Module, name: str) -> ast.AST | None:
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    return min((*named, *_annotated(tree, name)), key=lambda node: node.lineno, default=None)


def _annotated(tree: ast.Module, name: str) -> list[ast.Name]:
    return [node for node in annotated_names(ast.walk(tree)) if node.id == name]


def _uses(tree: ast.Module) -> dict[str, set[tuple[str, ...]]]:
    """Return, for each name, the attributes following its uses: `("path", "join")`, or nothing."""
    uses: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    inner: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in inner or not isinstance(node, ast.Name | ast.Attribute):
            continue
        chain = dotted(node)
        if chain:
            uses[chain[0]].add(chain[1:])
            inner.update(id(part) for part in ast.walk(node))
    for node in annotated_names(ast.walk(tree)):
        if id(node) not in inner:
            uses[node.id].add(())
    return uses


def _import_lines(missing: set[str], uses: dict[str, set[tuple[str, ...]]]) -> list[str]:
    modules: set[str] = set()
    members: dict[str, set[str]] = defaultdict(set)
    for name in missing:
        if name in VOCABULARY:
            members["tea"].add(name)
        elif name in _HOMES:
            members[_HOMES[name]].add(name)
        elif name in _NAMESAKES and _means_member(name, uses[name]):
            members[name].add(name)
        else:
            modules |= _module_imports(name, uses[name])
    found = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(members.items())]
    return [f"import {module}" for module in sorted(modules)] + sorted(
        found, key=lambda line: line.startswith("from tea ")
    )


def _means_member(name: str, uses: set[tuple[str, ...]]) -> bool:
    return () in uses or (name == "datetime" and any(rest[0] in _DATETIME_METHODS for rest in uses))


def _module_imports(name: str, uses: set[tuple[str, ...]]) -> set[str]:
    chains = {".".join((name, *rest[:length])) for rest in uses for length in (1, 2)}
    return (chains & _SUBMODULES) or {name}


def _inserted(file: ParsedFile, lines: list[str]) -> str:
    """Put `lines` after the docstring and the `__future__` imports."""
    source_lines = file.source.split("\n")
    header = [node for index, node in enumerate(file.tree.body) if _is_header(node, index)]
    following = file.tree.body[len(header) :]
    if not header:
        row = min((first_line(node) for node in following[:1]), default=1) - 1
        gap = [] if _is_import(following[:1]) else [""]
        return "\n".join([*source_lines[:row], *lines, *gap, *source_lines[row:]])
    row = header[-1].end_lineno or 1
    if following and first_line(following[0]) == row:
        line = source_lines[row - 1].encode()
        column = following[0].col_offset
        halves = [line[:column].decode(), *lines, line[column:].decode()]
        return "\n".join([*source_lines[: row - 1], *halves, *source_lines[row:]])
    gap = [""] if source_lines[row : row + 1] not in ([], [""]) and not _is_import(following[:1]) else []
    return "\n".join([*source_lines[:row], "", *lines, *gap, *source_lines[row:]])


def _is_import(nodes: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)


def _is_header(node: ast.stmt, index: int) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return index == 0
        case ast.ImportFrom(module="__future__"):
            return True
        case _:
            return False
