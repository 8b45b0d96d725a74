"""InspectAgent: tea as an agent of inspect_ai, with the models of inspect and the score of the run's outcome.

It is used where inspect_ai is installed, which is an environment of its own, so it imports nothing of tea but this file
and starts tea as a command:

    from tea.evaluate.inspect_agent import tea_agent
    eval(task, solver=tea_agent(command=["/path/to/tea"]), model="openai/gpt-5")
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from importlib import import_module
from typing import Any

PORT = 13131
_TRIES, _PAUSE = 200, 0.1


def tea_agent(
    command: Sequence[str] = ("tea",), options: Sequence[str] = (), port: int = PORT, seconds: int = 1800
) -> Any:
    """Return an agent of inspect_ai, handing each sample to `tea run`, with inspect's model behind it.

    What is scored is the outcome of the run: a run that failed answers nothing, whatever its model said last.

    Args:
        command: How tea is started inside of inspect's sandbox.
        options: Further options of `tea run`, for example `--agent`.
        port: Port of inspect's model proxy inside the sandbox.
        seconds: Most time of a run.
    """
    agents: Any = import_module("inspect_ai.agent")
    models: Any = import_module("inspect_ai.model")
    box: Any = import_module("inspect_ai.util").sandbox

    async def execute(state: Any) -> Any:
        question = state.messages[-1].text
        address = f"http://127.0.0.1:{port}/v1"
        async with agents.sandbox_agent_bridge(state, port=port) as bridge:
            await _wait_for_proxy(box(), port)
            with tempfile.TemporaryDirectory(prefix="tea-") as home:
                line = [*command, "run", "-", "--home", home, "--base-url", address, "--model", "inspect", "--json"]
                ran = await box().exec([*line, *options], input=question, timeout=seconds)
        answer, reason = outcome_of(ran.stdout)
        bridge.state.output = models.ModelOutput.from_content("tea", answer, error=reason or None)
        return bridge.state

    def made() -> Any:
        return execute

    return agents.agent(made, name="tea")()


def outcome_of(printed: str) -> tuple[str, str]:
    """Return answer and reason of a failure from the output of `tea run --json`; a failed run has no answer."""
    try:
        data: dict[str, Any] = dict(json.loads(printed))
    except (ValueError, TypeError):
        return "", "tea printed no outcome"
    if not data.get("ok"):
        return "", str(data.get("reason") or "the run failed")
    answer = data.get("answer")
    return answer if isinstance(answer, str) else json.dumps(answer), ""


async def _wait_for_proxy(box: Any, port: int) -> None:
    """Wait until the model proxy accepts connections, as it starts beside us."""
    check = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
    for _ in range(_TRIES):
        if (await box.exec(["bash", "-c", check])).success:
            return
        await asyncio.sleep(_PAUSE)
