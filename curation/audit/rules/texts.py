"""Rules on figure numbers and answer ids in released texts; RULES holds all rules on texts."""

from __future__ import annotations

from curation.audit.rule import Check, Context, Defect, Outcome, Rule
from curation.audit.rules import duplicates, edited_copies, spans
from curation.audit.rules.planting import set_row
from curation.audit.rules.text_rows import literal
from curation.extract.identifiers import ANY

_FIGURE = (
    r"(?i)(?:\b(?:fig(?:s|ure|ures|ura|uras)?|abb(?:ildung|ildungen)?|scheme|panel)\b\.?\s*|[图図]\s*|рис\.?\s*)"
    r"(?:S|A)?\d{1,3}"
)


def _figures(table: str, *texts: str) -> Check:
    """No figure is named by its number in a table's texts."""
    return Check(
        "a figure is named by number: {words}",
        f"""SELECT *, strpos(text, words) - 1 AS start, start + length(words) AS "end" FROM (
            SELECT id AS {table}, text, regexp_extract(text, {literal(_FIGURE)}) AS words FROM {table})
            WHERE words <> ''""",
        tuple(
            Defect(f"{text!r} in {table}", set_row(table, f"text = concat(text, {literal(f' {text}')})", at))
            for at, text in enumerate(texts)
        ),
        at_once=True,
    )


IDENTIFIERS = Check(
    "the query names an article or a study by an identifier: {words}",
    f"""SELECT *, strpos(text, words) - 1 AS start, start + length(words) AS "end" FROM (
        SELECT id AS q, text, regexp_extract(text, {literal(ANY)}) AS words FROM queries)
        WHERE words <> ''""",
    tuple(
        Defect(f"{text!r} in a query", set_row("queries", f"text = concat(text, {literal(f' {text}')})", at))
        for at, text in enumerate(
            ("DOI: http://dx.doi.org/10.7554/eLife.00353.003", "PMID: 12345678", "NCT01234567")
        )
    ),
    at_once=True,
)
_HELD = """SELECT DISTINCT q, answer, coalesce(text, '') AS text,
        nullif(strpos(lower(text), lower(answer)), 0) - 1 AS start, start + length(answer) AS "end" FROM ({})
    WHERE length(answer) > 3
        AND (contains(lower(text), lower(answer)) OR contains(lower(q), lower(answer)))"""
_JUDGED = 'SELECT id AS q, text, "corpus-id" AS answer FROM queries JOIN qrels ON "query-id" = id'
_ORIGIN = "provenance_queries p LEFT JOIN sources s ON s.id = p.article_id"
_IDS = {
    "source_id": "p.source_id",
    "article_id": "p.article_id",
    "article number": "split_part(p.article_id, ':', 2)",
    "pmcid": "s.pmcid",
    "doi": "s.doi",
}
_OWN = f"""SELECT q.id AS q, q.text, o.answer FROM queries q
    JOIN (SELECT p.id, unnest([{", ".join(_IDS.values())}]) AS answer FROM {_ORIGIN}) o ON o.id = q.id
    ANTI JOIN qrels r ON r."query-id" = q.id AND r."corpus-id" = o.answer"""


def _own_ids(context: Context) -> str | Outcome:
    """SQL for releases only: other layouts do not say what a query was made from."""
    if context.subject.kind != "release":
        return Outcome(0, 0, missed="no provenance: ids of source articles not looked for")
    context.rows("SELECT 1", "provenance_queries", "sources")
    return _HELD.format(_OWN)


def _named_in(query_and_id: str) -> str:
    """SQL: an id (q, answer) written into its query."""
    return f"""UPDATE queries SET text = concat(queries.text, ' (see ', upper(answer), ')')
        FROM ({query_and_id} LIMIT 1) WHERE id = q RETURNING id"""


def _own_id(name: str, value: str, place: int) -> Defect:
    """An id from provenance or sources in a query, in another for each place."""
    turned = f"(p.rowid + {place}) % (SELECT count(*) FROM provenance_queries)"
    known = f"SELECT p.id AS q, {value} AS answer FROM {_ORIGIN} WHERE length({value}) > 3 ORDER BY {turned}"
    return Defect(f"the {name} of its source in a query", _named_in(known))


ANSWER_IDS = (
    Check(
        "the query carries the id of a document judged for it: {answer}",
        _HELD.format(_JUDGED),
        Defect(
            "the id of its positive document in a query",
            _named_in(f"{_JUDGED} WHERE score > 0 AND length(answer) > 3 ORDER BY qrels.rowid"),
        ),
    ),
    Check(
        "the query carries an id of its own source: {answer}",
        _own_ids,
        tuple(_own_id(name, value, place) for place, (name, value) in enumerate(_IDS.items())),
        at_once=True,
    ),
)
RULES = (
    *duplicates.RULES,
    *spans.RULES,
    *edited_copies.RULES,
    Rule(
        "figure_numbers",
        1,
        "No figure number",
        "Released texts name no figure by its number, which would link query and document without reading.",
        "warn",
        "texts",
        checks=(
            _figures("corpus", "as Figure 2B shows", "详见图4"),
            _figures("queries", "véase la Figura 3"),
        ),
        tables=("queries", "corpus"),
        compared="SELECT 1 FROM queries UNION ALL SELECT 1 FROM corpus",
    ),
    Rule(
        "identifiers",
        2,
        "No identifier in a query",
        "No query names an article by a DOI, a PubMed or a PMC id, or a study by its number in a registry: "
        "whoever has it needs no retrieval.",
        "error",
        "queries",
        checks=(IDENTIFIERS,),
        tables=("queries",),
        compared="FROM queries",
    ),
    Rule(
        "answer_ids",
        2,
        "No answer id in a query",
        "No query holds the id of its source record, article, PMC id, DOI or of a document judged for it.",
        "error",
        "queries",
        checks=ANSWER_IDS,
        tables=("queries", "qrels"),
        compared="FROM queries",
    ),
)
