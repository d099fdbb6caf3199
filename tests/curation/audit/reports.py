"""Reports made by hand, one for each kind of page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.tasks.registry import level
from schemas.audit import (
    AuditInput,
    AuditReport,
    CanaryResult,
    Coverage,
    Finding,
    Kind,
    OverlapCell,
    Role,
    RuleResult,
    Severity,
    Side,
)
from schemas.hashing import sha256_text
from schemas.overlap_policy import DIMENSIONS
from tests.curation.audit.pages import HASH, HOSTILE, OVERRIDE, QUERY, RELEASE, SHARED, TASK, rows_of

TEN = (
    "visual_context",
    "image_search",
    "summary",
    "case_study",
    "reference_qa",
    "clinical_evidence",
    "clinical_case",
    "crosslingual_qa",
    "concept_discrimination",
    "multilingual_evidence",
)

RULE_IDS = (
    ("release_hash", "Files are those of the release", "files", "Every published file's hash is as stated."),
    ("schema", "Columns and types", "columns", "Each table has its documented columns in every shard."),
    ("duplicate_ids", "Ids are unique", "rows", "No id occurs twice in one table."),
    ("dangling_ids", "Every id resolves", "pairs", "Each id of a pair is in queries or corpus."),
    ("empty_documents", "No empty texts", "rows", "A text has at least 3 words of 2 letters."),
    ("duplicate_documents", "No duplicate documents", "rows", "No two normalised texts are equal."),
    ("copied_span", "No copied spans", "pairs", "No unjudged pair shares 13 words in a row."),
    ("self_match", "No query copies its answer", "pairs", "No judged pair shares 13 words in a row."),
    ("answer_leak", "The answer is hidden", "queries", "No name of the hidden diagnosis is in the query."),
    ("overlap_target_concept", "Target concepts are disjoint", "keys", "None is in two tasks or splits."),
    ("overlap_query", "Queries are disjoint", "keys", "No normalised query is in two tasks or splits."),
    ("overlap_article", "Source articles are disjoint", "keys", "No article is in two tasks or splits."),
    ("overlap_patient", "Patients are disjoint", "keys", "No patient is in two tasks or splits."),
    ("overlap_image_family", "Image families are disjoint", "keys", "No image is in two tasks or splits."),
    ("licences", "Licences combine", "rows", "Each licence is allowed and combines with the others."),
    ("images", "Images are whole", "images", "Each image decodes and has the recorded hash."),
    ("image_duplicates", "No duplicate images", "images", "Two rows with one image share their labels."),
    ("phi", "No patient identifiers", "rows", "No text has a date of birth or record number."),
    ("synthetic", "Synthetic rows are declared", "rows", "A row made from synthetic input is marked."),
    ("statistics", "No outliers", "rows", "No text is longer than 50 times the median."),
    ("contaminated_queries", "Not in other benchmarks", "pairs", "No query shares 13 words with another."),
    ("crosslingual", "Translations are faithful", "queries", "A translation keeps its original's numbers."),
)


def side(
    table: str,
    row: str,
    start: int | None = None,
    end: int | None = None,
    quote: str = "",
    *,
    dataset: str = "",
) -> Side:
    return Side(table=table, id=row, start=start, end=end, quote=quote, dataset=dataset)


def finding(rule: str, severity: Severity, message: str, *sides: Side) -> Finding:
    return Finding(rule=rule, severity=severity, message=message, sides=sides)


def coverage(compared_with: str, compared: int, unit: str, skipped: int = 0, why: str = "") -> Coverage:
    return Coverage(compared_with=compared_with, compared=compared, unit=unit, skipped=skipped, why=why)


def source(name: str, role: Role, kind: Kind, sha256: str, rows: tuple[str, ...]) -> AuditInput:
    return AuditInput(name=name, role=role, kind=kind, sha256=sha256, rows=rows)


def result(number: int, **changes: Any) -> RuleResult:
    """A passed rule of the list."""
    rule, title, unit, definition = RULE_IDS[number]
    plain = RuleResult(
        rule=rule,
        version=1,
        title=title,
        definition=definition,
        severity="error",
        status="passed",
        compared=1200 + 37 * number,
        unit=unit,
        found=0,
    )
    return dataclasses.replace(plain, **changes)


def cells(shared: Mapping[tuple[str, str, str], int | None] | None = None) -> tuple[OverlapCell, ...]:
    """This task's splits against each other and nine sibling tasks; `shared` overrides zeros."""
    given = shared or {}
    pairs = [(f"{TASK}/test", f"{TASK}/dev")]
    pairs += [
        (f"{TASK}/{split}", f"{task}/{other}")
        for task in TEN
        if task != TASK
        for other in ("test", "dev")
        for split in ("test", "dev")
    ]
    return tuple(
        OverlapCell(
            dimension=dimension,
            one=one,
            other=other,
            level=level(TASK, other.split("/")[0], dimension),
            shared=given.get((dimension, one, other), 0),
            keys=1_204 if one.endswith("test") and other.endswith("test") else 96,
        )
        for dimension in DIMENSIONS
        for one, other in pairs
    )


