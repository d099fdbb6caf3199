"""The sources of the seven nights, on loopback: articles that come in, change and are retracted."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Self

from flows.specs import DATA_CARDS
from sources.pmc.metadata import parse_metadata
from sources.sample import bucket_dir
from sources.sample.server import BucketServer, Fault, Faults
from tests.sources.fakes.europepmc import FakeEuropePmc, record
from tests.sources.fakes.eutils import Article, Eutils

PMCIDS = [f"PMC99000{number:04}" for number in range(1, 25)]
ARRIVAL = {pmcid: 1 if place < 10 else 2 + (place - 10) % 6 for place, pmcid in enumerate(PMCIDS)}
"""The night in which an article is released: ten on the first, then two or three a night."""
REVISED = {3: PMCIDS[1], 5: PMCIDS[2], 6: PMCIDS[11]}
RETRACTED = {4: PMCIDS[3], 7: PMCIDS[12]}
CONCERN = {5: PMCIDS[4]}
"""Night -> the article that changes so before it."""
SPEC = """
name = "nights"
title = "Seven nights on loopback"
[sources]
pmc_query = "case"
[baselines]
systems = []
[tasks.visual_context]
[tasks.summary]
"""


class World:
    """Context manager: a bucket, E-utilities and Europe PMC whose answers follow the nights.

    Args:
        folder: where the bucket's objects are kept.
        first: date of the first night.
    """

    def __init__(self, folder: Path, first: date) -> None:
        self.bucket, self.first = folder, first
        self.bucket_faults: Faults = lambda method, key, count: None
        self.eutils_faults: Any = lambda count: None
        self.europepmc_faults: Any = lambda what, count: None
        self.requests = 0
        self._stack = contextlib.ExitStack()
        self._done: list[str] = []

    def __enter__(self) -> Self:
        shutil.copytree(bucket_dir(), self.bucket)
        days = {pmcid: self.first + timedelta(days=night - 1) for pmcid, night in ARRIVAL.items()}
        articles = [Article(int(pmcid[3:]), days[pmcid]) for pmcid in PMCIDS]
        self.records = {pmcid: record(pmcid) for pmcid in PMCIDS}
        self.pmc = self._stack.enter_context(BucketServer([self.bucket], faults=self._of_bucket))
        self.eutils = self._stack.enter_context(Eutils(articles, faults=lambda n: self.eutils_faults(n)))
        self.europepmc = self._stack.enter_context(
            FakeEuropePmc(
                records=list(self.records.values()), faults=lambda what, n: self.europepmc_faults(what, n)
            )
        )
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _of_bucket(self, method: str, key: str, count: int) -> Fault | None:
        self.requests += 1
        return self.bucket_faults(method, key, count)

    def settings(self) -> dict[str, str]:
        """Variables that point a process to these sources."""
        return {
            "MEDQRELS_CONTACT": "bench@localhost",
            "MEDQRELS_PMC__ENDPOINT": self.pmc.endpoint,
            "MEDQRELS_EUTILS__ENDPOINT": self.eutils.endpoint,
            "MEDQRELS_EUROPEPMC__ENDPOINT": self.europepmc.endpoint,
            "MEDQRELS_EUROPEPMC__ANNOTATIONS_ENDPOINT": self.europepmc.annotations_endpoint,
        }

    def write_spec(self, folder: Path) -> Path:
        """The dataset, with the prose of the sample."""
        shutil.copytree(DATA_CARDS / "medqrels-sample", folder)
        path = folder / "spec.toml"
        path.write_text(SPEC, "utf-8")
        return path

    def dawn(self, night: int) -> None:
        """What happens before a night: an article is revised, retracted, or its journal voices concern."""
        if pmcid := REVISED.get(night):
            self._revise(pmcid)
            self._done.append(f"night {night}: {pmcid} revised")
        if pmcid := RETRACTED.get(night):
            self._amend(pmcid, is_retracted=True)
            self._done.append(f"night {night}: {pmcid} retracted")
        if pmcid := CONCERN.get(night):
            links = {"commentCorrection": [{"type": "Expression of concern in", "reference": "J", "id": "1"}]}
            self.records[pmcid]["commentCorrectionList"] = links
            self._done.append(f"night {night}: concern about {pmcid}")

    def calm(self) -> None:
        """No more faults."""
        self.bucket_faults = lambda method, key, count: None
        self.eutils_faults = lambda count: None
        self.europepmc_faults = lambda what, count: None

    def told(self) -> dict[str, Any]:
        """What happened to the articles."""
        return {"arrived_by_night": sorted(ARRIVAL.values()), "happened": self._done}

    def _newest(self, pmcid: str) -> str:
        return max(path.stem for path in (self.bucket / "metadata").glob(f"{pmcid}.*.json"))

    def _revise(self, pmcid: str) -> None:
        """The same version with one more sentence."""
        name = self._newest(pmcid)
        path = self.bucket / name / f"{name}.xml"
        text = path.read_text("utf-8")
        revised = text.replace("</p>", " The patient was seen again after the report was written.</p>", 1)
        assert revised != text
        path.write_text(revised, "utf-8")
        md5 = hashlib.md5(path.read_bytes()).hexdigest()
        self._amend(pmcid, xml_url=f"s3://pmc-oa-opendata/{name}/{name}.xml?md5={md5}")

    def _amend(self, pmcid: str, **changes: Any) -> None:
        name = self._newest(pmcid)
        number = int(name.rpartition(".")[2])
        body = json.loads((self.bucket / "metadata" / f"{name}.json").read_text("utf-8")) | changes
        data = (json.dumps(body, indent=1) + "\n").encode()
        parse_metadata(data, pmcid, number)
        for path in (self.bucket / "metadata" / f"{name}.json", self.bucket / name / f"{name}.json"):
            if path.exists():
                path.write_bytes(data)
