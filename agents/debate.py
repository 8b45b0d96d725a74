"""The debate: invited experts state, rebut and change positions in rounds, until a judge decides.

Source: the paper, Appendix G.2; design/033-attempts.md.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tea import (
    Agent,
    BadOutput,
    Context,
    Evidence,
    Result,
    Said,
    Task,
    TeaError,
    budget_share,
    clipped,
    consult,
    conversation,
    same,
)

ROUNDS, MOST_ROUNDS = 3, 10
MOST_EXPERTS, MOST_CANDIDATES = 4, 12
MOST_SAID, MOST_SHOWN, MOST_SOURCE = 6_000, 250, 500
MOST_POSITION, MOST_ARGUMENT = 600, 4_000
UNSAID: dict[str, Any] = {"argument": "", "rebuttals": [], "agrees": [], "confidence": 50}  # of a statement
VERDICT = 1  # questions to a model kept for the judge
PASSED_OVER = ("BadOutput", "BudgetExceeded", "ContextLengthExceeded", "ProviderError")  # of one expert, not of all
COMPETITIVE, COOPERATIVE = "competitive", "cooperative"
WITHOUT_POSITION = ("answers", "findings")  # what agents take to which no question can be put

STATEMENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "position": {"type": "string", "minLength": 1},
        "argument": {"type": "string"},
        "rebuttals": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "point": {"type": "string"}},
                "required": ["to", "point"],
            },
        },
        "agrees": {"type": "array", "items": {"type": "string"}},
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    },
    "required": ["position", "argument", "confidence"],
}
INVITED = (
    "You are {name} in a debate on this question: {question}\n{relations}\n{step} Your position answers the question "
    "in one sentence, or with the value it asks for."
)
FIRST = (
    "Find out what you need, and state your position; nobody has spoken yet, so rebut nobody, and agree with nobody "
    "yet."
)
LATER = (
    "This is round {round} of at most {rounds}. Answer the strongest point made against you; change your position "
    "where a point convinces you, and keep it where none does. Say with whom you agree: with all whose present "
    "position is yours in substance."
)
FIRST_HEARD = "From round 2 on you hear the others. "
STANDS = {COMPETITIVE: "with {} you compete", COOPERATIVE: "with {} you work together"}
EVERYBODY = re.compile(r"\A\W*(?:all|both|every(?:body|one))\b", re.IGNORECASE)
LABEL = re.compile(r"(?:(?:the|my) )?(?:(?:answer|position|value) is|it is|it's)[:\s]+", re.IGNORECASE)
TRUTH = re.compile(r"(yes|no)\b", re.IGNORECASE)
BOUND = re.compile(r"\b(?:but|except|however|if|only|or|though|unless|provided|when|where)\b", re.IGNORECASE)
NO_DEBATE = "the debate stopped, as {} alone spoke"
PLAYED = "{} You speak as the agent {}: {}"
SIDES = (
    ("Advocate", "You look for the best case that can be made for the obvious answer."),
    ("Sceptic", "You look for what speaks against the obvious answer: counterexamples, missing data, other causes."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expert:
    """One of the invited: an agent of the registry, or a role played by a prompt."""

    name: str
    agent: str
    role: str
    relation: str


@dataclass(slots=True, kw_only=True)
class Course:
    """The course of one debate: its question, its experts, all statements so far, and the positions a round before."""

    question: str
    rounds: int
    experts: list[Expert]
    between: Mapping[tuple[str, str], str]
    about: Mapping[str, str]
    latest: dict[str, Mapping[str, Any]]
    before: dict[str, str]
    silent: dict[str, str]
    said: list[Said]
    told: list[str]
    evidence: dict[str, tuple[Evidence, ...]]
    error: TeaError | None = None


class Debate(Agent):
    """Debate an open or disputed question among invited experts, in rounds with rebuttals, and give the verdict."""

    role = "Manager of debates"
    competencies = (
        "invite experts: agents of the registry, or roles",
        "lead statements and rebuttals in rounds, until they agree or nothing is left to say",
        "give a verdict that names what stays disputed",
    )
    objectives = ("the strongest case for every position", "an answer that survived the objections to it")
    relations = {"judge": "hierarchical"}
    agents = ("judge",)
    metadata: ClassVar[Mapping[str, Any]] = {
        "takes": "question",
        "when": "For questions on which experts disagree.",
        "settings": {"rounds": {"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS}},
    }

    async def run(self, ctx: Context, task: Task) -> Result:
        """Invite, let all speak in at most as many rounds as are set, three by default, and have the judge decide."""
        rounds = int(ctx.declared.get("settings", {}).get("rounds", ROUNDS))
        debate = await _invited(ctx, task, rounds)
        ended = "nothing was said"
        for number in range(1, rounds + 1):
            if (why := await _too_little(ctx, len(debate.experts))) and debate.latest:
                ended = why
                break
            debate.told += await ctx.messages()
            debate.before = {name: one["position"] for name, one in debate.latest.items()}
            await _round(ctx, task, debate, number)
            if best := _strongest(debate):
                ctx.so_far(Result(answer=debate.latest[best]["position"]))
            ended = f"ended after {number} round{'' if number == 1 else 's'}"
            if len(debate.experts) < len(SIDES):
                ended = NO_DEBATE.format("".join(debate.latest)) if debate.latest else ended
                break
            if _agree(debate, number):
                ended = f"all agree after round {number}"
                break
            if _is_exhausted(debate):
                ended = f"nobody had anything new to say in round {number}"
                break
        _tell(ctx, "debate", ended)
        if not debate.latest:
            raise debate.error or BadOutput("None of the experts spoke.", fix="raise the budget, or ask otherwise.")
        return await _verdict(ctx, task, debate)


async def _invited(ctx: Context, task: Task, rounds: int) -> Course:
    """Return a debate with its question and experts: those named by the topic, and those invited by a manager."""
    listed = [one for one in await ctx.acp.list() if one["name"] not in (ctx.agent, "attempts", "judge")]
    words = [word.casefold() for word in re.findall(r"\w+", task.text)]
    named = [str(one["name"]) for one in listed if one["name"] in words][:MOST_EXPERTS]
    found = await ctx.acp.retrieve(f"expert: {task.text}"[:2_000], MOST_CANDIDATES, among=["*"], besides=[ctx.agent])
    about = {
        str(one["name"]): str(one["description"]) for one in (*found, *(one for one in listed if one["name"] in named))
    }
    variables = {
        "topic": task.text,
        "before": conversation(task),
        "agents": [{"name": name, "description": text} for name, text in about.items()],
        "named": named,
        "files": list(task.files),
        "most": MOST_EXPERTS,
        "locale": ctx.locale,
    }
    try:
        plan: Any = await consult(ctx, "debate_invitation", variables, lambda response: response.output)
    except BadOutput:
        plan = {"question": task.text, "experts": []}
    experts, changes = _experts(plan["experts"], named, list(about))
    agents = list(dict.fromkeys(one.agent for one in experts if one.agent))
    metadata = dict(zip(agents, [one["metadata"] for one in await ctx.acp.facts(agents)], strict=True))
    between = _relations(experts, metadata)
    _tell(ctx, "question", plan["question"])
    for one in experts:
        _tell(ctx, "invited", f"{one.name}{f' ({one.agent})' if one.agent else ''}: {one.role}")
    for number, one in enumerate(experts):
        if one.agent and (why := _no_speaker(ctx, task, metadata[one.agent])):
            changes.append((one.name, f"is played by a prompt: {one.agent} {why}"))
            experts[number] = _as_persona(one, about)
    for name, change in changes:
        _tell(ctx, "invitation", f"{name} {change}")
    return Course(
        question=plan["question"],
        rounds=rounds,
        experts=experts,
        between=between,
        about=about,
        latest={},
        before={},
        silent={},
        said=[],
        told=[],
        evidence={},
    )


def _experts(
    wanted: Sequence[Mapping[str, Any]], named: Sequence[str], agents: Sequence[str]
) -> tuple[list[Expert], list[tuple[str, str]]]:
    """Return the experts, those named by the topic for certain, two sides if too few are left; and changes, with why.

    An agent may speak for several of them, each under a name of its own.
    """
    found: dict[str, Expert] = {}
    changes: list[tuple[str, str]] = []
    listed = {one.casefold(): one for one in agents}
    given = [str(one["agent"]).strip().removeprefix("@") for one in wanted]
    wanted = [{**one, "agent": listed.get(name.casefold(), name)} for one, name in zip(wanted, given, strict=True)]
    asked = [str(one["agent"]) for one in wanted]
    further = [{"name": name.capitalize(), "agent": name, "role": "", "relation": COMPETITIVE} for name in named]
    certain = [one for one in further if one["agent"] not in asked]
    first = sorted(wanted, key=lambda one: one["agent"] not in named)
    for one in (*certain, *first):
        name, agent = " ".join(str(one["name"]).split()), str(one["agent"])
        if not name or name in found or len(found) >= MOST_EXPERTS:
            why = f"{MOST_EXPERTS} experts at most" if len(found) >= MOST_EXPERTS else "the name is another expert's"
            changes.append((name or "an expert", f"is left out: {why if name else 'without a name'}"))
            continue
        if agent and agent not in agents:
            changes.append((name, f"is played by a prompt: there is no agent {agent!r} to invite"))
        own = agent if agent in agents else ""
        found[name] = Expert(name=name, agent=own, role=str(one["role"]), relation=str(one["relation"]))
    for name, role in SIDES if len(found) < len(SIDES) else ():
        if name not in found:
            found[name] = Expert(name=name, agent="", role=role, relation=COMPETITIVE)
            changes.append((name, "is added: a debate has two sides at least"))
    return [*found.values()], changes


def _no_speaker(ctx: Context, task: Task, metadata: Mapping[str, Any]) -> str:
    """Return why an agent cannot speak, empty if it can."""
    if metadata.get("takes") in WITHOUT_POSITION:
        return "takes no question"
    return "has nothing to search" if metadata.get("needs") == "search" and not (ctx.searches or task.files) else ""


def _as_persona(one: Expert, about: Mapping[str, str]) -> Expert:
    """Return an expert played by the prompt, with the description of its agent as its background."""
    role = f"{one.role.strip().rstrip('.')}." if one.role.strip() else ""
    return replace(one, agent="", role=PLAYED.format(role, one.agent, about[one.agent]).strip())


def _relations(experts: Sequence[Expert], metadata: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return how each expert stands to each other: as their agents declare it, else as the manager wants it.

    Both stand alike to each other; a cooperative expert completes also the position of a competitive one.
    """
    declared = {name: one.get("relations", {}) for name, one in metadata.items()}
    found: dict[tuple[str, str], str] = {}
    for one in experts:
        for other in experts:
            own = declared.get(one.agent, {}).get(other.agent)
            theirs = declared.get(other.agent, {}).get(one.agent)
            stated = [each for each in (own, theirs) if each in (COMPETITIVE, COOPERATIVE)]
            if one is not other:
                wanted = COOPERATIVE if COOPERATIVE in (one.relation, other.relation) else one.relation
                found[one.name, other.name] = stated[0] if stated else wanted
    return found


