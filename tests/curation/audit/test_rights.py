"""Rights from the files alone: licences, quotes, changed images, synthetic marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from curation.audit.rules import rights
from schemas.audit import RuleResult
from tests.curation.audit.small import check, dataset, rule_of

Row = dict[str, Any]


def named(result: RuleResult) -> set[str]:
    return {item.id for finding in result.findings for item in finding.sides}


def _row(name: str, licence: str | None) -> Row:
    return {"id": name, "text": f"text of {name}", "title": "", "language": "en", "license": licence,
            "is_synthetic": False}  # fmt: skip


def _origin(name: str, article: str, **more: Any) -> Row:
    return {"id": name, "article_id": article, "license_evidence": "page", "image_transform": "", **more}


def _source(name: str, licence: str, **more: Any) -> Row:
    return {
        "id": name,
        "title": name,
        "license": licence,
        "is_retracted": False,
        "is_synthetic": False,
        **more,
    }


def _tables(licences: Sequence[str | None], **more: list[Row]) -> dict[str, list[Row]]:
    queries = [_row(f"q{number}", licence) for number, licence in enumerate(licences)]
    return {
        "queries": queries,
        "corpus": [_row("d0", "CC-BY-4.0")],
        "provenance_queries": [_origin(row["id"], "pmc:PMC1.1") for row in queries],
        "provenance_corpus": [_origin("d0", "pmc:PMC2.1")],
        "sources": [_source("pmc:PMC1.1", "CC-BY-4.0"), _source("pmc:PMC2.1", "CC-BY-4.0")],
        "provenance_qrels": [],
    } | more


@pytest.mark.parametrize(
    ("licences", "whole", "message"),
    [
        (["CC-BY-4.0"], "by", ""),
        (["CC-BY-SA-4.0", "CC0-1.0"], "by-sa", ""),
        (["CC-BY-SA-4.0"], "by", "combine to by-sa"),
        (["CC-BY-SA-4.0", "CC-BY-NC-4.0"], "by-sa", "no licence fits"),
        (["CC-BY-ND-4.0"], "by", "no licence fits"),
        ([None], "by", "no licence fits"),
        (["made up"], "by", "no licence fits"),
        ([], "cc0", "combine to by"),
    ],
)
def test_licences_combine_as_the_table_says(
    tmp_path: Path, licences: list[str | None], whole: str, message: str
) -> None:
    rule = rule_of(rights.RULES, "licence_combination")
    result = check(rule, dataset(tmp_path, _tables(licences), license=whole), tmp_path)
    assert result.status == ("failed" if message else "passed")
    assert all(message in finding.message for finding in result.findings)


@pytest.mark.parametrize(
    ("profile", "licence", "allowed"),
    [
        ("open", "CC-BY-4.0", True),
        ("open", "CC-BY-NC-4.0", False),
        ("noncommercial", "CC-BY-NC-4.0", True),
        ("noncommercial", "CC-BY-ND-4.0", False),
        ("anything", "CC-BY-NC-4.0", False),
    ],
)
def test_the_profile_decides_which_rows_may_be_there(
    tmp_path: Path, profile: str, licence: str, allowed: bool
) -> None:
    rule = rule_of(rights.RULES, "licence_of_rows")
    result = check(rule, dataset(tmp_path, _tables([licence]), licence_profile=profile), tmp_path)
    assert ("q0" not in named(result)) == allowed
    assert ("licence_profile" in named(result)) == (profile == "anything")


def _quotes(*places: str) -> list[Row]:
    return [
        {"query-id": "q0", "corpus-id": "d0", "evidence": [
            {"text_id": place, "start": 0, "end": 3, "text": "abc"} for place in places]}
    ]  # fmt: skip


def test_quotes_are_under_the_licence_of_their_article(tmp_path: Path) -> None:
    sources = [_source("pmc:PMC1.1", "CC-BY-4.0"), _source("pmc:PMC2.1", "CC-BY-NC-ND-4.0")]
    places = ("pmc:PMC1.1#p1", "pmc:PMC2.1#p1", "pmc:PMC2.1#p2", "pmc:PMC3.1#p9")
    tables = _tables(["CC-BY-4.0"], sources=sources, provenance_qrels=_quotes(*places))
    result = check(rule_of(rights.RULES, "licence_of_evidence"), dataset(tmp_path, tables), tmp_path)
    (finding,) = result.findings
    assert [item.id for item in finding.sides] == ["pmc:PMC2.1", "q0"] and "2 quotes" in finding.message
    assert (result.compared, result.coverage[0].skipped) == (3, 1)
    assert "not among the sources" in result.coverage[0].why


def test_a_changed_image_needs_a_licence_that_allows_it(tmp_path: Path) -> None:
    tables = _tables(["CC-BY-ND-4.0", "CC-BY-4.0", "CC-BY-ND-4.0"])
    for name, how in (("q0", ""), ("q1", "png"), ("q2", "resized")):
        next(row for row in tables["provenance_queries"] if row["id"] == name)["image_transform"] = how
    result = check(rule_of(rights.RULES, "derived_images"), dataset(tmp_path, tables), tmp_path)
    assert named(result) == {"q2"} and result.compared == 2


def test_marks_of_synthetic_rows(tmp_path: Path) -> None:
    tables = _tables(["CC-BY-4.0"])
    tables["sources"][0]["is_synthetic"] = True
    rule = rule_of(rights.RULES, "synthetic_declared")
    assert named(check(rule, dataset(tmp_path / "a", tables), tmp_path)) == {"q0"}
    tables["queries"][0]["is_synthetic"] = True
    assert named(check(rule, dataset(tmp_path / "b", tables), tmp_path)) == {"publishable_by_content"}
    honest = dataset(tmp_path / "c", tables, publishable_by_content=False)
    assert check(rule, honest, tmp_path).status == "passed"
    declared = check(rule_of(rights.RULES, "synthetic"), dataset(tmp_path / "c", tables), tmp_path)
    assert (declared.status, named(declared)) == ("declared", {"q0"})


def test_nothing_at_all_is_no_finding(tmp_path: Path) -> None:
    tables: dict[str, list[Row]] = {name: [] for name in _tables([])}
    for rule in rights.RULES:
        result = check(rule, dataset(tmp_path / rule.id, tables, license="cc0"), tmp_path)
        wanted = "passed" if result.compared else "not_applicable"
        assert (result.status, result.found) == (wanted, 0), (rule.id, result.note)


def test_another_layout_states_no_rights(tmp_path: Path) -> None:
    tables: dict[str, list[Row]] = {
        "queries": [{"id": "q", "text": "what is a cyst"}],
        "corpus": [{"id": "d", "title": "", "text": "a cyst is a sac"}],
        "qrels": [{"query-id": "q", "corpus-id": "d", "score": 1}],
    }
    for rule in rights.RULES:
        assert check(rule, dataset(tmp_path / rule.id, tables, "beir"), tmp_path).status == "not_covered", (
            rule.id
        )
