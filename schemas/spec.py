"""What a dataset is meant to be: name, sources, tasks and their parameters, licence profile.

Read from `data_cards/<dataset>/spec.toml`; everything that shapes output and is not code stands here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from schemas.errors import UsageError
from schemas.invalid import said_of
from schemas.licences import Profile

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=60)]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$")]
_DAY = r"^\d{4}-\d{2}-\d{2}$"
Parameter = bool | int | float | str | tuple[str, ...]


def _is_cron(value: str) -> str:
    """A cron line of five fields that comes round, or '' for never."""
    try:
        if value and (
            len(value.split()) != 5 or next(CronSim(value, datetime(2000, 1, 1, tzinfo=UTC)), None) is None
        ):
            raise ValueError
    except (CronSimError, ValueError) as error:
        raise ValueError(
            f"{value!r} is no cron line; e.g. '0 3 * * *' (minute hour day month weekday)"
        ) from error
    return value


def _is_zone(value: str) -> str:
    """A time zone by its IANA name."""
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"{value!r} is no time zone; e.g. 'Europe/Paris'") from error
    return value


Cron = Annotated[str, AfterValidator(_is_cron)]


class Sources(BaseModel):
    """Where articles come from; paths are relative to the spec file.

    Each key is one `medqrels crawl SOURCE`; a crawl of each is part of `medqrels run`. Which keys there are,
    the requests of the repositories say (flows/crawl/repositories, docs/sources.md).
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, str | int | tuple[str, ...]] = Field(init=False)

    accessed: str | None = Field(
        default=None,
        pattern=_DAY,
        description="day of the crawl, for the citation the service asks for",
    )

    @property
    def given(self) -> Mapping[str, str | int | tuple[str, ...]]:
        """What to crawl, by key."""
        return {key: value for key, value in self.__pydantic_extra__.items() if value not in ("", ())}


class Images(BaseModel):
    """What is looked for in images beyond what is always seen; each needs an extra."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    faces: bool = Field(default=False, description="look for faces (extra faces)")
    ocr: bool = Field(default=False, description="read burned-in text (extra ocr, program tesseract)")
    ocr_languages: str = Field(
        default="eng", pattern=r"^\w+(\+\w+)*$", description="Tesseract languages, joined by +"
    )


class Grounding(BaseModel):
    """How concepts are found in texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    backend: Literal["native", "quickumls", "scispacy"] = Field(
        default="native", description="what finds concepts; the others are extras"
    )
    overlaps: bool = Field(default=False, description="names inside longer names too")


class Partition(BaseModel):
    """How queries are shared out among tasks and splits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dev_share: Annotated[float, Field(ge=0, le=0.5)] = Field(
        default=0.05, description="share of each task's queries for the split dev"
    )
    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default={},
        description="task -> how much its queries count when two tasks want one article; 1 is usual",
    )
    leave_out: tuple[str, ...] = Field(default=(), description="ids of queries that may not be released")


class Baselines(BaseModel):
    """Systems that are run on every release, and what is made of their rankings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    systems: tuple[str, ...] = Field(
        default=("bm25", "image"),
        description="systems as `medqrels evaluate --system` takes them; none: no runs, pools or diagnostics",
    )
    depth: Annotated[int, Field(ge=10, le=1000)] = Field(
        default=100, description="documents per query in the run files"
    )
    pool_depth: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=20, description="documents each system gives to a query's pool"
    )
    hard_negatives: Annotated[int, Field(ge=0, le=100)] = Field(
        default=10, description="hard negatives per query"
    )
    margin: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.05,
        description="a document that scores above the weakest positive minus this share of its score is a "
        "likely positive, not a negative",
    )
    distractors: Annotated[int, Field(ge=0, le=100)] = Field(
        default=10,
        description="unjudged documents per query that match its best positive in specialty, genre, length",
    )
    nano_queries: Annotated[int, Field(ge=0)] = Field(
        default=50, description="queries of the nano variant; 0: no variant"
    )
    nano_documents: Annotated[int, Field(ge=100)] = Field(
        default=5000, description="documents of the nano variant, beside the judged ones at most"
    )
    balance: tuple[Literal["modality", "specialty", "region"], ...] = Field(
        default=(),
        description="subsets with equally many queries per value (modality: with and without image)",
    )


class Review(BaseModel):
    """When people's judgements count, and what becomes of rules they find imprecise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    single_reader: bool = Field(
        default=False, description="whether the answer of one reader alone may make an expert label"
    )
    precision_floor: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.8, description="least precision (lower bound of its interval) of a rule that labels pairs"
    )
    precision_minimum: Annotated[int, Field(ge=1)] = Field(
        default=50, description="judged pairs below which no precision of a rule is claimed"
    )
    judge_floor: Annotated[float, Field(ge=-1, le=1)] = Field(
        default=0.6,
        description="least weighted κ of judge and people (lower bound); below it pairs stay candidates",
    )
    judge_minimum: Annotated[int, Field(ge=2)] = Field(
        default=80, description="queries with pairs that people graded below which no judge is calibrated"
    )


class Withdrawals(BaseModel):
    """What notices about articles lead to, beside retractions, which always remove."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    concern: Literal["remove", "flag"] = Field(
        default="flag", description="what `medqrels sweep` does on an expression of concern"
    )


