"""PDF: a report's Markdown tokens set on pages, with links and figures."""

import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from tea import ToolError, require_extra

EXTRA = "reports"
MARGIN = 56  # points
MOST_CODE = 95  # characters of a line
_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts", "/Library/Fonts")
_FAMILIES = ("DejaVuSans", "NotoSans-Regular", "LiberationSans-Regular", "FreeSans", "Arial Unicode", "unifont")
_SIZES = {"h1": 20, "h2": 15, "h3": 12.5, "h4": 11, "h5": 10.5, "h6": 10.5}
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
_MOST_PIXELS = 40_000_000
_MOST_OF_ALL = 200_000_000  # pixels of a report, each picture as often as it stands there
_MARKS = {"strong": "b", "em": "i", "s": "strike"}


class Figure(NamedTuple):
    """A picture of a report: the name of its file, and the content."""

    name: str
    data: bytes


def pdf_of(tokens: Sequence[Any], title: str, figures: Mapping[str, Figure]) -> tuple[bytes, list[str]]:
    """Return a PDF file, and notes for its reader.

    Args:
        tokens: The Markdown, parsed.
        title: What it is about.
        figures: Its pictures, by source.

    Raises:
        MissingExtra: The extra for reports is not installed.
    """
    platypus: Any = require_extra("reportlab.platypus", EXTRA)
    text = "".join(one.content for one in tokens if one.content)
    font, notes = _font(text)
    page = _Page(platypus, font, figures)
    out = io.BytesIO()
    made = platypus.SimpleDocTemplate(
        out, title=" ".join(title.split()), leftMargin=MARGIN, rightMargin=MARGIN, topMargin=MARGIN, bottomMargin=MARGIN
    )
    page.width, page.height = made.width, made.height
    made.build(list(page.flow(iter(tokens))) or [platypus.Spacer(1, 1)])
    return out.getvalue(), notes + page.notes


def _pixels(figure: Figure, left: int) -> int:
    """Return the pixels of a picture, before anything else reads it; raise an error for a file that is none for a page.

    Its name says nothing of its form, and other forms, as PostScript, are read by programs of their own.
    """
    with require_extra("PIL.Image", EXTRA).open(io.BytesIO(figure.data), formats=_FORMATS) as found:
        if (pixels := found.width * found.height) > min(_MOST_PIXELS, left):
            raise ToolError(f"{figure.name!r} has too many pixels.", fix="make it smaller.")
        return pixels


class _Page:
    """Turn tokens into reportlab's parts of a page."""

    def __init__(self, platypus: Any, font: str, figures: Mapping[str, Figure]) -> None:
        self._platypus, self._font, self._figures = platypus, font, figures
        self._styles: Any = require_extra("reportlab.lib.styles", EXTRA)
        self._colors: Any = require_extra("reportlab.lib.colors", EXTRA)
        self.width, self.height = 0.0, 0.0
        self.notes: list[str] = []
        self._left = _MOST_OF_ALL

    def flow(self, tokens: Iterator[Any], until: str = "", style: str = "p") -> Iterator[Any]:
        """Yield the page's parts, up to a closing token."""
        for token in tokens:
            if token.type == until:
                return
            if token.type == "heading_open":
                yield self._paragraph(next(tokens), token.tag)
            elif token.type == "inline":
                yield self._paragraph(token, style)
                yield from self._pictures(token)
            elif token.type in ("fence", "code_block"):
                yield self._code(token.content)
            elif token.type == "hr":
                yield self._platypus.HRFlowable(width="100%", color=self._colors.grey)
            elif token.type == "blockquote_open":
                yield from self.flow(tokens, "blockquote_close", "quote")
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                yield self._list(tokens, token)
            elif token.type == "table_open":
                yield self._table(tokens)

    def _style(self, name: str) -> Any:
        size = _SIZES.get(name, 10.5)
        return self._styles.ParagraphStyle(
            name,
            fontName=self._font,
            fontSize=size,
            leading=size * 1.35,
            spaceBefore=10 if name in _SIZES else 0,
            spaceAfter=6,
            leftIndent=16 if name == "quote" else 0,
            wordWrap=None if self._font == "Helvetica" or self._font.startswith("tea-") else "CJK",
        )

    def _paragraph(self, token: Any, style: str) -> Any:
        return self._platypus.Paragraph("".join(_inline(token.children or ())), self._style(style))

    def _pictures(self, token: Any) -> Iterator[Any]:
        for child in token.children or ():
            figure = self._figures.get(child.attrs["src"]) if child.type == "image" else None
            if figure is not None:
                try:
                    self._left -= _pixels(figure, self._left)
                    picture = self._platypus.Image(io.BytesIO(figure.data))
                    scale = min(1.0, self.width / picture.drawWidth, self.height * 0.8 / picture.drawHeight)
                    picture.drawWidth, picture.drawHeight = picture.drawWidth * scale, picture.drawHeight * scale
                except Exception:  # foreign code, which may raise anything for a file that is not a picture
                    self.notes.append(f"{figure.name} is not in the PDF: it cannot be read as a picture.")
                    continue
                yield picture

    def _code(self, text: str) -> Any:
        style = self._style("code")
        style.fontName, style.fontSize, style.leading = "Courier" if text.isascii() else self._font, 8.5, 11
        lines = [
            part
            for line in text.rstrip("\n").split("\n")
            for part in wrap(line, MOST_CODE, drop_whitespace=False, replace_whitespace=False) or [""]
        ]
        return self._platypus.XPreformatted(escape("\n".join(lines)), style)

    def _list(self, tokens: Iterator[Any], opened: Any) -> Any:
        numbered = opened.type == "ordered_list_open"
        items: list[Any] = []
        for token in tokens:
            if token.type == opened.type.replace("open", "close"):
                break
            if token.type == "list_item_open":
                items.append(self._platypus.ListItem(list(self.flow(tokens, "list_item_close"))))
        start = int(opened.attrs.get("start", 1)) if numbered else None
        return self._platypus.ListFlowable(
            items, bulletType="1" if numbered else "bullet", start=start, bulletFontSize=10, leftIndent=20
        )

    def _table(self, tokens: Iterator[Any]) -> Any:
        rows: list[list[Any]] = []
        for token in tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(self._paragraph(token, "cell"))
        columns = max(map(len, rows))
        rule = ("GRID", (0, 0), (-1, -1), 0.5, self._colors.grey)
        shade = ("BACKGROUND", (0, 0), (-1, 0), self._colors.whitesmoke)
        return self._platypus.Table(
            [row + [""] * (columns - len(row)) for row in rows],
            colWidths=[self.width / columns] * columns,
            style=[rule, shade, ("VALIGN", (0, 0), (-1, -1), "TOP")],
            repeatRows=1,
        )


