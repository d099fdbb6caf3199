"""Rules on evidence: a released text leads back to its source, what a label rests on re-extracts.

Texts with at most one recorded change are checked in SQL, the others one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.rule import (
    MAX_EXAMPLES,
    MAX_QUOTE,
    Check,
    Collector,
    Context,
    Defect,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules.planting import set_row
from schemas.audit import Coverage
from schemas.hashing import normalise_text, sha256_text

_ORIGINS = (("queries", "provenance_queries"), ("corpus", "provenance_corpus"))
_WHOLE = """SELECT t.id FROM {table} t JOIN {origin} p ON p.id = t.id
    WHERE coalesce(len(p.transforms), 0) = 0
        AND sha256(coalesce(t.text, '')) IS DISTINCT FROM p.text_sha256"""
_CHANGED_ONCE = """
    SELECT id FROM (
        SELECT t.id, coalesce(t.text, '') AS text, p.text_sha256, p.transforms[1] AS c
        FROM {table} t JOIN {origin} p ON p.id = t.id WHERE len(p.transforms) = 1)
    WHERE NOT coalesce(c."start" >= 0 AND c."start" <= c."end" AND c."end" <= length(text) AND text_sha256
        = sha256(substr(text, 1, c."start") || c.original || substr(text, c."end" + 1)), false)"""
_CHANGED = """SELECT t.id, t.text, p.text_sha256, p.transforms FROM {table} t JOIN {origin} p ON p.id = t.id
    WHERE len(p.transforms) > 1"""
_COUNT = "SELECT count(*) AS n FROM {table} t JOIN {origin} p ON p.id = t.id"
_QUOTES = "SELECT coalesce(sum(len(evidence)), 0)::BIGINT AS n FROM provenance_qrels"
_WITHOUT = """SELECT o."query-id" AS q, o."corpus-id" AS c FROM provenance_qrels o
    LEFT JOIN qrels r ON r."query-id" = o."query-id" AND r."corpus-id" = o."corpus-id"
    WHERE coalesce(len(o.evidence), 0) = 0
        AND coalesce(r.label_status, '') NOT IN ('expert', 'adjudicated')
        AND NOT coalesce(r.label_status = 'judge' AND r.score = 0, false)"""
"""Labels of people rest on their answers, see the rule review_labels; a judge's 0 says that no words do."""
_PLACED = """
    WITH spans AS (SELECT "query-id" AS q, "corpus-id" AS c, unnest(evidence) AS e FROM provenance_qrels),
    placed AS (
        SELECT s.q, c, e."start" AS first, e."end" AS stop, coalesce(e.text, '') AS words,
            coalesce(e.text_id = p.source_id AND e.text_id <> c, false) AND k.q IS NOT NULL AS is_own,
            coalesce(e.text_id = c, false) OR is_own AS is_document,
            coalesce(e.text_id <> c AND e.text_id = p.source_id, false) AND NOT is_own AS is_query,
            CASE WHEN is_query THEN s.q WHEN is_own THEN e.text_id ELSE c END AS holder
        FROM spans s LEFT JOIN (SELECT id, source_id FROM provenance_queries) p ON p.id = s.q
        LEFT JOIN ({cut}) k ON k.q = s.q)"""
"""Every quote with the row it is sought in: the query if it is from its own passage, else the document.

A query that was cut does not hold what tells its diagnosis: the document made of the same case does."""
_CUT, _NOT_CUT = 'SELECT "query-id" AS q FROM cuts', "SELECT NULL AS q WHERE false"
_UNSURE = """{placed},
    quotes AS (
        SELECT is_query, is_document, is_own, holder, first, stop, words, count(*) AS n FROM placed
        GROUP BY ALL),
    held AS (
        SELECT u.*, t.text, o.transforms FROM quotes u LEFT JOIN corpus t ON t.id = u.holder
        LEFT JOIN provenance_corpus o ON o.id = u.holder WHERE NOT is_query
        UNION ALL
        SELECT u.*, t.text, o.transforms FROM quotes u LEFT JOIN queries t ON t.id = u.holder
        LEFT JOIN provenance_queries o ON o.id = u.holder WHERE is_query)
    SELECT is_query, is_document, is_own, holder, first, stop, words, n::BIGINT AS n, text, transforms
    FROM held
    WHERE NOT coalesce(coalesce(len(transforms), 0) = 0 AND words <> '' AND CASE WHEN is_document OR is_query
        THEN first >= 0 AND stop > first AND substr(text, first + 1, stop - first) = words
        ELSE contains(text, words) END, false)"""
