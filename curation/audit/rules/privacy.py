"""Rules on what could name a patient: identifiers of a person (errors) and hints of one (warnings).

They look for the patterns of `curation.privacy` in every published text. The release withholds rows with a
certain one (`curation.release.identified`); these rules prove from the files that it did. A report quotes
what was found masked: where it stands, and not what it says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from curation.audit.rule import Collector, Context, NotCovered, Outcome, Rule, side
from curation.audit.rules import privacy_canaries
from curation.privacy import CERTAIN, HINTS, Pattern, hits, masked, nominated
from schemas.audit import Severity


class Place(NamedTuple):
    """Texts of one published table: what they are called, and SQL for their (id, text)."""

    table: str
    what: str
    texts: str


PLACES = (
    Place("queries", "text", "SELECT id, text FROM queries"),
    Place("corpus", "text", "SELECT id, text FROM corpus"),
    Place("corpus", "title", "SELECT min(id) AS id, title AS text FROM corpus GROUP BY title"),
    Place("sources", "title", "SELECT id, title AS text FROM sources"),
    Place(
        "provenance_qrels",
        "evidence",
        'SELECT "query-id" AS id, unnest(evidence).text AS text FROM provenance_qrels',
    ),
    *(
        Place(name, "replaced text", f"SELECT id, unnest(transforms).original AS text FROM {name}")
        for name in ("provenance_queries", "provenance_corpus")
    ),
    Place("annotations", "reason", 'SELECT "query-id" AS id, reason AS text FROM annotations'),
    Place("drops", "detail", "SELECT id, detail AS text FROM drops"),
)
"""Everything published that was written by people; names of authors are credited, not looked for."""


def _check(rule: str, severity: Severity, patterns: Sequence[Pattern]) -> Callable[[Context], Outcome]:
    where = nominated(patterns)

    def check(context: Context) -> Outcome:
        if not {"queries", "corpus"} & set(context.views):
            raise NotCovered("table absent: queries, corpus")
        found = Collector(rule, severity)
        kinds: Counter[str] = Counter()
        compared = 0
        for place in PLACES:
            if place.table not in context.views:
                continue
            counted = context.rows(f"SELECT count(*) AS n FROM ({place.texts})", place.table)
            compared += counted[0]["n"]
            for name, said in _nominated(context, place, where):
                for kind, start, end in hits(said, patterns):
                    kinds[kind] += 1
                    quoted = side(place.table, name, masked(said[start:end]))
                    message = f"the {place.what} holds {kind} at characters {start:,}–{end:,}"
                    found.add(message, quoted)
        return found.outcome(compared, ", ".join(f"{kind}: {kinds[kind]}" for kind in sorted(kinds)))

    return check


def _nominated(context: Context, place: Place, where: str) -> Iterator[tuple[str, str]]:
    """(id, text) of the texts that may hold a pattern."""
    text = f"SELECT id, text FROM ({place.texts}) WHERE {where} ORDER BY id, text"
    for batch in context.batches(text, place.table):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


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
        _check("phi_identifiers", "error", CERTAIN),
        canaries=privacy_canaries.CERTAIN,
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
        _check("phi_hints", "warn", HINTS),
        canaries=privacy_canaries.HINTS,
    ),
)
