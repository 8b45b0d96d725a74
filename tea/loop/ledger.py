"""Ledger: the facts and the plan of one task, kept outside the conversation to survive every fold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from tea.errors import BadArguments
from tea.loop.fields import Fields
from tea.types import Fact, JsonObject, JsonValue

NOTE, PLAN, DRAFT, READ_RESULT, FIND_TOOLS = "note", "plan", "draft", "read_result", "find_tools"
MOST_FACTS = 100
MOST_FACT = 2_000
MOST_ITEMS = 50
MOST_ITEM = 300
STALL = 3

State = Literal["open", "done", "failed"]
_STATES: tuple[str, ...] = get_args(State)
_MARKS: Mapping[str, str] = {"open": "[ ]", "done": "[x]", "failed": "[!]"}
_SAME: Mapping[str, State] = {"completed": "done", "complete": "done", "finished": "done", "x": "done"}

FUNCTIONS: tuple[JsonObject, ...] = (
    {
        "name": NOTE,
        "description": "Keep a fact for later steps, beside other calls.",
        "parameters": {
            "type": "object",
            "properties": {
                "fact": {"type": "string"},
                "source": {"type": "string", "description": "File, address or call."},
            },
            "required": ["fact"],
        },
    },
    {
        "name": PLAN,
        "description": "Write or replace the plan of a task of several parts, beside other calls.",
        "parameters": {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"item": {"type": "string"}, "state": {"enum": list(_STATES)}},
                        "required": ["item"],
                    },
                }
            },
            "required": ["items"],
        },
    },
    {
        "name": DRAFT,
        "description": "Keep fields of the answer as found, beside other calls; `done` adds them. Null gives one up.",
        "parameters": {"type": "object", "properties": {"fields": {"type": "object"}}, "required": ["fields"]},
    },
    {
        "name": READ_RESULT,
        "description": "Read a result again, or what was cut of it.",
        "parameters": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Such as c3_1."},
                "start": {"type": "integer", "description": "Characters to skip."},
            },
            "required": ["id"],
        },
    },
    {
        "name": FIND_TOOLS,
        "description": "Add functions to these by what they should do.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One part of a plan."""

    item: str
    state: State = "open"


