"""A kept sitting: a task with its files, its right answer, and the players' answers.

A folder of `sittings/` holds `sitting.json`:

- `title`: What it shows, in a few words.
- `task`: A task file's members, or the path of a task file from the folder. Files that are in no folder are made by
  `_sittings_data.py`. Or the path of a text with the lines of a conversation, as `tea chat --agent triage` reads them;
  what counts is the answer to the last one.
- `right`: `{"holds": [...]}` for texts and numbers that the answer must hold, with `within` for how far a number may
  be off; `{"equals": VALUE}` for an answer in a form; `{"cannot": true}` for an honest end without an answer; with
  `report` for texts that the report must hold; a mark `[?]` counts as wrong unless it is among them.
- `agents`: The agents at work, by their names.
- `model`: Further settings of the model's configuration, for example `{"context": 16000}`, which the server keeps to.
- `site`: Pages by path, or a folder of pages, served on loopback; `{site}` in the task and in answers is its address,
  in a task file `http://127.0.0.1:8008`.
- `corpus`: Folders and files that are indexed before, as paths from the task file.
- `needs`: What a platform must be able to do, by the name of its method; where it cannot, the sitting is skipped.

Each player has a file of answers, `tea.json` or `flat.json`: a list of flows, one for each conversation that goes on,
with `replies` in their order and a text `when` that stands in its opening; the first flow that fits counts. With
`together`, each of several conversations with that opening gets the replies from the first one on.
A reply has `text`, `calls` (`[[name, arguments], ...]`, arguments as an object or as text), `finish`; or `object`, JSON
to be given as text; or `answer`, which ends a flat agent's work in its own way; or `http` and `body` for an error.
`shown` lists texts that must stand in the question, as an honest model could not give the reply without them, nor call
a function that is not offered; `tell` is what the person says before it. `copies` names patterns: the last text of the
question that fits one stands for its name in braces, as a model copies what it sees; as a number for `"{name:n}"`. A
last reply with `again` is given as often as it is asked for. Who has no file of answers is skipped.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from _sittings_data import make

ROOT = Path(__file__).with_name("sittings")
EXAMPLES = Path(__file__).parent.parent / "examples" / "played"
_MEMBERS = {"title", "task", "right", "agents", "model", "site", "corpus", "needs"}
_RIGHT = {"holds", "within", "equals", "cannot", "report"}
_REPLY = {"text", "object", "calls", "finish", "answer", "http", "body", "shown", "tell", "copies", "again"}
_SITE = "{site}"
FIRST = "triage"  # the agent spoken to first in a conversation
_MARK = "[?]"  # beside a value of a report that its source does not contain
_ADDRESS = "http://127.0.0.1:8008"  # of a site in a task file
_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The replies of one conversation, in order, and a text to know its opening by.

    Args:
        when: The text.
        replies: The replies.
        together: Whether several conversations have this opening, each with all the replies.
    """

    when: str
    replies: tuple[Mapping[str, Any], ...]
    together: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """One task with its right answer; a conversation has `lines` in place of a task."""

    name: str
    title: str
    task: Mapping[str, Any]
    right: Mapping[str, Any]
    agents: tuple[str, ...]
    model: Mapping[str, Any]
    site: Mapping[str, str] | Path
    corpus: tuple[Path, ...]
    needs: str
    folder: Path
    beside: Path
    lines: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> "Sitting":
        """Read a sitting.

        Raises:
            ValueError: It has members that nobody reads.
        """
        document = _read(folder / "sitting.json")
        _check(folder, document, _MEMBERS)
        _check(folder, document["right"], _RIGHT)
        task, beside, site = document["task"], folder, document.get("site", {})
        lines: tuple[str, ...] = ()
        if isinstance(task, str):
            beside = (folder / task).resolve().parent
            text = (folder / task).read_text(encoding="utf-8").replace(_ADDRESS, _SITE)
            lines = tuple(text.splitlines()) if task.endswith(".txt") else ()
            task = {"agent": FIRST} if lines else json.loads(text)
        return cls(
            name=folder.name,
            title=document["title"],
            task=task,
            right=document["right"],
            agents=tuple(document.get("agents", ())),
            model=document.get("model", {}),
            site=Path(site) if isinstance(site, str) else site,
            corpus=tuple(beside / one for one in document.get("corpus", ())),
            needs=document.get("needs", ""),
            folder=folder,
            beside=beside,
            lines=lines,
        )

    def lay_out(self, folder: Path) -> list[Path]:
        """Write the task's files into a folder, and return them."""
        files = list[Path]()
        for path in map(Path, self.task.get("files", ())):
            files.append(folder / path.name)
            if (kept := self.beside / path).exists():
                files[-1].write_bytes(kept.read_bytes())
            else:
                make(path.name, folder)
        return files

    @property
    def told(self) -> dict[str, Any]:
        """The task without its files."""
        return {name: value for name, value in self.task.items() if name != "files"}

    def at(self, site: str) -> "Sitting":
        """Return the sitting with its site at an address."""
        return replace(self, task=json.loads(json.dumps(self.task).replace(_SITE, site)))

    def answers(self, player: str) -> bool:
        """Return whether a player gave answers."""
        return (self.folder / f"{player}.json").exists()

    def flows(self, player: str, site: str = "") -> tuple[Flow, ...]:
        """Return the answers of a player.

        Args:
            player: Its name.
            site: Address of the sitting's site.

        Raises:
            ValueError: A reply has members that nobody reads.
        """
        flows: list[dict[str, Any]] = _read(self.folder / f"{player}.json", site)
        for reply in (one for flow in flows for one in flow["replies"]):
            _check(self.folder, reply, _REPLY)
        return tuple(
            Flow(when=one.get("when", ""), replies=tuple(one["replies"]), together=one.get("together", False))
            for one in flows
        )

    def is_right(self, answer: Any, *, cannot: bool, report: str = "") -> bool:
        """Tell whether an answer is right.

        Args:
            answer: What was answered.
            cannot: Whether that it cannot be done was said in place of an answer.
            report: Text of the report.
        """
        wanted = self.right.get("report", ())
        if any(text not in report for text in wanted) or (_MARK in report and _MARK not in wanted):
            return False
        if "cannot" in self.right or cannot:
            return cannot and "cannot" in self.right
        if "equals" in self.right:
            return _plain(answer) == self.right["equals"]
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return all(_holds(text, one, self.right.get("within", 0)) for one in self.right["holds"])


