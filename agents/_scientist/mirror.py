"""The mirror of the world kept by the research environment: the results of its actions, put together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from tea import Context, merge_patch

BRIEF, WHOLE = 1_200, 6_000  # characters of a task's output that a role is shown
LATEST = 6  # messages
UNJUDGED = "Beside that a search found these passages; whether they bear on the question was not judged:"
MOST_ERROR = 200  # characters of the reason for a task's failure
MOST_PLACES = 400  # characters of the places of a source


class Mirror:
    """The world as the environment's actions told it; only they change it.

    Args:
        ctx: What the agent may reach.
        state: The whole world at the beginning.
    """

    def __init__(self, ctx: Context, state: Mapping[str, Any]) -> None:
        self._ctx = ctx
        self.state: dict[str, Any] = {**state}
        self.run = str(state["run"])

    async def act(self, action: str, **arguments: Any) -> None:
        """Act in the environment, and take over its changes.

        Raises:
            TeaError: The action failed.
        """
        response = await self._ctx.ecp.invoke(f"research#{action}", {"run": self.run, **arguments})
        self.state = merge_patch(self.state, response.unwrap()["patch"])

    def tasks(self, least: int, most: int | None = None) -> list[dict[str, Any]]:
        """Return the tasks of the levels from `least` to `most`, in their order."""
        plan = cast("dict[str, dict[str, Any]]", self.state["plan"])
        return [one for one in plan.values() if least <= one["level"] <= (one["level"] if most is None else most)]

    @property
    def outputs(self) -> bool:
        """Whether any task has an output."""
        return any(one["output"] for one in self.state["plan"].values())

    def view(self, locale: str, shown: Sequence[Mapping[str, Any]], most: int = WHOLE) -> dict[str, Any]:
        """Return the world as variables of a prompt, with the outputs of some tasks.

        Args:
            locale: Language tag of the person asking.
            shown: The tasks.
            most: Most characters of an output.
        """
        state, said = self.state, [one["text"] for one in self.unanswered()]
        names = ("objective", "evolving_objective", "current_objective", "hypothesis", "insights", "methodology")
        discoveries = [
            {"number": number, "claim": one["claim"], "tasks": one["tasks"], "confidence": one["confidence"]}
            for number, one in enumerate(state["discoveries"], 1)
        ]
        return {
            **{name: state[name] for name in names},
            "discoveries": discoveries,
            "tasks": [_shown(one, most) for one in shown],
            "suggestions": state["suggestions"],
            "datasets": [_dataset(one) for one in state["datasets"].values()],
            "said": [one for one in dict.fromkeys(said) if one != state["objective"]],
            "answers": state["clarification"].get("answers", []),
            "locale": locale,
        }

    def unanswered(self) -> list[dict[str, Any]]:
        """Return the person's messages since the last completed reply, oldest first."""
        found = list[dict[str, Any]]()
        for one in reversed(self.state["messages"]):
            if one["who"] != "person" and one["status"] == "completed":
                break
            if one["who"] == "person":
                found.append(one)
        return found[::-1][-LATEST:]


def _shown(task: Mapping[str, Any], most: int) -> dict[str, Any]:
    output, half = str(task["output"]), most // 2
    if len(output) > most:  # what was judged counts more
        output = output.partition(UNJUDGED)[0].rstrip() or output
    cut = output if len(output) <= most else f"{output[:half]}\n[...]\n{output[-half:]}"
    kept = {name: task[name] for name in ("id", "type", "objective", "artifacts")}
    return {**kept, "error": _reason(str(task["error"])), "output": cut, "sources": _sources(task["sources"])}


def _reason(error: str) -> str:
    """Return the first sentences of the reason for a failure; the rest is advice for the person."""
    if len(error) <= MOST_ERROR:
        return error
    first, end, _ = error[:MOST_ERROR].rpartition(". ")
    return f"{first}{end}".rstrip() or f"{error[:MOST_ERROR]}..."


def _sources(sources: Sequence[Mapping[str, str]]) -> list[str]:
    """Return each source once, with its places and the doubts about it, as many whole ones as there is room for."""
    places: dict[str, dict[str, None]] = {}
    for one in sources:
        found = places.setdefault(one["source"], {})
        if one.get("doubt"):
            found[f"not confirmed: {one['doubt']}"] = None
        if one.get("detail"):
            found[one["detail"]] = None
    return [f"{source} ({_first(found)})" if found else source for source, found in places.items()]


def _first(places: Iterable[str]) -> str:
    """Return the first of some places, and the number of the others."""
    shown, room, all_places = list[str](), MOST_PLACES, list(places)
    for one in all_places:
        if shown and len(one) > room:
            break
        shown.append(one[:MOST_PLACES])
        room -= len(one)
    left = len(all_places) - len(shown)
    return " | ".join([*shown, *([f"and {left} more"] if left else [])])


def _dataset(dataset: Mapping[str, str]) -> dict[str, str]:
    return {"name": dataset["name"], "about": dataset["description"] or dataset["facts"]}
