"""What readers reported: told at once, withheld from releases, lifted only by a recorded decision."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from annotation.reports import Report, reported, standing
from flows.engine.session import read_session, write_session
from flows.engine.workspace import Workspace
from flows.review.aside import reported_elsewhere
from flows.review.conflicts import task_link
from flows.review.notes import read_noted
from flows.review.server import address
from flows.review.store import FOLDER, ReviewFolder, review_folders
from schemas.errors import UsageError
from schemas.review import Lifted, Reported

LIFTED = "lifted.json"


def of_folder(folder: ReviewFolder) -> list[Report]:
    """Standing reports of one review, those given in another person's project among them."""
    taken = folder.annotations()
    known = {row.id for row in taken}
    elsewhere = [row for row in reported_elsewhere(folder) if row.id not in known]
    return standing(folder.candidates(), [*taken, *elsewhere], decisions(folder))


def decisions(folder: ReviewFolder) -> list[Lifted]:
    """Decisions that were recorded, in order."""
    rows = folder.json(LIFTED).get("lifted", ())
    return [Lifted(**{**row, "annotations": tuple(row["annotations"])}) for row in rows]


def reported_in(workspace: Workspace, dataset: str) -> tuple[Reported, ...]:
    """Texts and images of standing reports in every review of a dataset, each once."""
    if not any((workspace.root / FOLDER / dataset).glob("*/candidates.parquet")):
        return ()
    found = {
        (row.text, row.image): row
        for _, _, folder in review_folders(workspace, dataset)
        for row in reported(of_folder(folder))
    }
    return tuple(found[key] for key in sorted(found))


def reports(root: str | None, review: str) -> list[dict[str, Any]]:
    """Standing reports with where to look, and decisions made; asks no server.

    Raises:
        UsageError: no such review.
    """
    workspace = read_session(root).workspace
    return [
        {
            "review": f"{dataset}/{task}",
            "standing": [_told(workspace, folder, report) for report in of_folder(folder)],
            "lifted": [asdict(row) for row in decisions(folder)],
        }
        for dataset, task, folder in review_folders(workspace, review)
    ]


def _told(workspace: Workspace, folder: ReviewFolder, report: Report) -> dict[str, Any]:
    item = report.candidate
    server = address(workspace)
    links = []
    for row in report.annotations:
        noted = read_noted(folder, row.annotator, row.role)
        task = noted.tasks.get(item.id)
        if server and task:
            links.append(task_link(server, noted.project, task.task_id))
    return {
        "candidate_id": item.id,
        "query_id": item.query_id,
        "corpus_id": item.corpus_id,
        "reasons": list(report.reasons),
        "annotators": sorted({row.annotator for row in report.annotations}),
        "comments": [row.comment for row in report.annotations if row.comment],
        "links": links,
    }


def lift(root: str | None, candidate: str, by: str, why: str) -> Lifted:
    """Record that the reports of one item withhold nothing any more.

    Args:
        root: folder of the workspace.
        candidate: id of the item.
        by: who decides.
        why: the reason.

    Raises:
        UsageError: no report of the item stands, or it is not said who decides and why.
    """
    if not by.strip() or not why.strip():
        raise UsageError("a decision needs who made it and why", hint="--by NAME --why TEXT")
    with write_session(root) as session:
        for _, _, folder in review_folders(session.workspace):
            for report in of_folder(folder):
                if report.candidate.id != candidate:
                    continue
                names = tuple(row.id for row in report.annotations)
                made = Lifted(
                    candidate_id=candidate,
                    annotations=names,
                    by=" ".join(by.split()),
                    why=" ".join(why.split()),
                )
                rows = [asdict(row) for row in (*decisions(folder), made)]
                folder.write_json(LIFTED, {"lifted": rows})
                return made
    raise UsageError(
        "no report of this item stands", record=candidate, hint="medqrels review reports lists them"
    )
