"""The published tables, each declared once: columns, types, meaning, readers. Names follow MTEB and BEIR.

A column is added here and in what makes its rows: the record of the work table it is selected from
(curation.release.selects), or the maker of a derived table. Everything else follows (docs/tables.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from schemas.columns import (
    FACETS,
    IMAGE_ORIGIN,
    OF_ARTICLE,
    OF_QUERY,
    ORIGIN,
    PAIR,
    PAIR_KEY,
    RIGHTS,
    SHORTCUTS,
    SPLIT,
    SYSTEMS,
    flag,
    image,
    measure,
    number,
    text,
)
from schemas.confusion_table import CONFUSIONS
from schemas.facet_table import FACET_DECISIONS
from schemas.image_tables import ORIGIN_IMAGES, PANELS, ROW_IMAGES
from schemas.judged_tables import CALIBRATION, JUDGEMENTS
from schemas.larger_tables import LARGER_TABLES
from schemas.name_tables import NAME_RECIPES, NAMED_TABLES
from schemas.published import EVIDENCE, STRINGS, Column, Published
from schemas.string_tables import RECIPES, STRING_ORIGINS, TRANSLATION_CHECKS, TRANSLATIONS
from schemas.withdrawn_table import WITHDRAWN

_DERIVED: dict[str, Any] = {"is_optional": True, "step": "derive"}


def _table(name: str, meaning: str, columns: tuple[Column, ...], *key: str, **marks: Any) -> Published:
    return Published(name, name, meaning, columns, key, **marks)


def _provenance(name: str, meaning: str, columns: tuple[Column, ...], *key: str, **marks: Any) -> Published:
    """A table that tells where rows came from."""
    folder = f"provenance/{name.removeprefix('provenance_')}"
    return Published(name, folder, meaning, columns, key, **{"reader": "auditor", **marks})


CORPUS = _table(
    "corpus",
    "The documents that are searched.",
    (
        text("id", "document id; says which article and record it is"),
        text("title", "title of the article", repeats=True, is_prose=True),
        text("text", "document text", is_prose=True),
        image("document image; decodes to a PIL image"),
        *RIGHTS,
    ),
    "id",
)
QUERIES = _table(
    "queries",
    "What is asked.",
    (
        text("id", "query id, a hash of its content"),
        text("text", "query text", is_prose=True),
        image("query image; decodes to a PIL image"),
        *RIGHTS,
        *FACETS,
    ),
    "id",
    has_splits=True,
)
QRELS = _table(
    "qrels",
    "The labels: which document answers which query, how well, and who or what says so.",
    (
        *PAIR,
        number("score", "relevance grade"),
        text("label_status", "structural, candidate, judge, expert or adjudicated", repeats=True),
        text("rule", "named, versioned rule or verdict", repeats=True, reader="auditor"),
        text("via", "concept that links query and document (CURIE), '' when none does", reader="auditor"),
    ),
    *PAIR_KEY,
    has_splits=True,
)
EXCLUDED = _table(
    "excluded",
    "Pairs that are neither positive nor negative: evaluation leaves them out.",
    (*PAIR, text("reason", "why the pair is neither positive nor negative", repeats=True)),
    *PAIR_KEY,
    has_splits=True,
)
SAME_ARTICLE = _table(
    "same_article",
    "Pairs of one article that would be labels, were they not of one article.",
    (
        *PAIR,
        number("score", "relevance grade, were the two not of one article"),
        text("rule", "named, versioned rule", repeats=True, reader="auditor"),
        text("via", "concept that links the two (CURIE)", reader="auditor"),
    ),
    *PAIR_KEY,
    is_optional=True,
)
HARD_POOL = _table(
    "hard_pool",
    "Documents much like the query that nobody judged.",
    (
        *PAIR,
        number("rank", "1-based; the document most like the query first"),
        text("why", "what the two have in common"),
        text("label_status", "unjudged: such a document is hard, not wrong", repeats=True),
    ),
    *("query-id", "rank"),
    is_optional=True,
)
EXPANSIONS = _table(
    "expansions",
    "What a language model wrote of each query, to search with; invented, so neither document nor evidence.",
    (
        OF_QUERY,
        text("kind", "what was asked, and its version: hyde@1 in the query's place, query2doc@1 beside it"),
        text("text", "the text as the model wrote it, white space folded", is_prose=True),
        text("model", "model as it was asked for", repeats=True),
        text("served_model", "model as the server named it, '' when it did not", repeats=True),
        text(
            "prompt_sha256", "hex SHA-256 of all that the prompts of this kind have in common", repeats=True
        ),
    ),
    *("query-id", "kind"),
    is_optional=True,
    has_splits=True,
)
ANSWERS = _table(
    "answers",
    "The answer of each query, kept apart from it: no retrieval system may read it.",
    (
        OF_QUERY,
        text("answer", "the answer in words", is_prose=True),
        text("explanation", "reasoning given with it, '' when none", is_prose=True),
    ),
    "query-id",
    reader="auditor",
    is_optional=True,
    has_splits=True,
)
ANNOTATIONS = _table(
    "annotations",
    "What people answered, each for themselves.",
    (
        *PAIR,
        text("annotator", "pseudonym of who answered"),
        text("role", "annotator, or adjudicator of a disagreement"),
        number("grade", "grade given, null when the pair could not be judged", may_be_null=True),
        text("reason", "why it could not be judged, '' when it was", repeats=True, is_prose=True),
        measure("seconds", "time spent; 0 when unknown", may_be_null=False),
        text("rule", "named, versioned rule that made the verdict of this pair's answers", repeats=True),
        number("rule_grade", "grade that a rule of the task gave the pair; null for none", may_be_null=True),
    ),
    *("query-id", "corpus-id", "role", "annotator"),
    reader="auditor",
    is_optional=True,
)
TOP_RANKED = _table(
    "top_ranked",
    "Candidates of each query for re-rankers.",
    (
        OF_QUERY,
        Column(
            "corpus-ids", STRINGS, "candidates to re-rank in id order: every positive, no excluded document"
        ),
    ),
    "query-id",
    has_splits=True,
    **_DERIVED,
)
HARD_NEGATIVES = _table(
    "hard_negatives",
    "Unjudged documents that systems rank high, for training.",
    (
        *PAIR,
        number("rank", "1-based; the hardest first"),
        Column("systems", SYSTEMS, "systems that found it, each with its rank"),
        text("label_status", "unjudged: such a document is hard, not wrong", repeats=True),
    ),
    *("query-id", "rank"),
    has_splits=True,
    **_DERIVED,
)
DISTRACTORS = _table(
    "distractors",
    "Unjudged documents like the query's best positive in specialty, genre and length.",
    (
        *PAIR,
        number("rank", "1-based; the best matched first"),
        Column("matched", STRINGS, "what is decided and the same as in the query's best positive"),
        text("specialty", "specialty of the document, '' when undecided"),
        text("genre", "genre of the document, '' when unknown"),
        text("length_band", "words of its text; half its characters in ja and zh; '' without text"),
        text("label_status", "unjudged: such a document is alike, not wrong", repeats=True),
    ),
    *("query-id", "rank"),
    has_splits=True,
    **_DERIVED,
)
DIAGNOSTICS = _table(
    "diagnostics",
    "What each query needs to be answered, and by which shortcuts it can be.",
    (
        OF_QUERY,
        measure("text_only", "nDCG@10 by the query's text alone; null when not run"),
        measure("image_only", "nDCG@10 by the query's image alone; null when not run"),
        measure("text_and_image", "nDCG@10 by both; null when not run"),
        measure("shuffled_image", "nDCG@10 by both with another query's image; null when not run"),
        measure("caption_for_image", "nDCG@10 with the caption in the image's place; null when not run"),
        text("needs", "text, image, either, both, neither; '' when not run"),
        flag("bm25_solvable", "BM25 ranks a positive first; null when not run", may_be_null=True),
        number("candidates", "documents that shortcuts rank, see runs/diagnostics.json; 0: not run"),
        measure(
            "chance", "nDCG@10 expected of a random order of the candidates; null where each is positive"
        ),
        measure(
            "chance_first", "chance that a random order puts a positive first; null where each is positive"
        ),
        Column("shortcuts", STRINGS, "shortcuts that put a positive first, however equals are ordered"),
        Column(
            "shortcut_scores",
            SHORTCUTS,
            "every shortcut that ran, with its nDCG@10 expected over all orders of equals",
        ),
    ),
    "query-id",
    has_splits=True,
    **_DERIVED,
)
SUBSETS = _table(
    "subsets",
    "Parts of the release that are balanced in one facet.",
    (
        text("subset", "name of the subset"),
        text("kind", "query or document"),
        text("id", "id in queries or in corpus"),
    ),
    *("subset", "kind", "id"),
    **_DERIVED,
)


def _nano(table: Published) -> Published:
    """The small variant of a table: same columns, fewer rows, split test alone."""
    small = replace(table, name=f"nano_{table.name}", folder=f"nano/{table.folder}", has_splits=False)
    return replace(small, meaning=f"The nano variant of {table.name}.", **_DERIVED)


NANO: tuple[Published, ...] = tuple(_nano(table) for table in (CORPUS, QUERIES, QRELS, EXCLUDED))
"""A few queries over a small corpus that holds all their judged documents, ready to load on their own."""
ORIGIN_QUERIES = _provenance(
    "provenance_queries",
    "Where each query came from.",
    (
        text("id", "query id", refers="queries.id"),
        SPLIT,
        text("source_id", "record the query was made from", reader="consumer"),
        text("article_id", "article it was made from", refers="sources.id", reader="consumer"),
        text("patient_id", "case it tells of, '' when it is of none", reader="consumer"),
        text("family", "id shared by its translations and variants, '' when it has none", repeats=True),
        flag("hides_target", "no name of its target concepts may stand in it"),
        text("since", "version of the release that first published it", repeats=True, reader="maintainer"),
        *ORIGIN,
        *IMAGE_ORIGIN,
        number("image_count", "images the source figure has; the first is released"),
    ),
    "id",
)
ORIGIN_CORPUS = _provenance(
    "provenance_corpus",
    "Where each document came from.",
    (
        text("id", "document id", refers="corpus.id"),
        text("article_id", "article it comes from", refers="sources.id"),
        text("patient_id", "case it tells of or shows, '' when it is of none", reader="consumer"),
        text("specialty", "main specialty, '' when undecided"),
        *OF_ARTICLE,
        text("genre", "kind of source, '' when unknown"),
        *ORIGIN,
        *IMAGE_ORIGIN,
    ),
    "id",
)
ORIGIN_QRELS = _provenance(
    "provenance_qrels",
    "What each label rests on.",
    (*PAIR, Column("evidence", EVIDENCE, "spans of source texts the label rests on", is_prose=True)),
    *PAIR_KEY,
)
KEYS = _provenance(
    "keys",
    "What no two tasks or splits may share.",
    (
        OF_QUERY,
        text("dimension", "target_concept, query, article, patient or image_family", repeats=True),
        text("key", "what the query or a positive rests on; no two tasks or splits share one", repeats=True),
    ),
    *("query-id", "dimension", "key"),
)
TARGET_NAMES = _provenance(
    "target_names",
    "Names of target concepts as hashes: who has the names can look for them, nobody can read them.",
    (
        text("concept", "target concept (CURIE)", repeats=True, refers="keys.key"),
        text("language", "BCP-47 language of the name", repeats=True),
        number(
            "words", "words of the normalised name; minus its characters where the script writes no spaces"
        ),
        text("name_hash", "first 16 hex digits of SHA-256 over '<concept> <normalised name>'"),
    ),
    *("concept", "language", "name_hash"),
    is_optional=True,
)
MADE_TEXTS = _provenance(
    "made_texts",
    "Texts and titles that are no source's own words: what a restricted name could stand in.",
    (text("table", "queries or corpus"), text("id", "id in that table"), text("field", "text or title")),
    *("table", "id", "field"),
    is_optional=True,
)
RESTRICTED_NAMES = _provenance(
    "restricted_names",
    "Names that only restricted sources of the vocabulary give, where there are made texts to look in.",
    (text("name_hash", "first 16 hex digits of SHA-256 over 'restricted <normalised name>'"),),
    "name_hash",
    is_optional=True,
)
IMAGE_CHECKS = _provenance(
    "image_checks",
    "How each document's image was decided to be a clinical one.",
    (
        text("id", "id in corpus", refers="corpus.id"),
        text("kind", "kind of the image, '' or compound when its caption decided that it is clinical"),
        text("text_check", "passed: text in it was read and compared; not_run: nobody read it"),
        Column("flags", STRINGS, "face, sensitive and the like, with which it was released"),
    ),
    "id",
    is_optional=True,
)
CUTS = _provenance(
    "cuts",
    "Where queries that hide their target were cut: the first words that give it away.",
    (
        OF_QUERY,
        number("start", "offset of the words in the source text of the query's own case"),
        number("end", "offset after them"),
        text("text", "the words as written; re-extracts", is_prose=True),
        text("how", "name, near_name, mention, short_form, word or eponym", repeats=True),
    ),
    "query-id",
    is_optional=True,
)
GIVES_AWAY = _provenance(
    "gives_away",
    "Drugs, genes and tests in a query that point to the target it hides.",
    (
        OF_QUERY,
        text("concept", "CURIE of the drug, gene or test"),
        text("kind", "drug, gene or test", repeats=True),
        number("start", "offset of the words in the source text of the query"),
        number("end", "offset after them"),
        text("text", "the words as written; re-extracts", is_prose=True),
    ),
    *("query-id", "concept", "start"),
    is_optional=True,
)
SOURCES = _provenance(
    "sources",
    "The articles that rows were made from, to be credited.",
    (
        text("id", "article id, with version"),
        text("title", "article title", repeats=True, is_prose=True),
        Column("authors", STRINGS, "authors in order, to be credited"),
        text("journal", "journal title"),
        number("year", "publication year", may_be_null=True),
        text("doi", "DOI", may_be_null=True),
        text("pmid", "PubMed id", may_be_null=True),
        text("pmcid", "PMC id", may_be_null=True),
        text("article_type", "article-type of the JATS file"),
        text("language", "BCP-47 language of the running text", repeats=True),
        Column("subjects", STRINGS, "subject headings"),
        text("license", "SPDX id of the article's licence", repeats=True),
        text("license_url", "licence address as written", may_be_null=True),
        text("license_evidence", "where the licence was read", repeats=True, reader="auditor"),
        text("license_statement", "rights statement, shortened", is_prose=True, reader="auditor"),
        flag("is_retracted", "retracted when the release was built", reader="maintainer"),
        flag("is_synthetic", "marked synthetic", reader="maintainer"),
        Column(
            "scope_evidence", STRINGS, "what the scope decision rests on", is_prose=True, reader="auditor"
        ),
        text("raw_sha256", "hex SHA-256 of the source file", reader="auditor"),
    ),
    "id",
    reader="consumer",
)
FUNNEL = _provenance(
    "funnel",
    "How many units entered and left each stage, from crawled to released.",
    (
        number("step", "1-based order"),
        text("stage", "stage name", repeats=True),
        text("unit", "what was counted", repeats=True),
        number("entered", "units that entered the stage"),
        number("kept", "units that left it"),
        number("dropped", "units dropped with a reason; entered = kept + dropped"),
    ),
    "step",
)
DROPS = _provenance(
    "drops",
    "Every unit that was left out, and why.",
    (
        text("stage", "stage that dropped it", repeats=True),
        text("unit", "kind of unit", repeats=True),
        text("id", "id of the unit"),
        text("article_id", "article it belongs to"),
        text("reason", "closed reason code", repeats=True),
        text("detail", "what was seen", is_prose=True),
    ),
    *("stage", "unit", "id", "reason", "detail"),
)
POOLS = _provenance(
    "pools",
    "Every document that any system found near the top, and every positive.",
    (
        *PAIR,
        SPLIT,
        text("kind", "positive, candidate, hard_negative or likely_positive"),
        Column("systems", SYSTEMS, "systems that found it within the pool's depth, each with its rank"),
    ),
    *PAIR_KEY,
    **_DERIVED,
)
POOL_CHECKSUMS = _provenance(
    "pool_checksums",
    "One checksum over the candidates of each query.",
    (
        OF_QUERY,
        SPLIT,
        number("candidates", "documents in the query's pool"),
        text("pool_sha256", "hex SHA-256 over ids, titles and texts of its candidates (docs/pools.md)"),
    ),
    "query-id",
    **_DERIVED,
)
TABLES: tuple[Published, ...] = (
    *(CORPUS, QUERIES, QRELS, EXCLUDED, SAME_ARTICLE, HARD_POOL, CONFUSIONS, EXPANSIONS, RECIPES, ANSWERS),
    *(*NAMED_TABLES, NAME_RECIPES),
    *(ROW_IMAGES, ANNOTATIONS, TOP_RANKED, HARD_NEGATIVES, DISTRACTORS, DIAGNOSTICS, SUBSETS, *NANO),
    *(ORIGIN_QUERIES, ORIGIN_CORPUS, ORIGIN_QRELS, KEYS, TARGET_NAMES, MADE_TEXTS, RESTRICTED_NAMES),
    *(
        *(FACET_DECISIONS, ORIGIN_IMAGES, PANELS),
        *LARGER_TABLES,
        *(IMAGE_CHECKS, CUTS, GIVES_AWAY),
        *(STRING_ORIGINS, TRANSLATIONS, TRANSLATION_CHECKS),
    ),
    *(JUDGEMENTS, CALIBRATION, SOURCES, FUNNEL, DROPS, WITHDRAWN, POOLS, POOL_CHECKSUMS),
)
"""Every published table, in the order in which cards and pages list them."""
PROVENANCE = tuple(table for table in TABLES if table.is_provenance)
DERIVED = tuple(table for table in TABLES if table.step == "derive" and not table.is_provenance)
MAIN = tuple(table for table in TABLES if not table.is_optional and not table.is_provenance)
EXTRA = tuple(table for table in TABLES if table not in (*PROVENANCE, *DERIVED, *MAIN))
"""Further tables of pairs, none a part of the qrels: some tasks', texts of models, answers of people."""
