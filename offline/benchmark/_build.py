"""Turns a class of question, a wording and a table into a question with its right answer."""

import re
from functools import partial

import _pairs as pairs
import _rows as rows
import _sets as sets
from _pick import Builder
from _tables import Question, Source

BUILDERS: dict[str, Builder] = {
    "count all": sets.count_all,
    "count where": sets.count_where,
    "count asked": sets.count_asked,
    **dict.fromkeys(("count above", "count below", "count at least"), sets.count_number),
    "count between": sets.count_between,
    "distinct": sets.distinct,
    "list values": sets.list_values,
    **{name: partial(sets.aggregate, name=name) for name in ("mean", "median", "sum", "max", "min")},
    "range": sets.spread,
    "top row": rows.top_row,
    "bottom row": rows.bottom_row,
    "superlative": rows.superlative,
    "rank": rows.nth_row,
    "top n": rows.top_rows,
    "value and row": rows.value_and_row,
    "most rows": sets.most_rows,
    "fewest rows": sets.fewest_rows,
    "most common": sets.most_rows,
    "group mean": partial(sets.group_number, name="mean"),
    "group sum": partial(sets.group_number, name="sum"),
    "look up": rows.look_up,
    "look up own": rows.own_look_up,
    "reverse": rows.reverse,
    "yes no": pairs.yes_no,
    "compare rows": pairs.compare_rows,
    "compare groups": pairs.compare_groups,
    "difference": pairs.difference,
    "share": pairs.share,
}
"""The builder of each class of question."""


def build(source: Source, label: str, wording: str) -> Question | None:
    """Build one question of a class from a wording, or None when the table does not lend itself to it."""
    built = BUILDERS[label](source, wording)
    if built is None:
        return None
    slots, kind, answer, rivals = built
    slots = {"rows": source.table.rows, "row": source.table.row, "file": source.path.name, **slots}
    if set(re.findall(r"{(\w+)}", wording)) - slots.keys():
        return None
    return Question(
        text=tidy(wording.format(**slots)), files=(source.path,), kind=kind, answer=answer, rivals=rivals,
        label=label, table=source.table.domain, wording=wording,
    )  # fmt: skip


def tidy(text: str) -> str:
    """Choose articles by the next sound, put verbs into the plural as needed, and begin with a capital letter."""
    for one, many in (("is", "are"), ("was", "were"), ("does", "do")):
        text = re.sub(rf"(?i)\b{one}(?= the (?:deaths|disease deaths|wages|coordinates)\b)", many, text)
    text = re.sub(r"\b([Aa]) (?=[aeioAEIO]|un(?!i|em\b))", r"\1n ", text)
    text = re.sub(r"\b(a )((?:wages|deaths|wind|precipitation|poverty)\b)", r"\2", text)
    return text if ".csv:" in text else text[0].upper() + text[1:]
