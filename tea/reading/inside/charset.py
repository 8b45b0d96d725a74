"""Bytes of a page to text: by its mark, its header, its own declaration, and by the best fit if these are wrong."""

import codecs
import re
import unicodedata

_LOOKED_AT = 4_096
_DETECTED_FROM = 100_000
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_SAID = re.compile(
    rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
# What browsers read under these names (WHATWG Encoding Standard), since their texts use more than the names promise.
_MEANT = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "shift_jis": "cp932", "big5": "big5hkscs",
    "utf-16": "utf-16-le",
}  # fmt: skip
_USUAL = "cp1252"
_WIDE = 16_384  # bytes by which UTF-16 without a mark is told
_LEAST_ASCII = 0.05  # the share of blanks, digits and the like, in texts of any script
_ONE_BYTE = re.compile(r"cp\d+|iso8859|koi8|mac")


def text_of(data: bytes, content_type: str) -> tuple[str, str]:
    """Return the text of a page, and the encoding of its reading.

    Args:
        data: Its bytes.
        content_type: The header of that name, empty for none.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace"), name
    if wide := utf_16_of(data):
        return data.decode(wide, "replace"), wide
    header = _HEADER.search(content_type)
    said = _SAID.search(data[:_LOOKED_AT])
    names = [header[1] if header else "", (said[1] or said[2]).decode("ascii") if said else ""]
    declared = [codec for name in names if (codec := _codec(name))]
    if declared[1:] and said and declared[1].startswith("utf-16"):
        declared[1] = "utf-8"  # the declaration was readable as ASCII, so the page is not UTF-16
    whole = [name for name in (*_utf8_first(declared, data), "utf-8") if _fits(data, name)]
    if whole:
        return data.decode(whole[0]), whole[0]
    if declared and not _is_mistaken(data, declared[0]):
        return data.decode(declared[0], "replace"), declared[0]
    found = _detected(data)
    return data.decode(found, "replace"), found


def utf_16_of(data: bytes) -> str:
    """Return the encoding of a text in UTF-16, empty for other bytes.

    With a mark it is `utf-16`; without, bytes are told by the zeros in every other place, and by being text when read.

    Args:
        data: The text, or an even number of its first bytes.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "" if data.startswith(codecs.BOM_UTF32_LE) else "utf-16"
    head = data[:_WIDE]
    if 0 not in head or len(data) % 2:
        return ""
    found = max(("utf-16-le", "utf-16-be"), key=lambda name: _ascii_share(head, name))
    return found if _ascii_share(head, found) >= _LEAST_ASCII else ""


def _ascii_share(head: bytes, name: str) -> float:
    """Return the share of ASCII among the characters of a text, 0 for bytes without meaning in an encoding."""
    try:
        text = codecs.getincrementaldecoder(name)().decode(head)
    except UnicodeDecodeError:
        return 0.0
    if any(one not in "\t\n\r\f" and unicodedata.category(one) in ("Cc", "Cn", "Co") for one in text):
        return 0.0
    return sum(one.isascii() for one in text) / max(1, len(text))


def _utf8_first(declared: list[str], data: bytes) -> list[str]:
    """Return the encodings in the order to try: UTF-8 before one-byte encodings, as any text is valid in those.

    A server's default often says Latin though its pages are UTF-8, and a text of another encoding is hardly ever UTF-8.
    """
    if declared and _ONE_BYTE.match(declared[0]) and not data.isascii():
        return ["utf-8", *declared]
    return declared


def _codec(name: str) -> str:
    """Return the codec used by browsers for a name, empty if there is none."""
    if not name or name.lower() in ("binary", "none", "default"):
        return ""
    try:
        known = codecs.lookup(name).name
    except LookupError:
        return ""
    try:
        "".encode(known)
    except LookupError:  # it is not an encoding of texts, as base64
        return ""
    return _MEANT.get(known, known)


def _fits(data: bytes, name: str) -> bool:
    try:
        data.decode(name)
    except UnicodeError:
        return False
    return True


def _is_mistaken(data: bytes, name: str) -> bool:
    """Return whether most letters beyond ASCII are invalid in an encoding; a cut last letter does not count."""
    text = codecs.getincrementaldecoder(name)("replace").decode(data)
    wrong = text.count("\ufffd")
    return wrong > len(text) - len(text.encode("ascii", "ignore")) - wrong


def _detected(data: bytes) -> str:
    """Return the encoding with the best fit to undeclared bytes; of equal ones the usual one."""
    from charset_normalizer import from_bytes

    found = from_bytes(data[:_DETECTED_FROM])
    if (best := found.best()) is None:
        return _USUAL
    equal = (one.encoding for one in found if (one.chaos, one.coherence) == (best.chaos, best.coherence))
    return _USUAL if _USUAL in equal else best.encoding


def text_lines(text: str) -> list[str]:
    r"""Return the lines of a text as editors count them; form feeds and other separators end none.

    Args:
        text: The text.

    Examples:
        >>> text_lines("Terms\n\fPart two\r\nEnd\n")
        ['Terms', '\x0cPart two', 'End']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
