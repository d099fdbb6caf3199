"""What is sent of a review: the tasks of each person's queue, their layout, and the images they show."""

from __future__ import annotations

import base64
import html
import mimetypes
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from annotation.client import TITLE_CHARACTERS
from annotation.judge.filtering import judge_filter
from annotation.layouts import HIDDEN_COLUMNS, common_kind, data_sha256, layout, sources, task_data
from annotation.sync import WantedTask
from annotation.sync import data_sha256 as sent_sha256
from curation.tasks.registry import task_of
from flows.engine.workspace import write_atomic
from flows.review.adjudication import DISPUTED
from flows.review.judge import judge_annotations
from flows.review.notes import people_of
from flows.review.store import SOURCES, ReviewFolder
from flows.review.tasks import task_for
from schemas.errors import UsageError, WorkspaceError
from schemas.hashing import sha256_text
from schemas.review import Allotment, Kind, ReviewAnnotation, ReviewCandidate, Role

IMAGES = "images"
"""Folder below the server's media: Label Studio serves sub-folders of its document root only."""
READERS = "readers"


@dataclass(frozen=True, slots=True)
class Queue:
    """One person's project: what it shows and, in order, the tasks it holds."""

    annotator: str
    role: Role
    marker: str
    title: str
    description: str
    config: str
    instruction: str
    hidden_columns: tuple[str, ...]
    tasks: tuple[WantedTask, ...]


class MediaFolder:
    """Images by the hash of their source file, below the local server's document root."""

    def __init__(self, media: Path) -> None:
        self.path = media / IMAGES
        self._names: dict[str, str] | None = None

    def write(self, sha256: str, data: bytes, extension: str) -> None:
        """Keep one image; the same again is not written twice."""
        path = self.path / f"{sha256}.{extension.lower()}"
        if not path.is_file():
            write_atomic(path, data)
            self._names = None

    def served(self, sha256: str) -> str:
        """Address of an image on the local server."""
        return f"/data/local-files/?d={IMAGES}/{self._name(sha256)}"

    def embedded(self, sha256: str) -> str:
        """The image itself as a data address, for a server on another machine."""
        name = self._name(sha256)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        encoded = base64.b64encode((self.path / name).read_bytes()).decode("ascii")
        return f"data:{kind};base64,{encoded}"

    def _name(self, sha256: str) -> str:
        if self._names is None:
            listed = sorted(self.path.iterdir()) if self.path.is_dir() else []
            self._names = {path.stem: path.name for path in listed}
        try:
            return self._names[sha256]
        except KeyError as error:
            raise WorkspaceError(
                "an image of the review is missing",
                record=sha256,
                file=str(self.path),
                hint="medqrels review push RELEASE/TASK",
            ) from error


def queues(folder: ReviewFolder, image_url: Callable[[str], str], *, by_doubt: bool = False) -> list[Queue]:
    """The projects of a review, one per person and role, by pseudonym.

    Args:
        folder: the review.
        image_url: hex SHA-256 of an image -> the address it is served at, or a data URL.
        by_doubt: what the judges of the review are least sure of stands first in each reader's queue.

    Raises:
        UsageError: candidates of several layouts in one review.
        InputError: a candidate does not fit its layout.
        WorkspaceError: an image is missing.
    """
    candidates = {row.id: row for row in folder.candidates()}
    kinds = {row.kind for row in candidates.values()}
    kind = common_kind(kinds)
    if kinds and kind is None:
        raise UsageError(f"two layouts in one review: {', '.join(sorted(kinds))}", file=str(folder.path))
    by_person: dict[tuple[str, Role], list[Allotment]] = defaultdict(list)
    for row in sorted(folder.allotments(), key=lambda row: (row.place, row.candidate_id)):
        if row.candidate_id in candidates:
            by_person[row.annotator, row.role].append(row)
    said, named = folder.json(DISPUTED), sources(folder.json(SOURCES))
    judged = judge_annotations(folder) if by_doubt else []
    hashes: dict[str, str] = {}  # of what readers are shown: the same for each of them
    made = []
    for annotator, role in people_of(folder) if candidates else ():
        items = [candidates[row.candidate_id] for row in by_person[annotator, role]]
        if role == "adjudicator":
            tasks = [_disputed_task(item, image_url, kind, said) for item in items]
        else:
            ordered = doubtful_first(items, judged)
            tasks = [_reader_task(item, image_url, kind, hashes) for item in ordered]
        example = next(iter(candidates.values()))
        made.append(_queue(annotator, role, example, kind or example.kind, tuple(tasks), named))
    return made


