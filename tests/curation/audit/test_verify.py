"""A published audit.json is compared with an audit made now; what differs is told by rule and field."""

from __future__ import annotations

import copy as copies
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from curation.audit import audit
from curation.audit.rules import files, integrity
from curation.audit.verify import Difference, read_stated, to_bytes, verify
from schemas.audit import AuditReport
from schemas.errors import UsageError
from tests.curation.release.known import edit, run_sql

RULES = (*files.RULES[:1], *integrity.RULES[3:6])


@pytest.fixture(scope="module")
def report(known: Path) -> AuditReport:
    return audit(known, run_sql, rules=RULES)


@pytest.fixture
def stated(report: AuditReport) -> dict[str, Any]:
    return read_stated(to_bytes(report))


def test_a_true_report_differs_in_nothing(known: Path, stated: dict[str, Any]) -> None:
    assert verify(stated, audit(known, run_sql, rules=RULES)) == []


def test_the_bytes_are_canonical(report: AuditReport) -> None:
    data = to_bytes(report)
    assert data == to_bytes(report)
    assert data.endswith(b"}\n") and list(json.loads(data)) == sorted(json.loads(data))


def test_lone_surrogates_survive(report: AuditReport) -> None:
    odd = dataclasses.replace(report, task="task \ud800 é")
    assert read_stated(to_bytes(odd))["task"] == "task \ud800 é"
    assert verify(read_stated(to_bytes(odd)), odd) == []


def test_every_forged_value_is_named(report: AuditReport, stated: dict[str, Any]) -> None:
    forged = copies.deepcopy(stated)
    forged["verdict"] = "findings"
    forged["rules"][1]["found"] = 7
    forged["rules"][2]["severity"] = "warn"
    found, severe = (forged["rules"][at]["rule"] for at in (1, 2))
    forged["canaries"][0]["is_found"] = False
    name = f"{forged['canaries'][0]['rule']} / {forged['canaries'][0]['canary']}"
    assert [str(item) for item in verify(forged, report)] == [
        f"canaries.{name}.is_found: stated false, now true",
        f"rules.{found}.found: stated 7, now 0",
        f'rules.{severe}.severity: stated "warn", now "error"',
        'verdict: stated "findings", now "clean"',
    ]


def test_removed_and_added_entries_are_named(report: AuditReport, stated: dict[str, Any]) -> None:
    forged = copies.deepcopy(stated)
    gone = forged["rules"].pop(1)["rule"]
    forged["canaries"].append({"rule": "made_up", "canary": "x", "is_found": True, "note": ""})
    found = {item.where: item for item in verify(forged, report)}
    assert found[f"rules.{gone}"].stated == "nothing"
    assert found["canaries.made_up / x"].found == "nothing"
    assert len(found) == 2


def test_reordered_rules_are_a_difference(report: AuditReport, stated: dict[str, Any]) -> None:
    forged = copies.deepcopy(stated)
    forged["rules"].reverse()
    assert [item.where for item in verify(forged, report)] == ["rules"]


def test_true_for_one_and_null_for_nothing_are_differences(
    report: AuditReport, stated: dict[str, Any]
) -> None:
    forged = copies.deepcopy(stated)
    forged["publishable"] = 1
    forged["rules"][0]["note"] = None
    assert [item.where for item in verify(forged, report)] == ["publishable", "rules.file_hashes.note"]


def test_a_report_on_other_files_says_so_first(copy: Path, stated: dict[str, Any]) -> None:
    edit(copy, "qrels", lambda rows: rows[1].update({"corpus-id": "pmc:PMC777.1#p1"}))
    found = verify(stated, audit(copy, run_sql, rules=RULES))
    assert found[0].where == "release_hash (the report is of other files)"
    assert any(item.where.startswith("inputs.") for item in found)
    assert any(item.where == "rules.dangling_ids.found" for item in found)


def test_long_values_are_cut(report: AuditReport, stated: dict[str, Any]) -> None:
    forged = copies.deepcopy(stated)
    forged["rules"][0]["note"] = "x" * 10_000
    (found,) = verify(forged, report)
    assert isinstance(found, Difference) and len(found.stated) < 300


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not an audit report"),
        (b"\xff\xfe", "not an audit report"),
        (b"{", "not an audit report"),
        (b"[]", "no verdict"),
        (b'{"version": NaN}', "NaN"),
        (b"[" * 100_000, "not an audit report"),
        (b'{"version": 3}', "no verdict"),
        (b'{"version": 1, "release_hash": "", "rules": [], "inputs": []}', "audit version 1"),
        (b'{"version": "2", "release_hash": "", "rules": [], "inputs": []}', "audit version '2'"),
        (b'{"version": 3, "release_hash": "", "rules": [], "inputs": []}', "fields differ"),
    ],
)
def test_what_is_no_report_is_a_clear_error(data: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        read_stated(data, "some/audit.json")
    assert raised.value.file == "some/audit.json" and raised.value.hint


def test_hostile_values_never_crash(report: AuditReport, stated: dict[str, Any]) -> None:
    values: tuple[Any, ...] = (None, 1, "x", [], {}, [None], [{"rule": 1}], [{"rule": "a"}, {"rule": "a"}])
    for value in values:
        for name in stated:
            forged = stated | {name: value}
            found = verify(forged, report)
            assert found or forged == stated
