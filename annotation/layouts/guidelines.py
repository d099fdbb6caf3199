"""Guidelines for reviewers: Markdown written by us, shown as HTML in the project's instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from markdown_it import MarkdownIt

from schemas.review import Kind
from schemas.task import Task

_EVERY_TASK = "every_task"
MOST_SOURCES = 500
"""Articles that the guidelines list one by one."""


def guidelines(kind: Kind, task: Task | None) -> str:
    """Guidelines of a task, or of a kind without one, with what holds for all, as HTML with its own style."""
    folder = files("annotation") / "guidelines"
    own = task.question.guideline if task else (folder / f"{kind}.md").read_text("utf-8")
    text = f"{own}\n{(folder / f'{_EVERY_TASK}.md').read_text('utf-8')}"
    html: str = MarkdownIt("commonmark").render(text)
    style = (files(__package__) / "guidelines.css").read_text("utf-8")
    return f'<div class="mq-guide"><style>{style}</style>{html}</div>'


def sources(licences: Mapping[str, Sequence[str]]) -> str:
    """End of the guidelines: every article a review shows something of, in an order that tells nothing.

    Beside an item they would give its answer away: query and passage of one article mostly belong together.

    Args:
        licences: article, an address where it has one -> SPDX ids of what is shown of it.
    """
    if not licences:
        return ""
    if len(licences) > MOST_SOURCES:
        told = f"<p>{len(licences):,} articles; the table of sources of the release names each.</p>"
    else:
        rows = (f"{_named(name)} ({escape(', '.join(given))})" for name, given in sorted(licences.items()))
        told = "<ul>" + "".join(f"<li>{row}</li>" for row in rows) + "</ul>"
    return f'<div class="mq-guide"><h2>Sources</h2>{told}</div>'


def _named(name: str) -> str:
    if not name.startswith("https://"):
        return escape(name)
    return f'<a href="{escape(name)}" target="_blank" rel="noopener noreferrer">{escape(name)}</a>'