"""Quotes that SQL alone does not confirm: those of changed texts, wrong ones, and those of documents merged
into this one whose words it does not hold as they stand. Most labels of a document quote the same words."""
_WRONG = """{placed}
    SELECT q, c, w.number FROM placed p JOIN wrong w ON w.is_query = p.is_query AND w.holder = p.holder
        AND w.is_document = p.is_document AND w.first IS NOT DISTINCT FROM p.first
        AND w.stop IS NOT DISTINCT FROM p.stop AND w.words = p.words ORDER BY ALL"""
_KINDS = {
    "is_query": pa.bool_(),
    "is_document": pa.bool_(),
    "holder": pa.string(),
    "first": pa.int64(),
    "stop": pa.int64(),
    "words": pa.string(),
}


def _placed(context: Context, text: str) -> tuple[str, tuple[str, ...]]:
    """SQL over placed quotes, and the table it reads where a release has it."""
    cuts = ("cuts",) if "cuts" in context.views else ()
    return text.format(placed=_PLACED.format(cut=_CUT if cuts else _NOT_CUT)), cuts


_TABLES = ("provenance_qrels", "corpus", "provenance_corpus", "queries", "provenance_queries")


def undo(text: str, transforms: Iterable[Mapping[str, Any]]) -> str | None:
    """The source text: every transform undone, last first; None when one does not fit the text."""
    for change in reversed(list(transforms)):
        start, end, original = change["start"], change["end"], change["original"]
        if start is None or end is None or original is None or not 0 <= start <= end <= len(text):
            return None
        text = text[:start] + original + text[end:]
    return text


def untraced(context: Context) -> tuple[int, list[tuple[str, str]]]:
    """How many texts have provenance, and (table, id) of those that do not lead back to their source.

    Two rules ask; the answer is kept with the context.
    """
    kept = vars(context)
    if "untraced" not in kept:
        kept["untraced"] = _untraced(context)
    answer: tuple[int, list[tuple[str, str]]] = kept["untraced"]
    return answer


def _untraced(context: Context) -> tuple[int, list[tuple[str, str]]]:
    compared = 0
    wrong: list[tuple[str, str]] = []
    for table, origin in _ORIGINS:
        names = {"table": table, "origin": origin}
        compared += context.rows(_COUNT.format(**names), table, origin)[0]["n"]
        ids = [
            str(row["id"])
            for text in (_WHOLE, _CHANGED_ONCE)
            for row in context.rows(text.format(**names), table, origin)
        ]
        for batch in context.batches(_CHANGED.format(**names), table, origin):
            for row in batch.to_pylist():
                source = undo(row["text"] or "", row["transforms"])
                if source is None or sha256_text(source) != row["text_sha256"]:
                    ids.append(str(row["id"]))
        wrong += [(table, name) for name in sorted(ids)]
    return compared, wrong


