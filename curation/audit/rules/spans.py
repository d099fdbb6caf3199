"""Rules on words copied between queries and documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa

from curation.audit.rule import MAX_EXAMPLES, Check, Collector, Context, Defect, Outcome, Rule
from curation.audit.rules.duplicate_defects import LONG, SHORT, UNSPACED
from curation.audit.rules.planting import add_row, set_row
from curation.audit.rules.text_rows import both_sides, by_id, literal, rows_of, write_pairs
from curation.similarity.text.candidates import COMMON
from curation.similarity.text.engine import SPAN, Match, Texts, copied_in, copied_spans, standing_in
from curation.similarity.text.tokens import I64
from schemas.audit import Coverage, Side

MIN_VERBATIM = 5
_BATCHES_AT_ONCE = 20


def _self_match(context: Context) -> Outcome:
    """Positive pairs that share a run of words, or whose short query stands whole in the document."""
    found = Collector("self_match", "error")
    queries, corpus = context.queries, context.corpus
    text = 'SELECT DISTINCT "query-id" AS q, "corpus-id" AS c FROM qrels WHERE score > 0 ORDER BY q, c'
    rows, other = _rows_of_pairs(queries, corpus, context.batches(text, "qrels"))
    here = (rows >= 0) & (other >= 0)
    rows, other = rows[here], other[here]
    halves = queries.sketch.halves[rows]
    words = {(a, b): value for a, b, value in copied_in(queries, corpus, rows, other)}
    short = (halves >= 2 * MIN_VERBATIM) & (halves < 2 * SPAN)
    for a, b in standing_in(queries, corpus, rows[short], other[short]):
        words[a, b] = queries.sketch.halves[a] / 2
    names = (queries.names([a for a, _ in words]), corpus.names([b for _, b in words]))
    pairs = sorted(zip(*names, words.values(), strict=True))
    texts = by_id(queries, (query for query, _, _ in pairs[:MAX_EXAMPLES]))
    documents = by_id(corpus, (document for _, document, _ in pairs[:MAX_EXAMPLES]))
    for query, document, count in pairs:
        sides: tuple[Side, ...] = ()
        if len(found.kept) < MAX_EXAMPLES:
            sides = both_sides("queries", (query, texts[query]), "corpus", (document, documents[document]))
        found.add(f"query and positive document share {count:g} consecutive words", *sides)
    few = int((halves < 2 * MIN_VERBATIM).sum())
    compared = len(rows) - few
    coverage = _pairs_covered(compared, few, int((~here).sum()))
    return Outcome(compared, found.found, tuple(found.kept), coverage=coverage)


def _pairs_covered(compared: int, few: int, missing: int) -> tuple[Coverage, ...]:
    rows = [Coverage(compared_with="", compared=compared, unit="positive pairs")]
    left = {f"the query has less than {MIN_VERBATIM} words": few, "an id of the pair is in no table": missing}
    for why, skipped in left.items():
        if skipped:
            rows.append(
                Coverage(compared_with="", compared=0, unit="positive pairs", skipped=skipped, why=why)
            )
    return tuple(rows)


def _rows_of_pairs(queries: Texts, corpus: Texts, batches: Iterator[pa.RecordBatch]) -> tuple[I64, I64]:
    """Row numbers of both ids of every pair, a part at a time: the ids of millions are not held together."""
    found: list[tuple[I64, I64]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    while held := list(islice(batches, _BATCHES_AT_ONCE)):
        found.append((rows_of(queries, _column(held, 0)), rows_of(corpus, _column(held, 1))))
    return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])


def _column(batches: Sequence[pa.RecordBatch], at: int) -> pa.Array:
    return pa.concat_arrays([batch.column(at).cast(pa.large_string()) for batch in batches])


def _copied_span(context: Context) -> Outcome:
    """Documents nobody judged that share a run of words with a query."""
    found = Collector("copied_span", "warn")
    matches = copied_spans(context.queries, context.corpus)
    pairs = _unjudged(context, matches.pairs)
    shown = pairs[:MAX_EXAMPLES]
    queries = by_id(context.queries, (pair.one for pair in shown))
    documents = by_id(context.corpus, (pair.other for pair in shown))
    for pair in pairs:
        sides: tuple[Side, ...] = ()
        if len(found.kept) < MAX_EXAMPLES:
            one, other = (pair.one, queries[pair.one]), (pair.other, documents[pair.other])
            sides = both_sides("queries", one, "corpus", other)
        found.add(f"an unjudged document shares {pair.value:g} consecutive words with the query", *sides)
    outcome = found.outcome(matches.compared)
    coverage = matches.coverage(unit="pairs of query and document")
    short = int(np.count_nonzero(context.queries.sketch.halves < 2 * SPAN))
    if short:
        why = f"less than {SPAN} words: no run that long"
        coverage += (Coverage(compared_with="", compared=0, unit="queries", skipped=short, why=why),)
    return Outcome(outcome.compared, outcome.found, outcome.findings, coverage=coverage)


def _unjudged(context: Context, pairs: Sequence[Match]) -> list[Match]:
    """Pairs that stand in none of the judgement tables that are there."""
    tables = [table for table in ("qrels", "excluded") if table in context.views]
    if not pairs or not tables:
        return list(pairs)
    views = {table: context.views[table] for table in tables} | write_pairs(context, "copied", pairs)
    known = " UNION ALL ".join(f'SELECT "query-id", "corpus-id" FROM {table}' for table in tables)
    text = f"""SELECT DISTINCT p.one, p.other FROM pairs p
        JOIN ({known}) k ON k."query-id" = p.one AND k."corpus-id" = p.other ORDER BY p.one, p.other"""
    judged = {(row["one"], row["other"]) for batch in context.query(text, views) for row in batch.to_pylist()}
    return [pair for pair in pairs if (pair.one, pair.other) not in judged]


_POSITIVE = """SELECT "query-id", "corpus-id" FROM qrels WHERE rowid = (SELECT min(r.rowid) FROM qrels r
    JOIN queries q ON q.id = r."query-id" JOIN corpus c ON c.id = r."corpus-id" WHERE r.score > 0)"""


def _copied_answer(query_text: str, document_text: str) -> Defect:
    return Defect(
        f"a query copied from its answer: {query_text[:40]}…",
        f"""UPDATE queries SET text = {literal(query_text)} WHERE id = (SELECT "query-id" FROM ({_POSITIVE}));
        UPDATE corpus SET text = {literal(document_text)} WHERE id = (SELECT "corpus-id" FROM ({_POSITIVE}));
        {_POSITIVE}""",
    )


def _copied_elsewhere(query_text: str, document_text: str) -> Defect:
    further = f"'canary:document' AS id, {literal(document_text)} AS text"
    return Defect(
        f"words of a query in an unjudged document: {query_text[:40]}…",
        f"""{set_row("queries", f"text = {literal(query_text)}")}; {add_row("corpus", further)};
        SELECT q.id, c.id AS c FROM queries q, corpus c WHERE q.rowid = 0 AND c.id = 'canary:document'""",
    )


_RUN = " ".join(LONG.split()[:SPAN])
_SIGNS = UNSPACED[: 2 * SPAN]
_IN_QUERY, _IN_DOCUMENT = f"What became of {_RUN.upper()}?", f"An old sheet shows {_RUN}, it is said."
_SIGN_QUERY, _SIGN_DOCUMENT = f"問い:{_SIGNS}か", f"昔の話。{_SIGNS}、という。"

RULES = (
    Rule(
        "self_match",
        2,
        "No query copies its answer",
        (
            f"No query shares {SPAN} consecutive words with a positive document, and no query of "
            f"{MIN_VERBATIM} to {SPAN - 1} words stands whole in one. In scripts without spaces a character "
            "counts as half a word."
        ),
        "error",
        "positive pairs",
        checks=(
            Check(
                "query and positive document share a run of words",
                _self_match,
                (
                    _copied_answer(_IN_QUERY, _IN_DOCUMENT),
                    _copied_answer(SHORT, f"We saw {SHORT.lower()}, then rain fell."),
                    _copied_answer(_SIGN_QUERY, _SIGN_DOCUMENT),
                ),
            ),
        ),
    ),
    Rule(
        "copied_span",
        2,
        "No unjudged copy",
        (
            f"No document outside qrels and excluded shares {SPAN} consecutive words with a query: it may "
            f"be a missed positive. Runs that stand in more than {COMMON} texts are boilerplate and counted "
            "instead. In scripts without spaces a character counts as half a word."
        ),
        "warn",
        "pairs",
        checks=(
            Check(
                "an unjudged document shares a run of words with the query",
                _copied_span,
                (
                    _copied_elsewhere(_IN_QUERY, _IN_DOCUMENT),
                    _copied_elsewhere(_SIGN_QUERY, _SIGN_DOCUMENT),
                ),
            ),
        ),
    ),
)
