"""Reasoning paths as a model stage, and the three texts that each vignette is searched with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from curation.privacy import CERTAIN, hits
from curation.prompts import reasoning_path
from curation.prompts.answers import read_answer
from curation.prompts.material import read_block
from curation.prompts.reasoning_path import NotAPath
from curation.prompts.stage import PROMPTS, answered, subjects
from curation.tasks.clinical_evidence.asking import PATH, prompts
from curation.tasks.clinical_evidence.exams import mentions_in
from curation.tasks.clinical_evidence.records import EvidenceAnswer, ReasoningPath, Vignette
from curation.tasks.clinical_evidence.settings import REASONS, OwnReason
from curation.tasks.clinical_evidence.vignettes import NAME
from curation.tasks.shared.mining.index import view_of
from curation.tasks.shared.mining.records import IndexedView, View
from schemas.benchmark import Evidence, Query
from schemas.prompt import ModelAnswer, Prompt
from schemas.stages import Account, Drop, Input, ModelStage, Reason, RecordStage, Table

_ASKED = {
    "prompt": reasoning_path.REASONING_PATH.label,
    "prompt_sha256": reasoning_path.REASONING_PATH.sha256,
}
CASES = f"{NAME}_cases.vignettes"


def _ask(vignette: Vignette, *, prompt: str, prompt_sha256: str) -> Iterator[Prompt | Drop]:
    """`prompt…` are of the stage's identity alone."""
    yield from prompts(PATH, vignette)


def _read(
    asked: Prompt, answers: Sequence[ModelAnswer], *, prompt: str, prompt_sha256: str
) -> Iterator[ReasoningPath | Drop]:
    for answer in answers:
        values = read_answer(answer.text, json.loads(asked.answer_schema))
        assert values is not None, f"an answer in no valid form was stored as valid: {asked.id}"
        path = reasoning_path.read(asked, values)
        if isinstance(path, NotAPath):
            yield _dropped(asked, path)
        elif next(iter(hits(path.text, CERTAIN)), None) is not None:
            yield _dropped(asked, Reason.NAMES_A_PATIENT)
        else:
            shown = read_block(asked, "vignette")
            yield ReasoningPath(
                unit=asked.subject,
                text=path.text,
                quotes=tuple(
                    Evidence(text_id=asked.subject, start=start, end=end, text=shown[start:end])
                    for start, end in path.quotes
                ),
                model=answer.model,
                served_model=answer.served_model,
                prompt_sha256=prompt_sha256,
            )


def _dropped(asked: Prompt, reason: NotAPath | Reason) -> Drop:
    return Drop(unit="answer", id=asked.subject, article_id="", reason=reason, detail=asked.id)


def _unit(vignette: Vignette, *_: object) -> list[str]:
    return [vignette.unit]


PATHS = ModelStage(
    task=NAME,
    kind="reasoning_path",
    asked=_ASKED,
    asking=RecordStage(
        name=f"{NAME}_reasoning_path",
        version=1,
        inputs=(Input(CASES, Vignette, by="unit"),),
        outputs=(PROMPTS,),
        process=_ask,
        accounts=(Account("vignette", _unit, PROMPTS.name, "subject"),),
        params=_ASKED,
    ),
    reading=RecordStage(
        name=f"{NAME}_paths",
        version=1,
        inputs=answered(f"{NAME}_reasoning_path"),
        outputs=(Table("paths", ReasoningPath, ("unit",)),),
        process=_read,
        accounts=(Account("answer", subjects, "paths", "unit"),),
        params=_ASKED,
        reasons=frozenset(NotAPath),
    ),
)


def views(
    vignette: Vignette, paths: Sequence[ReasoningPath], *, vocabulary: Path
) -> Iterator[Query | EvidenceAnswer | IndexedView | Drop]:
    """A vignette as a query, its answer, and what is searched with; without a path nothing can be judged.

    Args:
        vignette: the vignette.
        paths: its reasoning path, one or none.
        vocabulary: index of the native matcher.
    """
    if not paths:
        yield Drop(
            unit="vignette",
            id=vignette.unit,
            article_id=vignette.article_id,
            reason=OwnReason.NO_PATH,
        )
        return
    yield _query(vignette)
    yield EvidenceAnswer(
        query_id=vignette.id,
        source_id=vignette.unit,
        answer=vignette.answer,
        explanation=paths[0].text,
    )
    texts: dict[View, str] = {
        "question": vignette.text,
        "answer": vignette.answer,
        "reasoning": paths[0].text,
    }
    for view, text in texts.items():
        yield view_of(
            vignette.id,
            vignette.source_id,
            view,
            text,
            vignette.language,
            own_article=vignette.article_id if vignette.origin == "case" else "",
            mentions=mentions_in(text, vocabulary),
        )


def _query(vignette: Vignette) -> Query:
    return Query(
        id=vignette.id,
        task=NAME,
        text=vignette.text,
        language=vignette.language,
        source_id=vignette.source_id,
        article_id=vignette.article_id,
        license=vignette.license,
        license_evidence=vignette.license_evidence,
        text_sha256=vignette.text_sha256,
        transforms=vignette.transforms,
        is_synthetic=vignette.is_synthetic,
        targets=vignette.targets,
        hides_target=vignette.scenario == "diagnosis",
        patient_id=vignette.patient_id,
        specialty=vignette.specialty,
        tier=vignette.scenario,
    )


VIEWS = RecordStage(
    name=f"{NAME}_views",
    version=1,
    inputs=(
        Input(CASES, Vignette, by="unit"),
        Input(f"{NAME}_paths.paths", ReasoningPath, by="unit"),
    ),
    outputs=(
        Table("queries", Query, ("id",)),
        Table("answers", EvidenceAnswer, ("query_id",)),
        Table("views", IndexedView, ("query_id", "view")),
    ),
    process=views,
    accounts=(Account("vignette", _unit, "answers", "source_id"),),
    reasons=REASONS,
    resources=("vocabulary",),
)
