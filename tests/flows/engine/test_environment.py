"""What equal bytes are claimed under is what is installed, whatever else is installed beside it."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from curation.audit.verify import Difference
from curation.published.manifest import NAME
from flows.cli import audit as cli_audit
from flows.cli.common import DEFAULT
from flows.engine import environment as claim
from tests.releases import manifest


def pins(lock: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock.read_text("utf-8"), re.M):
        found.setdefault(name, set()).add(version)
    return found


def test_what_is_installed_is_what_the_core_lock_names(repository: Path) -> None:
    found, named = claim.installed(claim.PACKAGE), pins(repository / "requirements" / "core.lock.txt")
    assert {name: version for name, version in found.items() if version not in named.get(name, ())} == {}
    assert {"numpy", "scipy", "pillow", "duckdb", "pyarrow", "pytrec-eval-terrier", "uvicorn"} <= set(found)


def test_extras_that_are_installed_beside_it_do_not_count() -> None:
    assert not {"pytest", "ruff", "mypy", "datasketch", "hypothesis"} & set(claim.installed(claim.PACKAGE))
    assert claim.installed("no-such-distribution") == {}


def test_the_claim_names_lock_python_and_machine() -> None:
    made = claim.made_with()
    assert sorted(made) == ["lock", "machine", "python", "unicode"]
    assert re.fullmatch(r"[0-9a-f]{64}", made["lock"])
    assert made["python"] == ".".join(map(str, sys.version_info[:2]))
    assert made["unicode"] == unicodedata.unidata_version


@pytest.mark.parametrize(
    ("made_with", "told"),
    [
        (claim.made_with(), ""),
        ({**claim.made_with(), "python": "3.99"}, r"another claim: python 3\.99 \(here 3\.\d+\)$"),
        ({**claim.made_with(), "machine": "aarch64 glibc"}, "machine aarch64 glibc"),
        ({}, "before releases recorded"),
    ],
)
def test_a_release_made_elsewhere_is_told_apart(tmp_path: Path, made_with: dict[str, str], told: str) -> None:
    made = dataclasses.replace(manifest(), made_with=made_with)
    (tmp_path / NAME).write_text(json.dumps(made.content()), encoding="utf-8")
    found = claim.unlike_here(tmp_path)
    assert re.search(told, found) if told else found == ""


def test_files_that_are_no_release_claim_nothing(tmp_path: Path) -> None:
    assert claim.unlike_here(tmp_path) == ""


def test_a_report_that_differs_says_when_the_release_was_made_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = dataclasses.replace(manifest(), made_with={**claim.made_with(), "python": "3.99"})
    (tmp_path / NAME).write_text(json.dumps(made.content()), encoding="utf-8")
    found: list[Difference] = []
    monkeypatch.setattr("curation.audit.verify.verify", lambda stated, report: found)
    report: Any = None  # what differs is given
    assert cli_audit._compare(DEFAULT, {}, report, tmp_path) == 0
    assert "holds" in capsys.readouterr().out
    found.append(Difference("rules.schema.found", "0", "1"))
    assert cli_audit._compare(DEFAULT, {}, report, tmp_path) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "rules.schema.found: stated 0, now 1"
    assert told[1].startswith("the release was made under another claim: python 3.99")