def canaries(missed: str = "") -> tuple[CanaryResult, ...]:
    """Two for each of the listed rules; one missed, if named; one in invented rows."""
    found = []
    for rule, title, _, _ in RULE_IDS:
        for kind in ("planted in the first row", "planted in the last row of another split"):
            is_missed = rule == missed and "last" in kind
            note = "passed; not named: q11, q12" if is_missed else ""
            if rule == "crosslingual":
                note = "planted in invented rows: nothing there it could be planted in"
            found.append(
                CanaryResult(rule=rule, canary=f"{title}: {kind}", is_found=not is_missed, note=note)
            )
    return tuple(found)


def inputs(
    directory: Path, siblings: Sequence[str] = ("summary", "visual_context")
) -> tuple[AuditInput, ...]:
    """The audited task and siblings."""
    audited = source(f"{RELEASE}/{TASK}", "audited", "release", HASH, rows_of(directory))
    others = (
        source(
            f"{RELEASE}/{name}", "sibling", "release", sha256_text(name), ("queries: 1204", "corpus: 88120")
        )
        for name in siblings
    )
    return (audited, *others)


def clean(directory: Path) -> AuditReport:
    """Everything ran and nothing was found."""
    return AuditReport(
        release=RELEASE,
        task=TASK,
        release_hash=HASH,
        verdict="clean",
        publishable=True,
        rules=tuple(
            result(number, coverage=(coverage("", 1_204, "images", 3, "fewer than 16 grey levels"),))
            if RULE_IDS[number][0] == "image_duplicates"
            else result(number)
            for number in range(len(RULE_IDS))
        ),
        rows=rows_of(directory),
        inputs=inputs(directory),
        canaries=canaries(),
        matrix=cells({("target_concept", f"{TASK}/test", "summary/test"): 117}),
    )


