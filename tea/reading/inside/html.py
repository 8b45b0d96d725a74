"""HTML to Markdown: the main content with its tables and links, without the parts around it."""

import re
from typing import Any, cast
from urllib.parse import urljoin

# What is never read: it is not text, asks for input, or is not shown to a person.
_NEVER = (
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "button", "input",
    "select", "textarea", "datalist", "dialog", "audio", "video", "map",
)  # fmt: skip
_ROLES = "navigation banner contentinfo search dialog alertdialog menu toolbar"
_AROUND_ROLES = frozenset(_ROLES.split())
# Names of what is not content wherever it stands, and of what is none where it consists of links.
_AROUND_NAMES = re.compile(
    r"(?:^|[-_ ])(?:cookies?|consent|gdpr|breadcrumbs?|share|sharing|social|newsletter|advert(?:isement)?|ads?"
    r"|sponsored|popup|modal|overlay|skip-?(?:link|to)|headerlink|mw-editsection|sr-only|visually-hidden)(?:$|[-_ ])",
    re.IGNORECASE,
)
_LINKING_NAMES = re.compile(
    r"(?:^|[-_ ])(?:\w*sidebar|side-?nav|nav(?:bar|igation)?|menu|subscri(?:be|ption)|promo|sponsor|related"
    r"|recommend(?:ed|ations?)|footer|masthead|site-?header|toolbar|pagination|pager)(?:$|[-_ ])",
    re.IGNORECASE,
)
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])", re.I
)
_NO_FIELDS = frozenset(("hidden", "submit", "button", "reset", "image", "search"))  # types of inputs
_LEAST_FIELDS, _LITTLE_TEXT = 2, 200
DEEPEST = 1_000  # elements in each other that are converted; the library for trees itself reads 2,048
_MAIN = "//main | //*[@role='main'] | //article | //*[@itemprop='articleBody']"
_BLOCKS = ("p", "pre", "td", "blockquote", "li", "dd")
_KEPT = frozenset(("html", "body", "main", "article", "h1", "tr", "td", "tbody", "pre", "code"))
_LEAST_MAIN, _LEAST_SHARE, _MOST_REMOVED = 200, 0.3, 0.5
_LEAST_BLOCK = 25
_LINKS_MOSTLY, _LINKS_ALONE, _LEAST_LINKS, _MOST_OF_MENU, _MENU_SHARE = 0.5, 0.9, 3, 400, 0.1
LINKS = "## Links around the text"
_MOST_AROUND, _MOST_LINKS, _MOST_ADDRESS, _MOST_WORDS = 200, 1_000, 2_000, 120
_BRACKETS = re.compile(r"[\[\]]")
_Sizes = dict[Any, int]
_MARKS = frozenset(("", "¶", "#", "§", "🔗"))  # what stands beside a heading to link to it
_ALT = re.compile(r"\w.*\w")


