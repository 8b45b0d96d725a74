"""Context length: recognizing errors for too long requests, and the limits stated in them.

Sources: the errors of OpenAI (`context_length_exceeded`), Anthropic ("prompt is too long: 213000 tokens > 200000
maximum", "exceed context limit: 190000 + 21333 > 200000"), Gemini ("exceeds the maximum number of tokens allowed
(1048576)"), OpenRouter, DeepSeek and vLLM ("maximum context length is 8192 tokens"), Mistral ("too large for model with
32768 maximum context length"), xAI ("maximum prompt length is 131072"), llama.cpp ("exceeds the available context size
(4096 tokens)", `n_ctx`), LM Studio ("context length of only 4096 tokens"), Together ("must be <= 4097"), Qwen ("Range
of input length should be [1, 30720]"), Moonshot ("exceeded model token limit: 8192"), GLM ("Prompt exceeds max
length"), Doubao ("exceed max message tokens") and Text Generation Inference ("must have less than 4096 tokens").
"""

from __future__ import annotations

import re

TOO_LARGE = 413
_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_STATUSES = frozenset({None, 400, 422, 500})  # older servers of one's own call it their own failure
_WORDS = (  # this and `_LIMIT` are compiled with the first error
    r"context[ _](?:length|size|window|limit)|maximum (?:prompt|input) length|n_ctx|(?:prompt|input) is too long"
    r"|maximum number of (?:input )?tokens|too many (?:input )?tokens|max_new_tokens`? must be <="
    r"|range of input length|(?:model|input|prompt|context) token limit|(?:prompt|input)s? exceeds? (?:the )?max"
    r"|`?inputs`? must have less than|exceeds? (?:the )?max(?:imum)? (?:message )?tokens"
    r"|reduce the length of (?:the |your )?(?:input|message|prompt)"
)
_NUMBER = r"(\d[\d,_]{2,12})(?![\d_]|\s*\+)"  # a sum is what was asked
_LIMIT = (
    rf"(?:\bmaximum (?:context|prompt|input) length|context (?:length|size|window|limit)|\bn_ctx"
    rf"|maximum number of (?:input )?tokens(?: allowed)?)(?: is| of)?(?: only)?[^\w>+]{{0,3}}{_NUMBER}"
    rf"|range of input length should be \[\d+, ?{_NUMBER}|must have less than {_NUMBER}"
    rf"|> ?{_NUMBER}|<= ?{_NUMBER}|{_NUMBER}(?: tokens?)? maximum|\blimit(?: of|:)? {_NUMBER}"
)


def exceeds(problem: str, code: str = "", status: int | None = None) -> bool:
    """Return whether an error means a request too long for its model.

    Args:
        problem: Its words.
        code: The provider's own code or type of it.
        status: Its HTTP status, None where it came in the place of an answer.
    """
    return (
        status == TOO_LARGE
        or code in _CODES
        or (status in _STATUSES and re.search(_WORDS, problem, re.IGNORECASE) is not None)
    )


def limit_in(problem: str) -> int | None:
    """Return the number of tokens a model reads according to an error's text, None if it is not stated.

    Examples:
        >>> limit_in("This model's maximum context length is 8,192 tokens. However, you requested 9000 tokens.")
        8192
    """
    found = re.search(_LIMIT, problem, re.IGNORECASE)
    return int(re.sub("[,_]", "", next(filter(None, found.groups())))) if found else None
