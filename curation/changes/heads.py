"""What differs between two release.json: tasks, grades, stages and what is said of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from curation.changes.levels import Level
from curation.published.manifest import ReleaseManifest

Found = tuple[Level, str]
_META = ("title", "task_title", "task_description", "label", "expert_minimum", "accessed", "overrides")


def of_heads(old: ReleaseManifest, new: ReleaseManifest) -> Iterator[Found]:
    """Level and words of each difference; what stages did to rows, the rows tell."""
    tasks = [{*head.siblings, head.task} for head in (old, new)]
    if gone := sorted(tasks[0] - tasks[1]):
        yield "major", f"tasks of the dataset: {', '.join(f'−{name}' for name in gone)}"
    if more := sorted(tasks[1] - tasks[0]):
        yield "minor", f"tasks of the dataset: {', '.join(f'+{name}' for name in more)}"
    for score in sorted(set(old.grades) & set(new.grades)):
        if old.grades[score] != new.grades[score]:
            yield "major", f"grade {score} means something else"
    if old.license != new.license:
        yield "minor", f"licence of the whole: {old.license} → {new.license}"
    if old.versions.get("ids") != new.versions.get("ids"):
        yield "patch", "the rules of ids changed"
    yield from (("patch", note) for note in of_stages(old, new))
    if old.vocabulary != new.vocabulary:
        yield "patch", "the vocabulary changed"
    others = [name for name in _META if getattr(old, name) != getattr(new, name)]
    if others or {**old.versions, "ids": 0} != {**new.versions, "ids": 0}:
        yield "patch", f"release.json: {', '.join([*others] or ['versions'])}"


def is_other_rule(old: ReleaseManifest, new: ReleaseManifest) -> bool:
    """Whether the task's own stages, which make its rows and labels, have another version or settings."""
    return any(True for _ in of_stages(old, new, only=(new.task, f"{new.task}_all")))


def of_stages(old: ReleaseManifest, new: ReleaseManifest, only: tuple[str, ...] = ()) -> Iterator[str]:
    """Words on versions and settings of stages; `only` of those where named."""
    stages = [{stage["name"]: stage for stage in head.stages} for head in (old, new)]
    for name in sorted({*stages[0], *stages[1]}):
        one, other = stages[0].get(name), stages[1].get(name)
        if only and name not in only:
            continue
        if one is None or other is None:
            yield f"stage {name} is {'new' if one is None else 'gone'}"
        elif one["version"] != other["version"]:
            yield f"stage {name}: version {one['version']} → {other['version']}"
        else:
            yield from _settings(name, one["params"], other["params"])


def _settings(stage: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key):
            yield f"setting {stage}.{key}: {old.get(key)!r} → {new.get(key)!r}"
