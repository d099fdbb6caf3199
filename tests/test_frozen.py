"""Releases as earlier versions wrote them, kept as they were: they stay readable, whole and auditable.

`tests/frozen/format_<n>.tar.xz` is a release of the sample in format n, kept when a later format came.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from curation.audit import audit
from curation.audit.dataset import open_release
from curation.evaluation.collection import open_collection
from curation.published.manifest import FORMAT_VERSION, OLDEST_FORMAT, hash_files, read_manifest
from flows.engine.connection import query

FROZEN = Path(__file__).parent / "frozen"
FORMATS = range(OLDEST_FORMAT, FORMAT_VERSION)


@pytest.fixture(scope="module", params=FORMATS, ids="format {}".format)
def tasks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("frozen")
    with tarfile.open(FROZEN / f"format_{request.param}.tar.xz") as archive:
        archive.extractall(out)  # our own; Python 3.11.2 has no filters yet
    found = sorted(path.parent for path in out.rglob("release.json"))
    assert [read_manifest(task).format_version for task in found] == [request.param] * len(found) and found
    return found


def test_nothing_of_it_has_changed(tasks: list[Path]) -> None:
    for task in tasks:
        manifest = read_manifest(task)
        assert manifest.computed_hash() == manifest.release_hash
        assert hash_files(task) == dict(manifest.files)


def test_it_opens_for_evaluation(tasks: list[Path]) -> None:
    for task in tasks:
        collection = open_collection(task, "test")
        assert len(collection.queries) > 0 and len(collection.corpus_ids) > len(collection.queries)


def test_every_rule_that_ran_on_it_still_runs(tasks: list[Path]) -> None:
    opened = [open_release(task) for task in tasks]
    for task in opened:
        siblings = [other for other in opened if other is not task]
        report = audit(task, query(), siblings=siblings, plant=False)
        assert not [rule.note for rule in report.rules if rule.status == "not_run"]
        assert sum(rule.status == "passed" for rule in report.rules) > 20
        status = {rule.rule: rule.status for rule in report.rules}
        assert status["schema"] == "passed", "what later formats brought is not missing"
        assert (status["card"], status["croissant"]) == ("not_covered", "not_covered")
