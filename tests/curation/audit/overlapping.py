"""Three tasks built by hand, for the tests of the overlap rules."""

from __future__ import annotations

import dataclasses
import hashlib
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.audit.dataset import Dataset
from curation.audit.executor import SerialExecutor
from curation.audit.report import run_rule
from curation.audit.rule import Context
from curation.audit.rules import overlap
from curation.published.manifest import ReleaseManifest
from schemas.audit import OverlapCell, Role, RuleResult
from schemas.ids import family_key
from schemas.tables import CORPUS, KEYS, ORIGIN_CORPUS, ORIGIN_QRELS, ORIGIN_QUERIES, QRELS, QUERIES
from tests.curation.audit.small import rule_of
from tests.curation.release.known import run_sql
from tests.releases import manifest

Row = dict[str, Any]
DIMENSIONS = ("target_concept", "query", "article", "patient", "image_family")
SCHEMAS = {
    "queries": QUERIES,
    "corpus": CORPUS,
    "qrels": QRELS,
    "provenance_queries": ORIGIN_QUERIES,
    "provenance_corpus": ORIGIN_CORPUS,
    "provenance_qrels": ORIGIN_QRELS,
    "keys": KEYS,
}
TASKS = ("clinical_case", "clinical_evidence", "reference_qa")


def folded(text: str) -> str:
    """The normalised text as the partition folds it, told in Python."""
    return "".join(
        char if unicodedata.category(char)[0] in "LN" else " "
        for char in unicodedata.normalize("NFKC", text).casefold()
    )


def unversioned(case: str) -> str:
    article, mark, rest = case.partition("#")
    return family_key(article) + mark + rest


@dataclasses.dataclass
class Made:
    """Tables of one task, built row by row; keys as the partition writes them."""

    task: str
    tables: dict[str, list[Row]] = dataclasses.field(default_factory=lambda: {name: [] for name in SCHEMAS})
    siblings: tuple[str, ...] = ()

    def add(
        self,
        name: str,
        text: str = "",
        split: str = "test",
        *,
        article: str = "",
        patient: str = "",
        fetched: str | None = None,
        data: bytes | None = None,
        targets: Sequence[str] | None = None,
        family_id: str = "",
        source: str = "",
        states_keys: bool = True,
    ) -> str:
        """One query; what is not named is its own alone."""
        query = f"{self.task}-{name}"
        article = article or f"pmc:PMC{int(hashlib.sha256(query.encode()).hexdigest()[:8], 16)}.1"
        text = text or f"What does {query} say?"
        self.tables["queries"].append(
            {
                "id": query,
                "text": text,
                "image": {"bytes": data, "path": f"{query}.png"} if data else None,
                "language": "en",
                "license": "CC-BY-4.0",
                "is_synthetic": False,
            }
        )
        self.tables["provenance_queries"].append(
            {
                "id": query,
                "split": split,
                "source_id": source or f"{article}#p1",
                "article_id": article,
                "patient_id": patient,
                "family": family_id,
                "hides_target": False,
                "image_source_sha256": fetched,
            }
        )
        if states_keys:
            words = " ".join(folded(text).split())
            self.key(query, "query", hashlib.sha256(words.encode()).hexdigest()) if words else None
            self.key(query, "query", f"family:{family_id}") if family_id else None
            self.key(query, "article", family_key(article)) if not article.startswith("questions:") else None
            self.key(query, "patient", unversioned(patient)) if patient else None
            self.key(query, "image_family", f"sha256:{fetched}") if fetched else None
        for target in [f"TEST:{query}"] if targets is None else targets:
            self.key(query, "target_concept", target)
        return query

    def key(self, query: str, dimension: str, key: str) -> None:
        row = {"query-id": query, "dimension": dimension, "key": key}
        if row not in self.tables["keys"]:
            self.tables["keys"].append(row)

    def positive(
        self,
        query: str,
        article: str,
        name: str = "p2",
        *,
        patient: str = "",
        fetched: str | None = None,
        data: bytes | None = None,
        score: int = 2,
        document: str = "",
    ) -> str:
        """One judged document of a query."""
        document = document or f"{article}#{name}"
        if document not in {row["id"] for row in self.tables["corpus"]}:
            self.tables["corpus"].append(
                {
                    "id": document,
                    "title": "",
                    "text": f"Text of {document}.",
                    "image": {"bytes": data, "path": "x.png"} if data else None,
                    "language": "en",
                    "license": "CC-BY-4.0",
                    "is_synthetic": False,
                }
            )
            self.tables["provenance_corpus"].append(
                {"id": document, "article_id": article, "patient_id": patient, "image_source_sha256": fetched}
            )
        self.tables["qrels"].append(
            {
                "query-id": query,
                "corpus-id": document,
                "score": score,
                "label_status": "structural",
                "rule": "r",
            }
        )
        if score > 0:
            self.key(query, "article", family_key(article)) if not article.startswith("questions:") else None
            self.key(query, "patient", unversioned(patient)) if patient else None
            self.key(query, "image_family", f"sha256:{fetched}") if fetched else None
        return document

    def write(self, folder: Path, role: Role = "audited", without: Sequence[str] = ()) -> Dataset:
        views: dict[str, list[Path]] = {}
        for name, table in SCHEMAS.items():
            if name in without:
                continue
            path = folder / self.task / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(self.tables[name], schema=table.schema), path)
            views[name] = [path]
        head: ReleaseManifest = manifest(task=self.task, siblings=self.siblings)
        return Dataset(f"small@1.0.0/{self.task}", role, "release", folder / self.task, "0" * 64, views, head)


def three() -> list[Made]:
    """Three clean tasks, the first with a dev split. They share a distractor, as they may."""
    made = []
    for task in TASKS:
        one = Made(task, siblings=tuple(name for name in TASKS if name != task))
        for number in range(4):
            split = "dev" if task == TASKS[0] and number == 3 else "test"
            data = f"{task} {number}".encode()
            article = f"pmc:PMC{TASKS.index(task) + 1}00{number}.1"
            query = one.add(
                str(number),
                split=split,
                article=article,
                patient=f"{article}#case1",
                data=data,
                fetched=hashlib.sha256(data).hexdigest(),
            )
            one.positive(query, f"europepmc:PMC{TASKS.index(task) + 1}50{number}")
            one.positive(query, "pmc:PMC77.1", score=0)  # a distractor everybody has
        made.append(one)
    return made


def run(
    dimension: str,
    made: Sequence[Made],
    folder: Path,
    *,
    siblings: Sequence[Dataset] | None = None,
    subject: Dataset | None = None,
) -> tuple[RuleResult, tuple[OverlapCell, ...]]:
    folder.mkdir(exist_ok=True)
    given_siblings = [one.write(folder, "sibling") for one in made[1:]] if siblings is None else siblings
    rule = rule_of(overlap.RULES, dimension if dimension == "overlap_keys_true" else f"overlap_{dimension}")
    audited = subject or made[0].write(folder)
    return run_rule(rule, Context(audited, run_sql, folder, SerialExecutor(), given_siblings))


def one_task() -> Made:
    return three()[0]
