"""Rules on statistics: texts of another order of length, debris left in texts, labels unevenly spread."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from curation.audit.rule import (
    MAX_EXAMPLES,
    Canary,
    Collector,
    Context,
    NotCovered,
    Outcome,
    Rows,
    Rule,
    side,
)
from curation.audit.rules.planting import Plant

MEDIAN_RATIO, FEWEST_ROWS = 20, 20
MOST_QUERIES, MOST_POSITIVES = 50, 100
ARTICLE_PERCENT, ARTICLE_QUERIES = 5, 20
REPEATED = 12
_TEXT_TABLES = ("queries", "corpus")

DEBRIS: tuple[tuple[str, str, str], ...] = (
    ("a replacement character", r"\x{FFFD}", "\ufffd"),
    (
        "a control character",
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{9f}]",
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]",
    ),
    (
        "an invisible character",
        r"[\x{200b}\x{202a}-\x{202e}\x{2060}\x{2066}-\x{2069}\x{feff}\x{e000}-\x{f8ff}]",
        "[\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ue000-\uf8ff]",
    ),
    (
        "wrongly decoded characters",
        r"Ã[\x{80}-\x{bf}©±¶¡¤¼€‚ƒ„…†‡ˆ‰Š‹Œ]|â€[\x{80}-\x{bf}™œ˜¢“”\x{9d}]|Â[°±µ·»«§]|ï¿½|Î[±²³]",
        r"Ã[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹Œ]|â€[\x80-\xbf™œ˜“”]|Â[°±µ·»«§]|ï¿½|Î[±²³]",
    ),
    (
        "markup",
        r"</?(?:p|br|b|i|u|sub|sup|div|span|a|em|strong|table|tr|td|th|ul|ol|li|h[1-6]|img|xref|italic|bold|sec|"
        r"title|fig|caption|label|ext-link|inline-formula|mml:[a-z]+|jats:[a-z]+)(?:\s[^<>]*)?/?>|<!--|\]\]>|<\?xml",
        "",
    ),
    ("a character entity", r"&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,6});", ""),
    ("LaTeX source", r"\\(?:documentclass|usepackage|begin\{|end\{|setlength|mathrm\{|frac\{)", ""),
    ("a blank at its beginning or end", r"^\s|\s$", ""),
)
"""(what it is, pattern for RE2, pattern for Python when it differs)."""
_RUN = re.compile(rf"([^\s.\-_=*·•…─━—0])\1{{{REPEATED - 1},}}")


def _debris(context: Context) -> Outcome:
    found = Collector("text_debris", "warn")
    patterns = [re.compile(python or general) for _, general, python in DEBRIS]
    where = _nominated()
    for table in present(context):
        text = f"SELECT id, text FROM {table} WHERE {where} ORDER BY id"
        for batch in context.batches(text, table):
            for row in batch.to_pylist():
                for (what, _, _), pattern in zip(DEBRIS, patterns, strict=True):
                    match = pattern.search(row["text"])
                    if match:
                        found.add(f"the text has {what}", side(table, row["id"], row["text"], *match.span()))
                match = _RUN.search(row["text"])
                if match:
                    message = f"one character stands {REPEATED} times or more in a row"
                    found.add(message, side(table, row["id"], row["text"], *match.span()))
    return found.outcome(count_texts(context))


def _nominated() -> str:
    """SQL condition: some debris, or a run of one character (RE2 has no back references, so spelt out)."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456789?!#,;:/|~^$%&@"
    runs = (f"{re.escape(letter)}{{{REPEATED}}}" for letter in letters)
    pattern = "|".join([*(f"(?:{general})" for _, general, _ in DEBRIS), *runs])
    return "regexp_matches(text, '" + pattern.replace("'", "''") + "')"


def present(context: Context) -> list[str]:
    """Which of the tables with texts there are."""
    tables = [name for name in _TEXT_TABLES if name in context.views]
    if not tables:
        raise NotCovered("table absent: queries, corpus")
    return tables