def doubtful_first(
    items: Sequence[ReviewCandidate], judged: Sequence[ReviewAnnotation]
) -> list[ReviewCandidate]:
    """A queue with what judges are least sure of first; without judges, and within one doubt, as it was.

    Items with known grades keep their places: all through the queue, they show whether a reader tires.
    """
    if not judged or not items:
        return list(items)
    highest = task_of(items[0].task).grades[0].score
    rest = iter(judge_filter([item for item in items if item.origin != "gold"], judged, highest))
    return [item if item.origin == "gold" else next(rest) for item in items]


def _reader_task(
    item: ReviewCandidate, image_url: Callable[[str], str], kind: Kind | None, hashes: dict[str, str]
) -> WantedTask:
    make = partial(task_data, item, image_url, kind)
    if item.id not in hashes:
        hashes[item.id] = sent_sha256(make())
    return WantedTask(item.id, (item.query_id, item.corpus_id), hashes[item.id], make)


def _disputed_task(
    item: ReviewCandidate, image_url: Callable[[str], str], kind: Kind | None, said: Mapping[str, Any]
) -> WantedTask:
    def make() -> Mapping[str, object]:
        rationales = said.get(item.id, {}).get("rationales", ())
        return with_readers(task_data(item, image_url, kind), rationales)

    return WantedTask(item.id, (item.query_id, item.corpus_id), sent_sha256(make()), make)


def _queue(
    annotator: str,
    role: Role,
    example: ReviewCandidate,
    kind: Kind,
    tasks: tuple[WantedTask, ...],
    named: str,
) -> Queue:
    seen = layout(kind, task_for(kind, example.task))
    is_third = role == "adjudicator"
    return Queue(
        annotator=annotator,
        role=role,
        marker=marker(example.dataset, example.task, annotator, role),
        title=title(example.dataset, example.task, annotator, role),
        description=description(example.dataset, example.task, annotator, role),
        config=for_adjudicator(seen.config) if is_third else seen.config,
        instruction=seen.guidelines + named,
        hidden_columns=HIDDEN_COLUMNS[kind],
        tasks=tasks,
    )


def marker(dataset: str, task: str, annotator: str, role: Role) -> str:
    """The word in a project's description by which it is found again, whatever its title."""
    return f"medqrels:{sha256_text(f'{dataset}/{task}/{annotator}/{role}')[:16]}"


def title(dataset: str, task: str, annotator: str, role: Role) -> str:
    """A project's title: whose it is comes first, and the end is cut where Label Studio has no more room."""
    parts = [annotator, *(["adjudication"] if role == "adjudicator" else []), task, dataset]
    whole = " · ".join(parts)
    return whole if len(whole) <= TITLE_CHARACTERS else f"{whole[: TITLE_CHARACTERS - 1]}…"


def description(dataset: str, task: str, annotator: str, role: Role) -> str:
    """What people read below a project's title."""
    if role == "adjudicator":
        what = f"decides items of {task} ({dataset}) on which annotators disagree"
        return f"Only for {annotator}, who {what}: their answers are shown here. Nobody else's answer counts."
    return f"Only for {annotator}: items of {task} ({dataset}) to grade. Nobody else's answer counts here."


def for_adjudicator(config: str) -> str:
    """The layout with what the readers answered above the buttons."""
    root = ElementTree.fromstring(config)
    names = [child.get("className", "") for child in root]
    where = names.index("mq-answer") if "mq-answer" in names else len(names)
    block = ElementTree.Element("View", className="mq-readers")
    ElementTree.SubElement(block, "Header", value="What the annotators answered", size="5")
    ElementTree.SubElement(block, "HyperText", name=READERS, value=f"${READERS}", inline="true")
    root.insert(where, block)
    return ElementTree.tostring(root, encoding="unicode")


def with_readers(data: Mapping[str, object], rationales: Sequence[str]) -> dict[str, object]:
    """Task data with the readers' answers, escaped, under the hash of the whole."""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in rationales)
    made = {**data, READERS: f"<ul>{items}</ul>"}
    if "content_sha256" in made:
        made["content_sha256"] = data_sha256(made)
    return made
