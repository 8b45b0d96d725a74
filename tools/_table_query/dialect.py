"""Dialects: SQL as other databases write it, for SQLite."""

import re

_FENCED = re.compile(r"```\w*\s(.*?)(?:```)?", re.DOTALL)
_WORD = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*(?:\]|\Z)|`(?:[^`]|``)*`|--[^\n]*|/\*.*?(?:\*/|\Z)"""
    r"|\bextract\s*\(\s*(?P<part>year|quarter|month|day)\s+from\b|\b(?P<keyword>left|right)(?=\s*\()|\b(?P<other>(?:if|string_agg)(?=\s*\()|ilike\b)",
    re.DOTALL | re.IGNORECASE,
)
_END = " \t\r\n\f\v;"  # blanks and signs behind a statement
_NAMES = {"if": "iif", "ilike": "LIKE", "string_agg": "group_concat"}  # LIKE compares letters of either case as equal
_UNLIKE = "; of dates unlike 2024-05-31, take iso(date, form)"
_DAYS = f"julianday(later) - julianday(earlier), which gives days{_UNLIKE}"
_PART_OF_DATE = f"year(date), quarter(date), month(date), day(date) or strftime('%Y-%m', date){_UNLIKE}"
_NO_NULL = "ifnull(x, y)"
_JOINED = "group_concat(x, ', ')"
_COUNTED = "sum(CASE WHEN condition THEN 1 ELSE 0 END)"
_LIKE = "LIKE, with % for any letters and _ for one"
_SOME_ROWS = "LIMIT n at the end"
_RANKED = "row_number() OVER (...) in a subquery, and WHERE on it"
_FUNCTIONS = {  # functions of other databases, and what does the same here
    **dict.fromkeys(("datediff", "date_diff", "timestampdiff", "age", "days_between"), _DAYS),
    **dict.fromkeys(
        ("date_part", "datepart", "extract", "date_format", "to_char", "dayofmonth", "hour", "minute"), _PART_OF_DATE
    ),
    **dict.fromkeys(("to_date", "str_to_date", "parse_date", "strptime", "to_timestamp"), "iso(date, form)"),
    **dict.fromkeys(("isnull", "nvl"), _NO_NULL),
    **dict.fromkeys(("len", "char_length", "character_length"), "length(x)"),
    **dict.fromkeys(("array_agg", "listagg"), _JOINED),
    **dict.fromkeys(("count_if", "countif", "sumif"), _COUNTED),
    **dict.fromkeys(("regexp", "regexp_like", "regexp_matches"), _LIKE),
    **dict.fromkeys(("percentile", "percentile_cont", "quantile"), "median(x) for the middle, or ORDER BY with OFFSET"),
    **dict.fromkeys(("weekday", "dayofweek", "dayname"), f"strftime('%w', date), where Sunday is 0{_UNLIKE}"),
    **dict.fromkeys(("date_add", "dateadd", "date_sub"), "date(x, '+1 day')"),
    "date_trunc": f"strftime('%Y-%m-01', date) for the month{_UNLIKE}",
    "greatest": "max(x, y)",
    "least": "min(x, y)",
    "any_value": "min(x)",
    "to_number": "CAST(x AS REAL)",
    "rollup": "UNION ALL of several SELECT",
}
_SYNTAX = {  # how other databases write it, and what does the same here
    r"::": "CAST(x AS INTEGER)",
    r"\bTRY_CAST\s*\(": "CAST(x AS INTEGER)",
    r"\bSELECT\s+TOP\b|\bFETCH\s+(?:FIRST|NEXT)\b": _SOME_ROWS,
    r"\bEXTRACT\s*\(": _PART_OF_DATE,
    r"\bINTERVAL\b": "date(x, '+1 day')",
    r"\b(?:DATE|TIMESTAMP)\s+'": "the date as a text alone, such as '2024-05-31'",
    r"\b(?:RLIKE|SIMILAR\s+TO)\b|~": _LIKE,
    r"\bDISTINCT\s+ON\b|\bQUALIFY\b": _RANKED,
    r"\bISNULL\s*\(": _NO_NULL,
    r"\bWITHIN\s+GROUP\b": "median(x) for the middle, or ORDER BY with OFFSET",
    r"\bTRIM\s*\(\s*(?:BOTH|LEADING|TRAILING)\b": "trim(x, letters), ltrim or rtrim",
    r"\bPOSITION\s*\(": "instr(x, part)",
    r"\bSUBSTRING\s*\([^()]*\bFROM\b": "substr(x, start, length)",
    r"\bDIV\b": "CAST(a / b AS INTEGER)",
    r"\A\s*(?:DESCRIBE|DESC|SHOW)\b": "no sql: then the tables are described",
}


def as_sqlite(sql: str) -> str:
    """Return a statement in the words of SQLite: LIKE for ILIKE, iif for IF, without a fence around it."""
    fenced = _FENCED.fullmatch(sql.strip())
    plain = (fenced[1] if fenced else sql).strip()
    return _WORD.sub(_one, plain.rstrip(_END))


def around(sql: str, name: str) -> str:
    """Return the function given a name first, such as DATEDIFF the unit day; empty without one."""
    found = re.search(rf"\b(\w+)\s*\(\s*{re.escape(name)}\s*,", _bare(sql), re.IGNORECASE)
    return found[1] if found else ""


def instead_of_function(name: str) -> str:
    """Return the replacement of a function of other databases; empty for others."""
    return _FUNCTIONS.get(name.casefold(), "")


def instead_of_syntax(sql: str) -> str:
    """Return the replacement of a part of a refused statement from other databases; empty without one."""
    bare = _bare(sql)
    return next((fix for pattern, fix in _SYNTAX.items() if re.search(pattern, bare, re.IGNORECASE)), "")


def _bare(sql: str) -> str:
    """Return a statement without its texts, comments and quoted names."""
    return _WORD.sub(lambda found: "''" if found[0].startswith("'") else " ", sql)


def _one(found: re.Match[str]) -> str:
    if found["keyword"]:
        return f'"{found["keyword"]}"'
    if found["part"]:
        return f"{found['part']}("
    return _NAMES[found["other"].casefold()] if found["other"] else found[0]
