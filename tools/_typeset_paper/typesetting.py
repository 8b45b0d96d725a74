"""The typesetting of a folder by typst, in a sandbox of its own: no network, and limits of time and memory."""

import asyncio
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from tea import RootedFolder, Sandbox, ToolError, require_extra

from .template import TEMPLATE

LIMITS = {"memory_mb": 1_000, "cpu_seconds": 60, "call_seconds": 60, "disk_mb": 300, "processes": 64, "output_kb": 20}
EXTRA = "paper"
MOST_PDF = 200_000_000  # bytes
_PROGRAM, _FAILED = "typeset.py", 3
_CODE = f"""import sys

import typst

name = sys.argv[1]
try:
    # The folder is the root, so nothing beside it can be shown, and only the fonts that typst brings are used.
    typst.compile(name + ".typ", output=name + ".pdf", root=".", ignore_system_fonts=True)
except typst.TypstError as error:
    print(error)
    sys.exit({_FAILED})
"""


async def typeset(terms: dict[str, object], workspace: Path, name: str, data: bytes, figures: Sequence[str]) -> None:
    """Write a paper beside its sources into a workspace; nothing is written if it fails.

    Args:
        terms: What `ctx.parser_terms()` gives.
        workspace: Holds the figures, and takes PDF, template and data.
        name: Name of the three without an ending.
        data: The paper as JSON.
        figures: Names of the pictures in it.

    Raises:
        MissingExtra: The extra is not installed.
        ToolError: It cannot be typeset, or its typesetting died or was stopped.
    """
    template = TEMPLATE.replace("paper.json", f"{name}.json").encode()
    with tempfile.TemporaryDirectory(prefix="tea-paper-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        sources = {f"{name}.typ": template, f"{name}.json": data}
        await asyncio.to_thread(_bring, workspace, folder, sources, figures)
        sandbox = await Sandbox.around(terms, folder, packages=await asyncio.to_thread(_packages), limits=LIMITS)
        try:
            ran = await sandbox.program(_PROGRAM, arguments=(name,))
        except ToolError as error:
            raise ToolError(f"The paper was not typeset: {error.problem}", fix="leave out large figures.") from error
        finally:
            await sandbox.close()
        if ran.exit == _FAILED:
            problem = " ".join(ran.stdout.text.split())[:300]
            raise ToolError(f"The paper cannot be typeset: {problem}", fix="leave out the figure or words it names.")
        if ran.exit != 0:
            words = ran.stderr.text.strip().partition("\n")[0][:200]
            problem = f"The paper was not typeset: its process died{f' ({words})' if words else ''}."
            raise ToolError(problem, fix="leave out large figures, or call again.")
        await asyncio.to_thread(_take, folder, workspace, f"{name}.pdf", sources)


def _bring(workspace: Path, folder: Path, sources: dict[str, bytes], figures: Sequence[str]) -> None:
    """Bring the sources, the figures and the program into a folder."""
    folder.chmod(0o755)
    for figure in figures:
        (folder / figure).parent.mkdir(parents=True, exist_ok=True)
    with RootedFolder(workspace) as given, RootedFolder(folder) as target:
        for figure in figures:
            with given.reading(figure) as file:
                target.write(figure, iter(lambda: file.read(1 << 20), b""))
        for name, content in (*sources.items(), (_PROGRAM, _CODE.encode())):
            target.write(name, content)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _take(folder: Path, workspace: Path, pdf: str, sources: dict[str, bytes]) -> None:
    """Take the PDF, as foreign as the words and pictures in it, and write it beside its sources.

    Raises:
        ToolError: It is not a file, or too large.
    """
    with RootedFolder(folder) as made, RootedFolder(workspace) as target:
        status = made.status(pdf)
        if status is None or not made.is_file(pdf) or status.st_size > MOST_PDF:
            raise ToolError("The paper was not typeset: there is no PDF that can be read.", fix="call again.")
        with made.reading(pdf) as file:
            target.write(pdf, iter(lambda: file.read(1 << 20), b""))
        for name, content in sources.items():
            target.write(name, content)


def _packages() -> list[Path]:
    """Return the folder of typst without loading it.

    Raises:
        MissingExtra: It is not installed.
    """
    found = find_spec("typst")
    if found is None:
        require_extra("typst", EXTRA)
    return [Path(place) for place in found.submodule_search_locations or ()] if found is not None else []
