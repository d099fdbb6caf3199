"""Rules on statistics: texts of another order of length, debris left in texts, labels unevenly spread."""

from __future__ import annotations

import re
from functools import partial

from curation.audit.checks import add_violations
from curation.audit.rule import (
    Check,
    Collector,
    Context,
    Defect,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.text_rows import literal

MEDIAN_RATIO, FEWEST_ROWS = 20, 20
MOST_QUERIES, MOST_POSITIVES = 50, 100
ARTICLE_PERCENT, ARTICLE_QUERIES = 5, 20
REPEATED = 12
_TEXT_TABLES = ("queries", "corpus")
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456789?!#,;:/|~^$%&@"

DEBRIS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("a replacement character", r"\x{FFFD}", "\ufffd", ("na\ufffdve",)),
    (
        "a control character",
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{9f}]",
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]",
        ("a bell \x07",),
    ),
    (
        "an invisible character",
        r"[\x{200b}\x{202a}-\x{202e}\x{2060}\x{2066}-\x{2069}\x{feff}\x{e000}-\x{f8ff}]",
        "[\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ue000-\uf8ff]",
        ("zero\u200bwidth",),
    ),
    (
        "wrongly decoded characters",
        r"Ã[\x{80}-\x{bf}©±¶¡¤¼€‚ƒ„…†‡ˆ‰Š‹Œ]|â€[\x{80}-\x{bf}™œ˜¢“”\x{9d}]|Â[°±µ·»«§]|ï¿½|Î[±²³]",
        r"Ã[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹Œ]|â€[\x80-\xbf™œ˜“”]|Â[°±µ·»«§]|ï¿½|Î[±²³]",
        ("nÃ©phrite",),
    ),
    (
        "markup",
        r"</?(?:p|br|b|i|u|sub|sup|div|span|a|em|strong|table|tr|td|th|ul|ol|li|h[1-6]|img|xref|italic|bold|sec|"
        r"title|fig|caption|label|ext-link|inline-formula|mml:[a-z]+|jats:[a-z]+)(?:\s[^<>]*)?/?>|<!--|\]\]>|<\?xml",
        "",
        ("with <italic>E. coli</italic>",),
    ),
    ("a character entity", r"&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,6});", "", ("A &amp; B",)),
    (
        "LaTeX source",
        r"\\(?:documentclass|usepackage|begin\{|end\{|setlength|mathrm\{|frac\{)",
        "",
        ("\\usepackage{amsmath}",),
    ),
    ("a blank at its beginning or end", r"^\s|\s$", "", (" A lamp", "A lamp ")),
    (
        f"one character {REPEATED} times or more in a row",
        "|".join(f"{re.escape(letter)}{{{REPEATED}}}" for letter in _LETTERS),
        rf"([^\s.\-_=*·•…─━—0])\1{{{REPEATED - 1},}}",
        ("z" * REPEATED,),
    ),
)
"""(what it is, pattern for RE2, which has no back references, pattern for Python if another, such texts)."""
_LOOKED = "_debris_looked_for"
"""Under this name what was found in texts is kept with the context."""


def _texts(context: Context) -> str:
    """SQL for the texts there are.

    Raises:
        NotCovered: there is no table with texts.
    """
    parts = [f"SELECT '{name}' AS tab, id, text FROM {name}" for name in _present(context)]
    return " UNION ALL ".join(parts)


def _present(context: Context) -> list[str]:
    tables = [name for name in _TEXT_TABLES if name in context.views]
    if not tables:
        raise NotCovered("table absent: queries, corpus")
    return tables


def _debris(what: str, context: Context) -> Outcome:
    """Texts with one kind of debris; all kinds are looked for at once."""
    held = vars(context)
    if _LOOKED not in held:
        held[_LOOKED] = _looked(context)
    found: dict[str, Collector] = held[_LOOKED]
    return found[what].outcome(0)


def _looked(context: Context) -> dict[str, Collector]:
    """What was found, by kind of debris; SQL nominates the texts, Python says where it stands."""
    found = {what: Collector("text_debris", "warn") for what, *_ in DEBRIS}
    patterns = [(what, re.compile(exact or general)) for what, general, exact, _ in DEBRIS]
    nominated = literal("|".join(f"(?:{general})" for _, general, *_ in DEBRIS))
    text = f"SELECT * FROM ({_texts(context)}) WHERE regexp_matches(text, {nominated}) ORDER BY tab, id"
    for batch in context.batches(text, *_present(context)):
        for row in batch.to_pylist():
            for what, pattern in patterns:
                if match := pattern.search(row["text"]):
                    found[what].add(
                        f"the text has {what}", side(row["tab"], row["id"], row["text"], *match.span())
                    )
    return found


def _further(table: str, text: str) -> str:
    """SQL: a further row with this text."""
    return f"INSERT INTO {table} (id, text) VALUES ('canary:text', {literal(text)}) RETURNING id"


TEXT_DEBRIS = tuple(
    Check(
        f"the text has {what}",
        partial(_debris, what),
        tuple(
            Defect(what if len(texts) == 1 else f"{what}: {text!r}", _further(_TEXT_TABLES[place % 2], text))
            for text in texts
        ),
    )
    for place, (what, _, _, texts) in enumerate(DEBRIS)
)


