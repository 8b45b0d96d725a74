"""BrowseComp (Wei et al. 2025): `browse_comp_test_set.csv` with its encrypted problems and answers.

Each row holds `problem` and `answer` in Base64, combined by exclusive or with the SHA-256 of its `canary`, repeated.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from itertools import cycle
from pathlib import Path

from tea.errors import BadInput
from tea.evaluate.benchmarks.files import HOSTS, Row, read_rows, slugs, the_file
from tea.evaluate.task import EvalTask
from tea.evaluate.task_set import TaskSet

_FORM = (
    "Give a short explanation, the exact final answer, and how confident you are in it from 0 % to 100 %, "
    'on lines that begin with "Explanation:", "Exact Answer:" and "Confidence:".'
)


def load(path: Path) -> TaskSet:
    """Read BrowseComp.

    Raises:
        BadInput: The layout is another one, or a row cannot be decrypted.
    """
    rows = read_rows(the_file(path, "browse_comp_test_set.csv"))
    tasks = [
        EvalTask(
            id=f"browsecomp-{number}",
            task=f"{_plain(row, 'problem')}\n\n{_FORM}",
            expected=_plain(row, "answer"),
            scorer="browsecomp",
            tags=slugs([row.optional("problem_topic", "topic")]),
        )
        for number, row in enumerate(rows, 1)
    ]
    canaries = sorted({row.text("canary") for row in rows} - {""})
    return TaskSet.of(tasks, name="BrowseComp", deny=HOSTS, canaries=canaries[:20])


def decrypted(text: str, password: str) -> str:
    """Return the plain text behind a combination with the digest of a password.

    Args:
        text: Base64 of the bytes.
        password: The canary of its row.

    Raises:
        ValueError: It is not Base64, or not text behind it.

    Examples:
        >>> decrypted("65IobQ==", "tea")
        'Bees'
    """
    data = base64.b64decode(text, validate=True)
    key = hashlib.sha256(password.encode()).digest()
    return bytes(one ^ other for one, other in zip(data, cycle(key), strict=False)).decode("utf-8")


def _plain(row: Row, name: str) -> str:
    try:
        return decrypted(row.text(name), row.text("canary"))
    except (ValueError, binascii.Error) as error:
        raise BadInput(f"{row.where}: its {name} cannot be decrypted.", fix="name the published file.") from error
