"""Europe PMC on loopback: search with cursors, full text, ZIPs, annotations; errors inside HTTP 200."""

from __future__ import annotations

import collections
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sources.sample.loopback import LoopbackServer, Reply, Request

ERROR = {"errCode": 404, "errMsg": "No result can be found. Please try again later."}
STUB = {"version": "6.9"}
BROKEN = {
    "error": (200, json.dumps(ERROR).encode()),
    "stub": (200, json.dumps(STUB).encode()),
    "gone": (404, b""),
    "html": (200, b"<!DOCTYPE html><html><body>Service under maintenance</body></html>"),
    "busy": (503, b""),
    "cut_json": (200, b'{"hitCount": 1, "resultList": {"res'),
}

Faults = Callable[[str, int], str | None]
"""(search, searchPOST, fullTextXML, supplementaryFiles or annotations; its n-th request, from 1) -> name of a
broken answer, or None."""


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """A ZIP as the service packs one."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def record(pmcid: str, **changes: Any) -> dict[str, Any]:
    """A core record; a value of `...` removes the key."""
    fields: dict[str, Any] = {
        "id": f"9{pmcid[3:]}",
        "source": "MED",
        "pmid": f"9{pmcid[3:]}",
        "pmcid": pmcid,
        "doi": f"10.5555/Test.{pmcid[3:]}",
        "isOpenAccess": "Y",
        "inEPMC": "Y",
        "inPMC": "N",
        "authMan": "N",
        "license": "cc by",
        "pubTypeList": {"pubType": ["case-report", "Journal Article"]},
        "fullTextReceivedDate": "2024-01-02",
        "dateOfRevision": "2024-02-03",
    }
    return {name: value for name, value in {**fields, **changes}.items() if value is not ...}


@dataclass
class FakeEuropePmc(LoopbackServer):
    """Context manager; what it serves may change between requests.

    Attributes:
        records: every record a search finds, in the order it gives them.
        texts: XML by PMCID; others are an empty 404.
        files: ZIP by PMCID; likewise.
        annotations: rows of the annotations service by PMCID.
        faults: what goes wrong.
        served: what was asked for, in order.
        forms: form fields of POST requests.
        hit_count: said instead of the true number of hits.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    annotations: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    faults: Faults = lambda what, number: None
    served: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    hit_count: int | None = None
    counts: collections.Counter[str] = field(default_factory=collections.Counter)

    @property
    def endpoint(self) -> str:
        """Base URL of the REST service."""
        return f"{self.root}/europepmc/webservices/rest/"

    @property
    def annotations_endpoint(self) -> str:
        """Base URL of the annotations service."""
        return f"{self.root}/europepmc/annotations_api/"

    def answer(self, request: Request) -> Reply:
        """The reply to one request."""
        path, fields = request.path, request.fields
        if request.method == "POST":
            self.forms.append(fields)
        what = path.rsplit("/", 1)[1]
        what = "annotations" if what == "annotationsByArticleIds" else what
        self.served.append(f"{what} {path.rsplit('/', 2)[1]}" if what[0] in "fs" else what)
        self.counts[what] += 1
        fault = self.faults(what, self.counts[what])
        if fault:
            return Reply(*BROKEN[fault])
        if what in ("search", "searchPOST"):
            return Reply(200, json.dumps(self._search(fields)).encode())
        if what == "annotations":
            return Reply(200, json.dumps(self._annotated(fields["articleIds"])).encode())
        found = {"fullTextXML": self.texts, "supplementaryFiles": self.files}[what].get(
            path.rsplit("/", 2)[1]
        )
        return Reply(200, found) if found is not None else Reply(404)

    def _search(self, fields: Mapping[str, str]) -> dict[str, Any]:
        assert fields["format"] == "json" and 1 <= int(fields["pageSize"]) <= 1000
        exact = re.fullmatch(r"PMCID:(PMC\d+)", fields["query"])
        hits = [row for row in self.records if not exact or row.get("pmcid") == exact.group(1)]
        start = 0 if fields["cursorMark"] == "*" else int(fields["cursorMark"].removeprefix("AoI"))
        rows = hits[start : start + int(fields["pageSize"])]
        if fields["resultType"] == "lite":
            kept = ("id", "source", "pmid", "pmcid", "doi")
            rows = [{name: row[name] for name in kept if name in row} for row in rows]
        page: dict[str, Any] = {"version": "6.9", "hitCount": self.hit_count or len(hits)}
        if len(hits) > 1:  # the service gives no cursor for a single hit
            page["nextCursorMark"] = f"AoI{start + len(rows)}" if rows else fields["cursorMark"]
        return {**page, "request": dict(fields), "resultList": {"result": rows}}

    def _annotated(self, ids: str) -> list[dict[str, Any]]:
        asked = ids.split(",")
        assert 1 <= len(asked) <= 8 and all(re.fullmatch(r"PMC:\d+", text) for text in asked), ids
        return [
            {
                "source": "PMC",
                "extId": text[4:],
                "pmcid": f"PMC{text[4:]}",
                "annotations": self.annotations[f"PMC{text[4:]}"],
            }
            for text in asked
            if f"PMC{text[4:]}" in self.annotations
        ]
