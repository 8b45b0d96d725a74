"""Parts of the conformance suite: one component of each kind with the same meaning, and a house to keep it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elsewhere import Question, answer

from tea.components.manifest import Manifest
from tea.platform import Platform
from tea.refs import plural

TOOL = '''
{top}


@tool(effects="reads", idempotent=True, network=False, metadata={{"category": "{category}"}})
async def {name}(text: str{more}) -> str:
    """{words}

    Args:
        text: Whom to greet.

    Examples:
        >>> await {name}("world")
        'hello world'
    """
    {body}
'''
ENVIRONMENT = '''
{top}


class Room(Environment):
    """{words}"""

    name = "{name}"
    metadata = {{"category": "{category}"}}
    rules = "Be kind."
    greeted: tuple[str, ...] = ()

    async def state(self) -> list[str]:
        """Return who was greeted."""
        return list(self.greeted)

    @action(effects="reads", idempotent=True, network=False)
    async def greet(self, text: str{more}) -> str:
        """Greet.

        Args:
            text: Whom to greet.
        """
        self.greeted += (text,)
        {body}
'''
AGENT = '''
{top}


class Greeter(Agent):
    """{words}"""

    name = "{name}"
    metadata = {{"category": "{category}"}}
    tools = ()

    async def run(self, ctx: Context, task: Task{more}) -> Result:
        """Greet whom the task names."""
        {body}
'''
PROMPT = """---
name: {name}
description: {words}
metadata:
  category: {category}
trainable: [system]
variables:
  text: {{type: string}}
{more}---
# system

{body}

# message

Greet {{{{ text }}}}.
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One kind, and how its greeter is written and called.

    Args:
        kind: The kind.
        template: Its source.
        says: A body that gives a greeting; `{hello}` is the word, `{kind}` the same as a name.
        optional: A further parameter that callers may leave out.
        required: One that they may not.
        operation: What invoking it means.
    """

    kind: Any
    template: str
    says: str
    optional: str
    required: str
    operation: str = ""
    top: str = ""

    def source(
        self,
        name: str = "greeter",
        *,
        hello: str = "hello",
        more: str = "",
        words: str = "Greet someone.",
        category: str = "manners",
        top: str = "",
        body: str = "",
    ) -> str:
        """A greeter's source."""
        says = self.says.replace("{hello}", hello).replace("{kind}", hello.replace(" ", "_"))
        fields = {"name": name, "more": more, "words": words, "category": category, "top": f"{self.top}\n{top}"}
        return self.template.format(body=body or says, **fields).lstrip()

    def arguments(self, text: str = "world") -> dict[str, Any]:
        """The arguments of a call."""
        return {"task": {"text": text}} if self.kind == "agent" else {"text": text}

    def ref(self, name: str = "greeter", selector: str = "") -> str:
        """The invoked ref."""
        return f"{name}{selector}" + (f"#{self.operation}" if self.kind == "environment" else "")


DOCUMENT = (
    '{{"name":"{name}","description":"{words}","evolvable":true,"metadata":{{"category":"{category}"}},{body}{more}}}'
)
DOCUMENTS = [
    Case(kind=kind, template=DOCUMENT, says=says, optional="", required="")
    for kind, says in (
        ("model", '"provider":"openai_chat","model":"{hello}"'),
        ("memory", '"scope":"agent","limit":7,"kinds":["{kind}"]'),
        ("solution", '"task":"Greet.","content":["{hello}"]'),
    )
]
CASES = [
    Case(
        kind="tool",
        template=TOOL,
        top="from tea import tool",
        says='return "{hello} " + text',
        optional=", loud: bool = False",
        required=", loud: bool",
        operation="call",
    ),
    Case(
        kind="environment",
        template=ENVIRONMENT,
        top="from tea import Environment, action",
        says='return "{hello} " + text',
        optional=", loud: bool = False",
        required=", loud: bool",
        operation="greet",
    ),
    Case(
        kind="agent",
        template=AGENT,
        top="from tea import Agent, Context, Result, Task",
        says='return Result(answer="{hello} " + task.text)',
        optional=", loud: bool = False",
        required=", loud: bool",
        operation="run",
    ),
    Case(
        kind="prompt",
        template=PROMPT,
        says="Say {hello}.",
        optional="  loud: {type: boolean, default: false}\n",
        required="  loud: {type: boolean}\n",
    ),
]


class House:
    """A platform and its questions; every one is put to another process again."""

    def __init__(self, platform: Platform, case: Case, folder: Path) -> None:
        self.platform, self.case, self.folder = platform, case, folder
        self.asked: dict[Question, None] = {}

    @property
    def door(self) -> Any:
        """The protocol's server, or the library itself without one."""
        servers = {"tool": self.platform.tcp, "environment": self.platform.ecp, "agent": self.platform.acp}
        return servers.get(self.case.kind, self.platform.libraries[self.case.kind])

    async def ask(self, *question: str) -> Any:
        """Ask for facts in every process from now on; see `elsewhere.answer`."""
        self.asked[question] = None
        return await answer(self.platform, self.case.kind, question)

    async def invoke(self, selector: str = "", text: str = "world", name: str = "greeter") -> Any:
        """Call it, in this process and later in another."""
        return await self.ask("invoke", self.case.ref(name, selector), json.dumps(self.case.arguments(text)))

    async def register(self, *names: str, **options: Any) -> list[Manifest]:
        """Register greeters."""
        return [await self.door.register(self.case.source(name, **options)) for name in names or ("greeter",)]

    def files(self) -> dict[str, bytes]:
        """Every file of the registry and of the operator's state, with its content."""
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def versions(self, name: str = "greeter") -> Path:
        """The folder of a component's version files."""
        return self.folder / "home" / "registry" / plural(self.case.kind) / name / "versions"

    def distrust(self) -> None:
        """Empty the operator's list of trusted digests."""
        (self.folder / "state" / "trusted").write_text("")
