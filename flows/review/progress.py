"""How far a review is, and the command that comes next: told by every verb alike."""

from __future__ import annotations

from typing import Any

from annotation.verdicts import Terms
from curation.tasks.registry import REVIEW_STAGES
from flows.review.calibration import judge_of
from flows.review.notes import people_of, read_noted
from flows.review.store import ENDED, FRAME, ReviewFolder
from flows.review.verdicts import settle
from flows.specs import DATA_CARDS
from schemas.wording import counted


def standing_of(folder: ReviewFolder, terms: Terms) -> dict[str, Any]:
    """A review in numbers, and its next command: what was drawn, what is given to nobody any more, verdicts.

    Args:
        folder: the review.
        terms: when an item has its verdict.
    """
    candidates = folder.candidates()
    return {
        "drawn": len(candidates),
        "gold": sum(item.origin == "gold" for item in candidates),
        "ended": len(folder.json(FRAME).get(ENDED, {})),
        "verdicts": len(folder.verdicts()),
        "judge": judge_of(folder),
        "next": next_step(folder, terms),
    }


def next_step(folder: ReviewFolder, terms: Terms) -> str:
    """The command that brings a review on, and what it is for."""
    dataset, task = folder.path.parent.name, folder.path.name
    name = f"{dataset}/{task}"
    rows = folder.annotations()
    wanted = {(row.candidate_id, row.annotator, row.role) for row in folder.allotments()}
    done = {(row.candidate_id, row.annotator, row.role) for row in rows if row.state == "current"}
    in_conflict = {row.candidate_id for row in rows if row.state == "conflict"}
    sent: set[tuple[str, str, str]] = set()
    deleted: set[tuple[str, str, str]] = set()
    for person in people_of(folder):
        noted = read_noted(folder, *person)
        sent |= {(item, *person) for item in noted.tasks}
        deleted |= {(item["candidate_id"], *person) for item in noted.conflicts if item["kind"] == "deleted"}
    if unsent := wanted - sent - done:
        return f"medqrels review push {name} sends {counted(len(unsent), 'task')}"
    if in_conflict:
        what = counted(len(in_conflict), "conflict")
        return f"medqrels review pull {name} --accept ends {what} by the server's last answer; look first"
    still = wanted - done
    if still and still <= deleted:
        what = counted(len(still), "task")
        return f"medqrels review push {name} --restore sends {what} again that somebody deleted on the server"
    to_come = {role: sum(row[2] == role for row in still) for role in ("annotator", "adjudicator")}
    made = settle(folder, terms, dry_run=True)
    new = {item.candidate_id for item in made.disputed}
    new -= {candidate for candidate, _, role in wanted if role == "adjudicator"}
    parts = [f"gives {counted(len(new), 'item')} to an adjudicator"] if new else []
    parts += ["writes the verdicts"] if made.added else []
    concludes = f"medqrels review adjudicate {name} {' and '.join(parts)}" if parts else ""
    if to_come["annotator"]:
        later = f"medqrels review pull {name} later: {_to_come(to_come['annotator'])}"
        return f"{later}; meanwhile {concludes}" if concludes else later
    if concludes:
        return concludes
    if to_come["adjudicator"]:
        return f"medqrels review pull {name} later: {_to_come(to_come['adjudicator'])} from adjudicators"
    if not made.verdicts:
        return f"medqrels review push {name} --sample N draws items: there is nothing to conclude yet"
    spec = dataset if (DATA_CARDS / dataset / "spec.toml").is_file() else "PATH/TO/spec.toml"
    if task in REVIEW_STAGES:
        what = counted(len(made.verdicts), "verdict")
        return (
            f"medqrels answer --spec {spec} takes {what} and asks about what they let through; then "
            "medqrels build and medqrels release"
        )
    return (
        f"medqrels release {spec} makes a release with {counted(len(made.verdicts), 'verdict')}; "
        "its version follows from what changed since the newest one"
    )


def _to_come(count: int) -> str:
    return f"{counted(count, 'answer')} {'is' if count == 1 else 'are'} still to come"