def count_texts(context: Context) -> int:
    """Number of texts in them."""
    return sum(context.count(table) for table in present(context))


def _lengths(context: Context) -> Outcome:
    found = Collector("length_outliers", "warn")
    notes = []
    for table in present(context):
        numbers = context.rows(
            f"SELECT count(*) AS n, coalesce(median(length(text)), 0)::BIGINT AS middle FROM {table}", table
        )[0]
        notes.append(f"{table}: median {numbers['middle']} characters")
        if numbers["n"] < FEWEST_ROWS:
            notes[-1] += f", fewer than {FEWEST_ROWS} rows"
        else:
            _too_long(found, context, table, int(numbers["middle"]))
    return found.outcome(count_texts(context), "; ".join(notes))


def _too_long(found: Collector, context: Context, table: str, middle: int) -> None:
    text = f"SELECT id, text, length(text) AS n FROM {table} WHERE length(text) > {middle * MEDIAN_RATIO}"
    add_all(
        found,
        context,
        text,
        "id",
        (table,),
        lambda row: (
            f"{row['n']} characters, more than {MEDIAN_RATIO} times the median of {middle}",
            side(table, row["id"], row["text"]),
        ),
    )


def add_all(
    found: Collector,
    context: Context,
    text: str,
    order: str,
    tables: Sequence[str],
    describe: Callable[[Mapping[str, Any]], tuple[Any, ...]],
    *,
    of: str = "",
) -> None:
    """Count every row of a statement and describe the first, as (message, side, …)."""
    count = int(context.rows(f"SELECT count(*) AS n FROM ({text})", *tables)[0]["n"])
    if not count:
        return
    rows = context.rows(f"SELECT * FROM ({text}) ORDER BY {order} LIMIT {MAX_EXAMPLES}", *tables)
    for row in rows:
        message, *sides = describe(row)
        found.add(of + message, *sides)
    found.found += count - len(rows)


_HUBS = f"""SELECT "corpus-id" AS id, count(*) AS n FROM qrels WHERE score > 0
    GROUP BY 1 HAVING count(*) > {MOST_QUERIES}"""
_GREEDY = f"""SELECT "query-id" AS id, count(*) AS n FROM qrels WHERE score > 0
    GROUP BY 1 HAVING count(*) > {MOST_POSITIVES}"""
_ARTICLES = f"""SELECT * FROM (SELECT article_id AS id, count(*) AS n, min(id) AS first,
        (SELECT count(*) FROM provenance_queries) AS total
        FROM provenance_queries WHERE article_id <> '' GROUP BY article_id)
    WHERE n >= {ARTICLE_QUERIES} AND n * 100 > total * {ARTICLE_PERCENT}"""


def _shares(context: Context) -> Outcome:
    found = Collector("uneven_labels", "warn")
    if "qrels" not in context.views:
        raise NotCovered("table absent: qrels")
    add_all(
        found,
        context,
        _HUBS,
        "id",
        ("qrels",),
        lambda row: (f"the document is positive for {row['n']} queries", side("corpus", row["id"])),
    )
    add_all(
        found,
        context,
        _GREEDY,
        "id",
        ("qrels",),
        lambda row: (f"the query has {row['n']} positive documents", side("queries", row["id"])),
    )
    compared = context.count("qrels")
    if "provenance_queries" not in context.views:
        return found.outcome(compared, "nothing says which article a query is from")
    add_all(
        found,
        context,
        _ARTICLES,
        "id",
        ("provenance_queries",),
        lambda row: (
            f"one article gives {row['n']} of {row['total']} queries",
            side("sources", row["id"]),
            side("queries", row["first"]),
        ),
    )
    return found.outcome(compared)