def many(directory: Path) -> AuditReport:
    """Findings of every severity, hostile texts, gaps, another benchmark, every status but unproven."""
    query_text = QUERY.format(40)
    corpus_text = f"We report a case from a 0th hospital. The film showed {SHARED}. She recovered."
    first, second = query_text.index(SHARED), corpus_text.index(SHARED)
    copied = tuple(
        Finding(
            rule="copied_span",
            severity="error",
            message=f"a query and a document share {len(SHARED.split())} consecutive words",
            sides=(
                side("queries", f"q{n % 12:02d}", first, first + len(SHARED), SHARED),
                side("corpus", f"pmc:PMC{900 + n}.1#case1", second, second + len(SHARED), SHARED)
                if n % 12 != 3
                else side("corpus", '"><b onclick="x">', 0, 8, OVERRIDE),
            ),
        )
        for n in (0, 3, *range(4, 52))
    )
    other = finding(
        "contaminated_queries",
        "error",
        "a query shares 16 consecutive words with another benchmark",
        side("queries", "q01", first, first + len(SHARED), SHARED),
        side("queries", "medqa-1187", 31, 31 + len(SHARED), SHARED, dataset="MedQA"),
    )
    pictures = finding(
        "image_duplicates",
        "warn",
        "two queries show the same image",
        side("queries", "q05"),
        side("queries", "q06"),
    )
    hostile = finding(
        "empty_documents", "warn", f"too short {OVERRIDE}", side("corpus", '"><b onclick="x">', quote=HOSTILE)
    )
    changes: dict[str, dict[str, Any]] = {
        "copied_span": {"status": "failed", "found": 312, "findings": copied},
        "image_duplicates": {"status": "failed", "severity": "warn", "found": 1, "findings": (pictures,)},
        "empty_documents": {"status": "failed", "severity": "warn", "found": 1, "findings": (hostile,)},
        "contaminated_queries": {
            "status": "failed",
            "found": 1,
            "findings": (other,),
            "coverage": (
                coverage("MedQA", 15_288, "pairs", 42, "shorter than 13 words; compared whole instead"),
                coverage("R2MED", 14_112, "pairs"),
            ),
        },
        "overlap_article": {
            "status": "failed",
            "found": 3,
            "findings": (
                finding(
                    "overlap_article",
                    "error",
                    "both rest on article pmc:PMC901",
                    side("queries", "q02", quote=query_text),
                    side("queries", "q77", quote="Another query", dataset=f"{RELEASE}/summary"),
                ),
            ),
        },
        "overlap_patient": {"status": "not_covered", "compared": 0, "note": "siblings absent: image_search"},
        "synthetic": {
            "status": "declared",
            "severity": "declared",
            "found": 1,
            "findings": (
                finding(
                    "synthetic",
                    "declared",
                    "a document is made from synthetic input",
                    side("corpus", "pmc:PMC901.1#case1"),
                ),
            ),
        },
        "phi": {"status": "not_run", "compared": 0, "note": "ArrowInvalid: Parquet magic bytes not found"},
        "crosslingual": {"status": "not_applicable", "compared": 0, "note": "the task has one language"},
        "statistics": {"status": "not_asked", "compared": 0, "note": "name another release to compare with"},
    }
    task, dev = f"{TASK}/test", f"{TASK}/dev"
    shared: dict[tuple[str, str, str], int | None] = {
        ("article", task, "summary/test"): 3,
        ("article", dev, "summary/dev"): 12,
        ("query", task, "case_study/test"): 40,
        ("target_concept", task, "summary/test"): 117,
    }
    for dimension in DIMENSIONS:
        for one in (task, dev):
            for split in ("test", "dev"):
                shared[(dimension, one, f"image_search/{split}")] = None
    against = tuple(
        OverlapCell(
            dimension="query", one=f"{TASK}/{split}", other=name, level="zero", shared=count, keys=14_112
        )
        for name, counts in (("MedQA", (1, 0)), ("R2MED", (0, 0)))
        for split, count in zip(("test", "dev"), counts, strict=True)
    )
    return AuditReport(
        release=RELEASE,
        task=TASK,
        release_hash=HASH,
        verdict="findings",
        publishable=False,
        rules=tuple(result(n, **changes.get(RULE_IDS[n][0], {})) for n in range(len(RULE_IDS))),
        rows=rows_of(directory),
        inputs=(
            *inputs(directory),
            source("MedQA", "against", "jsonl", sha256_text("MedQA"), ("queries: 1273",)),
            source("R2MED", "against", "hashlist", sha256_text("R2MED"), ("hashes: 88120",)),
        ),
        canaries=canaries(),
        matrix=cells(shared) + against,
    )