class Schedules(BaseModel):
    """When `medqrels serve` runs what for the dataset, as cron lines; '' for never."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    is_active: bool = Field(default=True, description="whether `medqrels serve` serves the dataset")
    timezone: Annotated[str, AfterValidator(_is_zone)] = Field(
        default="UTC", description="time zone of the cron lines"
    )
    sweep: Cron = Field(default="0 1 * * *", description="ask the sources what became of crawled articles")
    nightly: Cron = Field(default="0 3 * * *", description="crawl what is new or changed, extract, ground")
    weekly: Cron = Field(default="0 5 * * 0", description="build, release and audit what changed")
    review_pull: Cron = Field(default="30 * * * *", description="fetch new answers of annotators")


def _each_once(models: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(models)) < len(models):
        raise ValueError("a model is named twice")
    return models


_ModelName = Annotated[str, Field(min_length=1)]
OneOrSeveral = _ModelName | Annotated[tuple[_ModelName, ...], Field(min_length=1), AfterValidator(_each_once)]


class Prompts(BaseModel):
    """What language models are asked of every task (docs/model_stages.md), and who answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stages: tuple[str, ...] = Field(
        default=(), description="kinds of prompt: hyde, query2doc; none: no model is asked"
    )
    model: str = Field(
        default="", description="whose answers count; '' for those that `medqrels answer --model` asked for"
    )
    models: dict[str, OneOrSeveral] = Field(
        default_factory=dict,
        description="kind of stage (judge, reasoning_path, hyde, …) -> another model for it; for closed_book "
        "perhaps a list, each of which answers",
    )
    is_trial: bool = Field(
        default=False, description="a script or a toy model answers: what rests on it is not for publication"
    )

    def models_of(self, kind: str) -> tuple[str, ...]:
        """Whose answers count in stages of a kind, none where only a command names the model."""
        named = self.models.get(kind, self.model)
        return ((named,) if named else ()) if isinstance(named, str) else named


class Citation(BaseModel):
    """What only people know of a dataset, for those who cite it (CITATION.cff, datacite.json)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    authors: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="who made the dataset, as 'Family, Given'; none: its maintainers"
    )
    publisher: str = Field(default="", description="who publishes it; '' for its maintainers")
    year: Annotated[int, Field(ge=2000, le=2200)] | None = Field(
        default=None, description="year of publication, which DataCite asks for"
    )
    doi: str = Field(default="", pattern=r"^(10\.\d{4,9}/\S+)?$", description="DOI, where it has one")
    url: str = Field(default="", pattern=r"^(https?://\S+)?$", description="where it is published")


class DatasetSpec(BaseModel):
    """One dataset: every release of it is built from this file and the code's version."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    title: str = Field(min_length=3, max_length=120)
    licence_profile: Profile = "open"
    languages: tuple[Language, ...] = Field(
        default=("en",),
        description="languages the dataset is meant to hold; `build` tells which of them have no names",
    )
    expert_minimum: int = Field(
        default=80, ge=1, description="queries with expert or adjudicated labels below which a task is silver"
    )
    sources: Sources = Sources()
    images: Images = Images()
    grounding: Grounding = Grounding()
    partition: Partition = Partition()
    baselines: Baselines = Baselines()
    review: Review = Review()
    withdrawals: Withdrawals = Withdrawals()
    schedules: Schedules = Schedules()
    prompts: Prompts = Prompts()
    citation: Citation = Citation()
    tasks: dict[str, dict[str, Parameter]] = Field(min_length=1, description="task name -> its parameters")


def load_spec(path: Path, overrides: Mapping[str, str] | None = None) -> DatasetSpec:
    """Read a spec file and apply `--set key=value` overrides (dotted keys, TOML values or bare words).

    Raises:
        UsageError: the file is missing, not TOML, or says something a spec does not have.
    """
    try:
        content: dict[str, Any] = tomllib.loads(
            path.read_text("utf-8-sig")
        )  # some editors begin files with a mark
    except OSError as error:
        raise UsageError(
            "the spec cannot be read", file=str(path), hint="check the path given to --spec"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the spec is not TOML: {error}", file=str(path)) from error
    for key, value in sorted((overrides or {}).items()):
        _override(content, key, value)
    try:
        return DatasetSpec.model_validate(content)
    except ValidationError as error:
        where, what = said_of(error, DatasetSpec)
        raise UsageError(
            f"{'.'.join(where) or 'spec'}: {what}", file=str(path), hint="see schemas/spec.py for every key"
        ) from error


def _override(content: dict[str, Any], key: str, value: str) -> None:
    """Set one dotted key; a value that is not TOML is taken as the text it is."""
    *parents, last = key.split(".")
    node = content
    for part in parents:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            raise UsageError(f"--set {key}: {part} is not a table")
    try:
        node[last] = tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        node[last] = value
