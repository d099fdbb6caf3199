"""Outliers, debris and uneven labels; MTEB's checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.audit.rules import mteb, statistics
from tests.curation.audit.small import check, dataset, named, qrels, queries, rule_of, texts
from tests.releases import Tables

DEBRIS = rule_of(statistics.RULES, "text_debris")
LENGTHS = rule_of(statistics.RULES, "length_outliers")
SHARES = rule_of(statistics.RULES, "uneven_labels")
MTEB = rule_of(mteb.RULES, "mteb_quality")
ORIGIN = {"split": "test", "image_sha256": "", "image_width": None, "image_height": None}


@pytest.mark.parametrize(
    "text",
    [
        "na\ufffdve", "bell \x07", "nul \x00", "c1 \x85", "zero\u200bwidth", "\ufeffmark", "private \ue001",
        "nÃ©phrite", "itâ€™s", "37 Â°C", "<b>bold</b>", "see <xref ref-type='fig'>1</xref>", "<p>",
        "A &amp; B",
        "5 &#x2265; 3", "\\usepackage{a}", " leading", "trailing\n", "aaaaaaaaaaaaaaa", "ok ????????????",
    ],
)  # fmt: skip
def test_debris_is_found_and_quoted(tmp_path: Path, text: str) -> None:
    subject = dataset(
        tmp_path, {"queries": queries(("q", "Clean.")), "corpus": texts(("d1", text), ("d2", "Fine"))}
    )
    result = check(DEBRIS, subject, tmp_path)
    assert (result.status, named(result)) == ("failed", {"d1"})
    assert result.findings[0].sides[0].start is not None


@pytest.mark.parametrize(
    "text",
    [
        "p < 0.05 and n > 3", "A & B; C", "x <y> z", "INFORMAÇÃO", "São João, Ângela, Île-de-France",
        "1000000000000000", "....................", "café naïve", "line\nbreak\ttab", "", 
        "‘quoted’ – dash", "R&D; AT&T", "Σ ± 3 °C",
    ],
)  # fmt: skip
def test_clean_texts_pass(tmp_path: Path, text: str) -> None:
    subject = dataset(tmp_path, {"corpus": texts(("d1", text))})
    assert check(DEBRIS, subject, tmp_path).status == "passed"


def test_lengths(tmp_path: Path) -> None:
    rows = [(f"d{n:02}", "x" * 100) for n in range(30)]
    long = texts(*rows, ("long", "y" * 2001), ("edge", "y" * 2000))
    result = check(LENGTHS, dataset(tmp_path, {"corpus": long}), tmp_path)
    assert (result.status, named(result), result.compared) == ("failed", {"long"}, 32)
    few = dataset(tmp_path / "few", {"corpus": texts(("a", "x"), ("b", "y" * 9999))})
    assert check(LENGTHS, few, tmp_path).status == "passed"
    assert check(LENGTHS, dataset(tmp_path / "none", {"corpus": []}), tmp_path).status == "not_applicable"


def test_uneven_labels(tmp_path: Path) -> None:
    pairs = qrels(*((f"q{n}", "hub") for n in range(51)), *((f"q{n}", "fair") for n in range(50)))
    pairs += qrels(*(("greedy", f"d{n}") for n in range(101)), *(("fine", f"d{n}") for n in range(100)))
    pairs += qrels(*((f"z{n}", "negative") for n in range(99)), score=0)
    origins = [{"id": f"q{n}", "article_id": "many" if n < 20 else f"a{n}"} for n in range(60)]
    result = check(SHARES, dataset(tmp_path, {"qrels": pairs, "provenance_queries": origins}), tmp_path)
    assert named(result) == {"hub", "greedy", "many", "q0"}
    assert result.compared == len(pairs)
    spread = [{"id": f"q{n:03}", "article_id": "many" if n < 20 else f"a{n}"} for n in range(400)]
    subject = dataset(tmp_path / "2", {"qrels": [], "provenance_queries": spread})
    assert check(SHARES, subject, tmp_path).status == "not_applicable"
    assert check(SHARES, dataset(tmp_path / "3", {"queries": []}, "beir"), tmp_path).status == "not_covered"


def _clean() -> dict[str, list[dict[str, Any]]]:
    return {
        "queries": queries(("q1", "What is it?"), ("q2", "Why is it so?")),
        "corpus": texts(*((f"d{n:03}", f"Document number {n}.") for n in range(120))),
        "qrels": qrels(("q1", "d001"), ("q2", "d002")),
        "provenance_queries": [{"id": "q1", **ORIGIN}, {"id": "q2", **ORIGIN}],
        "provenance_corpus": [{"id": f"d{n:03}", **ORIGIN} for n in range(120)],
    }


def _mteb(tmp_path: Path, tables: Tables, name: str, kind: Any = "release") -> Any:
    return check(MTEB, dataset(tmp_path / name, tables, kind), tmp_path)


def test_mteb_passes_and_says_what_ran(tmp_path: Path) -> None:
    result = _mteb(tmp_path, _clean(), "clean")
    assert (result.status, result.compared) == ("passed", 122)
    for kind in (
        "short_text:queries", "short_text:documents", "duplicate_text:documents", "small_image",
        "empty_split",
        "zero_relevant_docs", "relevant_docs_exceed_corpus", "train_test_leakage",
    ):  # fmt: skip
        assert kind in result.note


def test_mteb_each_defect(tmp_path: Path) -> None:
    def short(tables: Any) -> None:
        tables["corpus"][7]["text"] = "abc"

    def null(tables: Any) -> None:
        tables["queries"][0]["text"] = None

    def twins(tables: Any) -> None:
        for row in tables["corpus"][5:8]:
            row["text"] = "Same."

    def unanswered(tables: Any) -> None:
        tables["qrels"][0]["score"] = 0

    def gone(tables: Any) -> None:
        tables["qrels"][0]["corpus-id"] = "gone"

    def splits(tables: Any) -> None:
        tables["queries"][1]["text"] = tables["queries"][0]["text"]
        tables["provenance_queries"][1]["split"] = "dev"

    def tiny(tables: Any) -> None:
        tables["provenance_corpus"][3] |= {"image_sha256": "00", "image_width": 8, "image_height": 400}

    def empty(tables: Any) -> None:
        tables["corpus"] = []

    wanted = {
        short: ("short_text:documents", {"d007"}),
        null: ("short_text:queries", {"q1"}),
        twins: ("duplicate_text:documents", {"d005", "d007"}),
        unanswered: ("zero_relevant_docs", {"q1"}),
        gone: ("relevant_docs_exceed_corpus", {"gone"}),
        splits: ("train_test_leakage", {"q1", "q2"}),
        tiny: ("small_image:documents", {"d003"}),
        empty: ("empty_split:documents", {"corpus"}),
    }
    for damage, (kind, ids) in wanted.items():
        tables = _clean()
        damage(tables)
        result = _mteb(tmp_path, tables, damage.__name__)
        assert result.status == "failed", damage
        about = [finding for finding in result.findings if finding.message.startswith(kind)]
        assert {item.id for finding in about for item in finding.sides} == ids, damage


def test_mteb_thresholds_are_mtebs(tmp_path: Path) -> None:
    """One twin among 120 documents is within 1 %; an image without text is not a short text."""
    tables = _clean()
    tables["corpus"][5]["text"] = tables["corpus"][6]["text"]
    tables["corpus"][9]["text"] = ""
    tables["provenance_corpus"][9] |= {"image_sha256": "00", "image_width": 9, "image_height": 9}
    assert _mteb(tmp_path, tables, "edge").status == "passed"


def test_mteb_on_a_foreign_dataset(tmp_path: Path) -> None:
    tables = {name: _clean()[name] for name in ("queries", "corpus", "qrels")}
    result = _mteb(tmp_path, tables, "beir", "beir")
    assert result.status == "passed" and "train_test_leakage (provenance_queries absent)" in result.note
