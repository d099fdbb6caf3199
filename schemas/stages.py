"""What a stage is. Record stages turn records into records, set stages are one SQL over Parquet.

Every stage accounts for its units: in = kept + dropped, checked by id by the runner.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.record import column, record


class Reason(enum.StrEnum):
    """Closed set of reasons a record may be dropped or quarantined for."""

    # crawl
    NOT_FOUND = "not_found"
    NOT_OPEN_ACCESS = "not_open_access"
    RETRACTED = "retracted"
    HISTORICAL_OCR = "historical_ocr"
    MANUSCRIPT_ONLY = "manuscript_only"
    LICENCE_NOT_ALLOWED = "licence_not_allowed"
    LICENCE_UNKNOWN = "licence_unknown"
    METADATA_INVALID = "metadata_invalid"
    CHECKSUM_MISMATCH = "checksum_mismatch"
    FETCH_FAILED = "fetch_failed"
    TOO_LARGE = "too_large"
    DUPLICATE_ARTICLE = "duplicate_article"
    WITHDRAWN = "withdrawn"
    ARCHIVE_INVALID = "archive_invalid"
    ARCHIVE_HOSTILE = "archive_hostile"
    # parse
    XML_INVALID = "xml_invalid"
    XML_HOSTILE = "xml_hostile"
    NOT_AN_ARTICLE = "not_an_article"
    NO_BODY = "no_body"
    RECORD_INVALID = "record_invalid"
    # figures and images
    IMAGE_MISSING = "image_missing"
    IMAGE_CORRUPT = "image_corrupt"
    IMAGE_TOO_LARGE = "image_too_large"
    NO_GRAPHIC = "no_graphic"
    NO_CAPTION = "no_caption"
    SHORT_CAPTION = "short_caption"
    THIRD_PARTY = "third_party"
    # scope
    NOT_MEDICAL = "not_medical"
    NOT_HUMAN = "not_human"
    NOT_A_PATIENT = "not_a_patient"
    NOT_A_CASE = "not_a_case"
    # tasks
    NO_CITING_PASSAGE = "no_citing_passage"
    SELF_MATCH = "self_match"
    SHORT_PASSAGE = "short_passage"
    BOILERPLATE = "boilerplate"
    MANY_FIGURES = "many_figures"
    DUPLICATE_QUERY = "duplicate_query"
    DUPLICATE_DOCUMENT = "duplicate_document"
    # partition
    OVERLAP_OTHER_TASK = "overlap_other_task"
    OVERLAP_OTHER_SPLIT = "overlap_other_split"
    OVERLAP_WITHDRAWN = "overlap_withdrawn"
    NAMED_IN_SPEC = "named_in_spec"
    # release
    NAMES_A_PATIENT = "names_a_patient"
    # review
    NO_POSITIVE_LEFT = "no_positive_left"
    STALE_VERDICT = "stale_verdict"
    EXCLUDED_PAIR = "excluded_pair"
    OTHER_VERDICT = "other_verdict"
    # case_study
    SHORT_CASE = "short_case"
    OPEN_DIAGNOSIS = "open_diagnosis"
    WEAK_DIAGNOSIS = "weak_diagnosis"
    GENERAL_DIAGNOSIS = "general_diagnosis"
    NO_CLINICAL_IMAGE = "no_clinical_image"
    FLAGGED_IMAGE = "flagged_image"
    NO_RELEVANT_CASE = "no_relevant_case"
    ONLY_SAME_ARTICLE = "only_same_article"
    # summary
    NOTICE = "notice"
    NO_ABSTRACT = "no_abstract"
    SHORT_ABSTRACT = "short_abstract"
    OTHER_ABSTRACT = "other_abstract"
    NO_FIGURE = "no_figure"
    SHORT_CONTEXT = "short_context"
    # image_search
    LONG_CAPTION = "long_caption"
    VAGUE_CAPTION = "vague_caption"
    LABEL_IN_IMAGE = "label_in_image"


@record
class Drop:
    """One unit a stage did not keep, and why."""

    unit: str = column("kind of unit: article, figure, passage, query, document")
    id: str = column("id of the unit")
    article_id: str = column("article it belongs to, or its locator when it has no id yet")
    reason: Reason = column("closed reason code")
    detail: str = column("what was seen, one line", default="")


@dataclass(frozen=True, slots=True)
class Table:
    """One output table of a stage: file name, row type and its unique key."""

    name: str
    row: type
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """One input table: `stage.table`; `by` is the column that holds the driving record's id."""

    table: str
    row: type
    by: str


@dataclass(frozen=True, slots=True)
class Account:
    """A conservation rule: every unit of the inputs is one kept row or one Drop.

    `units` lists the unit ids found in one driving record and its related rows;
    kept ids are read from column `key` of output `table`.
    """

    unit: str
    units: Callable[..., Iterable[str]]
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class RecordStage:
    """A pure generator: `process(driving record, *related rows, **params)` yields rows and Drops.

    `resources` name files the runner hands over as keyword arguments (a path); their fingerprint is part of
    the stage's identity unless the input rows already hold it.
    """

    name: str
    version: int
    inputs: tuple[Input, ...]
    outputs: tuple[Table, ...]
    process: Callable[..., Iterator[Any]]
    accounts: tuple[Account, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sql:
    """One statement of a set stage: a SELECT over input tables and earlier outputs of the same stage.

    The runner always adds ORDER BY `order_by` (a unique key): unordered output differs between runs.
    """

    text: str
    row: type
    order_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetAccount:
    """Conservation of a set stage: ids of `source` = ids kept in `table` + ids of drops of this unit."""

    unit: str
    source: str
    source_key: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class SetStage:
    """SQL over Parquet. `inputs` maps view name -> `stage.table` (all shards); `outputs` run in order.

    An output named `drops` must select Drop rows. `params` are the settings its statements were written with:
    they are part of its identity.
    """

    name: str
    version: int
    inputs: Mapping[str, tuple[str, type]]
    outputs: Mapping[str, Sql]
    accounts: tuple[SetAccount, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """One benchmark task: its record stage (per article), its set stage (over all shards), its prose."""

    name: str
    title: str
    description: str
    per_article: RecordStage
    over_all: SetStage
