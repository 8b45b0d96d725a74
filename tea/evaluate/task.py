"""EvalTask: one task with the answer expected of it, as a line of a task set says it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from tea.components.json_schema import schema_fault
from tea.store.strict import dumps
from tea.types import Record

DEFAULT_SCORER = "normalized"
PARTS = {"train": 0.3, "gate": 0.5, "locked": 0.2}


class EvalTask(Record):
    """One task of a set; `task` and `expected` are required.

    Args:
        task: What to do, in words.
        id: Its name within the set; by default the beginning of its digest.
        files: Files it may use, relative to the folder of the set.
        expected: The expected answer, in the form wanted by the scorer.
        scorer: Name of the scorer.
        options: Options of the scorer, for example `{"tolerance": 0.01}`.
        answer: JSON Schema of the wanted answer, which the agent is told too.
        tags: Classes it belongs to; scores are shown by tag too.
        split: The part of the set it belongs to; by default `train`, `gate` or `locked`, by its digest.
        group: What it has in common with others, such as a document; runs of one group count as one cluster.
    """

    task: str = Field(min_length=1, max_length=200_000)
    id: str = Field(default="", max_length=200)
    files: tuple[str, ...] = Field(default=(), max_length=1000)
    expected: JsonValue
    scorer: str = DEFAULT_SCORER
    options: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    answer: dict[str, Any] | None = None
    tags: tuple[str, ...] = ()
    split: str = Field(default="", max_length=60)
    group: str = Field(default="", max_length=200)

    @field_validator("task")
    @classmethod
    def _has_words(cls, value: str) -> str:
        if not value.strip() or "\x00" in value:
            raise ValueError("is empty, or holds a NUL character")
        return value

    @field_validator("scorer")
    @classmethod
    def _is_scorer(cls, value: str) -> str:
        from tea.evaluate.scoring import require_scorer

        require_scorer(value)
        return value

    @model_validator(mode="after")
    def _can_be_scored(self) -> Self:
        from tea.evaluate.scoring import require_expected

        require_expected(self.scorer, self.expected, self.options)
        return self

    @field_validator("answer")
    @classmethod
    def _is_schema(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None and (fault := schema_fault(value)):
            raise ValueError(fault)
        return value

    def work_digest(self, files: Mapping[str, str]) -> str:
        """Return the digest of everything given to an agent.

        Args:
            files: Digests of its files' bytes, by name.
        """
        return digest_of({"task": self.task, "files": dict(files), "answer": self.answer})

    def scoring_digest(self) -> str:
        """Return the digest of how an answer is scored."""
        return digest_of({"expected": self.expected, "scorer": self.scorer, "options": self.options})


def digest_of(data: object) -> str:
    """Return the SHA-256 of JSON data in its canonical form, as 64 hex digits."""
    return hashlib.sha256(dumps(data, sort_keys=True)).hexdigest()


def part_of(key: str, parts: Mapping[str, float] = PARTS) -> str:
    """Return the part of a set for a digest, always the same with any other content of the set.

    Args:
        key: What the tasks that belong together share: the group, else the digest of one.
        parts: Shares by name, from 0 to 1; together 1.

    Examples:
        >>> part_of("a document")
        'gate'
    """
    place = int(hashlib.sha256(f"part/{key}".encode()).hexdigest()[:13], 16) / 16**13
    for name, share in parts.items():
        if place < share:
            return name
        place -= share
    return list(parts)[-1]
