"""What queries are said to be about rests on what decided it."""

from __future__ import annotations

from functools import partial

from curation.audit.rule import Check, Defect, Rule
from curation.audit.rules.planting import set_row
from curation.labels.floors import FLOORS
from schemas.facet_table import FACET_DECISIONS

_FACETS = FACET_DECISIONS.name
_BY_DOMAIN = ("domain", "body_system")
"""Facets that only the article, figure or case of a query decides; of the others a task may know better."""
_MAIN = f"""SELECT "query-id" AS id, facet, value, parent FROM {_FACETS} WHERE rank = 1"""
_STATED = " UNION ALL ".join(
    f"SELECT id, '{name}' AS facet, {name} AS stated FROM queries"
    for name in (*_BY_DOMAIN, "specialty", "modality", "region")
)
_OTHER = f"""SELECT id AS q, s.facet, stated, coalesce(value, 'nothing') AS decided
    FROM ({_STATED}) AS s LEFT JOIN ({_MAIN}) AS m USING (id, facet)
    WHERE coalesce(stated <> value AND stated <> parent, facet IN {_BY_DOMAIN} AND stated <> '')"""
_SURE = " OR ".join(f"facet = '{name}' AND confidence < {floor}" for name, floor in FLOORS.items())
_UNSURE = f"""SELECT "query-id" AS q, facet, confidence AS sure FROM {_FACETS}
    WHERE coalesce(confidence <= 0 OR confidence > 1 OR {_SURE}, true)"""
_BARE = f"""SELECT "query-id" AS q, facet, value FROM {_FACETS}
    WHERE coalesce(len(evidence) = 0 OR value = '', true)"""
CHECKS = (
    Check(
        "{facet} {stated!r} of a query, of which {decided} was decided",
        _OTHER,
        (
            Defect("another value than was decided", set_row(_FACETS, "value = 'canary', parent = ''")),
            Defect("a domain that nothing decided", set_row("queries", "domain = 'canary'")),
        ),
    ),
    Check(
        "{facet} was decided with confidence {sure}",
        _UNSURE,
        (
            Defect("a decision without confidence", set_row(_FACETS, "confidence = 0")),
            Defect("a decision below its floor", set_row(_FACETS, "facet = 'domain', confidence = 0.1")),
        ),
    ),
    Check(
        "nothing decided {facet} {value!r}",
        _BARE,
        Defect("a decision without evidence", set_row(_FACETS, "evidence = []")),
    ),
)
_rule = partial(Rule, severity="error", about=(_FACETS,), holds="what decided the facets of queries")
RULES = (
    _rule(
        "facets",
        1,
        "What a query is about was decided",
        "Every domain and body system of a query, and specialty, modality and region where its article, "
        "figure or case decided them, is the main value decided or the level above it, with evidence and "
        "with a confidence that reaches the floor of the facet ("
        + ", ".join(f"{name} {floor}" for name, floor in FLOORS.items())
        + ").",
        unit="rows",
        checks=CHECKS,
        compared=f"FROM {_FACETS}",
        tables=("queries",),
    ),
)
