"""Looks for what could name a patient in everything a review would show, before it is pushed.

Texts are searched with the patterns of `curation.privacy`; text burned into images is read where the extra
`ocr` is installed. What is found holds the candidate back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from PIL import Image

from annotation.layouts.fields import IMAGES, TEXTS
from curation.images.ocr import read_text
from curation.privacy import SHOWN_TO_NOBODY, Hit, hits
from curation.privacy.images import read_hits
from flows.review.release_texts import Published
from flows.review.store import HeldBack
from schemas.errors import UsageError
from schemas.ids import article_of, family_key
from schemas.review import Reported, ReviewCandidate, source_images
from schemas.withdrawal import Withdrawn


@dataclass(slots=True)
class Scan:
    """What was found.

    `images` are the finds in every image that was read, by the hash of its source file; `images_read` says
    how many images were read, or why none was.
    """

    images: dict[str, Sequence[Hit]] = field(default_factory=dict)
    findings: list[HeldBack] = field(default_factory=list)
    images_read: str = "no image is shown"

    @property
    def held(self) -> set[str]:
        """Ids of the candidates that are held back."""
        return {row.candidate_id for row in self.findings}

    def kinds(self) -> dict[str, int]:
        """How many candidates are held back for each kind."""
        found = {(row.candidate_id, row.kind) for row in self.findings}
        return dict(sorted(Counter(kind for _, kind in found).items()))


def scan(
    candidates: Sequence[ReviewCandidate],
    task: Published | None,
    read: Mapping[str, Sequence[Hit]],
    *,
    with_images: bool = True,
) -> Scan:
    """Everything in some candidates that could name a patient.

    Args:
        candidates: what is to be pushed.
        task: the release their images are in; None for items without any.
        read: what was found in images before, by the hash of the source file; those are not read again.
        with_images: whether to read the images; without the extra `ocr` they are not, and it is said.
    """
    done = Scan(dict(read))
    known: dict[str, list[Hit]] = {}
    held = (item.value for row in candidates for item in row.shown if item.name in IMAGES)
    pictures = {name for names in held for name in names.split()}
    if pictures and task is not None:
        done.images_read = _read(task, pictures, done.images) if with_images else "not run: not asked for"
    for row in candidates:
        for item in row.shown:
            if item.name in IMAGES:
                found = [hit for name in item.value.split() for hit in done.images.get(name, ())]
            elif item.name in TEXTS:
                if item.value not in known:  # a query's text is shown with many documents
                    known[item.value] = list(hits(item.value, SHOWN_TO_NOBODY))
                found = known[item.value]
            else:
                continue
            done.findings += [_held(row, item.name, *hit) for hit in found]
    return done


def hold_reported(candidates: Iterable[ReviewCandidate], reported: Iterable[Reported]) -> list[HeldBack]:
    """Candidates that show what readers reported: nobody else is shown it."""
    hidden = {row.text or row.image for row in reported}
    return [
        _held(row, item.name, "reported by an annotator", 0, 0)
        for row in candidates
        for item in row.shown
        if item.name in (*TEXTS, *IMAGES)
        and hidden.intersection(source_images(item.value) if item.name in IMAGES else (item.value,))
    ]


def hold_withdrawn(candidates: Iterable[ReviewCandidate], register: Iterable[Withdrawn]) -> list[HeldBack]:
    """Candidates of, or with an image of, what was withdrawn: no release that is pushed shows it."""
    gone = {family_key(row.id) if row.unit == "article" else row.id for row in register}
    found = []
    for row in candidates:
        ids = [row.query_id, row.corpus_id, family_key(article_of(row.corpus_id))]
        ids += [name for item in row.shown if item.name in IMAGES for name in source_images(item.value)]
        if gone.intersection(ids):
            found.append(_held(row, "document_text", "withdrawn", 0, 0))
    return found


def _held(row: ReviewCandidate, name: str, kind: str, start: int, end: int) -> HeldBack:
    return HeldBack(
        candidate_id=row.id,
        query_id=row.query_id,
        corpus_id=row.corpus_id,
        field=name,
        kind=kind,
        start=start,
        end=end,
    )


def _read(task: Published, wanted: Collection[str], known: dict[str, Sequence[Hit]]) -> str:
    """Read the images that were not read before, and say how many were read in all."""
    try:
        read_text(Image.new("L", (64, 64)))
    except UsageError as error:
        return f"not run: {error.message} ({error.hint})"
    for sha256, data, _ in task.images(set(wanted) - set(known)):
        found = read_hits(data)
        if found is not None:
            known[sha256] = found
    return f"{len(set(wanted) & set(known))} of {len(set(wanted))} images were read"
