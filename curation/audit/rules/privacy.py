"""Rules on what could name a patient: identifiers of a person (errors) and hints of one (warnings).

They look for the patterns of `curation.privacy` in every published text. The release withholds rows with a
certain one (`curation.release.identified`); these rules prove from the files that it did. A report quotes
what was found masked: where it stands, and not what it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from curation.audit.rule import Check, Collector, Context, NotCovered, Outcome, Rule, side
from curation.audit.rules import privacy_defects
from curation.privacy import CERTAIN, HINTS, Pattern, gathered, hits, masked, nominated
from schemas.audit import Severity


class Place(NamedTuple):
    """Texts of one column: what they are called, and SQL for their (id, text)."""

    table: str
    column: str
    what: str
    texts: str


PLACES = (
    Place("queries", "text", "text", "SELECT id, text FROM queries"),
    Place("corpus", "text", "text", "SELECT id, text FROM corpus"),
    Place("corpus", "title", "title", "SELECT min(id) AS id, title AS text FROM corpus GROUP BY title"),
    Place("sources", "title", "title", "SELECT id, title AS text FROM sources"),
    Place(
        "sources",
        "license_statement",
        "licence statement",
        "SELECT id, license_statement AS text FROM sources",
    ),
    Place(
        "sources",
        "scope_evidence",
        "evidence of scope",
        "SELECT id, unnest(scope_evidence) AS text FROM sources",
    ),
    Place(
        "provenance_qrels",
        "evidence",
        "evidence",
        'SELECT "query-id" AS id, unnest(evidence).text AS text FROM provenance_qrels',
    ),
    *(
        Place(
            name, "transforms", "replaced text", f"SELECT id, unnest(transforms).original AS text FROM {name}"
        )
        for name in ("provenance_queries", "provenance_corpus")
    ),
    Place("images", "captions", "caption", "SELECT id, unnest(captions) AS text FROM images"),
    Place(
        "provenance_images",
        "caption_transforms",
        "replaced text of a caption",
        "SELECT id, unnest(caption_transforms).original AS text FROM provenance_images",
    ),
    Place("annotations", "reason", "reason", 'SELECT "query-id" AS id, reason AS text FROM annotations'),
    Place("expansions", "text", "text of a model", 'SELECT "query-id" AS id, text FROM expansions'),
    *(
        Place("answers", name, name, f'SELECT "query-id" AS id, {name} AS text FROM answers')
        for name in ("answer", "explanation")
    ),
    Place(
        "facets",
        "evidence",
        "evidence of a facet",
        'SELECT "query-id" AS id, unnest(evidence).text AS text FROM facets',
    ),
    Place("drops", "detail", "detail", "SELECT id, detail AS text FROM drops"),
    Place("withdrawn", "notice", "notice", "SELECT id, notice AS text FROM withdrawn"),
    Place(
        "translation_checks",
        "detail",
        "detail of a check",
        'SELECT "query-id" AS id, detail AS text FROM translation_checks',
    ),
    *(
        Place(name, "text", "quoted words", f'SELECT "query-id" AS id, text FROM {name}')
        for name in ("cuts", "gives_away")
    ),
)
"""Everything published that people or models wrote; names of authors are credited, not looked for."""


def _check(rule: str, severity: Severity, patterns: Sequence[Pattern]) -> Callable[[Context], Outcome]:
    where = nominated(patterns)

    def check(context: Context) -> Outcome:
        places = [place for place in PLACES if _is_there(context, place)]
        if not {"queries", "corpus"} & {place.table for place in places}:
            raise NotCovered("table absent: queries, corpus")
        tables = sorted({place.table for place in places})
        every = [
            f"SELECT {number} AS place, id::VARCHAR AS id, text FROM ({place.texts})"
            for number, place in enumerate(places)
        ]
        counted = f"SELECT count(*) AS n FROM ({' UNION ALL '.join(every)})"
        compared = context.rows(counted, *tables)[0]["n"]
        found = Collector(rule, severity)
        kinds: Counter[str] = Counter()
        chosen = f"FROM {gathered(every, compared)} WHERE {where} ORDER BY place, id, text"
        for batch in context.batches(chosen, *tables):
            for number, name, said in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                place = places[number]
                for kind, start, end in hits(said, patterns):
                    kinds[kind] += 1
                    message = f"the {place.what} holds {kind} at characters {start:,}–{end:,}"
                    found.add(message, side(place.table, name, masked(said[start:end])))
        return found.outcome(compared, ", ".join(f"{kind}: {kinds[kind]}" for kind in sorted(kinds)))

    return check


def _is_there(context: Context, place: Place) -> bool:
    """Whether the files have the column; a release of ours without one of its columns cannot be searched."""
    if place.table not in context.views or context.subject.kind == "release":
        return place.table in context.views
    first = next(iter(context.batches(f"SELECT * FROM {place.table} LIMIT 1", place.table)), None)
    return first is not None and place.column in first.schema.names


_WHERE = (
    "Searched are texts and titles, quotes of evidence, text that a transform replaced, reasons and "
    "details; what is "
    "found is quoted masked."
)
RULES = (
    Rule(
        "phi_identifiers",
        2,
        "No identifier of a patient",
        "No published text holds a medical record, insurance or national identity number after its label, a "
        "full date "
        "of birth, a patient by name (a title with a surname beside an age or a clinical event, 'named', a "
        "label such "
        f"as 'patient name'), or how to reach the patient, in eleven languages. {_WHERE} Numbers of "
        f"approvals, trials "
        "and samples are left out.",
        "error",
        "texts",
        checks=(
            Check(
                "a text holds an identifier",
                _check("phi_identifiers", "error", CERTAIN),
                privacy_defects.CERTAIN,
                at_once=True,
            ),
        ),
    ),
    Rule(
        "phi_hints",
        2,
        "Hints of a person",
        "Texts that hold an e-mail address, a telephone number, a street address, the day of an admission, "
        "operation "
        "or death of one patient, a name beside an age or with a title, initials, a number of a file or "
        "account or an "
        f"age above 89 are listed for a person to look at, in eleven languages. {_WHERE} In open-access "
        f"articles most "
        "are published with consent or are an author's.",
        "warn",
        "texts",
        checks=(
            Check(
                "a text holds a hint",
                _check("phi_hints", "warn", HINTS),
                privacy_defects.HINTS,
                at_once=True,
            ),
        ),
    ),
)
