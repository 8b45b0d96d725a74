"""Live progress of a run: the agent at work and its task, the step, the answer's draft, the plan and the budget."""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tea.cli.command import Command
from tea.cli.draft import Draft
from tea.cli.fields import fields, items
from tea.cli.terminal import counted, folded, interactive, painted, progress_line, remove_in_time, size, write
from tea.kernel.key import path_of
from tea.refs import speaker

if TYPE_CHECKING:
    from tea.journal.recorder import Event

_MARKS = {"open": "[ ]", "done": "[x]", "failed": "[!]"}
_TOLD = ("research", "attempt", "debate")  # notes with a phase, shown as a line of their own
_WORDS, _ARGUMENTS = 150, 90
_CALLS = ("tool", "environment")
_NOTHING = -1  # of an answer that is asked for again
_PIECE = 20  # characters of an answer between two looks of the line that tells of it
_CLEAR = "\r\x1b[K"


class Progress:
    """A display of a run's progress for a person on standard error.

    On a terminal what goes on is one line that changes, and the words of the answering agent stand below it while they
    come. With `-v` every call and step is a line of its own, on a terminal but for the present call; with `-vv` every
    look-up, too.

    Args:
        command: Says how much is wanted.
        run: The run's id, where it is known already.
        opening: What to say first, once the run has begun.
    """

    def __init__(self, command: Command, run: str = "", opening: str = "") -> None:
        self.run = run
        self._opening = opening
        self._silent = command.quiet
        self._all = command.verbose > 0
        self._lookups = command.verbose > 1
        self._live = interactive(sys.stderr)
        self._shown = False
        self._draft = Draft(sys.stderr)
        self._scopes: list[str] = []
        self._plans: dict[str, list[str]] = {}
        self._targets: dict[str, tuple[str, str]] = {}
        self._came: dict[str, int] = {}
        self._left: dict[str, str] = {}
        self._failed: set[tuple[str, str]] = set()
        remove_in_time(self)

    def __call__(self, event: "Event") -> None:
        """Process one record of the run, as it is written."""
        data = fields(event.data)
        if event.kind == "run":
            self.run = data["setting"]["run"]
            if self._opening:
                self._line(self._opening)
            self._detail(f"run {self.run}", "dim")
        elif event.kind == "start":
            self._start(event, data)
        elif event.kind == "delta":
            self._delta(event, data)
        elif event.kind in ("done", "failed"):
            self._end(event, data)
        elif event.kind == "note":
            self._note(event, data)
        elif event.kind == "asked":
            self.close()

    def close(self) -> None:
        """Remove the changing line and the draft."""
        self._draft.hide()
        if self._shown:
            write(_CLEAR, sys.stderr)
            self._shown = False

    def _start(self, event: "Event", data: Mapping[str, Any]) -> None:
        kind, target = data["kind"], _short(data["target"])
        self._targets[event.key] = kind, target
        if kind in _CALLS:
            arguments = _pairs(fields(fields(data["data"]).get("arguments")))
            self._present(f"{speaker(event.agent) or 'tea'}: {target}({arguments})")
        elif kind == "model":
            self._present(f"{speaker(event.agent) or 'tea'}: asks {target}{self._left.get(event.agent, '')}")
        elif self._lookups and kind != "policy":
            self._detail(f"{speaker(event.agent) or 'tea'}: {kind} {target}", "dim")

    def _delta(self, event: "Event", data: Mapping[str, Any]) -> None:
        """Show an arriving answer: on a terminal its size so far, elsewhere only its start."""
        before, who = self._came.get(event.key), speaker(event.agent) or "tea"
        if self._drafts(event, data):
            return
        if data["type"] == "again":
            if before is None and not data["text"]:
                return  # the attempt before it failed
            asked = data["text"] or self._targets.get(event.key, ("", "a model"))[1]
            self._targets[event.key], self._came[event.key] = ("model", asked), _NOTHING
            self._present(f"{who}: asks {asked} {'instead' if data['text'] else 'again'}")
            return
        begins = before in (None, _NOTHING)
        was = 0 if before is None or begins else before
        now = self._came[event.key] = was + len(data["text"])
        if begins or (self._live and now // _PIECE != was // _PIECE):
            target = self._targets.get(event.key, ("", "a model"))[1]
            self._present(f"{who}: {target} answers" + (f", {now:,} characters" if self._live else ""))

    def _drafts(self, event: "Event", data: Mapping[str, Any]) -> bool:
        """Show the text of the answering agent itself if it can be removed again."""
        if self._silent or not self._live or not self._answering(event.key):
            return False
        if data["type"] == "again":
            self._draft.drop()
        if data["type"] != "text":
            return False
        if self._shown:
            self.close()
        if not self._draft.add(data["text"]):
            return False
        self._came[event.key] = self._came.get(event.key, 0) + len(data["text"])
        return True

    def _answering(self, key: str) -> bool:
        """Return whether a call is made by the first agent of the run itself, not by one it called."""
        around = [one for one in self._scopes if key.startswith((f"{one}.", f"{one}/"))]
        return around == self._scopes[:1] != []

    def _end(self, event: "Event", data: Mapping[str, Any]) -> None:
        kind, target = self._targets.pop(event.key, ("", ""))
        told = self._came.pop(event.key, None) is not None
        if kind == "model" and self._answering(event.key):
            self._draft.drop()
        found = fields(data.get("data"))
        if kind == "budget":
            self._left[event.agent] = _left(found)
        elif kind == "messages":
            for one in items(data.get("data")):
                self._line(f"told: {progress_line(str(one.get('text')), _WORDS)}", "cyan")
        error = found if event.kind == "failed" else fields(found.get("error"))
        if kind in _CALLS and error:
            problem = str(error.get("problem", ""))
            self._failed.add((event.agent, problem))
            self._detail(f"{speaker(event.agent) or 'tea'}: {target} failed: {problem}", "yellow")
        elif told and error:
            self._detail(f"{speaker(event.agent) or 'tea'}: {error.get('problem', '')}", "yellow")

    def _note(self, event: "Event", data: Mapping[str, Any]) -> None:
        kind, said = data.get("kind"), fields(data.get("data"))
        if kind == "enter" and str(said.get("ref", "")).startswith("agent:"):
            self._scopes.append(path_of(event.key))
            task = fields(said.get("arguments")).get("task")
            self._detail(
                f"{speaker(event.agent)}: works on {progress_line(str(fields(task).get('text', task)), _WORDS)}", "cyan"
            )
        elif kind in _TOLD and said.get("phase"):
            about = f" {said['task']}" if said.get("task") else ""
            text = progress_line(str(said.get("text") or ""), _WORDS)
            parts = dict.fromkeys([speaker(event.agent), f"{said['phase']}{about}", text])
            self._line(": ".join(filter(None, parts)), "cyan")
        elif kind == "step":
            from tea.loop.offer import DONE

            ended = any(one.get("name") == DONE and one.get("ok") for one in items(said.get("results")))
            meant = said.get("next_goal") or said.get("thinking") or said.get("evaluation")
            goal = meant or ("comes to an end" if ended else "goes on")
            calls = ", ".join(str(one.get("name", "")) for one in items(said.get("calls")))
            tail = f" ({calls})" if calls else ""
            self._tell_failed(event, items(said.get("results")))
            self._detail(
                f"{speaker(event.agent)}: step {said.get('step', '?')}: {progress_line(str(goal), _WORDS)}{tail}"
            )
            self._tell_plan(event, items(said.get("plan")))

    def _tell_failed(self, event: "Event", results: list[Mapping[str, Any]]) -> None:
        """Show the calls of a step that failed before they were made; the others were shown when they did."""
        for one in results:
            told = event.agent, str(fields(one.get("error")).get("problem", ""))
            if told[1] and told not in self._failed:
                self._detail(f"{speaker(event.agent)}: {one.get('name', '')} failed: {told[1]}", "yellow")
            self._failed.discard(told)

    def _tell_plan(self, event: "Event", plan: list[Mapping[str, Any]]) -> None:
        """Show the new items in the plan of an agent."""
        lines = [
            f"{_MARKS.get(str(one.get('state', '')), '[?]')} {number}. {progress_line(str(one.get('item')), _WORDS)}"
            for number, one in enumerate(plan, 1)
        ]
        scope = path_of(event.key)
        for line in lines:
            if line not in self._plans.get(scope, ()):
                self._detail(f"plan: {line}")
        self._plans[scope] = lines

    def _present(self, text: str) -> None:
        """Show the current activity: on a terminal in place of the last one."""
        if not self._live:
            self._detail(text)
        if self._silent or not self._live:
            return
        self._draft.hide()
        row, *_ = folded(progress_line(text, _width()), sys.stderr, 1).split("\n")  # one that is wrapped stays behind
        write(f"{_CLEAR}{painted(row, 'dim', sys.stderr)}", sys.stderr)
        self._shown = True

    def _detail(self, text: str, colour: Any = None) -> None:
        """Show a detail: permanently with `-v`, else for a moment on the terminal."""
        if self._all:
            self._line(text, colour)
        elif self._live:
            self._present(text)

    def _line(self, text: str, colour: Any = None) -> None:
        if self._silent:
            return
        self.close()
        line = progress_line(text, 300)
        write(folded(painted(line, colour, sys.stderr) if colour else line, sys.stderr) + "\n", sys.stderr)


def _short(target: str) -> str:
    """Return the short name of a target: `calculator` for `tool:calculator@1.0.0#call`."""
    head, _, operation = target.partition("#")
    name = head.partition("@")[0].rpartition(":")[2]
    return f"{name}.{operation}" if operation not in ("", "call", "run") else name


def _pairs(arguments: Mapping[str, Any]) -> str:
    return progress_line(", ".join(f"{name}={value!r}" for name, value in arguments.items()), _ARGUMENTS)


def _left(remaining: Mapping[str, Any]) -> str:
    forms: dict[str, Callable[[float], str]] = {
        "steps": lambda left: counted(int(left), "step"),
        "tokens": lambda left: counted(int(left), "token"),
        "seconds": lambda left: f"{left:.0f} s",
        "usd": lambda left: f"${left:.2f}",
    }
    words = [form(left) for name, form in forms.items() if (left := remaining.get(name)) is not None]
    return f" [left: {', '.join(words)}]" if words else ""


def _width() -> int:
    return max(20, size(sys.stderr).columns - 1)
