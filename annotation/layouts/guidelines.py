"""Guidelines for reviewers: Markdown written by us, shown as HTML in the project's instructions."""

from __future__ import annotations

from importlib.resources import files

from markdown_it import MarkdownIt

from annotation.layouts.questions import RELEVANCE, question
from schemas.review import Kind

_EVERY_TASK = "every_task"


def guidelines(kind: Kind, task: str) -> str:
    """Guidelines of a task, with what holds for every task, as HTML with its own style.

    Raises:
        UsageError: a relevance task without a question.
    """
    question(kind, task)
    folder = files("annotation") / "guidelines"
    name = task if kind in RELEVANCE else kind
    texts = [(folder / f"{part}.md").read_text("utf-8") for part in (name, _EVERY_TASK)]
    html: str = MarkdownIt("commonmark").render("\n".join(texts))
    style = (files(__package__) / "guidelines.css").read_text("utf-8")
    return f'<div class="mq-guide"><style>{style}</style>{html}</div>'
