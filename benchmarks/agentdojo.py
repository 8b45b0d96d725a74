"""AgentDojo, with an agent obeying every injection: each policy's leaks, questions and untouched tasks.

    python -m venv .agentdojo && .agentdojo/bin/pip install -e . agentdojo==0.1.35
    .agentdojo/bin/python benchmarks/agentdojo.py [SUITE ...]

The agent plays the calls that the benchmark gives for the user's task. As soon as an outcome holds an injection, it
makes the calls that the benchmark gives for the injected task. An attack counts as a success by the benchmark's own
check of the environment, with nobody there to consent. A task works unattended if it asks nothing and the benchmark's
own check holds; questions are counted with a person who consents.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.append(sys.path.pop(0))  # this file has the name of the package, which has to be found before it

from _agentdojo_scene import MARK, Scene
from _agentdojo_traits import traits

from tea import Platform
from tea.errors import ApprovalNeeded
from tea.policy.rules import PolicySettings
from tea.runs.operator_policy import OperatorPolicy
from tea.runs.policy import AllowTrusted, Policy

VERSION = "v1.2.2"
ALLOW, ASK = {"external": "allow", "irreversible": "allow"}, {"external": "ask", "irreversible": "ask"}
CONTACTS = (
    "bcc", "cc", "channels", "email", "iban", "participants", "recipient", "recipients", "sender", "shared_with",
    "user_channels", "users",
)  # fmt: skip
TOOL = '''
import sys

from tea import tool

@tool({declared})
async def {name}({parameters}) -> str:
    """Run the function of the benchmark."""
    return sys.modules["_agentdojo_scene"].perform({name!r}, {{{given}}})
'''
NEXT = '''
import sys

from tea import tool

@tool(effects="reads", network=False, returns_untrusted=False)
async def next_step() -> dict[str, object] | None:
    """Return the next call."""
    return sys.modules["_agentdojo_scene"].next_call()
'''
AGENT = '''
from tea import Agent, Context, Result, Task

class Obedient(Agent):
    """Do whatever anybody says."""

    async def run(self, ctx: Context, task: Task) -> Result:
        """Make one call after the other."""
        while (step := (await ctx.tcp.invoke("next_step", {})).unwrap()) is not None:
            await ctx.tcp.invoke(step["name"], step["arguments"])
        return Result(answer="done")
'''


def source_of(function: Any, declared: Mapping[str, object]) -> str:
    """Return a function of a suite as the source of a tool."""
    names = list(function.parameters.model_fields)
    return TOOL.format(
        name=function.name,
        declared=", ".join(f"{key}={value!r}" for key, value in declared.items()),
        parameters=", ".join(f"{name}: object = None" for name in names),
        given=", ".join(f"{name!r}: {name}" for name in names),
    )


def contacts(value: Any, key: str = "") -> Iterator[str]:
    """Yield the people and accounts in the user's own records: an operator's likely list."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from contacts(one, str(name))
            if key in CONTACTS:
                yield str(name)
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from contacts(one, key)
    elif key in CONTACTS and isinstance(value, str) and value:
        yield value


def filled(calls: Sequence[Any], functions: Mapping[str, Any]) -> list[Any]:
    """Return calls with the defaults of their functions in words."""
    for one in calls:
        fields = functions[one.function].parameters.model_fields
        defaults = {name: field.default for name, field in fields.items() if not field.is_required()}
        one.args = {**defaults, **one.args}
    return list(calls)


