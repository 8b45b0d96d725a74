"""Test mails and mailboxes, read as Markdown through the platform."""

import email
import email.policy
from collections.abc import Callable, Coroutine
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from tea.protocols.tcp import TCPServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

Read = Callable[..., Coroutine[Any, Any, Any]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def read(tools: TCPServer) -> Read:
    async def read(source: str, **arguments: Any) -> Any:
        return (await tools.invoke("to_markdown", {"source": source, **arguments})).unwrap()

    return read


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ida <ida@example.org>", "b@example.org", "Grüße"
    message["Date"] = "Mon, 06 May 2024 10:00:00 +0000"
    message["Message-ID"] = "<1@example.org>"
    message.set_content("The tide is high at 6.\n")
    message.add_alternative("<p>The tide is <b>high</b> at 6.</p>", subtype="html")
    message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="../tide.csv")
    return bytes(message)


async def test_a_mail_is_read_and_what_is_attached_lies_beside_it(read: Read, folder: Path) -> None:
    (folder / "letter").write_bytes(mail())
    got = await read("letter")
    assert got["kind"] == "eml"
    assert got["title"] == "Grüße"
    assert "The tide is high at 6." in got["text"]
    (name,) = got["files"]
    assert (folder / name).read_bytes() == b"a,b\n1,2\n"
    assert name.startswith("letter.d/")
    assert not (folder.parent / "tide.csv").exists()


async def test_every_mail_of_a_mailbox_is_read(read: Read, folder: Path) -> None:
    line = b"From ida@example.org Mon May  6 10:00:00 2024\n"
    second = mail().replace(b"high at 6", b"low at 12").replace(b"=?utf-8?q?Gr=C3=BC=C3=9Fe?=", b"Noon")
    quoting = second.replace(b"The tide is low", b"From the quay it is\n\n>From far it seems\n\nFrom here: low")
    box = line + mail() + b"\n" + line + quoting + b"\n\n" + line + second
    (folder / "inbox").write_bytes(box.replace(b"../tide", b"tide"))
    got = await read("inbox")
    assert (got["kind"], got["facts"]["mails"]) == ("eml", 3)
    assert "title" not in got
    assert got["text"].startswith("[mail 1]\n\nFrom: Ida <ida@example.org>")
    assert got["text"].index("high at 6") < got["text"].index("[mail 2]") < got["text"].index("[mail 3]")
    assert "\nFrom far it seems\n\nFrom here: low at 12" in got["text"]
    assert got["text"].count("low at 12") == 2
    assert got["files"] == [f"inbox.d/{number}/tide.csv" for number in (1, 2, 3)]
    (found,) = (await read("inbox", find="high at"))["matches"]
    assert found["place"] == "mail 1"


async def test_a_mail_that_says_to_have_parts_and_has_none_is_read(read: Read, folder: Path) -> None:
    head = b"From: a@example.org\nTo: b@example.org\nSubject: s\nMessage-ID: <1@example.org>\n"
    (folder / "a.eml").write_bytes(head + b"Content-Type: multipart/mixed\n\nThe tide is high.\n")
    got = await read("a.eml")
    assert got["text"].endswith("The tide is high.")
    assert "files" not in got


async def test_a_mail_that_only_begins_like_a_mailbox_is_one(read: Read, folder: Path) -> None:
    line = b"From ida@example.org Mon May  6 10:00:00 2024\n"
    (folder / "letter.eml").write_bytes(line + mail())
    got = await read("letter.eml")
    assert got["title"] == "Gr\u00fc\u00dfe"
    assert "mails" not in got["facts"]
    assert "[mail" not in got["text"]


async def test_a_forwarded_mail_and_every_text_of_a_mail_are_read(read: Read, folder: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "b@example.org", "c@example.org", "Fwd: tides"
    message["Message-ID"] = "<2@example.org>"
    message.set_content("See below.")
    message.add_attachment(email.message_from_bytes(mail(), policy=email.policy.default))
    footer = EmailMessage()
    footer.set_content("Sent to the list of keepers.")
    message.attach(footer)
    (folder / "letter.eml").write_bytes(bytes(message))
    got = await read("letter.eml")
    words = (
        "Subject: Fwd: tides",
        "See below.",
        "## Forwarded mail",
        "Subject: Gr\u00fc\u00dfe",
        "high at 6",
        "the list of",
    )
    places = [got["text"].index(one) for one in words]
    assert places == sorted(places)
    assert got["text"].count("high at 6") == 1
    (name,) = got["files"]
    assert (folder / name).read_bytes() == b"a,b\n1,2\n"