def texts_of(context: Context, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Texts of some rows, by (table, id)."""
    found: dict[tuple[str, str], str] = {}
    wanted = sorted(set(places))
    for table in sorted({table for table, _ in wanted}):
        listed = ", ".join("'" + name.replace("'", "''") + "'" for of, name in wanted if of == table)
        for row in context.rows(f"SELECT id, text FROM {table} WHERE id IN ({listed})", table):
            found[table, row["id"]] = row["text"] or ""
    return found


def _source_texts(context: Context) -> Outcome:
    found = Collector("source_texts", "error")
    compared, wrong = untraced(context)
    texts = texts_of(context, wrong[:MAX_EXAMPLES])
    for table, name in wrong:
        found.add(
            "undoing the recorded changes does not give the source text",
            side(table, name, texts.get((table, name))),
        )
    return found.outcome(compared)


def _quotes(context: Context) -> Outcome:
    """Quotes that do not stand where they should."""
    found = Collector("evidence", "error")
    compared = context.rows(_QUOTES, "provenance_qrels")[0]["n"]
    wrong, unpublished = _wrong(context)
    for q, c, start, end, words, is_query, text in sorted(_labelled(context, wrong)):
        found.add(
            f"the quote is not at {start}–{end} of its passage",
            side("queries", q, text if is_query else ""),
            side("corpus", c, "" if is_query else text),
            side("provenance_qrels", f"{q} {c}", words),
        )
    why = "they lie in passages merged into other documents and not published" if unpublished else ""
    note = f"{unpublished} quotes: {why}" if unpublished else ""
    coverage = Coverage(
        compared_with="", compared=compared - unpublished, unit="quotes", skipped=unpublished, why=why
    )
    return Outcome(compared, found.found, tuple(found.kept), note, (coverage,))


def _wrong(context: Context) -> tuple[list[Mapping[str, Any]], int]:
    """Distinct quotes that do not stand where they should, and how many cannot be sought."""
    wrong: list[Mapping[str, Any]] = []
    unpublished = 0
    text, cuts = _placed(context, _UNSURE)
    for batch in context.batches(text, *_TABLES, *cuts):
        for row in batch.to_pylist():
            source = undo(row["text"] or "", row["transforms"] or ())
            words = row["words"]
            if row["is_own"] and row["text"] is None:
                unpublished += row["n"]  # the query's own case is merged into another
            elif not row["is_document"] and not row["is_query"]:
                # A merged duplicate: its own passage is not published; only its words can be sought.
                is_there = bool(words) and normalise_text(words) in normalise_text(source or "")
                unpublished += 0 if is_there else row["n"]
            elif not _stands(source, row["first"], row["stop"], words):
                wrong.append(row)
    return wrong, unpublished


def _labelled(
    context: Context, wrong: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, int, int, str, bool, str]]:
    """Every label with a wrong quote: query, document, place, words, whether of the query, its text."""
    if not wrong:
        return
    columns = {name: pa.array([row[name] for row in wrong], kind) for name, kind in _KINDS.items()}
    path = context.scratch / "wrong-quotes.parquet"
    pq.write_table(pa.table(columns | {"number": pa.array(range(len(wrong)), pa.int64())}), path)
    select, cuts = _placed(context, _WRONG)
    views = {name: context.views[name] for name in ("provenance_qrels", "provenance_queries", *cuts)}
    for batch in context.query(select, {**views, "wrong": [path]}):
        for label in batch.to_pylist():
            row = wrong[label["number"]]
            text = (row["text"] or "")[:MAX_QUOTE]
            place = (row["first"] or 0, row["stop"] or 0)
            yield label["q"], label["c"], *place, row["words"], row["is_query"], text


def _stands(source: str | None, start: int | None, end: int | None, words: str) -> bool:
    """Whether some words stand at their offsets."""
    if source is None or start is None or end is None or not words:
        return False
    return 0 <= start < end <= len(source) and source[start:end] == words


_BY_HAND = "text = 'Somebody wrote this by hand after the release was made.'"
_NOT_MADE, _OUTSIDE = (
    f"{{'start': {at}, 'end': {at}, 'original': 'canary ', 'rule': 'canary'}}" for at in (0, 10**9)
)
_SOURCE_TEXTS = Check(
    "undoing the recorded changes does not give the source text",
    _source_texts,
    tuple(
        defect
        for kind, (table, origin) in zip(("query", "document"), _ORIGINS, strict=True)
        for defect in (
            Defect(f"a {kind} rewritten by hand", set_row(table, _BY_HAND)),
            Defect(
                f"an unchanged {kind} rewritten by hand",
                f"""UPDATE {origin} SET transforms = [] WHERE id = (SELECT id FROM {table} WHERE rowid = 0);
                {set_row(table, _BY_HAND)}""",
            ),
            Defect(f"a {kind} without the hash of its source", set_row(origin, "text_sha256 = NULL")),
            Defect(
                f"a recorded change of a {kind} that was not made",
                set_row(origin, f"transforms = [{_NOT_MADE}]"),
            ),
            Defect(
                f"a recorded change outside the text of a {kind}",
                set_row(origin, f"transforms = [{_OUTSIDE}]"),
            ),
            Defect(
                f"two recorded changes of a {kind} that were not made",
                set_row(origin, f"transforms = [{_NOT_MADE}, {_NOT_MADE}]"),
            ),
            Defect(
                f"two recorded changes of a {kind}, one outside its text",
                set_row(origin, f"transforms = [{_NOT_MADE}, {_OUTSIDE}]"),
            ),
        )
    ),
)
_OF_DOCUMENT, _OF_QUERY = 'e.text_id = "corpus-id"', 'e.text_id = source_id AND source_id <> "corpus-id"'


def _changed(name: str, change: str, of: str = _OF_DOCUMENT, before: str = "") -> Defect:
    """The first label with a quote of its document, or query, with this quote changed."""
    both = 'FROM provenance_qrels o JOIN provenance_queries p ON p.id = o."query-id"'
    first = f"(SELECT min(o.rowid) {both} WHERE len(list_filter(evidence, lambda e: {of})) > 0)"
    return Defect(
        name,
        f"""{before.format(first=first)} UPDATE provenance_qrels o SET evidence = list_transform(
            evidence, lambda e: if({of}, struct_update(e, {change}), e)) FROM provenance_queries p
        WHERE p.id = o."query-id" AND o.rowid = {first} RETURNING "query-id", "corpus-id" """,
    )


_AS_IT_STANDS = """UPDATE provenance_corpus SET transforms = []
    WHERE id = (SELECT "corpus-id" FROM provenance_qrels WHERE rowid = {first});"""
"""The text of the first label's document is its source text."""
_LATER = '"start" := e."start" + 1'


def _bare(name: str, evidence: str) -> Defect:
    """A rule's label loses its evidence; a label of people is called a rule's for this."""
    return Defect(
        name,
        f"""UPDATE qrels SET label_status = 'structural' WHERE ("query-id", "corpus-id") = (
            SELECT ("query-id", "corpus-id") FROM provenance_qrels WHERE rowid = 0);
        {set_row("provenance_qrels", f"evidence = {evidence}")}""",
    )


_EVIDENCE = (
    Check(
        "the label has no evidence",
        _WITHOUT,
        (_bare("a label without evidence", "[]"), _bare("a label that says nothing of evidence", "NULL")),
    ),
    Check(
        "a quote does not stand in its passage",
        _quotes,
        (
            _changed("a quote one character off", _LATER),
            _changed("a quote one character off in an unchanged text", _LATER, before=_AS_IT_STANDS),
            _changed("a quote of other words", "text := 'canary'"),
            _changed(
                "a quote of other words in an unchanged text",
                "text := 'canary'",
                before=_AS_IT_STANDS,
            ),
            _changed("a quote without words", "text := ''"),
            _changed("a quote without a place", '"start" := NULL::BIGINT'),
            _changed("a quote of the query one character off", _LATER, _OF_QUERY),
            _changed("a quote of the query of other words", "text := 'canary'", _OF_QUERY),
        ),
    ),
)
RULES = (
    Rule(
        "source_texts",
        2,
        "Released text leads back to its source",
        (
            "Undoing the recorded changes of every query and document gives a text with the recorded "
            "hash of the source text."
        ),
        "error",
        "texts",
        checks=(_SOURCE_TEXTS,),
    ),
    Rule(
        "evidence",
        4,
        "Evidence re-extracts",
        (
            "Every label has evidence, and each quote stands at its offsets in the source passage of the "
            "document or of the query, or, of a query that was cut, in the document of its own case; quotes "
            "from passages merged into another document are counted, not checked."
        ),
        "error",
        "quotes",
        checks=_EVIDENCE,
        tables=(*_TABLES, "qrels"),
    ),
)
