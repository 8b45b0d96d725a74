"""Kinds: the kinds of bytes, told by themselves and never by a name alone."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path, PurePath
from typing import BinaryIO

from tea.reading.inside.charset import utf_16_of

HEAD = 16_384  # bytes by which most kinds are told
UNKNOWN = "binary"
_MOST_PARTS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """The kind of a file.

    Args:
        name: A short name, usually that of its ending: `pdf`, `docx`, `html`, `text`.
        family: `text`, `table`, `document`, `image`, `audio`, `video`, `archive` or `other`.
        words: What it is called in messages, with its article.
    """

    name: str
    family: str
    words: str

    @property
    def is_packed(self) -> bool:
        """Whether it is an archive or a mail, always taken apart; Office files are not."""
        return self.family == "archive" or self.name == "eml"


def _kind(name: str, family: str, words: str = "") -> Kind:
    return Kind(name=name, family=family, words=words or f"a {name.upper()} file")


_IMAGE, _SOUND, _VIDEO, _PACKED, _DOCUMENT = "image", "audio", "video", "archive", "document"
_MARKS: tuple[tuple[int, bytes, Kind], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", _kind("png", _IMAGE, "a PNG image")),
    (0, b"\xff\xd8\xff", _kind("jpeg", _IMAGE, "a JPEG image")),
    (0, b"GIF8", _kind("gif", _IMAGE, "a GIF image")),
    (0, b"II*\x00", _kind("tiff", _IMAGE, "a TIFF image")),
    (0, b"MM\x00*", _kind("tiff", _IMAGE, "a TIFF image")),
    (0, b"\x00\x00\x01\x00", _kind("ico", _IMAGE, "an ICO image")),
    (0, b"icns\x00", _kind("icns", _IMAGE, "an ICNS image")),
    (4, b"jP  \r\n\x87\n", _kind("jp2", _IMAGE, "a JPEG 2000 image")),
    (0, b"\xff\x4f\xff\x51", _kind("jp2", _IMAGE, "a JPEG 2000 image")),
    (0, b"\x0a\x05\x01", _kind("pcx", _IMAGE, "a PCX image")),
    (0, b"8BPS", _kind("psd", _IMAGE, "a Photoshop image")),
    (0, b"qoif", _kind("qoi", _IMAGE, "a QOI image")),
    (0, b"DDS ", _kind("dds", _IMAGE, "a DDS image")),
    (8, b"WEBP", _kind("webp", _IMAGE, "a WebP image")),
    (8, b"WAVE", _kind("wav", _SOUND, "a WAV sound")),
    (8, b"AVI ", _kind("avi", _VIDEO, "an AVI video")),
    (0, b"ID3", _kind("mp3", _SOUND, "an MP3 sound")),
    (0, b"\xff\xfb", _kind("mp3", _SOUND, "an MP3 sound")),
    (0, b"\xff\xf3", _kind("mp3", _SOUND, "an MP3 sound")),
    (0, b"\xff\xf2", _kind("mp3", _SOUND, "an MP3 sound")),
    (0, b"fLaC", _kind("flac", _SOUND, "a FLAC sound")),
    (0, b"OggS", _kind("ogg", _SOUND, "an Ogg sound")),
    (0, b".snd", _kind("au", _SOUND, "an AU sound")),
    (8, b"AIFF", _kind("aiff", _SOUND, "an AIFF sound")),
    (8, b"AIFC", _kind("aiff", _SOUND, "an AIFF sound")),
    (0, b"\xff\xf1", _kind("aac", _SOUND, "an AAC sound")),
    (0, b"\xff\xf9", _kind("aac", _SOUND, "an AAC sound")),
    (0, b"\x0bw", _kind("ac3", _SOUND, "an AC-3 sound")),
    (0, b"\xff\xfd", _kind("mp3", _SOUND, "an MP2 sound")),
    (0, b"#!AMR", _kind("amr", _SOUND, "an AMR sound")),
    (0, b"caff", _kind("caf", _SOUND, "a CAF sound")),
    (0, b"wvpk", _kind("wv", _SOUND, "a WavPack sound")),
    (0, b"MThd", _kind("midi", "other", "a MIDI file, which holds notes and no sound")),
    (0, b"0&\xb2u\x8ef\xcf\x11", _kind("wmv", _VIDEO, "a Windows Media sound or video")),
    (0, b"FLV\x01", _kind("flv", _VIDEO, "a Flash video")),
    (0, b"\x00\x00\x01\xba", _kind("mpeg", _VIDEO, "an MPEG video")),
    (0, b"\x00\x00\x01\xb3", _kind("mpeg", _VIDEO, "an MPEG video")),
    (4, b"ftypM4A", _kind("m4a", _SOUND, "an M4A sound")),
    (4, b"ftyphei", _kind("heic", _IMAGE, "a HEIC image")),
    (4, b"ftypmif1", _kind("heic", _IMAGE, "a HEIC image")),
    (4, b"ftypavif", _kind("avif", _IMAGE, "an AVIF image")),
    (4, b"ftyp", _kind("mp4", _VIDEO, "an MP4 video")),
    (4, b"moov", _kind("mp4", _VIDEO, "a QuickTime video")),
    (4, b"mdat", _kind("mp4", _VIDEO, "a QuickTime video")),
    (4, b"wide", _kind("mp4", _VIDEO, "a QuickTime video")),
    (0, b"\x1aE\xdf\xa3", _kind("mkv", _VIDEO, "a Matroska or WebM video")),
    (0, b"%PDF-", _kind("pdf", _DOCUMENT)),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _kind("ole", "other", "an old or encrypted Office file")),
    (0, b"SQLite format 3\x00", _kind("sqlite", "other", "an SQLite database")),
    (0, b"!<arch>\n", _kind("ar", "other", "a Debian package or AR archive")),
    (0, b"\x00\x01\x00\x00\x00", _kind("font", "other", "a font")),
    (0, b"OTTO", _kind("font", "other", "a font")),
    (0, b"wOF2", _kind("font", "other", "a font")),
    (0, b"PAR1", _kind("parquet", "other", "a Parquet file")),
    (0, b"PK\x03\x04", _kind("zip", _PACKED, "a ZIP archive")),
    (0, b"PK\x05\x06", _kind("zip", _PACKED, "an empty ZIP archive")),
    (0, b"\x1f\x8b", _kind("gzip", _PACKED, "a GZIP archive")),
    (0, b"BZh", _kind("bzip2", _PACKED, "a BZIP2 archive")),
    (0, b"\xfd7zXZ\x00", _kind("xz", _PACKED, "an XZ archive")),
    (0, b"7z\xbc\xaf\x27\x1c", _kind("7z", _PACKED, "a 7Z archive")),
    (0, b"Rar!\x1a\x07", _kind("rar", "other", "a RAR archive")),
    (0, b"\x28\xb5\x2f\xfd", _kind("zstd", "other", "a Zstandard archive")),
    (257, b"ustar", _kind("tar", _PACKED, "a TAR archive")),
    (0, b"{\\rtf", _kind("rtf", "other", "an RTF file")),
    (0, b"BM", _kind("bmp", _IMAGE, "a BMP image")),
)
_MEDIA = frozenset((_IMAGE, _SOUND, _VIDEO))
_NOT_MARKED_IN_TEXTS = frozenset({"mp3", "bzip2", "parquet", "rar", "font"})  # a text may begin with their marks
_BITMAP = re.compile(rb"P[1-6]\s(?:\s|#[^\n]*\n)*\d{1,6}\s+\d{1,6}\s")  # of Netpbm
_BITMAP_IN_TEXT = re.compile(rb"P[1-3]\r?\n(?:#[^\n]*\n)*\d{1,6} +\d{1,6}\s*\n")
_OLE, _STORE = "ole", 1_000_000  # bytes of an old Office file's beginning and end that are looked at
_OLE_PARTS: Mapping[str, Kind] = {
    "EncryptedPackage": _kind("encrypted", "other", "an encrypted Office file"),
    "__properties_version1.0": _kind("msg", "other", "an Outlook message"),
    "WordDocument": _kind("doc", "other", "a Word file of before 2007"),
    "PowerPoint Document": _kind("ppt", "other", "a PowerPoint file of before 2007"),
    "Workbook": _kind("xls", "other", "an Excel file of before 2007"),
}
_PACKED_KINDS: Mapping[str, Kind] = {
    "word/document.xml": _kind("docx", _DOCUMENT),
    "ppt/presentation.xml": _kind("pptx", _DOCUMENT),
    "xl/workbook.xml": _kind("xlsx", "table", "an XLSX workbook"),
    "META-INF/container.xml": _kind("epub", _DOCUMENT, "an EPUB book"),
    "content.xml": _kind("odt", _DOCUMENT, "an OpenDocument file"),
}
_OPEN_DOCUMENTS = {
    "application/vnd.oasis.opendocument.text": _kind("odt", _DOCUMENT, "an OpenDocument text"),
    "application/vnd.oasis.opendocument.spreadsheet": _kind("ods", "table", "an OpenDocument workbook"),
    "application/vnd.oasis.opendocument.presentation": _kind("odp", _DOCUMENT, "an OpenDocument presentation"),
    "application/epub+zip": _PACKED_KINDS["META-INF/container.xml"],
}
TEXT = _kind("text", "text", "a text")
_TEXTS = {
    "html": _kind("html", _DOCUMENT, "a web page"),
    "xml": _kind("xml", "text", "an XML file"),
    "json": _kind("json", "text"),
    "jsonl": _kind("jsonl", "text", "a file of JSON lines"),
    "ipynb": _kind("ipynb", _DOCUMENT, "a notebook"),
    "eml": _kind("eml", _DOCUMENT, "an e-mail"),
    "csv": _kind("csv", "table"),
    "tsv": _kind("tsv", "table"),
    "yaml": _kind("yaml", "text"),
    "markdown": _kind("markdown", "text", "a Markdown text"),
}
_BY_ENDING = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".yaml": "yaml", ".yml": "yaml", ".md": "markdown",
    ".markdown": "markdown", ".eml": "eml", ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip
_HTML = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype html|html|head|body|title|meta|script|div|p|h1)\b", re.I | re.S
)
_XHTML = re.compile(rb"<html\b", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAIL_HEADERS = frozenset(
    [
        "from",
        "to",
        "cc",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "received",
        "return-path",
        "content-type",
        "delivered-to",
    ]
)
_HEADER = re.compile(rb"(?:From [^\n]*\n)?[A-Za-z][A-Za-z0-9-]{1,60}:[ \t]")


def kind_of(head: bytes, name: str = "") -> Kind:
    """Return the kind of a file by its first bytes; a ZIP archive's parts are not looked at.

    Args:
        head: Its first bytes, 16,384 of them or all.
        name: Its name, which decides only between kinds of text.
    """
    text = is_text(head)
    for at, mark, kind in _MARKS:
        if head.startswith(mark, at) and not (text and _is_writable(mark, kind)):
            return kind
    if not text and _is_transport(head):
        return _kind("mpeg", _VIDEO, "an MPEG transport stream")
    if (_BITMAP_IN_TEXT if text else _BITMAP).match(head):
        return _kind("ppm", _IMAGE, "a Netpbm image")
    if b"%PDF-" in head[:1_024]:
        return next(kind for _, mark, kind in _MARKS if mark == b"%PDF-")
    return _text_kind(_narrow(head), name) if text else _kind(UNKNOWN, "other", "binary data")


def _is_transport(head: bytes) -> bool:
    """Return whether bytes are packets of an MPEG transport stream, as recorders and cameras write them."""
    starts = ((0, 188), (4, 192))  # where the first packet is marked, and how long each is
    return any(len(head) > at + 3 * size and set(head[at::size][:4]) == {0x47} for at, size in starts)


def _is_writable(mark: bytes, kind: Kind) -> bool:
    """Return whether a text may begin with a mark, as with one of letters."""
    return kind.name in _NOT_MARKED_IN_TEXTS or (kind.family in _MEDIA and mark.isascii())


def kind_of_file(file: BinaryIO, name: str) -> Kind:
    """Return the kind of an open file; of a ZIP archive by the names in it, too.

    Args:
        file: The file, at its beginning.
        name: Its name.

    Raises:
        OSError: It cannot be read.
    """
    found = kind_of(file.read(HEAD), name)
    if found.name == "zip":
        return packed_kind(file) or found
    file.seek(0)
    if found.name == _OLE:
        return _ole_kind(file) or found
    if found.name == "json" and _is_notebook(file):
        return _TEXTS["ipynb"]
    return found


def named(name: str) -> Kind | None:
    """Return the kind of a name among texts and PDF, None for another."""
    return _TEXTS.get(name) or {"text": TEXT, "pdf": kind_of(b"%PDF-")}.get(name)


def packed_kind(source: Path | BinaryIO | bytes) -> Kind | None:
    """Return the kind of a ZIP archive by the names in it, None if it is just an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            parts = {one.filename: one for one in archive.infolist()[:_MOST_PARTS]}
            told = parts.get("mimetype")
            if told is not None and told.file_size < 200:
                said = archive.read(told).decode("ascii", "replace").strip()
                if found := _OPEN_DOCUMENTS.get(said.removesuffix("-template")):
                    return found
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError):
        return None
    return next((found for name, found in _PACKED_KINDS.items() if name in parts), None)


