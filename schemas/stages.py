"""What a stage is. Record stages turn records into records, set stages are one SQL over Parquet.

Every stage accounts for its units: in = kept + dropped, checked by id by the runner.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from schemas.errors import MedqrelsError
from schemas.published import Published
from schemas.record import column, record
from schemas.review import Kind


class Reason(enum.StrEnum):
    """Reasons a record may be dropped or quarantined for; a stage declares those that are its own alone.

    Both together are a closed set: the runner refuses any other.
    """

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
    NOTICE = "notice"
    NOT_MEDICAL = "not_medical"
    NOT_HUMAN = "not_human"
    NOT_A_PATIENT = "not_a_patient"
    NOT_A_CASE = "not_a_case"
    # what several tasks drop for
    NO_CITING_PASSAGE = "no_citing_passage"
    SELF_MATCH = "self_match"
    SHORT_PASSAGE = "short_passage"
    BOILERPLATE = "boilerplate"
    SHORT_CASE = "short_case"
    NO_CLINICAL_IMAGE = "no_clinical_image"
    FLAGGED_IMAGE = "flagged_image"
    TOO_MANY_IMAGES = "too_many_images"
    DUPLICATE_IMAGE = "duplicate_image"
    VAGUE_CAPTION = "vague_caption"
    DUPLICATE_QUERY = "duplicate_query"
    DUPLICATE_DOCUMENT = "duplicate_document"
    OPEN_DIAGNOSIS = "open_diagnosis"
    WEAK_DIAGNOSIS = "weak_diagnosis"
    GENERAL_DIAGNOSIS = "general_diagnosis"
    NO_RELEVANT_CASE = "no_relevant_case"
    REVEALED_EARLY = "revealed_early"
    NOT_NAMED_IN_LANGUAGE = "not_named_in_language"
    ONLY_SAME_ARTICLE = "only_same_article"
    SHORT_QUESTION = "short_question"
    GAP_TO_FILL = "gap_to_fill"
    NO_WORDED_ANSWER = "no_worded_answer"
    ONLY_WITH_OPTIONS = "only_with_options"
    NEEDS_IMAGE = "needs_image"
    GENERAL_SUBJECT = "general_subject"
    NO_SUPPORT = "no_support"
    LANGUAGE_NOT_READ = "language_not_read"
    LANGUAGE_NOT_SEARCHED = "language_not_searched"
    OUTSIDE_PARALLEL_CORE = "outside_parallel_core"
    NO_NAME_IN_LANGUAGE = "no_name_in_language"
    NAME_NOT_IN_LANGUAGE = "name_not_in_language"
    RESTRICTED_NAME = "restricted_name"
    SHARED_NAME = "shared_name"
    # what a text that a model wrote of another one changed or gave away
    NUMBER_CHANGED = "number_changed"
    UNIT_CHANGED = "unit_changed"
    SIDE_CHANGED = "side_changed"
    NEGATION_CHANGED = "negation_changed"
    ANSWER_LEFT = "answer_left"
    HOLDS_MARK = "holds_mark"
    # what no model answered, or not in the form asked for
    NOT_RUN = "not_run"
    REFUSED = "refused"
    TOO_LONG = "too_long"
    INVALID = "invalid"
    # partition
    OVERLAP_OTHER_TASK = "overlap_other_task"
    OVERLAP_OTHER_SPLIT = "overlap_other_split"
    OVERLAP_WITHDRAWN = "overlap_withdrawn"
    NAMED_IN_SPEC = "named_in_spec"
    # release
    NAMES_A_PATIENT = "names_a_patient"
    REPORTED = "reported"
    IN_NO_SET = "in_no_set"
    # review
    NO_POSITIVE_LEFT = "no_positive_left"
    STALE_VERDICT = "stale_verdict"
    EXCLUDED_PAIR = "excluded_pair"
    OTHER_VERDICT = "other_verdict"


@record
class Drop:
    """One unit a stage did not keep, and why."""

    unit: str = column("kind of unit: article, figure, passage, query, document")
    id: str = column("id of the unit")
    article_id: str = column("article it belongs to, or its locator when it has no id yet")
    reason: enum.StrEnum = column("closed reason code")
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

    `units` lists the unit ids found in one driving record and its related rows, given those of the stage's
    params by name that `params` names; kept ids are read from column `key` of output `table`.
    """

    unit: str
    units: Callable[..., Iterable[str]]
    table: str
    key: str
    params: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordStage:
    """A pure generator: `process(driving record, *related rows, **arguments)` yields rows and Drops.

    Arguments are `params`. A stage with `settings` (a model; `params` are its defaults) is given one of them
    as `settings` instead. `reasons` are the stage's own, beside the common ones. `resources` name files the
    runner hands over as keyword arguments (a path); their fingerprint is part of the stage's identity unless
    the input rows already hold it.
    """

    name: str
    version: int
    inputs: tuple[Input, ...]
    outputs: tuple[Table, ...]
    process: Callable[..., Iterator[Any]]
    accounts: tuple[Account, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    resources: tuple[str, ...] = ()
    settings: type[BaseModel] | None = None
    reasons: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.settings is not None:
            object.__setattr__(self, "params", self.settings().model_dump())

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What `process` is given beside rows and resources, from settings by name."""
        return dict(params) if self.settings is None else {"settings": self.settings(**params)}


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

    An output named `drops` must select Drop rows. `params` are the settings its statements were written with,
    or read as variables (whole numbers, `getvariable`): they are part of its identity. `reasons` are its own,
    beside the common ones. `resources` are tables of the vocabulary, by the name that is view and resource in
    one; their fingerprint is part of its identity.
    """

    name: str
    version: int
    inputs: Mapping[str, tuple[str, type]]
    outputs: Mapping[str, Sql]
    accounts: tuple[SetAccount, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    reasons: frozenset[str] = frozenset()
    resources: Mapping[str, type] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStage:
    """What a language model is asked and what is read of its answers: two pure stages, an adapter between.

    `asking` makes one table, `prompts`; what is stored of their answers is written by the adapter as
    `<name>_answers`, and `reading` reads both. A prompt without an answer is a drop there (`not_run`).

    Attributes:
        task: whose stage it is.
        kind: of prompt, as spec and commands call it.
        asked: label of the prompt (`prompt`) and hash of all that its prompts have in common
            (`prompt_sha256`); params of both stages.
        asking: record stage whose first input is a table that is not sharded.
        reading: record stage driven by the prompts, with the answers beside them.
        takes_several: whether several models may answer, each answer being a row.

    Raises:
        ValueError: the two do not fit together.
    """

    task: str
    kind: str
    asked: Mapping[str, Any]
    asking: RecordStage
    reading: RecordStage
    takes_several: bool = False

    def __post_init__(self) -> None:
        read = [given.table for given in self.reading.inputs]
        if [table.name for table in self.asking.outputs] != ["prompts"] or read[:2] != [
            f"{self.name}.prompts",
            f"{self.answers}.answers",
        ]:
            raise ValueError(f"model stage {self.name}: it makes prompts, then reads prompts and answers")

    @property
    def name(self) -> str:
        """Of the stage that asks, and of the three together."""
        return self.asking.name

    @property
    def answers(self) -> str:
        """Name under which its answers lie among the stages."""
        return f"{self.name}_answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewStage:
    """What people are asked of records of a task while it is built: two pure stages, a review between.

    `asking` makes one table, `items` (schemas.review.ReviewItem); what people concluded of them is brought as
    `<name>_verdicts`, and `reading` reads both. Without a review every item waits, as a drop of `reading`.

    Attributes:
        task: whose stage it is.
        kind: layout of its items (schemas.review.Kind).
        asking: record stage whose first input is a table that is not sharded.
        reading: record stage with the items and their verdicts among its inputs.

    Raises:
        ValueError: the two do not fit together.
    """

    task: str
    kind: Kind
    asking: RecordStage
    reading: RecordStage

    def __post_init__(self) -> None:
        read = {given.table for given in self.reading.inputs}
        if [table.name for table in self.asking.outputs] != ["items"] or not read >= {
            f"{self.name}.items",
            f"{self.verdicts}.verdicts",
        }:
            raise ValueError(f"review stage {self.name}: it makes items, then reads items and verdicts")

    @property
    def name(self) -> str:
        """Of the stage that asks, of the three together, and of the review."""
        return self.asking.name

    @property
    def verdicts(self) -> str:
        """Name under which its verdicts lie among the stages."""
        return f"{self.name}_verdicts"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierStage:
    """What the newest release of a dataset says of a task, an input when it is built again: it may stand.

    Nothing is computed: rows of one published table are brought as table `rows`, none before the first
    release.

    Attributes:
        name: of the stage.
        table: the published table.
        columns: field of a row -> column of that table.
        row: type of its rows.
    """

    name: str
    table: Published
    columns: Mapping[str, str]
    row: type


def check_reasons(stage: RecordStage | SetStage, given: Iterable[str]) -> None:
    """Refuse reasons that neither all stages have nor this one declares.

    Raises:
        MedqrelsError: there is one.
    """
    wrong = sorted(set(map(str, given)) - {reason.value for reason in Reason} - stage.reasons)
    if wrong:
        raise MedqrelsError(f"stage {stage.name} drops for {wrong[0]!r}, a reason that nobody declared")
