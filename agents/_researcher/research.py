"""Research: the knowledge about one task during the work, and its result at any moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tea import Context, Message, Result, Task

from .evidence import Claim, Store
from .gathering import Gathering
from .sources import Source, tokens

MOST_GAPS = 20
MOST_TOLD = 3  # claims left out that are named
MOST_EVIDENCE = 40
MOST_MATERIAL = 40_000  # characters of new sources that are judged at once
MOST_OF_ONE = 6_000
SHARE = 0.4  # of what the model reads, for new sources
CHARACTERS_IN_TOKEN = 3
MARK = 8  # hex digits
SINCE = ("day", "week", "month", "year")  # the last one of which a search may be limited to
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


@dataclass(slots=True, kw_only=True)
class Plan:
    """The needs of a task; see the prompt `researcher`."""

    kind: str
    question: str
    queries: list[str]
    needs: list[str] = field(default_factory=list[str])
    since: str = ""
    entity: str = ""
    columns: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    key: list[str] = field(default_factory=list[str])
    target: int | None = None
    beside: list[str] = field(default_factory=list[str])

    @property
    def uncovered(self) -> list[str]:
        """The parts of the question outside of a list: the named ones, and needs without a word of its columns."""
        rows = [self.entity, *self.key, *(word for one in self.columns for word in one.values())]
        covered = [word for one in rows for word in _stems(one)]
        needs = [one for one in self.needs if (words := _stems(one)) and not any(word in covered for word in words)]
        return list(dict.fromkeys([*self.beside, *needs] if self.columns else self.beside))

    @classmethod
    def of(cls, output: Mapping[str, Any]) -> "Plan":
        """Return the plan written by a model; a year or another odd time limits no search."""
        found = cls(**{name: output[name] for name in cls.__dataclass_fields__ if name in output})
        since = found.since.strip().casefold()
        return replace(found, since=since if since in SINCE else "")


_STEM = 4  # first letters that forms of a word share


def _stems(text: str) -> list[str]:
    return [one[:_STEM] for one in tokens(text) if len(one) >= _STEM]


@dataclass(slots=True, kw_only=True)
class Research:
    """The work on one task.

    Args:
        ctx: What the agent may reach.
        task: What was asked.
        mark: Stands in the marks around words of others, which cannot know it.
        today: The date.
        room: Most characters of new sources in one question.
        pictures: The pictures of the task, for a model that sees.
        gathering: What was searched and read.
        store: The evidence.
        missing: What is still not known.
        wrong: What the answer or the report says and the evidence does not.
        partial: Why the result is incomplete, empty where it is not.
        question: The task as one question, understood alone; empty before it is planned.
    """

    ctx: Context
    task: Task
    mark: str
    today: str
    room: int
    pictures: tuple[Message, ...]
    gathering: Gathering
    store: Store = field(default_factory=Store)
    missing: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    partial: str = ""
    question: str = ""

    @classmethod
    async def begin(cls, ctx: Context, task: Task, model: Mapping[str, Any]) -> "Research":
        """Return the work on a task before its first question."""
        room = min(MOST_MATERIAL, int(model["context"] * SHARE) * CHARACTERS_IN_TOKEN)
        pictures = await _pictures(ctx, task) if "vision" in model.get("senses", ()) else ()
        return cls(
            ctx=ctx, task=task, mark=(await ctx.new_id())[:MARK], today=await ctx.today(), room=room, pictures=pictures,
            gathering=Gathering(ctx=ctx),
        )  # fmt: skip

    def material(self, sources: list[Source]) -> list[dict[str, Any]]:
        """Return sources as shown to a model: read pages first, in the order of their score, cut to fit."""
        order = sorted(sources, key=lambda one: (one.state != "read", -one.score, one.number))
        left, shown = self.room, list[dict[str, Any]]()
        for one in order:
            if left <= 0 or one.state == "failed":
                continue
            shown.append(one.shown(min(MOST_OF_ONE, left)))
            left -= len(shown[-1]["text"])
        return shown

    @property
    def conflicts(self) -> list[str]:
        """The contradictions, one line each."""
        return [self.store.told(one) for one in self.store.conflicts]

    @property
    def gaps(self) -> tuple[str, ...]:
        """Everything wrong, missing, contradictory, or impossible to search, read or confirm; errors come first."""
        why, unheld = [self.partial] * bool(self.partial), [self.unheld] * bool(self.unheld)
        doubts = [*self.conflicts, *self.store.doubtful, *unheld]
        return tuple([*self.wrong, *why, *self.missing, *doubts, *self.gathering.problems][:MOST_GAPS])

    @property
    def unheld(self) -> str:
        """How many claims were left out and the first of them, empty for none."""
        thrown = self.store.rejected
        told = "; ".join(one["claim"].rstrip(".") for one in thrown[:MOST_TOLD])
        count = f"{len(thrown)} claim{'s' * (len(thrown) > 1)} left out, not quoted as in the source"
        return f"{count}: {told}." if thrown else ""

    def result(self, answer: Any, claims: list[Claim], report: str | None = None) -> Result:
        """Return an answer with its evidence, each claim counted once."""
        evidence = tuple(one.evidence() for one in claims[:MOST_EVIDENCE])
        return Result(answer=answer, evidence=evidence, report=report, gaps=self.gaps, partial=bool(self.partial))

    def without_answer(self, reason: str, answer: Any = "", *, exhausted: bool = False) -> Result:
        """Return the result without an answer: the reason, and all the evidence."""
        evidence = tuple(one.evidence() for one in self.store.claims[:MOST_EVIDENCE])
        return Result(
            ok=False, answer=answer, reason=reason, evidence=evidence, gaps=self.gaps, partial=bool(self.partial),
            exhausted=exhausted,
        )  # fmt: skip

    def checkpoint(self, round: int, stage: str, **more: Any) -> None:
        """Record the knowledge after a stage; a replay, a resume and a fork come to the same."""
        told = {
            "agent": self.ctx.agent, "round": round, "stage": stage, "queries": list(self.gathering.queries),
            "sources": [_told(one) for one in self.gathering.sources.all()], "missing": list(self.missing),
            "partial": self.partial, **self.store.record(), **more,
        }  # fmt: skip
        self.ctx.note("research", told)


def _told(source: Source) -> dict[str, Any]:
    told = {"number": source.number, "url": source.url, "date": source.date, "place": source.place}
    return {**told, "state": source.state, "score": source.score, "problem": source.problem}


async def _pictures(ctx: Context, task: Task) -> tuple[Message, ...]:
    names = [name for name in task.files if name.lower().endswith(PICTURES)]
    found = [one for one in await ctx.media(names) if not one["problem"]] if names else []
    if not found:
        return ()
    words = {"type": "text", "text": f"Files of the task, in this order: {', '.join(one['name'] for one in found)}."}
    parts = [{"type": one["type"], "digest": one["digest"], "media_type": one["media_type"]} for one in found]
    return (Message.model_validate({"role": "user", "content": [words, *parts]}),)
