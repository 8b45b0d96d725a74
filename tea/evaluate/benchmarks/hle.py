"""Humanity's Last Exam (Phan et al. 2025): JSON lines with the fields of the data set.

Layout: a `.jsonl` file with `id`, `question`, `answer`, `answer_type`, `category` or `raw_subject`, and `image`, a data
address or empty. Images are written beside the file, into `images/`, when they are not there yet.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path

from tea.errors import BadInput
from tea.evaluate.benchmarks.files import HOSTS, Row, read_rows, slugs, the_file
from tea.evaluate.task import EvalTask
from tea.evaluate.task_set import TaskSet
from tea.store.bulk import write_whole
from tea.store.files import writing
from tea.store.scratch import make_folders

_IMAGE = re.compile(r"data:image/([a-z]{2,5});base64,")
_NAME = re.compile(r"[^A-Za-z0-9_-]")
_FORM = (
    "Give a short explanation, the exact final answer, and how confident you are in it from 0 % to 100 %, "
    'on lines that begin with "Explanation:", "Answer:" and "Confidence:".'
)


def load(path: Path) -> TaskSet:
    """Read Humanity's Last Exam.

    Raises:
        BadInput: The layout is another one, or an image cannot be read.
    """
    file = the_file(path, "hle.jsonl", "test.jsonl")
    tasks: list[EvalTask] = []
    for row in read_rows(file):
        image = row.optional("image")
        kind = row.optional("answer_type")
        tasks.append(
            EvalTask(
                id=row.text("id"),
                task=f"{row.text('question')}\n\n{_FORM}",
                files=(_image(image, row, file.parent),) if image else (),
                expected=row.text("answer"),
                scorer="hle",
                tags=slugs([row.optional("category", "raw_subject"), kind, "image" if image else "text"]),
            )
        )
    return TaskSet.of(tasks, name="HLE", folder=file.parent, deny=HOSTS, canaries=("hle-benchmark", "cais/hle"))


def _image(address: str, row: Row, folder: Path) -> str:
    """Return the name of an image's file, written if it is not there."""
    found = _IMAGE.match(address)
    if found is None:
        raise BadInput(f"{row.where}: its image is not a data address.", fix="export the data set with its images.")
    try:
        data = base64.b64decode(address[found.end() :], validate=True)
    except binascii.Error as error:
        raise BadInput(f"{row.where}: its image is not Base64.", fix="export the data set again.") from error
    path = folder / "images" / f"{_NAME.sub('_', row.text('id'))}.{found[1].replace('jpeg', 'jpg')}"
    with writing(path):
        make_folders(path.parent)
        if not path.is_file() or path.read_bytes() != data:
            write_whole(path, data)
    return path.relative_to(folder).as_posix()
