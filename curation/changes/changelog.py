"""CHANGELOG.md of a task: what each of its releases changed, told from release.json alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from curation.changes.reasons import MEANINGS, Why
from curation.published.manifest import ReleaseManifest

CHANGELOG = "CHANGELOG.md"
_ABOUT = (
    "The newest release stands first. Major: measurements on the release before cannot be compared.",
    "Minor: rows were added; scores on the common queries over the common corpus can. Patch: rows were",
    "withdrawn, or only what is told of rows differs. `medqrels diff` names every row.",
)
_NOTHING = "No query, document or label of this task changed."


def changelog(head: ReleaseManifest) -> str:
    """The text of the file.

    Args:
        head: release.json; `change` says what differs from the release before it, and holds what that one
            said of itself.
    """
    lines = [
        f"# Changes of {head.dataset}/{head.task}",
        "",
        *_ABOUT,
    ]
    told = {"version": head.version, **{key: value for key, value in head.change.items() if key != "earlier"}}
    for entry in (told, *head.change.get("earlier", ())):
        lines += ["", *_entry(entry)]
    return "\n".join(lines) + "\n"


def _entry(entry: Mapping[str, Any]) -> Iterator[str]:
    """One release."""
    if not entry.get("previous"):
        yield f"## {entry['version']}"
        yield ""
        yield "First release."
        return
    level = entry["level"] if entry["level"] != "none" else "patch"
    yield f"## {entry['version']} ({level})"
    yield ""
    parent = entry.get("parent", "")
    yield f"After {entry['previous']}{f' (release hash `{parent}`)' if parent else ''}."
    yield ""
    yield from (f"- {note}" for note in entry["notes"] or [_NOTHING])
    counts = entry.get("counts", ())
    if counts:
        yield from ("", "| table | rows | what | why |", "|---|---|---|---|")
        for item in counts:
            why = MEANINGS[Why(item["reason"])]
            yield f"| {item['table']} | {item['rows']:,} | {item['change']} | {why} |"
    withdrawn = entry.get("withdrawn", ())
    if withdrawn:
        yield ""
        yield "Withdrawn:"
        yield ""
        yield from (f"- `{item['id']}` ({item['reason']})" for item in withdrawn)
        more = entry.get("more_withdrawn", 0)
        if more:
            yield f"- and {more:,} more"
