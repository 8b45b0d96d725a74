"""Mails: one e-mail, or a mailbox of many, with attached files and forwarded mails, to Markdown."""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import dataclass, field
from email.message import EmailMessage, MIMEPart
from functools import lru_cache
from typing import Any, cast

from tea.reading.inside.charset import text_of
from tea.reading.inside.dates import day_in
from tea.reading.inside.document import Order, Parsed
from tea.reading.inside.pages import filled, plain_html
from tea.reading.inside.parts import kept_part

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_READ = ("plain", "html")
_TEXTS = frozenset(("text/plain", "text/html"))
# The line before each mail of a mailbox (RFC 4155) stands at the beginning or below an empty line, and tells a time.
_SEPARATOR = re.compile(rb"From \S[^\n]*\d\d?:\d\d[^\n]*\n")
_ESCAPED = re.compile(rb"^>(?=>*From )", re.MULTILINE)


class _Policy(email.policy.EmailPolicy):
    """The usual policy for headers, parsing those common to many mails only once."""

    header_fetch_parse = staticmethod(lru_cache(1_000)(email.policy.default.header_fetch_parse))


@dataclass(slots=True)
class _Mail:
    """The parts of a mail: its texts in their order, and its attachments."""

    texts: list[str] = field(default_factory=list[str])
    attached: list[MIMEPart] = field(default_factory=list[MIMEPart])

    def add(self, text: str) -> None:
        """Add a text unless it is empty."""
        if text:
            self.texts.append(text)


def parse_mail(order: Order) -> Parsed:
    """Return an e-mail, or each one of a mailbox under a mark with its number.

    Of each there are its headers, its texts, those of mails forwarded in it, and the names of its attachments.
    """
    written = order.path.read_bytes()
    mails = _mails(written)
    parts, size, number = list[str](), 0, 0
    facts: dict[str, Any] = {"mails": len(mails) if len(mails) > 1 else 0}
    title, unread = "", False
    for number, (start, end) in enumerate(mails, start=1):
        data = written if len(mails) == 1 else _ESCAPED.sub(b"", written[start:end])
        message = cast(EmailMessage, email.message_from_bytes(data, policy=_Policy()))
        text, attached = _mail_text(message, order, f"{number}/" if len(mails) > 1 else "")
        unread = unread or bool(attached and not order.unpack)
        if len(mails) == 1:
            title = _header(message, "Subject")
            sent = {"published": day_in(_header(message, "Date")), "author": _header(message, "From")}
            facts |= {**sent, "attachments": attached}
        parts.append(text if len(mails) == 1 else f"[mail {number}]\n\n{text}")
        size += len(text)
        if order.late or size > order.characters:
            break
    found = Parsed(kind="eml", text="\n\n".join(parts), title=title, facts=filled(facts))
    if number < len(mails):
        found.truncated = True
        found.notes.append(f"Only the first {number:,} of {len(mails):,} mails were read.")
    if unread:
        found.notes.append("What is attached was not read; `unpack` writes it beside the file.")
    return found


def _mails(data: bytes) -> list[tuple[int, int]]:
    """Return the bounds of each mail in a mailbox, or of the only mail."""
    found = [
        one
        for one in _SEPARATOR.finditer(data)
        if not one.start() or data[max(0, one.start() - 3) : one.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
    if len(found) < 2 or found[0].start():
        return [(0, len(data))]
    ends = [*(one.start() for one in found[1:]), len(data)]
    return [(one.end(), end) for one, end in zip(found, ends, strict=True)]


def _mail_text(message: EmailMessage, order: Order, folder: str) -> tuple[str, list[dict[str, Any]]]:
    """Convert a mail to text, and return it with its attachments.

    Args:
        message: The mail.
        order: What is wanted.
        folder: Where its attachments are put, with a slash; empty for no folder of their own.
    """
    mail = _Mail()
    _collect(message, mail)
    attached = list[dict[str, Any]]()
    for number, part in enumerate(mail.attached, start=1):
        name, content = f"{folder}{part.get_filename() or f'part-{number}'}", _bytes_of(part)
        attached.append(kept_part(order, name, content) if order.unpack else {"name": name, "bytes": len(content)})
    blocks = [_head(message), "\n\n".join(mail.texts)]
    if attached:
        blocks.append("## Attachments\n\n" + "\n".join(f"- {one['name']} ({one['bytes']:,} bytes)" for one in attached))
    return "\n\n".join(blocks), attached


def _collect(part: MIMEPart, mail: _Mail, *, texts: bool = True) -> None:
    """Add the texts and attachments in a part to those of its mail.

    Args:
        part: The part.
        mail: The mail.
        texts: Whether its texts are wanted; those of alternatives to a text that was taken are not.
    """
    kind = part.get_content_type()
    if kind == "message/rfc822" and part.is_multipart():
        for inner in cast("list[EmailMessage]", part.get_payload()):
            mail.add(f"## Forwarded mail\n\n{_head(inner)}")
            _collect(inner, mail)
        return
    if part.is_multipart():
        if texts and kind == "multipart/alternative" and (chosen := part.get_body(_READ)) is not None:
            mail.add(_text(chosen))
            texts = False
        for inner in cast("list[MIMEPart]", part.get_payload()):
            _collect(inner, mail, texts=texts)
        return
    named = part.get_content_disposition() == "attachment" or bool(part.get_filename())
    if not named and (kind in _TEXTS or part.get_content_maintype() == "multipart"):  # which has no parts
        if texts:
            mail.add(_text(part))
    elif named or texts or part.get_content_maintype() != "text":
        mail.attached.append(part)


def _head(message: EmailMessage) -> str:
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    return "\n".join(lines)


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())[:1_000]
    except (ValueError, IndexError, AttributeError, TypeError):  # the parser of the library fails on some headers
        return ""


def _text(part: MIMEPart) -> str:
    """Return the words of a part with a text."""
    data, said = _bytes_of(part), str(part.get("Content-Type", ""))
    return plain_html(data, said) if part.get_content_type() == "text/html" else text_of(data, said)[0].strip()


def _bytes_of(part: MIMEPart) -> bytes:
    data: Any = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""
