"""Every stage of the pipeline and its version in this code."""

from __future__ import annotations

from collections.abc import Mapping

from curation.cases.stage import CASES
from curation.concepts.stage import GROUND, GROUND_QUESTIONS
from curation.diagnosis.stage import DIAGNOSES
from curation.extract.stage import EXTRACT
from curation.images.stage import IMAGES
from curation.labels.stage import LABELS
from curation.partition.stage import VERSION as PARTITION_VERSION
from curation.tasks.registry import TASKS
from flows.crawl import fetch as crawling
from schemas.stages import RecordStage
from sources.questions import QUESTIONS
from sources.stage import PARSE

EXTRACTION: tuple[RecordStage, ...] = (PARSE, EXTRACT, CASES, IMAGES, QUESTIONS)
"""What `medqrels extract` runs, in order."""

GROUNDING: tuple[RecordStage, ...] = (GROUND, GROUND_QUESTIONS, LABELS, DIAGNOSES)
"""What `medqrels ground` runs, in order."""

PARTITION = "partition"
"""The stage that shares queries out among tasks and splits; which tasks, a spec says."""

VERSIONS: Mapping[str, int] = {
    crawling.STAGE: crawling.VERSION,
    **{stage.name: stage.version for stage in (*EXTRACTION, *GROUNDING)},
    PARTITION: PARTITION_VERSION,
    **{stage.name: stage.version for task in TASKS.values() for stage in (task.per_article, task.over_all)},
}
