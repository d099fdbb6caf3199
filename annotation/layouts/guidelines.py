"""Guidelines for reviewers: Markdown written by us, shown as HTML in the project's instructions."""

from __future__ import annotations

from importlib.resources import files

from markdown_it import MarkdownIt

from schemas.review import Kind
from schemas.task import Task

_EVERY_TASK = "every_task"


def guidelines(kind: Kind, task: Task | None) -> str:
    """Guidelines of a task, or of a kind without one, with what holds for all, as HTML with its own style."""
    folder = files("annotation") / "guidelines"
    own = task.question.guideline if task else (folder / f"{kind}.md").read_text("utf-8")
    text = f"{own}\n{(folder / f'{_EVERY_TASK}.md').read_text('utf-8')}"
    html: str = MarkdownIt("commonmark").render(text)
    style = (files(__package__) / "guidelines.css").read_text("utf-8")
    return f'<div class="mq-guide"><style>{style}</style>{html}</div>'