async def _too_little(ctx: Context, experts: int) -> str:
    """Return why there is no further round, empty if there is one: each speaks, and then the judge."""
    steps = (await ctx.remaining())["steps"]
    return "" if steps is None or steps >= experts + VERDICT else "the budget of questions leaves no further round"


async def _round(ctx: Context, task: Task, debate: Course, number: int) -> None:
    """Let all experts speak side by side; all of them hear the statements of the rounds before."""
    budget = await budget_share(ctx, len(debate.experts), questions=VERDICT)
    heard = list(debate.said)
    today = await ctx.today()
    spoken: dict[str, Mapping[str, Any]] = {}
    mute: dict[str, str] = {}

    async def speak(place: int, one: Expert) -> None:
        statement: Mapping[str, Any] | None = None
        try:
            if one.agent:
                statement = await _asked(ctx, task.model_copy(update={"budget": budget}), debate, one, number)
            if one.agent and statement is None:
                _tell(ctx, "invitation", f"{one.name} is played by a prompt: {one.agent} answers in a form of its own")
                one = debate.experts[place] = _as_persona(one, debate.about)
            if statement is None:
                statement = await _played(ctx, task, debate, one, number, heard, today)
        except TeaError as error:
            if error.record()["code"] not in PASSED_OVER:
                raise
            debate.error = debate.error or error
            mute[one.name] = error.problem
            _tell(ctx, f"{one.name}, round {number}", f"says nothing: {error.problem}")
            return
        others = list(dict.fromkeys(each.who for each in heard if each.who != one.name))
        silent = [each.name for each in debate.experts if each.name not in others]
        spoken[one.name] = statement = _answering(statement, others, silent)
        _tell(ctx, f"{one.name}, round {number}", f"{statement['position']} ({statement['confidence']})")
        if statement["argument"].strip():
            _tell(ctx, f"{one.name} argues", statement["argument"])
        for rebuttal in statement["rebuttals"]:
            _tell(ctx, f"{one.name} to {rebuttal['to']}", rebuttal["point"])

    async with ctx.group() as group:
        for place, one in enumerate(list(debate.experts)):
            group.spawn(speak(place, one))
    for one in debate.experts:
        if one.name in spoken:
            debate.latest[one.name] = spoken[one.name]
            debate.said.append(Said(who=one.name, text=_words(spoken[one.name], number)))
    debate.silent |= {name: why for name, why in mute.items() if name not in debate.latest}
    debate.experts = [one for one in debate.experts if one.name in debate.latest]


