"""The published tables: names, columns and types. Column names follow MTEB and BEIR."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from schemas.published import EVIDENCE, IMAGE, STRINGS, TRANSFORMS, Published, columns
from schemas.string_tables import MADE_TEXTS, RESTRICTED_NAMES, TARGET_NAMES

_STR, _INT, _BOOL = pa.string(), pa.int64(), pa.bool_()
_ID_PAIR = (("query-id", _STR, "id in queries"), ("corpus-id", _STR, "id in corpus"))
_RIGHTS = (
    ("language", _STR, "BCP-47 language of the text"),
    ("license", _STR, "SPDX id of this row's licence"),
    ("is_synthetic", _BOOL, "made from synthetic input; such a row may not be published"),
)
_ORIGIN = (
    ("license_evidence", _STR, "where the licence was read"),
    ("text_sha256", _STR, "hex SHA-256 of the source text"),
    ("transforms", TRANSFORMS, "changes from source text to released text; undo last first"),
)
_QUERY = (("id", _STR, "query id, a hash of its content"), ("text", _STR, "query text"))
_FACETS = (
    ("specialty", _STR, "main specialty, '' when undecided"),
    ("modality", _STR, "imaging modality of the query or of what it asks for, '' when undecided"),
    ("region", _STR, "anatomical region, '' when undecided"),
    ("tier", _STR, "difficulty tier, '' in tasks without tiers"),
)

_PAIR_COLUMNS = ("query-id", "corpus-id")
_IMAGE_ORIGIN = (
    ("image_source_sha256", _STR, "hex SHA-256 of the image file as fetched"),
    ("image_sha256", _STR, "hex SHA-256 of the released image bytes"),
    ("image_transform", _STR, "'' when the bytes were copied, else how they were normalised"),
    ("image_width", _INT, "pixels"),
    ("image_height", _INT, "pixels"),
)
_DOCUMENT = (
    ("id", _STR, "document id; says which article and record it is"),
    ("title", _STR, "title of the article"),
    ("text", _STR, "document text"),
)
_TEXT_QUERY_SCHEMA = columns(*_QUERY, *_RIGHTS, *_FACETS)
_TEXT_CORPUS_SCHEMA = columns(*_DOCUMENT, *_RIGHTS)

QUERIES = Published(
    "queries",
    "queries",
    columns(*_QUERY, ("image", IMAGE, "query image; decodes to a PIL image"), *_RIGHTS, *_FACETS),
    ("id",),
    rows_per_group=100,
    has_splits=True,
    other=(_TEXT_QUERY_SCHEMA,),
)
TEXT_QUERIES = Published("queries", "queries", _TEXT_QUERY_SCHEMA, ("id",), has_splits=True)
IMAGE_CORPUS = Published(
    "corpus",
    "corpus",
    columns(*_DOCUMENT, ("image", IMAGE, "document image; decodes to a PIL image"), *_RIGHTS),
    ("id",),
    rows_per_group=100,
)
CORPUS = Published("corpus", "corpus", _TEXT_CORPUS_SCHEMA, ("id",), other=(IMAGE_CORPUS.schema,))
QRELS = Published(
    "qrels",
    "qrels",
    columns(
        *_ID_PAIR,
        ("score", _INT, "relevance grade"),
        ("label_status", _STR, "structural, judge, expert or adjudicated"),
        ("rule", _STR, "named, versioned rule or verdict"),
        ("via", _STR, "concept that links query and document (CURIE), '' when none does"),
    ),
    _PAIR_COLUMNS,
    has_splits=True,
)
EXCLUDED = Published(
    "excluded",
    "excluded",
    columns(*_ID_PAIR, ("reason", _STR, "why the pair is neither positive nor negative")),
    _PAIR_COLUMNS,
    has_splits=True,
)
SAME_ARTICLE = Published(
    "same_article",
    "same_article",
    columns(
        *_ID_PAIR,
        ("score", _INT, "relevance grade, were the two not of one article"),
        ("rule", _STR, "named, versioned rule"),
        ("via", _STR, "concept that links the two (CURIE)"),
    ),
    _PAIR_COLUMNS,
    is_optional=True,
)
HARD_POOL = Published(
    "hard_pool",
    "hard_pool",
    columns(
        *_ID_PAIR,
        ("rank", _INT, "1-based; the document most like the query first"),
        ("why", _STR, "what the two have in common"),
        ("label_status", _STR, "unjudged: such a document is hard, not wrong"),
    ),
    ("query-id", "rank"),
    is_optional=True,
)
ANNOTATIONS = Published(
    "annotations",
    "annotations",
    columns(
        *_ID_PAIR,
        ("annotator", _STR, "pseudonym of a reader"),
        ("role", _STR, "annotator, or adjudicator of a disagreement"),
        ("grade", _INT, "grade given, null when the reader could not judge the pair"),
        ("reason", _STR, "why it could not be judged, '' when it was"),
        ("seconds", pa.float64(), "time spent; 0 when unknown"),
        ("rule", _STR, "named, versioned rule that made the verdict of this pair's answers"),
    ),
    ("query-id", "corpus-id", "role", "annotator"),
    is_optional=True,
)
ORIGIN_QUERIES = Published(
    "provenance_queries",
    "provenance/queries",
    columns(
        ("id", _STR, "query id"),
        ("split", _STR, "test or dev"),
        ("source_id", _STR, "record the query was made from"),
        ("article_id", _STR, "article it was made from"),
        ("patient_id", _STR, "case it tells of, '' when it is of none"),
        ("family", _STR, "id shared by its translations and variants, '' when it has none"),
        ("hides_target", _BOOL, "no name of its target concepts may stand in it"),
        ("since", _STR, "version of the release that first published it"),
        *_ORIGIN,
        *_IMAGE_ORIGIN,
        ("image_count", _INT, "images the source figure has; the first is released"),
    ),
    ("id",),
)
ORIGIN_CORPUS = Published(
    "provenance_corpus",
    "provenance/corpus",
    columns(
        ("id", _STR, "document id"),
        ("article_id", _STR, "article it comes from"),
        ("patient_id", _STR, "case it tells of or shows, '' when it is of none"),
        ("specialty", _STR, "main specialty, '' when undecided"),
        ("genre", _STR, "kind of source, '' when unknown"),
        *_ORIGIN,
        *_IMAGE_ORIGIN,
    ),
    ("id",),
)
ORIGIN_QRELS = Published(
    "provenance_qrels",
    "provenance/qrels",
    columns(*_ID_PAIR, ("evidence", EVIDENCE, "spans of source texts the label rests on")),
    _PAIR_COLUMNS,
)
KEYS = Published(
    "keys",
    "provenance/keys",
    columns(
        ("query-id", _STR, "id in queries"),
        ("dimension", _STR, "target_concept, query, article, patient or image_family"),
        ("key", _STR, "what the query or a positive rests on; no two tasks or splits share one"),
    ),
    ("query-id", "dimension", "key"),
)
IMAGE_CHECKS = Published(
    "image_checks",
    "provenance/image_checks",
    columns(
        ("id", _STR, "id in corpus"),
        ("kind", _STR, "kind of the image, '' or compound when its caption decided that it is clinical"),
        ("text_check", _STR, "passed: text in it was read and compared; not_run: nobody read it"),
        ("flags", STRINGS, "face, sensitive and the like, with which it was released"),
    ),
    ("id",),
    is_optional=True,
)
SOURCES = Published(
    "sources",
    "provenance/sources",
    columns(
        ("id", _STR, "article id, with version"),
        ("title", _STR, "article title"),
        ("authors", STRINGS, "authors in order, to be credited"),
        ("journal", _STR, "journal title"),
        ("year", _INT, "publication year"),
        ("doi", _STR, "DOI"),
        ("pmid", _STR, "PubMed id"),
        ("pmcid", _STR, "PMC id"),
        ("article_type", _STR, "article-type of the JATS file"),
        ("language", _STR, "BCP-47 language of the running text"),
        ("subjects", STRINGS, "subject headings"),
        ("license", _STR, "SPDX id of the article's licence"),
        ("license_url", _STR, "licence address as written"),
        ("license_evidence", _STR, "where the licence was read"),
        ("license_statement", _STR, "rights statement, shortened"),
        ("is_retracted", _BOOL, "retracted when the release was built"),
        ("is_synthetic", _BOOL, "marked synthetic"),
        ("scope_evidence", STRINGS, "what the scope decision rests on"),
        ("raw_sha256", _STR, "hex SHA-256 of the source file"),
    ),
    ("id",),
)
FUNNEL = Published(
    "funnel",
    "provenance/funnel",
    columns(
        ("step", _INT, "1-based order"),
        ("stage", _STR, "stage name"),
        ("unit", _STR, "what was counted"),
        ("entered", _INT, "units that entered the stage"),
        ("kept", _INT, "units that left it"),
        ("dropped", _INT, "units dropped with a reason; entered = kept + dropped"),
    ),
    ("step",),
)
DROPS = Published(
    "drops",
    "provenance/drops",
    columns(
        ("stage", _STR, "stage that dropped it"),
        ("unit", _STR, "kind of unit"),
        ("id", _STR, "id of the unit"),
        ("article_id", _STR, "article it belongs to"),
        ("reason", _STR, "closed reason code"),
        ("detail", _STR, "what was seen"),
    ),
    ("stage", "unit", "id", "reason", "detail"),
)
_SYSTEMS = pa.list_(pa.struct([("system", pa.string()), ("rank", pa.int64())]))
TOP_RANKED = Published(
    "top_ranked",
    "top_ranked",
    columns(
        ("query-id", _STR, "id in queries"),
        ("corpus-ids", STRINGS, "candidates to re-rank in id order: every positive, no excluded document"),
    ),
    ("query-id",),
    has_splits=True,
    is_optional=True,
)
HARD_NEGATIVES = Published(
    "hard_negatives",
    "hard_negatives",
    columns(
        *_ID_PAIR,
        ("rank", _INT, "1-based; the hardest first"),
        ("systems", _SYSTEMS, "systems that found it, each with its rank"),
        ("label_status", _STR, "unjudged: such a document is hard, not wrong"),
    ),
    ("query-id", "rank"),
    has_splits=True,
    is_optional=True,
)
DISTRACTORS = Published(
    "distractors",
    "distractors",
    columns(
        *_ID_PAIR,
        ("rank", _INT, "1-based; the best matched first"),
        ("matched", STRINGS, "what is decided and the same as in the query's best positive"),
        ("specialty", _STR, "specialty of the document, '' when undecided"),
        ("genre", _STR, "genre of the document, '' when unknown"),
        ("length_band", _STR, "words of its text; half its characters in ja and zh; '' without text"),
        ("label_status", _STR, "unjudged: such a document is alike, not wrong"),
    ),
    ("query-id", "rank"),
    has_splits=True,
    is_optional=True,
)
POOLS = Published(
    "pools",
    "provenance/pools",
    columns(
        *_ID_PAIR,
        ("split", _STR, "test or dev"),
        ("kind", _STR, "positive, candidate, hard_negative or likely_positive"),
        ("systems", _SYSTEMS, "systems that found it within the pool's depth, each with its rank"),
    ),
    _PAIR_COLUMNS,
    is_optional=True,
)
POOL_CHECKSUMS = Published(
    "pool_checksums",
    "provenance/pool_checksums",
    columns(
        ("query-id", _STR, "id in queries"),
        ("split", _STR, "test or dev"),
        ("candidates", _INT, "documents in the query's pool"),
        ("pool_sha256", _STR, "hex SHA-256 over ids, titles and texts of its candidates (docs/pools.md)"),
    ),
    ("query-id",),
    is_optional=True,
)
DIAGNOSTICS = Published(
    "diagnostics",
    "diagnostics",
    columns(
        ("query-id", _STR, "id in queries"),
        ("text_only", pa.float64(), "nDCG@10 by the query's text alone; null when not run"),
        ("image_only", pa.float64(), "nDCG@10 by the query's image alone; null when not run"),
        ("text_and_image", pa.float64(), "nDCG@10 by both; null when not run"),
        ("shuffled_image", pa.float64(), "nDCG@10 by both with another query's image; null when not run"),
        (
            "caption_for_image",
            pa.float64(),
            "nDCG@10 with the caption in the image's place; null when not run",
        ),
        ("needs", _STR, "text, image, either, both, neither; '' when not run"),
        ("bm25_solvable", _BOOL, "BM25 ranks a positive first; null when not run"),
        (
            "candidates",
            _INT,
            "documents that shortcuts rank, see runs/diagnostics.json; 0: not run",
        ),
        (
            "chance",
            pa.float64(),
            "nDCG@10 expected of a random order of the candidates; null where each is positive",
        ),
        (
            "chance_first",
            pa.float64(),
            "chance that a random order puts a positive first; null where each is positive",
        ),
        ("shortcuts", STRINGS, "shortcuts that put a positive first, however equals are ordered"),
        (
            "shortcut_scores",
            pa.list_(pa.struct([("shortcut", pa.string()), ("ndcg", pa.float64())])),
            "every shortcut that ran, with its nDCG@10 expected over all orders of equals",
        ),
    ),
    ("query-id",),
    has_splits=True,
    is_optional=True,
)
SUBSETS = Published(
    "subsets",
    "subsets",
    columns(
        ("subset", _STR, "name of the subset"),
        ("kind", _STR, "query or document"),
        ("id", _STR, "id in queries or in corpus"),
    ),
    ("subset", "kind", "id"),
    is_optional=True,
)


def _nano(table: Published) -> Published:
    """The small variant of a table: same columns, fewer rows, split test alone."""
    return replace(
        table, name=f"nano_{table.name}", folder=f"nano/{table.folder}", has_splits=False, is_optional=True
    )


NANO: tuple[Published, ...] = tuple(_nano(table) for table in (CORPUS, QUERIES, QRELS, EXCLUDED))
"""A few queries over a small corpus that holds all their judged documents, ready to load on their own."""
MAIN: tuple[Published, ...] = (CORPUS, QUERIES, QRELS, EXCLUDED)
EXTRA: tuple[Published, ...] = (SAME_ARTICLE, HARD_POOL, ANNOTATIONS)
"""Further tables of pairs, none a part of the qrels: two that some tasks publish, and readers' answers."""
DERIVED: tuple[Published, ...] = (TOP_RANKED, HARD_NEGATIVES, DISTRACTORS, DIAGNOSTICS, SUBSETS, *NANO)
"""What is made of the finished tables, most of it by baseline runs."""
PROVENANCE: tuple[Published, ...] = (
    ORIGIN_QUERIES,
    ORIGIN_CORPUS,
    ORIGIN_QRELS,
    KEYS,
    TARGET_NAMES,
    MADE_TEXTS,
    RESTRICTED_NAMES,
    IMAGE_CHECKS,
    SOURCES,
    FUNNEL,
    DROPS,
    POOLS,
    POOL_CHECKSUMS,
)
TABLES: tuple[Published, ...] = MAIN + EXTRA + DERIVED + PROVENANCE
