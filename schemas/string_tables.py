"""Published tables of where the words of made queries come from, and of queries that cannot be published."""

from __future__ import annotations

from schemas.columns import OF_QUERY, number, text
from schemas.published import Published

STRING_ORIGINS = Published(
    "strings",
    "provenance/strings",
    "Where the words of a made query come from: its template, and the vocabulary's name that stands in it.",
    (
        OF_QUERY,
        text("language", "BCP-47 language of the query", repeats=True),
        text("kind", "template, human or machine", repeats=True),
        text("template", "id and version of the template, '' where there is none", repeats=True),
        text("name", "the name as it stands in the query, unaltered"),
        number("start", "offset of the name in the query"),
        number("end", "offset after it"),
        text("concept", "CURIE the name is of"),
        text("source", "source of the name, e.g. HPO_ES", repeats=True),
        text("term_type", "PT, SY, …; CAND for a translation that no one has confirmed", repeats=True),
        text("status", "official or candidate, as its source has it", repeats=True),
        number("restriction", "UMLS source restriction level, 0 elsewhere"),
        text("tier", "licence tier of the name: open or terms", repeats=True),
    ),
    ("query-id",),
    reader="auditor",
    is_optional=True,
)
RECIPES = Published(
    "recipes",
    "recipes",
    "Queries with a name that may not be passed on: what is needed to make them from one's own vocabulary.",
    (
        text("query-id", "id the query has once it is made; none of queries"),
        text("language", "BCP-47 language of the query", repeats=True),
        text("concept", "target concept (CURIE)"),
        text("facet", "what is asked of it", repeats=True),
        text("template", "id and version of the template", repeats=True),
        text("frame", "text of the template; the name goes where {name} stands", repeats=True),
        text("source", "source of the name", repeats=True),
        text("code", "the concept's own id in that source"),
        text("atom", "UMLS atom (AUI) of the name, '' where its source is none of UMLS"),
        text("term_type", "PT, SY, … of the name", repeats=True),
        text("name_sha256", "hex SHA-256 of the name"),
        text("text_sha256", "hex SHA-256 of the whole text"),
        text("article_id", "article whose passages answer"),
    ),
    ("query-id",),
    is_optional=True,
)
