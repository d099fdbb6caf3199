"""Answers that leak into queries: names of hidden targets, columns that tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.audit.rules.leakage import RULES, leaks
from curation.concepts.name_forms import name_forms
from curation.release.target_names import name_hash, names_rows
from tests.curation.audit.small import check, dataset, named, qrels, queries, rule_of, texts

NAMES = rule_of(RULES, "answer_names")
COLUMNS = rule_of(RULES, "gold_columns")
GOUT = [
    ("en", "Gouty arthritis"),
    ("en", "Gout"),
    ("de", "Gichtarthritis"),
    ("ja", "痛風性関節炎"),
    ("ja", "痛風"),
]
SJOGREN = [("en", "Sjögren's syndrome"), ("en", "Syndrome, Sicca"), ("zh", "干燥综合征")]
LEUKAEMIA = [("en", "ALL"), ("en", "Acute lymphoblastic leukemia")]


def hidden(
    *rows: tuple[str, str, str], names: dict[str, list[tuple[str, str]]] | None = None, hides: bool = True
) -> dict[str, list[dict[str, Any]]]:
    """Tables of queries (id, text, target) that hide their target."""
    given = {"C:gout": GOUT, "C:sjogren": SJOGREN, "C:all": LEUKAEMIA} if names is None else names
    listed = [
        {"query-id": name, "dimension": "target_concept", "key": target} for name, _, target in rows if target
    ]
    return {
        "queries": queries(*((name, text) for name, text, _ in rows)),
        "provenance_queries": [{"id": name, "hides_target": hides} for name, _, _ in rows],
        "keys": listed,
        "target_names": [row for concept in sorted(given) for row in names_rows(concept, given[concept])],
    }


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Acute GOUT of the first toe.", "C:gout"),
        ("Known gouty-arthritis since 2010", "C:gout"),
        ("Die Gichtarthritis wurde behandelt.", "C:gout"),
        ("患者の痛風は再発した。", "C:gout"),
        ("痛風性 関節炎の疑い", "C:gout"),
        ("A sicca syndrome was likely", "C:sjogren"),
        ("Sjogren syndrome was considered", "C:sjogren"),
        ("Sjögren’s syndrome was considered", "C:sjogren"),
        ("Primary SJÖGRENS SYNDROMES", "C:sjogren"),
        ("诊断为干燥综合征", "C:sjogren"),
        ("Pre-B ALL was found", "C:all"),
        ("acute lympho-blastic leukemia", "C:all"),
        ("Ｇｏｕｔ in full width", "C:gout"),
    ],
)
def test_a_name_in_any_usual_form_is_found(tmp_path: Path, text: str, target: str) -> None:
    tables = hidden(("q1", text, target), ("q2", "Pain of one toe at night.", "C:gout"))
    result = check(NAMES, dataset(tmp_path, tables), tmp_path)
    assert (result.status, result.found, result.compared) == ("failed", result.found, 2)
    assert named(result) == {"q1", target}


def test_the_name_is_quoted_where_it_stands(tmp_path: Path) -> None:
    result = check(NAMES, dataset(tmp_path, hidden(("q1", "An acute  Gout attack", "C:gout"))), tmp_path)
    (finding,) = result.findings
    assert (finding.sides[0].start, finding.sides[0].end, finding.sides[0].quote) == (10, 14, "Gout")


@pytest.mark.parametrize(
    "text",
    [
        "After all, she recovered. All was well.",  # ALL in capitals is the acronym
        "Goutte drops and gouts' words",
        "",
        "痛い風",
        "\x00 ' \" ; DROP TABLE queries --",
    ],
)
def test_other_words_are_no_leak(tmp_path: Path, text: str) -> None:
    tables = hidden(("q1", text, "C:all"), ("q2", text.replace("gouts", "x"), "C:sjogren"))
    assert check(NAMES, dataset(tmp_path, tables), tmp_path).status == "passed"


def test_another_concepts_name_is_no_leak(tmp_path: Path) -> None:
    assert check(NAMES, dataset(tmp_path, hidden(("q1", "Gout", "C:all"))), tmp_path).status == "passed"


def test_queries_that_hide_nothing_are_not_concerned(tmp_path: Path) -> None:
    tables = hidden(("q1", "Gout", "C:gout"), hides=False)
    assert check(NAMES, dataset(tmp_path, tables), tmp_path).status == "not_applicable"


def test_hidden_targets_without_names_cannot_pass(tmp_path: Path) -> None:
    tables = hidden(("q1", "Gout", "C:gout"))
    del tables["target_names"]
    assert check(NAMES, dataset(tmp_path, tables), tmp_path).status == "not_run"
    nameless = hidden(("q1", "Pain", "C:gout"), ("q2", "Fever", ""), names={"C:all": LEUKAEMIA})
    result = check(NAMES, dataset(tmp_path / "2", nameless), tmp_path)
    assert (result.status, named(result)) == ("failed", {"q1", "C:gout", "q2"})


def test_a_foreign_dataset_is_not_covered(tmp_path: Path) -> None:
    subject = dataset(tmp_path, {"queries": [{"id": "q", "text": "Gout"}]}, "beir")
    assert check(NAMES, subject, tmp_path).status == "not_covered"


def test_null_text_and_many_targets(tmp_path: Path) -> None:
    tables = hidden(("q1", "x", "C:gout"))
    tables["queries"][0]["text"] = None
    tables["keys"] += [{"query-id": "q1", "dimension": "target_concept", "key": "C:all"}]
    assert check(NAMES, dataset(tmp_path, tables), tmp_path).status == "passed"


def test_hashes_are_as_documented_and_hide_the_name() -> None:
    import hashlib

    digest = hashlib.sha256(b"C:1 gouty arthritis").hexdigest()[:16]
    assert name_hash("C:1", "Gouty-ARTHRITIS") == digest
    rows = names_rows("C:1", [("en", "Gouty arthritis"), ("en", "Gouty arthritis")])
    assert digest in {row["name_hash"] for row in rows}
    assert rows == sorted(rows, key=lambda row: (row["language"], row["name_hash"]))
    assert len({row["name_hash"] for row in rows}) == len(rows)
    assert "gout" not in repr(rows)


def test_forms_of_names() -> None:
    assert name_forms("en", "Crohn's disease") == [
        "crohn disease", "crohn diseases", "crohn s disease", "crohn s diseases", "crohns disease",
        "crohns diseases",
    ]  # fmt: skip
    assert name_forms("en", "MS") == ["MS"]
    assert name_forms("en", "x") == [] and name_forms("en", "--") == []
    assert "diabetes mellitus type 2" in name_forms("de", "Type 2, Diabetes mellitus")
    assert name_forms("ja", "２型 糖尿病") == ["2型糖尿病"]
    assert "diagnoses" in name_forms("en", "diagnosis") and "biopsies" in name_forms("en", "biopsy")


def test_every_run_is_looked_at() -> None:
    """The name is found at the start, the middle and the end, whatever its length."""
    for words in range(1, 9):
        name = " ".join(f"w{number}" for number in range(words))
        lengths = [(words, frozenset({name_hash("C", name)}))]
        for text in (name, f"a {name}", f"{name} b", f"a b {name} c d"):
            assert leaks([("q", text, ("C",))], {"C": lengths}) == [("q", "C", name)]


def test_columns_named_like_answers(tmp_path: Path) -> None:
    base = {"corpus": texts(("d1", "Text")), "qrels": qrels(("q1", "d1"))}
    for column in ("answer", "doc_id", "goldLabel", "relevant_docs", "pos", "diagnosis", "corpus-id"):
        rows = queries(("q1", "Question"), **{column: "x"})
        result = check(COLUMNS, dataset(tmp_path / column, {"queries": rows, **base}), tmp_path)
        assert result.status == "failed" and column in result.findings[0].message
        assert named(result) >= {"q1"}
    for column in ("anatomy", "possible", "poster", "theme", "label2"):
        rows = queries(("q1", "Question"), **{column: "x"})
        result = check(COLUMNS, dataset(tmp_path / column, {"queries": rows, **base}), tmp_path)
        assert (result.status, result.compared) == ("passed", 1), column


@pytest.mark.parametrize(
    "value", ["pmc:PMC1.1#p2", "['pmc:PMC1.1#p2', 'x']", ["a", "pmc:PMC1.1#p2"], '{"of": "pmc:PMC1.1#p2"}']
)
def test_columns_that_hold_ids_of_documents(tmp_path: Path, value: Any) -> None:
    tables = {
        "queries": queries(("q1", "Question"), notes=value) + queries(("q2", "Other"), notes=None),
        "corpus": texts(("pmc:PMC1.1#p2", "Text")),
        "qrels": qrels(("q2", "pmc:PMC1.1#p2")),
    }
    for kind in ("release", "beir"):
        result = check(COLUMNS, dataset(tmp_path / kind, tables, kind), tmp_path)
        assert (result.status, named(result)) == ("failed", {"q1", "pmc:PMC1.1#p2"})


def test_short_ids_count_only_as_positives(tmp_path: Path) -> None:
    tables = {
        "queries": queries(("q1", "Question"), year=7) + queries(("q2", "Other"), year=8),
        "corpus": texts(("7", "Text"), ("8", "More")),
        "qrels": qrels(("q1", "8"), ("q2", "8")),
    }
    result = check(COLUMNS, dataset(tmp_path, tables, "jsonl"), tmp_path)
    assert named(result) == {"q2", "8"}


def test_an_article_id_in_a_column(tmp_path: Path) -> None:
    tables = {
        "queries": queries(("q1", "Question"), seen="10.5555/12345"),
        "corpus": texts(("pmc:PMC1.1#p2", "Text")),
        "provenance_corpus": [{"id": "pmc:PMC1.1#p2", "article_id": "pmc:PMC1.1"}],
        "sources": [{"id": "pmc:PMC1.1", "doi": "10.5555/12345"}],
    }
    assert named(check(COLUMNS, dataset(tmp_path, tables), tmp_path)) == {"q1", "10.5555/12345"}
