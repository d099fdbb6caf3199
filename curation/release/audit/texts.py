"""Rules on texts: duplicates, queries that copy their answer, pointers and ids left in released text."""

from __future__ import annotations

import numpy as np

from curation.release.audit.ngrams import SPAN, gram_hashes, longest_shared, token_hashes
from curation.release.audit.rule import MAX_EXAMPLES, Collector, Context, Outcome, Rule, SqlCheck, side
from schemas.hashing import normalise_text

MIN_VERBATIM = 5
_PAIRS = 1_000
_FIGURE = (
    r"(?i)(?:\b(?:fig(?:s|ure|ures|ura|uras)?|abb(?:ildung|ildungen)?|scheme|panel)\b\.?\s*|[图図]\s*|рис\.?\s*)"
    r"(?:S|A)?\d{1,3}"
)


def literal(value: str) -> str:
    """A string as a SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def _texts(context: Context, table: str, ids: set[str]) -> dict[str, str]:
    if not ids:
        return {}
    listed = ", ".join(literal(name) for name in sorted(ids))
    return {
        row["id"]: row["text"] or ""
        for row in context.rows(f"SELECT id, text FROM {table} WHERE id IN ({listed})", table)
    }


def _groups(digests: np.typing.NDArray[np.uint64]) -> list[list[int]]:
    """Row numbers of equal digests, groups of two or more; digest 0 means no tokens at all."""
    if not len(digests):
        return []
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    ends = np.append(first[1:], len(ordered))
    return sorted(
        sorted(order[start:end].tolist())
        for start, end in zip(first, ends, strict=True)
        if end - start > 1 and ordered[start]
    )


def _duplicate_documents(context: Context) -> Outcome:
    found = Collector("duplicate_documents", "error")
    corpus = context.corpus
    groups = _groups(corpus.digests)
    shown = groups[: MAX_EXAMPLES * 2]
    texts = _texts(context, "corpus", {corpus.ids[row] for group in shown for row in group[:20]})
    for group in groups:
        kept = corpus.ids[group[0]]
        for row in group[1:]:
            name = corpus.ids[row]
            if kept in texts and name in texts and normalise_text(texts[kept]) != normalise_text(texts[name]):
                continue  # a hash collision, not a duplicate
            found.add(
                "two documents have the same normalised text",
                side("corpus", kept, texts.get(kept)),
                side("corpus", name, texts.get(name)),
            )
    return found.outcome(len(corpus.ids))


def _duplicate_queries(context: Context) -> Outcome:
    found = Collector("duplicate_queries", "error")
    queries = context.queries
    images = {
        row["id"]: row["image_sha256"]
        for row in context.rows("SELECT id, image_sha256 FROM provenance_queries", "provenance_queries")
    }
    texts = _texts(
        context, "queries", {queries.ids[row] for group in _groups(queries.digests) for row in group}
    )
    for group in _groups(queries.digests):
        seen: dict[tuple[str, str | None], str] = {}
        for row in group:
            name = queries.ids[row]
            key = (normalise_text(texts[name]), images.get(name))
            if key in seen:
                found.add(
                    "two queries have the same normalised text and the same image",
                    side("queries", seen[key], texts[seen[key]]),
                    side("queries", name, texts[name]),
                )
            seen.setdefault(key, name)
    return found.outcome(len(queries.ids))


def _self_match(context: Context) -> Outcome:
    found = Collector("self_match", "error")
    pairs = 0
    text = """SELECT r."query-id" AS q, r."corpus-id" AS c, q.text AS qt, d.text AS dt FROM qrels r
        JOIN queries q ON q.id = r."query-id" JOIN corpus d ON d.id = r."corpus-id"
        WHERE r.score > 0 ORDER BY q, c"""
    for batch in context.batches(text, "qrels", "queries", "corpus"):
        for start in range(0, batch.num_rows, _PAIRS):
            rows = batch.slice(start, _PAIRS).to_pydict()
            pairs += len(rows["q"])
            queries, documents = [t or "" for t in rows["qt"]], [t or "" for t in rows["dt"]]
            for number in _copying(queries, documents):
                span = longest_shared(queries[number], documents[number])
                one, two, length = span or ((0, 0), (0, 0), 0)
                found.add(
                    f"query and positive document share {length} consecutive words",
                    side("queries", rows["q"][number], queries[number], *one),
                    side("corpus", rows["c"][number], documents[number], *two),
                )
    return found.outcome(pairs)


def _copying(queries: list[str], documents: list[str]) -> list[int]:
    """Numbers of the pairs that share SPAN tokens, or whose shorter query stands whole in the document."""
    query_tokens, query_owner = token_hashes(queries)
    one, one_owner = gram_hashes(query_tokens, query_owner)
    two, two_owner = gram_hashes(*token_hashes(documents))
    first = np.unique(np.stack((one_owner.astype(np.uint64), one), axis=1), axis=0)
    second = np.unique(np.stack((two_owner.astype(np.uint64), two), axis=1), axis=0)
    both, counts = np.unique(np.concatenate((first, second)), axis=0, return_counts=True)
    hits = set(both[counts > 1][:, 0].astype(int).tolist())
    lengths = np.bincount(query_owner, minlength=len(queries))
    for number in np.flatnonzero((lengths >= MIN_VERBATIM) & (lengths < SPAN)).tolist():
        if f" {normalise_text(queries[number])} " in f" {normalise_text(documents[number])} ":
            hits.add(number)
    return sorted(hits)


def _copied_span(context: Context) -> Outcome:
    found = Collector("copied_span", "warn")
    queries, corpus = context.queries, context.corpus
    known = {
        (row["q"], row["c"])
        for table in ("qrels", "excluded")
        for row in context.rows(f'SELECT "query-id" AS q, "corpus-id" AS c FROM {table}', table)
    } if len(corpus.shared) else set()  # fmt: skip
    pairs = [
        (queries.ids[query], corpus.ids[document])
        for query, document in corpus.shared.tolist()
        if (queries.ids[query], corpus.ids[document]) not in known
    ]
    pairs.sort()
    shown = pairs[:MAX_EXAMPLES]
    query_texts = _texts(context, "queries", {query for query, _ in shown})
    texts = _texts(context, "corpus", {document for _, document in shown})
    for query, document in pairs:
        spans = (
            longest_shared(query_texts[query], texts[document])
            if query in query_texts and document in texts
            else None
        )
        one, two, length = spans or ((0, 0), (0, 0), SPAN)
        found.add(
            f"an unjudged document shares {length} consecutive words with the query",
            side("queries", query, query_texts.get(query), *one),
            side("corpus", document, texts.get(document), *two),
        )
    return found.outcome(len(queries.ids) * len(corpus.ids))


_figure_numbers = SqlCheck(
    "figure_numbers",
    "warn",
    ("queries", "corpus"),
    "SELECT (SELECT count(*) FROM queries) + (SELECT count(*) FROM corpus) AS n",
    f"""SELECT * FROM (SELECT tab, id, text, regexp_extract(text, {literal(_FIGURE)}) AS words
        FROM (SELECT 'queries' AS tab, id, text FROM queries UNION ALL SELECT 'corpus', id, text FROM corpus))
        WHERE words <> ''""",
    "tab, id",
    lambda row: (
        f"a figure is named by number: {row['words']}",
        (
            side(
                row["tab"],
                row["id"],
                row["text"],
                at := row["text"].find(row["words"]),
                at + len(row["words"]),
            ),
        ),
    ),
)
_answer_ids = SqlCheck(
    "answer_ids",
    "error",
    ("queries", "provenance_queries", "sources", "qrels"),
    "SELECT count(*) AS n FROM queries",
    """SELECT * FROM (
        SELECT q.id, q.text, v.value AS answer FROM queries q JOIN provenance_queries p ON p.id = q.id
        LEFT JOIN sources s ON s.id = p.article_id,
        unnest([p.source_id, p.article_id, s.pmcid, s.doi]) AS v(value)
        WHERE length(v.value) > 3
        UNION ALL
        SELECT q.id, q.text, r."corpus-id" FROM queries q JOIN qrels r ON r."query-id" = q.id)
        WHERE contains(lower(text), lower(answer)) OR contains(lower(id), lower(answer))""",
    "id, answer",
    lambda row: (
        f"the query carries an id of its own answer: {row['answer']}",
        (side("queries", row["id"], row["text"]),),
    ),
)

RULES = (
    Rule(
        "duplicate_documents",
        1,
        "No duplicate document",
        ("No two documents have the same text once case, width, punctuation and spacing are folded."),
        "error",
        "documents",
        _duplicate_documents,
    ),
    Rule(
        "duplicate_queries",
        1,
        "No duplicate query",
        "No two queries have both the same normalised text and the same image.",
        "error",
        "queries",
        _duplicate_queries,
    ),
    Rule(
        "self_match",
        1,
        "No query copies its answer",
        (
            f"No query shares {SPAN} consecutive words with a positive document, and no query of "
            f"{MIN_VERBATIM} to {SPAN - 1} words stands whole in one."
        ),
        "error",
        "positive pairs",
        _self_match,
    ),
    Rule(
        "copied_span",
        1,
        "No unjudged copy",
        (
            f"No document outside qrels and excluded shares {SPAN} consecutive words with a query: it "
            "may be a missed positive."
        ),
        "warn",
        "pairs",
        _copied_span,
    ),
    Rule(
        "figure_numbers",
        1,
        "No figure number",
        ("Released texts name no figure by its number, which would link query and document without reading."),
        "warn",
        "texts",
        _figure_numbers,
    ),
    Rule(
        "answer_ids",
        1,
        "No answer id in a query",
        "No query holds the id of its source record, article, PMC id, DOI or positive document.",
        "error",
        "queries",
        _answer_ids,
    ),
)
