"""Test hundreds of runs at once in a process of few open files: all of them end."""

import json
import sys
from asyncio.subprocess import PIPE, create_subprocess_exec
from pathlib import Path

import pytest
from dialects import DIALECTS, Dialect, said
from loopback import Asked, Loopback, Reply
from run_kit import ADDS, ENDS, home

RUNS, LIMIT = 500, 1_024
PROGRAM = """
import asyncio, json, resource, sys
from collections import Counter

resource.setrlimit(resource.RLIMIT_NOFILE, (256, int(sys.argv[3])))
from tea.errors import TeaError
from tea.platform import Platform


async def one(tea):
    try:
        outcome = await tea.run("What is 6 * 7?")
        return f"{outcome.status} {outcome.answer or outcome.reason}"
    except TeaError as error:
        return f"{type(error).__name__} {error}"


async def main():
    async with Platform(sys.argv[1], state=sys.argv[1] + "/state") as tea:
        ended = await asyncio.gather(*(one(tea) for _ in range(int(sys.argv[2]))))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        tries = sum(record.kind == "again" for run in tea.tracer.runs() for record in tea.tracer.records(run))
        print(json.dumps({"ended": Counter(ended), "soft": soft, "again": tries, "runs": len(tea.tracer.runs())}))


asyncio.run(main())
"""
CHAT: Dialect = DIALECTS["openai_chat"]


def adds_then_ends(asked: Asked) -> Reply:
    begun = any(one["role"] == "assistant" for one in asked.body["messages"])
    return said(CHAT, ENDS if begun else ADDS)


@pytest.mark.slow
async def test_five_hundred_runs_end_where_a_thousand_files_may_be_open(tmp_path: Path) -> None:
    async with Loopback(answer=adds_then_ends).open() as server:
        folder = home(tmp_path, CHAT, server.url, capabilities=["schema"], limits={"concurrency": RUNS})
        program = (sys.executable, "-c", PROGRAM, str(folder), str(RUNS), str(LIMIT))
        process = await create_subprocess_exec(*program, stdout=PIPE, stderr=PIPE)
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()[-2000:]
    found = json.loads(out)
    assert found["ended"] == {"done 42": RUNS}
    assert (found["soft"], found["runs"]) == (LIMIT, RUNS)
