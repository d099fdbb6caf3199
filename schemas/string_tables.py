"""Published tables of where the words of queries come from, and of queries that cannot be published."""

from __future__ import annotations

from dataclasses import replace

from schemas.columns import OF_QUERY, measure, number, text
from schemas.published import STRINGS, Column, Published

STRING_ORIGINS = Published(
    "strings",
    "provenance/strings",
    "Where the words of a query come from: its template and the vocabulary's name in it, or human text.",
    (
        OF_QUERY,
        text("language", "BCP-47 language of the query", repeats=True),
        text("kind", "template, human or machine", repeats=True),
        text("template", "id and version of the template, '' where there is none", repeats=True),
        text("name", "the name as it stands in the query, unaltered"),
        number("start", "offset in the query of the name, or of what is quoted"),
        number("end", "offset after it"),
        text("concept", "CURIE the name is of; of human text the one that its article is about, if one"),
        text("source", "source of the name, e.g. HPO_ES, or article of the text", repeats=True),
        text("release", "release of the vocabulary as it states it", repeats=True),
        text("record", "title, abstract or caption that human text is"),
        text(
            "license", "SPDX id, or the name of the terms, that the name or the text is under", repeats=True
        ),
        text("term_type", "PT, SY, …; CAND for a translation that no one has confirmed", repeats=True),
        text("status", "official or candidate, as its source has it", repeats=True),
        number("restriction", "UMLS source restriction level, 0 elsewhere"),
        text("tier", "licence tier of the name: open or terms; restricted once filled", repeats=True),
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
TRANSLATIONS = Published(
    "translations",
    "provenance/translations",
    "Every question in every language that was wanted: who wrote the words, and what became of them.",
    (
        replace(OF_QUERY, meaning="English query, in queries"),
        text("language", "BCP-47 language of the text", repeats=True),
        text("translated_id", "query that the text is, '' where it is none"),
        text("kind", "human: of the collection; machine: a translation", repeats=True),
        text(
            "verdict",
            "source; kept; rejected by a check; left_out: said twice, or the core is not whole; unusable: "
            "`drops` says why; not_run: no answer",
            repeats=True,
        ),
        Column("reasons", STRINGS, "why checks rejected it"),
        text("prompt", "kind of prompt and its version, '' for the source", repeats=True),
        text("prompt_sha256", "hex SHA-256 of all that these prompts have in common", repeats=True),
        text("model", "engine or model as it was asked for, '' for the source", repeats=True),
        text("served_model", "as it named itself, '' when it did not", repeats=True),
        text("text_sha256", "hex SHA-256 of the text, '' where there is none"),
        Column("names", STRINGS, "names of the vocabulary that the translator was given"),
        Column("name_sources", STRINGS, "source of each of them, e.g. HPO_ES"),
    ),
    ("query-id", "language"),
    reader="auditor",
    is_optional=True,
)
TRANSLATION_CHECKS = Published(
    "translation_checks",
    "provenance/translation_checks",
    "What each check found in each translation, kept or rejected.",
    (
        replace(OF_QUERY, meaning="English query, in queries"),
        text("language", "BCP-47 language of the translation", repeats=True),
        text("check", "name of the check", repeats=True),
        text("status", "passed, failed or not_run", repeats=True),
        measure("value", "score of the check, null where it did not run"),
        text("detail", "what it was seen by, or why it did not run", is_prose=True),
        text("fault", "reason of rejection, '' where it did not fail", repeats=True),
    ),
    ("query-id", "language", "check"),
    reader="auditor",
    is_optional=True,
)
