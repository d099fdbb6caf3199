"""Reports of readers stand until a decision names the answers that made them."""

from __future__ import annotations

from annotation.reports import reported, standing
from schemas.review import Lifted, ReviewAnnotation, ReviewCandidate, Role, ShownItem


def candidate(name: str, **shown: str) -> ReviewCandidate:
    items = tuple(ShownItem(name=key, value=value) for key, value in shown.items())
    return ReviewCandidate(
        id=name,
        dataset="set",
        task="visual_context",
        kind="relevance_image",
        query_id="q",
        corpus_id="d",
        shown=items,
        origin="pool",
    )


def answer(
    name: str, candidate_id: str, reason: str, annotator: str = "A1", role: Role = "annotator"
) -> ReviewAnnotation:
    return ReviewAnnotation(
        id=name,
        candidate_id=candidate_id,
        task="visual_context",
        annotator=annotator,
        role=role,
        grade=None,
        reason=reason,
        state="withdrawn",
    )


ONE = candidate("cand:1", query_text="A film.", query_image="ab" * 32, document_title="T", document_text="")
TWO = candidate("cand:2", document_text="Passage.")


def test_reports_of_people_stand_whatever_became_of_the_answer() -> None:
    rows = [
        answer("ann:1", "cand:1", "privacy"),
        answer("ann:2", "cand:1", "offensive", annotator="A2"),
        answer("ann:3", "cand:2", "ambiguous"),
        answer("ann:4", "cand:2", "consent", role="judge"),
        answer("ann:5", "cand:gone", "privacy"),
    ]
    (report,) = standing([TWO, ONE], rows, [])
    assert report.candidate == ONE and report.reasons == ("privacy", "offensive")
    found = {(row.text, row.image): row.reasons for row in reported([report])}
    assert found == {("A film.", ""): "privacy, offensive", ("", "ab" * 32): "privacy, offensive"}
    lifted = Lifted(candidate_id="cand:1", annotations=("ann:1",), by="M", why="no name")
    (report,) = standing([TWO, ONE], rows, [lifted])
    assert report.reasons == ("offensive",)
