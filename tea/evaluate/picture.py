"""Picture: scores and differences as SVG, drawn without anything to install."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from tea.characters import numbered
from tea.evaluate.compare import Comparison
from tea.evaluate.evaluation import Evaluation
from tea.evaluate.statistics import Interval
from tea.evaluate.summary import Summary

_WIDTH, _ROW, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 26, 220, 110, 46, 34
_STYLE = (
    "text{font:12px sans-serif;fill:#1b1f24}.t{font-size:15px;font-weight:bold}.a{fill:#59636e}"
    ".g{stroke:#d1d9e0;stroke-width:1}.i{stroke:#0969da;stroke-width:2}.m{fill:#0969da}"
    ".w{stroke:#cf222e;fill:#cf222e}.b{stroke:#1a7f37;fill:#1a7f37}"
)


def score_picture(evaluation: Evaluation, summary: Summary) -> str:
    """Return the scores of an evaluation as SVG: all and each tag, with intervals."""
    rows = [("all", summary.whole.score), *((tag, one.score) for tag, one in summary.tags.items())]
    return _picture(f"{evaluation.name}: {evaluation.label}", rows, 0.0, 1.0)


def difference_picture(before: Evaluation, after: Evaluation, found: Comparison) -> str:
    """Return the differences of two evaluations as SVG: all and each tag, with intervals around no change."""
    rows = [("all", found.difference), *found.tags.items()]
    ends = [abs(end) for _, one in rows for end in (one.mean, one.low, one.high) if math.isfinite(end)]
    most = min(1.0, max([0.1, *ends]) * 1.05)
    return _picture(f"{before.label} → {after.label}", rows, -most, most)


def _picture(title: str, rows: Sequence[tuple[str, Interval]], low: float, high: float) -> str:
    height = _TOP + _ROW * len(rows) + _BOTTOM
    inner = _WIDTH - _LEFT - _RIGHT

    def x(value: float) -> float:
        return round(_LEFT + (min(max(value, low), high) - low) / (high - low) * inner, 1)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{_text(title)}</title><style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text class="t" x="12" y="24">{_text(title[:90])}</text>',
    ]
    for step in range(5):
        value = low + (high - low) * step / 4
        lines.append(f'<line class="g" x1="{x(value)}" x2="{x(value)}" y1="{_TOP}" y2="{height - _BOTTOM}"/>')
        label = f"{100 * value:+.0f}" if low < 0 else f"{100 * value:.0f} %"
        lines.append(f'<text class="a" text-anchor="middle" x="{x(value)}" y="{height - 12}">{label}</text>')
    for place, (name, one) in enumerate(rows):
        y = _TOP + _ROW * place + _ROW // 2
        kind = ("b" if one.low > 0 else "w" if one.high < 0 else "i") if low < 0 else "i"
        dot = "m" if kind == "i" else kind
        ends = (max(one.low, low), min(one.high, high))
        label = f"{100 * one.mean:+.1f}" if low < 0 else f"{100 * one.mean:.1f} %"
        lines += [
            f'<text text-anchor="end" x="{_LEFT - 12}" y="{y + 4}">{_text(name[:32])}</text>',
            f'<line class="{kind}" x1="{x(ends[0])}" x2="{x(ends[1])}" y1="{y}" y2="{y}"/>',
            f'<circle class="{dot}" cx="{x(one.mean)}" cy="{y}" r="4"/>',
            f'<text x="{_WIDTH - _RIGHT + 12}" y="{y + 4}">{label} (n {one.clusters})</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _text(words: str) -> str:
    """Return words as text of XML, without control characters."""
    return escape(numbered(words))
