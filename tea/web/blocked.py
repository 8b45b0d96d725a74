"""Blocked: detecting an answer blocking access to the page, even with a status of success."""

from __future__ import annotations

import re
from typing import Literal

from tea.web.fetch import Answer

Wall = Literal["", "login", "payment", "refused", "rate_limit", "captcha", "legal"]
WALLS: dict[Wall, str] = {
    "login": "the server wants a login",
    "payment": "the server wants to be paid",
    "refused": "the server refuses this reader",
    "rate_limit": "the server wants fewer requests",
    "captcha": "the server wants a proof that a person reads",
    "legal": "the server withholds the page for legal reasons",
}

_BY_STATUS: dict[int, Wall] = {
    401: "login", 402: "payment", 403: "refused", 407: "login", 429: "rate_limit", 451: "legal"
}  # fmt: skip
_LOOKED_AT = 300_000
_MOST_TEXT = 1_500  # characters that a wall has at most; a page about walls has more
# What the services that put walls before pages write into them.
_CHALLENGE = re.compile(
    rb"cf-challenge|cf_chl_opt|/cdn-cgi/challenge-platform/h/|challenges\.cloudflare\.com/turnstile|_incapsula_resource"
    rb"|captcha-delivery\.com|px-captcha|perimeterx|awswafcaptcha|aws-waf-token|sucuri_cloudproxy|distil_r_captcha"
    rb"|g-recaptcha|h-captcha|recaptcha/api\.js|hcaptcha\.com|arkoselabs|geetest|friendlycaptcha",
    re.IGNORECASE,
)
_CAPTCHA_WORDS = re.compile(
    r"just a moment|checking your browser|checking if the site connection is secure|verify(?:ing)? (?:that )?you are"
    r" (?:a )?human|are you (?:a )?(?:human|robot)|robot check|prove (?:that )?you(?:'| a)re not a robot"
    r"|unusual traffic|pardon our interruption|attention required|complete the (?:security check|captcha)"
    r"|enter the characters you see|press (?:and|&) hold|enable javascript and cookies to continue|ddos protection by",
    re.IGNORECASE,
)
_REFUSAL_WORDS = re.compile(
    r"access (?:to this page )?(?:has been |is )?denied|you have been blocked|request (?:was )?blocked|403 forbidden"
    r"|automated access|bot (?:traffic )?detected",
    re.IGNORECASE,
)
_LIMIT_WORDS = re.compile(r"too many requests|rate limit(?:ed| exceeded)|slow down", re.IGNORECASE)
_LOGIN_WORDS = re.compile(
    r"\b(?:sign|log) ?in\b|\blogin\b|anmelden|se connecter|iniciar sesi[oó]n|subscribe to (?:read|continue)",
    re.IGNORECASE,
)
_PASSWORD = re.compile(rb"<input[^>]{0,300}type\s*=\s*[\"']?password", re.IGNORECASE)
_HIDDEN = re.compile(rb"<(script|style|noscript|template|svg)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(rb"<[^<>]*>")


def wall_of(answer: Answer) -> Wall:
    """Return the kind of wall an answer is, empty if it is the page itself."""
    looked_at = answer.body[:_LOOKED_AT]
    html = b"<" in looked_at[:2_000] and b"%PDF-" not in looked_at[:1_024]
    text = _visible(looked_at) if html else looked_at[:_MOST_TEXT].decode("utf-8", "replace")
    if (by_status := _BY_STATUS.get(answer.status)) is not None:
        return "captcha" if by_status in ("refused", "rate_limit") and _wants_proof(looked_at, text) else by_status
    if answer.status == 503 and (_CHALLENGE.search(looked_at) or _CAPTCHA_WORDS.search(text)):
        return "captcha"
    if answer.status != 200 or not html or len(text) > _MOST_TEXT:
        return ""
    return _by_words(looked_at, text)


def _by_words(looked_at: bytes, text: str) -> Wall:
    """Return the kind of wall a short page is, by its text."""
    if _wants_proof(looked_at, text):
        return "captcha"
    if _REFUSAL_WORDS.search(text):
        return "refused"
    if _LIMIT_WORDS.search(text):
        return "rate_limit"
    return "login" if _PASSWORD.search(looked_at) and _LOGIN_WORDS.search(text) else ""


def _wants_proof(looked_at: bytes, text: str) -> bool:
    return len(text) <= _MOST_TEXT and bool(_CHALLENGE.search(looked_at) or _CAPTCHA_WORDS.search(text))


def _visible(html: bytes) -> str:
    """Return approximately the visible text of a page, title included."""
    words = _TAG.sub(b" ", _HIDDEN.sub(b" ", html))
    return " ".join(words.decode("utf-8", "replace").split())
