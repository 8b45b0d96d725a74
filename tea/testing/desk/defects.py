"""Defects: sixteen faults of six kinds planted into the desk, each with the tasks to show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tea.evaluate.plan import Plan
from tea.evaluate.task_set import TaskSet
from tea.testing.desk.clerk import AGENT, PROMPT, RULES, SEEKER

if TYPE_CHECKING:
    from tea.platform import Platform

TRAIN, GATE = 6, 20
_SYLLABLES = ("ba", "do", "fi", "ku", "le", "mo", "nu", "pa", "re", "si", "ta", "vo")
_TOOL = '''"""The tool {name}."""

from tea import tool


@tool(effects="reads", network=False)
async def {name}({parameter}) -> dict[str, {type}]:
    """{description}

    Args:
        {argument}
    """
{code}
'''
Row = tuple[str, str]  # a task and its answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A planted fault.

    Args:
        name: What it is called.
        kind: Which of the six kinds it is of.
        ref: The component that holds it, `kind:name`.
        cause: Part of the lines of a trace without which the cause cannot be known.
        row: A task of number N that shows it, with its answer.
        other: A task that works, and has to go on working.
        rules: The rules of the prompt.
        tools: Sources of the tools.
        memory: The memory component of the clerk.
        solution: A solution that tasks are offered.
        steps: Most steps of the agent that looks things up in the loop; None for the clerk.
        questions: How often the clerk asks the model.
        declared: Whether that agent is a class of its own, and no composition of tools.
    """

    name: str
    kind: str
    ref: str
    cause: str
    row: Callable[[int], Row]
    other: Callable[[int], Row] | None = None
    rules: Sequence[str] = RULES
    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    memory: Mapping[str, Any] | None = None
    solution: Mapping[str, Any] | None = None
    steps: int | None = None
    questions: int = 4
    declared: bool = False

    @property
    def plan(self) -> Plan:
        """The agent for the tasks."""
        use = {"solution:rate": "1.0.0"} if self.solution else {}
        return Plan(agent="clerk" if self.steps is None else "seeker", use=use)

    def tasks(self, train: int = TRAIN, gate: int = GATE, every: int = 2) -> TaskSet:
        """Return tasks with the defect and, if there are others, some without it; each sort has a tag then.

        Args:
            train: How many a proposer sees.
            gate: How many decide.
            every: Each task of this number is one of the others.
        """
        made = [
            (*self.other(number), ["works"]) if self.other and number % every == 1
            else (*self.row(number), ["fails"] if self.other else [])
            for number in range(train + gate)
        ]  # fmt: skip
        return TaskSet.of(
            [
                {"task": task, "expected": answer, "scorer": "exact", "tags": tags, "id": f"{number:03}",
                 "split": "train" if number < train else "gate"}
                for number, (task, answer, tags) in enumerate(made)
            ],
            name=self.name,
        )  # fmt: skip

    async def plant(self, platform: Platform) -> None:
        """Register the desk with the fault in it, as its operator would."""
        for source in self.tools.values():
            await platform.tcp.register(source)
        await platform.libraries["prompt"].register(PROMPT.format(rules="\n".join(self.rules)))
        if self.memory is not None:
            await platform.libraries["memory"].register({"name": "notes", **self.memory})
        if self.solution is not None:
            await platform.libraries["solution"].register({"name": "rate", **self.solution})
        if self.steps is not None and self.declared:
            await platform.acp.register(SEEKER.format(tools=(*self.tools,), steps=self.steps))
        elif self.steps is not None:
            await platform.transform("T2A", [*self.tools], name="seeker", max_steps=self.steps)
        memory = 'memory = "notes"' if self.memory is not None else ""
        await platform.acp.register(AGENT.format(tools=(*self.tools,), memory=memory, questions=self.questions))


