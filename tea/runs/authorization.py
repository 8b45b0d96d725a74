"""Authorizer: the decision on one call by the policy, a person, and the run's past."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from textwrap import indent
from typing import cast

from tea.characters import argument_lines, in_sentence
from tea.errors import ApprovalNeeded, Denied, InternalError, TeaError, words_of
from tea.journal.mask import hidden_values
from tea.journal.recorder import Recorder
from tea.policy.rules import DECISIONS
from tea.policy.verdict import Verdict
from tea.refs import Ref
from tea.runs.call import CallRequest
from tea.runs.human_input import ASKED, Person
from tea.runs.operator_policy import places_in_front
from tea.runs.policy import Policy, Remember, StandingPolicy
from tea.runs.rules import reasoned
from tea.source.trust import Consents
from tea.types import EVERY, AgentResponse, JsonObject, JsonValue, Response, Result, Untrusted, failure, is_text

_Consent = tuple[str, JsonValue, JsonValue]  # what is called, its arguments, and where it goes: see `_consent`
CONSENT = ("allow", "deny")
LOST_MEANWHILE = ". What it has open is lost until then: =always spares further questions"
ALWAYS = "always"
Check = Callable[[], Awaitable[Response]]
Refusal = Callable[[CallRequest], TeaError | None]
Misfit = Callable[[], Awaitable[TeaError | None]]


class Authorizer:
    """An authorizer of calls: each one goes ahead, is answered in its place, or waits for a person.

    Args:
        policy: The operator's.
        person: Who can answer now, if anybody.
        recorder: Where intents and answers are written.
        answers: A person's answers by key: `allow`, `deny`, or text to stand in for the result.
        intents: Keys of calls that an earlier process may have carried out.
        consents: Which versions a person consented to, once for all their calls.
        allowed: Names of components, or `kind:name`, that need no such consent; with `*` none does.
        remember: Keeps what a person allows for good; without it that is not offered.
        refusal: Gives the error of a call that would fail whatever a person says, so nobody is asked about it.
    """

    def __init__(
        self,
        policy: Policy,
        person: Person | None,
        recorder: Recorder,
        answers: Mapping[str, str],
        intents: frozenset[str],
        consents: Consents,
        allowed: Collection[str] = (),
        remember: Remember | None = None,
        refusal: Refusal = lambda request: None,
    ) -> None:
        self._policy, self._person, self._recorder = policy, person, recorder
        self._standing = policy if isinstance(policy, StandingPolicy) else None
        self._answers, self._intents = answers, intents
        self._consents, self._allowed, self._remember = consents, allowed, remember
        self._refusal = refusal
        self._said: dict[str, str] = {}
        self._outlived: list[_Consent] = []
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def preauthorized(self, request: CallRequest) -> bool:
        """Return whether the policy allows every call of an operation, under each of its names, with none in doubt.

        Where the policy fails to tell, each call is asked about.
        """
        standing = self._standing
        if standing is None or self._intents:
            return False
        try:
            said = (standing.standing(name, request.traits, request.principal) for name in request.names)
            return all(one == "allow" for one in said)
        except Exception:  # it is not recorded, so what it is must not show
            return False

    async def ask(
        self,
        request: CallRequest,
        response: type[Response],
        check: Check | None = None,
        misfit: Misfit | None = None,
    ) -> Response | None:
        """Return None if the call may go ahead, else the response in its place.

        Before a call that changes something, the intent is durable: after a crash the run knows of it. What became of
        it then is for the operation to say (repeat it if it is idempotent, look with its `check`), or for a person.

        Args:
            request: The call.
            response: The type of what stands in its place.
            check: Calls the operation that the traits name as their `check`.
            misfit: Gives the error of arguments that do not fit, so nobody is asked about them.

        Raises:
            ApprovalNeeded: A person must decide.
        """
        verdict, decisive = await self._decided(request)
        decision = verdict.decision
        if decision == "deny":
            problem = f"The operator's policy does not allow {decisive}."
            return failure(response, request.ref, Denied(problem, fix="do without it."))
        if decision in ("ask", "once"):
            refused = self._refusal(request) or (None if misfit is None else await misfit())
            if refused is not None:
                return failure(response, request.ref, refused)
        uncertain = request.key in self._intents and not request.traits.idempotent
        if uncertain and request.traits.check and check is not None:
            found = await check()
            if found.ok and found.value is not None:
                return response(ref=request.ref, ok=True, value=found.value)
            uncertain = not found.ok
        stands_in = None
        if decision == "ask" or uncertain or (self._recorder.repeats and request.key in self._answers):
            why = "may have happened already" if uncertain else "needs a person's consent"
            reasons = decision == "ask" and verdict.why and not uncertain
            stands_in = await self._answered(request, response, verdict.why if reasons else why, verdict=verdict)
        elif decision == "once":
            stands_in = await self._answered_once(request, response, verdict)
        if stands_in is not None:
            return stands_in
        if request.traits.effects != "reads" and not request.traits.scope:
            intent = {"target": request.ref, "effects": request.traits.effects, "decision": decision}
            self._recorder.write("intent", request.key, intent)
            await self._recorder.sync()
        return None

    async def answered_before(self, request: CallRequest, response: type[Response]) -> tuple[bool, Response | None]:
        """Return whether a person allowed a call before its environment was lost, and the parts standing for the call.

        Consent to a call that was never made holds for one same call later: same operation, arguments, destinations.
        """
        answer, asked = self._answers.get(request.key), self._recorder.asked_last(request.key)
        consent = _consent(asked)
        if answer is None or consent[:2] != (request.ref, self._recorder.mask.data(dict(request.arguments))):
            return False, None
        if answer not in ("allow", ALWAYS):
            self._recorder.answered(request.key, {"target": request.ref}, answer)
            return False, _denied(request, response) if answer == "deny" else _answer_as_result(
                request, response, answer
            )
        places = tuple(map(str, cast("list[object]", asked.get("destinations") or [])))
        if answer == ALWAYS and places and self._remember is not None:
            await asyncio.to_thread(self._remember, request.digest, request.ref, places)
        else:
            self._outlived.append(consent)
        return True, None

    async def _decided(self, request: CallRequest) -> tuple[Verdict, str]:
        """Return the policy's strictest decision on the names of a call, and the name it applies to."""
        found, decisive = await self._decision(request), request.ref
        for name in request.through:
            if found.decision == "deny":
                break
            said = await self._decision(request.under(name))
            if found.stricter(said) is said:
                found, decisive = said, name
        return found, decisive

    async def _decision(self, request: CallRequest) -> Verdict:
        """Return the decision of the policy on a call; an invalid one allows nothing.

        Raises:
            InternalError: The policy raised, or decided something else than it may.
        """
        try:
            said = await reasoned(self._policy, request)
        except (TeaError, TimeoutError):
            raise
        except Exception as error:
            problem = f"The policy {type(self._policy).__qualname__} raised {words_of(error)} about {request.ref}."
            raise InternalError(problem, fix="mend that policy.") from error
        if said.decision not in DECISIONS:
            name = type(self._policy).__qualname__
            problem = f"The policy {name} said {str(said.decision)[:60]!r} of {request.ref}."
            raise InternalError(problem, fix=f"let it say one of {', '.join(DECISIONS)}.")
        return said

    async def _answered_once(self, request: CallRequest, response: type[Response], verdict: Verdict) -> Response | None:
        """Return the response in place of a call needing consent once for its version, None if it may go ahead.

        Calls of one version take turns here, so that a person is asked about the first of them. A no holds for the
        other calls of the run, consent for all that follow.
        """
        if EVERY in self._allowed or any(_names(name) & {*self._allowed} for name in request.names):
            return None
        version = verdict.version or f"{request.digest}/{request.traits.effects}"
        why = f"declares effects {request.traits.effects!r} and needs a person's consent, once for this version"
        why = verdict.why or why
        async with self._turns[version]:
            if request.key not in self._answers:
                said = self._said.get(version) or self._said_before(request, why, version)
                if said == "deny":
                    return _denied(request, response)
                if said == "allow" or await asyncio.to_thread(self._consents, version):
                    return None
            stands_in = await self._answered(request, response, why, version)
            if stands_in is None:
                await asyncio.to_thread(self._consents.grant, version, request.ref)
            return stands_in

    def _said_before(self, request: CallRequest, why: str, version: str) -> str | None:
        """Return the answer to the same question of an earlier process about another call of the version."""
        about = {"target": request.ref, "digest": request.digest, "once": version}
        alike = (
            answer
            for key, answer in self._answers.items()
            if self._recorder.asked_before(key, _question(request, key, why), CONSENT, **about)
        )
        return next(alike, None)

    async def _answered(
        self,
        request: CallRequest,
        response: type[Response],
        why: str,
        version: str = "",
        *,
        verdict: Verdict | None = None,
    ) -> Response | None:
        places = () if verdict is None or self._remember is None else verdict.unnamed
        choices = (*CONSENT, ALWAYS) if places else CONSENT
        unnamed = [] if verdict is None else list(verdict.unnamed)
        goes = "" if unnamed else _place_words(request)
        asked = f"{_question(request, request.key, why)}{'' if version else goes}"
        about: dict[str, JsonValue] = {"target": request.ref, "digest": request.digest, "data": dict(request.arguments)}
        about |= {"once": version} if version else {}
        front = [] if unnamed or version else list(places_in_front(request))
        about |= {"destinations": unnamed} if unnamed else {"places": front} if front else {}
        answer = self._answers.get(request.key) if self._recorder.same(request.key, asked, choices, **about) else None
        if answer is None:
            self._recorder.ask(request.key, asked, choices, **about)
            consent = _consent(self._recorder.mask.data(about))
            if consent in self._outlived:
                self._outlived.remove(consent)
                answer = "allow"
            elif self._person is not None:
                given = argument_lines(self._recorder.mask.data(about["data"])) or "none"
                shown = "\n".join(filter(None, (indent(given, "  "), hidden_values(given))))
                marked = asked.replace("\n", f"\n{ASKED}")  # a destination or the name of a file may have lines
                who = f"{goes if version else ''} {_caller_words(request)}"
                answer = await self._person(f"{marked}{who}Its arguments are:\n{shown}", choices)
        if answer is None or not is_text(answer):
            fix = self._recorder.remedy(
                request.key,
                "allow",
                " (or =deny, =always for this destination, =TEXT)" if places else " (or =deny, =TEXT)",
            )
            is_lost = request.config.kind == "environment" and request.config.recovery == "lost"
            fix += LOST_MEANWHILE if places and is_lost else ""
            raise ApprovalNeeded(asked, fix=fix)
        self._recorder.answered(request.key, {"target": request.ref}, answer)
        if version and answer in CONSENT:
            self._said[version] = answer
        if answer == ALWAYS and places and self._remember is not None:
            await asyncio.to_thread(self._remember, request.digest, request.ref, places)
            return None
        if answer == "allow":
            return None
        if answer == "deny":
            return _denied(request, response)
        return _answer_as_result(request, response, answer)


