"""How answers to one candidate become a verdict: named, versioned rules, and the log that replays to them.

A verdict states its rule and the annotations it rests on, so anyone can apply the rule to them again. Answers
of judges (models) take part in no rule.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from schemas.benchmark import LabelStatus
from schemas.errors import InputError
from schemas.hashing import canonical_json
from schemas.review import Kind, ReviewAnnotation, ReviewCandidate, Verdict, content_sha256

UNANIMOUS = "review/unanimous@1"
MAJORITY = "review/majority@1"
ADJACENT = "review/adjacent@1"
SINGLE = "review/single@1"
ADJUDICATED = "review/adjudicated@1"
RULES: dict[str, str] = {
    UNANIMOUS: "Every annotator gave this grade; to items that none of them could judge, no grade.",
    MAJORITY: "Of three or more annotators, more than half gave this grade, and no two are over 1 apart.",
    ADJACENT: "The annotators are one grade apart: the lower one counts, which all of them support.",
    SINGLE: "One annotator gave this grade, and the dataset's spec allows a single one.",
    ADJUDICATED: "The annotators disagreed, and a third person gave this grade after reading their reasons.",
}
"""rule -> how its grade comes about."""
STATUS: dict[str, LabelStatus] = {**dict.fromkeys(RULES, "expert"), ADJUDICATED: "adjudicated"}
ORDERED: frozenset[Kind] = frozenset(("relevance_image", "relevance_text"))
"""Kinds whose grades have an order; of other kinds two different answers are never near each other."""
Dispute = Literal["distant_grades", "cannot_judge", "gold_missed"]
WITHDRAWN: dict[str, str] = {
    "answers_in_conflict": "An answer was changed or deleted on the server after it had been fetched.",
    "answers_gone": "Answers were given up with pull --accept, or an item needs more of them than it has.",
}
"""Why a verdict ended without a dispute."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How many readers an item needs, and whether the answer of one reader may make a verdict."""

    per_item: int = 2
    single_reader: bool = False


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the answers to one candidate give: a rule with the annotations it rests on, a dispute, or neither.

    `dispute` is set where a third person is needed; both are empty while answers are missing.
    """

    rule: str = ""
    annotations: tuple[str, ...] = ()
    dispute: Dispute | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of log.jsonl. `concluded` makes or replaces a candidate's verdict, `withdrawn` ends it.

    A verdict ends only where its answers do: `reason` is the dispute that a new answer made, or what became
    of the answers (WITHDRAWN). `number` counts lines from 1; no line depends on when it was written.
    """

    number: int
    event: Literal["concluded", "withdrawn", "disputed"]
    candidate_id: str
    task: str = ""
    query_id: str = ""
    corpus_id: str = ""
    query_sha256: str = ""
    corpus_sha256: str = ""
    rule: str = ""
    reason: str = ""
    annotations: tuple[str, ...] = ()

    def line(self) -> str:
        """The entry as one line of JSON."""
        return canonical_json(asdict(self)) + "\n"


def binding(candidate: ReviewCandidate) -> tuple[str, str]:
    """Hashes of the query and of the document as they were shown, see schemas.review.content_sha256."""
    shown = {item.name: item.value for item in candidate.shown}
    return (
        content_sha256(shown.get("query_text", ""), shown.get("query_image", "")),
        content_sha256(shown.get("document_text", ""), shown.get("document_image", "")),
    )


def counted(annotations: Iterable[ReviewAnnotation]) -> dict[str, list[ReviewAnnotation]]:
    """Candidate -> the answers of people that count: each person's last current one in each role, by name."""
    latest: dict[tuple[str, str, str], ReviewAnnotation] = {}
    for row in annotations:
        if row.state != "current" or row.role == "judge":
            continue
        key: tuple[str, str, str] = (row.candidate_id, row.role, row.annotator)
        if key not in latest or (latest[key].sequence, latest[key].id) < (row.sequence, row.id):
            latest[key] = row
    found: dict[str, list[ReviewAnnotation]] = defaultdict(list)
    for name in sorted(latest):
        found[name[0]].append(latest[name])
    return dict(found)


def conclude(candidate: ReviewCandidate, rows: Sequence[ReviewAnnotation], terms: Terms) -> Conclusion:
    """What the counted answers to one candidate give, see `Conclusion`."""
    third = [row for row in rows if row.role == "adjudicator"]
    if third:
        last = max(third, key=lambda row: (row.sequence, row.id))
        return Conclusion(ADJUDICATED, (last.id,))
    readers = [row for row in rows if row.role == "annotator"]
    if not readers or len(readers) < terms.per_item:
        return Conclusion()
    ids = tuple(sorted(row.id for row in readers))
    gold = candidate.known_grade
    if gold is not None and any(row.grade != gold for row in readers):
        return Conclusion(dispute="gold_missed")
    grades = [row.grade for row in readers if row.grade is not None]
    if grades and len(grades) < len(readers):
        return Conclusion(dispute="cannot_judge")
    if len(readers) == 1:
        return Conclusion(SINGLE, ids) if terms.single_reader else Conclusion()
    return _of_grades(grades, ids, is_ordered=candidate.kind in ORDERED)


def _of_grades(grades: Sequence[int], ids: tuple[str, ...], *, is_ordered: bool) -> Conclusion:
    """What two or more readers' grades give; none when nobody could judge the item."""
    if len(set(grades)) < 2:
        return Conclusion(UNANIMOUS, ids)
    is_near = is_ordered and max(grades) - min(grades) <= 1
    has_majority = len(grades) > 2 and 2 * Counter(grades).most_common(1)[0][1] > len(grades)
    if has_majority and (is_near or not is_ordered):
        return Conclusion(MAJORITY, ids)
    return Conclusion(ADJACENT, ids) if is_near else Conclusion(dispute="distant_grades")


