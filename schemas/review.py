"""What people and judges are asked, what they answered, and what was concluded from it.

A candidate is one thing to judge; its id hashes what is shown, so an answer can never pass to other content.
Annotators appear by pseudonym everywhere; who they are stays in the workspace.
"""

from __future__ import annotations

from typing import Literal

from schemas.benchmark import LabelStatus
from schemas.hashing import canonical_json, sha256_text
from schemas.record import column, record

Kind = Literal[
    "relevance_image",
    "relevance_text",
    "confusion",
    "translation",
    "figure_caption",
    "case_boundary",
    "answer_key",
]
"""Layout families: what is asked of a candidate."""
Origin = Literal["positive", "pool", "random", "gold", "calibration", "doubted"]
"""Why a candidate was drawn: labelled by a rule, found by a system, drawn by chance, known in advance, to
measure how far a judge agrees with people, or because a stage doubts the record itself."""
Role = Literal["annotator", "adjudicator", "judge"]
AnnotationState = Literal["current", "superseded", "withdrawn", "conflict"]
REPORTS: dict[str, str] = {
    "privacy": "The item names or shows a person: a name, a birth date, a record number, a face.",
    "wrong_patient": "Text or image is of another patient than the article says.",
    "consent": "The item should not be shown without consent, and there may be none.",
    "offensive": "The item degrades or insults people.",
}
"""Reasons that are reports: what the item shows is withheld from releases until a maintainer lifts them."""
CANNOT_JUDGE: dict[str, str] = {
    "image_unreadable": "The image is too small, cut off or of too poor quality.",
    "text_incomplete": "The text is cut off or makes no sense without what is missing.",
    "outside_field": "The question needs a specialty I do not have.",
    "ambiguous": "The question can be read in several ways, with different answers.",
    "other": "Another reason, told in the comment.",
    **REPORTS,
}
"""Reasons for which an item may be left without a grade."""


@record
class ShownItem:
    """One thing a layout shows, in the layout's order."""

    name: str = column("field of the layout, e.g. query_text")
    value: str = column("text as it is, or the hex SHA-256 of an image")


@record
class ReviewCandidate:
    """One item to be judged; every layout shows exactly `shown`, never what comes after it."""

    id: str = column("cand: and 16 hex digits of the hash of kind, pair and everything shown")
    dataset: str = column("dataset name")
    task: str = column("task name")
    kind: Kind = column("layout family")
    query_id: str = column("query, or the record in question")
    corpus_id: str = column("document, '' when there is none")
    shown: tuple[ShownItem, ...] = column("what people see")
    is_sensitive: bool = column("an image is blurred until clicked", default=False)
    origin: Origin = column("why it was drawn; hidden")
    rule: str = column("rule that labelled it, '' when none; hidden", default="")
    rule_grade: int | None = column("grade the rule gave; hidden", default=None)
    rank: int = column("best rank any system gave it, 0 when none did; hidden", default=0)
    systems: tuple[str, ...] = column("systems that found it; hidden", default=())
    known_grade: int | None = column("grade of a gold item; hidden", default=None)
    specialty: str = column("main specialty, '' when undecided", default="")
    language: str = column("BCP-47 language of the query", default="en")
    tier: str = column("difficulty tier, '' in tasks without tiers", default="")


@record
class ReviewItem:
    """One record that a task asks people about before it goes on; the candidate of its review shows it."""

    id: str = column("id of the candidate: what is asked and shown, hashed")
    unit: str = column("the record")
    article_id: str = column("article, or collection of questions")
    language: str = column("BCP-47")
    license: str = column("SPDX id")
    shown: tuple[ShownItem, ...] = column("what people see")
    why: str = column("why it is asked about, one line; hidden")


@record
class Allotment:
    """One candidate given to one person."""

    candidate_id: str = column("candidate")
    task: str = column("task name")
    annotator: str = column("pseudonym")
    role: Role = column("annotator, or adjudicator of a disagreement")
    place: int = column("1-based place in this person's queue")


