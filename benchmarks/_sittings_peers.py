"""The peers of `sittings.py`, each in a process of its own: `PYTHON _sittings_peers.py openai-agents|smolagents`.

Reads jobs as JSON lines (`url`, `folder`, `task`, `steps`) and answers each with a line: `answer`, or `error`. Both are
flat agents with the bundled tools, which PYTHON's environment has to be able to load, with the parsers of
`tea.reading` beside them.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))
INSTRUCTIONS = (
    "You answer questions about files with your tools. Answer with the answer alone, in the form that is asked for; "
    "where it cannot be found out, say that you cannot, and why."
)
Run = Callable[[str, str, int], Any]


class Folder:
    """The bundled tools' context: the place of the job's files."""

    place = Path()

    @classmethod
    def path(cls, name: str) -> Path:
        """Return a file's place."""
        return cls.place / name

    @classmethod
    async def file(cls, name: str) -> Path:
        """Return an existing file's place."""
        from tea.components.files import existing_file

        return existing_file(cls.path, cls.place, name)

    @classmethod
    async def cache(cls) -> None:
        """Keep nothing reproducible."""

    @classmethod
    async def parser_terms(cls) -> dict[str, Any]:
        """Return the terms of the strongest sandbox of this machine."""
        from tea.sandbox.folder import cache_folder
        from tea.sandbox.levels import Sandboxes, SandboxSettings

        return dict(await Sandboxes(SandboxSettings(), cache_folder()).parser_terms())


def table_query(files: list[str], sql: str = "") -> str:
    """Describe tables, or run one SQL query over CSV, TSV, JSON and XLSX files.

    Args:
        files: Names of table files. A file's table is named after the file, a workbook's after its sheets.
        sql: One SELECT or WITH statement of SQLite over the tables; without it, each table is described.
    """
    return _called(_tool("table_query")(Folder, files, sql))


def read_file(path: str, start: int = 1, lines: int = 200) -> str:
    """Read lines of a text, PDF, DOCX or PPTX file.

    Args:
        path: Name of a file.
        start: Number of the first line, from 1.
        lines: Most lines to return, at most 2000.
    """
    return _called(_tool("read_file")(Folder, path, start, lines))


def calculator(expression: str) -> str:
    """Evaluate one arithmetic expression; whole numbers stay exact.

    Args:
        expression: Numbers with + - * / // % ** and parentheses, and the usual functions.
    """
    return _called(_tool("calculator")(expression))


TOOLS = (table_query, read_file, calculator)


def _tool(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    return getattr(import_module(f"tools.{name}"), name)


def _called(work: Coroutine[Any, Any, Any]) -> str:
    """Return a tool's result or error as text; it has a thread and a loop of its own."""
    from tea.errors import TeaError

    try:
        with ThreadPoolExecutor(1) as pool:
            return json.dumps(pool.submit(asyncio.run, work).result(), ensure_ascii=False)
    except TeaError as error:
        return f"Error: {error}"


def by_openai_agents() -> Run:
    """An agent of openai-agents, with tracing switched off."""
    import openai

    library: Any = import_module("agents")
    library.set_tracing_disabled(True)

    def run(url: str, task: str, steps: int) -> Any:
        async def answered() -> Any:
            async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
                model = library.OpenAIChatCompletionsModel(model="kept", openai_client=client)
                tools = [library.function_tool(one) for one in TOOLS]
                agent = library.Agent(name="flat", instructions=INSTRUCTIONS, tools=tools, model=model)
                return (await library.Runner.run(agent, task, max_turns=steps)).final_output

        return asyncio.run(answered())

    return run


def by_smolagents() -> Run:
    """A ToolCallingAgent of smolagents."""
    library: Any = import_module("smolagents")
    tools = [library.tool(one) for one in TOOLS]

    def run(url: str, task: str, steps: int) -> Any:
        options = {"max_retries": 0}
        model = library.OpenAIServerModel("kept", api_base=url, api_key="none", client_kwargs=options)
        silent = library.LogLevel.OFF
        agent = library.ToolCallingAgent(tools=tools, model=model, instructions=INSTRUCTIONS, verbosity_level=silent)
        return agent.run(task, max_steps=steps)

    return run


WAYS: dict[str, Callable[[], Run]] = {"openai-agents": by_openai_agents, "smolagents": by_smolagents}


def main() -> None:
    """Carry out jobs until there are no more."""
    run = WAYS[sys.argv[1]]()
    for line in sys.stdin:
        job = json.loads(line)
        Folder.place = Path(job["folder"])
        try:
            told = {"answer": run(job["url"], job["task"], job["steps"])}
        except Exception as error:  # a foreign library's end, which is the result
            told = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(told, ensure_ascii=False, default=str), flush=True)


if __name__ == "__main__":
    main()
