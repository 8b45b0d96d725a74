"""What a file is that is no text, told by its first bytes, and for archives by the names in them."""

import io
import zipfile

HEAD = 512
UNKNOWN = "binary data"
_MARKS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"BM", "a BMP image"),
    (0, b"II*\x00", "a TIFF image"),
    (0, b"MM\x00*", "a TIFF image"),
    (8, b"WEBP", "a WebP image"),
    (8, b"WAVE", "a WAV sound"),
    (8, b"AVI ", "an AVI video"),
    (0, b"ID3", "an MP3 sound"),
    (0, b"\xff\xfb", "an MP3 sound"),
    (0, b"\xff\xf3", "an MP3 sound"),
    (0, b"\xff\xf2", "an MP3 sound"),
    (0, b"fLaC", "a FLAC sound"),
    (0, b"OggS", "an Ogg sound"),
    (4, b"ftypM4A", "an M4A sound"),
    (4, b"ftyphei", "a HEIC image"),
    (4, b"ftypavif", "an AVIF image"),
    (4, b"ftyp", "an MP4 video"),
    (0, b"\x1aE\xdf\xa3", "a Matroska or WebM video"),
    (0, b"%PDF-", "a PDF file"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (DOC, XLS or PPT)"),
    (0, b"SQLite format 3\x00", "an SQLite database"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\x1f\x8b", "a GZIP archive"),
    (0, b"BZh", "a BZIP2 archive"),
    (0, b"\xfd7zXZ\x00", "an XZ archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7Z archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (257, b"ustar", "a TAR archive"),
)
_PACKED = {
    "word/document.xml": ("a DOCX file", ".docx"),
    "ppt/presentation.xml": ("a PPTX file", ".pptx"),
    "xl/workbook.xml": ("an XLSX workbook", ".xlsx"),
    "META-INF/container.xml": ("an EPUB book", ".epub"),
    "content.xml": ("an OpenDocument file", ".odf"),
}


def kind_of(data: bytes) -> str:
    """Return what bytes that are no text are, `UNKNOWN` where nothing tells.

    Args:
        data: The file's bytes, or its first ones.
    """
    known = next((words for at, mark, words in _MARKS if data.startswith(mark, at)), UNKNOWN)
    return _packed(data)[0] or known


def suffix_of(data: bytes) -> str:
    """Return the usual ending of a document by its bytes, empty where it is no document."""
    return ".pdf" if data.startswith(b"%PDF-") else _packed(data)[1]


def size_of(number: int) -> str:
    """Return a size in words."""
    if number < 1_000:
        return f"{number} bytes"
    return f"{number / 1_000:.0f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"


def _packed(data: bytes) -> tuple[str, str]:
    if not data.startswith(b"PK\x03\x04"):
        return "", ""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return "", ""
    return next((found for name, found in _PACKED.items() if name in names), ("", ""))
