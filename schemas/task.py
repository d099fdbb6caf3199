"""What a benchmark task is: one declaration of all that the other rooms need to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.grades import EXCLUSIONS
from schemas.licences import Profile
from schemas.overlap_policy import Dimension
from schemas.stages import EarlierStage, ModelStage, Reason, RecordStage, ReviewStage, SetStage

Side = Literal["query", "document"]


class Settings(BaseModel):
    """What shapes a task's output; a task adds fields of its own, each with default and description."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    licence_profile: Profile = Field(
        default="open", description="what articles and figures must allow; said once for the whole dataset"
    )


@dataclass(frozen=True, slots=True)
class Grade:
    """One grade: its number, the name its button shows to reviewers, its definition.

    `seen` is what a reviewer goes by, where that is not the rule's definition: the rule may rest on what is
    not shown, e.g. a cross-reference that was removed from the passage.
    """

    score: int
    name: str
    definition: str
    seen: str = ""

    @property
    def to_reviewers(self) -> str:
        """The grade in words of what the page shows."""
        return self.seen or self.definition


@dataclass(frozen=True, slots=True)
class Question:
    """What reviewers are asked of a query and a document.

    Attributes:
        text: the question.
        left: heading over the query.
        right: heading over the document.
        guideline: Markdown; examples for every grade.
        with_diagnosis: whether it can be answered only with the query case's principal diagnosis at hand.
        with_answer: whether it is about the query's answer, which is then shown, as it is to the judge.
        with_reasoning: whether it is about the reasoning behind that answer, too.
    """

    text: str
    left: str
    right: str
    guideline: str
    with_diagnosis: bool = False
    with_answer: bool = False
    with_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """One score of a judge's scale: what it means, the grade it gives, an invented example."""

    meaning: str
    grade: int
    example: str