def _ole_kind(file: BinaryIO) -> Kind | None:
    """Return the kind of an old Office file by the names of its parts, None if they are not found."""
    data = file.read(_STORE)
    file.seek(max(len(data), file.seek(0, io.SEEK_END) - _STORE))
    data += file.read()
    return next((kind for name, kind in _OLE_PARTS.items() if name.encode("utf-16-le") in data), None)


def is_text(head: bytes) -> bool:
    """Return whether bytes are a text: UTF-8, UTF-16, or an encoding without control characters."""
    if utf_16_of(head):
        return True
    if b"\0" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        cut = len(head) >= HEAD and error.start >= len(head) - 4  # within a character
        return cut or not _CONTROL.search(head)
    return True


def _narrow(head: bytes) -> bytes:
    """Return the beginning of a text in UTF-16 as UTF-8, and of another as it is."""
    wide = utf_16_of(head)
    return head.decode(wide, "ignore").encode("utf-8", "ignore") if wide else head


def size_words(number: int) -> str:
    """Return a size in words."""
    if number < 1_000:
        return f"{number} bytes"
    return f"{number / 1_000:.0f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"


def _text_kind(head: bytes, name: str) -> Kind:
    body = head.lstrip(b"\xef\xbb\xbf").lstrip()
    wanted = _BY_ENDING.get(PurePath(name).suffix.lower(), "")
    if is_html(head):
        return _TEXTS["html"]
    if body.startswith(b"<?xml") or (body[:1] == b"<" and PurePath(name).suffix.lower() in (".xml", ".svg", ".rss")):
        return _TEXTS["xml"]
    if wanted in ("csv", "tsv", "jsonl", "markdown") and not (wanted in ("csv", "tsv") and _is_nested(body)):
        return _TEXTS[wanted]
    if body[:1] in (b"{", b"[") and (found := _json_kind(body, wanted)):
        return found
    if _is_mail(body):
        return _TEXTS["eml"]
    return _TEXTS[wanted] if wanted and wanted != "eml" else TEXT


