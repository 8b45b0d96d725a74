"""Questions to a registry, answered by another process: `python elsewhere.py` reads one request a line."""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tea.errors import TeaError
from tea.platform import Platform

Question = tuple[str, ...]


def open_platform(home: Path) -> Platform:
    """A platform without a look at shipped components: these tests bring their own."""
    return Platform(home / "home", state=home / "state")


async def answer(platform: Platform, kind: str, question: Question) -> Any:
    """Ask one thing; an error is an answer too."""
    what, *words = question
    server: Any = {"tool": platform.tcp, "environment": platform.ecp, "agent": platform.acp}.get(kind)
    library: Any = platform.libraries[kind]  # type: ignore[index]
    try:
        match what:
            case "info":
                return (await library.info(words[0])).to_json()
            case "vars":
                return [asdict(one) for one in await library.vars(words[0])]
            case "states":
                return [[one.name, one.version, one.state] for one in await library.list(state=None)]
            case "list":
                return [[one.name, one.version, one.state, one.trusted, one.origin] for one in await library.list()]
            case "history":
                return [one.to_json() for one in await library.history(words[0])]
            case "heads":
                heads = await asyncio.to_thread(platform.versions.heads, library.kind, words[0])
                return [head.to_json() for head in heads]
            case "exact":
                return (await library.exact(words[0], words[1])).to_json()
            case "diff":
                found = await library.diff(words[0], words[1])
                return [found.change, found.source, found.schema]
            case "invoke":
                return (await server.invoke(words[0], json.loads(words[1]))).model_dump(mode="json")
            case _:
                raise AssertionError(what)
    except TeaError as error:
        return error.record()


async def answers(request: dict[str, Any]) -> list[Any]:
    platform = open_platform(Path(request["home"]))
    found = [await answer(platform, kind, tuple(question)) for kind, question in request["questions"]]
    await platform.__aexit__(None, None, None)
    return found


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(asyncio.run(answers(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
