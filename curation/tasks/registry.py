"""The benchmark tasks that exist, by name: an eleventh is one more file and one more line here."""

from __future__ import annotations

from collections.abc import Mapping

from curation.tasks import case_study, image_search, summary, visual_context
from schemas.stages import Task

TASKS: Mapping[str, Task] = {
    task.name: task for task in (visual_context.TASK, image_search.TASK, summary.TASK, case_study.TASK)
}