@record
class CalibrationPair:
    """One pair drawn to measure a judge beside people; drawn / population is the chance it had."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    stratum: str = column("cell of the judge's scores, unstable, not_judged, or unjudged")
    population: int = column("pairs of the stratum that could be drawn")
    drawn: int = column("pairs drawn of them")
    judge: int | None = column("what the judge concluded, null for nothing", default=None)
    specialty: str = column("main specialty of the query, '' when undecided", default="")
    language: str = column("BCP-47 language of the query", default="en")
    tier: str = column("difficulty tier or scenario of the query, '' in tasks without", default="")


@record
class ReviewAnnotation:
    """One answer of one person or judge, as the server or the model gave it."""

    id: str = column("ann: and 16 hex digits of the hash of candidate, annotator, role and answer")
    candidate_id: str = column("candidate")
    task: str = column("task name")
    annotator: str = column("pseudonym, or the judge's name")
    role: Role = column("annotator, adjudicator or judge")
    grade: int | None = column("grade, null when it could not be judged")
    reason: str = column(
        "why it could not be judged: CANNOT_JUDGE, or a code of the judge (docs/review.md); else ''",
        default="",
    )
    comment: str = column("free comment", default="")
    seconds: float = column("time spent as the server measured it, rounded to 0.1; 0 when unknown", default=0)
    state: AnnotationState = column("whether it still counts", default="current")
    sequence: int = column("order in which answers of one annotator came, from 1", default=0)


@record
class Verdict:
    """What was concluded of one candidate, and from what; replaying its annotations gives the same."""

    candidate_id: str = column("candidate")
    task: str = column("task name")
    query_id: str = column("query")
    corpus_id: str = column("document")
    query_sha256: str = column("hash of the query as judged, see content_sha256")
    corpus_sha256: str = column("hash of the document as judged")
    grade: int | None = column("final grade, null when nobody could judge it")
    label_status: LabelStatus = column("judge, expert or adjudicated")
    rule: str = column("named, versioned rule, e.g. review/unanimous@1")
    annotations: tuple[str, ...] = column("ids of the annotations it rests on")


def source_images(shown: str) -> tuple[str, ...]:
    """Hex SHA-256 of the file that each shown image is of; a panel is called `HASH-LEFT-TOP-RIGHT-BOTTOM`.

    Args:
        shown: value of a field that shows images: their names in the order of the article, a space between.
    """
    return tuple(name.partition("-")[0] for name in shown.split())


def content_sha256(text: str, image: str = "") -> str:
    """Hash of a published row's text and source image, hex SHA-256: what a verdict is bound to.

    A panel's box is part of its query's id, so its figure's image is enough here; so is the first of several,
    which is the image of the row.
    """
    return sha256_text(f"{text}\x00{''.join(source_images(image)[:1])}")


def candidate_id(kind: str, task: str, query_id: str, corpus_id: str, shown: tuple[ShownItem, ...]) -> str:
    """Id of a candidate: the same question about the same content has the same id in every release."""
    content = [kind, task, query_id, corpus_id, [[item.name, item.value] for item in shown]]
    return f"cand:{sha256_text(canonical_json(content))[:16]}"


def annotation_id(candidate: str, annotator: str, role: str, grade: int | None, reason: str) -> str:
    """Id of an answer: the same answer of the same person to the same candidate is one annotation."""
    return f"ann:{sha256_text(canonical_json([candidate, annotator, role, grade, reason]))[:16]}"


def foreign_id(
    project_of: str, role: str, candidate: str, given_by: str, grade: int | None, reason: str
) -> str:
    """Id of an answer that somebody gave in another person's project; another answer has another one."""
    told = [project_of, role, candidate, given_by, grade, reason]
    return f"foreign:{sha256_text(canonical_json(told))[:16]}"


@record
class Lifted:
    """A maintainer's decision that reports of readers withhold nothing any more."""

    candidate_id: str = column("candidate")
    annotations: tuple[str, ...] = column("answers that reported it; a later report stands again")
    by: str = column("who decided")
    why: str = column("the reason, one line")


@record
class Reported:
    """One text or image that readers reported, as releases look for it."""

    text: str = column("the text as it was shown, '' for an image")
    image: str = column("hex SHA-256 of the image, '' for a text")
    reasons: str = column("reasons of REPORTS, comma-separated")