def _others(debate: Course, one: Expert) -> list[tuple[str, str]]:
    """Return the other speakers of a debate, each with the relation of an expert to it."""
    names = [other.name for other in debate.experts if other.name != one.name]
    return [(name, debate.between[one.name, name]) for name in names]


def _answering(statement: Mapping[str, Any], heard: Sequence[str], silent: Sequence[str]) -> Mapping[str, Any]:
    """Return a statement without what it says to those who did not speak yet, and to its own speaker."""
    unknown = [one.casefold() for one in silent]
    rebuttals = [one for one in statement["rebuttals"] if heard and str(one["to"]).casefold() not in unknown]
    said = " ".join(map(str, statement["agrees"]))
    agrees = [one for one in heard if EVERYBODY.search(said) or _names(said, one)]
    return {**statement, "rebuttals": rebuttals, "agrees": agrees}


def _names(text: str, name: str) -> bool:
    """Return whether a text holds a name as whole words, in any case."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


async def _played(
    ctx: Context, task: Task, debate: Course, one: Expert, number: int, heard: Sequence[Said], today: str
) -> Mapping[str, Any]:
    """Return the statement of a role played by the prompt.

    Raises:
        BadOutput: It cannot be read.
    """
    variables = {
        "question": debate.question,
        "name": one.name,
        "role": one.role,
        "round": number,
        "rounds": debate.rounds,
        "others": [{"name": other, "relation": relation} for other, relation in _others(debate, one)],
        "said": [{"name": each.who, "text": each.text} for each in heard],
        "facts": [f"{each.fact} ({each.source})" if each.source else each.fact for each in task.facts],
        "before": conversation(task),
        "told": debate.told,
        "today": today,
        "locale": ctx.locale,
        **({"form": task.answer} if task.answer is not None else {}),
    }
    plain = _in_words if task.answer is None else None
    return await consult(ctx, "debate_statement", variables, lambda response: response.output, plain_at_last=plain)


def _in_words(words: str) -> Mapping[str, Any]:
    """Return a statement in plain words: their beginning as its position, and all of a longer one as its argument."""
    position = clipped(words, MOST_POSITION)
    return {**UNSAID, "position": position, "argument": "" if position == words else clipped(words, MOST_ARGUMENT)}


async def _asked(ctx: Context, task: Task, debate: Course, one: Expert, number: int) -> Mapping[str, Any] | None:
    """Return the statement of an agent of the registry, made in its own way of work; None for an answer of other form.

    Raises:
        BadOutput: It gave none.
    """
    stands = ", ".join(STANDS[relation].format(other) for other, relation in _others(debate, one))
    since = FIRST_HEARD if number == 1 and debate.rounds > 1 else ""
    text = INVITED.format(
        name=one.name,
        question=debate.question,
        relations=f"{one.role}\n{since}{stands[:1].upper()}{stands[1:]}.".strip(),
        step=FIRST if number == 1 else LATER.format(round=number, rounds=debate.rounds),
    )
    told = tuple(Said(who="person", text=each) for each in debate.told)
    history = (*task.history, *told, *debate.said)
    part = task.model_copy(update={"text": text, "answer": STATEMENT, "history": history})
    response = await ctx.acp.invoke(one.agent, part)
    result, statement = response.result, response.result.answer
    if not isinstance(statement, dict) or "position" not in statement:
        if result.ok and statement is not None:
            return None
        reason = result.reason or "no reason was given"
        raise BadOutput(f"{one.agent} gave no statement: {reason}", fix="invite somebody else.")
    debate.evidence[one.name] = (*debate.evidence.get(one.name, ()), *result.evidence)
    return {**UNSAID, **statement}


def _agree(debate: Course, number: int) -> bool:
    """Return whether all positions are the same: by value, or by the word of each about all the others."""
    latest = debate.latest
    if len(latest) < len(debate.experts):
        return False
    first, *others = [one["position"] for one in latest.values()]
    if all(_alike(first, one) for one in others):
        return True
    return number > 1 and any(_is_shared(name, debate) for name in latest)


def _alike(one: str, other: str) -> bool:
    """Return whether two positions are the same value, or say yes or no alike and without a condition."""
    values = [LABEL.sub("", each.strip(), count=1) if LABEL.match(each.strip()) else each for each in (one, other)]
    if same(*values):
        return True
    truths = [TRUTH.match(each.strip()) for each in (one, other)]
    is_bound = any(map(BOUND.search, (one, other)))
    return not is_bound and all(truths) and len({each[1].casefold() for each in truths if each}) == 1


def _is_exhausted(debate: Course) -> bool:
    """Return whether a round brought neither another position nor a rebuttal."""
    return all(
        debate.before.get(name) == one["position"] and not one["rebuttals"] for name, one in debate.latest.items()
    )


def _is_shared(name: str, debate: Course) -> bool:
    """Return whether all others agree with an expert, if it kept its position or agrees with them in turn."""
    latest = debate.latest
    kept = debate.before.get(name) == latest[name]["position"]
    others = [other for other in latest if other != name]
    return all(name in latest[one]["agrees"] and (kept or one in latest[name]["agrees"]) for one in others)


def _strongest(debate: Course) -> str:
    """Return the name of the expert with the position of most confidence, its supporters counted."""

    def weight(name: str) -> int:
        mine = debate.latest[name]["position"]
        return sum(int(one["confidence"]) for one in debate.latest.values() if same(mine, one["position"]))

    return max(debate.latest, key=weight, default="")


async def _verdict(ctx: Context, task: Task, debate: Course) -> Result:
    """Return the judge's answer to the question; without a judge the strongest position, marked as such.

    One speaker alone leaves nothing to judge, unless the answer has a form in which the judge writes it.
    """
    evidence = tuple(dict.fromkeys(one for some in debate.evidence.values() for one in some))
    said = tuple(Said(who=name, text=_whole(debate, name)) for name in debate.latest)
    silent = [f"{name} said nothing: {why}" for name, why in debate.silent.items()]
    alone = len(debate.latest) < len(SIDES)
    if alone:
        silent.insert(0, f"No position was contested: {NO_DEBATE.format(''.join(debate.latest))}.")
    if alone and (task.answer is None or task.answer.get("type") == "string"):
        answer = debate.latest[_strongest(debate)]["position"]
        return Result(answer=answer, gaps=tuple(silent), partial=True, evidence=evidence)
    form = task.answer if task.answer is not None else {"type": "string", "minLength": 1, "maxLength": 8_000}
    response = await ctx.acp.invoke("judge", Task(text=debate.question, files=task.files, history=said, answer=form))
    names: list[str] = list(debate.latest)
    if not response.result.ok:
        why = f"no judge decided: {response.result.reason}"
        if task.answer is not None and task.answer.get("type") != "string":
            return Result(ok=False, reason=why, evidence=evidence, exhausted=response.result.exhausted)
        return Result(
            answer=debate.latest[_strongest(debate)]["position"],
            gaps=(why, *silent),
            partial=True,
            evidence=evidence,
        )
    verdict: Mapping[str, Any] = response.result.answer
    best = "" if verdict["choice"] is None else names[int(verdict["choice"]) - 1]
    _tell(ctx, "verdict", f"{best or 'no expert'} stands best: {verdict['reason']}")
    against: Sequence[Mapping[str, Any]] = [one for one in verdict["refutations"] if one["refuted"]]
    refuted = {names[int(one["answer"]) - 1]: str(one["objection"]) for one in against}
    gaps = [*silent, *(f"{name} was refuted: {why}" for name, why in refuted.items())]
    chosen: Any = debate.latest[best]["position"] if best else verdict["answer"]
    disputed = [
        name for name, one in debate.latest.items() if name not in refuted and not same(one["position"], chosen)
    ]
    gaps += (
        []
        if _agree(debate, debate.rounds)
        else [f"{name} disagrees: {debate.latest[name]['position']}" for name in disputed]
    )
    return Result(answer=verdict["answer"], evidence=evidence, gaps=tuple(gaps), partial=alone)


def _words(statement: Mapping[str, Any], number: int) -> str:
    """Return a statement as the others read it."""
    rebuttals = [f"To {one['to']}: {one['point']}" for one in statement["rebuttals"]]
    agrees = [f"Agrees with {', '.join(map(str, statement['agrees']))}."] if statement["agrees"] else []
    first = f"Round {number}, position ({statement['confidence']} of 100): {statement['position']}"
    return clipped("\n".join([first, statement["argument"], *rebuttals, *agrees]), MOST_SAID)


def _whole(debate: Course, name: str) -> str:
    """Return all statements of an expert, with their sources, for the judge."""
    spoken = [one.text for one in debate.said if one.who == name]
    given = dict.fromkeys(debate.evidence.get(name, ()))
    sources = [clipped(json.dumps(one.model_dump(mode="json"), ensure_ascii=False), MOST_SOURCE) for one in given]
    return "\n\n".join([*spoken, *(["Evidence:\n" + "\n".join(sources)] if sources else [])])


def _tell(ctx: Context, phase: str, text: str) -> None:
    ctx.note("debate", {"phase": phase, "text": clipped(text, MOST_SHOWN)})