def parsed(text: str) -> Any:
    """Return the tree of a page, None if there is no element in it."""
    etree, html = _lxml()
    parser = html.HTMLParser(remove_comments=True, remove_pis=True, recover=True, no_network=True, huge_tree=True)
    plain = re.sub(r"^\s*<\?xml[^>]*\?>", "", text.replace("\0", ""), count=1)
    try:
        return html.document_fromstring(plain, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None


def is_cut(tree: Any) -> bool:
    """Return whether a page is nested too deep for conversion, so a part of it is left out."""
    log = tree.getroottree().parser.error_log
    return any(one.type_name == "ERR_RESOURCE_LIMIT" for one in log) or bool(
        tree.xpath(f"boolean(//*[count(ancestor::*) > {DEEPEST}])")
    )


def title_of(tree: Any) -> str:
    """Return the title of a page, empty if it has none."""
    found = [tree.xpath("string(//meta[@property='og:title']/@content)"), tree.xpath("string(//title)")]
    found.append(tree.xpath("string(//h1)"))
    return next((words for one in found if (words := " ".join(str(one).split())[:300])), "")


def unshown(tree: Any) -> tuple[int, bool, bool]:
    """Return the number of form fields missing in Markdown, and whether there are scripts, and a table without rows.

    A single field, as of a search, does not count.
    """
    inputs = [one for one in tree.iter("input") if str(one.get("type") or "").strip().lower() not in _NO_FIELDS]
    fields = len(inputs) + len(list(tree.iter("select", "textarea")))
    scripts = any("json" not in str(one.get("type") or "") for one in tree.iter("script"))
    bare = any(not one.xpath("boolean(.//td[normalize-space() or *])") for one in tree.iter("table"))
    return fields if fields >= _LEAST_FIELDS else 0, scripts, bare


def unshown_words(fields: int, *, scripts: bool, bare: bool, text: str) -> str:
    """Return a line about the parts of a page shown by a browser alone, empty without any.

    Args:
        fields: Number of fields in forms.
        scripts: Whether it has scripts.
        bare: Whether a table of it has no rows.
        text: Its Markdown.
    """
    filled = scripts and (bare or len(text.strip()) < _LITTLE_TEXT)
    parts = [f"a form with {fields} fields"] if fields else []
    parts += ["what its scripts show"] if filled else []
    return f"Not shown here: {' and '.join(parts)}; `browser` uses the page as a person does." if parts else ""


def markdown_of(tree: Any, url: str) -> str:
    """Return the main content of a page as Markdown; the tree is changed.

    Args:
        tree: The page.
        url: Its address, which its links are resolved against.
    """
    return _content(_shown(tree, url))[0]


def markdown_and_links(tree: Any, url: str) -> tuple[str, list[str]]:
    """Return a page as Markdown, the links around its main content in a section at its end, and all addresses in it.

    The tree is changed. The section has at most 200 links, and the addresses are at most 1,000, each once.

    Args:
        tree: The page.
        url: Its address, which its links are resolved against.
    """
    root = _shown(tree, url)
    found = _links(root)
    text, main = _content(root)
    inside = {str(link.get("href")).partition("#")[0] for link in main.iter("a")}
    around = [f"- [{words}]({link})" for link, words in found.items() if words and link not in inside][:_MOST_AROUND]
    section = f"{text.rstrip()}\n\n{LINKS}\n\n" + "\n".join(around) if around and text.strip() else text
    return section, list(found)[:_MOST_LINKS]


def _links(root: Any) -> dict[str, str]:
    """Return the addresses linked by the visible part of a page, without fragments, and the words of each."""
    found = dict[str, str]()
    for link in root.iter("a"):
        target = str(link.get("href") or "").partition("#")[0]
        if target.startswith(("http://", "https://")) and len(target) <= _MOST_ADDRESS:
            found[target] = found.get(target) or _words_of_link(link)
    return found


def _words_of_link(link: Any) -> str:
    """Return the words of a link, empty for one of a notice, an advertisement or a place to share the page."""
    if any(_AROUND_NAMES.search(_names_of(one)) for one in (link, *link.iterancestors())):
        return ""
    said = link.text_content().strip() or link.get("title") or link.get("aria-label") or ""
    return " ".join(_BRACKETS.sub(" ", said).split())[:_MOST_WORDS]


def _names_of(one: Any) -> str:
    return f"{one.get('class') or ''} {one.get('id') or ''}"


def _shown(tree: Any, url: str) -> Any:
    """Return the part of a page shown to a person, with absolute links and words for images; the tree is changed."""
    _absolute(tree, url)
    body = tree.find("body")
    root = tree if body is None else body
    _drop(root, list(root.iter(*_NEVER)))
    _drop(root, [one for one in root.iter() if not isinstance(one.tag, str) or _is_unseen(one)])
    _name_images(root)
    _without_layout(root)
    return root


def _content(root: Any) -> tuple[str, Any]:
    """Return the main content of a page, as Markdown and as an element; everything around it is dropped."""
    sizes = _sizes(root)
    main = _main(root, sizes)
    _drop(main, [one for one in main.iter() if one is not main and _is_around(one, root, sizes)])
    _drop(main, [one for one in main.iter("ul", "ol", "div", "section", "table") if _is_menu(one, main, sizes)])
    found = _converted(_lxml()[0].tostring(main, encoding="unicode", method="html", with_tail=False))
    return found if found.strip() else " ".join(main.itertext()), main


def _converted(html: str) -> str:
    from html_to_markdown import ConversionOptions, convert

    options = ConversionOptions(
        extract_metadata=False, extract_images=False, skip_images=True, bullets="-", autolinks=False, br_in_tables=False
    )
    return convert(html, options).content or ""


def _absolute(tree: Any, url: str) -> None:
    """Resolve links; a link to nowhere, to the page itself or to a program becomes its words."""
    here, base = url.partition("#")[0], url
    for one in tree.iter("base"):
        base = _joined(url, one.get("href") or "") or url
        break
    for link in list(tree.iter("a")):
        target = _joined(base, link.get("href") or "")
        if target.startswith(("http://", "https://", "mailto:")) and target.partition("#")[0] != here:
            link.set("href", target)
        elif (link.text_content() or "").strip() in _MARKS:
            _drop(tree, [link])
        else:
            link.drop_tag()


def _joined(base: str, link: str) -> str:
    """Return the destination of a link, empty if it is not an address."""
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return ""


def _is_unseen(one: Any) -> bool:
    """Return whether an element is not shown to a person, with words meant for programs alone."""
    if one.get("hidden") is not None or one.get("aria-hidden") == "true":
        return one.tag not in ("html", "body", "main", "article")
    return bool(_UNSEEN.search(one.get("style") or ""))


def _is_around(one: Any, root: Any, sizes: _Sizes) -> bool:
    """Return whether an element surrounds the content: a menu, a notice, a list of other pages."""
    if one.tag in _KEPT:
        return False
    names = _names_of(one)
    inside = next(one.iterancestors("main", "article"), None) is not None
    around = (
        one.tag in ("nav", "menu")
        or (one.tag in ("aside", "footer") and not inside)
        or (one.tag == "header" and one.getparent() is root)
        or (one.get("role") or "").lower() in _AROUND_ROLES
        or _AROUND_NAMES.search(names) is not None
    )
    if not around and (one.tag in ("aside", "footer") or _LINKING_NAMES.search(names)):
        around = sum(sizes[link] for link in one.iter("a")) >= _LINKS_MOSTLY * sizes[one]
    return around and next(one.iter("h1"), None) is None and sizes[one] <= _MOST_REMOVED * sizes[root]


def _is_menu(one: Any, main: Any, sizes: _Sizes) -> bool:
    """Return whether an element is a short list of links and little else, beside content of more substance."""
    size = sizes[one]
    if one is main or one.getparent() is None or size > _MOST_OF_MENU or size > _MENU_SHARE * sizes[main]:
        return False
    links = list(one.iter("a"))
    return len(links) >= _LEAST_LINKS and sum(sizes[link] for link in links) >= _LINKS_ALONE * size


def _main(root: Any, sizes: _Sizes) -> Any:
    """Return the element with the main content: as the page says, else around the paragraphs, else all of it."""
    said = [one for one in root.xpath(_MAIN) if sizes[one] >= _LEAST_MAIN]
    outer = [one for one in said if not any(other in said for other in one.iterancestors("main", "article"))]
    if len(outer) == 1 and sizes[outer[0]] >= _LEAST_SHARE * sizes[root]:
        return outer[0]
    found = _densest(root, sizes)
    return found if found is not None and sizes[found] >= (1 - _LEAST_SHARE) * sizes[root] else root


def _densest(root: Any, sizes: _Sizes) -> Any:
    """Return the element around most of the paragraphs: the text of each counts for its parent, half for the next.

    As in the Readability of browsers' reader views.
    """
    scores = dict[Any, float]()
    for block in root.iter(*_BLOCKS):
        size, parent = sizes[block], block.getparent()
        if size < _LEAST_BLOCK or parent is None:
            continue
        linked = sum(sizes[link] for link in block.iterchildren("a"))
        score = max(0, size - linked)
        scores[parent] = scores.get(parent, 0.0) + score
        if (outer := parent.getparent()) is not None:
            scores[outer] = scores.get(outer, 0.0) + score / 2
    return max((one for one in scores if one in sizes), key=lambda one: scores[one], default=None)


def _sizes(root: Any) -> _Sizes:
    """Return how many characters of words each element has."""
    found: _Sizes = {}
    for one in reversed(list(root.iter())):
        inner = sum(found[child] + len((child.tail or "").strip()) for child in one)
        found[one] = inner + len((one.text or "").strip())
    return found


def _name_images(root: Any) -> None:
    """Replace an image by its words."""
    for image in list(root.iter("img")):
        words = " ".join((image.get("alt") or "").split())[:200]
        if _ALT.search(words) and image.getparent() is not None:
            image.tail = f" [image: {words}] {image.tail or ''}"
        _drop(root, [image])


def _without_layout(root: Any) -> None:
    """Remove tables used only for layout: those with another table in a cell, and those declared as such."""
    for table in list(root.iter("table")):
        if table.get("role") in ("presentation", "none") or next(table.iterdescendants("table"), None) is not None:
            for part in list(table.iter("tr", "td", "th", "tbody", "thead", "tfoot", "colgroup", "col")):
                if _own_table(part) is table:
                    part.tag = "div"
            table.tag = "div"


def _own_table(part: Any) -> Any:
    return next((one for one in part.iterancestors("table")), None)


def _drop(root: Any, elements: list[Any]) -> None:
    """Remove elements, and keep the text behind them."""
    for one in elements:
        if one is not root and one.getparent() is not None:
            one.drop_tree()


def _lxml() -> tuple[Any, Any]:
    """Return the library's parts for trees and for HTML."""
    from lxml import etree, html  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

    return cast(Any, etree), cast(Any, html)