def _question(request: CallRequest, key: str, why: str) -> str:
    """Return the question about a call under a key."""
    called = f", called through {', '.join(request.through)}," if request.through else ""
    if isinstance(request.principal, Untrusted):
        called += f" for {request.principal.name}, which is not trusted,"
    return f"The {f'call {key}' if key else 'call'} of {request.ref}{called} {why}."


def _consent(asked: JsonObject) -> _Consent:
    """Return the parts of a question covered by consent to it.

    These are the call, its arguments, and the destinations that nobody named; without any, those in front.
    """
    return str(asked.get("target", "")), asked.get("data"), asked.get("destinations") or asked.get("places")


def _answer_as_result(request: CallRequest, response: type[Response], answer: str) -> Response:
    """Return a person's answer as the response to a call."""
    words = Result(answer=answer).model_dump(mode="json") if issubclass(response, AgentResponse) else answer
    return response(ref=request.ref, ok=True, value=words)


def _caller_words(request: CallRequest) -> str:
    """Return the caller, and the digest of the called component, for a person at the terminal."""
    who = f"agent:{request.agent} calls it. " if request.agent else ""
    return f"{who}Its digest is {request.digest}. "


def _place_words(request: CallRequest) -> str:
    """Return where a call goes, if its arguments do not say it."""
    places = places_in_front(request)
    return f" It goes to {', '.join(map(in_sentence, places))}." if places else ""


def _denied(request: CallRequest, response: type[Response]) -> Response:
    problem = f"A person said no to {request.ref}."
    return failure(response, request.ref, Denied(problem, fix="do without it."))


def _names(ref: str) -> set[str]:
    """Return the names for a component in a task's list of allowed ones."""
    parsed = Ref.parse(ref)
    return {parsed.name, f"{parsed.kind}:{parsed.name}"}