def word(number: int) -> str:
    """Return a made-up word, another one for each number."""
    return "".join(_SYLLABLES[(number // size + 5 * place) % 12] for place, size in enumerate((1, 12, 144)))


def price(item: str) -> float:
    """Return the price of an item."""
    return sum(map(ord, item)) % 97 / 2


def weight(item: str) -> int:
    """Return the weight of an item."""
    return sum(map(ord, item)) % 41 + 1


def stock(item: str) -> int:
    """Return how many of an item there are."""
    return sum(map(ord, item)) % 23 + 1


def day(item: str) -> str:
    """Return when an item arrives."""
    return f"2026-{sum(map(ord, item)) % 12 + 1:02}-{sum(map(ord, item)) % 28 + 1:02}"


def _tool(name: str, noun: str, type: str, value: str, *, told: str = "", code: str = "") -> str:
    """Return the source of a tool for one fact of an item."""
    body = f'{code}    return {{"{noun}": {value}}}'
    return _TOOL.format(name=name, parameter="item: str", type=type, argument="item: Its name.",
                        description=f"Tell the {told or noun} of an item.", code=body)  # fmt: skip


_SUM = "sum(map(ord, item))"
CATALOGUE = _tool("catalogue", "price", "float", f"{_SUM} % 97 / 2")
SCALES = _tool("scales", "weight", "int", f"{_SUM} % 41 + 1")
WAREHOUSE = _tool("warehouse", "stock", "int", f"{_SUM} % 23 + 1")
CALENDAR = _tool("calendar", "arrival", "str", f'f"2026-{{{_SUM} % 12 + 1:02}}-{{{_SUM} % 28 + 1:02}}"')


def _adder(numbers: str) -> str:
    return _TOOL.format(
        name="adder", parameter="numbers: list[int]", type="int", description="Tell the sum of numbers.",
        argument="numbers: The numbers.", code=f'    return {{"sum": sum({numbers})}}',
    )  # fmt: skip


def _router(unit: str) -> str:
    return _TOOL.format(
        name="router", parameter="distance: float", type="float",
        description=f"Tell the minutes that a distance in {unit} takes.", argument="distance: The distance.",
        code='    return {"minutes": round(3 * distance), "km": distance}',
    )  # fmt: skip


def _asks(noun: str, value: Callable[[str], object], item: Callable[[int], str] = word) -> Callable[[int], Row]:
    return lambda number: (f"What is the {noun} of {item(number)}?", str(value(item(number))))


def _says(form: Callable[[str], str]) -> Callable[[int], Row]:
    return lambda number: (f"Say the word {word(number)}.", form(word(number)))


def _adds(number: int) -> Row:
    numbers = [number + 2, 3 * number + 5, 7 * number + 11]
    return f"Add {', '.join(map(str, numbers))}.", str(sum(numbers))


def _likes(number: int) -> Row:
    names = [word(number + shift) for shift in (0, 40, 80, 120)]
    told = "\n".join(f"{name} likes {word(7 * number + place + 1)}." for place, name in enumerate(names))
    return f"{told}\nWhat does {names[0]} like?", word(7 * number + 1)


def _stocks(number: int) -> Row:
    items = [word(number), word(number + 30), word(number + 60)]
    return f"Add {', '.join(f'the stock of {one}' for one in items)}.", str(sum(map(stock, items)))


def _pays(rate: int) -> Callable[[int], Row]:
    return lambda number: (f"Pay {number + 3} crowns in coins, by the present rate.", str(rate * (number + 3)))


def _turned(item: str) -> str:
    return ".".join(reversed(day(item).split("-")))


def _without(what: str) -> tuple[str, ...]:
    return tuple(one for one in RULES if what not in one)


_CAPITALS = ("Write words in capitals.", "Write kg behind weights.")
_PRICES = _asks("price", lambda item: f"{price(item):.2f}")
_BOTH = {"catalogue": _tool("catalogue", "price", "float", f"{_SUM} % 97 / 2", told="stock"), "warehouse": WAREHOUSE}
_PROMPT, _TOLD, _CODE = "prompt rule wrong or missing", "tool description misleading", "tool code with a bug"
_AGENT, _MEMORY, _SOLUTION = "agent with a wrong limit", "memory that drops facts", "solution stale"
_WEIGHTS = _asks("weight", lambda item: f"{weight(item)} kg")
_SOLVED = "Pay 1 crowns in coins, by the present rate."

DEFECTS: Sequence[Defect] = (
    Defect(name="small letters", kind=_PROMPT, ref="prompt:desk", cause="expected:", row=_says(str.upper),
           other=_PRICES, tools={"catalogue": CATALOGUE}),
    Defect(name="decimals missing", kind=_PROMPT, ref="prompt:desk", cause="expected:", row=_PRICES,
           other=lambda number: (_says(str.upper) if number % 8 == 1 else _WEIGHTS)(number), rules=_CAPITALS,
           tools={"catalogue": CATALOGUE, "scales": SCALES}),
    Defect(name="unit missing", kind=_PROMPT, ref="prompt:desk", cause="expected:",
           row=_WEIGHTS, other=_PRICES, rules=_without("kg"),
           tools={"scales": SCALES, "catalogue": CATALOGUE}),
    Defect(name="order of dates", kind=_PROMPT, ref="prompt:desk", cause="expected:", row=_asks("arrival", _turned),
           other=_PRICES, rules=(*RULES, "Write dates as year-month-day."),
           tools={"calendar": CALENDAR, "catalogue": CATALOGUE}),
    Defect(name="price called stock", kind=_TOLD, ref="tool:catalogue", cause="catalogue(",
           row=_asks("stock", stock), tools=_BOTH),
    Defect(name="kilometres called miles", kind=_TOLD, ref="tool:router", cause='"km":',
           tools={"router": _router("miles")},
           row=lambda number: (f"How many minutes are {8 * (number + 1)} km?", str(24 * (number + 1)))),
    Defect(name="first number left out", kind=_CODE, ref="tool:adder", cause="expected:", row=_adds,
           tools={"adder": _adder("numbers[1:]")}),
    Defect(name="names of one word", kind=_CODE, ref="tool:warehouse", cause="not enough values",
           row=_asks("stock", stock), tools={"warehouse": _tool("warehouse", "stock", "int", f"{_SUM} % 23 + 1",
                                     code="    first, second = item.split()\n")}),
    Defect(name="two steps for three things", kind=_AGENT, ref="agent:seeker", cause="reason:", row=_stocks,
           tools={"warehouse": WAREHOUSE}, steps=2),
    Defect(name="one step for three things", kind=_AGENT, ref="agent:seeker", cause="reason:", row=_stocks,
           tools={"warehouse": WAREHOUSE}, steps=1),
    Defect(name="class with one question", kind=_AGENT, ref="agent:clerk", cause="reason:", row=_PRICES,
           tools={"catalogue": CATALOGUE}, questions=1),
    Defect(name="class with two steps", kind=_AGENT, ref="agent:seeker", cause="reason:", row=_stocks,
           tools={"warehouse": WAREHOUSE}, steps=2, declared=True),
    Defect(name="facts are not kept", kind=_MEMORY, ref="memory:notes", cause="is recalled", row=_likes,
           memory={"kinds": ["step"]}),
    Defect(name="one fact is recalled", kind=_MEMORY, ref="memory:notes", cause="is recalled", row=_likes,
           memory={"limit": 1}),
    Defect(name="old rate", kind=_SOLUTION, ref="solution:rate", cause="expected:", row=_pays(4),
           solution={"task": _SOLVED, "content": 3}, tools={"warehouse": WAREHOUSE}, steps=5),
    Defect(name="rate turned over", kind=_SOLUTION, ref="solution:rate", cause="task:", row=_pays(5),
           solution={"task": _SOLVED, "content": 1}, tools={"warehouse": WAREHOUSE}, steps=5),
)  # fmt: skip


def defect(name: str) -> Defect:
    """Return a defect by its name.

    Raises:
        KeyError: There is none of that name.
    """
    return {one.name: one for one in DEFECTS}[name]