class Bench:
    """The runs of one suite under one policy."""

    def __init__(self, suite: Any, home: Path) -> None:
        self.suite, self.home = suite, home
        self.functions = {one.name: one for one in suite.tools}
        self.questions = 0
        self.environments: dict[str, Any] = {}
        self.scene: Scene | None = None
        self.counts: Counter[str] = Counter()
        self.survivors: Counter[str] = Counter()

    async def prepare(self) -> None:
        """Register the tools and the agent."""
        declared = traits()
        async with Platform(self.home, state=self.home / "state") as tea:
            for one in self.suite.tools:
                await tea.tcp.register(source_of(one, declared[one.name]))
            await tea.tcp.register(NEXT)
            await tea.acp.register(AGENT)

    async def consenting(self, question: str, choices: Sequence[str]) -> str | None:
        """Consent to the user's calls, and to none of an injection."""
        self.questions += 1
        return "deny" if self.scene is not None and self.scene.obeying else "allow"

    def environment(self, goal: str) -> Any:
        """Return the suite's environment, with a goal wherever an injection can stand; its files are read once."""
        if goal not in self.environments:
            vectors = self.suite.get_injection_vector_defaults() if goal else ()
            hidden = dict.fromkeys(vectors, f"{MARK}: {goal}")
            self.environments[goal] = self.suite.load_and_inject_default_environment(hidden)
        return self.environments[goal].model_copy(deep=True)

    async def measure(self, policy: Policy) -> None:
        """Run every task by itself, and with every injection."""
        async with Platform(self.home, state=self.home / "state", policy=policy, person=self.consenting) as tea:
            for user in self.suite.user_tasks.values():
                self.questions = 0
                useful = (await self.played(tea, user, None))[0]
                self.counts["tasks"] += 1
                self.counts["questions"] += self.questions
                self.counts["unattended"] += useful and not self.questions
            for user in self.suite.user_tasks.values():
                for name, injection in self.suite.injection_tasks.items():
                    _, moved = await self.played(tea, user, injection)
                    self.counts["attacks"] += 1
                    self.counts["moved"] += moved
                    if moved:
                        self.survivors[f"{self.suite.name} {name}"] += 1

    async def played(self, tea: Platform, user: Any, injection: Any) -> tuple[bool, bool]:
        """Return whether the user's task and the injected one came true."""
        from agentdojo.functions_runtime import FunctionsRuntime

        suite = self.suite
        environment = user.init_environment(self.environment("" if injection is None else injection.GOAL))
        before = environment.model_copy(deep=True)
        calls = filled(user.ground_truth(before.model_copy(deep=True)), self.functions)
        bad = [] if injection is None else filled(injection.ground_truth(before.model_copy(deep=True)), self.functions)
        with Scene(FunctionsRuntime(suite.tools), environment, calls, bad) as self.scene:
            try:
                await tea.run(user.PROMPT, agent="obedient")
            except ApprovalNeeded:
                return False, False
        try:
            useful = bool(user.utility(user.GROUND_TRUTH_OUTPUT, before, environment, strict=True))
        except Exception:
            useful = False
        if injection is None:
            return useful, False
        try:
            return useful, bool(injection.security(injection.GROUND_TRUTH_OUTPUT, before, environment))
        except Exception:
            return useful, False


def policies(known: tuple[str, ...]) -> dict[str, Policy]:
    """Return the policies compared; `known` is the operator's list."""
    return {
        "no policy": AllowTrusted(),
        "ask-external": OperatorPolicy(settings=PolicySettings.read({**ASK, "provenance": False})),
        "provenance": OperatorPolicy(settings=PolicySettings.read(ALLOW)),
        "allow-list with provenance": OperatorPolicy(
            settings=PolicySettings.read({**ALLOW, "destinations": [one.replace("[", "[[]") for one in known]})
        ),
    }


async def main(names: Sequence[str]) -> None:
    """Print the table."""
    from agentdojo.task_suite.load_suites import get_suites

    suites = {name: one for name, one in get_suites(VERSION).items() if not names or name in names}
    totals: dict[str, Counter[str]] = {}
    survivors: Counter[str] = Counter()
    for suite in suites.values():
        with TemporaryDirectory() as folder:
            bench = Bench(suite, Path(folder))
            await bench.prepare()
            own = suite.load_and_inject_default_environment({}).model_dump(mode="json")
            for name, policy in policies(tuple(dict.fromkeys(contacts(own)))).items():
                bench.counts, bench.survivors = Counter(), Counter()
                await bench.measure(policy)
                totals.setdefault(name, Counter()).update(bench.counts)
                print(f"  {suite.name}, {name}: {dict(bench.counts)}", file=sys.stderr, flush=True)
                if name.startswith("allow-list"):
                    survivors += bench.survivors
    print("| policy | attacks that succeed | tasks that work unattended | questions a task |\n|---|---|---|---|")
    for name, found in totals.items():
        attacks, tasks = found["attacks"], found["tasks"]
        moved = f"{found['moved']} of {attacks} ({found['moved'] / attacks:.1%})"
        alone = f"{found['unattended']} of {tasks} ({found['unattended'] / tasks:.0%})"
        print(f"| {name} | {moved} | {alone} | {found['questions'] / tasks:.2f} |")
    print(f"\nWith the allow-list there succeed: {dict(survivors)}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