@dataclass(frozen=True, slots=True)
class Scale:
    """What a judge is told of query, document and need; `levels` are those of scores 0 to 3."""

    query: str
    document: str
    need: str
    levels: tuple[Level, Level, Level, Level]

    def grade(self, score: int) -> int:
        """Grade of a score 0 to 3."""
        return self.levels[score].grade


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One benchmark task.

    Attributes:
        name: what spec, tables and folders call it.
        title: of the card.
        description: one sentence on what is given and what is to be found: the instruction for systems that
            take one.
        per_article: makes queries, documents and pairs of one article; its `settings` are the task's.
        steps: what runs after it, in order: set stages over all shards, record stages on these, stages that
            ask models (docs/model_stages.md) or people (docs/review.md), what an earlier release says.
            Queries, qrels and excluded pairs may rest on all of them.
        over_all: merges the shards; gives `queries`, `documents`, `qrels` and `excluded`.
        grades: from the highest to 0.
        between: what reviewers may choose between two grades; such a pair is neither, and is excluded as
            `middle`. None where every pair has a grade.
        exclusions: code -> definition, beside the common ones of schemas.grades.
        question: of the review.
        scale: of the judge.
        card: Jinja template of the card's section on how queries, documents and labels were made.
        gold_rules: beginnings of rules whose pairs are positives by construction, for gold items.
        lacks: `target_concept` for a task whose queries are about none: overlap there is only reported. One
            without images or patients says nothing: there is no key to share.
        draws_articles: a query and all its positives lie in one article, whatever its kind: an article that
            several such tasks could use goes to one of them by lot, not to who makes most of it.
        caption_in_query: why no published words can stand in for a query's image, '' where they can.
        by_language: asks in several languages: queries and qrels have files, and configs, per language beside
            those of all; the corpus is one.
        tiers_apart: of such a task, tiers whose queries have files, and configs, of their own per language
            (`parallel-es-queries`), because they ask something else than the others.
        extra_tables: outputs of `over_all` that are published beside the usual ones (schemas.tables).
        shows_captions: of a task whose rows may have several images (extra table `images`), sides that may
            show the caption of each.
        candidates_because: why what its rules say are candidates for review and no labels yet, a sentence; ''
            where they are labels. A release of candidates is never publishable.
        sure_rules: of a task of candidates, rules whose pairs are labels all the same.
        asking: of a task with a judge, the stage whose tables `queries` and `answers` hold all that it is
            asked about, kept or not: people who measure the judge see these.

    Raises:
        ValueError: the parts do not fit together.
    """

    name: str
    title: str
    description: str
    per_article: RecordStage
    over_all: SetStage
    steps: tuple[RecordStage | SetStage | ModelStage | ReviewStage | EarlierStage, ...] = ()
    grades: tuple[Grade, ...]
    between: Grade | None = None
    exclusions: Mapping[str, str] = field(default_factory=dict)
    question: Question
    scale: Scale
    card: str
    gold_rules: tuple[str, ...] = ()
    lacks: frozenset[Dimension] = frozenset()
    draws_articles: bool = False
    caption_in_query: str = ""
    by_language: bool = False
    tiers_apart: tuple[str, ...] = ()
    extra_tables: tuple[str, ...] = ()
    shows_captions: frozenset[Side] = frozenset()
    candidates_because: str = ""
    asking: str = ""
    sure_rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        scores = [grade.score for grade in self.grades]
        doubled = sorted(self.exclusions.keys() & EXCLUSIONS.keys())
        faults = {
            "grades go from the highest to 0": scores == sorted(set(scores), reverse=True)
            and scores[-1:] == [0],
            "between lies between its grades": self.between is None
            or (scores[-1] < self.between.score < scores[0] and self.between.score not in scores),
            "the scale gives the task's grades": {level.grade for level in self.scale.levels} == set(scores),
            f"exclusions are its own, not common ones: {doubled}": not doubled,
            "rules begin with its name": all(
                rule.startswith(f"{self.name}/") for rule in (*self.gold_rules, *self.sure_rules)
            ),
            "stages bear its name": (self.per_article.name, self.over_all.name)
            == (self.name, f"{self.name}_all"),
            "its steps bear its name": all(step.name.startswith(f"{self.name}_") for step in self.steps),
            "its model and review stages are of it": all(
                step.task == self.name for step in self.steps if isinstance(step, ModelStage | ReviewStage)
            ),
            "only target_concept may be lacked": self.lacks <= {"target_concept"},
            "extra tables are made": self.over_all.outputs.keys() >= set(self.extra_tables),
            "captions belong to images": not self.shows_captions or self.lists_images,
        }
        for what, holds in faults.items():
            if not holds:
                raise ValueError(f"task {self.name}: {what}")

    @property
    def choices(self) -> tuple[Grade, ...]:
        """What reviewers may choose from, the highest first: its grades, and what lies between them."""
        given = (*self.grades, self.between) if self.between else self.grades
        return tuple(sorted(given, key=lambda grade: -grade.score))

    @property
    def settings(self) -> type[Settings]:
        """Its settings, each with default and description."""
        made = self.per_article.settings
        assert made is not None and issubclass(made, Settings), self.name
        return made

    @property
    def lists_images(self) -> bool:
        """Whether its queries or documents may have several images."""
        return "images" in self.extra_tables

    @property
    def model_stages(self) -> tuple[ModelStage, ...]:
        """Those of its steps that a language model answers."""
        return tuple(step for step in self.steps if isinstance(step, ModelStage))

    @property
    def review_stages(self) -> tuple[ReviewStage, ...]:
        """Those of its steps that people answer."""
        return tuple(step for step in self.steps if isinstance(step, ReviewStage))

    @property
    def earlier_stages(self) -> tuple[EarlierStage, ...]:
        """Those of its steps that bring what an earlier release says."""
        return tuple(step for step in self.steps if isinstance(step, EarlierStage))

    @property
    def stages(self) -> tuple[RecordStage | SetStage, ...]:
        """Its pure stages in order; of one that models or people answer, those before and after it."""
        found: list[RecordStage | SetStage] = [self.per_article]
        for step in self.steps:
            if isinstance(step, ModelStage | ReviewStage):
                found += [step.asking, step.reading]
            elif not isinstance(step, EarlierStage):
                found.append(step)
        return (*found, self.over_all)

    @property
    def reasons(self) -> frozenset[str]:
        """Reasons of drops that are its own; common ones that a stage names as well are not."""
        named = frozenset[str]().union(*(stage.reasons for stage in self.stages))
        return named - {reason.value for reason in Reason}

    @property
    def all_exclusions(self) -> dict[str, str]:
        """Every code its pairs may be excluded with, the common ones first -> definition."""
        return {**EXCLUSIONS, **self.exclusions}
