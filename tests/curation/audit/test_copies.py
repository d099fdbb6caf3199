"""A new positive whose document repeats the query is refused, excluded and told; an old one is left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.audit.copies import copies
from curation.release.reviewed import Copied, JudgedAnswer, RuleUnderFloor, reviewed_stage
from flows.engine.database import run_set_stage
from flows.engine.manifest import DROPPED, write_parquet
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.record import to_table
from schemas.review import ReviewCandidate, ShownItem, Verdict, content_sha256

TASK = "visual_context"
RUN = "axial contrast enhanced CT of the chest shows a filling defect in the right pulmonary artery"
QUERIES = {
    "q1": f"{RUN}.",
    "q2": "Nodule beside left kidney, T2 weighted.",
    "q3": "Photograph of the hand with a rash over both palms and the wrist.",
}
DOCUMENTS = {
    "same": f"In our patient {RUN.upper()}, and heparin was given.",
    "whole": "We saw a nodule beside left kidney, T2 weighted, and cysts.",
    "other": "The filling defect was in the artery; the chest CT had been contrast enhanced and axial.",
}
GRADES = {("q1", "same"): 2, ("q1", "other"): 1, ("q2", "whole"): 1, ("q3", "same"): 2, ("q2", "same"): 0}


def candidate(query: str, document: str) -> ReviewCandidate:
    shown = (
        ShownItem(name="query_text", value=QUERIES[query]),
        ShownItem(name="document_text", value=DOCUMENTS[document]),
    )
    return ReviewCandidate(
        id=f"cand:{query}{document}",
        dataset="d",
        task=TASK,
        kind="relevance_text",
        query_id=query,
        corpus_id=document,
        shown=shown,
        origin="pool",
    )


def test_copies_are_what_the_audit_calls_self_matches() -> None:
    items = [candidate(*pair) for pair in GRADES]
    found = {row.candidate_id: row.detail for row in copies(items)}
    assert found == {
        "cand:q1same": "query and document share 16 consecutive words",
        "cand:q2whole": "query and document share 6 consecutive words",
    }
    image = ShownItem(name="query_image", value="ab" * 32), ShownItem(name="document_image", value="ab" * 32)
    pictured = replace(candidate("q3", "other"), shown=image)
    assert [row.detail for row in copies([pictured])] == ["query and document show the same image"]
    assert copies([]) == []


def verdict(pair: tuple[str, str], grade: int) -> Verdict:
    query, document = pair
    return Verdict(
        candidate_id=f"cand:{query}{document}",
        task=TASK,
        query_id=query,
        corpus_id=document,
        query_sha256=content_sha256(QUERIES[query]),
        corpus_sha256=content_sha256(DOCUMENTS[document]),
        grade=grade,
        label_status="expert",
        rule="review/unanimous@1",
        annotations=("ann:1", "ann:2"),
    )


def made(record: type, **values: Any) -> Any:
    fixed = {
        "task": TASK,
        "language": "en",
        "license": "CC-BY-4.0",
        "license_evidence": "",
        "text_sha256": "",
    }
    names = record.__dataclass_fields__  # type: ignore[attr-defined]
    return record(**{name: value for name, value in {**fixed, **values}.items() if name in names})


def applied(folder: Path, structural: list[tuple[str, str]]) -> dict[str, list[dict[str, Any]]]:
    """Outputs of the stage over the verdicts of GRADES, with some labels that a rule gave before."""
    tables: dict[str, tuple[type, list[Any]]] = {
        "given_queries": (
            Query,
            [
                made(Query, id=name, text=text, source_id=name, article_id="a")
                for name, text in QUERIES.items()
            ],
        ),
        "documents": (
            Document,
            [made(Document, id=n, text=text, title="", article_id="b") for n, text in DOCUMENTS.items()],
        ),
        "given_qrels": (
            Qrel,
            [
                made(Qrel, query_id=q, corpus_id=c, score=2, rule="r@1", label_status="structural")
                for q, c in structural
            ],
        ),
        "given_excluded": (Excluded, []),
        "verdicts": (Verdict, [verdict(pair, grade) for pair, grade in GRADES.items()]),
        "answers": (JudgedAnswer, []),
        "under_floor": (RuleUnderFloor, []),
        "copies": (Copied, copies([candidate(*pair) for pair in GRADES])),
    }
    files = {}
    for name, (record, rows) in tables.items():
        files[name] = [folder / f"in-{name}.parquet"]
        write_parquet(files[name][0], to_table(record, rows))
    stage = reviewed_stage(TASK)
    written, _, _ = run_set_stage(stage, files, folder, "1GB")
    return {name: pq.read_table(folder / output.file).to_pylist() for name, output in written.items()}


def test_a_new_positive_that_repeats_its_query_is_excluded_and_told(tmp_path: Path) -> None:
    out = applied(tmp_path, [])
    labels = {(row["query_id"], row["corpus_id"]): row["score"] for row in out["qrels"]}
    assert labels == {("q1", "other"): 1, ("q3", "same"): 2, ("q2", "same"): 0}
    excluded = {(row["query_id"], row["corpus_id"]): row["reason"] for row in out["excluded"]}
    assert excluded == {("q1", "same"): "self_match", ("q2", "whole"): "self_match"}
    told = {row["id"]: (row["unit"], row["reason"], row["detail"]) for row in out[DROPPED]}
    assert told == {
        "cand:q1same": ("verdict", "self_match", "query and document share 16 consecutive words"),
        "cand:q2whole": ("verdict", "self_match", "query and document share 6 consecutive words"),
        "q2": ("query", "no_positive_left", "no document has a grade above 0 after review"),
    }


def test_a_pair_that_the_task_labelled_itself_is_not_refused(tmp_path: Path) -> None:
    out = applied(tmp_path, [("q1", "same")])
    labels = {(row["query_id"], row["corpus_id"]): row["label_status"] for row in out["qrels"]}
    assert labels["q1", "same"] == "expert" and not any(row["corpus_id"] == "same" for row in out["excluded"])