def _append(table: str, text: str, place: int) -> Plant:
    """A canary: words added to one row's text."""

    def plant(rows: Rows, _: Rows) -> Sequence[str] | None:
        if not rows[table]:
            return None
        row = rows[table][place % len(rows[table])]
        row["text"] = f"{row['text'] or ''}{text}"
        return [str(row["id"])]

    return plant


def _long(rows: Rows, _: Rows) -> Sequence[str] | None:
    told = [row for row in rows["corpus"] if (row["text"] or "").strip()]
    if 2 * len(told) <= len(rows["corpus"]):
        return None  # documents that are images: their median is nothing, so there are no outliers
    model = told[0]
    middle = max(len(row["text"] or "") for row in rows["corpus"])
    rows["corpus"] += [
        model | {"id": f"canary:{number:02}", "text": "x" * middle} for number in range(FEWEST_ROWS)
    ]
    rows["corpus"].append(model | {"id": "canary:long", "text": "word " * middle * MEDIAN_RATIO})
    return ["canary:long"]


def _hub(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["qrels"]:
        return None
    model = rows["qrels"][0]
    rows["qrels"] += [model | {"query-id": f"canary:{n}", "score": 1} for n in range(MOST_QUERIES + 1)]
    return [str(model["corpus-id"])]


def _greedy(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["qrels"]:
        return None
    model = rows["qrels"][-1]
    rows["qrels"] += [model | {"corpus-id": f"canary:{n}", "score": 1} for n in range(MOST_POSITIVES + 1)]
    return [str(model["query-id"])]


def _one_article(rows: Rows, _: Rows) -> Sequence[str] | None:
    if not rows["provenance_queries"]:
        return None
    model = rows["provenance_queries"][0]
    rows["provenance_queries"] += [model | {"id": f"canary:{n}"} for n in range(ARTICLE_QUERIES)]
    return [str(model["article_id"])]


_DEBRIS_CANARIES = (
    ("a replacement character", "corpus", " na\ufffdve"),
    ("a control character", "corpus", " \x07"),
    ("an invisible character", "queries", " zero\u200bwidth"),
    ("wrongly decoded characters", "corpus", " nÃ©phrite"),
    ("markup", "queries", " with <italic>E. coli</italic>"),
    ("a character entity", "corpus", " A &amp; B"),
    ("LaTeX source", "corpus", " \\usepackage{amsmath}"),
    ("a blank at its end", "queries", " "),
    ("a run of one character", "corpus", " " + "z" * REPEATED),
)

RULES = (
    Rule(
        "text_debris",
        1,
        "No debris in texts",
        "Texts hold no replacement, control or invisible characters, no wrongly decoded ones (Ã©), no "
        "HTML, XML or "
        f"LaTeX source and no character entities, do not begin or end with a blank, and no letter stands "
        f"{REPEATED} times in a row.",
        "warn",
        "texts",
        _debris,
        canaries=tuple(
            Canary(name, _append(table, text, place))
            for place, (name, table, text) in enumerate(_DEBRIS_CANARIES)
        ),
    ),
    Rule(
        "length_outliers",
        1,
        "No text of another order of length",
        f"In tables of {FEWEST_ROWS} rows or more, no text is longer than {MEDIAN_RATIO} times the median.",
        "warn",
        "texts",
        _lengths,
        canaries=(Canary("a document of another order of length", _long),),
    ),
    Rule(
        "uneven_labels",
        1,
        "Labels are spread",
        f"No document is positive for more than {MOST_QUERIES} queries, no query has more than "
        f"{MOST_POSITIVES} "
        f"positive documents, and no article gives {ARTICLE_QUERIES} queries or more that are over "
        f"{ARTICLE_PERCENT} % of all.",
        "warn",
        "pairs",
        _shares,
        canaries=(
            Canary("a document positive for very many queries", _hub),
            Canary("a query with very many positives", _greedy),
            Canary("an article that gives many of the queries", _one_article),
        ),
    ),
)
