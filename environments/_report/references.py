"""Citations of a report: collected, made one for each source, numbered from 1, and linked.

Source: the paper, Appendix D.7: URLs count before descriptions, files become file links. What is not there gets no
link, so each link leads somewhere; a source named like a tool is the call of that tool.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_CITATION = re.compile(
    r"(?P<code>^```.*?^```|(?<!`)(?P<ticks>`+)(?!`).{1,5000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?<![!\\\w\]])\[(?P<number>[1-9]\d{0,3})\]"
    r"(?:\((?P<target><[^>\n]{0,2000}>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:[ ]+\"[^\"\n]{0,500}\")?\))?",
    re.DOTALL | re.MULTILINE,
)
_LIST = re.compile(
    r"^#{1,6}[ \t]*(?:\d+\.?[ \t]*)?(?:references|sources|bibliography)[ \t]*:?[ \t]*\n"
    r"(?P<body>.*?)(?=^#{1,6}[ \t]|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_LISTED = re.compile(r"^[ \t]*(?:[-*][ \t]+)?(?:\[(\d{1,4})\]:?|(\d{1,4})[.)])[ \t]*(\S.*)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]{0,300})\]\(<?([^()<>\n]*(?:\([^()\s]*\)[^()<>\s]*)*)>?\)")
_ADDRESS = re.compile(r"(?:https?|file)://[^\s<>\"')\]]+", re.IGNORECASE)
_WEB = re.compile(r"(https?)://([^/?#\s]+)([^?#\s]*)(\?[^#\s]*)?(?:#\S*)?", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_UNSAFE = re.compile(r"[\x00-\x20<>()\[\]\"%`\\?#^{|}]")
_PLAIN_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_TRACKING = re.compile(r"(?:utm_[a-z]+|gclid|fbclid|msclkid)(?:=|$)", re.IGNORECASE)
_CALL = re.compile(r"(?:(?:tool|environment|agent):)?[a-z][a-z0-9_]*(?:@[\w.-]+)?(?:#[a-z][a-z0-9_]*)?")
_PORTS = {"http": ":80", "https": ":443"}
_BALANCED = re.compile(r"[^()]*(?:\([^()]*\)[^()]*)*")
_UNSAFE_IN_URL = re.compile(r"[\x00-\x20<>\[\]\"`\\^{|}]")


@dataclass(slots=True, kw_only=True)
class Reference:
    """One source of a report.

    Args:
        number: Its number in the report.
        key: What all spellings of the source have in common.
        link: Where its link leads; empty where there is nothing, or nothing safe, to lead to.
        description: Its words.
        file: Name of the file from the workspace, or its absolute path outside of it; empty for no file.
    """

    number: int
    key: str
    link: str
    description: str
    file: str = ""


class References:
    """The sources of one report, in the order of their first citation.

    Args:
        workspace: Absolute path of the folder that holds the files.
        is_there: Tells whether there is a file, by its name from the workspace or its absolute path; all by default.
        up: The way from the report's folder to the workspace, such as `../`.
        sources: Addresses of sources with known words; a document may be cited by the last part of its own.
    """

    def __init__(
        self,
        workspace: str,
        is_there: Callable[[str], bool] = lambda _: True,
        up: str = "",
        sources: Iterable[str] = (),
    ) -> None:
        self._sources = dict.fromkeys(sources)
        self._workspace, self._is_there, self._up = _folded(workspace), is_there, up
        self._found: dict[str, Reference] = {}
        self._listed: dict[int, tuple[str, str]] = {}
        self.unresolved: list[str] = []

    def __iter__(self) -> Iterator[Reference]:
        return iter(self._found.values())

    def number(self, markdown: str) -> str:
        """Return a draft with its citations numbered from 1 and its own list of references replaced.

        Args:
            markdown: A draft that cites as `[n](source)`, or as `[n]` with a list of references at its end.
        """
        body = self.body(markdown)
        return f"{body}\n\n{self.section()}" if self._found else f"{body}\n"

    def body(self, markdown: str, listed: Iterable[tuple[int, str, str]] = ()) -> str:
        """Return one part of a report with the numbers of the whole, without its own list of references.

        Args:
            markdown: The part.
            listed: Its references: number in the part (0 for none), address or file (empty for none), description.
        """
        self._listed = {number: (target, words) for number, target, words in listed if number}
        for section in _LIST.finditer(markdown):
            self._collect(section["body"])
        return _CITATION.sub(self._cited, _LIST.sub("", markdown)).strip()

    def cite(self, target: str, words: str = "") -> str:
        """Return the citation of a source, with a new number if it has none.

        Args:
            target: Its address or file.
            words: Its description.
        """
        return _citation(self._of(target, words))

    def find(self, target: str, words: str = "") -> Reference | None:
        """Return the reference to a source, or None if nothing cites it."""
        return self._found.get(self._key(target, words))

    def section(self) -> str:
        """Return the list of all sources under its heading."""
        return f"## References\n\n{self._list()}\n"

    def _collect(self, body: str) -> None:
        for match in _LISTED.finditer(body):
            text = match[3].rstrip(" \t")
            link, address = _LINK.search(text), _ADDRESS.search(text)
            target = link[2] if link else address[0] if address else ""
            words = _LINK.sub(r"\1", text) if link else text.replace(target, "")
            self._listed[int(match[1] or match[2])] = (target, words.strip(" \t.:-–—,"))

    def _cited(self, match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        listed = self._listed.get(int(match["number"]))
        target = (match["target"] or "").strip("<>").strip()
        if not target and listed is None:
            self.unresolved.append(match[0])
            return match[0]
        known, words = listed or ("", "")
        if target and known and self._key(target, "") != self._key(known, ""):
            words = ""
        return _citation(self._of(target or known, words))

    def _of(self, target: str, words: str) -> Reference:
        target, key = self._whole(target), self._key(target, words)
        if key not in self._found:
            link, web = self._link(target), _WEB.fullmatch(target)
            named = key.removeprefix("file ") if target and not web else ""
            called = bool(_CALL.fullmatch(named)) and not (link and self._is_there(named))
            file = named if link or called else ""
            lacks = called or (bool(file) and not self._is_there(file))
            name = words or (target if web else _decoded(self._inside(target)))
            self._found[key] = Reference(
                number=len(self._found) + 1,
                key=key,
                link="" if lacks else link,
                description=f"call of `{file}`{f': {_plain(words)}' if words else ''}" if called else _plain(name),
                file=file,
            )
        return self._found[key]

    def _key(self, target: str, words: str) -> str:
        """Return the common key of two citations of one source."""
        target = self._whole(target)
        if web := _WEB.fullmatch(target):
            scheme, host = web[1].lower(), web[2].lower()
            path = _PLAIN_ESCAPE.sub(_unescaped, web[3]).rstrip("/")
            query = "&".join(one for one in (web[4] or "")[1:].split("&") if not _TRACKING.match(one))
            return f"{scheme}://{host.removesuffix(_PORTS[scheme])}{path}{query and '?'}{query}"
        return f"file {self._inside(_decoded(target))}" if target else f"words {' '.join(words.lower().split())}"

    def _whole(self, target: str) -> str:
        """Return the whole address of the one known source with this last part, else the target itself."""
        if not target or _SCHEME.match(target) or self._is_there(self._inside(_decoded(target))):
            return target
        documents = [one for one in self._sources if one.lower().startswith("file:")]
        ends = [one for one in documents if _decoded(one).endswith(f"/{_decoded(target).removeprefix('./')}")]
        return ends[0] if len(ends) == 1 else target

    def _link(self, target: str) -> str:
        if _WEB.fullmatch(target):
            link = _UNSAFE_IN_URL.sub(_escaped, target)
            return link if _BALANCED.fullmatch(link) else re.sub(r"[()]", _escaped, link)
        if not target or (_SCHEME.match(target) and not target.lower().startswith("file:")):
            return ""
        path = self._inside(_decoded(target))
        if path.startswith("../"):
            path = _folded(f"{self._workspace}/{path}")
        return ("file://" if path.startswith("/") else self._up) + _UNSAFE.sub(_escaped, path)

    def _inside(self, target: str) -> str:
        """Return a file's name from the workspace, or its absolute path outside."""
        path = _folded(target[7:] if target.lower().startswith("file://") else target)
        return path.removeprefix(f"{self._workspace}/") if self._workspace != "/" else path

    def _list(self) -> str:
        return "\n".join(
            f"{one.number}. [{one.description}]({one.link})" if one.link else f"{one.number}. {one.description}"
            for one in self._found.values()
        )


def _citation(one: Reference) -> str:
    return f"[{one.number}]({one.link})" if one.link else f"[{one.number}]"


def _unescaped(match: re.Match[str]) -> str:
    """Return an escape in the one form for all its spellings of RFC 3986 (6.2.2)."""
    letter = chr(int(match[0][1:], 16))
    return letter if _UNRESERVED.fullmatch(letter) else match[0].upper()


def _folded(path: str) -> str:
    """Return a path without `.`, `..` and doubled slashes."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and path.startswith("/")):
            parts.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def _decoded(text: str) -> str:
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"), text)


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def _plain(text: str) -> str:
    """Return words made safe inside of a link."""
    return re.sub(r"([\[\]\\])", r"\\\1", " ".join(text.split()))