def sittings(names: str = "", root: Path = ROOT) -> Iterator[Sitting]:
    """Yield the sittings of a folder with names holding one of some texts, divided by commas; all without any."""
    for path in sorted(root.glob("*/sitting.json")):
        if any(one in path.parent.name for one in names.split(",")):
            yield Sitting.read(path.parent)


def _holds(text: str, wanted: str | float, within: float) -> bool:
    if isinstance(wanted, str):
        return wanted.casefold() in text.casefold()
    numbers = (float(one.replace(",", "")) for one in _NUMBER.findall(text))
    return any(abs(one - wanted) <= within for one in numbers)


def _plain(answer: Any) -> Any:
    """Return an answer's JSON, if its text holds JSON."""
    if not isinstance(answer, str):
        return answer
    found = re.search(r"\{.*\}|\[.*\]", answer, re.DOTALL)
    try:
        return json.loads(found[0] if found else answer)
    except ValueError:
        return answer


def _read(path: Path, site: str = _SITE) -> Any:
    return json.loads(path.read_text(encoding="utf-8").replace(_SITE, site))


def _check(folder: Path, found: Any, known: set[str]) -> None:
    unknown = sorted(cast("Mapping[str, Any]", found).keys() - known)
    if unknown:
        raise ValueError(f"{folder.name}: {unknown[0]!r} is not one of {', '.join(sorted(known))}")
