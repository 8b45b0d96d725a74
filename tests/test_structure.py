"""Test the shape of the house: rooms, sizes, public names, and a wheel's files."""

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import tea
from tea.source.reach import PUBLIC_MODULES

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "tea").rglob("*.py"))
FOLDERS = ("agents", "environments", "offline/tools", "tools")
COMPONENTS = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
SOLVER_NAMES = {path.stem for path in (ROOT / "offline/tools").glob("*.py")}

ROOMS = [
    {"errors"},
    {"types"},
    {"refs"},
    {"characters", "clock", "extras", "lazy", "threads", "toml", "waiting"},
    {"components"},
    {"store"},
    {"kernel"},
    {"policy"},
    {"web"},
    {"sandbox"},
    {"reading"},
    {"source"},
    {"untrusted"},
    {"registry"},
    {"models"},
    {"prompts"},
    {"memory"},
    {"journal"},
    {"retrieval"},
    {"corpus"},
    {"loop"},
    {"recipes"},
    {"protocols"},
    {"runs"},
    {"chat"},
    {"research"},
    {"dotenv", "home_openings", "home_trust", "home", "host_service", "search_service"}
    | {"engine", "platform", "api", "__init__"},
    {"evaluate"},
    {"evolve", "serve", "interop"},
    {"testing"},
    {"cli", "__main__"},
]
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}

FILE_LIMIT, FUNCTION_LIMIT = 600, 60


def room(path: Path) -> str:
    """The part of the house a file belongs to: `store` for tea/store/heads.py, `refs` for tea/refs.py."""
    return path.relative_to(ROOT / "tea").parts[0].removesuffix(".py")


def imported_modules(path: Path) -> Iterator[str]:
    """Every module a file imports, at the top or inside a function; a relative one begins with a dot."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=0):
                yield from (f"tea.{alias.name}" for alias in names) if module == "tea" else (str(module),)
            case ast.ImportFrom(module=module, level=level):
                yield "." * level + (module or "")
            case _:
                pass


def imported_rooms(path: Path) -> Iterator[str]:
    """The rooms of tea a file imports; a public name taken from `tea` itself counts as `__init__`."""
    for module in imported_modules(path):
        package, _, rest = module.partition(".")
        if package == "tea":
            name = rest.partition(".")[0]
            yield name if name in RANK else "__init__"


def test_every_file_has_a_room_and_every_folder_is_a_package() -> None:
    assert {room(path) for path in SOURCES} <= set(RANK)
    assert {path.parent / "__init__.py" for path in SOURCES} <= set(SOURCES)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downward_only(path: Path) -> None:
    own = room(path)
    assert not any(module.startswith(".") for module in imported_modules(path)), "imports inside tea are absolute"
    upward = {name for name in imported_rooms(path) if RANK[name] > RANK[own]}
    assert not upward, f"{own} stands above {sorted(upward)} in the order of rooms and may not import them"


def test_the_guide_is_short_and_has_the_rooms_in_their_order() -> None:
    lines = (ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 80
    rows = [line.split("|")[1] for line in lines if line.startswith("| `tea/")]
    named = [
        name.removesuffix(".py").strip("/") for row in rows for name in re.findall(r"(?:tea/)?(\w+/|\w+\.py)", row)
    ]
    folders = [name for name in named if (ROOT / "tea" / name).is_dir()]
    assert {path.name for path in (ROOT / "tea").glob("*/") if (path / "__init__.py").is_file()} == set(folders)
    assert [RANK[name] for name in folders] == sorted(RANK[name] for name in folders)


def test_nothing_but_the_command_line_builds_on_the_testing_tools() -> None:
    users = [path for path in SOURCES if room(path) != "testing" and "testing" in imported_rooms(path)]
    assert [room(path) for path in users if room(path) != "cli"] == []


def is_public(name: str) -> bool:
    """Whether `tea` offers a name, in `__all__` or on first use; its modules do not count."""
    return name in dir(tea) and not isinstance(getattr(tea, name), ModuleType)


@pytest.mark.parametrize("path", COMPONENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_components_know_nothing_of_ours_but_the_public_names(path: Path) -> None:
    components = {"agents", "environments", "tools"} | {other.stem for other in COMPONENTS} - sys.stdlib_module_names
    for module in imported_modules(path):
        package, _, name = module.partition(".")
        assert package not in components, f"reach {module!r} by name, through ctx"
        assert package != "tea" or not name or is_public(name) or module in PUBLIC_MODULES, f"{module!r} is not public"


def test_the_public_names_of_a_room_are_sorted_and_there() -> None:
    for name, offered in PUBLIC_MODULES.items():
        module = import_module(name)
        assert module.__all__ == sorted(set(module.__all__))
        assert {one for one in offered if hasattr(module, one)} == set(module.__all__) == offered


def test_the_offline_solvers_are_named_by_two_prompts_and_by_nothing_else_that_ships() -> None:
    others = [path for kind in ("agents", "environments", "tea", "tools") for path in (ROOT / kind).rglob("*.*")]
    texts = {path: path.read_text(encoding="utf-8") for path in others if path.suffix in (".py", ".md")}
    naming = [path.name for path, text in texts.items() if any(name in text for name in SOLVER_NAMES)]
    assert sorted(naming) == ["analyzer.md", "planner.md"]


def test_component_folders_are_not_packages() -> None:
    assert [path for path in COMPONENTS if path.name == "__init__.py"] == []


def test_public_names_are_sorted_and_exact() -> None:
    assert tea.__all__ == sorted(set(tea.__all__))
    code = "import tea, types; names = {n: getattr(tea, n) for n in tea.__all__}\n"
    code += "print(*[n for n, found in vars(tea).items() if not isinstance(found, types.ModuleType)])"
    public = {name for name in output_of(sys.executable, "-c", code).split() if not name.startswith("_")}
    assert public == set(tea.__all__)


def test_the_offline_solvers_and_their_benchmark_stay_small() -> None:
    sizes = {
        folder: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / folder).rglob("*.py"))
        for folder in ("offline/tools", "offline/benchmark")
    }
    assert sizes["offline/tools"] <= 6_500
    assert sizes["offline/benchmark"] <= 1_200


def test_files_and_functions_stay_small() -> None:
    found = [one for path in SOURCES + COMPONENTS for one in measured(path)]
    assert [f"{lines} lines (limit {limit})  {name}" for name, lines, limit in found if lines > limit] == []


def measured(path: Path) -> Iterator[tuple[str, int, int]]:
    """A file and each of its functions: name, lines, and the limit."""
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(ROOT))
    yield name, len(text.splitlines()), FILE_LIMIT
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield f"{name}:{node.lineno} {node.name}", lines, FUNCTION_LIMIT


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    output_of(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_a_wheel_installs_one_top_level_package(wheel_files: set[str]) -> None:
    assert {name.partition("/")[0] for name in wheel_files if ".dist-info/" not in name} == {"tea"}


def test_a_wheel_carries_every_component_its_prompts_and_the_constraints(wheel_files: set[str]) -> None:
    tracked = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    expected = {path.relative_to(ROOT) for path in tracked if "__pycache__" not in path.parts}
    assert {f"tea/_bundled/{path.as_posix()}" for path in expected} <= wheel_files
    assert {"tea/py.typed", "tea/_bundled/constraints.txt"} <= wheel_files


def output_of(*command: str) -> str:
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout
