"""The figures of the house: files, rooms, cycles between packages, sizes, casts and first lines of docstrings.

python benchmarks/house.py [FOLDER]
"""

import argparse
import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

HOUSE = Path(__file__).resolve().parent.parent / "tea"
RELATIVE = re.compile(r"\b(who|whom|whose|which|that|what|where)\b", re.IGNORECASE)


def package(module: str) -> str:
    """Return the room of a module of tea: `store` for `tea.store.heads`."""
    return module.split(".")[1] if "." in module else "__init__"


def imports(tree: ast.Module) -> Iterator[str]:
    """Yield the rooms imported by a file, besides the public names of tea itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tea."):
            yield package(str(node.module))
        elif isinstance(node, ast.Import):
            yield from (package(one.name) for one in node.names if one.name.startswith("tea."))


def cycles(graph: Mapping[str, set[str]]) -> int:
    """Return 0 if the rooms have an order, 1 if a cycle was found."""
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError:
        return 1
    return 0


def main(argv: list[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=HOUSE)
    folder: Path = parser.parse_args(argv).folder.resolve()
    sizes, functions, firsts, casts = list[int](), list[int](), list[str](), 0
    graph: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree, room = ast.parse(text), path.relative_to(folder).parts[0].removesuffix(".py")
        sizes.append(len(text.splitlines()))
        casts += len(re.findall(r"\bcast\(", text))
        graph.setdefault(room, set()).update(set(imports(tree)) - {room})
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                firsts += (ast.get_docstring(node) or "").splitlines()[:1]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.append((node.end_lineno or node.lineno) - node.lineno + 1)
    rooms = {one.parent.name for one in folder.glob("*/__init__.py")}
    inner = {room: graph[room] & rooms for room in rooms}
    relative = sum(bool(RELATIVE.search(first)) for first in firsts)
    for name, figure in {
        "files": len(sizes),
        "lines": sum(sizes),
        "files per 1,000 lines": round(1000 * len(sizes) / sum(sizes), 2),
        "rooms": len(rooms),
        "cycles between rooms": cycles(inner),
        "lines of a file, median and most": f"{median(sizes):g} and {max(sizes)}",
        "lines of a function, median and most": f"{median(functions):g} and {max(functions)}",
        "casts": casts,
        "first lines of docstrings": len(firsts),
        "of these with a relative word": f"{relative} ({relative / len(firsts):.1%})",
    }.items():
        print(f"{name:40}{figure!s:>14}")


if __name__ == "__main__":
    main()