def invalid(directory: Path) -> AuditReport:
    """One planted defect was not found."""
    sound = clean(directory)
    rules = tuple(
        dataclasses.replace(item, status="unproven", note="did not find what was planted: a shared article")
        if item.rule == "overlap_article"
        else item
        for item in sound.rules
    )
    return dataclasses.replace(sound, verdict="invalid", rules=rules, canaries=canaries("overlap_article"))


def partial(directory: Path) -> AuditReport:
    """A task audited alone: rules across tasks are not covered."""
    sound = clean(directory)
    note = "siblings absent: summary, visual_context; not covered"
    rules = tuple(
        dataclasses.replace(item, status="not_covered", note=note)
        if item.rule.startswith("overlap_")
        else item
        for item in sound.rules
    )
    matrix = tuple(
        item if item.other.startswith(TASK) else dataclasses.replace(item, shared=None, keys=0)
        for item in sound.matrix
    )
    alone = inputs(directory, ())
    return dataclasses.replace(sound, verdict="partial", rules=rules, matrix=matrix, inputs=alone)


def incomplete(directory: Path) -> AuditReport:
    """A rule could not run, and nothing was planted."""
    sound = clean(directory)
    broken = dataclasses.replace(sound.rules[1], status="not_run", compared=0, note="table absent: qrels")
    return dataclasses.replace(
        sound, verdict="incomplete", rules=(sound.rules[0], broken, *sound.rules[2:]), canaries=(), matrix=()
    )


def foreign(directory: Path) -> tuple[AuditReport, list[Dataset]]:
    """Another maker's BEIR directory with a dangling pair and a copied span."""
    directory.mkdir(parents=True, exist_ok=True)
    tables = {
        "queries": pa.table({"id": ["1", "2"], "text": [f"why {SHARED}", "what is a stent"]}),
        "corpus": pa.table(
            {"id": ["d1", "d2"], "title": ["", ""], "text": [f"It shows {SHARED}.", "A stent is a tube."]}
        ),
        "qrels": pa.table({"query-id": ["1", "2"], "corpus-id": ["d1", "d9"], "score": [1, 1]}),
    }
    found = {}
    for name, table in tables.items():
        pq.write_table(table, directory / f"{name}.parquet")
        found[name] = [directory / f"{name}.parquet"]
    dataset = Dataset("nfcorpus-like", "audited", "beir", directory, sha256_text("beir"), found)
    changes: dict[str, dict[str, Any]] = {
        "dangling_ids": {
            "status": "failed",
            "found": 1,
            "findings": (
                finding(
                    "dangling_ids",
                    "error",
                    "a judged pair names a document that is not in the corpus",
                    side("qrels", "2 d9"),
                    side("corpus", "d9"),
                ),
            ),
        },
        "self_match": {
            "status": "failed",
            "found": 1,
            "findings": (
                finding(
                    "self_match",
                    "error",
                    "query and positive document share 16 consecutive words",
                    side("queries", "1", 4, 4 + len(SHARED), SHARED),
                    side("corpus", "d1", 9, 9 + len(SHARED), SHARED),
                ),
            ),
        },
    }
    lacking = {"release_hash", "licences", "synthetic", "overlap_patient", "overlap_article", "images"}
    for rule in lacking:
        changes[rule] = {"status": "not_covered", "compared": 0, "note": "a beir dataset has no release.json"}
    report = AuditReport(
        release="nfcorpus-like",
        task="nfcorpus-like",
        release_hash=dataset.sha256,
        verdict="findings",
        publishable=True,
        rules=tuple(result(n, **changes.get(RULE_IDS[n][0], {})) for n in range(len(RULE_IDS))),
        rows=("queries: 2", "corpus: 2", "qrels: 2"),
        inputs=(source(dataset.name, "audited", "beir", dataset.sha256, ("queries: 2", "corpus: 2")),),
        canaries=canaries(),
    )
    return report, [dataset]