def is_html(head: bytes) -> bool:
    """Return whether a text is HTML by how it begins."""
    body = head[:HEAD].lstrip(b"\xef\xbb\xbf")
    return bool(_HTML.match(body) or (body.lstrip().startswith(b"<?xml") and _XHTML.search(body[:2_048])))


def _is_nested(body: bytes) -> bool:
    """Return whether a text begins with an array or object of JSON, and nothing but others follow it."""
    text = body.decode("utf-8", "replace")
    if text[:1] not in ("{", "["):
        return False
    try:
        end = json.JSONDecoder().raw_decode(text)[1]
    except json.JSONDecodeError as error:  # of a long file only the beginning is here
        return len(body) > HEAD // 2 and (error.pos >= len(text) - 8 or error.msg.startswith("Unterminated"))
    except RecursionError:
        return True
    return text[end:].lstrip()[:1] in ("", "{", "[")


def _json_kind(body: bytes, wanted: str) -> Kind | None:
    if wanted and wanted not in ("csv", "tsv"):
        return _TEXTS[wanted]
    lines = body.splitlines()
    if len(lines) > 1 and all(_is_json(line) for line in lines[:2]):
        return _TEXTS["jsonl"]
    return _TEXTS["json"] if re.match(rb'[\[{]\s*["\[{\]}\d\-tfn]', body) else None


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _is_notebook(file: BinaryIO) -> bool:
    data = file.read(50_000_000)
    return b'"nbformat"' in data and b'"cells"' in data


def _is_mail(body: bytes) -> bool:
    if not _HEADER.match(body):
        return False
    told = HeaderParser().parsestr(re.sub(r"^From [^\n]*\n", "", body.decode("latin-1")), headersonly=True)
    names = {key.lower() for key in told}
    return len(names & _MAIL_HEADERS) >= 3 and bool(names & {"from", "received", "return-path", "message-id"})