def _inline(children: Sequence[Any]) -> Iterator[str]:
    """Yield reportlab's own mark-up of a line."""
    for child in children:
        name, _, side = child.type.rpartition("_")
        if child.type in ("softbreak", "hardbreak"):
            yield "<br/>" if child.type == "hardbreak" else " "
        elif child.type == "code_inline":
            face = ' face="Courier"' if child.content.isascii() else ""
            yield f"<font{face}>{escape(child.content)}</font>"
        elif child.type == "image":
            yield f"<i>{escape(child.content)}</i>"
        elif name == "link":
            yield f'<a href="{escape(child.attrs["href"])}" color="blue">' if side == "open" else "</a>"
        elif name in _MARKS:
            yield f"<{'/' if side == 'close' else ''}{_MARKS[name]}>"
        else:
            yield escape(child.content)


def _font(text: str) -> tuple[str, list[str]]:
    """Return the font with the most of a text's letters, and a note about missing ones."""
    wanted = {letter for letter in text if letter.isprintable() and not letter.isspace()}
    if all(_is_western(letter) for letter in wanted):
        return "Helvetica", []
    best, lacking = "Helvetica", {letter for letter in wanted if not _is_western(letter)}
    metrics: Any = require_extra("reportlab.pdfbase.pdfmetrics", EXTRA)
    for name, font in _candidates():
        if len(less := {one for one in wanted if not font(one)}) < len(lacking):
            best, lacking = name, less
        if not lacking:
            break
    if best != "Helvetica" and best.startswith("tea-"):
        metrics.registerFontFamily(best, normal=best, bold=best, italic=best, boldItalic=best)
    shown = "".join(sorted(lacking)[:20])
    fix = "install a font that has them, such as the package `fonts-dejavu` of your distribution"
    return best, [f"The PDF lacks letters that no font here has ({shown}): {fix}."] if lacking else []


def _candidates() -> Iterator[tuple[str, Any]]:
    """Yield fonts, registered, each with a test for a letter."""
    metrics: Any = require_extra("reportlab.pdfbase.pdfmetrics", EXTRA)
    ttfonts: Any = require_extra("reportlab.pdfbase.ttfonts", EXTRA)
    for path in _files():
        try:
            font: Any = ttfonts.TTFont(f"tea-{path.stem}", str(path))
        except Exception:  # foreign code: fonts of other forms than it reads
            continue
        metrics.registerFont(font)
        yield font.fontName, _Glyphs(font.face.charToGlyph)
    cid: Any = require_extra("reportlab.pdfbase.cidfonts", EXTRA)
    for name, tells in (("HeiseiMin-W3", _is_japanese), ("STSong-Light", _is_han), ("HYSMyeongJo-Medium", _is_korean)):
        font = cid.UnicodeCIDFont(name)
        metrics.registerFont(font)
        yield name, tells


class _Glyphs:
    """Tells whether a font has a letter."""

    def __init__(self, glyphs: Mapping[int, int]) -> None:
        self._known = glyphs

    def __call__(self, letter: str) -> bool:
        return ord(letter) in self._known


def _files() -> list[Path]:
    found = [path for folder in _FONTS for path in Path(folder).expanduser().rglob("*.ttf")]
    return sorted(
        (path for path in found if path.stem.startswith(_FAMILIES)), key=lambda path: (len(path.stem), str(path))
    )[:12]


def _is_western(letter: str) -> bool:
    try:
        return bool(letter.encode("cp1252"))
    except UnicodeEncodeError:
        return False


def _is_han(letter: str) -> bool:
    return _is_western(letter) or "\u3000" <= letter <= "\u303f" or "\u4e00" <= letter <= "\u9fff" or letter >= "\uff00"


def _is_japanese(letter: str) -> bool:
    return _is_han(letter) or "\u3040" <= letter <= "\u30ff"


def _is_korean(letter: str) -> bool:
    return _is_han(letter) or "\uac00" <= letter <= "\ud7a3"
