"""Published tables of a task whose documents are also the names of concepts in other languages.

Ids are those of `corpus` and `queries`: only what is ranked is in another language. Each language has files
of its own, and configs called as those of other tasks of several languages: `ja-corpus`, `ja-queries`.
"""

from __future__ import annotations

from schemas.columns import FACETS, PAIR, RIGHTS, number, text
from schemas.published import NAMED, Published

_LANGUAGE = text("document_language", "BCP-47 language of the documents it is ranked among", repeats=True)
_STATUS = "official or candidate: a translation that no one has confirmed"
NAMED_CORPUS = Published(
    f"{NAMED}corpus",
    "names/corpus",
    "Documents in another language: the name of each concept, under the id of its document in corpus.",
    (
        text("id", "document id", refers="corpus.id"),
        text("title", "always ''"),
        text("text", "the name, as its vocabulary writes it"),
        *RIGHTS,
        text("license_evidence", "where the licence was read", repeats=True, reader="auditor"),
        text("article_id", "source of the vocabulary, to be credited", refers="sources.id", reader="auditor"),
        text("concept", "CURIE the name is of", reader="auditor"),
        text("source", "source of the name, e.g. HPO_ES", repeats=True, reader="auditor"),
        text("code", "the concept's own id in that source", reader="auditor"),
        text("term_type", "PT, SY, …; CAND for a candidate", repeats=True, reader="auditor"),
        text("status", _STATUS, repeats=True),
        number("restriction", "UMLS source restriction level, 0 elsewhere", reader="auditor"),
        text("tier", "licence tier of the name: open or terms", repeats=True, reader="auditor"),
        text("text_sha256", "hex SHA-256 of the name", reader="auditor"),
    ),
    ("language", "id"),
    is_optional=True,
)
NAMED_QUERIES = Published(
    f"{NAMED}queries",
    "names/queries",
    "Queries whose whole set has names in another language, as they stand in queries.",
    (
        text("id", "query id", refers="queries.id"),
        _LANGUAGE,
        text("status", f"of the names of its set: {_STATUS}", repeats=True),
        text("text", "query text"),
        *RIGHTS,
        *FACETS,
    ),
    ("document_language", "id"),
    has_splits=True,
    is_optional=True,
)
NAMED_QRELS = Published(
    f"{NAMED}qrels",
    "names/qrels",
    "Their labels: which name is that of the concept that the marked words mean.",
    (
        *PAIR,
        _LANGUAGE,
        number("score", "relevance grade"),
        text("label_status", "structural, candidate, judge, expert or adjudicated", repeats=True),
    ),
    ("document_language", "query-id", "corpus-id"),
    has_splits=True,
    is_optional=True,
)
NAME_RECIPES = Published(
    "name_recipes",
    "name_recipes",
    "Documents of sets with a name that may not be passed on: what makes them from one's own vocabulary.",
    (
        *PAIR,
        _LANGUAGE,
        text("concept", "CURIE the name is of"),
        text("text", "the name, '' where it is restricted"),
        text("license", "SPDX id of the name's licence", repeats=True),
        text("status", _STATUS, repeats=True),
        text("source", "source of the name", repeats=True),
        text("code", "the concept's own id in that source"),
        text("atom", "UMLS atom (AUI) of the name, '' where its source is none of UMLS"),
        text("term_type", "PT, SY, … of the name", repeats=True),
        text("tier", "licence tier of the name: open, terms or restricted", repeats=True),
        text("text_sha256", "hex SHA-256 of the name"),
    ),
    ("document_language", "query-id", "corpus-id"),
    is_optional=True,
)
NAMED_TABLES = (NAMED_CORPUS, NAMED_QUERIES, NAMED_QRELS)
