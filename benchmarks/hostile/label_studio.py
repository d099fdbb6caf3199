"""Damaged task listings of a Label Studio server: rows that can be written, set aside, or a page refused."""

from __future__ import annotations

import json
from collections.abc import Iterator

from annotation.client.transport import _NO_REPLY
from annotation.layouts.answers import answer
from annotation.sync.answers import Reader, TaskAnswers, merge, task_answers
from annotation.sync.tasks import META, data_sha256
from benchmarks.hostile.structure import JSON
from benchmarks.hostile.structure import mutants as structured
from schemas.record import to_table
from schemas.review import ReviewAnnotation

_DATA = {"query_text": "Which rash?", "document_text": "A rash on day three.", "guidelines": "<p>x</p>"}


def _annotation(number: int, account: int, *fields: tuple[str, str, object]) -> dict[str, object]:
    kinds = {"choices": "choices", "textarea": "text"}
    result = [
        {"from_name": name, "to_name": "x", "type": kind, "value": {kinds[kind]: value}}
        for name, kind, value in fields
    ]
    return {
        "id": number, "completed_by": account, "result": result, "was_cancelled": False, "lead_time": 12.34,
        "created_at": "2026-01-02T03:04:05Z", "updated_at": f"2026-01-02T03:04:{number:02d}Z",
    }  # fmt: skip


def _listing() -> bytes:
    rows = []
    for number in range(1, 4):
        meta = {META: {"candidate_id": f"cand:{number:016x}", "sha256": data_sha256(_DATA)}}
        given = [_annotation(number, 7, ("grade", "choices", ["1"]), ("comment", "textarea", ["seen"]))]
        if number == 2:
            given.append(
                _annotation(12, 8, ("grade", "choices", ["cannot_judge"]), ("reason", "choices", ["other"]))
            )
        rows.append(
            {"id": number, "data": _DATA, "meta": meta, "annotations": given, "overlap": 1,
             "is_labeled": True, "total_annotations": len(given), "cancelled_annotations": 0}
        )  # fmt: skip
    return json.dumps({"tasks": rows, "total": 3}).encode()


def mutants(count: int, seed: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (name of the damage, index of the file, damaged bytes), every kind equally often."""
    return structured([_listing()], count, seed, JSON)


def outcome(data: bytes) -> str:
    """`read` when the page was taken, else `quarantined`; what is taken twice changes nothing."""
    reader = Reader("A1", "annotator", "visual_context", 7, {7: "A1", 8: "A2"})
    try:
        listed = json.loads(data)["tasks"]
        found: list[TaskAnswers] = [task_answers(row) for row in listed]
    except _NO_REPLY:
        return "quarantined: not_a_listing"
    pulled = merge([], found, reader, lambda _, result: answer(result, (0, 1, 2)))
    to_table(ReviewAnnotation, list(pulled.rows))
    json.dumps([row.detail for row in pulled.quarantined], allow_nan=False)
    json.dumps([row.seconds for row in pulled.rows], allow_nan=False)
    again = merge(pulled.rows, found, reader, lambda _, result: answer(result, (0, 1, 2)))
    if again.rows != pulled.rows:
        raise AssertionError("the same listing twice gives other rows")
    return "read"
