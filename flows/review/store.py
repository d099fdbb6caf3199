"""The files of one task's review in the workspace, read and written whole; half-written files never show.

`<workspace>/review/<dataset>/<task>/`: candidates, held_back, allotments, annotations, verdicts (Parquet, the
records of schemas/review.py), frame.json (what the sample was drawn from), images.json (what was found in
images that were read), sources.json, log.jsonl (how verdicts came about), lifted.json and foreign.json
(decisions of maintainers), precision.json (what reviewed samples say of rules and pools), calibration
(Parquet and JSON: the pairs that measure a judge, and what they were drawn from).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from annotation.verdicts import Entry, read_log, write_log
from flows.engine.workspace import Workspace, write_atomic
from schemas.errors import UsageError, WorkspaceError
from schemas.record import column, from_table, record, to_table
from schemas.review import Allotment, CalibrationPair, ReviewAnnotation, ReviewCandidate, Verdict

T = TypeVar("T")
FOLDER = "review"
FRAME, IMAGES, LOG, PRECISION = "frame.json", "images.json", "log.jsonl", "precision.json"
CALIBRATION = "calibration.json"
"""What the calibration sample was drawn from; its pairs are calibration.parquet."""
SOURCES = "sources.json"
"""Article -> licences of what the review shows of it."""
ENDED = "ended"
"""In the frame: id -> why an item is given to nobody any more (annotation.candidates.ENDINGS)."""
BY_DOUBT = "by_doubt"
"""In the frame: a queue was sent with what the judge doubts first."""


@record
class HeldBack:
    """One thing found in a candidate that must not be pushed, and where."""

    candidate_id: str = column("candidate that is held back")
    query_id: str = column("query")
    corpus_id: str = column("document")
    field: str = column("field of the layout it stands in")
    kind: str = column("what was found, e.g. a record or insurance number")
    start: int = column("offset in the field's text, or in the text read from the image")
    end: int = column("offset after it")


@dataclass(frozen=True, slots=True)
class ReviewFolder:
    """The review of one task of one dataset."""

    path: Path

    def candidates(self) -> list[ReviewCandidate]:
        """What was drawn, by id."""
        return self._read("candidates", ReviewCandidate)

    def allotments(self) -> list[Allotment]:
        """Who reads what."""
        return self._read("allotments", Allotment)

    def annotations(self) -> list[ReviewAnnotation]:
        """Answers of people and judges, of any state."""
        return self._read("annotations", ReviewAnnotation)

    def verdicts(self) -> list[Verdict]:
        """What was concluded, by candidate."""
        return self._read("verdicts", Verdict)

    def calibration(self) -> list[CalibrationPair]:
        """Pairs drawn to measure a judge, by query and document."""
        return self._read("calibration", CalibrationPair)

    def write_calibration(self, rows: Iterable[CalibrationPair], told: Mapping[str, Any]) -> None:
        """Replace them, and what they were drawn from."""
        self._write("calibration", CalibrationPair, sorted(rows, key=lambda r: (r.query_id, r.corpus_id)))
        self.write_json(CALIBRATION, told)

    def write_candidates(self, rows: Iterable[ReviewCandidate]) -> None:
        """Replace the candidates."""
        self._write("candidates", ReviewCandidate, sorted(rows, key=lambda row: row.id))

    def write_held_back(self, rows: Iterable[HeldBack]) -> None:
        """Replace the table of candidates that are held back."""
        ordered = sorted(rows, key=lambda row: (row.candidate_id, row.field, row.start, row.kind))
        self._write("held_back", HeldBack, ordered)

    def write_allotments(self, rows: Iterable[Allotment]) -> None:
        """Replace the allotments."""
        ordered = sorted(rows, key=lambda row: (row.annotator, row.place, row.candidate_id, row.role))
        self._write("allotments", Allotment, ordered)

    def write_annotations(self, rows: Iterable[ReviewAnnotation]) -> None:
        """Replace the answers."""
        ordered = sorted(
            rows, key=lambda row: (row.candidate_id, row.role, row.annotator, row.sequence, row.id)
        )
        self._write("annotations", ReviewAnnotation, ordered)

    def write_verdicts(self, rows: Iterable[Verdict]) -> None:
        """Replace the verdicts."""
        self._write("verdicts", Verdict, sorted(rows, key=lambda row: row.candidate_id))

    def log(self) -> list[Entry]:
        """The log of verdicts so far."""
        path = self.path / LOG
        return read_log(path.read_text("utf-8"), str(path)) if path.is_file() else []

    def write_log(self, entries: Iterable[Entry]) -> None:
        """Replace the log; entries only ever come after those that were there."""
        write_atomic(self.path / LOG, write_log(entries).encode())

    def json(self, name: str) -> dict[str, Any]:
        """The content of a JSON file of this folder, empty when it is not there.

        Raises:
            WorkspaceError: the file is damaged.
        """
        path = self.path / name
        try:
            content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise WorkspaceError("a file of the review is damaged", file=str(path)) from error
        return content

    def write_json(self, name: str, content: Any) -> None:
        """Replace a JSON file of this folder."""
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
        write_atomic(self.path / name, (text + "\n").encode())

    def _read(self, name: str, row: type[T]) -> list[T]:
        path = self.path / f"{name}.parquet"
        return from_table(row, pq.read_table(path)) if path.is_file() else []

    def _write(self, name: str, row: type[T], rows: Sequence[T]) -> None:
        write_atomic(self.path / f"{name}.parquet", parquet_bytes(row, rows))


def parquet_bytes(row: type[T], rows: Sequence[T]) -> bytes:
    """Records as the bytes of a Parquet file that depend on the rows alone."""
    sink = pa.BufferOutputStream()
    pq.write_table(to_table(row, rows), sink, compression="zstd", row_group_size=20_000)
    return bytes(sink.getvalue())


def review_folder(workspace: Workspace, dataset: str, task: str) -> ReviewFolder:
    """The folder of one task's review, whether it is there or not."""
    return ReviewFolder(workspace.root / FOLDER / dataset / task)


def has_review(workspace: Workspace, dataset: str) -> bool:
    """Whether candidates of a dataset were ever drawn."""
    return any((workspace.root / FOLDER / dataset).glob("*/candidates.parquet"))


def review_folders(workspace: Workspace, name: str = "") -> Iterator[tuple[str, str, ReviewFolder]]:
    """(dataset, task, folder) of reviews with candidates: all, a DATASET's, or that of one DATASET/TASK.

    Raises:
        UsageError: there is none of that name.
    """
    dataset, _, task = name.partition("/")
    found = [
        (path.parent.parent.name, path.parent.name, ReviewFolder(path.parent))
        for path in sorted((workspace.root / FOLDER).glob("*/*/candidates.parquet"))
        if dataset in ("", path.parent.parent.name) and task in ("", path.parent.name)
    ]
    if not found:
        raise UsageError(
            f"no review of {name!r}" if name else "nothing is under review",
            file=str(workspace.root / FOLDER),
            hint="medqrels review push RELEASE/TASK",
        )
    yield from found
