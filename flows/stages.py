"""Every stage of the pipeline and its version in this code."""

from __future__ import annotations

from collections.abc import Mapping

from curation.concepts.stage import GROUND
from curation.extract.stage import EXTRACT
from curation.tasks.registry import TASKS
from flows import crawling
from sources.stage import PARSE

VERSIONS: Mapping[str, int] = {
    crawling.STAGE: crawling.VERSION,
    **{stage.name: stage.version for stage in (PARSE, EXTRACT, GROUND)},
    **{stage.name: stage.version for task in TASKS.values() for stage in (task.per_article, task.over_all)},
}
