"""Rules on duplicates and near-duplicates among documents and among queries.

Exact duplicates must be merged, near-duplicate documents must share their labels: one of a positive that
nobody judged is scored as a miss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from curation.audit.rule import MAX_EXAMPLES, Check, Collector, Context, Defect, Outcome, Rule, side
from curation.audit.rules.duplicate_defects import LONG, SHORT, UNSPACED, near
from curation.audit.rules.text_rows import (
    About,
    about,
    both_sides,
    by_id,
    differ,
    images,
    literal,
    write_pairs,
)
from curation.similarity.text.engine import NEAR, SPAN, Match, exact_rows, near_pairs
from curation.similarity.text.ngrams import GRAM
from schemas.audit import Coverage

NEAR_TEXT = (
    f"Texts, one of {SPAN} words or more, are nearly the same when {NEAR:.0%} of the words of both stand in "
    "both in the same order; two shorter ones when they have the same words in any order, or all but one and "
    f"that one, of five letters or more, differs by one letter. Candidates share fingerprints of {GRAM} "
    "words; in scripts without spaces each character is a token and counts as half a word."
)
_SPLITS = "SELECT id, split FROM provenance_queries ORDER BY id, split"


def _exact(table: str, context: Context) -> Outcome:
    """Rows with the same words in the same order and the same picture."""
    rows, texts = ("documents", context.corpus) if table == "corpus" else ("queries", context.queries)
    found = Collector(f"duplicate_{rows}", "error")
    groups = [sorted(texts.names(rows)) for rows in exact_rows(texts)]
    pictures = images(context, table, (name for group in groups for name in group)) if groups else {}
    pairs: list[tuple[str, str]] = []
    for group in groups:
        first: dict[str | None, str] = {}
        for name in group:
            kept = first.setdefault(pictures.get(name), name)
            if kept != name:
                pairs.append((kept, name))
    pairs.sort()
    quoted = by_id(texts, (name for pair in pairs[:MAX_EXAMPLES] for name in pair))
    for one, other in pairs:
        sides = (side(table, name, quoted.get(name, "")) for name in (one, other))
        found.add(f"two {rows} have the same normalised text and image", *sides)
    alike = sum(len(group) - 1 for group in groups) - len(pairs)
    empty = int((texts.sketch.counts == 0).sum())
    outcome = found.outcome(len(texts) - empty)
    coverage = [Coverage(compared_with="", compared=len(texts) - empty, unit="texts")]
    if empty:
        why = "no letter or digit in the text"
        coverage.append(Coverage(compared_with="", compared=0, unit="texts", skipped=empty, why=why))
    if alike > 0:
        why = "same text with another image: not a duplicate"
        coverage.append(Coverage(compared_with="", compared=alike, unit="texts with another image", why=why))
    return Outcome(outcome.compared, outcome.found, outcome.findings, coverage=tuple(coverage))


def _near_documents(context: Context) -> Outcome:
    """Near copies of a positive that are not judged as it is."""
    found = Collector("near_duplicate_documents", "error")
    matches = near_pairs(context.corpus)
    pictures = images(context, "corpus", (name for pair in matches.pairs for name in (pair.one, pair.other)))
    pairs = [pair for pair in matches.pairs if not differ(pictures, pair.one, pair.other)]
    coverage = matches.coverage(unit="pairs of documents")
    if "qrels" not in context.views:
        coverage += (_counted(len(pairs), "near-duplicate pairs", "no qrels: labels not compared"),)
        return Outcome(matches.compared, 0, coverage=coverage, missed="no qrels: labels not compared")
    rows = _unlike(context, pairs) if pairs else []
    shown = rows[:MAX_EXAMPLES]
    documents = by_id(context.corpus, (name for _, one, other, _ in shown for name in (one, other)))
    queries = by_id(context.queries, (query for query, _, _, _ in shown))
    for query, one, other, value in rows:
        quoted = ((name, documents.get(name, "")) for name in (one, other))
        found.add(
            f"a document {value:.0%} the same as a positive one is neither labelled alike nor excluded",
            *(both_sides("corpus", next(quoted), "corpus", next(quoted)) if one in documents else ()),
            side("queries", query, queries.get(query, "")),
        )
    conflicting = {frozenset((one, other)) for _, one, other, _ in rows}
    agreeing = len(pairs) - len(conflicting)
    coverage += (_counted(agreeing, "near-duplicate pairs whose labels agree", ""),)
    outcome = found.outcome(matches.compared)
    return Outcome(outcome.compared, outcome.found, outcome.findings, coverage=coverage)


def _counted(count: int, unit: str, why: str) -> Coverage:
    return Coverage(compared_with="", compared=count, unit=unit, why=why)


def _unlike(context: Context, pairs: Sequence[Match]) -> list[tuple[str, str, str, float]]:
    """(query, positive, near copy, similarity) where the copy has another grade or none, and is not excluded.

    Two documents of different grades are told once.
    """
    views = {"qrels": context.views["qrels"], **write_pairs(context, "near_documents", pairs)}
    aside = ""
    if "excluded" in context.views:
        views["excluded"] = context.views["excluded"]
        aside = """AND NOT EXISTS (SELECT 1 FROM excluded e
            WHERE e."query-id" = r."query-id" AND e."corpus-id" = p.other)"""
    text = f"""SELECT DISTINCT r."query-id" AS query, p.one, p.other, p.value
        FROM (SELECT one, other, value FROM pairs UNION ALL SELECT other, one, value FROM pairs) p
        JOIN qrels r ON r."corpus-id" = p.one AND r.score > 0
        LEFT JOIN qrels o ON o."query-id" = r."query-id" AND o."corpus-id" = p.other
        WHERE (o.score IS NULL OR (o.score <> r.score AND (o.score <= 0 OR p.one < p.other))) {aside}
        ORDER BY query, one, other, value"""
    return [
        (row["query"], row["one"], row["other"], row["value"])
        for batch in context.query(text, views)
        for row in batch.to_pylist()
    ]


def _near_queries(context: Context, rule: str, wanted: Callable[[About, About], bool]) -> Outcome:
    """Near-duplicate queries, of one split or of two."""
    found = Collector(rule, "warn")
    texts = context.queries
    matches = near_pairs(texts)
    names = {name for pair in matches.pairs for name in (pair.one, pair.other)}
    known, pictures = about(context, names), images(context, "queries", names)
    kept, left = [], {"of one family": 0, "on other target concepts": 0, "with another image": 0}
    for pair in matches.pairs:
        one, other = known.get(pair.one, About()), known.get(pair.other, About())
        if not wanted(one, other):
            continue
        if one.family and one.family == other.family:
            left["of one family"] += 1
        elif one.targets and other.targets and not one.targets & other.targets:
            left["on other target concepts"] += 1
        elif differ(pictures, pair.one, pair.other):
            left["with another image"] += 1
        else:
            kept.append(pair)
    quoted = by_id(texts, (name for pair in kept[:MAX_EXAMPLES] for name in (pair.one, pair.other)))
    for pair in kept:
        rows = ((name, quoted.get(name, "")) for name in (pair.one, pair.other))
        sides = both_sides("queries", next(rows), "queries", next(rows)) if pair.one in quoted else ()
        found.add(f"two queries are {pair.value:.0%} the same", *sides)
    outcome = found.outcome(_pairs_of(context, wanted))
    coverage = matches.coverage(unit="pairs of queries") + tuple(
        _counted(count, f"near-duplicate pairs {unit}: not a finding", "")
        for unit, count in left.items()
        if count
    )
    return Outcome(outcome.compared, outcome.found, outcome.findings, coverage=coverage)


def _pairs_of(context: Context, wanted: Callable[[About, About], bool]) -> int:
    """Pairs of queries of one split, or of two, whichever is wanted; texts without a word apart."""
    texts = context.queries
    splits: Counter[str] = Counter()
    known = context.subject.views.get("provenance_queries")
    split_of = (
        {row["id"]: row["split"] or "" for row in context.rows(_SPLITS, "provenance_queries")}
        if known
        else {}
    )
    for name in texts.names(np.flatnonzero(texts.sketch.counts > 0)):
        splits[split_of.get(name, "")] += 1
    own = About(split="a")
    if wanted(own, own):
        return sum(count * (count - 1) // 2 for count in splits.values())
    total = sum(splits.values())
    return (total * total - sum(count * count for count in splits.values())) // 2


def _within_split(context: Context) -> Outcome:
    return _near_queries(context, "near_duplicate_queries", lambda one, other: one.split == other.split)


def _across_splits(context: Context) -> Outcome:
    outcome = _near_queries(
        context, "near_queries_across_splits", lambda one, other: one.split != other.split
    )
    if "provenance_queries" not in context.views and not outcome.found:
        return Outcome(
            outcome.compared, 0, coverage=outcome.coverage, missed="no table says the split of a query"
        )
    return outcome


_LIKE = """(SELECT q.id FROM queries AS q JOIN provenance_queries AS o ON o.id = q.id
    WHERE coalesce(o.image_count, 0) < 2 ORDER BY q.rowid LIMIT 1)"""
"""A query of one image or none: the copy of another would lack its further images."""
_POSITIVE = """(SELECT "query-id" AS q, "corpus-id" AS c FROM qrels SEMI JOIN corpus d ON d.id = "corpus-id"
    SEMI JOIN queries o ON o.id = "query-id" WHERE score > 0 ORDER BY qrels.rowid LIMIT 1)"""


def _again(table: str, like: str, name: str, text: str, changed: str, origin: str = "") -> str:
    """SQL: a row has `text`, and one `name` like it has `changed`, with its provenance but for `origin`."""
    more = f", {origin}" if origin else ""
    return f"""INSERT INTO provenance_{table} SELECT * REPLACE ('{name}' AS id{more})
        FROM provenance_{table} WHERE id = {like} LIMIT 1;
    UPDATE {table} SET text = {literal(text)} WHERE id = {like};
    INSERT INTO {table} SELECT * REPLACE ('{name}' AS id, {literal(changed)} AS text)
        FROM {table} WHERE id = {like} LIMIT 1 RETURNING id"""


def _near_document(text: str, changed: str, grade: int | None = None) -> Defect:
    """A near copy of a positive, unjudged or with another grade."""
    graded = f"""INSERT INTO qrels SELECT * REPLACE ('canary:near' AS "corpus-id", score + {grade} AS score)
        FROM qrels SEMI JOIN {_POSITIVE} ON q = "query-id" AND c = "corpus-id";"""
    return Defect(
        f"a near-duplicate of a positive {'unjudged' if grade is None else 'with another grade'}: "
        f"{len(text.split())} words",
        f"""{_again("corpus", f"(SELECT c FROM {_POSITIVE})", "canary:near", text, changed)};
        {"" if grade is None else graded} SELECT q, c, 'canary:near' FROM {_POSITIVE}""",
    )


def _near_query(name: str, text: str, changed: str) -> Defect:
    """A near copy of the first query, in its split."""
    planted = _again("queries", _LIKE, "canary:query", text, changed, "'' AS family")
    return Defect(name, f"{planted}; SELECT id, 'canary:query' FROM queries WHERE id = {_LIKE}")


def _far_query(name: str, text: str, changed: str) -> Defect:
    """A near copy of the first query, in the other split."""
    origin = "'' AS family, if(split = 'test', 'dev', 'test') AS split"
    planted = _again("queries", _LIKE, "canary:query", text, changed, origin)
    return Defect(name, f"{planted}; SELECT id, 'canary:query' FROM provenance_queries WHERE id = {_LIKE}")


_LESS = SHORT.replace("lanterns", "lantern")
_rule = partial(Rule, severity="error", unit="pairs of queries")
RULES = (
    _rule(
        "duplicate_documents",
        2,
        "No duplicate document",
        "No two documents have the same words in the same order and the same image, once case, width, "
        "punctuation and spacing are folded.",
        unit="documents",
        checks=(
            Check(
                "two documents have the same normalised text and image",
                partial(_exact, "corpus"),
                Defect(
                    "a document again, in capitals and with dashes",
                    _again(
                        "corpus",
                        "(SELECT id FROM corpus WHERE rowid = 0)",
                        "canary:document",
                        LONG,
                        f"  {LONG.upper().replace(' ', ' - ')}!",
                    ),
                ),
            ),
        ),
    ),
    _rule(
        "near_duplicate_documents",
        1,
        "Near-duplicate documents share labels",
        "A document that is nearly the same as a positive one, with the same image if any, has the "
        f"same grade for that query or is excluded. {NEAR_TEXT}",
        unit="pairs of documents",
        checks=(
            Check(
                "a document nearly the same as a positive one is neither labelled alike nor excluded",
                _near_documents,
                (
                    _near_document(LONG, near(LONG)),
                    _near_document(SHORT, _LESS),
                    _near_document(LONG, near(LONG), grade=1),
                ),
            ),
        ),
    ),
    _rule(
        "duplicate_queries",
        2,
        "No duplicate query",
        "No two queries have the same words in the same order and the same image.",
        unit="queries",
        checks=(
            Check(
                "two queries have the same normalised text and image",
                partial(_exact, "queries"),
                Defect(
                    "a query again, in title case",
                    _again("queries", _LIKE, "canary:query", LONG, f"{LONG.title()}.", "'' AS family"),
                ),
            ),
        ),
    ),
    _rule(
        "near_duplicate_queries",
        1,
        "No near-duplicate query",
        "No two queries of a split are nearly the same, unless they are of one family, have other "
        f"images or ask about target concepts of which they share none. {NEAR_TEXT}",
        severity="warn",
        checks=(
            Check(
                "two queries of a split are nearly the same",
                _within_split,
                (
                    _near_query("a query of 25 words with three changed", LONG, near(LONG)),
                    _near_query("a short query with one letter less", SHORT, _LESS),
                    _near_query(
                        "the words of a short query in another order",
                        SHORT,
                        "with broken lanterns harbour lighthouses",
                    ),
                    _near_query(
                        "a query without spaces, two characters changed", UNSPACED, UNSPACED[:-2] + "消し"
                    ),
                ),
            ),
        ),
    ),
    _rule(
        "near_queries_across_splits",
        1,
        "No near-duplicate query across splits",
        "No query of one split is nearly the same as a query of another, unless they are of one family, "
        f"have other images or ask about target concepts of which they share none. {NEAR_TEXT}",
        checks=(
            Check(
                "a query of one split is nearly the same as one of another",
                _across_splits,
                (
                    _far_query("a query of 25 words, three changed, in the other split", LONG, near(LONG)),
                    _far_query("a short query in the other split", SHORT, SHORT[:-1]),
                ),
            ),
        ),
    ),
)
