"""The ways measured by `overhead.py`, each in a process of its own: `python _overhead_ways.py WAY URL`.

Reads jobs as JSON lines, answers with what they took. A job is so many runs at once; in each a model calls a tool that
does nothing, and in the last step answers. What imports a library stands inside the way that needs it.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

SYSTEM = "You are a helpful agent."
SETTLED = 2.2
Once = Callable[[int, int, int], Awaitable[list[float]]]

TOOL = '''
from tea import tool


@tool(effects="reads", idempotent=True, network=False)
async def {name}(x: int, note: str = "") -> str:
    """Do nothing: tool {name}.

    Args:
        x: A number.
        note: A short note.
    """
    return "ok"
'''

AGENT = '''
from tea import Agent, Context, Result, Task, work


class Stepper(Agent):
    """Call tools until the model is done."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Work."""
        return await work(ctx, task, prompt="tool_calling", max_steps=1000)
'''


def question(steps: int, latency: int) -> str:
    """Return the task; it tells the server the length of a run."""
    return f"Call noop, the tool that does nothing. K={steps} L={latency}"


def names(tools: int) -> list[str]:
    """Return the names of so many tools."""
    return ["noop", *(f"tool_{number}" for number in range(1, tools))]


def functions(tools: int) -> list[Any]:
    """Return so many functions, for libraries reading signatures."""
    made: list[Any] = []
    for name in names(tools):

        async def one(x: int, note: str = "") -> str:
            return "ok"

        one.__name__ = one.__qualname__ = name
        one.__doc__ = f"Do nothing: tool {name}.\n\nArgs:\n    x: A number.\n    note: A short note.\n"
        made.append(one)
    return made


def schemas(tools: int) -> list[Any]:
    """Return the same as function-calling schemas."""
    number = {"type": "integer", "description": "A number."}
    note = {"type": "string", "description": "A short note.", "default": ""}
    parameters = {
        "type": "object",
        "properties": {"x": number, "note": note},
        "required": ["x"],
        "additionalProperties": False,
    }
    return [
        {
            "type": "function",
            "function": {"name": name, "description": f"Do nothing: tool {name}.", "parameters": parameters},
        }
        for name in names(tools)
    ]


async def by_sdk(url: str) -> Once:
    """A bare loop over the SDK, without validation."""
    import openai

    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=900)

    async def noop(x: int, note: str = "") -> str:
        return "ok"

    async def once(tools: int, steps: int, latency: int) -> list[float]:
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": question(steps, latency)},
        ]
        offered, stamps = schemas(tools), list[float]()
        while True:
            stamps.append(time.process_time())
            answer = await client.chat.completions.create(model="m", messages=messages, tools=offered)
            said: Any = answer.choices[0].message
            if not said.tool_calls:
                assert (said.content, len(stamps)) == ("done", steps)
                return stamps
            calls = [one.model_dump() for one in said.tool_calls]
            messages.append({"role": "assistant", "content": said.content, "tool_calls": calls})
            for call in said.tool_calls:
                result = await noop(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    return once


async def by_tea(url: str) -> Once:
    """`tea.run` on an open platform: registered tools, validation, gate and a journal on disk."""
    from pathlib import Path

    from tea.models.connect import connect
    from tea.models.presets import configured
    from tea.platform import Platform

    folder = Path(tempfile.mkdtemp(prefix="tea-overhead-"))
    tea = await Platform(folder, state=folder / "state").__aenter__()
    config = configured(
        "m", {"base_url": url, "model": "m", "capabilities": ["tools", "schema"], "limits": {"concurrency": 500}}
    )
    model, stamps = connect(config, lambda name: None), dict[str, list[float]]()

    class Stamped:
        """The adapter, with a note of when each question began; runs at once are not told apart."""

        async def complete(self, request: Any, config: Any, call_tool: Any) -> Any:
            stamps.setdefault(request.variables["task"], []).append(time.process_time())
            return await model.complete(request, config, call_tool)

    tea.models.add(config, Stamped())
    await tea.acp.register(AGENT)
    registered: set[str] = set()

    async def once(tools: int, steps: int, latency: int) -> list[float]:
        for name in names(tools):
            if name not in registered:
                registered.add(name)
                await tea.tcp.register(TOOL.format(name=name))
        if len(registered) == tools and not stamps:
            await asyncio.sleep(SETTLED)  # a version is remembered once it is a little older
        task = question(steps, latency)
        stamps[task] = []
        outcome = await tea.run(task, agent="stepper", model="m", tools=names(tools))
        assert (outcome.answer, outcome.cost.steps) == ("done", steps), outcome
        lines = (outcome.trace / "journal.jsonl").read_bytes().count(b"\n")
        assert lines > 5 * steps, lines
        return stamps[task]

    return once


async def by_openai_agents(url: str) -> Once:
    """openai-agents, its tracing off."""
    import openai

    library: Any = import_module("agents")
    library.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=900)
    model = library.OpenAIChatCompletionsModel(model="m", openai_client=client)
    made: dict[int, Any] = {}

    async def once(tools: int, steps: int, latency: int) -> list[float]:
        if tools not in made:
            given = [library.function_tool(one) for one in functions(tools)]
            made[tools] = library.Agent(name="a", instructions=SYSTEM, tools=given, model=model)
        result = await library.Runner.run(made[tools], question(steps, latency), max_turns=steps + 5)
        assert result.final_output == "done", result
        return []

    return once


async def by_pydantic_ai(url: str) -> Once:
    """pydantic-ai."""
    import openai

    Agent: Any = import_module("pydantic_ai").Agent
    OpenAIChatModel: Any = import_module("pydantic_ai.models.openai").OpenAIChatModel
    OpenAIProvider: Any = import_module("pydantic_ai.providers.openai").OpenAIProvider
    UsageLimits: Any = import_module("pydantic_ai.usage").UsageLimits

    client = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, timeout=900)
    model = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client))
    made: dict[int, Any] = {}

    async def once(tools: int, steps: int, latency: int) -> list[float]:
        if tools not in made:
            made[tools] = Agent(model, instructions=SYSTEM, tools=functions(tools))
        limits = UsageLimits(request_limit=steps + 5)
        result = await made[tools].run(question(steps, latency), usage_limits=limits)
        assert result.output == "done", result
        return []

    return once


async def by_langgraph(url: str) -> Once:
    """Run langgraph's tool-calling agent over langchain-openai."""
    create_agent: Any = import_module("langchain.agents").create_agent
    tool: Any = import_module("langchain_core.tools").tool
    ChatOpenAI: Any = import_module("langchain_openai").ChatOpenAI

    model = ChatOpenAI(model="m", base_url=url, api_key="none", max_retries=0, timeout=900)
    made: dict[int, Any] = {}

    async def once(tools: int, steps: int, latency: int) -> list[float]:
        if tools not in made:
            made[tools] = create_agent(model, [tool(one) for one in functions(tools)], system_prompt=SYSTEM)
        asked = {"messages": [("user", question(steps, latency))]}
        result = await made[tools].ainvoke(asked, {"recursion_limit": 4 * steps + 20})
        assert result["messages"][-1].content == "done", result
        return []

    return once


WAYS: dict[str, Callable[[str], Awaitable[Once]]] = {
    "SDK": by_sdk,
    "tea.run": by_tea,
    "openai-agents": by_openai_agents,
    "pydantic-ai": by_pydantic_ai,
    "langgraph": by_langgraph,
}


async def main(way: str, url: str) -> None:
    """Take jobs until there are no more."""
    once = await WAYS[way](url)
    while line := await asyncio.to_thread(sys.stdin.readline):
        job: dict[str, int] = json.loads(line)
        given = job["tools"], job["steps"], job["latency"]
        wall, cpu = time.perf_counter(), time.process_time()
        found = await asyncio.gather(*(once(*given) for _ in range(job["runs"])))
        took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        gaps = [after - before for before, after in zip(found[0], found[0][1:], strict=False)]
        print(json.dumps({**took, "gaps": gaps}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