def grade_by(rule: str, grades: Sequence[int | None]) -> int | None:
    """The grade a rule gives to the grades it rests on.

    Raises:
        InputError: an unknown rule, or grades it cannot have been applied to.
    """
    given = [grade for grade in grades if grade is not None]
    if rule in (SINGLE, ADJUDICATED) and len(grades) == 1:
        return grades[0]
    if rule == UNANIMOUS and len(grades) > 1 and len(set(grades)) == 1:
        return grades[0]
    if rule in (MAJORITY, ADJACENT) and len(given) == len(grades) > 1:
        if rule == ADJACENT and max(given) - min(given) == 1:
            return min(given)
        grade, times = Counter(given).most_common(1)[0]
        if rule == MAJORITY and 2 * times > len(given) > 2:
            return grade
    raise InputError(f"rule {rule!r} cannot be applied to grades {list(grades)}")


def resolve(
    annotations: Iterable[ReviewAnnotation],
    candidates: Iterable[ReviewCandidate],
    log: Sequence[Entry],
    terms: Terms,
) -> tuple[list[Verdict], list[Entry]]:
    """The verdicts as of today's answers, and the log with what changed added; the same again adds nothing.

    Args:
        annotations: answers of any state; only current ones of people count.
        candidates: what was asked; answers to other candidates are left alone.
        log: the log so far.
        terms: how many readers an item needs.

    Raises:
        InputError: the log does not fit the annotations.
    """
    rows = list(annotations)
    answers = counted(rows)
    whole = list(log)
    before = _standing(log)
    told = {(item.candidate_id, item.reason) for item in log if item.event == "disputed"}
    torn = {row.candidate_id for row in rows if row.state == "conflict"}
    for candidate in sorted(candidates, key=lambda item: item.id):
        found = conclude(candidate, answers.get(candidate.id, ()), terms)
        stands = before.get(candidate.id)
        if found.dispute and (candidate.id, found.dispute) not in told:
            whole.append(
                Entry(len(whole) + 1, "disputed", candidate.id, candidate.task, reason=found.dispute)
            )
        if not found.rule:
            if stands is not None:
                why = found.dispute or ("answers_in_conflict" if candidate.id in torn else "answers_gone")
                whole.append(Entry(len(whole) + 1, "withdrawn", candidate.id, candidate.task, reason=why))
            continue
        made = _concluded(candidate, found)
        if stands is None or replace(stands, number=0) != made:
            whole.append(replace(made, number=len(whole) + 1))
    return replay(rows, whole), whole


def _concluded(candidate: ReviewCandidate, found: Conclusion) -> Entry:
    query, corpus = binding(candidate)
    return Entry(
        0,
        "concluded",
        candidate.id,
        candidate.task,
        candidate.query_id,
        candidate.corpus_id,
        query,
        corpus,
        found.rule,
        "",
        found.annotations,
    )


def _standing(log: Sequence[Entry]) -> dict[str, Entry]:
    """Candidate -> the entry its verdict rests on, as the log ends."""
    stands: dict[str, Entry] = {}
    for entry in log:
        if entry.event == "concluded":
            stands[entry.candidate_id] = entry
        elif entry.event == "withdrawn":
            stands.pop(entry.candidate_id, None)
    return stands


def replay(annotations: Iterable[ReviewAnnotation], log: Sequence[Entry]) -> list[Verdict]:
    """Every standing verdict of a log, its grade made anew from the annotations it names, by candidate.

    Raises:
        InputError: an annotation is missing, is of another candidate or of a judge, or does not fit the rule.
    """
    by_id: Mapping[str, ReviewAnnotation] = {row.id: row for row in annotations}
    made = []
    for candidate, entry in sorted(_standing(log).items()):
        rows = [by_id[name] for name in entry.annotations if name in by_id]
        wanted = "adjudicator" if entry.rule == ADJUDICATED else "annotator"
        if len(rows) != len(entry.annotations) or any(
            row.candidate_id != candidate or row.role != wanted for row in rows
        ):
            raise InputError(
                "the log names an annotation that is not there, or not one this rule may rest on",
                record=candidate,
            )
        made.append(
            Verdict(
                candidate_id=candidate,
                task=entry.task,
                query_id=entry.query_id,
                corpus_id=entry.corpus_id,
                query_sha256=entry.query_sha256,
                corpus_sha256=entry.corpus_sha256,
                grade=grade_by(entry.rule, [row.grade for row in rows]),
                label_status=STATUS[entry.rule],
                rule=entry.rule,
                annotations=entry.annotations,
            )
        )
    return made


def write_log(log: Iterable[Entry]) -> str:
    """The text of log.jsonl."""
    return "".join(entry.line() for entry in log)


def read_log(text: str, file: str = "") -> list[Entry]:
    """Entries of a log.jsonl.

    Raises:
        InputError: a line is damaged, or one is missing before it.
    """
    entries: list[Entry] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            body: dict[str, Any] = json.loads(line)
            entry = Entry(**{**body, "annotations": tuple(body["annotations"])})
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"line {number} of the log is damaged", file=file) from error
        if entry.number != number:
            raise InputError(f"line {number} of the log says it is number {entry.number}", file=file)
        entries.append(entry)
    return entries