def _lengths(context: Context) -> Outcome:
    """Texts much longer than the middle one of their table."""
    found = Collector("length_outliers", "warn")
    notes = []
    for table in _present(context):
        numbers = context.select(
            f"SELECT count(*) AS n, coalesce(median(length(text)), 0)::BIGINT AS middle FROM {table}"
        )[0]
        notes.append(f"{table}: median {numbers['middle']} characters")
        if numbers["n"] < FEWEST_ROWS:
            notes[-1] += f", fewer than {FEWEST_ROWS} rows"
            continue
        message = f"{{n}} characters, more than {MEDIAN_RATIO} times the median of {numbers['middle']}"
        text = f"""SELECT id AS {table}, text, length(text) AS n FROM {table}
            WHERE length(text) > {numbers["middle"] * MEDIAN_RATIO}"""
        add_violations(found, message, text, context.select)
    return found.outcome(0, "; ".join(notes))


def _long(table: str) -> str:
    """SQL: rows as long as the longest, and one of another order of length."""
    longest = f"SELECT coalesce(max(length(text)), 0) AS n FROM {table}"
    return f"""INSERT INTO {table} (id, text)
            SELECT 'canary:' || number, repeat('x', n) FROM range({FEWEST_ROWS}) t(number), ({longest});
        INSERT INTO {table} (id, text)
            SELECT 'canary:long', repeat('x', {MEDIAN_RATIO} * n + 1) FROM ({longest}) RETURNING id"""


def _many(count: int, query: str, document: str, named: str) -> str:
    """SQL: further positive pairs."""
    return f"""INSERT INTO qrels BY NAME SELECT {query} AS "query-id", {document} AS "corpus-id", 1 AS score
        FROM range({count}) t(n) RETURNING "{named}" """


def _articles(context: Context) -> str | Outcome:
    if "provenance_queries" not in context.views:
        return Outcome(0, 0, note="nothing says which article a query is from")
    return f"""SELECT * FROM (SELECT article_id AS sources, min(id) AS q, count(*) AS n,
            (SELECT count(*) FROM provenance_queries) AS total
            FROM provenance_queries WHERE article_id <> '' GROUP BY article_id)
        WHERE n >= {ARTICLE_QUERIES} AND n * 100 > total * {ARTICLE_PERCENT}"""


UNEVEN = (
    Check(
        "the document is positive for {n} queries",
        f"""SELECT "corpus-id" AS c, count(*) AS n FROM qrels WHERE score > 0
            GROUP BY c HAVING count(*) > {MOST_QUERIES}""",
        Defect(
            "a document positive for very many queries",
            _many(MOST_QUERIES + 1, "'canary:' || n", "'canary:hub'", "corpus-id"),
        ),
    ),
    Check(
        "the query has {n} positive documents",
        f"""SELECT "query-id" AS q, count(*) AS n FROM qrels WHERE score > 0
            GROUP BY q HAVING count(*) > {MOST_POSITIVES}""",
        Defect(
            "a query with very many positives",
            _many(MOST_POSITIVES + 1, "'canary:greedy'", "'canary:' || n", "query-id"),
        ),
    ),
    Check(
        "one article gives {n} of {total} queries",
        _articles,
        Defect(
            "an article that gives many of the queries",
            f"""INSERT INTO provenance_queries BY NAME
                SELECT 'canary:' || n AS id, 'canary:article' AS article_id FROM range({ARTICLE_QUERIES}) t(n)
                RETURNING article_id""",
        ),
    ),
)
_rule = partial(Rule, severity="warn")
RULES = (
    _rule(
        "text_debris",
        1,
        "No debris in texts",
        "Texts hold no replacement, control or invisible characters, no wrongly decoded ones (Ã©), no "
        "HTML, XML or LaTeX source and no character entities, do not begin or end with a blank, and no "
        f"letter stands {REPEATED} times in a row.",
        unit="texts",
        checks=TEXT_DEBRIS,
        compared=_texts,
    ),
    _rule(
        "length_outliers",
        1,
        "No text of another order of length",
        f"In tables of {FEWEST_ROWS} rows or more, no text is longer than {MEDIAN_RATIO} times the median.",
        unit="texts",
        checks=(
            Check(
                "a text is of another order of length than the others of its table",
                _lengths,
                (
                    Defect("a document of another order of length", _long("corpus")),
                    Defect("a query of another order of length", _long("queries")),
                ),
            ),
        ),
        compared=_texts,
    ),
    _rule(
        "uneven_labels",
        1,
        "Labels are spread evenly",
        f"No document is positive for more than {MOST_QUERIES} queries, no query has more than "
        f"{MOST_POSITIVES} positive documents, and no article gives {ARTICLE_QUERIES} queries or more that "
        f"are over {ARTICLE_PERCENT} % of all.",
        unit="pairs",
        checks=UNEVEN,
        tables=("qrels",),
        compared="FROM qrels",
    ),
)
