"""The published table of confusion sets: what each query is ranked among, with what an audit needs of it."""

from __future__ import annotations

from schemas.columns import PAIR, PAIR_KEY, number, text
from schemas.published import STRINGS, Column, Published

CONFUSIONS = Published(
    "confusions",
    "confusions",
    "The documents that each query is ranked among where it has a set of its own, and why these.",
    (
        *PAIR,
        text("concept", "concept that the document is about (CURIE)"),
        text("role", "gold: what the marked words name; member: another concept", repeats=True),
        text("kin", "how it stands to the gold concept: itself, sibling, cousin or far", repeats=True),
        text("via", "parent or grandparent that both are below (CURIE), '' for none"),
        number(
            "surface_distance",
            "thousandths between the marked words and the concept's nearest name; 0: equal",
        ),
        number("names", "names of the concept in the language of the documents"),
        number("depth", "steps from the top of the vocabulary's hierarchy, the shortest way"),
        number("languages", "other languages that the concept has names in", since=4),
        number("articles", "other articles of the crawl than the query's own that name the concept"),
        Column("above", STRINGS, "the concept and what is within two steps above it (CURIEs), sorted"),
        Column("further", STRINGS, "what is three steps above it by the shortest way (CURIEs)", since=4),
        Column("below", STRINGS, "the concept and all that is below it (CURIEs), sorted"),
        Column(
            "name_hashes",
            STRINGS,
            "first 16 hex digits of SHA-256 over '<query-id> <name>' of each English name: its stems, or a "
            "short one in capitals as it is; sorted",
            since=4,
        ),
        Column(
            "id_hashes",
            STRINGS,
            "the same of each id that it is mapped to in DOID, MeSH, OMIM, SNOMED CT and UMLS",
            since=4,
        ),
        Column(
            "common",
            STRINGS,
            "of the gold concept: those of the marked words that so many concepts' names have that they tell "
            "none from another (stems)",
            since=4,
        ),
    ),
    PAIR_KEY,
    reader="auditor",
    is_optional=True,
)