@dataclass(slots=True)
class Ledger:
    """The facts and the plan of one task, and the number of steps without progress.

    Args:
        room: Most bytes of the facts, and of the plan.
        facts: What is known, the oldest first.
        plan: The parts of the task.
        memory: What a model without functions wrote down for its later steps.
        goal: What it wanted to do next.
        stalled: Steps in a row that brought nothing new.
        fields: The fields of the wanted answer, None where it has none.
    """

    room: int = MOST_FACTS * MOST_FACT
    facts: list[Fact] = field(default_factory=list[Fact])
    plan: list[Item] = field(default_factory=list[Item])
    memory: str = ""
    goal: str = ""
    stalled: int = 0
    fields: Fields | None = None

    def note(self, arguments: JsonObject) -> JsonValue:
        """Add a fact; a known one is not added twice.

        Raises:
            BadArguments: It holds no words, or too many.
        """
        fact, source = arguments.get("fact"), arguments.get("source") or ""
        if not isinstance(fact, str) or not fact.strip() or not isinstance(source, str):
            raise BadArguments("A note needs a fact in words.", fix="give `fact`, and the `source` it comes from.")
        if len(self.facts) >= MOST_FACTS or len(fact) + len(source) > MOST_FACT:
            raise BadArguments(
                f"A ledger holds {MOST_FACTS} facts of at most {MOST_FACT} characters.", fix="note less, and shorter."
            )
        one = Fact(fact=fact.strip(), source=source.strip())
        if one in self.facts:
            return "noted"
        if self._size(*map(_fact_text, self.facts), fact) > self.room:
            problem = f"The ledger is full: it holds {len(self.facts)} facts, and has room for {self.room:,} bytes."
            raise BadArguments(problem, fix="go on with what is noted, or end.")
        self.facts.append(one)
        return "noted"

    def replace_plan(self, arguments: JsonObject) -> JsonValue:
        """Replace the plan.

        Raises:
            BadArguments: It is not a list of items, each with words and a state.
        """
        given = arguments.get("items")
        if not isinstance(given, list) or len(cast("list[Any]", given)) > MOST_ITEMS:
            fix = '"items" is a list such as [{"item": "count the rows", "state": "open"}].'
            raise BadArguments(f"A plan is a list of at most {MOST_ITEMS} items.", fix=fix)
        items = [_item(one) for one in cast("list[Any]", given)]
        if self._size(*(one.item for one in items)) > self.room:
            raise BadArguments(f"A plan has at most {self.room:,} bytes.", fix="use fewer words, or larger parts.")
        self.plan = items
        return f"{len(self.open_items)} of {len(self.plan)} items are open"

    def draft(self, arguments: JsonObject) -> JsonValue:
        """Store fields of the answer.

        Raises:
            BadArguments: The answer has no such field, or a value does not fit.
        """
        if self.fields is None:
            raise BadArguments("The answer has no fields.", fix="give it whole, with `done`.")
        return self.fields.keep(arguments)

    @staticmethod
    def _size(*lines: str) -> int:
        return sum(len(line.encode()) for line in lines)

    @property
    def open_items(self) -> list[str]:
        """The plan's open items."""
        return [one.item for one in self.plan if one.state == "open"]

    def progress(self, *, new: bool) -> bool:
        """Count a step, and return whether it is time for another strategy."""
        self.stalled = 0 if new else self.stalled + 1
        return self.stalled > 0 and self.stalled % STALL == 0

    def text(self, *, plan: bool = True) -> str:
        """Return facts and plan as text for the next question; empty without any.

        Args:
            plan: Whether the plan stands in it: at the last question nothing of it can be done any more.
        """
        blocks: list[str] = []
        if self.facts:
            blocks.append("Facts noted:\n" + "\n".join(map(_fact_text, self.facts)))
        if self.plan and plan:
            blocks.append("Plan:\n" + "\n".join(f"{_MARKS[one.state]} {one.item}" for one in self.plan))
        if self.fields is not None and (status := self.fields.text()):
            blocks.append(status)
        if self.memory:
            blocks.append(f"Remembered: {self.memory}")
        return "\n".join(blocks)

    def words(self) -> tuple[str, str]:
        """Return the memory and the next goal of a step's record (paper, Appendix H)."""
        facts = "; ".join(one.fact for one in self.facts[-5:])
        return self.memory or facts[:MOST_FACT], self.goal or next(iter(self.open_items), "")


def facts_text(facts: Iterable[Fact]) -> list[str]:
    """Return facts as lines."""
    return [_fact_text(one).removeprefix("- ") for one in facts]


def _fact_text(fact: Fact) -> str:
    where = f" ({fact.source})" if fact.source else ""
    quote = f': "{fact.quote}"' if fact.quote and fact.quote not in fact.fact else ""
    return f"- {fact.fact}{where}{quote}"


def _item(value: object) -> Item:
    """Return a plan's item, given as text or with its state.

    Raises:
        BadArguments: It is neither.
    """
    if isinstance(value, str):
        value = {"item": value}
    if not isinstance(value, Mapping):
        raise BadArguments("An item of a plan is not words.", fix='write {"item": "...", "state": "open"}.')
    one = cast("Mapping[str, Any]", value)
    words = next((one[name] for name in ("item", "text", "content", "task") if isinstance(one.get(name), str)), "")
    state = str(one.get("state") or one.get("status") or "open").lower()
    found = cast(State, state) if state in _STATES else _SAME.get(state, "open")
    if not words.strip():
        raise BadArguments("An item of a plan has no words.", fix='write {"item": "...", "state": "open"}.')
    return Item(item=words.strip()[:MOST_ITEM], state=found)
